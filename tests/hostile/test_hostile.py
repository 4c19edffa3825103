"""Every hostile program, in every sandbox: its verdict, in time, and as if it had never been.

After each program a right answer must be accepted as if nothing had been, after some of them a
wrong one must be refused, and nothing may be left of any.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest

from judge.judging import Judge
from sandbox.boxes import Launcher, SandboxError
from sandbox.bwrap_boxes import BwrapLauncher, BwrapSettings, find_binary
from sandbox.survey import require_bwrap
from tests.conftest import REQUIRED
from tests.hostile.arena import Arena
from tests.hostile.cases import Case, all_cases
from tests.hostile.exercise import SECRET, SECRET_VARIABLE, Exercise, plant_exercise

# What a sandbox has to stop runs in each of them. What the grader has to see through is the same in
# all, as the grader is: it runs in one, Docker where that is required, else bubblewrap.
DECIDED_BY_THE_GRADER = frozenset({"values", "cheating", "source"})
CONFINED = [case for case in all_cases() if case.group not in DECIDED_BY_THE_GRADER]
DECIDED = [case for case in all_cases() if case.group in DECIDED_BY_THE_GRADER]
ONE_SANDBOX = "docker" if "docker" in REQUIRED else "bwrap"
HUNTS = frozenset({"files/read_the_environment", "files/search_every_file"})
UNGROUPED = [case for case in all_cases() if case.group == "memory" or case.id in HUNTS]
WRONG_EVERY = 4  # a quarter of the programs is followed by a wrong answer, always the same ones


@pytest.fixture(scope="session")
def arena(
    launcher: Launcher, warm_judge: Judge, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Arena]:
    """The warm judge of one sandbox, for the programs that have to be stopped in each."""
    with planted(tmp_path_factory.mktemp("problems")) as exercise:
        yield Arena(launcher, warm_judge, exercise)


@pytest.fixture(scope="module")
def arena_without_groups(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """The same where no control group bounds memory, as for an ordinary user of bubblewrap."""
    try:
        binary = find_binary()
        require_bwrap(binary)
    except SandboxError as error:
        pytest.skip(f"needs bwrap: {error}")
    launcher = BwrapLauncher(BwrapSettings(binary, allow_groups=False))
    try:
        with open_arena(launcher, tmp_path_factory.mktemp("problems")) as opened:
            yield opened
    finally:
        launcher.close()


@contextmanager
def planted(problems: Path) -> Iterator[Exercise]:
    """An exercise with a secret to be kept, in the problem's files and in our own environment."""
    exercise = plant_exercise(problems)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET_VARIABLE, SECRET)
        yield exercise


@contextmanager
def open_arena(launcher: Launcher, problems: Path) -> Iterator[Arena]:
    """An arena with boxes of its own, which are started while our environment has a secret."""
    with planted(problems) as exercise, Judge.start(launcher, slots=1) as judge:
        yield Arena(launcher, judge, exercise)


def withstand(arena: Arena, case: Case) -> None:
    if case.expected.needs == "nested" and not arena.nested:
        pytest.skip("needs nested: submissions here have no namespaces of their own to look at")
    arena.withstand(case, wrong_too=crc32(case.id.encode()) % WRONG_EVERY == 0)


@pytest.mark.parametrize("case", CONFINED, ids=lambda case: case.id)
def test_a_hostile_program_gets_its_verdict_and_leaves_nothing(arena: Arena, case: Case) -> None:
    withstand(arena, case)


@pytest.mark.parametrize("launcher", [ONE_SANDBOX], indirect=True)
@pytest.mark.parametrize("case", DECIDED, ids=lambda case: case.id)
def test_a_dishonest_answer_gets_its_verdict_and_leaves_nothing(arena: Arena, case: Case) -> None:
    withstand(arena, case)


@pytest.mark.parametrize("case", UNGROUPED, ids=lambda case: case.id)
def test_memory_is_bounded_without_control_groups_too(
    arena_without_groups: Arena, case: Case
) -> None:
    withstand(arena_without_groups, case)
