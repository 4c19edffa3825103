"""What `judge dev` knows of the folder that is being written, for the page to show.

Theory of operation
-------------------
The desk owns one exercise's state: the version that is shown, whether a worker has read it, what is
wrong with the folder, and the newest proof. It learns the first three by looking at the bank and
the store ten times a second, the last from whoever proves (`judge.service.author_proving`).
Whoever wants to know of changes has a bell here.

The numbers of the version before stay until the new ones are complete.

All of it is used in one event loop; only `version` is also read by the thread that proves.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import structlog
from pydantic import Field

from judge.problem import Problem
from judge.proof.outcomes import Proof
from judge.results import Record
from judge.service.bank import TRACKS, Bank
from judge.service.database import DATABASE_AWAY
from judge.service.doorbell import Bell
from judge.service.models import FaultCard
from judge.service.store import Store

LOOK_S = 0.1
LOG = structlog.get_logger()
_BROKEN = re.compile(r"problems/[^/]+/(?P<file>[^:]+):(?P<line>\d+): (?P<message>.+)", re.DOTALL)


class Proving(Record):
    """How far the proof of the version that is shown has come.

    `waiting` until the version was read without faults and boxes are warm; `stopped` when it could
    not be completed, and `trouble` says why. Finished, it consists of `claims`, and `failed` of
    them do not hold. `number` grows with each proof there is to be had, and `version` is the one
    that it is of; both are null before the first.
    """

    state: Literal["waiting", "proving", "finished", "stopped"] = "waiting"
    answered: int = Field(default=0, description="questions that the boxes have answered")
    asked: int = Field(default=0, description="all of them")
    claims: int = 0
    failed: int = 0
    trouble: str = ""
    number: int | None = None
    version: str | None = None


class AuthorNews(Record):
    """An exercise that is being written. `version` is the last valid one, null before the first.

    `changes` grows whenever a file of the problems folder was saved, also one of its surroundings.
    `is_read` once a worker has collected its checks and run its reference. `faults` are what is
    wrong with the folder as it is now; there are none again as soon as they are mended.
    """

    slug: str
    folder: str
    changes: int = 0
    version: str | None = None
    is_read: bool = False
    faults: list[FaultCard] = []
    proving: Proving = Proving()


class AuthorDesk:
    """The state of one exercise that is being written in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.news = AuthorNews(slug=folder.name, folder=str(folder))
        self.proof: Proof | None = None
        self.provable: Problem | None = None  # the version that is shown, once it can be proven
        self._broken = ""  # why the checks of the version that is shown cannot be collected
        self._bells: set[Bell] = set()

    @property
    def slug(self) -> str:
        """The exercise."""
        return self.folder.name

    @property
    def version(self) -> str | None:
        """The version that is shown."""
        return self.news.version

    @contextmanager
    def bell(self) -> Iterator[Bell]:
        """A bell that rings when the news have changed."""
        bell = Bell()
        self._bells.add(bell)
        try:
            yield bell
        finally:
            self._bells.discard(bell)

    # --- the folder --------------------------------------------------------------------------

    async def watch(self, bank: Bank, store: Store, stop: asyncio.Event) -> None:
        """Look again and again until `stop` is set; then wake whoever waits."""
        while not stop.is_set():
            try:
                await self.look(bank, store)
            except DATABASE_AWAY as error:
                LOG.warning("author's desk interrupted", error=str(error).partition("\n")[0])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_S)
        self._ring()

    async def look(self, bank: Bank, store: Store) -> None:
        """Take over what bank and store know now. Raises `DATABASE_AWAY`."""
        problem = bank.current(self.slug)
        version = problem.version if problem else None
        is_read = self.news.is_read and version == self.version
        broken = self._broken if is_read else ""
        if version is not None and not is_read:
            facts = (await store.facts([version])).get(version)
            is_read = facts is not None
            broken = facts.broken if facts else ""
        self._broken = broken
        self.provable = problem if is_read and not broken else None
        faults = [*_faults_of(bank, self.slug), *self._broken_checks()]
        proving = self.news.proving
        if version != self.version:
            proving = Proving(number=proving.number, version=proving.version)
        self._tell(
            self.news.model_copy(
                update={
                    "changes": bank.changes, "version": version, "is_read": is_read,
                    "faults": faults, "proving": proving,
                }
            )
        )  # fmt: skip

    def _broken_checks(self) -> Iterator[FaultCard]:
        if not self._broken:
            return
        found = _BROKEN.fullmatch(self._broken)
        file, line, message = ("", 1, self._broken)
        if found is not None:
            file, line, message = found["file"], int(found["line"]), found["message"]
        yield FaultCard(
            file=str(self.folder / file),
            line=line,
            message=f"the checks cannot be collected: {message}",
            remedy="correct this; they are collected again whenever a file is saved",
        )

    # --- its proof ---------------------------------------------------------------------------

    def begun(self) -> None:
        """The version that is shown is being proven."""
        self._set_proving(state="proving", answered=0, asked=0, claims=0, failed=0, trouble="")

    def progressed(self, version: str, answered: int, asked: int) -> None:
        """So many questions are answered; of an outdated version it is ignored."""
        if version == self.version and self.news.proving.state == "proving":
            self._set_proving(answered=answered, asked=asked)

    def proved(self, proof: Proof) -> None:
        """A proof is complete; of an outdated version it is ignored."""
        if proof.version != self.version:
            return
        self.proof = proof
        self._set_proving(
            state="finished",
            claims=len(proof.cases),
            failed=sum(case.failed for case in proof.cases),
            number=(self.news.proving.number or 0) + 1,
            version=proof.version,
        )

    def stopped(self, version: str, trouble: str) -> None:
        """The proof of a version could not be completed, for a reason in words."""
        if version == self.version:
            self._set_proving(state="stopped", trouble=trouble)

    def _set_proving(self, **changed: object) -> None:
        proving = self.news.proving.model_copy(update=changed)
        self._tell(self.news.model_copy(update={"proving": proving}))

    # --- telling -----------------------------------------------------------------------------

    def _tell(self, news: AuthorNews) -> None:
        if news != self.news:
            self.news = news
            self._ring()

    def _ring(self) -> None:
        for bell in self._bells:
            bell.ring()


def _faults_of(bank: Bank, slug: str) -> Iterator[FaultCard]:
    """What is wrong with the exercise's folder, the tracks, and what the exercise needs."""
    problem = bank.current(slug)
    concerning = {slug, TRACKS, *(problem.manifest.needs if problem else ())}
    for broken in bank.broken():
        if broken.slug in concerning:
            yield from map(FaultCard.of, broken.faults)
