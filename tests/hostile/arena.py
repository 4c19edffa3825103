"""One warm judge that meets hostile programs one after the other, and is looked over after each.

Theory of operation
-------------------
The judge is a real one, with a real exercise, only its limits are smaller so that breaking them
takes less time, and most of the time it is a shorter one (`exercise`). Where a secret could leak
from, one is planted: in the problem's files, which only the grader has, and in the environment of
the judge's own process. Where something could be left behind, it is counted: processes and memory
of each box, its open descriptors, the files it can write, and everything the launcher keeps on the
host. What is there once a right and a wrong answer have been judged is normal; whatever a hostile
program adds to that has to be gone shortly after.

Whether something was late is told by what a right answer took when the arena was opened. The
machine may have become slower since then, or have stood still for a moment: so what seems late is
tried again, beside another right answer, before it counts.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from judge.judging import Judge
from judge.problem import Problem
from judge.results import CheckResult, Result, TierResult
from judge.verdicts import Verdict
from sandbox import cgroups
from sandbox.boxes import Box, Launcher
from sandbox.bwrap_boxes import BwrapBox, BwrapLauncher
from sandbox.docker_boxes import OWNER_LABEL, DockerBox, DockerLauncher
from sandbox.watchdog import descendants, resident_bytes
from tests.hostile.cases import HONEST, WRONG, Case
from tests.hostile.exercise import COST, SECRET, Exercise

WALL_S = 6.0
WALL_OF_HANGING_S = 0.5  # for programs that are there to run into it, at once
WALL_OF_LATER_S = 1.0  # ... or after some right answers
IMPORT_FACTOR = 2.0  # of the wall time: what imports may take
CPU_S = 6.0
MEMORY_BYTES = 256 << 20
OUTPUT_BYTES = 256 << 10
LATE_S = 2.0  # a verdict comes at most this long after the limit it broke
REPLACED_S = 2.0  # a box is back at most this long after it was lost
SETTLED_S = 5.0  # the next student is ready, and what went is gone
REST_S = 60.0  # patience until a new arena is at rest
IDLE_S = 0.5  # a judge that does nothing for so long is idle
GROWTH_BYTES = 32 << 20
_POLL_S = 0.01
_NOT_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_BOX_ID = re.compile("-[0-9a-f]{12}")
_HELD = ("total_rss", "total_shmem", "anon", "shmem")  # version 1, then version 2
_PROC = Path("/proc")


@dataclasses.dataclass(frozen=True)
class Footprint:
    """What there is at one moment, in the runner's box unless it says otherwise.

    Memory is compared with a margin.
    """

    processes: int
    grader_processes: int
    descriptors: int
    files: frozenset[str]
    kept_on_host: int
    memory_bytes: int
    grader_memory_bytes: int


class Arena:
    """A warm judge in one sandbox, the exercise with small limits, and what is normal there."""

    def __init__(self, launcher: Launcher, judge: Judge, exercise: Exercise) -> None:
        self._launcher = launcher
        self._judge = judge
        self._exercise = exercise
        self._pids: dict[str, int] = {}
        self._judge_source(exercise.whole, HONEST.encode(), WALL_S)
        for source in (HONEST, WRONG, HONEST):
            self._judge_source(exercise.short, source.encode(), WALL_S)
        self._control_s = max(self._timed_control(HONEST, Verdict.AC) for _ in range(3))
        self._normal = self._footprint_at_rest()

    @property
    def nested(self) -> bool:
        """Whether submissions have namespaces of their own here."""
        return self._judge._slots[0].environment.sandbox.endswith("/nested")

    def withstand(self, case: Case, *, wrong_too: bool) -> None:
        """Judge a hostile program; what it stated must come of it, and nothing be left of it."""
        limit_s = wall_s = _wall_s(case)
        if Verdict.TLE in case.expected.verdicts:
            limit_s *= IMPORT_FACTOR
        allowed_s = limit_s + LATE_S + self._control_s
        for _ in range(case.expected.runs):
            self._require_in_time(allowed_s, lambda: self._met(case, wall_s))
        self._recover(case, wall_s, wrong_too=wrong_too)

    def _met(self, case: Case, wall_s: float) -> float:
        """How long it took to judge the program, in seconds."""
        leaves_something = case.expected.runs > 1
        whole = leaves_something or case.group == "cheating" or case.expected.tier == COST
        problem = self._exercise.whole if whole else self._exercise.short
        result = self._judge_source(problem, case.source(), wall_s)
        _require_expected(case, result)
        self._require_discretion(result)
        return result.timing.judged_ms / 1000

    def _recover(self, case: Case, wall_s: float, *, wrong_too: bool) -> None:
        """A right answer is accepted in normal time, a wrong one is not, and nothing is left."""

        def once_more() -> float:
            self._met(case, wall_s)
            return self._timed_control(HONEST, Verdict.AC)

        took_s = self._timed_control(HONEST, Verdict.AC)
        if took_s > self._control_s + REPLACED_S:
            self._require_in_time(self._control_s + REPLACED_S, once_more)
        if wrong_too:
            self._timed_control(WRONG, Verdict.WA)
        slower = max(1.0, took_s / self._control_s)
        now = self._settled_footprint(SETTLED_S * slower)
        assert _alike(now, self._normal), f"something was left: {now}, normal is {self._normal}"

    def _require_in_time(self, allowed_s: float, measure: Callable[[], float]) -> None:
        """What is measured takes at most `allowed_s`, or as much longer as everything does now."""
        if (took_s := measure()) < allowed_s:
            return
        again_s, usual_s = measure(), self._timed_control(HONEST, Verdict.AC)
        slower = max(1.0, usual_s / self._control_s)
        assert again_s < allowed_s * slower, (
            f"took {took_s:.2f} s and {again_s:.2f} s, not {allowed_s:.2f} s,"
            f" and a right answer {slower:.1f} times as long as usual"
        )

    # --- judging ------------------------------------------------------------------------------

    def _judge_source(self, problem: Problem, source: bytes, wall_s: float) -> Result:
        return self._judge.judge(_within(problem, wall_s), {"solution.py": source})

    def _timed_control(self, source: str, verdict: Verdict) -> float:
        began = time.monotonic()
        result = self._judge_source(self._exercise.short, source.encode(), WALL_S)
        if result.verdict is not verdict:
            _fail(f"the control got {result.verdict}, not {verdict}", result)
        return time.monotonic() - began

    def _require_discretion(self, result: Result) -> None:
        """No secret and nothing but text in anything the student is shown."""
        shown = result.model_dump_json()
        assert SECRET not in shown, "a secret is shown"
        assert str(result.seed) not in result.output.text, "the seed was found"
        unsafe = [text for text in _texts(json.loads(shown)) if _NOT_TEXT.search(text)]
        assert not unsafe, f"not only text is shown: {unsafe}"

    # --- what is there ------------------------------------------------------------------------

    def _box(self) -> Box:
        return self._judge._slots[0].box()

    def _grader_box(self) -> Box:
        grader = self._judge._grader
        assert grader is not None
        return grader._box

    def _settled_footprint(self, patience_s: float) -> Footprint:
        """The footprint once it is normal, or when patience ends."""
        deadline = time.monotonic() + patience_s
        while not _alike(found := self._footprint(), self._normal) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        return found

    def _footprint_at_rest(self) -> Footprint:
        """The footprint that comes back after one more control, once it does not change."""
        found = self._unchanging_footprint()
        deadline = time.monotonic() + REST_S
        while time.monotonic() < deadline:
            self._timed_control(HONEST, Verdict.AC)
            before, found = found, self._unchanging_footprint()
            if _alike(found, before):
                return found
        pytest.fail(f"the judge does not come to rest: {found}", pytrace=False)

    def _unchanging_footprint(self) -> Footprint:
        found, since = self._footprint(), time.monotonic()
        while time.monotonic() < since + IDLE_S:
            time.sleep(_POLL_S)
            before, found = found, self._footprint()
            if not _alike(found, before):
                since = time.monotonic()
        return found

    def _footprint(self) -> Footprint:
        pid, grader_pid = self._first_process(self._box()), self._first_process(self._grader_box())
        return Footprint(
            processes=len(descendants(pid)),
            grader_processes=len(descendants(grader_pid)),
            descriptors=_open_descriptors(pid),
            files=frozenset(_files_in_box(pid)),
            kept_on_host=self._kept_by_launcher(),
            memory_bytes=_memory_bytes(pid),
            grader_memory_bytes=_memory_bytes(grader_pid),
        )

    def _first_process(self, box: Box) -> int:
        if isinstance(box, BwrapBox):
            return box.pid
        assert isinstance(box, DockerBox)
        if box.id not in self._pids:
            found = box._client.api.inspect_container(box.container)
            self._pids[box.id] = int(found["State"]["Pid"])
        return self._pids[box.id]

    def _kept_by_launcher(self) -> int:
        """Containers and volumes, or boxes and control groups."""
        if isinstance(self._launcher, BwrapLauncher):
            alive = [box for box in self._launcher._boxes if box.alive()]
            groups = cgroups.ROOT.glob(f"*/{cgroups.PARENT}/{self._launcher._owner.label}.*")
            return len(alive) + len(list(groups))
        assert isinstance(self._launcher, DockerLauncher)
        api = self._launcher._client.api
        ours = {"label": [f"{OWNER_LABEL}={self._launcher._owner.label}"]}
        return len(api.containers(all=True, filters=ours)) + len(api.volumes(ours)["Volumes"] or [])


def _wall_s(case: Case) -> float:
    """Short where a program is expected to hang, and shorter where it does so at once."""
    if Verdict.TLE not in case.expected.verdicts:
        return WALL_S
    at_once = case.expected.verdicts == {Verdict.TLE} and not case.expected.tier
    return WALL_OF_HANGING_S if at_once else WALL_OF_LATER_S


def _within(problem: Problem, wall_s: float) -> Problem:
    """The problem with small limits."""
    limits = problem.limits.model_copy(
        update={
            "wall_s": wall_s,
            "cpu_s": CPU_S,
            "memory_bytes": MEMORY_BYTES,
            "output_bytes": OUTPUT_BYTES,
        }
    )
    manifest = problem.manifest.model_copy(update={"limits": limits})
    return dataclasses.replace(problem, manifest=manifest)


def _alike(found: Footprint, normal: Footprint) -> bool:
    """Whether there is as much as is normal, and not much more memory."""
    grown_bytes = max(
        found.memory_bytes - normal.memory_bytes,
        found.grader_memory_bytes - normal.grader_memory_bytes,
    )
    same_memory = dataclasses.replace(
        found,
        memory_bytes=normal.memory_bytes,
        grader_memory_bytes=normal.grader_memory_bytes,
    )
    return grown_bytes < GROWTH_BYTES and same_memory == normal


def _require_expected(case: Case, result: Result) -> None:
    """The verdict, where it came about and what was said, as the program's first line states."""
    expected = case.expected
    if result.verdict not in expected.verdicts:
        _fail(f"{case.id} got {result.verdict}, not {sorted(expected.verdicts)}", result)
    tier, check = _first_failure(result)
    if expected.message:
        said = check.model_dump_json() if check else ""
        assert expected.message in said.replace("\\'", "'"), said
    if expected.tier:
        assert tier is not None
        assert tier.id == expected.tier
    assert expected.output in result.output.text


