from __future__ import annotations

import asyncio
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from judge.service.database import Database, connected
from judge.service.metrics import Metrics
from judge.service.queue import Queue
from judge.service.records import WorkerRow
from judge.service.store import Store
from judge.verdicts import Verdict
from tests.service.made import accepted, claimed, double, finish, new

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def read(database: Database, store: Store, url: str) -> Samples:
    text = (await Metrics(store, Queue(url, database)).render()).decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_tell_what_waits_what_was_judged_and_who_works(
    database_url: str, tmp_path: Path
) -> None:
    async def test() -> None:
        async with connected(database_url) as database:
            store = Store(database, Queue(database_url, database))
            problem = double(tmp_path)
            await store.publish([problem])
            for verdict in (Verdict.AC, Verdict.WA, Verdict.WA):
                claim = await claimed(store, await accepted(store, new(problem)))
                await finish(store, claim, problem, verdict)
            await accepted(store, new(problem, kind="run"))
            await store.beat(WorkerRow("w", "host", 1, "docker", 2, "ready", "", {"warm": 3}))
            samples = await read(database, store, database_url)
        assert samples["judge_queue_waiting", (("kind", "run"),)] == 1
        assert samples["judge_queue_oldest_seconds", ()] > 0
        assert samples["judge_queue_running", ()] == 0
        judged = "judge_judged_total"
        assert samples[judged, (("kind", "submit"), ("verdict", "AC"))] == 1
        assert samples[judged, (("kind", "submit"), ("verdict", "WA"))] == 2
        bucket = "judge_verdict_seconds_bucket"
        assert samples[bucket, (("kind", "submit"), ("le", "+Inf"))] == 3
        assert samples["judge_verdict_seconds_count", (("kind", "submit"),)] == 3
        assert samples["judge_verdict_seconds_sum", (("kind", "submit"),)] > 0
        assert samples["judge_workers", (("state", "ready"),)] == 1
        assert samples["judge_slots", (("worker", "w"),)] == 2
        assert samples["judge_boxes", (("state", "warm"), ("worker", "w"))] == 3

    asyncio.run(test())


def test_a_histogram_never_falls(database_url: str, tmp_path: Path) -> None:
    async def test() -> None:
        async with connected(database_url) as database:
            store = Store(database, Queue(database_url, database))
            problem = double(tmp_path)
            await store.publish([problem])
            for _ in range(3):
                claim = await claimed(store, await accepted(store, new(problem)))
                await finish(store, claim, problem)
            samples = await read(database, store, database_url)
        buckets = [
            value for (name, _labels), value in samples.items() if name.endswith("seconds_bucket")
        ]
        assert len(buckets) == 11
        assert buckets == sorted(buckets)

    asyncio.run(test())
