"""Code of a problem's own, run beside its checks in a grader box."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from msgspec import structs

from judge.checks import LocalSubmission
from judge.grader.messages import Rehearsal, Rehearsed, Stand
from judge.grader.nulls import STANDS, Array, Nulled
from judge.judging import Judge
from judge.problem import load_problem
from sandbox.protocol import Setting
from tests.small_problem import write_problem

Rehearse = Callable[..., Rehearsed]

RIGHT = b"def double(x):\n    return 2 * x\n"
VALUES = "test_t1_oracle::test_values"


@pytest.fixture
def rehearse(warm_judge: Judge, tmp_path: Path) -> Rehearse:
    problem = load_problem(write_problem(tmp_path))

    def run(source: bytes = RIGHT, seed: int = 1, **options: Any) -> Rehearsed:
        rehearsal = Rehearsal(source, patience_s=5.0, budget_s=20.0)
        return warm_judge.rehearse(problem, structs.replace(rehearsal, **options), seed)

    return run


def test_right_code_passes_every_check_with_room_to_spare(rehearse: Rehearse) -> None:
    done = rehearse()
    assert done.failures == {}
    assert [check.id.partition("::")[2] for check in done.checks] == ["test_call", "test_values"]
    assert [margin.share for margin in done.checks[1].margins] == [0.0]


def test_wrong_code_is_told_by_how_much(rehearse: Rehearse) -> None:
    done = rehearse(b"def double(x):\n    return 2 * x + 1e-6\n")
    assert list(done.failures) == [VALUES]
    assert 1 < done.checks[1].margins[0].share < 1000


def test_a_null_answer_replaces_what_is_returned(rehearse: Rehearse) -> None:
    assert list(rehearse(stand=Stand.ZEROS).failures) == [VALUES]


def test_the_first_failure_ends_it_when_that_is_all_one_wants(rehearse: Rehearse) -> None:
    wrong = b"def double(x):\n    raise OSError\n"
    assert len(rehearse(wrong).checks) == 2
    assert len(rehearse(wrong, first_failure_only=True).checks) == 1


def test_code_that_hangs_is_late_and_the_next_rehearsal_runs(rehearse: Rehearse) -> None:
    done = rehearse(b"def double(x):\n    while True: pass\n", patience_s=0.3)
    assert [check.late for check in done.checks] == [True, True]
    assert done.late
    assert not rehearse().late


def test_code_that_hangs_while_it_is_imported_is_late(rehearse: Rehearse) -> None:
    done = rehearse(b"while True: pass\n", patience_s=0.3)
    assert (done.checks, done.late, done.died) == ([], True, False)
    assert done.refused == "importing it did not end within 0.3 s"


def test_code_that_ends_its_process_is_refused(rehearse: Rehearse) -> None:
    done = rehearse(b"import os\ndef double(x):\n    os._exit(3)\n")
    assert (done.checks, done.refused.startswith("its process ended")) == ([], True)
    assert rehearse(budget_s=3.0).refused == ""


STARTS_A_PROCESS = b"""
import os, time
def double(x):
    started = os.fork()
    if not started:
        time.sleep(600)
        os._exit(0)
    with open("/tmp/started", "w") as file:
        file.write(str(started))
    return 2 * x
"""
LOOKS_FOR_IT = b"""
import os, time
with open("/tmp/started") as file:
    started = int(file.read())
def double(x):
    for _ in range(100):
        try:
            os.kill(started, 0)
        except ProcessLookupError:
            return 2 * x
        time.sleep(0.02)
"""


def test_processes_that_code_has_started_end_with_it(rehearse: Rehearse) -> None:
    """A few hundred would take all the room that there is for the next rehearsals."""
    assert rehearse(STARTS_A_PROCESS).failures == {}
    assert rehearse(LOOKS_FOR_IT).failures == {}


def test_code_that_cannot_be_imported_is_refused(rehearse: Rehearse) -> None:
    assert rehearse(b"1 / 0\n").refused == "ZeroDivisionError: division by zero"
    assert "SyntaxError" in rehearse(b"def\n").refused


def test_code_draws_what_it_draws_in_a_runner_whatever_its_checks_draw(rehearse: Rehearse) -> None:
    noisy = b"import numpy as np\ndef double(x):\n    return 2 * x + 1e-8 * np.random.random()\n"
    runs = [rehearse(noisy, noise=noise).checks[1].margins for noise in (0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != rehearse(noisy, seed=2).checks[1].margins


def test_an_order_changes_nothing_but_the_order(rehearse: Rehearse) -> None:
    orders = {tuple(check.id for check in rehearse(order=seed).checks) for seed in range(8)}
    assert len(orders) == 2


# --- null answers -----------------------------------------------------------------------------


def test_every_stand_has_its_answer() -> None:
    assert set(STANDS) == set(Stand)


@pytest.mark.parametrize("stand", [each for each in Stand if each is not Stand.NONE])
@pytest.mark.parametrize(
    "right",
    [
        *(torch.ones(2, dtype=dtype) for dtype in (torch.float64, torch.float32, torch.bfloat16)),
        *(np.ones(2, dtype) for dtype in ("float64", "float32", "float16", "complex64")),
    ],
    ids=lambda array: f"{type(array).__name__}-{array.dtype}",
)
def test_a_null_answer_is_not_wrong_in_its_dtype(stand: Stand, right: Array) -> None:
    answer: Any = STANDS[stand](right, None)
    assert answer.dtype == right.dtype


@pytest.mark.parametrize("number", ["0.5", "torch.tensor(0.5)", "np.float32(0.5)"])
def test_a_number_alone_is_replaced_too(number: str) -> None:
    source = f"import numpy as np\nimport torch\ndef half():\n    return {number}\n".encode()
    right = LocalSubmission.from_sources({"solution.py": source}, Setting("solution.py"))
    one, empty = (
        Nulled(right, STANDS[stand]).call("half", (), {}, None)
        for stand in (Stand.ONES, Stand.EMPTY)
    )
    assert type(one) is type(right.call("half", (), {}, None))
    assert one == 1
    assert len(empty) == 0


def test_zeros_stand_in_for_infinity_too_and_have_gradients() -> None:
    right = torch.tensor([1.0, -torch.inf], requires_grad=True)
    answer = STANDS[Stand.ZEROS](right, None)
    assert isinstance(answer, torch.Tensor)
    assert answer.tolist() == [0.0, 0.0]
    assert answer.requires_grad
