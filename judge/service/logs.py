"""Logs: one line for each thing that happened, with what it is about as fields.

JSON lines for machines, aligned text for people. What libraries log goes the same way.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog

QUIET = {
    "procrastinate": logging.CRITICAL,  # our own handlers tell what fails
    "alembic": logging.WARNING,
    "uvicorn": logging.WARNING,
    "uvicorn.error": logging.ERROR,  # its warnings are what anybody can make it say, ever again
}


def set_up_logs(form: Literal["auto", "json", "text"]) -> None:
    """Send everything to stderr, as JSON lines or text; auto is text on a terminal."""
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if as_text else "iso", utc=not as_text),
    ]
    render: structlog.types.Processor = structlog.processors.JSONRenderer()
    if as_text:
        render = structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(),
            exception_formatter=structlog.dev.plain_traceback,  # others show what variables hold
        )
    else:
        shared.append(structlog.processors.format_exc_info)
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, render],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name, level in QUIET.items():
        logging.getLogger(name).setLevel(level)
