"""Putting questions about one folder to a judge: as many at a time as there are threads.

A question is a submission to be judged in boxes or code to be rehearsed beside the checks. Each is
answered by a future; answers that say something lasting are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, get_args

import msgspec

from judge.grader.messages import Rehearsal, Rehearsed
from judge.judging import Judge
from judge.problem import Problem
from judge.proof.cache import Cache, judging_key, question_key, rehearsal_key
from judge.results import Kind, Result
from judge.verdicts import Verdict

Answer = TypeVar("Answer")
# A limit that was hit may have been hit because the machine was busy, and a fault of ours passes.
_PASSING = frozenset({Verdict.TLE, Verdict.JE})


@dataclass
class Tally:
    """How many questions were asked, and how many are answered; told by one thread at a time."""

    on_change: Callable[[int, int], None]
    asked: int = 0
    answered: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def ask(self) -> None:
        """One more."""
        with self._lock:
            self.asked += 1
            self.on_change(self.answered, self.asked)

    def answer(self) -> None:
        """One of them is answered."""
        with self._lock:
            self.answered += 1
            self.on_change(self.answered, self.asked)


@dataclass(frozen=True)
class Evidence:
    """What a judge says of a problem."""

    problem: Problem
    judge: Judge
    threads: Executor
    cache: Cache
    tally: Tally = field(default_factory=lambda: Tally(lambda _done, _of: None))

    def judged(
        self,
        files: Mapping[str, bytes],
        seed: int,
        kind: Kind = "submit",
        *,
        hinted: bool = False,
    ) -> Future[Result]:
        """A submission's result, from boxes; a fault of ours is a `JudgeFault`.

        One that is to be `hinted`, and is not, may be so because the machine is busy: a mistake is
        looked for during a few seconds at most. It is tried once more.
        """
        parts = {f"file {name}": source for name, source in files.items()}
        parts["how"] = f"{kind} {seed} {hinted}".encode()
        key = question_key(self._judging_keys[kind], parts)

        def ask() -> Result:
            kept = self.cache.get(key)
            if kept is not None:
                return Result.model_validate_json(kept)
            result = self.judge.attempt(self.problem, files, seed=seed, kind=kind)
            if hinted and not result.diagnosis:
                result = self.judge.attempt(self.problem, files, seed=seed, kind=kind)
            if not _verdicts(result) & _PASSING and (result.diagnosis or not hinted):
                self.cache.put(key, result.model_dump_json().encode())
            return result

        return self._start(ask)

    def rehearsed(self, rehearsal: Rehearsal, seed: int) -> Future[Rehearsed]:
        """What the checks say of code that runs beside them.

        Code that is late once may be so because the machine is busy. It is tried once more.
        """
        parts = {"rehearsal": msgspec.msgpack.encode(rehearsal), "seed": f"{seed}".encode()}
        key = question_key(self._rehearsal_key, parts)

        def ask() -> Rehearsed:
            kept = self.cache.get(key)
            if kept is not None:
                return msgspec.msgpack.decode(kept, type=Rehearsed)
            rehearsed = self.judge.rehearse(self.problem, rehearsal, seed)
            if rehearsed.late:
                rehearsed = self.judge.rehearse(self.problem, rehearsal, seed)
            if not rehearsed.died and not rehearsed.late:
                self.cache.put(key, msgspec.msgpack.encode(rehearsed))
            return rehearsed

        return self._start(ask)

    def _start(self, ask: Callable[[], Answer]) -> Future[Answer]:
        self.tally.ask()
        future = self.threads.submit(ask)
        future.add_done_callback(lambda _future: self.tally.answer())
        return future

    @cached_property
    def _judging_keys(self) -> dict[Kind, bytes]:
        kinds: tuple[Kind, ...] = get_args(Kind)
        return {kind: judging_key(self.problem, self.judge.environment, kind) for kind in kinds}

    @cached_property
    def _rehearsal_key(self) -> bytes:
        return rehearsal_key(self.problem, self.judge.environment)


def _verdicts(result: Result) -> set[Verdict]:
    checks = (check.verdict for tier in result.tiers for check in tier.checks)
    return {result.outcome, *checks}
