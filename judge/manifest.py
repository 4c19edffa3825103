"""The two TOML files of a problem folder: what they may say, and what to answer when they do not.

Every error is a `Fault` with file, line and what to do; an author never reads a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from judge.results import Limits, Record
from judge.toml_source import Location, TomlError, TomlSource

_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_RELATIVE_PATH = r"^[A-Za-z0-9_\-]+([./][A-Za-z0-9_\-]+)*$"
_IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
_TIER_ID = r"^[A-Z][A-Za-z0-9]*$"
_SOURCE_NAME = r"^(tests/test_[A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_]*)\.py$"
_DOTTED = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$"
_CHECK_ID = r"^[A-Za-z_][A-Za-z0-9_]*::[A-Za-z_][A-Za-z0-9_]*$"
FORMS = {
    _SLUG: "lower-case letters, digits and single hyphens",
    _SOURCE_NAME: "a Python name followed by .py, such as solution.py, or tests/test_own.py",
    _DOTTED: "the module and the name, joined by dots, such as torch.nn.MultiheadAttention",
    _CHECK_ID: "a file of checks without .py, two colons and a function: test_t1_oracle::test_sum",
    _RELATIVE_PATH: "a path inside the folder, such as checks/test_t0.py, of letters, digits, "
    "hyphens and underscores",
    _IDENTIFIER: "a Python name, or several joined by dots",
    _TIER_ID: "a capital letter followed by letters and digits, such as T0",
}

Slug = Annotated[str, Field(pattern=_SLUG, max_length=80)]
Sentence = Annotated[str, Field(min_length=1)]
SourceName = Annotated[str, Field(pattern=_SOURCE_NAME, max_length=120)]
CheckId = Annotated[str, Field(pattern=_CHECK_ID)]
RelativePath = Annotated[str, Field(pattern=_RELATIVE_PATH)]
Identifier = Annotated[str, Field(pattern=_IDENTIFIER)]
Model = TypeVar("Model", bound=Record)


# --- errors -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a problem: where it is, what it is and what to do about it."""

    file: Path
    line: int
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}\n    {self.remedy}"


