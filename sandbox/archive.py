"""Our packages as one zip archive: the code that travels into a box at its start.

The same sources give the same bytes, whatever their order on disk, their times or their owners, so
an archive can be compared and cached. Only sources travel: no bytecode, no data.
"""

from __future__ import annotations

import importlib.util
import io
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from sandbox.boxes import SandboxError

EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip archive can hold
READABLE = 0o444 << 16


@lru_cache(maxsize=8)
def archive(packages: tuple[str, ...]) -> bytes:
    """A zip of the sources of the named packages; raises `SandboxError`.

    Read once per process: every box a launcher makes runs the same code.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for package in sorted(packages):
            for name, path in _sources(package):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.external_attr = READABLE
                out.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _sources(package: str) -> Iterator[tuple[str, Path]]:
    root = _folder(package)
    place = PurePosixPath(*package.split("."))
    for parent, folder in zip(list(place.parents)[:-1], root.parents, strict=False):
        yield f"{parent}/__init__.py", folder / "__init__.py"
    for path in sorted(root.rglob("*.py")):
        yield str(place / path.relative_to(root).as_posix()), path


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SandboxError(f"the package {package!r} is not installed")
    return Path(next(iter(spec.submodule_search_locations)))
