"""The heap that forks find."""

from __future__ import annotations

import gc
import subprocess
import sys

from sandbox.runner import heap

SIDE_BY_SIDE = """
import ctypes
from sandbox.runner import heap

def pages():
    new = [bytearray(1000) for _ in range(4000)]
    return len({ctypes.addressof(ctypes.c_char.from_buffer(each)) // 4096 for each in new})

kept = [bytearray(1000) for _ in range(64_000)]
del kept[::16]  # so that there is a gap in every fourth page
print(pages(), heap.fill_gaps(), heap.fill_gaps(), pages())
"""


def test_what_is_new_lies_side_by_side_where_gaps_were_filled() -> None:
    # In a process of its own, whose heap has no other gaps, and since they are taken for good.
    said = subprocess.check_output([sys.executable, "-c", SIDE_BY_SIDE], text=True)
    between, taken_bytes, taken_again_bytes, behind = map(int, said.split())
    assert between > 3900  # 4000 things in as many gaps, each on another page
    assert behind < 1100  # four to a page
    assert taken_bytes > 4000 * 1000
    assert taken_again_bytes < taken_bytes / 10


def test_a_settled_process_collects_nothing_that_was_there_before() -> None:
    gc.unfreeze()
    try:
        heap.settle()
        assert gc.get_freeze_count() > 0
        assert len(gc.get_objects()) < gc.get_freeze_count()
    finally:
        gc.unfreeze()