class ProblemError(Exception):
    """A problem folder is not valid. `faults` holds everything that was found, at least one."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


# --- what the files of a folder say ---------------------------------------------------------------


class Tier(Record):
    """One `[[tiers]]` entry: a file of checks, run when the tiers in `requires` are accepted.

    `visible` names the checks that a student may run without submitting; true means all. What an
    `advisory` tier finds is shown, and counts for nothing.
    """

    id: Annotated[str, Field(pattern=_TIER_ID, max_length=16)]
    title: Sentence
    about: Sentence
    checks: RelativePath
    requires: tuple[str, ...] = ()
    visible: bool | tuple[str, ...] = False
    advisory: bool = False


class ProblemFile(Record):
    """One `[[files]]` entry: a file the student writes; `starter` is what the editor opens with.

    The first is what checks import, and what a single submitted file is taken for; it may be
    imported by a dotted name, `module`, inside one of the `packages`. A file of role tests holds
    the student's own tests; more of them may be added beside it.
    """

    name: SourceName
    role: Literal["solution", "tests"] = "solution"
    module: Identifier | None = None
    starter: RelativePath


class ForbiddenName(Record):
    """One `[[forbidden]]` entry: what a submission may not use, and the sentence that says so.

    `name` is the dotted name of a Python function, of a class, or of an operator of torch.
    """

    name: Annotated[str, Field(pattern=_DOTTED, max_length=200)]
    rule: Sentence


class OwnTests(Record):
    """`[tests]`: how a student's own tests are graded.

    They may import `imports` only. `threshold` is the share of the graded mutants that they must
    kill, `must_kill` those they may not miss (by default all graded pitfalls). `wall_s` is the
    time for all tests on one implementation.
    """

    imports: tuple[Identifier, ...]
    threshold: float = Field(gt=0, le=1)
    must_kill: tuple[Slug, ...] | None = None
    wall_s: float = Field(default=10.0, gt=0, le=120)


class Course(Record):
    """`[course]`: the card of a chapter. `passes` is the pass through the course it belongs to.

    `assumes` and `used_by` name, in words, chapters that are no exercises here.
    """

    module: Sentence
    kind: Sentence
    language: Sentence = "Python"
    passes: int = Field(alias="pass", ge=0)
    hours: Sentence
    rung: Sentence
    builds: Sentence
    contract: Sentence
    course_tests: Sentence
    own_tests: str = ""
    milestone: str = ""
    assumes: tuple[Sentence, ...] = ()
    used_by: tuple[Sentence, ...] = ()
    later: tuple[Sentence, ...] = ()


class Takeaway(Record):
    """One `[[takeaways]]` entry: what stays, and the checks that show it."""

    text: Sentence
    checks: tuple[CheckId, ...] = ()


class Example(Record):
    """One `[[examples]]` entry: lines that can be run after the student's file, and what they say.

    `reasoning` tells why, in Markdown.
    """

    title: Sentence
    code: Sentence
    output: Sentence
    reasoning: str = ""


class Mutant(Record):
    """One `[[mutants]]` entry: a named mistake, made by one edit of the reference.

    `symptom` is what the student sees, `hint` what helps. A `pitfall` is a mistake people really
    make; its hint is shown when a submission answers exactly as the mutant does. `tier` must
    reject it. Students' own tests are graded by the mutants that are `graded`.
    """

    id: Slug
    title: Sentence
    find: Sentence
    replace: str
    symptom: Sentence
    hint: str = ""
    pitfall: bool
    graded: bool = False
    tier: str

    def apply(self, reference: bytes) -> bytes:
        """The reference with the mistake made."""
        return reference.replace(self.find.encode(), self.replace.encode(), 1)


class Equivalent(Record):
    """One `[[equivalent]]` entry: a change of the reference that no check can notice, and why.

    `line` is the line of the reference, or several, and `becomes` what a machine makes of it;
    white space around them does not count.
    """

    line: Sentence
    becomes: Sentence
    reason: Sentence


class Manifest(Record):
    """All of `problem.toml`.

    `needs` are the exercises that this one builds on, by slug. `packages` are folders in
    `problems/packages` that submissions can import. `dtypes` are those that a right solution works
    in; checks have to compare numbers of each.
    """

    id: Slug
    title: Sentence
    summary: Sentence
    track: Slug
    number: int = Field(ge=0)
    tags: tuple[str, ...] = ()
    needs: tuple[Slug, ...] = ()
    packages: tuple[Identifier, ...] = ()
    entry_points: tuple[Identifier, ...] = Field(min_length=1)
    dtypes: tuple[Literal["float16", "bfloat16", "float32", "float64"], ...] = ()
    provided_names: tuple[Identifier, ...] = ()
    hints: tuple[Sentence, ...] = ()
    limits: Limits
    sources: tuple[Sentence, ...] = ()
    tiers: tuple[Tier, ...] = Field(min_length=1)
    files: tuple[ProblemFile, ...] = Field(min_length=1)
    forbidden: tuple[ForbiddenName, ...] = ()
    tests: OwnTests | None = None
    course: Course | None = None
    takeaways: tuple[Takeaway, ...] = ()
    examples: tuple[Example, ...] = ()


class MutantList(Record):
    """All of `mutants.toml`."""

    mutants: tuple[Mutant, ...] = Field(min_length=1)
    equivalent: tuple[Equivalent, ...] = ()


# --- reading them ---------------------------------------------------------------------------------


def parse_file(folder: Path, contents: Mapping[str, bytes], name: str) -> TomlSource:
    """The file `name` as TOML; raises `ProblemError`."""
    path = folder / name
    if name not in contents:
        raise ProblemError([Fault(path, 1, "the file is missing", f"write {name}")])
    try:
        return TomlSource.parse(contents[name].decode())
    except TomlError as error:
        remedy = "correct the TOML syntax on this line"
        raise ProblemError([Fault(path, error.line, error.message, remedy)]) from None
    except UnicodeDecodeError as error:
        line = contents[name].count(b"\n", 0, error.start) + 1
        raise ProblemError([Fault(path, line, "not UTF-8 text", "save it as UTF-8")]) from None


def validate(model: type[Model], path: Path, source: TomlSource) -> Model | list[Fault]:
    """`source`, read from `path`, as a `model`, or everything that keeps it from being one."""
    try:
        return model.model_validate(source.tree)
    except ValidationError as error:
        errors = error.errors()
        return [
            _schema_fault(model, path, source, each)
            for each in errors
            if not any(_is_inside(other, each) for other in errors)
        ]


def _is_inside(error: ErrorDetails, table: ErrorDetails) -> bool:
    """Whether `error` is why `table` is wrong: a list is too short without the items refused."""
    return error is not table and error["loc"][: len(table["loc"])] == table["loc"]


# --- words for pydantic's errors --------------------------------------------------------------


def _schema_fault(
    model: type[Record], path: Path, source: TomlSource, error: ErrorDetails
) -> Fault:
    location = error["loc"]
    name, where = location[-1] if location else "", _where(location)
    line = source.line_of(location)
    match error["type"]:
        case "missing":
            return Fault(path, line, f"{where} has no `{name}`", f"add a line `{name} = ...`")
        case "extra_forbidden":
            return Fault(
                path,
                line,
                f"{where} has an unknown key `{name}`",
                _spelling(_table(model, location), name),
            )
        case "string_pattern_mismatch":
            found = str(error["input"])
            message = f"`{name}` in {where} is {found!r}, which has a form that is not allowed"
            return Fault(path, line, message, f"write {FORMS[error['ctx']['pattern']]}")
        case _:
            message = f"`{name}` in {where}: {error['msg'][0].lower()}{error['msg'][1:]}"
            return Fault(path, line, message, f"change the value of `{name}`")


def _where(location: Location) -> str:
    """The table a location is in, as an author would call it: "[[tiers]] number 2"."""
    table = location[:-1]
    match table:
        case ():
            return "the file"
        case (str(name), int(index), *_):
            return f"[[{name}]] number {index + 1}"
        case _:
            return f"[{'.'.join(str(part) for part in table)}]"


def _table(model: type[Record], location: Location) -> type[Record]:
    """The model of the table that a location is in."""
    for part in location[:-1]:
        if isinstance(part, str) and part in model.model_fields:
            model = _record_in(model.model_fields[part].annotation) or model
    return model


def _record_in(annotation: object) -> type[Record] | None:
    """The model in an annotation, such as `Tier` in ``tuple[Tier, ...]``."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next((found for each in get_args(annotation) if (found := _record_in(each))), None)


def _spelling(model: type[Record], name: object) -> str:
    names = [field.alias or name for name, field in model.model_fields.items()]
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"remove it, or write `{close[0]}` if that was meant" if close else "remove it"
