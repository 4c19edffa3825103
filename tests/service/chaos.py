"""Submissions flow while workers are killed and boxes taken away: each gets one verdict, its own.

    python -m tests.service.chaos --submissions 1000 --kills 100 --workers 2

It goes on until both numbers are reached. It brings its own database and its own problem, and says
at the end what came of it. A worker is
killed only while what it judges has not been tried too often: the third loss of one submission is
a JE by design, and would tell nothing. Where a number of kills is to be reached, nothing is handed
in while a successor starts: the workers that are left judge what there is, and the start is what
one waits for.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from judge.problem import load_problem
from judge.service.database import migrate
from judge.service.embedded import embedded_postgres
from judge.service.records import MAX_ATTEMPTS
from judge.verdicts import Verdict
from sandbox.choose import SandboxName
from tests.service.faults.crew import Crew, WorkerProcess
from tests.service.faults.desk import RIGHT, WRONG, Desk
from tests.small_problem import write_problem

KNOWN = (  # submissions with their verdicts
    (RIGHT, Verdict.AC),
    (WRONG, Verdict.WA),
    (b"def double(x):\n    return 1 / 0\n", Verdict.RE),
    (b"def double(x:\n", Verdict.CE),
    (b"import time\n\ndef double(x):\n    time.sleep(0.4)\n    return 2 * x\n", Verdict.AC),
)
WAITING = 10  # submissions at once
LOOK_S = 0.1
STUCK_S = 60.0  # and as long as boxes take to start, should some have to
KILL_AFTER_S = (0.5, 2.5)  # between one act of violence and the first moment for the next
SPARED_S = 240.0  # without a worker to kill, where one should be


@dataclass
class Report:
    """What came of it."""

    submissions: int = 0
    kills: int = 0
    boxes: int = 0
    wrong: list[str] = field(default_factory=list)
    verdicts: Counter[str] = field(default_factory=Counter)
    attempts: Counter[int] = field(default_factory=Counter)
    longest_s: float = 0.0
    took_s: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.submissions} submissions in {self.took_s:.0f} s, {self.kills} workers killed, "
            f"{self.boxes} boxes taken away\n"
            f"verdicts: {dict(self.verdicts)}; attempts: {dict(sorted(self.attempts.items()))}; "
            f"the longest took {self.longest_s:.1f} s\n"
            + ("\n".join(self.wrong) or "each has exactly one verdict, the right one")
        )


class Chaos:
    """One run."""

    def __init__(self, desk: Desk, crew: Crew, submissions: int, kills: int, seed: int) -> None:
        self._desk = desk
        self._crew = crew
        self._submissions = submissions
        self._kills = kills
        self._random = random.Random(seed)
        self._stuck_s = STUCK_S + crew.start_s
        self._expected: dict[str, Verdict] = {}
        self._since: dict[str, float] = {}
        self._killed_at_s = time.monotonic()
        self.report = Report()

    def run(self) -> Report:
        began = time.monotonic()
        strike_at = began + self._pause_s()
        while self._goes_on() or self._since:
            self._hand_in()
            self._collect()
            if self._goes_on() and time.monotonic() > strike_at and self._strike():
                strike_at = time.monotonic() + self._pause_s()
            time.sleep(LOOK_S)
        for submission, verdict in self._expected.items():
            self._examine(submission, verdict)
        self.report.took_s = time.monotonic() - began
        return self.report

    def _pause_s(self) -> float:
        return self._random.uniform(*KILL_AFTER_S)

    def _goes_on(self) -> bool:
        """Whether there is more to hand in."""
        if len(self._expected) < self._submissions:
            return True
        if self.report.kills >= self._kills:
            return False
        if time.monotonic() > self._killed_at_s + SPARED_S:
            raise TimeoutError(f"no worker could be killed for {SPARED_S:g} s\n{self.report}")
        return True

    def _hand_in(self) -> None:
        if self._waits_for_a_victim():
            return
        while len(self._since) < WAITING and self._goes_on():
            source, verdict = self._random.choice(KNOWN)
            submission = self._desk.submit(source)
            self._expected[submission] = verdict
            self.report.submissions += 1
            self._since[submission] = time.monotonic()

    def _waits_for_a_victim(self) -> bool:
        return self.report.kills < self._kills and not self._victims()

    def _collect(self) -> None:
        finished = self._desk.query(
            "SELECT submission_id FROM judgings WHERE state = 'finished'"
            " AND submission_id = ANY(%s)",
            list(self._since),
        )
        for (submission,) in finished:
            took_s = time.monotonic() - self._since.pop(submission)
            self.report.longest_s = max(self.report.longest_s, took_s)
        late = time.monotonic() - self._stuck_s
        stuck = [each for each, since in self._since.items() if since < late]
        if stuck:
            raise TimeoutError(f"no verdict after {self._stuck_s:.0f} s: {stuck}")

    # --- violence --------------------------------------------------------------------------------

    def _strike(self) -> bool:
        """Kill something; False when this is not the moment."""
        victims = self._victims()
        self._random.shuffle(victims)
        for victim in victims:
            if self._random.random() < 0.3 and self._take_box(victim):
                return True
            if self._may_be_killed(victim):
                self._kill(victim)
                return True
        return False

    def _kill(self, victim: WorkerProcess) -> None:
        """Kill it and begin to replace it; after the last kill only if no other is left."""
        victim.kill()
        self.report.kills += 1
        self._killed_at_s = time.monotonic()
        if self._goes_on() or not any(worker.alive for worker in self._crew.workers):
            self._crew.hire()

    def _victims(self) -> list[WorkerProcess]:
        """The warm workers, unless there would be none left when one is killed."""
        warm = [worker for worker in self._crew.workers if worker.said("warm after")]
        return warm if len(warm) >= min(2, len(self._crew.workers)) else []

    def _may_be_killed(self, worker: WorkerProcess) -> bool:
        tried = self._desk.query(
            "SELECT coalesce(max(attempts), 0) FROM judgings"
            " WHERE state = 'judging' AND worker LIKE %s",
            f"%-{worker.pid}-%",
        )
        return bool(tried[0][0] < MAX_ATTEMPTS - 1)

    def _take_box(self, worker: WorkerProcess) -> bool:
        """Kill one of the processes that a worker has started, all of which are boxes."""
        boxes = children(worker.pid)
        if not boxes:
            return False
        try:
            os.kill(self._random.choice(boxes), signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.report.boxes += 1
        return True

    # --- what came of it -------------------------------------------------------------------------

    def _examine(self, submission: str, verdict: Verdict) -> None:
        judging = self._desk.judging(submission)
        self.report.verdicts[str(judging.verdict)] += 1
        self.report.attempts[judging.attempts] += 1
        try:
            self._desk.require(submission, verdict)
        except AssertionError as error:
            self.report.wrong.append(f"{submission}: {error}")


def children(pid: int) -> list[int]:
    """Process ids of the children of a process."""
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def run_chaos(
    folder: Path,
    submissions: int,
    kills: int = 0,
    workers: int = 2,
    sandbox: SandboxName = "bwrap",
    seed: int = 0,
    database_url: str | None = None,
) -> Report:
    """A run in a folder of its own, with a database of its own unless there is one.

    It ends when there were as many submissions and as many workers killed as these, at least.
    """
    if database_url is None:
        with embedded_postgres(folder / "db", lambda _words: None) as server:
            migrate(server.url)
            return run_chaos(folder, submissions, kills, workers, sandbox, seed, server.url)
    logs = folder / "workers"
    logs.mkdir()
    with (
        Desk(database_url, load_problem(write_problem(folder))) as desk,
        Crew(database_url, logs, size=workers, sandbox=sandbox) as crew,
    ):
        return Chaos(desk, crew, submissions, kills, seed).run()


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill workers and boxes while they judge.")
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=0, help="workers to kill, at least")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sandbox", choices=["bwrap", "docker"], default="bwrap")
    parser.add_argument("--seed", type=int, default=None, help="replays the choices of a run")
    options = parser.parse_args()
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    print(f"seed {seed}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="judge-chaos-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        report = run_chaos(
            Path(folder),
            options.submissions,
            options.kills,
            options.workers,
            options.sandbox,
            seed,
        )
    print(report)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
