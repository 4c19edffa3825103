"""A runner box that lets students' tests do anything: no scan, all of Python, all modules.

It shows what stands behind the scan. The real zygote has no such switch: this replaces three
names, inside a box that is made for it alone.
"""

from __future__ import annotations

import ast
import builtins
from typing import NoReturn

from sandbox.runner import own_tests, zygote

ENTRY = "tests.judging.unscanned"
PACKAGES = ("sandbox", "tests")


def main(box_id: str, control_in_fd: int, control_out_fd: int) -> NoReturn:
    """Entry of the box; ends with the control channel."""
    vars(own_tests)["find_breach"] = lambda _tree, _imports: None
    vars(own_tests)["PrivateNames"] = ast.NodeTransformer
    vars(own_tests)["restricted_builtins"] = lambda _imports: vars(builtins)
    zygote.main(box_id, control_in_fd, control_out_fd)
