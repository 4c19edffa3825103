"""How far students have come: on the catalogue, on pages, in histories, and what it unlocks."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from judge.results import Result, Timing
from judge.service.records import Claim
from judge.verdicts import Verdict
from tests.service.serving import OTHER, REMOTE, SOLUTION, TOKEN, Api, Maker, judged, run_with_api
from tests.small_problem import FILES

EDITORIAL = """\
Read this first.

## Add it to itself

```python
## no heading
double = x + x
```

## Why $2x$ is <script>

Because.
"""


def ending(verdict: Verdict, tier: str = "T0") -> Maker:
    """A result that ends in this tier with this verdict; the tiers before it are accepted."""

    def make(claim: Claim) -> Result:
        result = judged(claim, verdict)
        tiers = [
            each.model_copy(update={"verdict": Verdict.AC}) if each.id < tier else each
            for each in result.tiers
        ]
        return result.model_copy(update={"tiers": tiers, "timing": Timing(judged_ms=12.5)})

    return make


async def try_it(
    api: Api, verdict: Verdict, tier: str = "T0", student: dict[str, str] = TOKEN, **body: object
) -> str:
    """A submission that ends so; its id."""
    submission = await api.submit(student, **body)
    await api.finish(submission, ending(verdict, tier))
    return submission


async def seen(api: Api, student: dict[str, str] = TOKEN) -> dict[str, Any]:
    """What the catalogue and the page tell the student, which is the same."""
    card = (await api.http.get("/api/problems", headers=student)).json()["problems"][0]
    page = (await api.http.get("/api/problems/double", headers=student)).json()
    for name in ("progress", "pass_rate", "needs", "used_by"):
        assert card[name] == page[name]
    found: dict[str, Any] = card
    return found


async def progress(api: Api, student: dict[str, str] = TOKEN) -> dict[str, Any]:
    found: dict[str, Any] = (await seen(api, student))["progress"]
    return found


UNTOUCHED = {
    "state": "untouched", "tests": None, "failed_tier": None, "submissions": 0, "last_at": None,
}  # fmt: skip


def test_progress_goes_from_untouched_to_failed_to_solved(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        assert await progress(api) == UNTOUCHED
        await try_it(api, Verdict.WA, "T1")
        assert (await progress(api)).items() >= {
            "state": "failed", "failed_tier": "T1", "submissions": 1,
        }.items()  # fmt: skip
        newest = await try_it(api, Verdict.CE, "T0")
        now = await progress(api)
        assert (now["failed_tier"], now["submissions"]) == ("T0", 2)
        stored = await api.store.submission(newest)
        assert stored is not None
        assert now["last_at"] == stored.created_at.isoformat().replace("+00:00", "Z")
        await try_it(api, Verdict.AC)
        await try_it(api, Verdict.WA, "T1")
        now = await progress(api)
        assert (now["state"], now["failed_tier"], now["submissions"]) == ("solved", None, 4)

    run_with_api(database_url, tmp_path, test)


def test_advice_that_is_not_met_leaves_an_exercise_solved_and_names_no_tier(
    database_url: str, tmp_path: Path
) -> None:
    def advised(verdict: Verdict) -> Maker:
        def make(claim: Claim) -> Result:
            result = judged(claim, verdict)
            advice = {"verdict": Verdict.TLE, "advisory": True}
            return result.model_copy(
                update={"tiers": [result.tiers[0].model_copy(update=advice), *result.tiers[1:]]}
            )

        return make

    async def test(api: Api) -> None:
        submission = await api.submit(TOKEN)
        await api.finish(submission, advised(Verdict.WA))
        now = await progress(api)
        assert (now["state"], now["failed_tier"]) == ("failed", "T1")
        submission = await api.submit(TOKEN)
        await api.finish(submission, advised(Verdict.AC))
        now = await progress(api)
        assert (now["state"], now["failed_tier"]) == ("solved", None)

    run_with_api(database_url, tmp_path, test)


def test_runs_and_our_own_faults_count_nowhere(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await try_it(api, Verdict.AC, kind="run")
        await try_it(api, Verdict.JE)
        await api.submit()
        assert await progress(api) == UNTOUCHED
        rejudged = await try_it(api, Verdict.AC)
        answer = await api.http.post(f"/api/submissions/{rejudged}/rejudge", headers=TOKEN)
        assert answer.status_code == 202
        assert (await progress(api))["state"] == "solved"  # while it waits
        await api.finish(rejudged, ending(Verdict.JE))
        assert (await progress(api))["state"] == "solved"

    run_with_api(database_url, tmp_path, test)


def test_the_newest_judging_of_a_submission_counts(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await try_it(api, Verdict.AC)
        await api.http.post(f"/api/submissions/{submission}/rejudge", headers=TOKEN)
        await api.finish(submission, ending(Verdict.WA, "T1"))
        now = await progress(api)
        assert (now["state"], now["failed_tier"], now["submissions"]) == ("failed", "T1", 1)

    run_with_api(database_url, tmp_path, test)


def test_progress_is_ones_own_and_nobodys_without_credentials(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await try_it(api, Verdict.AC)
        assert await progress(api, OTHER) == UNTOUCHED
        async with api.client(REMOTE) as client:
            answer = await client.post(
                "/api/submissions",
                json={"problem": "double", "files": {"solution.py": SOLUTION}},
            )
            await api.finish(answer.json()["id"])
            client.cookies.clear()
            page = (await client.get("/api/problems/double")).json()
            assert page["progress"] == UNTOUCHED

    run_with_api(database_url, tmp_path, test)


def test_a_pass_rate_is_told_once_five_have_tried(database_url: str, tmp_path: Path) -> None:
    def student(number: int) -> dict[str, str]:
        return {"Authorization": f"Bearer the-student-with-number-{number}"}

    async def test(api: Api) -> None:
        for number in range(4):
            await try_it(api, Verdict.WA, student=student(number))
        await try_it(api, Verdict.JE, student=student(4))
        await try_it(api, Verdict.AC, student=student(5), kind="run")
        assert (await seen(api))["pass_rate"] is None
        await try_it(api, Verdict.AC, student=student(0))
        await try_it(api, Verdict.AC, student=student(4))
        await try_it(api, Verdict.WA, student=student(4))
        assert (await seen(api))["pass_rate"] == {"tried": 5, "solved": 2}
        async with api.client(REMOTE) as client:  # whom nobody knows again is not counted
            body = {"problem": "double", "files": {"solution.py": SOLUTION}}
            await api.finish((await client.post("/api/submissions", json=body)).json()["id"])
        assert (await seen(api))["pass_rate"] == {"tried": 5, "solved": 2}

    run_with_api(database_url, tmp_path, test)


def test_rates_are_counted_once_for_all_who_ask_together(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        rates = type(api.parts.rates)(api.store, kept_s=60.0)
        both = await asyncio.gather(rates.current(), rates.current())
        assert both[0] is both[1]
        assert await rates.current() is both[0]

    run_with_api(database_url, tmp_path, test)


def test_a_history_says_where_each_ended_and_how_long_it_took(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await try_it(api, Verdict.AC)
        await try_it(api, Verdict.WA, "T1")
        await api.submit()
        history = (await api.http.get("/api/submissions", headers=TOKEN)).json()["submissions"]
        assert [(entry["failed_tier"], entry["judged_ms"]) for entry in history] == [
            (None, None), ("T1", 12.5), (None, 12.5),
        ]  # fmt: skip

    run_with_api(database_url, tmp_path, test)


# --- what it unlocks ------------------------------------------------------------------------------


def test_the_solution_opens_once_one_is_accepted_for_good(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def refused(api: Api, student: dict[str, str]) -> None:
        answer = await api.http.get("/api/problems/double/solution", headers=student)
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:judge:not-solved"
        assert FILES["reference.py"] not in answer.text

    async def test(api: Api) -> None:
        folder = api.problems / "double"
        (folder / "editorial.md").write_text(EDITORIAL)
        await api.parts.bank.refresh()
        for made, kind in ((Verdict.WA, "submit"), (Verdict.JE, "submit"), (Verdict.AC, "run")):
            with subtests.test(str(made)):
                await try_it(api, made, kind=kind)
                await refused(api, TOKEN)
        await refused(api, {})  # nor for the person at the machine
        await try_it(api, Verdict.AC)
        await try_it(api, Verdict.WA)
        await refused(api, OTHER)
        answer = await api.http.get("/api/problems/double/solution", headers=TOKEN)
        assert answer.status_code == 200
        solution = answer.json()
        assert solution["files"] == {"solution.py": FILES["reference.py"]}
        assert [step["title_html"] for step in solution["editorial"]] == [
            "", "Add it to itself",
            'Why <span class="math inline">2x</span> is &lt;script&gt;',
        ]  # fmt: skip
        first, second, third = (step["html"] for step in solution["editorial"])
        assert first == "<p>Read this first.</p>\n"
        assert "no heading" in second
        assert "<h2" not in second
        assert third == "<p>Because.</p>\n"

    run_with_api(database_url, tmp_path, test)


def test_an_exercise_without_an_editorial_still_shows_its_reference(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await try_it(api, Verdict.AC)
        solution = (await api.http.get("/api/problems/double/solution", headers=TOKEN)).json()
        assert solution["editorial"] == []
        assert solution["files"]
        unknown = await api.http.get("/api/problems/triple/solution", headers=TOKEN)
        assert unknown.status_code == 404

    run_with_api(database_url, tmp_path, test)
