from __future__ import annotations

import pytest

from tests.conftest import may_skip


@pytest.mark.parametrize(
    ("reason", "required", "allowed"),
    [
        ("Skipped: needs docker: no engine answers", "", True),
        ("Skipped: needs docker: no engine answers", "docker", False),
        ("Skipped: needs docker: no engine answers", "browser", True),
        ("Skipped: needs browser: none was found", "docker", True),
        ("Skipped: needs bwrap: refused by the kernel", "", True),
        ("Skipped: needs bwrap: refused by the kernel", "docker", False),
        ("Skipped: too slow today", "docker", False),
    ],
)
def test_only_what_is_not_required_may_be_skipped(
    reason: str, required: str, *, allowed: bool
) -> None:
    assert may_skip(reason, frozenset(required.split(",")) - {""}) is allowed
