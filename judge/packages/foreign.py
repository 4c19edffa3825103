"""The beginning of an exercise, from a package that was not made here.

A package feeds files to programs, an exercise calls functions: what a solution is to define, and
how its answers are checked, stands nowhere in a package. So a folder is begun that does not load
yet, with everything that could be taken, and `Begun.left` says what is left to do. Nothing in it
looks finished that is not: the checks that are written fail for everybody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from judge.inspection import ACCEPTED, MANIFEST, REFERENCE, REJECTED, STATEMENT
from judge.packages.archive import Package
from judge.packages.metadata import Metadata, read_metadata
from judge.results import Limits
from sandbox.text import one_line

DEFAULTS = Limits(
    wall_s=10.0, cpu_s=10.0, memory_bytes=512 << 20, output_bytes=1 << 20, source_bytes=64 << 10
)
ENTRY_POINT = "solve"  # until its author finds a better name
TRACK = "imported"
SAMPLES = "samples"
WRONG_FOLDERS = (
    "wrong_answer",
    "run_time_error",
    "time_limit_exceeded",
    "rejected",
    "brute_force",
)
STATEMENT_FOLDERS = ("statement", "problem_statement")
MAX_TEXT_BYTES = 256 << 10
MAX_SAMPLES = 10
MAX_SLUG = 80
MAX_NAMED = 8
_STATEMENT_NAME = re.compile(r"problem(?:\.([A-Za-z]{2,3}(?:-[A-Za-z]{2})?))?\.(md|tex|pdf)")
_CHECKS = '''\
"""Left by `judge import`. It fails for everybody, also for the reference, until it is written."""

from judge.checks import check


@check(kind="{kind}", why="Write here why this matters.")
def test_{name}(submission, rng):
    """Write here what should hold."""
    raise NotImplementedError("write this check")
'''
_STARTER = f"""\
# Left by `judge import`: what a solution begins with. Choose the name, and what it takes and gives.


def {ENTRY_POINT}():
    ...
