"""How `make test` shares the tests out among processes: what is set up together stays together.

A sandbox's warm boxes, the browser's judge and whatever else a module sets up are made once, and
what tests leave behind is looked for where it was left. The groups that take longest come first, so
that no process is left with one of them at the end.

Groups are told from the names of tests: the mark that pytest-xdist has for them is of no effect
with pytest 9.2 (https://github.com/pytest-dev/pytest-xdist/issues/1386).
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

SANDBOXES = ("docker", "bwrap")
TOGETHER = ("tests/browser",)  # folders whose modules share what they set up
LONGEST_FIRST = (
    *SANDBOXES,
    "tests/browser",
    "tests/service/faults/test_killed_workers.py",
    "tests/service/faults/test_chaos.py",
    "tests/service/test_compose.py",
    "tests/service/faults/test_lost_boxes.py",
    "tests/service/test_embedded.py",
    "tests/service/test_running.py",
    "tests/service/test_openapi.py",
    "tests/test_bench.py",
    "tests/hostile/test_defences_bite.py",
    "tests/service/faults/test_database_restarted.py",
    "tests/service/test_language.py",
    "tests/hostile/test_hostile.py",
    "tests/test_cli.py",
    "tests/test_pytest_plugin.py",
    "tests/service/test_worker.py",
)


def group_of(test: str) -> str:
    """Where a test belongs, by its node id: to a sandbox, or else to its module or folder."""
    module, _, rest = test.partition("::")
    parameters = rest.partition("[")[2].removesuffix("]").split("-")
    for sandbox in SANDBOXES:
        if sandbox in parameters:
            return sandbox
    return next((folder for folder in TOGETHER if module.startswith(f"{folder}/")), module)


def rank_of(group: str) -> int:
    """The longest is the first."""
    return LONGEST_FIRST.index(group) if group in LONGEST_FIRST else len(LONGEST_FIRST)


class Groups(LoadScopeScheduling):  # type: ignore[misc]  # its package tells no types
    """Gives each process a group at a time."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _assign_work_unit(self, node: object) -> None:
        self.workqueue.move_to_end(min(self.workqueue, key=rank_of), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Groups:
    """Part of pytest-xdist's protocol; asked for where tests are shared out at all."""
    return Groups(config, log)
