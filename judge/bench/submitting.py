"""Submissions of a measurement: sent, followed to their end, their verdicts verified."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from judge.bench.work import Answer
from judge.client import Client
from judge.events import Finished, Restarted, TierFinished
from judge.results import Result
from judge.verdicts import Verdict

AFTER_THE_TIERS = ("diagnosis", "released")  # spans of what is judged that follow the last tier


class WrongVerdict(Exception):
    """A submission with a known verdict got another."""


@dataclass(frozen=True)
class Submitted:
    """What a submission took, from before the POST to an event of its stream."""

    id: str
    first_tier_ms: float
    finished_ms: float


def submit(client: Client, slug: str, answer: Answer) -> Submitted:
    """Submit and follow; raises `WrongVerdict` unless the verdict is as known."""
    started = time.perf_counter()
    submission = client.submit(slug, answer.files)
    first_tier_ms: float | None = None
    failing: str | None = None
    verdict = Verdict.JE
    for event in client.follow(submission):
        match event:
            case TierFinished():
                if first_tier_ms is None:
                    first_tier_ms = (time.perf_counter() - started) * 1000
                counts = event.tier not in answer.advisory
                if counts and failing is None and event.verdict not in (Verdict.AC, Verdict.SK):
                    failing = event.tier
            case Restarted():
                failing = None
            case Finished():
                verdict = event.verdict
    finished_ms = (time.perf_counter() - started) * 1000
    accepted = verdict is Verdict.AC
    if verdict is Verdict.JE or accepted is not (failing is None) or failing != answer.rejected_at:
        wanted = f"rejected at {answer.rejected_at}" if answer.rejected_at else "accepted"
        got = f"{verdict.value}{f' at {failing}' if failing else ''}"
        raise WrongVerdict(f"{answer.name} should be {wanted}, but the verdict was {got}")
    return Submitted(submission, first_tier_ms or finished_ms, finished_ms)


@contextmanager
def students(url: str, count: int) -> Iterator[list[Client]]:
    """So many clients, each of them another student."""
    with ExitStack() as stack:
        yield [stack.enter_context(Client(url, secrets.token_urlsafe(32))) for _ in range(count)]


def closed_loop(
    people: Sequence[Client], slug: str, answers: Iterable[Answer], step: Callable[[], None]
) -> list[Submitted]:
    """Submit all of them; everybody sends the next one when the verdict of the last is there.

    `step` is called after each. Raises what `submit` raises.
    """
    waiting: SimpleQueue[Answer] = SimpleQueue()
    for answer in answers:
        waiting.put(answer)

    def run(client: Client) -> Iterator[Submitted]:
        with suppress(Empty):
            while True:
                yield submit(client, slug, waiting.get_nowait())
                step()

    with ThreadPoolExecutor(len(people)) as threads:
        try:
            shares = list(threads.map(lambda client: list(run(client)), people))
        except BaseException:
            _empty(waiting)  # so that the others end, too
            raise
    return [each for share in shares for each in share]


def _empty(waiting: SimpleQueue[Answer]) -> None:
    with suppress(Empty):
        while True:
            waiting.get_nowait()


def judging_ms(result: Result) -> float:
    """Of one submission: from when a worker has claimed and read it to the end of its last tier."""
    spans = result.timing.spans
    return result.timing.judged_ms - sum(spans.get(name, 0.0) for name in AFTER_THE_TIERS)
