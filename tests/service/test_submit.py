from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge.commands.submit import token_for
from judge.events import Finished, MutantFinished, TierFinished
from judge.results import Result
from judge.service.errors import ErrorKind
from judge.settings import Settings
from judge.verdicts import Verdict
from tests.commands import Ended, run_judge
from tests.service.fake_service import (
    EVENTS,
    ID,
    Answer,
    FakeService,
    fake_service,
    problem,
    result,
    stream,
)

SOURCE = "def double(x):\n    return 2 * x\n"


Submit = Callable[..., Ended]


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as made:
        made.judges()
        yield made


@pytest.fixture
def submit(
    tmp_path: Path,
    service: FakeService,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Submit:
    """Runs `judge submit` against the service; no problem is known on this machine."""
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path / "none"))
    monkeypatch.setenv("JUDGE_SERVER", service.url)
    monkeypatch.setenv("JUDGE_CONFIG", str(tmp_path / "config"))
    monkeypatch.delenv("JUDGE_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(SOURCE)

    def submit(*arguments: str) -> Ended:
        return run_judge(capsys, "submit", *arguments)

    return submit


def test_an_accepted_submission_is_followed_tier_by_tier_and_reported(submit: Submit) -> None:
    ended = submit("double", "mine.py")
    assert ended.status == 0
    taken, *tiers = ended.err.splitlines()
    assert taken.startswith("judge: taken, see http://")
    assert "/problems/" in taken
    assert taken.endswith(f"?submission={ID}")
    assert tiers == ["mine.py: T0 Interface: AC 1/1", "mine.py: T1 Oracle: AC 1/1"]
    assert "AC  mine.py  Accepted" in ended.out
    assert f"/api/submissions/{ID}" in ended.out


@pytest.mark.parametrize(
    ("verdict", "status"), [(Verdict.WA, 1), (Verdict.CE, 1), (Verdict.TLE, 1), (Verdict.JE, 3)]
)
def test_the_exit_status_follows_the_verdict(
    submit: Submit, service: FakeService, verdict: Verdict, status: int
) -> None:
    service.judges(verdict)
    ended = submit("double", "mine.py")
    assert ended.status == status
    assert verdict.words in ended.out


def test_json_is_the_result_and_nothing_else(submit: Submit) -> None:
    ended = submit("double", "mine.py", "--json")
    assert (ended.status, ended.err) == (0, "")
    assert Result.model_validate_json(ended.out) == result()


def test_a_folder_gives_its_modules_under_their_names(submit: Submit, service: FakeService) -> None:
    for name in ("solution.py", "more.py", "notes.txt"):
        path = Path("folder") / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(SOURCE)
    ended = submit("double", "folder")
    assert ended.status == 0
    assert "not notes.txt" in ended.err
    (request,) = service.requests("POST", "/api/submissions")
    assert b'"more.py"' in request.body
    assert b'"solution.py"' in request.body


def test_tests_are_sent_from_a_file_or_a_folder(submit: Submit, service: FakeService) -> None:
    Path("tests").mkdir()
    Path("tests/test_own.py").write_text("")
    Path("tests/notes.py").write_text("")
    for path in ("tests/test_own.py", "tests", "."):
        assert submit("double", path, "--tests").status == 0
    for request in service.requests("POST", "/api/submissions"):
        body = json.loads(request.body)
        assert (body["kind"], body["files"]) == ("tests", {"tests/test_own.py": ""})


def test_tests_are_followed_in_their_own_tier(submit: Submit, service: FakeService) -> None:
    Path("test_own.py").write_text("")
    told = TierFinished(tier="tests", verdict=Verdict.WA, passed=1, total=2)
    end = Finished(verdict=Verdict.WA, score=0.5)
    mutant = MutantFinished(mutant="a", killed_by=[], done=1, total=1)
    service.on("GET", EVENTS, stream((1, mutant), (2, told), (3, end)))
    ended = submit("double", "test_own.py", "--tests")
    assert "test_own.py: tests Your tests: WA 1/2" in ended.err.splitlines()


def test_unmet_needs_are_told_with_the_way_round_them(submit: Submit, service: FakeService) -> None:
    body = json.dumps({"type": ErrorKind.NEEDS_UNMET.uri, "detail": "L1 is not passed yet."})
    service.on("POST", "/api/submissions", Answer(409, body.encode(), "application/problem+json"))
    ended = submit("double", "mine.py")
    assert ended.status == 2
    assert ended.err.splitlines()[-2:] == [
        "judge: L1 is not passed yet.",
        "judge: With --ref-deps it is judged on top of the references.",
    ]
    service.judges()
    assert submit("double", "mine.py", "--ref-deps").status == 0
    assert b'"ref_deps":true' in service.seen[-3].body


@pytest.mark.parametrize(("refusal", "status"), [(422, 2), (404, 2), (401, 2), (500, 3)])
def test_a_refusal_is_told_in_its_own_words(
    submit: Submit, service: FakeService, refusal: int, status: int
) -> None:
    service.on("POST", "/api/submissions", problem(refusal, "Do it another way.\x1b[2J"))
    ended = submit("double", "mine.py")
    assert ended.status == status
    assert ended.err.splitlines()[-1] == "judge: Do it another way.\\x1b[2J"
    assert ended.out == ""


def test_an_unknown_problem_is_the_services_to_tell(submit: Submit, service: FakeService) -> None:
    service.on("GET", "/api/problems/treble", problem(404, "There is no exercise treble."))
    ended = submit("treble", "mine.py")
    assert (ended.status, ended.err) == (2, "judge: There is no exercise treble.\n")


def test_a_file_that_cannot_be_read_is_usage_and_nothing_is_sent(
    submit: Submit, service: FakeService
) -> None:
    ended = submit("double", "missing.py")
    assert ended.status == 2
    assert "missing.py: no such file" in ended.err
    assert not service.requests("POST", "/api/submissions")


def test_without_a_service_it_says_how_to_start_one(submit: Submit) -> None:
    with fake_service() as gone:
        pass
    ended = submit("double", "mine.py", "--server", gone.url)
    assert ended.status == 3
    assert gone.url in ended.err
    assert "judge serve" in ended.err


@pytest.mark.parametrize("answer", [Answer(200, b"<html>", "text/html"), Answer(200, b"{}")])
def test_something_else_at_that_address_is_not_taken_for_a_judge(
    submit: Submit, service: FakeService, answer: Answer
) -> None:
    service.on("GET", "/api/problems/double", answer)
    ended = submit("double", "mine.py")
    assert ended.status == 3
    assert "no judge of this version" in ended.err


def test_an_address_that_is_none_is_usage(submit: Submit) -> None:
    ended = submit("double", "mine.py", "--server", "nonsense")
    assert ended.status == 2
    assert "nonsense: not an address" in ended.err


def test_on_this_machine_no_token_is_sent_unless_one_is_set(
    submit: Submit, service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit("double", "mine.py")
    assert not any("authorization" in request.headers for request in service.seen)
    assert not Path("config").exists()
    monkeypatch.setenv("JUDGE_TOKEN", "t" * 20)
    submit("double", "mine.py")
    assert service.seen[-1].headers["authorization"] == f"Bearer {'t' * 20}"


def test_for_a_judge_elsewhere_a_token_is_kept(tmp_path: Path) -> None:
    settings = Settings(config=tmp_path / "config", token="")
    token = token_for(settings, "https://judge.example")
    assert len(token) >= 20
    assert token_for(settings, "http://judge.example") == token
    assert token_for(settings, "http://127.0.0.1:8000") == ""
