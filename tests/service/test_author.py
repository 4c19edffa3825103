"""What `judge dev` tells its author: the desk, its events, proofs; and nothing elsewhere."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge.faults import JudgeFault
from judge.grader.messages import CheckCard
from judge.problem import Problem
from judge.proof.outcomes import Case, CaseKind, Proof
from judge.service.api import create_app
from judge.service.author_desk import AuthorDesk, AuthorNews
from judge.service.author_proving import Course, Outdated, Prove, prove_versions
from judge.service.errors import MEDIA_TYPE
from judge.service.records import Facts
from tests.service.proofs import proof_of
from tests.service.serving import Api, open_api, served
from tests.small_problem import MANIFEST

CHECKS = [
    CheckCard("T0", "test_t0_interface::test_call", "It can be called.", "interface", "Later."),
    CheckCard("T1", "test_t1_oracle::test_values", "It is doubled.", "oracle", "Later."),
]
PATIENCE_S = 10.0
QUESTIONS = 2


class Written(Api):
    """An API on a desk for the small problem, whose folder a test changes."""

    @property
    def desk(self) -> AuthorDesk:
        assert self.parts.author is not None
        return self.parts.author

    @property
    def folder(self) -> Path:
        return self.problems / "double"

    async def look(self) -> AuthorNews:
        """What the desk knows once bank and desk have looked at the folder."""
        await self.parts.bank.refresh()
        await self.desk.look(self.parts.bank, self.store)
        return self.desk.news

    async def read(self, facts: Facts | None = None) -> AuthorNews:
        """The same, after a worker has read the version."""
        news = await self.look()
        assert news.version is not None
        await self.store.prepared(news.version, facts or Facts(CHECKS))
        return await self.look()

    async def news(self) -> dict[str, Any]:
        answer = await self.http.get("/api/author/double")
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        return found


def run_dev(
    database_url: str, folder: Path, test: Callable[[Written], Coroutine[None, None, None]]
) -> None:
    """Run a test against the API of `judge dev double`."""

    async def run() -> None:
        async with open_written(database_url, folder) as written:
            await test(written)

    asyncio.run(run())


@asynccontextmanager
async def open_written(database_url: str, folder: Path) -> AsyncIterator[Written]:
    async with open_api(database_url, folder, loopback=True, settings={}) as api:
        parts = replace(api.parts, author=AuthorDesk(folder / "double"))
        app = create_app(parts)
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            yield Written(app, parts, http, folder)


# --- elsewhere ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["double", "double/proof", "double/events"])
def test_a_judge_for_students_tells_authors_nothing(
    database_url: str, tmp_path: Path, path: str
) -> None:
    async def run() -> None:
        async with open_api(database_url, tmp_path, loopback=True, settings={}) as api:
            answer = await api.http.get(f"/api/author/{path}")
            assert answer.status_code == 404
            assert answer.headers["content-type"] == MEDIA_TYPE
            assert answer.json()["type"] == "urn:judge:not-authoring"
            assert "judge dev" in answer.json()["detail"]
            assert (await api.http.get("/api/problems")).json()["author"] is None

    asyncio.run(run())


def test_the_page_learns_whose_author_it_serves_and_of_no_other(
    database_url: str, tmp_path: Path
) -> None:
    async def test(written: Written) -> None:
        assert (await written.http.get("/api/problems")).json()["author"] == "double"
        answer = await written.http.get("/api/author/triple")
        assert answer.status_code == 404
        assert "'double'" in answer.json()["detail"]

    run_dev(database_url, tmp_path, test)


# --- the folder -----------------------------------------------------------------------------------


def test_a_saved_file_is_a_change_and_a_new_version(database_url: str, tmp_path: Path) -> None:
    async def test(written: Written) -> None:
        before = await written.read()
        assert before.is_read
        (written.folder / "statement.md").write_text("# Doubling, again\n")
        after = await written.look()
        assert (after.version != before.version, after.changes) == (True, before.changes + 1)
        assert not after.is_read
        assert (await written.read()).is_read

    run_dev(database_url, tmp_path, test)


def test_a_saved_tracks_file_is_a_change_of_the_same_version(
    database_url: str, tmp_path: Path
) -> None:
    async def test(written: Written) -> None:
        before = await written.look()
        (written.problems / "tracks.toml").write_text('[[tracks]]\nid = "papers"\ntitle = "P"\n')
        after = await written.look()
        assert (after.version, after.changes) == (before.version, before.changes + 1)

    run_dev(database_url, tmp_path, test)


def test_faults_come_with_their_places_and_go_when_they_are_mended(
    database_url: str, tmp_path: Path
) -> None:
    async def test(written: Written) -> None:
        before = await written.look()
        manifest = written.folder / "problem.toml"
        manifest.write_text(MANIFEST.replace("summary =", "sumary ="))
        await written.look()
        broken = await written.news()
        assert broken["version"] == before.version  # the last good one stays
        fault = next(each for each in broken["faults"] if "sumary" in each["message"])
        assert fault["file"] == str(manifest)
        assert fault["line"] == MANIFEST.splitlines().index('summary = "Double a tensor."') + 1
        assert fault["remedy"]
        manifest.write_text(MANIFEST)
        await written.look()
        assert (await written.news())["faults"] == []

    run_dev(database_url, tmp_path, test)


def test_faults_of_tracks_are_told_and_those_of_other_exercises_are_not(
    database_url: str, tmp_path: Path
) -> None:
    async def test(written: Written) -> None:
        (written.problems / "other").mkdir()
        (written.problems / "other" / "problem.toml").write_text("id = ")
        assert (await written.look()).faults == []
        (written.problems / "tracks.toml").write_text("[[tracks]\n")
        (fault,) = (await written.look()).faults
        assert fault.file == str(written.problems / "tracks.toml")

    run_dev(database_url, tmp_path, test)


def test_checks_that_cannot_be_collected_are_a_fault_until_they_can(
    database_url: str, tmp_path: Path
) -> None:
    async def test(written: Written) -> None:
        why = "problems/double/checks/test_t1_oracle.py:3: NameError: name 'x' is not defined"
        (fault,) = (await written.read(Facts(broken=why))).faults
        assert fault.file == str(written.folder / "checks/test_t1_oracle.py")
        assert fault.line == 3
        assert "NameError: name 'x' is not defined" in fault.message
        assert written.desk.provable is None
        (written.folder / "checks/test_t1_oracle.py").touch()
        (written.folder / "statement.md").write_text("# Mended\n")
        assert (await written.read()).faults == []
        assert written.desk.provable is not None

    run_dev(database_url, tmp_path, test)


def test_a_folder_that_was_never_valid_shows_its_faults(database_url: str, tmp_path: Path) -> None:
    async def test(written: Written) -> None:
        desk = AuthorDesk(written.problems / "other")
        desk.folder.mkdir()
        (desk.folder / "problem.toml").write_text("id = ")
        await written.parts.bank.refresh()
        await desk.look(written.parts.bank, written.store)
        assert desk.news.version is None
        assert [fault.line for fault in desk.news.faults][:1] == [1]

    run_dev(database_url, tmp_path, test)


def test_events_tell_what_is_new_and_end_with_the_server(database_url: str, tmp_path: Path) -> None:
    async def test(written: Written) -> None:
        await written.read()
        async with (
            served(written) as http,
            http.stream("GET", "/api/author/double/events") as answer,
        ):
            assert answer.headers["content-type"].startswith("text/event-stream")
            told = news_of(answer)
            first = await anext(told)
            (written.folder / "statement.md").write_text("# Doubling, again\n")
            await written.look()
            second = await anext(told)
            assert first["version"] != second["version"]
            written.parts.stopping.set()
            assert [news async for news in told] == []

    run_dev(database_url, tmp_path, test)


async def news_of(answer: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in answer.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


# --- proofs ---------------------------------------------------------------------------------------


class Prover:
    """Proves what a test lets it, step by step."""

    def __init__(self) -> None:
        self.versions: list[str] = []
        self.go_on = threading.Semaphore(0)
        self.unfinished: list[str] = []
        self.fault: Exception | None = None

    def __call__(self, problem: Problem, course: Course) -> Proof:
        self.versions.append(problem.version)
        try:
            for answered in range(QUESTIONS):
                course.progressed(answered, QUESTIONS)
                assert self.go_on.acquire(timeout=PATIENCE_S)
                course.require_wanted()
        except Outdated:
            self.unfinished.append(problem.version)
            raise
        if self.fault:
            raise self.fault
        return proof_of(problem, CHECKS)

    def let(self, steps: int) -> None:
        self.go_on.release(steps)


@asynccontextmanager
async def proving(written: Written, prove: Prove) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(prove_versions(written.desk, prove, stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, PATIENCE_S)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await asyncio.sleep(0.01)


def test_each_version_is_proven_and_the_numbers_are_to_be_had(
    database_url: str, tmp_path: Path
) -> None:
    prover = Prover()
    prover.let(100)

    async def test(written: Written) -> None:
        refused = await written.http.get("/api/author/double/proof")
        assert refused.json()["type"] == "urn:judge:not-proven"
        async with proving(written, prover):
            news = await written.read()
            await until(lambda: written.desk.news.proving.state == "finished")
            told = written.desk.news.proving
            assert (told.claims, told.failed, told.version) == (4, 2, news.version)
            proof = (await written.http.get("/api/author/double/proof")).json()
            assert Proof.model_validate(proof) == written.desk.proof
            assert [row["mutant"] for row in proof["matrix"]["rows"]] == ["tripled", "halved"]

    run_dev(database_url, tmp_path, test)


def test_numbers_of_the_version_before_stay_until_the_new_ones_are_complete(
    database_url: str, tmp_path: Path
) -> None:
    prover = Prover()

    async def test(written: Written) -> None:
        async with proving(written, prover):
            first = (await written.read()).version
            prover.let(QUESTIONS)
            await until(lambda: written.desk.news.proving.state == "finished")
            (written.folder / "statement.md").write_text("# Doubling, again\n")
            second = (await written.read()).version
            await until(lambda: written.desk.news.proving.asked == QUESTIONS)
            assert written.desk.news.proving.state == "proving"
            assert written.desk.news.proving.version == first
            assert written.desk.proof is not None
            assert written.desk.proof.version == first
            prover.let(QUESTIONS)
            await until(lambda: written.desk.news.proving.version == second)

    run_dev(database_url, tmp_path, test)


def test_the_proof_of_an_outdated_version_is_left_unfinished(
    database_url: str, tmp_path: Path
) -> None:
    prover = Prover()

    async def test(written: Written) -> None:
        async with proving(written, prover):
            first = (await written.read()).version
            await until(lambda: prover.versions == [first])
            (written.folder / "statement.md").write_text("# Doubling, again\n")
            second = (await written.read()).version
            prover.let(100)
            await until(lambda: written.desk.news.proving.state == "finished")
            assert prover.unfinished == [first]
            assert prover.versions == [first, second]
            assert written.desk.news.proving.version == second

    run_dev(database_url, tmp_path, test)


def test_a_version_that_comes_back_before_the_next_was_proven_is_proven_again(
    database_url: str, tmp_path: Path
) -> None:
    prover = Prover()
    prover.let(100)

    async def test(written: Written) -> None:
        statement = written.folder / "statement.md"
        before = statement.read_bytes()
        async with proving(written, prover):
            first = (await written.read()).version
            await until(lambda: written.desk.news.proving.state == "finished")
            statement.write_text("# Doubling, again\n")
            await written.look()
            statement.write_bytes(before)
            assert (await written.read()).version == first
            await until(lambda: written.desk.news.proving.state == "finished")

    run_dev(database_url, tmp_path, test)


@pytest.mark.parametrize("fault", [JudgeFault("the boxes are gone"), KeyError("a bug")])
def test_a_proof_that_fails_says_why_and_the_next_version_is_tried(
    database_url: str, tmp_path: Path, fault: Exception
) -> None:
    prover = Prover()
    prover.fault = fault
    prover.let(100)

    async def test(written: Written) -> None:
        async with proving(written, prover):
            await written.read()
            await until(lambda: written.desk.news.proving.state == "stopped")
            assert str(fault) in written.desk.news.proving.trouble
            prover.fault = None
            (written.folder / "statement.md").write_text("# Doubling, again\n")
            await written.read()
            await until(lambda: written.desk.news.proving.state == "finished")
            assert written.desk.news.proving.trouble == ""

    run_dev(database_url, tmp_path, test)


def test_stopping_leaves_a_proof_unfinished(database_url: str, tmp_path: Path) -> None:
    prover = Prover()

    async def test(written: Written) -> None:
        async with proving(written, prover):
            await written.read()
            await until(lambda: len(prover.versions) == 1)
        prover.let(100)
        await until(lambda: len(prover.unfinished) == 1)

    run_dev(database_url, tmp_path, test)


def test_a_share_without_bounds_comes_as_null(database_url: str, tmp_path: Path) -> None:
    async def test(written: Written) -> None:
        await written.read()
        assert written.desk.provable is not None
        proof = proof_of(written.desk.provable, CHECKS)
        wide = proof.headroom[0].model_copy(update={"nearest": float("inf")})
        case = Case(kind=CaseKind.HEADROOM, id="all", title="The reference stays away.")
        written.desk.proved(proof.model_copy(update={"headroom": [wide], "cases": [case]}))
        answer = await written.http.get("/api/author/double/proof")
        assert answer.json()["headroom"][0]["nearest"] is None

    run_dev(database_url, tmp_path, test)
