"""`judge serve` and `judge work` as whoever starts them sees them: whole processes, real boxes."""

from __future__ import annotations

import re
import shutil
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx
import pytest

from judge.client import Client
from judge.events import Finished, Queued, Started, StreamEvent
from judge.results import Result
from judge.service.models import Judgings, Readiness
from judge.verdicts import Verdict
from tests.service.faults.desk import RIGHT
from tests.service.judge_process import LOOK_S, PATIENCE_S, Running, command_of, wait_for_end
from tests.small_problem import FILES, MANIFEST, write_problem

AT_ONCE_S = 20.0  # until the end of one that was asked twice, or has nothing to finish
PAGES_S = 30.0  # until a changed problem is served
LONG_S = 24.0
ORACLE = "checks/test_t1_oracle.py"
NAP = b"import time\n\ndef double(x):\n    time.sleep(1.5)\n    return x + x\n"
RIGHT_IF_SHORT = b"def double(x):\n    return x + x if len(x) < 10 else x\n"
PASSWORD = "not-for-everybody"


class Home:
    """A folder with problems and a database, and what runs on it, which ends with the home."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.problems = folder / "problems"
        self.logs = folder / "logs"
        self._temporary = folder / "tmp"
        for made in (self.problems, self.logs, self._temporary):
            made.mkdir()
        manifest = MANIFEST.replace("wall_s = 5.0", "wall_s = 40.0")
        write_problem(self.problems, problem_toml=manifest)
        (self.problems / "tracks.toml").write_text(
            '[[tracks]]\nid = "papers"\ntitle = "Papers"\nsummary = "From papers."\n'
        )
        self._server: Running | None = None
        self._started = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del kind, error, trace
        self.end()

    def start(self, *arguments: str, **settings: str) -> Running:
        """A command on this home. Whoever starts it ends it."""
        self._started += 1
        own = {
            "JUDGE_DATA": str(self.data),
            "JUDGE_PROBLEMS": str(self.problems),
            "JUDGE_SANDBOX": "bwrap",
            "JUDGE_SLOTS": "1",
            "JUDGE_LOG": "json",
            "TMPDIR": str(self._temporary),
        }
        return Running(arguments, self.logs / f"{self._started}.log", own | settings)

    def serve(self, *options: str, **settings: str) -> Running:
        return self.start("serve", "--port", "0", *options, **settings)

    def begin(self) -> Running:
        """A new server for all tests, whose boxes are still cold."""
        self.end()
        self._server = self.serve()
        return self._server

    def warm(self) -> Running:
        """The server of this home that can judge; started where there is none."""
        if self._server is not None and self._server.alive:
            with Client(self._server.address) as client:
                if client.ready():
                    return self._server
        server = self.begin()
        server.wait_until_ready()
        return server

    def end(self) -> None:
        """End that server, so that others can have its database."""
        if self._server is not None:
            self._server.__exit__(None, None, None)
            self._server = None

    def require_nothing_left(self, family: set[int]) -> None:
        """Neither processes, nor what tells of a database that runs, nor what boxes meet in."""
        wait_for_end(family)
        assert not (self.data / "postgres" / "cluster" / "postmaster.pid").exists()
        assert not list((self.data / "postgres" / "socket").iterdir())
        assert not list(self._temporary.iterdir())


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """A home whose server the tests share."""
    with new_home() as made:
        yield made


@pytest.fixture
def fresh() -> Iterator[Home]:
    """A home in which nothing has run yet."""
    with new_home() as made:
        yield made


@pytest.fixture
def service(home: Home) -> Running:
    """A server with warm boxes, whatever earlier tests did to the one before."""
    return home.warm()


@contextmanager
def new_home() -> Iterator[Home]:
    # The database's user must be able to reach it, and its path be short enough for a socket.
    folder = Path(tempfile.mkdtemp(prefix="judge-r-", dir="/tmp"))
    folder.chmod(0o755)
    try:
        with Home(folder) as made:
            yield made
    finally:
        shutil.rmtree(folder)


# When a server is asked to end that does not judge yet: what is true of it then.
MOMENTS: dict[str, Callable[[Running], bool]] = {
    "serving": lambda server: "judge: serving" in server.log,
    "sandbox chosen": lambda server: "judge: sandbox bwrap" in server.log,
    "box starting": lambda server: any(map(is_box, server.family())),
}


# --- starting -------------------------------------------------------------------------------------


def test_submission_made_before_boxes_are_warm_is_judged(home: Home) -> None:
    server = home.begin()
    with Client(server.address) as client:
        early = client.submit("double", {"solution.py": RIGHT})
        told: Counter[str] = Counter()
        while not (readiness := ready(server)).ready:
            told.update(readiness.reasons)
            time.sleep(LOOK_S)
        assert any(reason.endswith("is waiting: its boxes are starting.") for reason in told), told
        require_one_verdict(client, early)


def test_serve_says_what_runs_where(service: Running, home: Home) -> None:
    said = [line for line in service.log.splitlines() if line.startswith("judge: ")]
    database, problems, serving, *rest = said[-5:]
    assert re.fullmatch(rf"judge: database: PostgreSQL 1\d\S*, .+, data in {home.data}", database)
    assert problems == f"judge: problems: 1 in {home.problems}"
    assert re.fullmatch(r"judge: serving http://127\.0\.0\.1:\d+ \(Ctrl-C ends\)", serving)
    assert re.match(r"judge: sandbox bwrap: \w+", rest[0])
    assert re.fullmatch(r"judge: worker: 1 slot, warm after \d+\.\d s", rest[1])
    first = (home.logs / "1.log").read_text()
    assert f"judge: Creating a database in {home.data}" in first


def test_work_without_anything_to_work_for_says_what_to_do(fresh: Home) -> None:
    with fresh.start("work") as worker:
        assert worker.status() == 2
        assert worker.log == (
            "judge: there is no queue to work for: set JUDGE_DATABASE_URL, or start `judge serve` "
            "on this machine first\n"
        )


def test_host_that_can_have_no_address_is_told(fresh: Home) -> None:
    host = "x" * 70  # longer than the names of hosts can be
    with fresh.serve("--host", host) as server:
        assert server.status() == 2
        assert server.log == (
            f"judge: {host} port 0 cannot be served: no host can have this name. Choose with "
            "--host and --port.\n"
        )


def test_port_that_is_taken_is_told(fresh: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with fresh.start("serve", "--port", str(port)) as server:
            assert server.status() == 2
            assert server.log == (
                f"judge: 127.0.0.1 port {port} cannot be served: address already in use. Choose "
                "with --host and --port.\n"
            )


def test_data_folder_of_another_serve_is_told(service: Running, home: Home) -> None:
    with home.serve() as second:
        assert second.status() == 3
        assert f"another `judge serve` (process {service.pid}) uses the database" in second.log
        assert "Traceback" not in second.log, second.log
    assert ready(service).ready


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("work",)])
def test_database_that_does_not_answer_is_told_without_its_password(
    command: tuple[str, ...], fresh: Home
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and does not listen
        where = f"127.0.0.1:{closed.getsockname()[1]}/judge"
        url = f"postgresql://judge:{PASSWORD}@{where}"
        with fresh.start(*command, JUDGE_DATABASE_URL=url) as process:
            assert process.status() == 3
            assert f"{where} cannot be used: " in process.log
            assert PASSWORD not in process.log
            assert "Traceback" not in process.log, process.log


# --- running --------------------------------------------------------------------------------------


def test_changed_problem_is_judged_by_its_new_version(service: Running, home: Home) -> None:
    with Client(service.address) as client:
        before = client.problem("double").version
        try:
            write_oracle(home, FILES[ORACLE].replace("normal(2, 3)", "normal(20, 3)"))
            service.wait_for(lambda: client.problem("double").version != before, PAGES_S)
            submission = client.submit("double", {"solution.py": RIGHT_IF_SHORT})
            result = require_one_verdict(client, submission, Verdict.WA)
            assert result.problem_version == client.problem("double").version
        finally:
            write_oracle(home, FILES[ORACLE])
        service.wait_for(lambda: client.problem("double").version == before, PAGES_S)
        again = client.submit("double", {"solution.py": RIGHT_IF_SHORT})
        assert require_one_verdict(client, again).problem_version == before


def test_log_in_json_names_the_submission(service: Running) -> None:
    with Client(service.address) as client:
        submission = client.submit("double", {"solution.py": RIGHT})
        require_one_verdict(client, submission)

    def judged() -> list[dict[str, Any]]:
        return [each for each in service.records() if each.get("submission") == submission]

    service.wait_for(lambda: bool(judged()))
    [record] = judged()
    assert (record["event"], record["level"]) == ("judged", "info")
    assert (record["problem"], record["verdict"], record["attempt"]) == ("double", "AC", 1)
    assert record["timestamp"].endswith("Z")


# --- ending ---------------------------------------------------------------------------------------


def test_asked_to_end_it_ends_streams_and_finishes_what_runs(service: Running, home: Home) -> None:
    with Client(service.address) as client, httpx.Client(base_url=service.address) as http:
        submission = client.submit("double", {"solution.py": NAP})
        with http.stream("GET", f"/api/submissions/{submission}/events") as stream:
            lines = stream.iter_lines()
            assert "event: started" in lines  # reads no further
            family = service.family()
            service.terminate()
            assert "event: finished" not in list(lines)  # to its proper end, else this raises
    assert service.status() == 0, service.log
    assert "Traceback" not in service.log, service.log
    assert len(family) > 3
    home.require_nothing_left(family)
    with Client(home.warm().address) as client:
        require_one_verdict(client, submission)


def test_asked_twice_it_gives_back_what_runs_and_another_worker_judges_it(
    service: Running, home: Home
) -> None:
    with Client(service.address) as client:
        # Not for a time but until a time: so it is quick when it is judged again.
        until = time.time() + LONG_S
        submission = client.submit("double", {"solution.py": sleeper(until)})
        assert any(isinstance(event, Started) for event in client.follow(submission))
        family = service.family()
        service.terminate()
        service.wait_for(lambda: "it was asked to stop" in service.log)
        service.terminate()
        assert service.status(AT_ONCE_S) == 0, service.log
        assert time.time() < until
    assert "Traceback" not in service.log, service.log
    home.require_nothing_left(family)
    require_work_joins(home, submission)


def require_work_joins(home: Home, waiting: str) -> None:
    """A `judge work` judges for a `judge serve --no-worker` on this machine, and ends before it."""
    with home.serve("--no-worker") as server, Client(server.address) as client:
        assert "judge: worker: none in this process" in server.log
        assert ready(server).reasons == ["No worker is running: start `judge work`."]
        submission = client.submit("double", {"solution.py": RIGHT})
        with home.start("work") as worker:
            require_one_verdict(client, waiting)
            require_one_verdict(client, submission)
            boxes = worker.family()
            worker.terminate()
            assert worker.status() == 0, worker.log
        assert ready(server).reasons == ["No worker is running: start `judge work`."]
        database = server.family()
        server.terminate()
        assert server.status() == 0, server.log
        assert boxes
        home.require_nothing_left(boxes | database)


@pytest.mark.parametrize("moment", MOMENTS)
def test_asked_to_end_while_boxes_start_it_ends_at_once(moment: str, home: Home) -> None:
    home.end()
    with home.serve() as server:
        server.wait_for(partial(MOMENTS[moment], server))
        server.terminate()
        family = watched_to_the_end(server, AT_ONCE_S)
        assert server.status() == 0, server.log
    assert "warm after" not in server.log
    assert "Traceback" not in server.log, server.log
    home.require_nothing_left(family)


def test_sandbox_that_cannot_be_had_ends_the_server(home: Home) -> None:
    home.end()
    with home.serve(JUDGE_BWRAP="/bin/false") as server:
        family = watched_to_the_end(server, PATIENCE_S)
        assert server.status() == 3
    assert "judge: bubblewrap cannot" in server.log
    assert "Traceback" not in server.log, server.log
    home.require_nothing_left(family)


# --- asking ---------------------------------------------------------------------------------------


def ready(server: Running) -> Readiness:
    """What it says about itself."""
    response = httpx.get(f"{server.address}/readyz", trust_env=False)
    told = Readiness.model_validate_json(response.content)
    assert response.status_code == (200 if told.ready else 503)
    return told


def require_one_verdict(client: Client, submission: str, verdict: Verdict = Verdict.AC) -> Result:
    """The result, with this verdict, which was given once and in one attempt that counts."""
    events = list(client.follow(submission))
    assert verdicts(events) == [verdict]
    result = client.result(submission)
    assert (result.state, result.verdict) == ("finished", verdict)
    assert [verdict] == verdicts(list(client.follow(submission)))
    answer = httpx.get(f"{client.server}/api/submissions/{submission}/judgings", trust_env=False)
    [judging] = Judgings.model_validate_json(answer.content).judgings
    assert (judging.verdict, judging.attempts) == (verdict, 1)
    return result


def verdicts(events: list[StreamEvent]) -> list[Verdict]:
    """Those given by a stream, which begins as it should."""
    assert isinstance(events[0], Queued)
    return [event.verdict for event in events if isinstance(event, Finished)]


def write_oracle(home: Home, text: str) -> None:
    """Change one file of the problem, which is never seen half written."""
    place = home.problems / "double" / ORACLE
    beside = home.problems / "new"
    beside.write_text(text)
    beside.replace(place)


def sleeper(until: float) -> bytes:
    """A submission that answers at this time, and no sooner."""
    return (
        f"import time\n\ndef double(x):\n    time.sleep(max(0.0, {until!r} - time.time()))\n"
        "    return x + x\n"
    ).encode()


# --- looking at processes -------------------------------------------------------------------------


def watched_to_the_end(process: Running, patience_s: float) -> set[int]:
    """All it has started until its end, which has to come within that time."""
    deadline = time.monotonic() + patience_s
    family: set[int] = set()
    while process.alive:
        family |= process.family()
        assert time.monotonic() < deadline, f"still there after {patience_s:g} s\n{process.log}"
        time.sleep(LOOK_S)
    return family


def is_box(pid: int) -> bool:
    """Whether it is a bubblewrap that holds a box, and none that only finds out what it can do."""
    return b"--info-fd" in command_of(pid)
