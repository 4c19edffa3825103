"""What tests of judging share."""

from __future__ import annotations

import pytest

from judge import grader_box, slots

ANSWERED_S = 3.0


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box that was stopped is found out sooner; one that is slow to answer may be lost as well.

    Either is replaced, and costs nobody anything.
    """
    monkeypatch.setattr(slots, "PING_PATIENCE_S", ANSWERED_S)
    monkeypatch.setattr(grader_box, "PING_PATIENCE_S", ANSWERED_S)
