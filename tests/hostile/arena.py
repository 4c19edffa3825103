"""One warm judge that meets hostile programs one after the other, and is looked over after each.

Theory of operation
-------------------
The judge is a real one, with the real exercise, only its limits are smaller so that breaking them
takes less time. Where a secret could leak from, one is planted: in the problem's files, which only
the grader has, and in the environment of the judge's own process. Where something could be left
behind, it is counted: processes and memory of each box, its open descriptors, the files it can
write, and everything the launcher keeps on the host. What is there once a right and a wrong answer
have been judged is normal; whatever a hostile program adds to that has to be gone shortly after.
"""

from __future__ import annotations

import dataclasses
import json
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from judge.judging import Judge
from judge.problem import Problem, load_problem
from judge.results import CheckResult, Result, TierResult
from judge.verdicts import Verdict
from sandbox import cgroups
from sandbox.boxes import Box, Launcher
from sandbox.bwrap_boxes import BwrapBox, BwrapLauncher
from sandbox.docker_boxes import OWNER_LABEL, DockerBox, DockerLauncher
from sandbox.watchdog import descendants, resident_bytes
from tests.hostile.cases import HONEST, WRONG, Case

PROBLEMS = Path(__file__).parents[2] / "problems"
SLUG = "multi-head-attention"
WALL_S = 6.0
WALL_OF_HANGING_S = 1.0  # for programs that are there to run into it
CPU_S = 6.0
MEMORY_BYTES = 256 << 20
OUTPUT_BYTES = 256 << 10
LATE_S = 2.0  # a verdict comes at most this long after the limit it broke
REPLACED_S = 2.0  # a box is back at most this long after it was lost
SETTLED_S = 3.0  # the next student is ready, and what went is gone
IDLE_S = 1.0  # after which an idle judge does nothing any more
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


def plant_secret(folder: Path) -> str:
    """Copy the exercise to `folder` with a new secret in its files; returns the secret."""
    secret = f"PLANTED-SECRET-{secrets.token_hex(16)}"
    shutil.copytree(
        PROBLEMS / SLUG, folder / SLUG, ignore=shutil.ignore_patterns("__pycache__", ".*")
    )
    for path in (folder / SLUG / "checks").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\n# {secret}\nPLANTED = '{secret}'\n", encoding="utf-8")
    for name in ("reference.py", "statement.md", "editorial.md"):
        path = folder / SLUG / name
        path.write_text(path.read_text(encoding="utf-8") + f"\n# {secret}\n", encoding="utf-8")
    (folder / SLUG / "checks" / "planted.txt").write_text(secret, encoding="utf-8")
    return secret


class Arena:
    """A warm judge in one sandbox, the exercise with small limits, and what is normal there."""

    def __init__(self, launcher: Launcher, judge: Judge, problems: Path, secret: str) -> None:
        self._launcher = launcher
        self._judge = judge
        self._secret = secret
        self._problem = load_problem(problems / SLUG)
        self._pids: dict[str, int] = {}
        for source in (HONEST, WRONG, HONEST):
            self._judge_source(source.encode(), WALL_S)
        self._control_s = max(self._timed_control(HONEST, Verdict.AC) for _ in range(3))
        time.sleep(IDLE_S)
        self._normal = self._footprint()

    @property
    def nested(self) -> bool:
        """Whether submissions have namespaces of their own here."""
        return self._judge._slots[0].environment.sandbox.endswith("/nested")

    def meet(self, case: Case) -> None:
        """Judge a hostile program as often as it asks for; what it stated must come of it."""
        hanging = Verdict.TLE in case.expected.verdicts
        wall_s = WALL_OF_HANGING_S if hanging else WALL_S
        for _ in range(case.expected.runs):
            result = self._judge_source(case.source(), wall_s)
            _require_expected(case, result)
            took_s = result.timing.judged_ms / 1000
            assert took_s < wall_s + LATE_S + self._control_s, f"{case.id} took {took_s:.2f} s"
            self._require_discretion(result)

    def recover(self, *, wrong_too: bool) -> None:
        """A right answer is accepted in normal time, a wrong one is not, and nothing is left."""
        took_s = self._timed_control(HONEST, Verdict.AC)
        if took_s > self._control_s + REPLACED_S:  # or else the whole machine is slow just now
            usual_s = self._timed_control(HONEST, Verdict.AC)
            slower = max(1.0, usual_s / self._control_s)
            allowed_s = usual_s + REPLACED_S * slower
            assert took_s < allowed_s, f"{took_s:.2f} s, then {usual_s:.2f} s, {slower:.1f} x usual"
        if wrong_too:
            self._timed_control(WRONG, Verdict.WA)
        now = self._settled_footprint()
        assert self._is_normal(now), f"something was left: {now}, normal is {self._normal}"

    def _is_normal(self, found: Footprint) -> bool:
        normal = self._normal
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

    # --- judging ------------------------------------------------------------------------------

    def _judge_source(self, source: bytes, wall_s: float) -> Result:
        return self._judge.judge(self._within(wall_s), {"solution.py": source})

    def _within(self, wall_s: float) -> Problem:
        limits = self._problem.limits.model_copy(
            update={
                "wall_s": wall_s,
                "cpu_s": CPU_S,
                "memory_bytes": MEMORY_BYTES,
                "output_bytes": OUTPUT_BYTES,
            }
        )
        manifest = self._problem.manifest.model_copy(update={"limits": limits})
        return dataclasses.replace(self._problem, manifest=manifest)

    def _timed_control(self, source: str, verdict: Verdict) -> float:
        began = time.monotonic()
        result = self._judge_source(source.encode(), WALL_S)
        if result.verdict is not verdict:
            _fail(f"the control got {result.verdict}, not {verdict}", result)
        return time.monotonic() - began

    def _require_discretion(self, result: Result) -> None:
        """No secret and nothing but text in anything the student is shown."""
        shown = result.model_dump_json()
        assert self._secret not in shown, "a secret is shown"
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

    def _settled_footprint(self) -> Footprint:
        """The footprint once it is normal, or when patience ends."""
        deadline = time.monotonic() + SETTLED_S
        while not self._is_normal(found := self._footprint()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
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
