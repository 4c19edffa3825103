"""What one submission leaves, the next one cannot find."""

from __future__ import annotations

import secrets
from pathlib import Path

from judge.events import Event, Restarted
from judge.judging import Judge
from judge.verdicts import Verdict
from tests.judging.tiny import tiny_problem
from tests.small_problem import MANIFEST

COMPARES = "x = rng.normal(3)\nassert_close(submission.double(x), x + x)"
# Frames above the submission belong to the process it was forked from, and so does the heap.
LOOKS_AROUND = """\
import gc
import sys

MARK = bytes(255 - byte for byte in bytes.fromhex("{mark}"))


def reachable():
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is not globals():
            yield from map(repr, frame.f_locals.values())
        frame = frame.f_back
    yield from gc.get_objects()


def is_in(thing):
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return MARK in bytes(thing)
    if isinstance(thing, str):
        return MARK.decode() in thing
    return False


def search():
    for owner in reachable():
        held = vars(owner).values() if hasattr(owner, "__dict__") else ()
        items = owner if type(owner) in (list, tuple) else ()
        for thing in (owner, *held, *items):
            if thing is not MARK and is_in(thing):
                yield type(thing).__name__


print("found", list(search()))


def double(x):
    return x + x
"""


def test_a_submission_cannot_find_what_the_one_before_printed(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, COMPARES)
    mark = f"secret-of-another-{secrets.token_hex(8)}"
    prints = f"print({mark!r}, flush=True)\n\ndef double(x):\n    return x + x\n"
    before = warm_judge.judge(problem, {"solution.py": prints.encode()})
    assert mark in before.output.text
    looks = LOOKS_AROUND.format(mark=bytes(255 - byte for byte in mark.encode()).hex())
    after = warm_judge.judge(problem, {"solution.py": looks.encode()})
    assert (after.verdict, after.output.text) == (Verdict.AC, "found []\n")


HOLDS_MUCH = b"KEPT = bytearray(400 << 20)\n\ndef double(x):\n    return x + x\n"


def test_memory_of_the_one_before_is_given_back_before_the_next_one_may_have_less(
    warm_judge: Judge, tmp_path: Path
) -> None:
    roomy = tiny_problem(tmp_path / "roomy", COMPARES)
    narrow = MANIFEST.replace("memory_bytes = 536_870_912", "memory_bytes = 67_108_864")
    small = tiny_problem(tmp_path / "small", COMPARES, problem_toml=narrow)
    warm_judge.checks(small)  # so that the second one follows at once
    for _ in range(3):
        assert warm_judge.judge(roomy, {"solution.py": HOLDS_MUCH}).verdict is Verdict.AC
        events: list[Event] = []
        result = warm_judge.judge(
            small, {"solution.py": b"def double(x):\n    return x + x\n"}, on_event=events.append
        )
        assert result.verdict is Verdict.AC
        assert not any(isinstance(event, Restarted) for event in events)
