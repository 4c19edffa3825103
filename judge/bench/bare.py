"""The floor: checks called one after another in a process where everything is warm.

`python -m judge.bench.bare CHECKS --solution FILE [--provided FILE]` collects once and then, for
each line on stdin, calls every check with its fixtures' values, and answers with a line of JSON
(`Round`). No reports, no fixtures set up and torn down, no confinement: nothing that runs these
checks can take less. One thread, as in the boxes.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from judge.bench import local_checks
from judge.bench.measuring import Round
from judge.checks.charts import Charts
from judge.checks.current import CURRENT, Judging
from judge.checks.marks import check_id
from judge.checks.rng import Rng

OPTIONS = ("--disable-plugin-autoload", "-p", "no:cacheprovider", "-c", os.devnull)


class _Rounds:
    """The pytest plugin that runs rounds instead of the collected items."""

    def __init__(self) -> None:
        self.collected = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve rounds until stdin ends."""
        self.collected = not session.testsfailed
        if not self.collected:
            return True
        _run(session.items)
        gc.collect()
        gc.freeze()
        for _ in sys.stdin:
            sys.stdout.write(_round(session.items).model_dump_json() + "\n")
            sys.stdout.flush()
        return True


def _round(items: Sequence[pytest.Item]) -> Round:
    wall, cpu = time.perf_counter(), time.process_time()
    _run(items)
    wall_ms = (time.perf_counter() - wall) * 1000
    return Round(wall_ms=wall_ms, cpu_ms=(time.process_time() - cpu) * 1000, passed=len(items))


def _run(items: Sequence[pytest.Item]) -> None:
    for item in items:
        assert isinstance(item, pytest.Function)
        judging = item.config.stash[CURRENT]
        with local_checks.tolerance_of(item):
            item.obj(**_arguments(item, judging))


def _arguments(item: pytest.Function, judging: Judging) -> dict[str, Any]:
    """What the fixtures of `judge.checks.fixtures` would give, and the check's parameters."""
    values: dict[str, Any] = {
        "submission": judging.submission,
        "rng": Rng(judging.seed, check_id(item)),
        "charts": Charts(),
    }
    values |= item.callspec.params if hasattr(item, "callspec") else {}
    return {name: values[name] for name in item.fixturenames if name in values}


def main() -> int:
    """Run until stdin ends; the exit status is 1 when the checks cannot be collected."""
    torch.set_num_threads(1)
    rounds = _Rounds()
    pytest.main(
        [*OPTIONS, "-p", "no:terminal", "-s", *sys.argv[1:]], plugins=[local_checks, rounds]
    )
    return 0 if rounds.collected else 1


if __name__ == "__main__":
    sys.exit(main())
