"""How hard exercises are: of those who tried one, how many solved it.

Counting goes over everything that was ever submitted, and the answer changes slowly: it is kept
for a minute, whoever asks for the catalogue meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from judge.service.records import Tried
from judge.service.store import Store

ENOUGH = 5  # students; of fewer it would say who they are rather than how hard it is
KEPT_S = 60.0


class PassRates:
    """The rates of one database."""

    def __init__(self, store: Store, kept_s: float = KEPT_S) -> None:
        self._store = store
        self._kept_s = kept_s
        self._counting = asyncio.Lock()
        self._rates: Mapping[str, Tried] = {}
        self._count_again_s = 0.0

    async def current(self) -> Mapping[str, Tried]:
        """The rates by slug; an exercise that few have tried has none."""
        async with self._counting:
            if time.monotonic() >= self._count_again_s:
                self._rates = await self._store.pass_rates(ENOUGH)
                self._count_again_s = time.monotonic() + self._kept_s
        return self._rates
