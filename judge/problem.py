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
    MANIFEST,
    MUTANTS,
    PROVIDED,
    REFERENCE,
    REJECTED,
    Inspection,
    sources_under,
)
from judge.manifest import (
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
from judge.results import Limits, Record


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

    `contents` maps each file's path inside the folder, with forward slashes, to its bytes.
    """

    folder: Path
    manifest: Manifest
    mutants: tuple[Mutant, ...]
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def slug(self) -> str:
        """The problem's name in addresses and commands; also the folder's name."""
        return self.manifest.id

    @property
    def limits(self) -> Limits:
        """What one submission may use."""
        return self.manifest.limits

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """The tiers, in the order they run."""
        return self.manifest.tiers

    @property
    def files(self) -> tuple[ProblemFile, ...]:
        """The files a student writes."""
        return self.manifest.files

    @property
    def file_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(file.name for file in self.files)

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
    inspection = Inspection(
        folder, contents, manifest, manifest_source, mutants.mutants, mutants_source
    )
    faults = list(inspection.faults())
    if faults:
        raise ProblemError(faults)
    return Problem(folder, manifest, mutants.mutants, contents)


def read_contents(folder: Path) -> dict[str, bytes]:
    """Every file of the folder by relative path, but for hidden ones and Python's caches.

    Raises `ProblemError` with every file that cannot be read.
    """
    contents: dict[str, bytes] = {}
    faults: list[Fault] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        try:
            if _counts(name) and path.is_file():
                contents[name.as_posix()] = path.read_bytes()
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or type(error).__name__}"
            faults.append(Fault(path, 1, message, "make it readable, or move it elsewhere"))
    if faults:
        raise ProblemError(faults)
    return contents


def content_hash(contents: Mapping[str, bytes]) -> str:
    """SHA-256 over names and bytes, each preceded by its length so that none can pass for two."""
    digest = hashlib.sha256()
    for name in sorted(contents):
        for part in (name.encode(), contents[name]):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _counts(name: Path) -> bool:
    return not any(part.startswith(".") or part == "__pycache__" for part in name.parts)


def _faults(validated: Record | list[Fault]) -> list[Fault]:
    return validated if isinstance(validated, list) else []
