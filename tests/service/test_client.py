from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge.client import (
    Client,
    NotSendable,
    NotUnderstood,
    ProblemExcerpt,
    Refused,
    Unreachable,
    is_loopback,
    kept_token,
)
from judge.events import CheckFinished, Finished, Queued, Started, StreamEvent
from judge.results import CheckResult
from judge.service.errors import ErrorKind
from judge.service.models import FileToWrite, ProblemPage, TierToPass
from judge.sse import Frame, frames
from judge.verdicts import Verdict
from tests.service.fake_service import (
    EVENTS,
    ID,
    Answer,
    FakeService,
    accepted,
    events,
    fake_service,
    problem,
    result,
    stream,
)

FILES = {"solution.py": "def double(x):\n    return 2 * x  # Ω\n".encode()}
POST = ("POST", "/api/submissions")
ACCEPTED = accepted(ID)


@pytest.fixture
def service() -> Iterator[FakeService]:
    with fake_service() as made:
        made.judges()
        yield made


@pytest.fixture
def client(service: FakeService) -> Iterator[Client]:
    with Client(service.url, patience_s=3) as made:
        yield made


# --- submitting ---------------------------------------------------------------------------------


def test_a_submission_carries_its_files_as_text_and_a_key(
    service: FakeService, client: Client
) -> None:
    assert client.submit("double", FILES) == ID
    (request,) = service.requests(*POST)
    files = {"solution.py": FILES["solution.py"].decode()}
    assert json.loads(request.body) == {"problem": "double", "files": files, "kind": "submit"}
    assert len(request.headers["idempotency-key"]) >= 20
    assert "authorization" not in request.headers


def test_tests_are_sent_as_tests_and_references_asked_for_only_when_wanted(
    service: FakeService, client: Client
) -> None:
    tests = {"tests/test_own.py": b""}
    client.submit("double", tests, "tests")
    client.submit("double", FILES, ref_deps=True)
    first, second = (json.loads(request.body) for request in service.requests(*POST))
    assert first == {"problem": "double", "files": {"tests/test_own.py": ""}, "kind": "tests"}
    assert second["ref_deps"] is True


def test_unmet_needs_are_told_from_other_refusals(service: FakeService, client: Client) -> None:
    body = json.dumps({"type": ErrorKind.NEEDS_UNMET.uri, "detail": "L1 is not passed yet."})
    service.on(*POST, Answer(409, body.encode(), "application/problem+json"), problem(422, "No."))
    for unmet in (True, False):
        with pytest.raises(Refused) as refused:
            client.submit("double", FILES)
        assert refused.value.is_unmet is unmet


def test_two_submissions_have_two_keys(service: FakeService, client: Client) -> None:
    client.submit("double", FILES)
    client.submit("double", FILES)
    first, second = service.requests(*POST)
    assert first.headers["idempotency-key"] != second.headers["idempotency-key"]


@pytest.mark.parametrize(
    "hindrance",
    [
        Answer(drop=True),
        Answer(202, b'{"id"', lacking=9),
        problem(503, "The database does not answer.", retry_after="0"),
        problem(429, "The queue is full.", retry_after="1"),
        Answer(502, b"<html>", "text/html"),
    ],
    ids=["dropped", "cut-short", "away", "full", "gateway"],
)
def test_what_passes_is_waited_for_and_the_same_submission_sent_again(
    service: FakeService, client: Client, hindrance: Answer
) -> None:
    service.on(*POST, hindrance, hindrance, ACCEPTED)
    client.problem("double")
    assert client.submit("double", FILES) == ID
    sent = service.requests(*POST)
    assert len(sent) == 3
    assert len({request.headers["idempotency-key"] for request in sent}) == 1
    assert len({request.body for request in sent}) == 1


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422, 500])
def test_a_refusal_is_told_in_the_services_words_at_once(
    service: FakeService, client: Client, status: int
) -> None:
    service.on(*POST, problem(status, "Send solution.py and nothing else."))
    with pytest.raises(Refused, match=r"^Send solution\.py and nothing else\.$") as caught:
        client.submit("double", FILES)
    assert caught.value.status == status
    assert caught.value.is_theirs == (status == 500)
    assert len(service.requests(*POST)) == 1


def test_a_wait_longer_than_our_patience_is_not_begun(service: FakeService, client: Client) -> None:
    service.on(*POST, problem(429, "Your quota is used up.", retry_after="3600"))
    with pytest.raises(Refused, match="quota"):
        client.submit("double", FILES)
    assert len(service.requests(*POST)) == 1


def test_a_service_that_stays_away_is_given_up_with_its_sentence(service: FakeService) -> None:
    service.on(*POST, problem(503, "The database does not answer."))
    with Client(service.url, patience_s=0.5) as client, pytest.raises(Refused, match="database"):
        client.submit("double", FILES)
    assert len(service.requests(*POST)) > 1


def test_a_refusal_without_a_document_names_its_status(
    service: FakeService, client: Client
) -> None:
    service.on(*POST, Answer(404, b"<html>", "text/html"))
    with pytest.raises(Refused, match="answered 404"):
        client.submit("double", FILES)


def test_a_service_that_never_answered_is_not_waited_for() -> None:
    with fake_service() as gone:
        pass
    with Client(gone.url, patience_s=60) as client, pytest.raises(Unreachable, match=gone.url):
        client.problem("double")


def test_a_source_that_is_no_text_is_not_sent(service: FakeService, client: Client) -> None:
    with pytest.raises(NotSendable, match=r"solution\.py: byte 3 is not UTF-8"):
        client.submit("double", {"solution.py": b"# \xff"})
    assert not service.requests(*POST)


