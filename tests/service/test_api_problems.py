"""The catalogue and the page of an exercise."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.grader.messages import CheckCard
from judge.service.records import Facts
from tests.service.serving import REMOTE, Api, chart, run_with_api
from tests.small_problem import FILES


def test_the_catalogue_lists_tracks_and_exercises(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        catalogue = (await api.http.get("/api/problems")).json()
        assert catalogue["tracks"] == [
            {"id": "papers", "title": "Papers", "summary": "From papers."}
        ]
        (card,) = catalogue["problems"]
        assert (card["slug"], card["track"], card["number"]) == ("double", "papers", 7)
        assert card["tiers"] == [
            {"id": "T0", "title": "Interface", "advisory": False},
            {"id": "T1", "title": "Oracle", "advisory": False},
        ]
        assert catalogue["broken"] == []

    run_with_api(database_url, tmp_path, test)


def test_a_broken_folder_is_told_to_the_person_at_the_machine_only(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        (api.problems / "other").mkdir()
        (api.problems / "other" / "problem.toml").write_text("id = ")
        await api.parts.bank.refresh()
        here = (await api.http.get("/api/problems")).json()
        assert [broken["slug"] for broken in here["broken"]] == ["other"]
        assert here["broken"][0]["faults"][0]["line"] == 1
        assert [card["slug"] for card in here["problems"]] == ["double"]
        async with api.client(REMOTE) as client:
            assert (await client.get("/api/problems")).json()["broken"] == []

    run_with_api(database_url, tmp_path, test)


def test_a_page_has_all_that_a_student_may_know(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        page = (await api.http.get("/api/problems/double")).json()
        assert page["statement_html"].startswith('<h1 id="statement-doubling">Doubling</h1>\n')
        assert page["track"] == {"id": "papers", "title": "Papers", "number": 7}
        assert page["files"] == [
            {"name": "solution.py", "role": "solution", "starter": FILES["starter.py"]}
        ]
        assert page["contract"] == FILES["contract.pyi"]
        assert page["provided"] is None
        assert page["limits"]["source_bytes"] == 65_536
        assert [tier["visible"] for tier in page["tiers"]] == [True, False]
        assert [tier["requires"] for tier in page["tiers"]] == [[], ["T0"]]
        assert page["preview"] == {"state": "pending", "charts": []}
        current = api.parts.bank.current("double")
        assert current is not None
        assert page["version"] == current.version

    run_with_api(database_url, tmp_path, test)


def test_checks_and_preview_are_there_once_a_worker_has_read_them(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        current = api.parts.bank.current("double")
        assert current is not None
        card = CheckCard("T0", "test_call", "It can be called.", "interface", "Later checks do.")
        drawn = chart().model_copy(update={"source": "reference"})
        await api.store.prepared(current.version, Facts([card], [drawn]))
        page = (await api.http.get("/api/problems/double")).json()
        assert [tier["checks"] for tier in page["tiers"]] == [
            [{"id": "test_call", "title": "It can be called.", "kind": "interface",
              "why": "Later checks do."}],
            [],
        ]  # fmt: skip
        assert page["preview"]["state"] == "ready"
        assert page["preview"]["charts"][0]["source"] == "reference"
        await api.store.prepared(current.version, Facts(broken="checks/test_t0.py:3: boom"))
        page = (await api.http.get("/api/problems/double")).json()
        assert page["preview"] == {"state": "failed", "charts": []}

    run_with_api(database_url, tmp_path, test)


def test_no_answer_holds_the_reference_the_checks_or_the_mutants(
    database_url: str, tmp_path: Path
) -> None:
    secrets = ["return 2 * x", "x + x", "3 * x", "rng.normal", "tripled"]

    async def test(api: Api) -> None:
        for path in ("/api/problems", "/api/problems/double", "/", "/openapi.json"):
            text = (await api.http.get(path)).text
            assert not [secret for secret in secrets if secret in text]

    run_with_api(database_url, tmp_path, test)


def test_a_slug_that_is_none_is_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for slug in ["triple", "..", "%2e%2e", "..%2fdouble", "double%2f..%2fdouble", "%00",
                     "DOUBLE", "tracks.toml", "%ff", "a" * 5000]:  # fmt: skip
            with subtests.test(slug[:20]):
                answer = await api.http.get(f"/api/problems/{slug}")
                assert answer.status_code == 404
                assert answer.headers["content-type"] == "application/problem+json"
                assert len(answer.content) < 600

    run_with_api(database_url, tmp_path, test)