def _first_failure(result: Result) -> tuple[TierResult | None, CheckResult | None]:
    for tier in result.tiers:
        for check in tier.checks:
            if check.verdict not in (Verdict.AC, Verdict.SK):
                return tier, check
    return None, None


def _fail(words: str, result: Result) -> NoReturn:
    _, check = _first_failure(result)
    said = f"{check.id}: {check.message}" if check else "every check was accepted"
    pytest.fail(f"{words}: {said}\n{result.output.text[-2000:]}", pytrace=False)


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for key, item in value.items():
                yield key
                yield from _texts(item)


# --- looking into a box from the host; another user's may not be looked into --------------------


def _open_descriptors(pid: int) -> int:
    with suppress(PermissionError):
        return len(list((_PROC / str(pid) / "fd").iterdir()))
    return 0


def _files_in_box(pid: int) -> Iterator[str]:
    """What lies in the folders of the box that can be written; box ids are left out."""
    root = _PROC / str(pid) / "root"
    with suppress(PermissionError):
        for folder in ("tmp", "dev/shm", "dev/mqueue", "run/judge"):
            for path in (root / folder).rglob("*"):
                yield _BOX_ID.sub("", str(path.relative_to(root)))


def _memory_bytes(pid: int) -> int:
    """What the processes of the box hold and what lies in its folders in memory.

    A group that the box shares with us, and with whatever else runs here, says nothing about it.
    """
    ours = (_PROC / "self" / "cgroup").read_text().splitlines()
    for line in (_PROC / str(pid) / "cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        parent = cgroups.ROOT / controllers if controllers == "memory" else cgroups.ROOT
        file = parent / group.lstrip("/") / "memory.stat"
        own = group != "/" and line not in ours
        if controllers in ("memory", "") and own and file.exists():
            counts = dict(each.split() for each in file.read_text().splitlines())
            return sum(int(counts.get(name, 0)) for name in _HELD)
    return sum(resident_bytes(each) for each in (pid, *descendants(pid)))
