"""The schema is current and complete, and the API keeps to it whatever is sent."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Any

from judge.service.api import OPENAPI_FILE, openapi_text
from judge.service.errors import MEDIA_TYPE
from judge.service.records import WorkerRow
from judge.settings import default_problems
from tests.service.serving import Api, run_with_api, served

EXAMPLES = 8
SEED = 1
CONFIG = Path(__file__).with_name("schemathesis.toml")
WORKER = WorkerRow("w1", "desk", 42, "none", slots=1, state="ready")
SCHEMA: dict[str, Any] = json.loads(openapi_text())
OPERATIONS: list[dict[str, Any]] = [
    operation for path in SCHEMA["paths"].values() for operation in path.values()
]


def test_the_committed_schema_is_current() -> None:
    hint = "run: python -m judge.service.api"
    assert OPENAPI_FILE.read_text(encoding="utf-8") == openapi_text(), hint


def test_operations_have_their_names_for_good() -> None:
    assert {operation["operationId"] for operation in OPERATIONS} == {
        "list_problems", "get_problem", "get_solution", "create_submission", "list_submissions",
        "get_submission", "rejudge_submission", "get_submitted_files", "list_judgings",
        "stream_events", "get_chart", "get_author", "get_proof", "stream_author_events",
        "get_health", "get_readiness", "get_metrics",
    }  # fmt: skip


def test_every_operation_says_what_it_does_and_belongs_somewhere() -> None:
    for operation in OPERATIONS:
        assert operation["summary"]
        assert operation["tags"]
        assert all(answer["description"] for answer in operation["responses"].values())


def test_every_refusal_is_a_problem_document() -> None:
    for operation in OPERATIONS:
        for status, answer in operation["responses"].items():
            if status >= "400" and (operation["operationId"], status) != ("get_readiness", "503"):
                assert list(answer["content"]) == [MEDIA_TYPE], (operation["operationId"], status)


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(SCHEMA)
    names = {part.partition('"')[0] for part in text.split('"$ref": "#/components/schemas/')[1:]}
    assert names <= set(SCHEMA["components"]["schemas"])


def test_schemathesis_finds_nothing(database_url: str, tmp_path: Path) -> None:
    slug = "multi-head-attention"  # of the schema's example
    problems, workplace = tmp_path / "problems", tmp_path / "workplace"
    shutil.copytree(default_problems() / slug, problems / slug)
    workplace.mkdir()

    async def test(api: Api) -> None:
        async with served(api) as http:
            working = asyncio.create_task(judge_everything(api))
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG),
                "run", str(http.base_url.join("/openapi.json")), "--checks", "all",
                "--seed", str(SEED), "--max-examples", str(EXAMPLES),
                "--generation-database", "none", "--request-timeout", "20",
                cwd=workplace, stdout=PIPE, stderr=STDOUT,
            )  # fmt: skip
            output, _ = await process.communicate()
            working.cancel()
        assert process.returncode == 0, output.decode()
        assert "17" in output.decode().partition("Tested:")[2].partition("\n")[0]

    run_with_api(database_url, problems, test)


async def judge_everything(api: Api) -> None:
    """Stand in for a worker that accepts whatever comes, so that streams end and charts exist."""
    while True:
        await api.store.beat(WORKER)
        for task, _ in await api.store.unfinished(0.0):
            claim = await api.store.claim(task.judging, WORKER.id)
            assert claim is not None
            await api.finish_claim(claim)
        await asyncio.sleep(0.02)
