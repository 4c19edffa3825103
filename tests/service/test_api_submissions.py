"""Submitting and reading back, over HTTP and a real database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from judge.events import TierStarted
from judge.results import Result
from judge.scratch import SCRATCH_TIER, scratch_check, scratch_events
from judge.service.database import plain_url
from judge.service.folding import replay
from judge.verdicts import Verdict
from tests.service.serving import (
    BODY,
    OTHER,
    SOLUTION,
    TOKEN,
    Api,
    chart,
    judged,
    run_with_api,
    served,
)

FILES = {"solution.py": SOLUTION}
JSON = {"Content-Type": "application/json"}


def kept(database_url: str) -> int:
    """How many submissions are stored."""
    with psycopg.connect(plain_url(database_url)) as connection:
        row = connection.execute("SELECT count(*) FROM submissions").fetchone()
        assert row is not None
        return int(row[0])


def refusal(answer: httpx.Response, status: int, kind: str) -> str:
    """The sentence of a refusal, which must be one of this kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    report = answer.json()
    assert (report["type"], report["status"]) == (f"urn:judge:{kind}", status)
    assert report["title"]
    detail = str(report["detail"])
    assert detail.endswith(".")
    return detail


# --- submitting -----------------------------------------------------------------------------------


def test_a_submission_is_accepted_stored_and_queued(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        answer = await api.http.post("/api/submissions", json=BODY)
        assert answer.status_code == 202
        accepted = answer.json()
        assert answer.headers["location"] == accepted["url"]
        assert accepted["url"] == f"/api/submissions/{accepted['id']}"
        assert accepted["events"] == f"{accepted['url']}/events"
        assert (accepted["state"], accepted["kind"]) == ("queued", "submit")
        assert (await api.store.stats()).waiting == {"submit": 1}
        stored = (await api.http.get(f"{accepted['url']}/files")).json()
        assert stored == {"files": FILES}

    run_with_api(database_url, tmp_path, test)


WRONG: list[tuple[dict[str, Any], int, str, str]] = [
    ({"problem": "no-such"}, 404, "unknown-exercise", "no-such"),
    ({"problem": "../double"}, 404, "unknown-exercise", "/api/problems"),
    ({"problem": "\ud800"}, 404, "unknown-exercise", "exercise"),
    ({"files": {}}, 422, "wrong-files", "Missing: 'solution.py'"),
    ({"files": FILES | {"x.py": ""}}, 422, "wrong-files", "Not taken: 'x.py'"),
    ({"files": FILES | {"scratch.py": ""}}, 422, "wrong-files", "Not taken: 'scratch.py'"),
    ({"files": {"scratch.py": ""}, "kind": "run"}, 422, "wrong-files", "Missing: 'solution.py'"),
    ({"files": FILES | {"scratch.py": "#" * 65_520}, "kind": "run"}, 413, "too-large", "bytes"),
    ({"files": FILES | {"x.py": ""}, "kind": "run"}, 422, "wrong-files", "Not taken: 'x.py'"),
    ({"files": {"../solution.py": ""}}, 422, "wrong-files", "takes 'solution.py'"),
    ({"files": {"/solution.py": ""}}, 422, "wrong-files", "Not taken"),
    ({"files": {"solution.py\0": ""}}, 422, "wrong-files", "Not taken"),
    ({"files": {"\udfff": ""}}, 422, "wrong-files", "Not taken"),
    ({"files": {"solution.py": "#" * 65_537}}, 413, "too-large", "65537 bytes"),
    ({"files": {"solution.py": "é" * 32_769}}, 413, "too-large", "65538 bytes"),
    ({"files": {"solution.py": "#" * (1 << 20)}}, 413, "too-large", "256 KiB"),
    ({"files": {"solution.py": 1}}, 422, "invalid", "files.solution.py"),
    ({"files": [SOLUTION]}, 422, "invalid", "files"),
    ({"kind": "cheat"}, 422, "invalid", "'submit', 'run' or 'tests'"),
    ({"kind": "tests"}, 422, "no-tests", "takes no tests"),
    ({"seed": 1}, 422, "invalid", "seed"),
    ({"ref_deps": 0}, 422, "invalid", "ref_deps"),
    ({"problem": None}, 422, "invalid", "problem"),
]
NO_JSON = ["{", "[" * 100_000, '{"problem": "double", "kind": "submit"', "1" * 5000]


def test_what_is_not_right_is_refused_in_words_and_not_stored(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for changed, status, kind, words in WRONG:
            with subtests.test(str(changed)[:60]):
                body = json.dumps(BODY | changed)  # httpx's own cannot write a surrogate
                answer = await api.http.post("/api/submissions", content=body, headers=JSON)
                assert words in refusal(answer, status, kind)

    run_with_api(database_url, tmp_path, test)
    assert kept(database_url) == 0


def test_a_run_may_bring_a_scratch_file(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        files = FILES | {"scratch.py": "print(double(2))\n"}
        submission = await api.submit(files=files, kind="run")
        url = f"/api/submissions/{submission}"
        assert (await api.http.get(f"{url}/files", headers=TOKEN)).json() == {"files": files}
        waiting = (await api.http.get(url, headers=TOKEN)).json()
        assert [tier["id"] for tier in waiting["tiers"]] == ["T0", "T1"]
        claim = await api.claim(submission)
        assert set(claim.files) == set(files)
        check = scratch_check(Verdict.AC)
        await api.store.append(claim, [TierStarted(tier=SCRATCH_TIER)])
        running = (await api.http.get(url, headers=TOKEN)).json()
        assert [(tier["id"], tier["verdict"]) for tier in running["tiers"]] == [
            ("scratch", None), ("T0", None), ("T1", None),
        ]  # fmt: skip
        await api.store.append(claim, list(scratch_events(check, ["T0", "T1"])))
        ended = (await api.http.get(url, headers=TOKEN)).json()
        assert [(tier["id"], tier["verdict"]) for tier in ended["tiers"]] == [
            ("scratch", "AC"), ("T0", "SK"), ("T1", "SK"),
        ]  # fmt: skip
        assert ended["tiers"][0]["title"] == "Scratch"
        assert ended["tiers"][0]["checks"] == [check.model_dump(mode="json")]

    run_with_api(database_url, tmp_path, test)


def test_what_is_no_json_is_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for body in [*map(str.encode, NO_JSON), b'{"a": "\xff"}']:
            with subtests.test(str(body)[:60]):
                answer = await api.http.post("/api/submissions", content=body, headers=JSON)
                assert "JSON" in refusal(answer, 400, "unreadable-body")
        nothing = await api.http.post("/api/submissions", headers=JSON)
        refusal(nothing, 422, "invalid")

    run_with_api(database_url, tmp_path, test)


def test_source_that_no_compiler_takes_is_stored_as_it_came(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        body = json.dumps(BODY | {"files": {"solution.py": "a\0\ud800b"}})
        answer = await api.http.post("/api/submissions", content=body, headers=JSON)
        assert answer.status_code == 202
        url = answer.json()["url"]
        assert await api.store.sources(answer.json()["id"]) == {"solution.py": b"a\0\xed\xa0\x80b"}
        shown = (await api.http.get(f"{url}/files")).json()
        assert shown == {"files": {"solution.py": "a\0\ufffdb"}}

    run_with_api(database_url, tmp_path, test)


def test_source_at_the_limit_is_taken(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await api.submit(files={"solution.py": "#" * 65_536})

    run_with_api(database_url, tmp_path, test)


def test_ten_mebibytes_are_refused_in_words_over_a_real_connection(
    database_url: str, tmp_path: Path
) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(160):
            yield b" " * 65_536

    async def test(api: Api) -> None:
        large = BODY | {"files": {"solution.py": "#" * (10 << 20)}}
        async with served(api) as http:
            announced = await http.post("/api/submissions", json=large)
            refusal(announced, 413, "too-large")
            streamed = await http.post("/api/submissions", content=chunks(), headers=JSON)
            refusal(streamed, 413, "too-large")
            assert (await http.post("/api/submissions", json=BODY)).status_code == 202

    run_with_api(database_url, tmp_path, test)
    assert kept(database_url) == 1


# --- the same again, and too much -----------------------------------------------------------------


def test_the_same_key_and_body_is_the_same_submission(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        headers = TOKEN | {"Idempotency-Key": "once"}
        first = await api.http.post("/api/submissions", json=BODY, headers=headers)
        await api.finish(first.json()["id"])
        again = await api.http.post("/api/submissions", json=BODY, headers=headers)
        assert again.status_code == 202
        assert again.json() == first.json() | {"state": "finished"}

    run_with_api(database_url, tmp_path, test)
    assert kept(database_url) == 1


def test_the_same_key_at_once_is_one_submission(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        headers = TOKEN | {"Idempotency-Key": "at-once"}
        answers = await asyncio.gather(
            *(api.http.post("/api/submissions", json=BODY, headers=headers) for _ in range(12))
        )
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["id"] for answer in answers}) == 1

    run_with_api(database_url, tmp_path, test)
    assert kept(database_url) == 1


def test_the_same_key_with_another_body_is_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        headers = TOKEN | {"Idempotency-Key": "once"}
        await api.submit(headers)
        others: list[dict[str, Any]] = [{"kind": "run"}, {"files": {"solution.py": "x"}}]
        for changed in others:
            with subtests.test(str(changed)):
                answer = await api.http.post(
                    "/api/submissions", json=BODY | changed, headers=headers
                )
                refusal(answer, 422, "key-reused")

    run_with_api(database_url, tmp_path, test)


def test_a_key_belongs_to_a_student(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        key = {"Idempotency-Key": "shared"}
        assert await api.submit(TOKEN | key) != await api.submit(OTHER | key)

    run_with_api(database_url, tmp_path, test)


def test_a_key_of_another_form_is_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for key in ["", "a b", "k" * 256, "é"]:
            with subtests.test(str(key)):
                raw = [(b"Idempotency-Key", key.encode("latin-1"))]
                answer = await api.http.post("/api/submissions", json=BODY, headers=raw)
                assert "Idempotency-Key" in refusal(answer, 422, "invalid")

    run_with_api(database_url, tmp_path, test)


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ({"queue_limit": 2}, "queue-full"),
        ({"student_limit": 2}, "too-many-waiting"),
        ({"hourly_quota": 2}, "quota"),
    ],
)
def test_too_much_is_refused_and_told_when_to_come_back(
    database_url: str, tmp_path: Path, setting: dict[str, int], kind: str
) -> None:
    async def test(api: Api) -> None:
        headers = TOKEN | {"Idempotency-Key": "first"}
        first = await api.submit(headers)
        await api.submit()
        answer = await api.http.post("/api/submissions", json=BODY, headers=TOKEN)
        refusal(answer, 429, kind)
        assert int(answer.headers["retry-after"]) == round(answer.json()["retry_after_s"]) > 0
        assert await api.submit(headers) == first  # what was accepted before needs no room

    run_with_api(database_url, tmp_path, test, settings=setting)
    assert kept(database_url) == 2


# --- reading --------------------------------------------------------------------------------------


def test_a_waiting_submission_is_a_result_without_a_verdict(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        answer = await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)
        result = Result.model_validate_json(answer.content)
        assert (result.id, result.state, result.verdict) == (submission, "queued", None)
        assert [(tier.id, tier.verdict, tier.passed) for tier in result.tiers] == [
            ("T0", None, 0), ("T1", None, 0),
        ]  # fmt: skip
        assert result.limits.wall_s == 5.0

    run_with_api(database_url, tmp_path, test)


def test_what_has_its_verdict_is_shown_while_the_rest_is_judged(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        claim = await api.claim(submission)
        events = list(replay(judged(claim, Verdict.WA, "off by one")))
        assert await api.store.append(claim, events[:3])  # all of T0
        result = Result.model_validate_json(
            (await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)).content
        )
        assert (result.state, result.verdict) == ("judging", None)
        first, second = result.tiers
        assert (first.verdict, first.checks[0].message) == (Verdict.WA, "off by one")
        assert (second.verdict, second.checks) == (None, [])

    run_with_api(database_url, tmp_path, test)


def test_what_a_lost_attempt_said_is_void(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        lost = await api.claim(submission)
        assert await api.store.append(lost, list(replay(judged(lost, Verdict.WA)))[:3])
        await api.claim(submission)
        answer = await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)
        assert [tier["checks"] for tier in answer.json()["tiers"]] == [[], []]

    run_with_api(database_url, tmp_path, test)


def test_a_finished_submission_is_its_result(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        result = await api.finish(submission)
        answer = await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)
        assert answer.headers["content-type"] == "application/json"
        shown = Result.model_validate_json(answer.content)
        assert shown.model_copy(update={"timing": result.timing}) == result

    run_with_api(database_url, tmp_path, test)


def test_a_submission_is_nobody_elses(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit(TOKEN)
        await api.finish(submission)
        for path in ["", "/events", "/files", "/judgings", "/charts/weights.json"]:
            with subtests.test(str(path)):
                theirs = await api.http.get(f"/api/submissions/{submission}{path}", headers=OTHER)
                nobodys = await api.http.get(f"/api/submissions/{'0' * 32}{path}", headers=OTHER)
                refusal(theirs, 404, "unknown-submission")
                assert theirs.content == nobodys.content
                mine = await api.http.get(f"/api/submissions/{submission}{path}", headers=TOKEN)
                assert mine.status_code == 200

    run_with_api(database_url, tmp_path, test)


def test_nobody_else_may_have_a_submission_judged_again(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit(TOKEN)
        await api.finish(submission)
        answer = await api.http.post(f"/api/submissions/{submission}/rejudge", headers=OTHER)
        refusal(answer, 404, "unknown-submission")

    run_with_api(database_url, tmp_path, test)


def test_an_id_of_another_form_is_no_submission(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for name in [
            "..",
            "%2e%2e",
            "..%2f..%2fetc%2fpasswd",
            "A" * 32,
            "0" * 31,
            "%00",
            "%ff",
            "'; DROP TABLE x",
        ]:
            with subtests.test(str(name)):
                answer = await api.http.get(f"/api/submissions/{name}/files")
                assert answer.status_code == 404
                assert answer.headers["content-type"] == "application/problem+json"

    run_with_api(database_url, tmp_path, test)


# --- history --------------------------------------------------------------------------------------


def test_the_history_is_ones_own_newest_first_in_parts_and_without_runs(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        sent = [await api.submit() for _ in range(3)]
        await api.submit(kind="run")
        await api.submit(OTHER)
        await api.finish(sent[0])
        first = (await api.http.get("/api/submissions?limit=2", headers=TOKEN)).json()
        assert [each["id"] for each in first["submissions"]] == sent[:0:-1]
        rest = await api.http.get(
            f"/api/submissions?limit=2&before={first['next']}&problem=double", headers=TOKEN
        )
        (oldest,) = rest.json()["submissions"]
        assert rest.json()["next"] is None
        assert (oldest["id"], oldest["state"], oldest["verdict"], oldest["score"]) == (
            sent[0], "finished", "AC", 1.0,
        )  # fmt: skip
        assert oldest["judgings"] == 1
        none = await api.http.get("/api/submissions?problem=another", headers=TOKEN)
        assert none.json() == {"submissions": [], "next": None}

    run_with_api(database_url, tmp_path, test)


def test_a_part_of_the_history_that_cannot_be_is_refused(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        for query in ["limit=0", "limit=101", "limit=x", "before=x", "problem=%00", "problem=A_b"]:
            with subtests.test(str(query)):
                answer = await api.http.get(f"/api/submissions?{query}", headers=TOKEN)
                assert query.partition("=")[0] in refusal(answer, 422, "invalid")

    run_with_api(database_url, tmp_path, test)


# --- judging again --------------------------------------------------------------------------------


def test_judging_again_keeps_the_earlier_verdict(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        first = await api.finish(submission)
        url = f"/api/submissions/{submission}"
        again = await api.http.post(f"{url}/rejudge", headers=TOKEN)
        assert again.status_code == 202
        assert again.headers["location"] == url
        waiting = (await api.http.get(url, headers=TOKEN)).json()
        assert (waiting["state"], waiting["verdict"]) == ("queued", None)
        assert waiting["seed"] == first.seed
        await api.finish(submission, lambda claim: judged(claim, Verdict.WA))
        passes = (await api.http.get(f"{url}/judgings", headers=TOKEN)).json()["judgings"]
        assert [(each["number"], each["verdict"]) for each in passes] == [(1, "AC"), (2, "WA")]
        assert (await api.http.get(url, headers=TOKEN)).json()["verdict"] == "WA"

    run_with_api(database_url, tmp_path, test)


def test_what_is_not_judged_yet_cannot_be_judged_again(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        answer = await api.http.post(f"/api/submissions/{submission}/rejudge", headers=TOKEN)
        refusal(answer, 409, "not-finished")

    run_with_api(database_url, tmp_path, test)


def test_judging_again_takes_the_exercise_as_it_is_now(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        first = await api.finish(submission)
        (api.problems / "double" / "statement.md").write_text("# Doubling, again\n")
        await api.parts.bank.refresh()
        await api.http.post(f"/api/submissions/{submission}/rejudge", headers=TOKEN)
        now = (await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)).json()
        current = api.parts.bank.current("double")
        assert current is not None
        assert now["problem_version"] == current.version != first.problem_version

    run_with_api(database_url, tmp_path, test)


def test_a_version_that_is_gone_from_the_folder_can_still_be_read(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        (api.problems / "double" / "problem.toml").rename(api.problems / "taken-away.toml")
        await api.parts.bank.refresh()
        answer = await api.http.get(f"/api/submissions/{submission}", headers=TOKEN)
        assert [tier["title"] for tier in answer.json()["tiers"]] == ["Interface", "Oracle"]

    run_with_api(database_url, tmp_path, test)


# --- charts ---------------------------------------------------------------------------------------


def test_charts_come_as_json_svg_and_png(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        url = f"/api/submissions/{submission}/charts/weights"
        spec = await api.http.get(f"{url}.json", headers=TOKEN)
        assert spec.headers["content-type"] == "application/json"
        assert spec.json()["data"]["values"][0] == {"key": "a", "weight": 0.25}
        svg = await api.http.get(f"{url}.svg", headers=TOKEN)
        assert svg.headers["content-type"] == "image/svg+xml"
        assert svg.text.startswith("<svg")
        assert svg.headers["content-security-policy"].startswith("sandbox;")
        assert svg.headers["x-content-type-options"] == "nosniff"
        png = await api.http.get(f"{url}.png", headers=TOKEN)
        assert png.headers["content-type"] == "image/png"
        assert png.content.startswith(b"\x89PNG")

    run_with_api(database_url, tmp_path, test)


def test_a_chart_that_is_not_there_is_refused_with_the_names_of_those_that_are(
    database_url: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        for name in ["other", "..%2fweights", "weights.json", "%00", "\u0436"]:
            with subtests.test(str(name)):
                url = f"/api/submissions/{submission}/charts/{name}.svg"
                answer = await api.http.get(url, headers=TOKEN)
                if "%2f" in name:
                    refusal(answer, 404, "unknown-address")
                else:
                    assert "'weights'" in refusal(answer, 404, "unknown-chart")

    run_with_api(database_url, tmp_path, test)


def test_a_chart_of_a_form_that_we_do_not_draw_is_refused(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        await api.finish(submission)
        url = f"/api/submissions/{submission}/charts/weights.html"
        assert "'png'" in refusal(await api.http.get(url, headers=TOKEN), 422, "invalid")

    run_with_api(database_url, tmp_path, test)


def test_a_chart_is_there_as_soon_as_it_was_recorded(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        url = f"/api/submissions/{submission}/charts/weights.json"
        refusal(await api.http.get(url, headers=TOKEN), 409, "not-finished")
        claim = await api.claim(submission)
        assert await api.store.append(claim, list(replay(judged(claim)))[:-1])
        assert (await api.http.get(url, headers=TOKEN)).status_code == 200

    run_with_api(database_url, tmp_path, test)


def test_a_chart_that_cannot_be_drawn_says_whose_fault_that_is(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit()
        wrong = chart().model_copy(update={"spec": {"mark": "no such mark", "encoding": {"x": 1}}})
        await api.finish(submission, lambda claim: judged(claim, charts=[wrong]))
        url = f"/api/submissions/{submission}/charts/weights.svg"
        answer = await api.http.get(url, headers=TOKEN)
        assert "The exercise" in refusal(answer, 500, "undrawable-chart")

    run_with_api(database_url, tmp_path, test)


# --- script ---------------------------------------------------------------------------------------

SCRIPT = "<script>alert(1)</script>"


def test_script_in_anything_a_student_shapes_stays_inert(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        submission = await api.submit(files={"solution.py": SCRIPT})
        charts = [chart(text=SCRIPT)]
        await api.finish(submission, lambda claim: judged(claim, Verdict.WA, SCRIPT, charts))
        url = f"/api/submissions/{submission}"
        for path in ("", "/files", "/charts/weights.json"):
            answer = await api.http.get(url + path, headers=TOKEN)
            assert SCRIPT in answer.text
            assert answer.headers["content-type"] == "application/json"
            assert answer.headers["x-content-type-options"] == "nosniff"
        svg = await api.http.get(f"{url}/charts/weights.svg", headers=TOKEN)
        assert SCRIPT not in svg.text
        assert "&lt;script" in svg.text
        wrong = {"files": {SCRIPT: SCRIPT}, "kind": "submit", "problem": SCRIPT}
        refused = await api.http.post("/api/submissions", json=wrong, headers=TOKEN)
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.headers["x-content-type-options"] == "nosniff"

    run_with_api(database_url, tmp_path, test)
