"""A problem folder, read and validated.

Theory of operation
-------------------
A folder is read once, into `Problem.contents`; everything else is derived from that snapshot, so
that what is judged, what is shown and what the version names are always the same bytes. The
version is the SHA-256 of the content: whoever changes a file has a new version.

Validation finds as many faults as it can and raises them together, each with the file, the line
and what to do. An author reads `ProblemError`, never a traceback.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from judge.inspection import (
    ACCEPTED,
    HARNESS,
    MANIFEST,
    MUTANTS,
    NEEDS,
    PACKAGES,
    PROVIDED,
    REFERENCE,
    REJECTED,
    SUITES,
    Inspection,
    sources_under,
)
from judge.manifest import (
    Equivalent,
    Fault,
    Manifest,
    Mutant,
    MutantList,
    ProblemError,
    ProblemFile,
    Tier,
    parse_file,
    validate,
)
from judge.results import Kind, Limits, Record
from judge.surroundings import read_contents
from sandbox.protocol import Forbidden, Setting


class UnknownProblem(Exception):
    """There is no problem of that name; the message names the closest ones."""


@dataclass(frozen=True)
class KeptSubmission:
    """A submission kept in the folder; `tier` must reject it, or is None when it is right."""

    name: str
    source: bytes
    tier: str | None


@dataclass(frozen=True)
class Problem:
    """A valid problem folder.

    `contents` maps each file's path inside the folder, with forward slashes, to its bytes;
    `equivalent` are changes of the reference that no check can notice.
    """

    folder: Path
    manifest: Manifest
    mutants: tuple[Mutant, ...]
    contents: Mapping[str, bytes] = field(repr=False)
    equivalent: tuple[Equivalent, ...] = ()

    @property
    def slug(self) -> str:
        """The problem's name in addresses and commands; also the folder's name."""
        return self.manifest.id

    @property
    def limits(self) -> Limits:
        """What one submission may use."""
        return self.manifest.limits

    def limits_of(self, kind: Kind) -> Limits:
        """What one tier may use, or all of a student's tests on one implementation."""
        own = self.manifest.tests
        if kind != "tests" or own is None:
            return self.limits
        cpu_s = max(self.limits.cpu_s, own.wall_s)
        return self.limits.model_copy(update={"wall_s": own.wall_s, "cpu_s": cpu_s})

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers, in the order they run."""
        return self.manifest.tiers

    @property
    def advisory(self) -> frozenset[str]:
        """The tiers that count for nothing."""
        return frozenset(tier.id for tier in self.tiers if tier.advisory)

    @property
    def files(self) -> tuple[ProblemFile, ...]:
        """The files a student writes."""
        return self.manifest.files

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of the files of a solution."""
        return tuple(file.name for file in self.files if file.role == "solution")

    @property
    def label(self) -> str:
        """What people call it for short: a chapter by its number, any other by its title."""
        course = self.manifest.course
        return self.manifest.title if course is None else course.module

    @property
    def takes_tests(self) -> bool:
        """Whether students also hand in tests of their own."""
        return self.manifest.tests is not None

    @property
    def tests_file(self) -> str:
        """Name of the first file of a student's own tests; raises StopIteration without any."""
        return next(file.name for file in self.files if file.role == "tests")

    @cached_property
    def setting(self) -> Setting:
        """What stands around the files of a submission."""
        return Setting(
            main=self.main_file,
            module=self.files[0].module or "",
            provided=self.provided,
            library={**self._modules(PACKAGES), **self.needed_modules},
            harness=self.contents.get(HARNESS),
            forbidden=[Forbidden(entry.name, entry.rule) for entry in self.manifest.forbidden],
        )

    @cached_property
    def needed_modules(self) -> dict[str, bytes]:
        """The reference solutions of exercises that this one builds on, by path in the library."""
        return {path: source for paths in self._needed.values() for path, source in paths.items()}

    def module_of_need(self, slug: str) -> str | None:
        """Where in the library a solution of `slug` belongs; None when it has no place there."""
        return next(iter(self._needed.get(slug, {})), None)

    @cached_property
    def _needed(self) -> dict[str, dict[str, bytes]]:
        found: dict[str, dict[str, bytes]] = {}
        for name, source in self._modules(NEEDS).items():
            slug, _, path = name.partition("/")
            found.setdefault(slug, {})[path] = source
        return found

    def _modules(self, folder: str) -> dict[str, bytes]:
        prefix = f"{folder}/"
        found = (each for each in self.contents.items() if each[0].startswith(prefix))
        return {name.removeprefix(prefix): source for name, source in found}

    @property
    def main_file(self) -> str:
        """Name of the first file: what a single file is taken for."""
        return self.files[0].name

    @cached_property
    def version(self) -> str:
        """SHA-256 of the content, in hexadecimal."""
        return content_hash(self.contents)

    @property
    def reference(self) -> bytes:
        """Source of the reference solution."""
        return self.contents[REFERENCE]

    @property
    def provided(self) -> bytes | None:
        """Source of what is already defined for the student, if anything is."""
        return self.contents.get(PROVIDED)

    @property
    def accepted(self) -> tuple[KeptSubmission, ...]:
        """Other right ways, which must be accepted."""
        return tuple(
            KeptSubmission(name, self.contents[name], None)
            for name in sources_under(self.contents, ACCEPTED)
        )

    @property
    def rejected(self) -> tuple[KeptSubmission, ...]:
        """Whole wrong solutions, with the tier that must reject each."""
        return tuple(
            KeptSubmission(name, self.contents[name], PurePosixPath(name).parent.name)
            for name in sources_under(self.contents, REJECTED)
        )

    @property
    def suites(self) -> tuple[str, ...]:
        """Paths of the kept tests, in folders that say how they are to be graded."""
        return tuple(sources_under(self.contents, SUITES)) if self.takes_tests else ()

    @property
    def graded_mutants(self) -> tuple[Mutant, ...]:
        """The mutants that students' own tests are graded by."""
        return tuple(mutant for mutant in self.mutants if mutant.graded)

    @property
    def must_kill(self) -> tuple[str, ...]:
        """Ids of the graded mutants that students' tests may not miss."""
        own = self.manifest.tests
        if own is None:
            return ()
        if own.must_kill is not None:
            return own.must_kill
        return tuple(mutant.id for mutant in self.graded_mutants if mutant.pitfall)

    def starter(self, file: ProblemFile) -> bytes:
        """What the editor opens `file` with."""
        return self.contents[file.starter]

    def mutate(self, mutant: Mutant) -> bytes:
        """Source of the reference with the mistake `mutant` made."""
        return mutant.apply(self.reference)


