"""The two TOML files of a problem folder: what they may say, and what to answer when they do not.

Every error is a `Fault` with file, line and what to do; an author never reads a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from judge.results import Limits, Record
from judge.toml_source import Location, TomlError, TomlSource

_SLUG = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_MODULE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*\.py$"
_RELATIVE_PATH = r"^[A-Za-z0-9_\-]+([./][A-Za-z0-9_\-]+)*$"
_IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$"
_TIER_ID = r"^[A-Z][A-Za-z0-9]*$"
FORMS = {
    _SLUG: "lower-case letters, digits and single hyphens",
    _MODULE_NAME: "a Python name followed by .py, such as solution.py",
    _RELATIVE_PATH: "a path inside the folder, such as checks/test_t0.py, of letters, digits, "
    "hyphens and underscores",
    _IDENTIFIER: "a Python name, or several joined by dots",
    _TIER_ID: "a capital letter followed by letters and digits, such as T0",
}

Slug = Annotated[str, Field(pattern=_SLUG, max_length=80)]
Sentence = Annotated[str, Field(min_length=1)]
ModuleName = Annotated[str, Field(pattern=_MODULE_NAME)]
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

    `visible` names the checks that a student may run without submitting; true means all.
    """

    id: Annotated[str, Field(pattern=_TIER_ID, max_length=16)]
    title: Sentence
    about: Sentence
    checks: RelativePath
    requires: tuple[str, ...] = ()
    visible: bool | tuple[str, ...] = False


class ProblemFile(Record):
    """One `[[files]]` entry: a file the student writes; `starter` is what the editor opens with.

    The first is what checks import, and what a single submitted file is taken for.
    """

    name: ModuleName
    role: Literal["solution"] = "solution"
    starter: RelativePath


class Mutant(Record):
    """One `[[mutants]]` entry: a named mistake, made by one edit of the reference.

    `symptom` is what the student sees, `hint` what helps. A `pitfall` is a mistake people really
    make; its hint is shown when a submission answers exactly as the mutant does. `tier` must
    reject it.
    """

    id: Slug
    title: Sentence
    find: Sentence
    replace: str
    symptom: Sentence
    hint: str = ""
    pitfall: bool
    tier: str

    def apply(self, reference: bytes) -> bytes:
        """The reference with the mistake made."""
        return reference.replace(self.find.encode(), self.replace.encode(), 1)


class Manifest(Record):
    """All of `problem.toml`. `needs` are the exercises that this one builds on, by slug."""

    id: Slug
    title: Sentence
    summary: Sentence
    track: Slug
    number: int = Field(ge=0)
    tags: tuple[str, ...] = ()
    needs: tuple[Slug, ...] = ()
    entry_points: tuple[Identifier, ...] = Field(min_length=1)
    provided_names: tuple[Identifier, ...] = ()
    hints: tuple[Sentence, ...] = ()
    limits: Limits
    sources: tuple[Sentence, ...] = ()
    tiers: tuple[Tier, ...] = Field(min_length=1)
    files: tuple[ProblemFile, ...] = Field(min_length=1)


class MutantList(Record):
    """All of `mutants.toml`."""

    mutants: tuple[Mutant, ...] = Field(min_length=1)


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
            return Fault(path, line, f"{where} has an unknown key `{name}`", _spelling(model, name))
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


def _spelling(model: type[Record], name: object) -> str:
    close = difflib.get_close_matches(str(name), _field_names(model), n=1)
    return f"remove it, or write `{close[0]}` if that was meant" if close else "remove it"


def _field_names(model: type[Record]) -> set[str]:
    """Names of all fields of a model and of the models inside it."""
    tables = (Limits, Tier, ProblemFile, Mutant)
    return set(model.model_fields).union(*(table.model_fields for table in tables))
