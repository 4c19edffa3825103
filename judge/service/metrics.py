"""What Prometheus reads. Everything comes from the database, so any `judge serve` tells the whole.

Counters outlive workers and the rows they counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from judge.results import Kind
from judge.service.queue import Jobs, Queue
from judge.service.records import QueueStats, Tally, WorkerRow, WorkerState
from judge.service.store import BUCKETS_MS, Store

# None of a kind is 0 and no gap, so that alarms need not know which ones there could be.
KINDS = get_args(Kind)
WORKER_STATES = get_args(WorkerState)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one service."""

    def __init__(self, store: Store, queue: Queue) -> None:
        self._store = store
        self._queue = queue

    async def render(self) -> bytes:
        """All of them, in Prometheus's text format. Raises what the database raises."""
        registry = CollectorRegistry()
        registry.register(
            _Reading(
                await self._store.stats(),
                await self._queue.stats(),
                await self._store.tallies(),
                await self._store.workers(),
            )
        )
        return generate_latest(registry)


@dataclass(frozen=True, eq=False)  # a registry keeps its collectors by identity
class _Reading(Collector):
    """What was read at one moment."""

    stats: QueueStats
    jobs: Jobs
    tallies: Sequence[Tally]
    workers: Sequence[WorkerRow]

    def collect(self) -> Iterator[Metric]:
        yield from self._queue()
        yield from self._judged()
        yield from self._workers()

    def _queue(self) -> Iterator[Metric]:
        waiting = GaugeMetricFamily(
            "judge_queue_waiting", "Submissions that wait for a worker.", labels=["kind"]
        )
        for kind in KINDS:
            waiting.add_metric([kind], self.stats.waiting.get(kind, 0))
        yield waiting
        yield GaugeMetricFamily(
            "judge_queue_running", "Submissions being judged.", value=self.stats.running
        )
        yield GaugeMetricFamily(
            "judge_queue_oldest_seconds",
            "How long the oldest submission has waited.",
            value=self.stats.oldest_s,
        )
        jobs = GaugeMetricFamily("judge_queue_jobs", "Jobs in the queue.", labels=["state"])
        jobs.add_metric(["waiting"], self.jobs.waiting)
        jobs.add_metric(["running"], self.jobs.running)
        yield jobs

    def _judged(self) -> Iterator[Metric]:
        judged = CounterMetricFamily("judge_judged", "Verdicts given.", labels=["kind", "verdict"])
        verdicts: Counter[tuple[str, str]] = Counter()
        for tally in self.tallies:
            verdicts[tally.kind, tally.verdict] += tally.count
        for (kind, verdict), count in sorted(verdicts.items()):
            judged.add_metric([kind, verdict], count)
        yield judged
        yield self._latency()

    def _latency(self) -> Metric:
        latency = HistogramMetricFamily(
            "judge_verdict_seconds", "From the request to the stored verdict.", labels=["kind"]
        )
        by_kind: defaultdict[str, list[Tally]] = defaultdict(list)
        for tally in self.tallies:
            by_kind[tally.kind].append(tally)
        for kind, tallies in sorted(by_kind.items()):
            buckets = [
                (
                    _bound(bound_ms),
                    sum(each.count for each in tallies if each.bucket_ms <= bound_ms),
                )
                for bound_ms in BUCKETS_MS
            ]
            total_s = sum(each.total_ms for each in tallies) / 1000
            latency.add_metric([kind], buckets, sum_value=total_s)
        return latency

    def _workers(self) -> Iterator[Metric]:
        workers = GaugeMetricFamily("judge_workers", "Workers by state.", labels=["state"])
        states = Counter[str](worker.state for worker in self.workers)
        for state in WORKER_STATES:
            workers.add_metric([state], states[state])
        yield workers
        slots = GaugeMetricFamily(
            "judge_slots", "Submissions a worker judges at once.", labels=["worker"]
        )
        boxes = GaugeMetricFamily("judge_boxes", "Boxes by state.", labels=["worker", "state"])
        for worker in self.workers:
            slots.add_metric([worker.id], worker.slots)
            for state, count in sorted(worker.boxes.items()):
                boxes.add_metric([worker.id, state], count)
        yield slots
        yield boxes


def _bound(bound_ms: float) -> str:
    return "+Inf" if bound_ms == BUCKETS_MS[-1] else f"{bound_ms / 1000:g}"