# --- finding and reading --------------------------------------------------------------------------


def list_slugs(root: Path) -> tuple[str, ...]:
    """Names of the problem folders in `root`, sorted."""
    return tuple(sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}")))


def find_folder(root: Path, slug: str) -> Path:
    """The folder of the problem `slug` in `root`; raises `UnknownProblem`."""
    known = list_slugs(root)
    if slug in known:
        return root / slug
    if Path(slug).name == slug and (root / slug).is_dir():
        raise UnknownProblem(f"{root / slug} is a folder without {MANIFEST}; write one there")
    close = difflib.get_close_matches(slug, known, n=3) or known
    if not close:
        raise UnknownProblem(f"there are no problems in {root}; set JUDGE_PROBLEMS to their folder")
    raise UnknownProblem(f"there is no problem {slug!r} in {root}; known: {', '.join(close)}")


def load_problem(folder: Path) -> Problem:
    """Read and validate a problem folder; raises `ProblemError` with everything found wrong."""
    return parse_problem(folder, read_contents(folder))


def parse_problem(folder: Path, contents: Mapping[str, bytes]) -> Problem:
    """Validate what a problem folder contains, without looking at the folder itself.

    Raises `ProblemError` with everything found wrong; `folder` is what its messages name.
    """
    manifest_source = parse_file(folder, contents, MANIFEST)
    mutants_source = parse_file(folder, contents, MUTANTS)
    manifest = validate(Manifest, folder / MANIFEST, manifest_source)
    mutants = validate(MutantList, folder / MUTANTS, mutants_source)
    if isinstance(manifest, list) or isinstance(mutants, list):
        raise ProblemError([*_faults(manifest), *_faults(mutants)])
    inspection = Inspection(folder, contents, manifest, manifest_source, mutants, mutants_source)
    faults = list(inspection.faults())
    if faults:
        raise ProblemError(faults)
    return Problem(folder, manifest, mutants.mutants, contents, mutants.equivalent)


def content_hash(contents: Mapping[str, bytes]) -> str:
    """SHA-256 over names and bytes, each preceded by its length so that none can pass for two."""
    digest = hashlib.sha256()
    for name in sorted(contents):
        for part in (name.encode(), contents[name]):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _faults(validated: Record | list[Fault]) -> list[Fault]:
    return validated if isinstance(validated, list) else []
