"""What proofs found out, kept by everything it depends on.

A key stands for the part of the folder that has an effect, the code that was judged, the seed, the
box it ran in and our own code: so an entry is never wrong, and a proof after a change does only
what the change can have an effect on.
"""

from __future__ import annotations

import hashlib
import platform
import sqlite3
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, Self

from judge.inspection import ACCEPTED, CONTRACT, EDITORIAL, MUTANTS, REJECTED, STATEMENT, SUITES
from judge.problem import Problem, content_hash
from judge.results import Environment, Kind
from judge.settings import BadSetting
from sandbox.archive import archive

CACHE_NAME = "proofs.sqlite"
UNUSED_DAYS = 30
BUSY_S = 30.0
_TEXTS = (STATEMENT, EDITORIAL, CONTRACT)
_JUDGED_ALONE = (REJECTED, SUITES)  # by question, whose own key it is in


class Cache(Protocol):
    """Answers by key."""

    def get(self, key: bytes) -> bytes | None:
        """What is kept under `key`."""

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer."""


class NoCache:
    """Keeps nothing."""

    def get(self, key: bytes) -> None:
        """Nothing."""

    def put(self, key: bytes, answer: bytes) -> None:
        """Forget it."""


class FileCache:
    """Kept in an SQLite file, for as long as it is used at least once in `UNUSED_DAYS`.

    Any number of processes may use it. With `fresh` nothing is looked up, and all is renewed.
    Raises `BadSetting` where no such file can be kept.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._fresh = fresh
        self._lock = threading.Lock()
        try:
            self._file = _opened(path)
        except (OSError, sqlite3.Error) as error:
            raise BadSetting(
                f"JUDGE_CACHE: {path} cannot be used ({error}). Wait for whatever else "
                "uses it; else remove it, or name a folder that can be written to."
            ) from None

    def get(self, key: bytes) -> bytes | None:
        """What is kept under `key`; None when it is not, or is not to be used."""
        if self._fresh:
            return None
        update = "UPDATE answers SET used = ? WHERE key = ? RETURNING answer"
        try:
            with self._lock:
                rows = self._file.execute(update, (time.time(), key)).fetchall()
            return zlib.decompress(rows[0][0]) if rows else None
        except (sqlite3.OperationalError, zlib.error):  # locked for long, or damaged: find out anew
            return None

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer."""
        row = (key, zlib.compress(answer), time.time())
        with self._lock, suppress(sqlite3.OperationalError):  # locked for long: not kept
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _opened(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False, isolation_level=None)
    file.execute("PRAGMA journal_mode = WAL")
    file.execute("PRAGMA synchronous = OFF")  # what is lost is found out again
    file.execute(
        "CREATE TABLE IF NOT EXISTS answers"
        " (key BLOB PRIMARY KEY, answer BLOB NOT NULL, used REAL NOT NULL) WITHOUT ROWID"
    )
    oldest = time.time() - UNUSED_DAYS * 86_400
    file.execute("DELETE FROM answers WHERE used < ?", (oldest,))
    return file


def judging_key(problem: Problem, environment: Environment, kind: Kind) -> bytes:
    """Stands for all that a verdict depends on but the submission and its seed.

    Students' tests are run on the other right ways, too; no other verdict depends on those.
    """
    alone = _JUDGED_ALONE if kind == "tests" else (*_JUDGED_ALONE, ACCEPTED)
    return _key(problem, environment, (*_TEXTS, *alone))


def rehearsal_key(problem: Problem, environment: Environment) -> bytes:
    """Stands for all that a rehearsal depends on but its code and seed: no named mutant does."""
    return _key(problem, environment, (*_TEXTS, *_JUDGED_ALONE, ACCEPTED, MUTANTS))


def question_key(about: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The key of one question: what is judged how, of what `about` stands for."""
    return bytes.fromhex(content_hash({"about": about, **parts}))


def _key(problem: Problem, environment: Environment, without: tuple[str, ...]) -> bytes:
    """Of all files but those of these names, and in folders of these names."""
    contents = {
        name: content
        for name, content in problem.contents.items()
        if name not in without and not name.startswith(tuple(f"{each}/" for each in without))
    }
    where = (
        *(environment.sandbox, environment.image, environment.torch, environment.numpy),
        platform.python_version(),
    )
    parts = {"contents": content_hash(contents).encode(), "where": "\n".join(where).encode()}
    return question_key(hashlib.sha256(archive(("sandbox", "judge"))).digest(), parts)
