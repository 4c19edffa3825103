"""Reading a problem's folder, and what it takes from its neighbours.

Packages of the bank, and solutions that the problem builds on, are read into its own contents,
below `PACKAGES` and `NEEDS`, so that a version is complete by itself. A manifest is only glanced at
here; whoever validates it says what is wrong.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from judge.inspection import MANIFEST, NEEDS, PACKAGES, REFERENCE
from judge.manifest import Fault, ProblemError


def read_contents(folder: Path) -> dict[str, bytes]:
    """Every file of the folder by relative path, but for hidden ones and Python's caches.

    With them, under `PACKAGES` and `NEEDS`, what it takes from its neighbours: so that one snapshot
    is all that judging needs. Raises `ProblemError` with every file that cannot be read.
    """
    contents = _read_tree(folder)
    manifest = _glance(contents.get(MANIFEST, b""))
    for name in _names(manifest.get("packages")):
        files = _read_tree(folder.parent / PACKAGES / name)
        python = (each for each in files.items() if each[0].endswith(".py"))
        contents |= {f"{PACKAGES}/{name}/{path}": source for path, source in python}
    return contents | dict(_needed(folder.parent, manifest, set()))


def _read_tree(folder: Path) -> dict[str, bytes]:
    """Every file in a folder by relative path. Raises `ProblemError`.

    A folder may be from somebody else, and is shown, packed and sent on: a link in it may not fetch
    what is no exercise.
    """
    contents: dict[str, bytes] = {}
    faults: list[Fault] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        try:
            if not _counts(name) or not path.is_file():
                continue
            if path.is_symlink() and not _is_ours(path, folder):
                message = "a link that leads out of the folder of all exercises"
                faults.append(Fault(path, 1, message, "put the file itself there"))
            else:
                contents[name.as_posix()] = path.read_bytes()
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or type(error).__name__}"
            faults.append(Fault(path, 1, message, "make it readable, or move it elsewhere"))
    if faults:
        raise ProblemError(faults)
    return contents


def _is_ours(path: Path, folder: Path) -> bool:
    """Whether a link leads to a file in the folder or beside it; the folder itself may be one."""
    target, own = path.resolve(), folder.resolve()
    if target.is_relative_to(own):
        return True
    return any(
        target.is_relative_to(around) and _counts(target.relative_to(around))
        for around in (own.parent, folder.parent.resolve())
    )


def _counts(name: Path) -> bool:
    return not any(part.startswith(".") or part == "__pycache__" for part in name.parts)


def _needed(
    root: Path, manifest: Mapping[str, object], seen: set[str]
) -> Iterator[tuple[str, bytes]]:
    """The references of needed exercises that are modules, also of those that they need.

    As ``needs/<slug>/<path in a package>``.
    """
    for slug in _names(manifest.get("needs")):
        if slug in seen:
            continue
        seen.add(slug)
        try:
            needed = _glance((root / slug / MANIFEST).read_bytes())
            reference = (root / slug / REFERENCE).read_bytes()
        except OSError:  # there is no such exercise, or it is not complete: said elsewhere
            continue
        if (module := _module(needed)) is not None:
            yield f"{NEEDS}/{slug}/{module.replace('.', '/')}.py", reference
        yield from _needed(root, needed, seen)


def _module(manifest: Mapping[str, object]) -> str | None:
    """The dotted name of the first file, if it has one."""
    files = manifest.get("files")
    first = files[0] if isinstance(files, list) and files else None
    module = first.get("module") if isinstance(first, dict) else None
    return module if isinstance(module, str) else None


def _names(value: object) -> list[str]:
    """The plain names in a list of names: none that would lead out of a folder."""
    names = value if isinstance(value, list) else []
    return [name for name in names if isinstance(name, str) and Path(name).name == name]


def _glance(manifest: bytes) -> dict[str, object]:
    try:
        return tomllib.loads(manifest.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}