@pytest.mark.parametrize("address", ["ftp://x", "127.0.0.1:1", "http://a:b", "http://", "nonsense"])
def test_what_is_no_address_is_said_to_be_none(address: str) -> None:
    with pytest.raises(NotSendable, match="not an address"):
        Client(address)


def test_another_service_at_that_address_is_told(service: FakeService, client: Client) -> None:
    service.on("GET", "/api/problems/double", Answer(200, b"<html>", "text/html"))
    with pytest.raises(NotUnderstood, match="no judge"):
        client.problem("double")


def test_a_slug_cannot_lead_elsewhere(service: FakeService, client: Client) -> None:
    with pytest.raises(Refused):
        client.problem("../submissions?x=1")
    assert service.seen[0].path == "/api/problems/..%2Fsubmissions%3Fx%3D1"


# --- following ----------------------------------------------------------------------------------


def test_events_come_in_order_and_end_with_the_verdict(client: Client) -> None:
    assert list(client.follow(ID)) == events()


@pytest.mark.parametrize("lacking", [0, 100], ids=["ended", "broken"])
def test_a_lost_stream_goes_on_after_the_last_event_that_was_whole(
    service: FakeService, client: Client, lacking: int
) -> None:
    numbered: list[tuple[int | None, StreamEvent]] = list(enumerate(events(), start=11))
    cut = b'id: 14\nevent: tier_finished\ndata: {"ty'
    service.on(
        "GET", EVENTS, stream(*numbered[:3], lacking=lacking, cut=cut),
        problem(503, "Not yet."), Answer(drop=True), stream(*numbered[3:]),
    )  # fmt: skip
    assert list(client.follow(ID)) == events()
    asked = [request.headers.get("last-event-id") for request in service.requests("GET", EVENTS)]
    assert asked == [None, "13", "13", "13"]


def test_a_stream_that_stays_away_is_given_up(service: FakeService) -> None:
    service.on("GET", EVENTS, Answer(drop=True))
    with Client(service.url, patience_s=0.5) as client:
        client.problem("double")
        with pytest.raises(Unreachable, match="stopped answering"):
            list(client.follow(ID))


def test_the_stream_of_an_unknown_submission_is_refused(
    service: FakeService, client: Client
) -> None:
    service.on("GET", EVENTS, problem(404, "There is no such submission."))
    with pytest.raises(Refused, match="no such submission"):
        list(client.follow(ID))


def test_the_place_in_the_queue_comes_again_and_unknown_events_are_left_out(
    service: FakeService, client: Client
) -> None:
    last = Finished(verdict=Verdict.AC, score=1)
    text = 'id: 1\nevent: queued\ndata: {"type":"queued","ahead":3}\n\n'
    text += 'event: position\ndata: {"ahead": 1}\n\nid: 2\nevent: new\ndata: what\n\n'
    text += f"id: 3\nevent: finished\ndata: {last.model_dump_json()}\n\n"
    service.on("GET", EVENTS, Answer(200, text.encode(), "text/event-stream"))
    assert list(client.follow(ID)) == [Queued(ahead=3), Queued(ahead=1), last]


def test_text_with_strange_line_ends_is_one_event(service: FakeService, client: Client) -> None:
    words = "one\u2028two\x85three\x0cfour"
    card = CheckResult(id="c", title="t", kind="oracle", why="", verdict=Verdict.WA, message=words)
    told: list[StreamEvent] = [
        Started(), CheckFinished(tier="T0", check=card), Finished(verdict=Verdict.WA, score=0)
    ]  # fmt: skip
    service.on("GET", EVENTS, stream(*enumerate(told, start=1)))
    assert list(client.follow(ID)) == told


def test_frames_do_not_depend_on_how_bytes_are_cut() -> None:
    text = (
        b": c\r\nid: 7\r\nevent: e\r\ndata: \xce\xa9\r\ndata:b\r\n\r\nretry: 5\n\ndata: x\n\nid: 9"
    )
    expected = [None, Frame("7", "e", "Ω\nb"), Frame(None, "message", "x")]
    for size in range(1, len(text) + 1):
        assert list(frames(text[i : i + size] for i in range(0, len(text), size))) == expected


def test_a_result_is_read_as_it_is(client: Client) -> None:
    assert client.result(ID) == result()


def test_what_the_service_says_of_a_problem_is_what_the_client_reads() -> None:
    assert set(ProblemExcerpt.model_fields) <= set(ProblemPage.model_fields)
    assert {"name", "role"} <= set(FileToWrite.model_fields)
    assert {"id", "title"} <= set(TierToPass.model_fields)


# --- who it is ----------------------------------------------------------------------------------


def test_a_token_goes_along_with_every_request(service: FakeService) -> None:
    with Client(service.url, "a" * 20) as client:
        client.submit("double", FILES)
        list(client.follow(ID))
    assert {request.headers["authorization"] for request in service.seen} == {f"Bearer {'a' * 20}"}


def test_a_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "judge"
    first = kept_token(folder)
    assert len(first) >= 20
    assert kept_token(folder) == first
    (path,) = folder.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert kept_token(tmp_path / "other") != first


def test_a_token_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(NotSendable, match="cannot be kept"):
        kept_token(tmp_path / "file" / "judge")
    (tmp_path / "token").write_text("\n")
    with pytest.raises(NotSendable, match="Delete it"):
        kept_token(tmp_path)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://[::1]:8000", True),
        ("http://localhost", True),
        ("http://judge.localhost:1", True),
        ("https://judge.example", False),
        ("http://192.168.1.5:8000", False),
        ("http://localhost.example", False),
        ("http://[", False),
    ],
)
def test_only_this_machines_addresses_are_loopback(server: str, expected: bool) -> None:
    assert is_loopback(server) is expected
