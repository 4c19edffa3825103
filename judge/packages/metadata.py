"""`problem.yaml`: what a package says of itself.

Every scalar is read as text, and turned into what the record wants: so `name: yes` is a name, and
no date, number or object is made that nobody asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import ConfigDict, Field, ValidationError

from judge.packages.archive import METADATA, Package
from judge.results import Record
from sandbox.text import one_line

FORMAT = "2025-09"
MAX_YAML_BYTES = 64 << 10
MAX_DEPTH = 16
MAX_NUMBER = 10**15  # far beyond any limit, and still a number that can be shown
_ABSENT = ("", "~", "null")


class Unbound(Record):
    """A part of which other keys may be there, and mean nothing here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PackageLimits(Unbound):
    """`limits`: seconds, MiB and KiB, as the format has them."""

    time_limit: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    memory: int | None = Field(default=None, gt=0, lt=MAX_NUMBER)
    output: int | None = Field(default=None, gt=0, lt=MAX_NUMBER)
    code: int | None = Field(default=None, gt=0, lt=MAX_NUMBER)


class Metadata(Unbound):
    """The keys of `problem.yaml` that mean something here, in the order they are written."""

    problem_format_version: str = "legacy"
    type: str | list[str] = "pass-fail"
    name: str | dict[str, str] = ""
    uuid: str | None = None
    version: str | None = None
    source: list[Any] | dict[str, Any] | str | None = None
    license: str | None = None
    limits: PackageLimits = PackageLimits()
    keywords: list[str] | str | None = None
    languages: list[str] | str | None = None

    @property
    def title(self) -> str:
        """The name, in English where it has several; empty where it has none."""
        if isinstance(self.name, str):
            return self.name
        return self.name.get("en") or next(iter(self.name.values()), "")

    @property
    def tags(self) -> list[str]:
        """The keywords, which were one text with blanks in older versions."""
        words = self.keywords or []
        return words.split() if isinstance(words, str) else words

    @property
    def sources(self) -> list[str]:
        """Where it comes from, a line for each."""
        found = self.source if isinstance(self.source, list) else [self.source]
        return [line for each in found if (line := _source(each))]

    @property
    def types(self) -> tuple[str, ...]:
        """What type of problem it is."""
        return (self.type,) if isinstance(self.type, str) else tuple(self.type)


def _source(entry: object) -> str:
    match entry:
        case str(name):
            return name
        case {"name": str(name), "url": str(url)}:
            return f"{name}, {url}"
        case {"name": str(name)}:
            return name
        case _:
            return ""


def metadata_text(metadata: Metadata) -> str:
    """The file, without the keys that say nothing."""
    return str(
        yaml.safe_dump(
            metadata.model_dump(exclude_none=True), sort_keys=False, allow_unicode=True, width=100
        )
    )


def read_metadata(package: Package) -> Metadata:
    """What the package says of itself. Raises `PackageError`, with the line where it is known."""
    text = package.read_text(METADATA, MAX_YAML_BYTES)
    try:
        unwanted = next(_unwanted(text), None)
        # BaseLoader makes nothing but texts, lists and maps.
        tree = None if unwanted else yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise package.error(f"{METADATA}{_words(error)}", "correct the YAML") from None
    if unwanted:
        raise package.error(f"{METADATA}{unwanted}", "correct the YAML")
    if not isinstance(tree, dict):
        raise package.error(f"{METADATA}:1: not a map of keys to values", "write `name: ...`")
    try:
        return Metadata.model_validate(_present(tree))
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        key = one_line(".".join(str(part) for part in first["loc"]), 100)
        words = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
        raise package.error(f"`{key}` in {METADATA}: {words}", "correct it there") from None


def _unwanted(text: str) -> Iterator[str]:
    """What is YAML and yet not taken: both can make a small file larger than any machine."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            yield f"{_line(event)}: an alias (*), which is not taken: write it out"
        if depth > MAX_DEPTH:
            yield f"{_line(event)}: nested more than {MAX_DEPTH} deep"
            return


def _words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        where = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        return f"{where}: {one_line(error.problem or 'not YAML', 200)}"
    return f": {one_line(str(error), 200)}"


def _line(event: yaml.Event) -> str:
    return f":{event.start_mark.line + 1}" if event.start_mark else ""


def _present(tree: dict[Any, Any]) -> dict[str, Any]:
    """The keys that have a value, also inside."""
    return {
        str(key): _present(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if not (isinstance(value, str) and value in _ABSENT)
    }
