"""The problems folder as the service sees it: read once, and again when a file changes.

A folder that becomes invalid keeps its last good version and says what is wrong. A problem is
shown only after it was published (`Store.publish`, in the service), so that whatever a student can
see can also be judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from pydantic import Field

from judge.inspection import MANIFEST, PACKAGES, REFERENCE
from judge.manifest import (
    Fault,
    ProblemError,
    Sentence,
    Slug,
    parse_file,
    validate,
)
from judge.needs import needs_faults
from judge.problem import Problem, list_slugs, load_problem
from judge.results import Record
from judge.service.database import DATABASE_AWAY

TRACKS = "tracks.toml"
CHECK_EVERY_S = 1.0
LOG = structlog.get_logger()

Publish = Callable[[Sequence[Problem]], Awaitable[None]]
Signature = tuple[tuple[str, int, int], ...]


class Track(Record):
    """One `[[tracks]]` entry of tracks.toml."""

    id: Slug
    title: Sentence
    summary: str = ""


class TrackList(Record):
    """All of tracks.toml."""

    tracks: tuple[Track, ...] = Field(default=())


@dataclass(frozen=True)
class Broken:
    """A folder that is not valid now, and why. Its last good version, if any, is still shown."""

    slug: str
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Shelf:
    """What the folder held when it was last read, and what of it is shown.

    `read` is what came of each problem's folder by itself; `signatures` tell when to read it again,
    and come from the `stamps`.
    """

    read: Mapping[str, Problem | Broken] = field(default_factory=dict)
    problems: Mapping[str, Problem] = field(default_factory=dict)
    broken: Mapping[str, Broken] = field(default_factory=dict)
    tracks: tuple[Track, ...] = ()
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    stamps: _Stamps | None = None


class Bank:
    """The problems in `root`. Call `refresh` once before use, or run `watch`.

    `watch` looks for changes every `every_s` seconds.
    """

    def __init__(self, root: Path, publish: Publish, *, every_s: float = CHECK_EVERY_S) -> None:
        self.root = root
        self._every_s = every_s
        self._publish = publish
        self._shelf = Shelf()
        self.changes = 0  # how often something in the folder was not as before

    def current(self, slug: str) -> Problem | None:
        """The problem of that name, in the version that new submissions are judged by."""
        return self._shelf.problems.get(slug)

    def all(self) -> list[Problem]:
        """All problems, by track and number."""
        order = {track.id: place for place, track in enumerate(self._shelf.tracks)}

        def place(problem: Problem) -> tuple[int, str, int, str]:
            manifest = problem.manifest
            return (
                order.get(manifest.track, len(order)),
                manifest.track,
                manifest.number,
                manifest.id,
            )

        return sorted(self._shelf.problems.values(), key=place)

    def needs(self, problem: Problem) -> list[str]:
        """The exercises that a problem builds on, as far as they are shown."""
        return [slug for slug in problem.manifest.needs if slug in self._shelf.problems]

    def used_by(self, problem: Problem) -> list[str]:
        """The exercises that build on a problem, by track and number."""
        return [each.slug for each in self.all() if problem.slug in each.manifest.needs]

    def broken(self) -> list[Broken]:
        """The folders that are not valid now."""
        return list(self._shelf.broken.values())

    def tracks(self) -> list[Track]:
        """The tracks of tracks.toml in its order, then those that only problems name."""
        known = {track.id: track for track in self._shelf.tracks}
        for problem in self.all():
            name = problem.manifest.track
            known.setdefault(name, Track(id=name, title=name))
        return list(known.values())

    def track(self, slug: str) -> Track:
        """The track of that id."""
        return next(
            (track for track in self._shelf.tracks if track.id == slug), Track(id=slug, title=slug)
        )

    async def refresh(self) -> None:
        """Read what has changed, publish new versions and then show them.

        Raises what publishing raises; nothing is changed then.
        """
        shelf = await asyncio.to_thread(_read, self.root, self._shelf)
        if shelf is self._shelf:
            return
        shown = {problem.version for problem in self._shelf.problems.values()}
        new = [each for each in shelf.problems.values() if each.version not in shown]
        if new:
            await self._publish(new)
        _report(self._shelf, shelf)
        self.changes += shelf.signatures != self._shelf.signatures
        self._shelf = shelf

    async def watch(self, stop: asyncio.Event) -> None:
        """Refresh again and again until `stop` is set."""
        while not stop.is_set():
            try:
                await self.refresh()
            except (*DATABASE_AWAY, OSError):
                # What keeps a new version from being read or published leaves the old one
                # standing, and the next time tries again.
                LOG.warning("problems not refreshed", exc_info=True)
            try:
                await asyncio.wait_for(stop.wait(), self._every_s)
            except TimeoutError:
                continue


# --- reading, in a thread -------------------------------------------------------------------------


def _read(root: Path, before: Shelf) -> Shelf:
    """The folder now; what has not changed is taken from `before`, and `before` if nothing has."""
    started = time.monotonic()
    stamps = _Stamps.taken(root)
    if stamps == before.stamps:
        return before
    signatures = stamps.signatures(before.read)
    same = {name for name, now in signatures.items() if before.signatures.get(name) == now}
    read = {
        slug: before.read[slug] if slug in same else _read_problem(root / slug)
        for slug in sorted(signatures.keys() - {TRACKS})
    }
    good = {slug: each for slug, each in read.items() if isinstance(each, Problem)}
    broken = {slug: each for slug, each in read.items() if isinstance(each, Broken)}
    broken |= {slug: Broken(slug, faults) for slug, faults in needs_faults(good, read).items()}
    last_good = {slug: before.problems[slug] for slug in broken.keys() & before.problems.keys()}
    problems = last_good | {slug: good[slug] for slug in good.keys() - broken.keys()}
    tracks = before.tracks
    if TRACKS not in same:
        tracks = _tracks(root, broken, before)
    elif TRACKS in before.broken:
        broken[TRACKS] = before.broken[TRACKS]
    LOG.debug("problems read", ms=round((time.monotonic() - started) * 1000, 1))
    return Shelf(read, problems, broken, tracks, stamps.signatures(read), stamps)


def _read_problem(folder: Path) -> Problem | Broken:
    try:
        return load_problem(folder)
    except ProblemError as error:
        return Broken(folder.name, error.faults)


def _tracks(root: Path, broken: dict[str, Broken], before: Shelf) -> tuple[Track, ...]:
    """The tracks; those of before when the file is wrong, none when there is no file."""
    try:
        text = (root / TRACKS).read_bytes()
    except FileNotFoundError:
        return ()
    try:
        found = validate(TrackList, root / TRACKS, parse_file(root, {TRACKS: text}, TRACKS))
    except ProblemError as error:
        found = list(error.faults)
    if isinstance(found, TrackList):
        return found.tracks
    broken[TRACKS] = Broken(TRACKS, tuple(found))
    return before.tracks


@dataclass(frozen=True)
class _Stamps:
    """When everything was changed last, taken before any of it is read.

    `own` is of each exercise's folder, `shared` of what others may take from it: where its solution
    is a module, and the solution itself.
    """

    tracks: Signature
    packages: Signature
    own: Mapping[str, Signature]
    shared: Mapping[str, Signature]

    @classmethod
    def taken(cls, root: Path) -> _Stamps:
        slugs = list_slugs(root)
        return cls(
            _signature(root / TRACKS),
            _signature(root / PACKAGES),
            {slug: _signature(root / slug) for slug in slugs},
            {
                slug: _signature(root / slug / MANIFEST) + _signature(root / slug / REFERENCE)
                for slug in slugs
            },
        )

    def signatures(self, read: Mapping[str, Problem | Broken]) -> dict[str, Signature]:
        """What tells when to read each exercise again, `read` being what is known of them."""
        return {TRACKS: self.tracks} | {
            slug: sum((self.shared.get(each, ()) for each in self._around(slug, read)),
                      own + self.packages)
            for slug, own in self.own.items()
        }  # fmt: skip

    def _around(self, slug: str, read: Mapping[str, Problem | Broken]) -> list[str]:
        """What an exercise needs, and what that needs; all there are where it is not known."""
        found, waiting = set[str](), [slug]
        while waiting:
            problem = read.get(waiting.pop())
            if not isinstance(problem, Problem):
                return sorted(self.shared)
            new = set(problem.manifest.needs) - found
            found |= new
            waiting += new
        return sorted(found)


def _signature(path: Path) -> Signature:
    """Changes whenever a file in `path`, or `path` itself, does.

    This is done to every file each second, so without a `Path` for each.
    """
    found: list[tuple[str, int, int]] = []
    folders: list[str] = []
    with contextlib.suppress(OSError):  # there is none, or it is unreadable: reading it will say so
        status = path.stat()
        found.append((str(path), status.st_mtime_ns, status.st_size))
        folders += [str(path)] if stat.S_ISDIR(status.st_mode) else []
    while folders:
        for entry in _entries(folders.pop()):
            try:
                status = entry.stat()
            except OSError:  # removed while we looked, or unreadable, as above
                continue
            found.append((entry.path, status.st_mtime_ns, status.st_size))
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
    return tuple(sorted(found))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # as above
        return []


def _report(before: Shelf, now: Shelf) -> None:
    """Log what has become different."""
    for slug, problem in now.problems.items():
        if slug not in before.problems or before.problems[slug].version != problem.version:
            LOG.info("problem loaded", problem=slug, version=problem.version[:12])
    for slug, broken in now.broken.items():
        if before.broken.get(slug) != broken:
            LOG.warning("problem not valid", problem=slug, faults=list(map(str, broken.faults)))
