from __future__ import annotations

import json
import subprocess
import sys

LOG = """
import logging, structlog
from judge.service.logs import set_up_logs
set_up_logs({form!r})
with structlog.contextvars.bound_contextvars(submission="abc"):
    structlog.get_logger().info("judged", verdict="AC")
    logging.getLogger("some.library").warning("said %s", "so")
    logging.getLogger("procrastinate.worker").info("chatter")
try:
    1 / 0
except ZeroDivisionError:
    structlog.get_logger().exception("failed")
"""


def logged(form: str) -> str:
    command = [sys.executable, "-c", LOG.format(form=form)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


def test_json_lines_carry_the_submission_and_what_libraries_say() -> None:
    judged, library, failed = map(json.loads, logged("auto").splitlines())
    assert (judged["event"], judged["submission"], judged["verdict"]) == ("judged", "abc", "AC")
    assert judged["level"] == "info"
    assert "T" in judged["timestamp"]
    assert (library["event"], library["submission"]) == ("said so", "abc")
    assert "ZeroDivisionError" in failed["exception"]


def test_text_is_for_people() -> None:
    text = logged("text")
    assert "judged" in text
    assert "submission=abc" in text
    assert "ZeroDivisionError" in text
    assert "chatter" not in text
