"""What a call costs, measured from outside: in boxes, and beside the checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from judge.checks import LocalSubmission
from judge.judging import Judge
from sandbox.protocol import Setting
from tests.judging.tiny import tiny_problem

Measure = Callable[..., dict[str, float]]

MIB = 1 << 20
SIZE = 4  # MiB of the argument
# Each asks for what a call of `double` on 4 MiB costs, and tells it as a chart.
MEASURE = """
x = torch.ones(1 << 20)
cost = submission.measure("double", x)
row = {"wall_ms": cost.wall_ms, "cpu_ms": cost.cpu_ms, "peak_bytes": cost.peak_bytes}
charts.record("cost", title="Cost", spec={}, table=[row])
"""
USES_MEMORY_BEFORE = f"submission.double(torch.ones(40 << 18))\n{MEASURE}"
ROOM_MAKER = Path(__file__).parents[1] / "hostile" / "cheating" / "room_under_the_peak.py"
HOLDS = "def double(x):\n    y = x.repeat({copies})\n    return y[:3] * 2\n"

# What is held in the call without its result: the argument three times on its way.
ON_THE_WAY = 3 * SIZE
ERROR = 4 + 2  # MiB: what importing and first uses take, and the kernel's rounding


@pytest.fixture
def measure(warm_judge: Judge, tmp_path: Path) -> Measure:
    def run(code: str, check: str = MEASURE) -> dict[str, float]:
        problem = tiny_problem(tmp_path, check)
        result = warm_judge.judge(problem, {"solution.py": code.encode()}, seed=1)
        assert [tier.verdict for tier in result.tiers] == ["AC", "AC"], result.tiers[1].checks
        row = result.charts[0].table[0]
        return {name: float(str(number)) for name, number in row.items()}

    return run


def peak_mib(cost: dict[str, float]) -> float:
    return cost["peak_bytes"] / MIB


@pytest.mark.parametrize("copies", [5, 15])
def test_a_peak_is_what_was_held_at_once(measure: Measure, copies: int) -> None:
    held = peak_mib(measure(HOLDS.format(copies=copies)))
    least = (copies + 2) * SIZE  # the copies, the argument and what it was sent as
    assert least - 1 < held < copies * SIZE + ON_THE_WAY + ERROR


def test_memory_that_is_given_back_before_the_end_counts(measure: Measure) -> None:
    code = "import torch\ndef double(x):\n    y = x.repeat(20)\n    del y\n    return x[:3] * 2\n"
    assert peak_mib(measure(code)) > 20 * SIZE


def test_what_was_held_before_does_not_count(measure: Measure) -> None:
    assert peak_mib(measure(HOLDS.format(copies=1), USES_MEMORY_BEFORE)) < 30


def test_memory_that_was_taken_beforehand_counts(measure: Measure) -> None:
    code = "import torch\nKEPT = torch.ones(25 << 18)\ndef double(x):\n    return x[:3] * 2\n"
    assert peak_mib(measure(code)) > 25


def test_room_made_by_giving_away_libraries_does_not_hide_memory(measure: Measure) -> None:
    """The kernel's mark alone would not show it: dropped pages of libraries make room below it."""
    code = "def double(x):\n    make_room()\n    x.repeat(15).sum()\n    return x[:3] * 2\n"
    assert peak_mib(measure(ROOM_MAKER.read_text(encoding="utf-8") + code)) > 60


def test_what_is_written_into_files_counts(measure: Measure) -> None:
    """They are in memory, though in none of the process."""
    code = (
        "def double(x):\n    with open('/tmp/kept', 'wb') as file:\n"
        "        for _ in range(15):\n            file.write(x.numpy().tobytes())\n"
        "    return x[:3] * 2\n"
    )
    assert peak_mib(measure(code)) > 15 * SIZE


def test_a_file_that_is_mapped_counts_once(measure: Measure) -> None:
    code = (
        "import numpy as np\ndef double(x):\n"
        "    kept = np.memmap('/tmp/kept', np.float32, 'w+', shape=(15, x.numel()))\n"
        "    kept[:] = x.numpy()\n    return x[:3] * 2\n"
    )
    assert 15 * SIZE < peak_mib(measure(code)) < 15 * SIZE + ON_THE_WAY + ERROR


def test_processor_time_is_that_of_the_call(measure: Measure) -> None:
    busy = (
        "import time\ndef double(x):\n    end = time.process_time() + 0.2\n"
        "    while time.process_time() < end: pass\n    return x[:3] * 2\n"
    )
    idle = "import time\ndef double(x):\n    time.sleep(0.2)\n    return x[:3] * 2\n"
    working, sleeping = measure(busy), measure(idle)
    assert working["cpu_ms"] > 190
    assert sleeping["cpu_ms"] < 100
    assert min(working["wall_ms"], sleeping["wall_ms"]) > 190


def test_a_clock_that_was_changed_changes_nothing(measure: Measure) -> None:
    code = (
        "import time\nsleep = time.sleep\ntime.monotonic = time.perf_counter = lambda: 0.0\n"
        "def double(x):\n    sleep(0.2)\n    return x[:3] * 2\n"
    )
    assert measure(code)["wall_ms"] > 190


def test_what_ends_during_a_measured_call_is_judged_as_ever(
    warm_judge: Judge, tmp_path: Path
) -> None:
    problem = tiny_problem(tmp_path, MEASURE)
    code = b"import os\ndef double(x):\n    if len(x) > 2: os._exit(3)\n    return 2 * x\n"
    result = warm_judge.judge(problem, {"solution.py": code}, seed=1)
    assert result.verdict == "RE"
    assert "exit status 3" in result.tiers[1].checks[0].message


def test_a_module_is_measured_as_it_is_made_and_called(warm_judge: Judge, tmp_path: Path) -> None:
    reference = (
        "import torch\ndef double(x):\n    return 2 * x\n"
        "class Layer(torch.nn.Module):\n    def __init__(self, size):\n        super().__init__()\n"
        "        self.kept = torch.ones(size)\n"
        "    def forward(self, x):\n        return x * 2\n"
    )
    check = """
    cost = submission.module("Layer", 30 << 18).measure(torch.ones(2))
    assert_close(cost.value, torch.full((2,), 2.0))
    assert cost.peak_bytes > 29 << 20
    """
    problem = tiny_problem(tmp_path, check, reference=reference)
    result = warm_judge.judge(problem, {"solution.py": reference.encode()}, seed=1)
    assert result.verdict == "AC", result.tiers[1].checks


# --- beside the checks ------------------------------------------------------------------------


def local(code: str) -> LocalSubmission:
    return LocalSubmission.from_sources({"solution.py": code.encode()}, Setting("solution.py"))


def test_code_beside_the_checks_is_measured_alike() -> None:
    x = torch.ones(1 << 20)
    few = local(HOLDS.format(copies=8)).measure("double", x)
    many = local(HOLDS.format(copies=24)).measure("double", x)
    assert torch.equal(many.value, torch.full((3,), 2.0))
    assert 8 * SIZE - 2 < few.peak_bytes / MIB < 8 * SIZE + 8
    assert 24 * SIZE - 2 < many.peak_bytes / MIB < 24 * SIZE + 8
    assert many.wall_ms > 0
    assert many.cpu_ms > 0
