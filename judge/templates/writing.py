"""Writing a new exercise: a copy of a template under the author's name."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from judge.inspection import MANIFEST

TEMPLATES = Path(__file__).parent
SUFFIX = ".tmpl"


class Template(StrEnum):
    """The kinds of exercise that there is a template of."""

    FUNCTION = "function"
    MODULE = "module"
    ARRAYS = "arrays"
    TESTS = "tests"

    @property
    def about(self) -> str:
        """What students write, in a few words."""
        return _ABOUT[self]


_ABOUT = {
    Template.FUNCTION: "a torch function, with gradients",
    Template.MODULE: "a torch module, with parameters",
    Template.ARRAYS: "a numpy function",
    Template.TESTS: "a numpy function and tests of it, which are graded",
}


@dataclass(frozen=True)
class Card:
    """What the author chose: the slug and the track are valid, the title is one printable line.

    `number` is its place in the track.
    """

    slug: str
    title: str
    track: str
    number: int = 1


def files_of(template: Template, card: Card) -> dict[str, bytes]:
    """The files of the exercise by relative path, with forward slashes, sorted."""
    root = TEMPLATES / template
    paths = sorted(root.rglob(f"*{SUFFIX}"))
    files = {
        path.relative_to(root).as_posix().removesuffix(SUFFIX): path.read_bytes() for path in paths
    }
    return {**files, MANIFEST: _filled(files[MANIFEST], card)}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make `folder` and write the files into it: all of them, or nothing. Raises OSError."""
    folder.mkdir(parents=True)
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _filled(manifest: bytes, card: Card) -> bytes:
    text = manifest.decode()
    for place, value in asdict(card).items():
        # What JSON writes for a printable text, or a number, is what TOML reads.
        text = text.replace(f'"{{{{{place}}}}}"', json.dumps(value, ensure_ascii=False))
    return text.encode()