"""


@dataclass(frozen=True)
class Begun:
    """A folder that was begun: its name, its files by path, and what is left to do in words."""

    slug: str
    files: Mapping[str, bytes]
    left: tuple[str, ...]


def begin(package: Package, slug: str) -> Begun:
    """Begin a folder of that name from a package. Raises `PackageError`."""
    return _Beginning(package, read_metadata(package), slug).begun()


def slug_of(package: Package) -> str:
    """What the package calls itself, as a slug. Raises `PackageError` when nothing is left."""
    slug = re.sub(r"[^a-z0-9]+", "-", package.name.lower()).strip("-")[:MAX_SLUG].rstrip("-")
    if not slug:
        raise package.error("it has no name that could be a folder's", "say one with --slug")
    return slug


@dataclass
class _Beginning:
    """One package on its way to a folder."""

    package: Package
    metadata: Metadata
    slug: str
    files: dict[str, bytes] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    def begun(self) -> Begun:
        self._kind()
        self._manifest()
        self._statement()
        self._samples()
        self._submissions()
        self._stubs()
        self._rest()
        return Begun(self.slug, self.files, tuple(self.left))

    def _write(self, name: str, text: str) -> None:
        self.files[name] = text.encode()

    def _kind(self) -> None:
        kinds = [kind for kind in self.metadata.types if kind != "pass-fail"]
        if kinds:
            self.left.append(
                f"It is of type {_list(kinds)}, which an exercise is not: decide what a right "
                "answer is."
            )
        self.left.append(
            "Its programs read standard input and write standard output; here, checks call "
            f"functions. Choose what a solution defines (`entry_points` in {MANIFEST} says "
            f"`{ENTRY_POINT}` for now), and turn the programs into such functions."
        )

    # --- problem.toml -----------------------------------------------------------------------------

    def _manifest(self) -> None:
        title = one_line(" ".join(self.metadata.title.split())) or self.slug
        self.left.append(
            f"{MANIFEST}: write the summary; choose `track` and `number`; name what each tier is "
            "about."
        )
        lines = [
            f"id = {_toml(self.slug)}",
            f"title = {_toml(title)}",
            f"track = {_toml(TRACK)}",
            "number = 0",
            f"summary = {_toml(f'Write here in one sentence what is asked in {title!r}.')}",
            f"tags = {_toml([one_line(tag) for tag in self.metadata.tags])}",
            f"sources = {_toml([one_line(line) for line in self.metadata.sources])}",
            f"entry_points = {_toml([ENTRY_POINT])}",
            "",
            *self._limits(),
            "",
            *_tier("T0", "Interface", "checks/test_t0_interface.py", requires=()),
            "",
            *_tier("T1", "Answers", "checks/test_t1_answers.py", requires=("T0",)),
            "",
            "[[files]]",
            'name = "solution.py"',
            'starter = "starter.py"',
        ]
        self._write(MANIFEST, "\n".join(lines) + "\n")

    def _limits(self) -> Iterator[str]:
        said = self.metadata.limits
        yield "[limits]"
        for key, value in (
            ("wall_s", said.time_limit),
            ("cpu_s", said.time_limit),
            ("memory_bytes", said.memory and said.memory << 20),
            ("output_bytes", said.output and said.output << 20),
            ("source_bytes", said.code and said.code << 10),
        ):
            yield f"{key} = {self._limit(key, value)}"
        if said.time_limit is None:
            self.left.append(
                f"It states no time limit: {DEFAULTS.wall_s:g} s are written. Measure the "
                "reference, and give a tier at least five times as long."
            )

    def _limit(self, key: str, said: float | None) -> float | int:
        """A limit within what the judge takes; the default where the package says nothing."""
        default: float | int = getattr(DEFAULTS, key)
        if said is None:
            return default
        lowest, highest = _bounds(key)
        taken = min(max(said, lowest), highest)
        if taken != said:
            self.left.append(
                f"{MANIFEST}: its {key} was {said:g}, which the judge does not take; {taken:g} is "
                "written."
            )
        return type(default)(taken)

    # --- texts ------------------------------------------------------------------------------------

    def _statement(self) -> None:
        found = self._statement_file()
        beside = [name for folder in STATEMENT_FOLDERS for name in self.package.below(folder)]
        if others := [name for name in beside if name != found]:
            self.left.append(f"Not taken beside the statement: {_list(others)}.")
        if found is None:
            self.left.append(f"{STATEMENT}: no statement in Markdown or LaTeX. Write it.")
            self._write(STATEMENT, "The package had no statement that could be taken.\n")
            return
        text = self.package.read_text(found, MAX_TEXT_BYTES)
        if found.endswith(".tex"):
            fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text) or ["`"]))
            text = f"{fence}latex\n{text.rstrip()}\n{fence}\n"
            self.left.append(f"{STATEMENT}: it is LaTeX, and stands there as code. Rewrite it.")
        else:
            self.left.append(
                f"{STATEMENT}: it speaks of input and output. Say what the function takes and "
                "gives; pictures and places for samples are not known here."
            )
        self._write(STATEMENT, text)

    def _statement_file(self) -> str | None:
        """The best statement: Markdown before LaTeX, English before the others."""
        ranked = []
        for folder in STATEMENT_FOLDERS:
            for name in self.package.below(folder):
                match = _STATEMENT_NAME.fullmatch(PurePosixPath(name).name)
                if match and match[2] != "pdf" and name.count("/") == 1:
                    ranked.append((match[2] != "md", match[1] not in ("en", None), name))
        return min(ranked)[2] if ranked else None

    def _samples(self) -> None:
        samples = self.package.below("data/sample")
        inputs = [name for name in samples if name.endswith(".in")]
        if others := [name for name in samples if not name.endswith((".in", ".ans"))]:
            self.left.append(f"Not taken of the samples: {_list(others)}.")
        for name in inputs[:MAX_SAMPLES]:
            for path in (name, f"{name.removesuffix('.in')}.ans"):
                if path in self.package:
                    kept = f"{SAMPLES}/{PurePosixPath(path).name}"
                    self._write(kept, self.package.read_text(path, MAX_TEXT_BYTES))
        if inputs:
            count = min(len(inputs), MAX_SAMPLES)
            self.left.append(
                f"{SAMPLES}/: {count} of {len(inputs)} samples are kept there. Make checks of "
                "them, then remove the folder."
            )

    # --- submissions ------------------------------------------------------------------------------

    def _submissions(self) -> None:
        accepted = self._programs("accepted")
        for number, (stem, source) in enumerate(accepted):
            self.files[f"{ACCEPTED}/{stem}.py" if number else REFERENCE] = source
        if not accepted:
            self.left.append(f"{REFERENCE}: no accepted program in one file of Python. Write it.")
        if len(accepted) < 4:
            self.left.append(
                f"{ACCEPTED}: {max(len(accepted) - 1, 0)} of the three other right ways, in "
                "different styles."
            )
        rejected = 0
        for folder in WRONG_FOLDERS:
            for stem, source in self._programs(folder):
                rejected += 1
                self.files[f"{REJECTED}/T1/{folder}_{stem}.py"] = source
        if rejected:
            self.left.append(
                f"{REJECTED}: {rejected} wrong programs, named for what the package expects of "
                "them. Move each to the tier that must reject it."
            )
        taken = ("accepted", *WRONG_FOLDERS)
        others = {PurePosixPath(name).parts[1] for name in self.package.below("submissions")}
        if unknown := sorted(others - {*taken, "submissions.yaml"}):
            self.left.append(
                f"Not taken, since it says neither right nor wrong: submissions/{_list(unknown)}."
            )

    def _programs(self, folder: str) -> list[tuple[str, bytes]]:
        """The programs that are one file of Python, by a name that can be a module's."""
        names = self.package.below(f"submissions/{folder}")
        taken = [name for name in names if name.endswith(".py") and name.count("/") == 2]
        if rest := [PurePosixPath(name).name for name in names if name not in taken]:
            self.left.append(
                f"Not taken from submissions/{folder}, not one file of Python each: {_list(rest)}."
            )
        found: dict[str, bytes] = {}
        for name in taken:
            stem = re.sub(r"\W", "_", PurePosixPath(name).stem, flags=re.ASCII)
            source = self.package.read_text(name, MAX_TEXT_BYTES).encode()
            while stem in found:
                stem += "_"
            found[stem] = source
        return list(found.items())

    # --- what no package has ----------------------------------------------------------------------

    def _stubs(self) -> None:
        self._write("starter.py", _STARTER)
        self._write("checks/test_t0_interface.py", _CHECKS.format(kind="interface", name="call"))
        self._write("checks/test_t1_answers.py", _CHECKS.format(kind="oracle", name="answers"))
        self.left += [
            "checks/: both files are stubs that fail for everybody. Write them.",
            "contract.pyi: what a solution defines, as stubs. Write it.",
            "mutants.toml: known mistakes, each as one edit of the reference. Write it.",
            "starter.py: what the editor opens with. Choose its names.",
        ]

    def _rest(self) -> None:
        read = ("data/sample/", "submissions/", *(f"{folder}/" for folder in STATEMENT_FOLDERS))
        known = ("problem.yaml", "README.md")
        rest = {
            name.partition("/")[0]
            for name in self.package.names
            if not name.startswith(read) and name not in known
        }
        if rest:
            self.left.append(f"Not taken, since it has no place here: {_list(sorted(rest))}.")
        if self.metadata.license:
            self.left.append(
                f"Its licence is {self.metadata.license!r}: see that you may use it, and name its "
                "authors in `sources`."
            )


def _bounds(key: str) -> tuple[float, float]:
    """The least and the most that the judge takes for a limit."""
    schema = Limits.model_json_schema()["properties"][key]
    return schema.get("minimum", 0.001), schema["maximum"]


def _tier(name: str, title: str, checks: str, requires: tuple[str, ...]) -> list[str]:
    return [
        "[[tiers]]",
        f"id = {_toml(name)}",
        f"title = {_toml(title)}",
        'about = "Write here what it is about."',
        f"checks = {_toml(checks)}",
        f"requires = {_toml(list(requires))}",
    ]


def _toml(value: str | list[str]) -> str:
    """A text or a list of texts: in TOML they are written as in JSON, all but one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(names: list[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
