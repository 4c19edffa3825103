"""Exercises that build on others: the student's own solutions, or the references on request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judge.verdicts import Verdict
from tests.service.chapters import PLACE, TESTS, grading, write_chapters, write_exercise
from tests.service.serving import BODY, OTHER, REMOTE, TOKEN, Api, judged, run_with_api
from tests.small_problem import FILES

DOUBLE = "def double(x):\n    return x + x  # mine\n"
LATER = "def double(x):\n    return x + x  # mine, and better\n"
SOLUTION: dict[str, str] = BODY["files"]


async def chapters(api: Api, **options: str) -> None:
    write_chapters(api.problems, **options)
    await api.parts.bank.refresh()
    assert api.parts.bank.broken() == []


async def solve(api: Api, text: str, student: dict[str, str] = TOKEN, **body: object) -> str:
    """Have a solution of `double` accepted; its id."""
    submission = await api.submit(student, files={"solution.py": text}, **body)
    await api.finish(submission)
    return submission


async def post(api: Api, student: dict[str, str] = TOKEN, **body: object) -> Any:
    """Submit to `quadruple`."""
    request = BODY | {"problem": "quadruple"} | body
    return await api.http.post("/api/submissions", json=request, headers=student)


async def judged_files(api: Api, answer: Any) -> dict[str, str]:
    """What was judged, which is what a worker gets."""
    assert answer.status_code == 202, answer.text
    url = answer.json()["url"]
    files: dict[str, str] = (await api.http.get(f"{url}/files", headers=TOKEN)).json()["files"]
    claim = await api.claim(answer.json()["id"])
    assert {name: source.decode() for name, source in claim.files.items()} == files
    await api.finish_claim(claim)
    return files


async def unmet(api: Api, student: dict[str, str] = TOKEN) -> list[str]:
    page = (await api.http.get("/api/problems/quadruple", headers=student)).json()
    found: list[str] = page["unmet_needs"]
    return found


def test_without_what_it_builds_on_a_submission_is_refused_by_the_chapters_name(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        files = SOLUTION | {"scratch.py": ""}
        for changed in ({}, {"kind": "run"}, {"kind": "run", "files": files}):
            answer = await post(api, **changed)
            assert (answer.status_code, answer.json()["type"]) == (409, "urn:judge:needs-unmet")
            assert answer.json()["detail"] == (
                "L1.1 is not passed yet; pass it, or send ref_deps to build on the reference."
            )
        assert await unmet(api) == ["double"]
        assert (await api.store.stats()).waiting == {}

    run_with_api(database_url, tmp_path, test)


def test_an_exercise_of_no_course_is_named_by_its_title(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api, course="")
        assert (await post(api)).json()["detail"].startswith("Doubling is not passed yet")

    run_with_api(database_url, tmp_path, test)


def test_several_are_named_together(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        write_chapters(api.problems)
        write_exercise(api.problems, "half", 'packages = ["pack"]')
        manifest = api.problems / "quadruple" / "problem.toml"
        text = manifest.read_text().replace('needs = ["double"]', 'needs = ["double", "half"]')
        manifest.write_text(text)
        await api.parts.bank.refresh()
        assert (await post(api)).json()["detail"] == (
            "L1.1 and Doubling are not passed yet; pass them, or send ref_deps to build on the "
            "reference."
        )
        await solve(api, DOUBLE)
        assert await unmet(api) == ["half"]
        assert (await post(api)).json()["detail"].startswith("Doubling is not passed yet")

    run_with_api(database_url, tmp_path, test)


def test_a_submission_is_judged_on_top_of_the_students_newest_accepted_solution(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await solve(api, DOUBLE)
        assert await unmet(api) == []
        assert await judged_files(api, await post(api)) == {**SOLUTION, PLACE: DOUBLE}
        await solve(api, LATER)
        wrong = await api.submit(files={"solution.py": "wrong"})
        await api.finish(wrong, lambda claim: judged(claim, Verdict.WA))
        await solve(api, "a run", kind="run")
        await solve(api, "somebody else's", OTHER)
        assert await judged_files(api, await post(api)) == {**SOLUTION, PLACE: LATER}
        files = SOLUTION | {"scratch.py": "print(1)\n"}
        assert await judged_files(api, await post(api, kind="run", files=files)) == {
            **files, PLACE: LATER,
        }  # fmt: skip

    run_with_api(database_url, tmp_path, test)


def test_a_solution_that_was_rejected_when_judged_again_is_none(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        first, second = await solve(api, DOUBLE), await solve(api, LATER)
        await api.http.post(f"/api/submissions/{second}/rejudge", headers=TOKEN)
        await api.finish(second, lambda claim: judged(claim, Verdict.WA))
        assert await judged_files(api, await post(api)) == {**SOLUTION, PLACE: DOUBLE}
        await api.http.post(f"/api/submissions/{first}/rejudge", headers=TOKEN)
        await api.finish(first, lambda claim: judged(claim, Verdict.WA))
        assert (await post(api)).status_code == 409

    run_with_api(database_url, tmp_path, test)


def test_on_request_the_reference_stands_in_and_nothing_is_added(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        assert await judged_files(api, await post(api, ref_deps=True)) == SOLUTION
        await solve(api, DOUBLE)
        assert await judged_files(api, await post(api, ref_deps=True)) == SOLUTION

    run_with_api(database_url, tmp_path, test)


def test_judged_again_it_is_judged_on_top_of_the_same(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await solve(api, DOUBLE)
        accepted = (await post(api)).json()
        await api.finish(accepted["id"])
        await solve(api, LATER)
        again = await api.http.post(f"{accepted['url']}/rejudge", headers=TOKEN)
        assert await judged_files(api, again) == {**SOLUTION, PLACE: DOUBLE}

    run_with_api(database_url, tmp_path, test)


def test_what_a_needed_solution_was_judged_on_comes_with_it(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        needing = 'packages = ["pack"]\nneeds = ["quadruple"]'
        write_exercise(api.problems, "octuple", needing)
        await api.parts.bank.refresh()
        await solve(api, DOUBLE)
        await api.finish((await post(api)).json()["id"])
        await api.finish((await post(api, kind="tests", files=TESTS)).json()["id"])
        await solve(api, LATER)
        answer = await post(api, problem="octuple")
        assert await judged_files(api, answer) == {
            **SOLUTION, "pack/quadruple.py": SOLUTION["solution.py"], PLACE: DOUBLE,
        }  # fmt: skip

    run_with_api(database_url, tmp_path, test)


def test_an_exercise_that_takes_tests_is_passed_with_them_only(
    database_url: str, tmp_path: Path
) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        write_exercise(api.problems, "octuple", 'packages = ["pack"]\nneeds = ["quadruple"]')
        await api.parts.bank.refresh()
        await api.finish((await post(api, ref_deps=True)).json()["id"])
        assert (await post(api, problem="octuple")).status_code == 409
        tests = (await post(api, kind="tests", files=TESTS)).json()["id"]
        await api.finish(tests, grading(Verdict.AC))
        assert (await post(api, problem="octuple")).status_code == 202

    run_with_api(database_url, tmp_path, test)


def test_a_need_that_is_no_module_demands_nothing(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        manifest = api.problems / "double" / "problem.toml"
        manifest.write_text(manifest.read_text().replace('module = "pack.double"\n', ""))
        await api.parts.bank.refresh()
        page = (await api.http.get("/api/problems/quadruple", headers=TOKEN)).json()
        assert (page["needs"], page["unmet_needs"]) == (["double"], [])
        assert await judged_files(api, await post(api)) == SOLUTION

    run_with_api(database_url, tmp_path, test)


def test_what_it_builds_on_cannot_be_sent_along(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await solve(api, DOUBLE)
        answer = await post(api, files=SOLUTION | {PLACE: "mine"})
        assert (answer.status_code, answer.json()["type"]) == (422, "urn:judge:wrong-files")
        assert f"Not taken: '{PLACE}'" in answer.json()["detail"]

    run_with_api(database_url, tmp_path, test)


def test_a_key_is_for_one_choice_of_what_to_build_on(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        await solve(api, DOUBLE)
        key = TOKEN | {"Idempotency-Key": "k"}
        first = await post(api, key)
        assert (await post(api, key, ref_deps=True)).json()["type"] == "urn:judge:key-reused"
        await solve(api, LATER)  # the same request, whatever it is judged on top of
        assert (await post(api, key)).json()["id"] == first.json()["id"]

    run_with_api(database_url, tmp_path, test)


def test_whom_nobody_knows_again_builds_on_references(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        async with api.client(REMOTE) as client:
            body = {"problem": "quadruple", "files": SOLUTION}
            refused = await client.post("/api/submissions", json=body)
            assert refused.status_code == 409
            taken = await client.post("/api/submissions", json=body | {"ref_deps": True})
            assert taken.status_code == 202

    run_with_api(database_url, tmp_path, test)


def test_the_page_tells_nothing_of_the_needed_reference(database_url: str, tmp_path: Path) -> None:
    async def test(api: Api) -> None:
        await chapters(api)
        page = await api.http.get("/api/problems/quadruple", headers=TOKEN)
        assert FILES["reference.py"].splitlines()[1] not in page.text

    run_with_api(database_url, tmp_path, test)
