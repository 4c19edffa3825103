"""What proofs found out, kept by everything it depends on.

A key stands for the part of the folder that has an effect, the code that was judged, the seed, the
box it ran in and our own code: so an entry is never wrong, and a proof after a change does only
what the change can have an effect on.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, Self

from judge.inspection import ACCEPTED, CONTRACT, EDITORIAL, MUTANTS, REJECTED, STATEMENT, SUITES
from judge.problem import Problem, content_hash
from judge.results import Environment
from sandbox.archive import archive

CACHE_NAME = "proofs.sqlite"
UNUSED_DAYS = 30
BUSY_S = 30.0
_TEXTS = (STATEMENT, EDITORIAL, CONTRACT)
_KEPT_BESIDE = (ACCEPTED, REJECTED, SUITES)  # each is judged by itself, and named in its own key


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
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fresh = fresh
        self._lock = threading.Lock()
        self._file = sqlite3.connect(
            path, timeout=BUSY_S, check_same_thread=False, isolation_level=None
        )
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = OFF")  # what is lost is found out again
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS answers"
            " (key BLOB PRIMARY KEY, answer BLOB NOT NULL, used REAL NOT NULL) WITHOUT ROWID"
        )
        oldest = time.time() - UNUSED_DAYS * 86_400
        self._file.execute("DELETE FROM answers WHERE used < ?", (oldest,))

    def get(self, key: bytes) -> bytes | None:
        """What is kept under `key`; None when it is not, or is not to be used."""
        if self._fresh:
            return None
        with self._lock:
            self._file.execute("UPDATE answers SET used = ? WHERE key = ?", (time.time(), key))
            query = "SELECT answer FROM answers WHERE key = ?"
            row = self._file.execute(query, (key,)).fetchone()
        return None if row is None else zlib.decompress(row[0])

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer."""
        row = (key, zlib.compress(answer), time.time())
        with self._lock:
            self._file.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", row)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def judging_key(problem: Problem, environment: Environment) -> bytes:
    """Stands for all that a verdict depends on but the submission and its seed."""
    return _key(problem, environment, _TEXTS)


def rehearsal_key(problem: Problem, environment: Environment) -> bytes:
    """Stands for all that a rehearsal depends on but its code and seed: no named mutant does."""
    return _key(problem, environment, (*_TEXTS, MUTANTS))


def question_key(about: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The key of one question: what is judged how, of what `about` stands for."""
    return bytes.fromhex(content_hash({"about": about, **parts}))


def _key(problem: Problem, environment: Environment, without: tuple[str, ...]) -> bytes:
    contents = {
        name: content
        for name, content in problem.contents.items()
        if name not in without and not name.startswith(tuple(f"{each}/" for each in _KEPT_BESIDE))
    }
    where = (environment.sandbox, environment.image, environment.torch, environment.numpy)
    parts = {"contents": content_hash(contents).encode(), "where": "\n".join(where).encode()}
    return question_key(hashlib.sha256(archive(("sandbox", "judge"))).digest(), parts)
