"""A cache of proofs that is gone with the test."""

from __future__ import annotations


class Memory:
    """Answers by key; `missed` counts the questions that had none."""

    def __init__(self) -> None:
        self.kept: dict[bytes, bytes] = {}
        self.missed = 0

    def get(self, key: bytes) -> bytes | None:
        """What is kept under `key`."""
        self.missed += key not in self.kept
        return self.kept.get(key)

    def put(self, key: bytes, answer: bytes) -> None:
        """Keep an answer."""
        self.kept[key] = answer
