"""A student's own tests: sending them, their grade, and what it counts for."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from judge.events import MutantFinished
from judge.results import Result
from judge.service.folding import replay
from judge.service.records import Claim
from judge.verdicts import Verdict
from tests.service.chapters import TESTS, graded, grading, write_chapters
from tests.service.serving import BODY, SOLUTION, TOKEN, Api, Maker, judged, run_with_api, served
from tests.small_problem import FILES

SENT: dict[str, Any] = {"problem": "quadruple", "kind": "tests", "files": TESTS}
WHOLE: dict[str, Any] = {"problem": "quadruple", "ref_deps": True}
PASSED = grading(Verdict.AC)
FAILED = grading(Verdict.WA)
MANY = {f"tests/test_{number}.py": "" for number in range(17)}


async def chapters(api: Api) -> None:
    write_chapters(api.problems)
    await api.parts.bank.refresh()


async def finished(api: Api, make: Maker | None = None, **body: Any) -> str:
    """Submit and have it judged; its id."""
    submission = await api.submit(**body)
    await api.finish(submission, make)
    return submission


async def get(api: Api, path: str) -> Any:
    answer = await api.http.get(f"/api/{path}", headers=TOKEN)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def progress(api: Api) -> dict[str, Any]:
    """What the catalogue and the page tell of the student."""
    cards = (await get(api, "problems"))["problems"]
    page = await get(api, "problems/quadruple")
    (card,) = [each for each in cards if each["slug"] == "quadruple"]
    assert card["progress"] == page["progress"]
    found: dict[str, Any] = card["progress"]
    return found


# --- sending --------------------------------------------------------------------------------------


def test_tests_are_taken_by_themselves_and_without_what_the_solution_needs(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        more = TESTS | {"tests/test_more_2.py": "# é\n"}
        for files in (TESTS, more, {"tests/test_other.py": ""}, dict(list(MANY.items())[:16])):
            submission = await api.submit(**SENT | {"files": files})
            assert (await get(api, f"submissions/{submission}/files"))["files"] == files
        assert (await api.store.stats()).waiting == {"tests": 4}

    run_with_api(database_url, tmp_path, test)


NO_TESTS: list[tuple[dict[str, str], str]] = [
    ({}, "These are 0"),
    (MANY, "These are 17"),
    ({"solution.py": SOLUTION}, "Not taken: 'solution.py'"),
    (TESTS | {"solution.py": SOLUTION}, "Not taken: 'solution.py'"),
    (TESTS | {"scratch.py": ""}, "Not taken: 'scratch.py'"),
    ({"test_own.py": ""}, "Not taken: 'test_own.py'"),
    ({"tests/own.py": ""}, "Not taken: 'tests/own.py'"),
    ({"tests/conftest.py": ""}, "Not taken"),
    ({"tests/../test_own.py": ""}, "Not taken"),
    ({"tests/a/test_own.py": ""}, "Not taken"),
    ({"/tests/test_own.py": ""}, "Not taken"),
    ({"tests/test_é.py": ""}, "Not taken"),
    ({"tests/test_own.py\n": ""}, "Not taken"),
    ({"tests/test_own.pyi": ""}, "Not taken"),
    ({"tests/test_" + "a" * 200 + ".py": ""}, "Not taken"),
]


def test_what_are_no_tests_is_refused_in_words(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        for files, words in NO_TESTS:
            with subtests.test(str(files)[:60]):
                body = SENT | {"files": files}
                answer = await api.http.post("/api/submissions", json=body)
                report = answer.json()
                assert (answer.status_code, report["type"]) == (422, "urn:judge:wrong-files")
                assert "1 to 16 files called 'tests/test_....py'" in report["detail"]
                assert words in report["detail"]
        large = SENT | {"files": TESTS | {"tests/test_large.py": "#" * 65_530}}
        answer = await api.http.post("/api/submissions", json=large)
        assert answer.status_code == 413
        for kind in ("submit", "run"):
            body = WHOLE | {"kind": kind, "files": BODY["files"] | TESTS}
            detail = (await api.http.post("/api/submissions", json=body)).json()["detail"]
            assert "Not taken: 'tests/test_own.py'. Tests are sent by themselves" in detail
        answer = await api.http.post("/api/submissions", json=SENT | {"problem": "double"})
        assert answer.json()["type"] == "urn:judge:no-tests"
        assert (await api.store.stats()).waiting == {}

    run_with_api(database_url, tmp_path, test)


def test_the_page_says_how_tests_are_graded_and_what_examples_mean(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        page = await get(api, "problems/quadruple")
        assert page["own_tests"] == {
            "imports": ["pack.quadruple", "pytest"], "threshold": 0.5, "mutants": 2, "must_kill": 1,
        }  # fmt: skip
        assert [file["name"] for file in page["files"]] == ["solution.py", "tests/test_own.py"]
        (example,) = page["examples"]
        assert example["reasoning_html"] == '<p>As <span class="math inline">2+2</span>.</p>\n'
        assert "Tripled" not in json.dumps(page)

    run_with_api(database_url, tmp_path, test)


# --- the grade ------------------------------------------------------------------------------------


def test_a_grade_is_told_as_it_comes_about_and_kept(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        submission = await api.submit(**SENT)
        path = f"submissions/{submission}"
        waiting = (await get(api, path))["tiers"]
        assert [(tier["id"], tier["title"]) for tier in waiting] == [
            ("tests", "Your tests"), ("T0", "Interface"), ("T1", "Oracle"),
        ]  # fmt: skip
        claim = await api.claim(submission)
        result = graded(claim)
        said = list(replay(result))
        assert [event.type for event in said] == [
            "tier_started", "check_finished", "check_finished", "mutant_finished",
            "mutant_finished", "chart", *["tier_finished"] * 3, "finished",
        ]  # fmt: skip
        assert said[3:5] == [
            MutantFinished(
                mutant="tripled",
                killed_by=["test_own::test_a", "test_own::test_b"],
                done=1,
                total=2,
            ),
            MutantFinished(mutant="halved", killed_by=[], done=2, total=2),
        ]
        await api.store.append(claim, said[:3])
        tier, *_others = (await get(api, path))["tiers"]
        assert (tier["verdict"], tier["passed"], len(tier["checks"])) == (None, 2, 2)
        await api.store.append(claim, said[3:-1])
        assert (await get(api, f"{path}/charts/mutants.json"))["mark"] == "bar"
        assert await api.store.finish(claim, result, said[-1:], said)
        ended = await get(api, path)
        assert ended["mutation"] == json.loads(result.model_dump_json())["mutation"]
        assert [(tier["id"], tier["verdict"]) for tier in ended["tiers"]] == [
            ("tests", "AC"), ("T0", "SK"), ("T1", "SK"),
        ]  # fmt: skip
        assert (await get(api, f"{path}/charts/mutants.json"))["mark"] == "bar"

    run_with_api(database_url, tmp_path, test)


@pytest.mark.parametrize("kept", [True, False], ids=["events kept", "events deleted"])
def test_its_stream_tells_of_every_mutant_and_ends_with_the_grade(
    database_url: str, tmp_path: Path, kept: bool
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        submission = await finished(api, PASSED, **SENT)
        if not kept:
            await api.store.expire(3600, 0)
        async with served(api) as http, asyncio.timeout(20):
            answer = await http.get(f"/api/submissions/{submission}/events", headers=TOKEN)
        frames = [
            line.removeprefix("data: ")
            for line in answer.text.splitlines()
            if line.startswith("data: ")
        ]
        told = [json.loads(frame) for frame in frames]
        mutants = [event["mutant"] for event in told if event["type"] == "mutant_finished"]
        assert mutants == ["tripled", "halved"]
        assert told[-1]["type"] == "finished"
        assert told[-1]["mutation"]["survivors"] == ["halved"]

    run_with_api(database_url, tmp_path, test)


# --- what it counts for ---------------------------------------------------------------------------


def wrong(claim: Claim) -> Result:
    """A solution that ends in T0."""
    return judged(claim, Verdict.WA)


@pytest.mark.parametrize("tests_first", [True, False])
def test_an_exercise_is_solved_by_both_in_any_order(
    database_url: str, tmp_path: Path, tests_first: bool
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        now = await progress(api)
        assert (now["state"], now["tests"]) == ("untouched", "untouched")
        steps = [(SENT, PASSED), (WHOLE, None)]
        first, second = steps if tests_first else reversed(steps)
        await finished(api, first[1], **first[0])
        now = await progress(api)
        assert (now["state"], now["failed_tier"]) == ("failed", None)
        assert now["tests"] == ("passed" if tests_first else "untouched")
        await finished(api, second[1], **second[0])
        now = await progress(api)
        assert (now["state"], now["tests"], now["submissions"]) == ("solved", "passed", 2)
        await finished(api, FAILED, **SENT)
        await finished(api, wrong, **WHOLE)
        now = await progress(api)
        assert (now["state"], now["tests"], now["failed_tier"]) == ("solved", "passed", None)

    run_with_api(database_url, tmp_path, test)


def test_tests_that_fail_say_nothing_of_the_solution(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await finished(api, FAILED, **SENT)
        now = await progress(api)
        assert (now["state"], now["tests"], now["failed_tier"]) == ("failed", "failed", None)
        await finished(api, wrong, **WHOLE)
        await finished(api, FAILED, **SENT)
        now = await progress(api)
        assert (now["tests"], now["failed_tier"], now["submissions"]) == ("failed", "T0", 3)
        await finished(api, PASSED, **SENT)
        await finished(api, FAILED, **SENT)
        now = await progress(api)
        assert (now["state"], now["tests"], now["failed_tier"]) == ("failed", "passed", "T0")

    run_with_api(database_url, tmp_path, test)


def test_history_shows_tests_as_what_they_are(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await finished(api, FAILED, **SENT)
        await finished(api, **WHOLE)
        entries = (await get(api, "submissions?problem=quadruple"))["submissions"]
        assert [(each["kind"], each["verdict"], each["failed_tier"]) for each in entries] == [
            ("submit", "AC", None), ("tests", "WA", "tests"),
        ]  # fmt: skip

    run_with_api(database_url, tmp_path, test)


def test_the_solution_opens_once_both_are_accepted(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        address = "/api/problems/quadruple/solution"
        await finished(api, **WHOLE)
        refused = await api.http.get(address, headers=TOKEN)
        assert refused.status_code == 403
        assert "your own tests are as well" in refused.json()["detail"]
        assert FILES["reference.py"] not in refused.text
        await finished(api, PASSED, **SENT)
        solution = (await api.http.get(address, headers=TOKEN)).json()
        assert solution["files"] == {"solution.py": FILES["reference.py"]}

    run_with_api(database_url, tmp_path, test)


def test_the_pass_rate_counts_who_has_both(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        for number in range(5):
            student = {"Authorization": f"Bearer the-student-with-number-{number}"}
            if number < 4:
                await api.finish(await api.submit(student, **WHOLE))
            if number > 2:
                await api.finish(await api.submit(student, **SENT), PASSED)
        page = await get(api, "problems/quadruple")
        assert page["pass_rate"] == {"tried": 5, "solved": 1}

    run_with_api(database_url, tmp_path, test)
