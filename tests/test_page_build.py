"""When the page is built, and when it is not: a small page in a checkout of its own, real npm."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "build_page.py"
BUILD = """\
import { appendFileSync, cpSync, mkdirSync } from "node:fs";
mkdirSync("dist", { recursive: true });
cpSync("index.html", "dist/index.html");
appendFileSync("builds", "x");
"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """The page's folder; its build counts how often it ran in the hidden file `.builds`."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    web = tmp_path / "web"
    web.mkdir()
    package = {"name": "small", "version": "1.0.0"}
    (web / "package.json").write_text(json.dumps(package | {"scripts": {"build": "node make.mjs"}}))
    lock = package | {"lockfileVersion": 3, "requires": True, "packages": {"": package}}
    (web / "package-lock.json").write_text(json.dumps(lock))
    (web / "make.mjs").write_text(BUILD.replace('"builds"', '".builds"'))
    (web / "index.html").write_text("one")
    (web / "node_modules").mkdir()
    return web


def build(web: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(web.parent / "scripts" / SCRIPT.name), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def builds(web: Path) -> int:
    return len((web / ".builds").read_text())


def test_the_page_is_built_once_for_its_sources(web: Path) -> None:
    for _ in range(2):
        done = build(web)
        assert done.returncode == 0, done.stderr
    assert builds(web) == 1
    (web / "index.html").write_text("two")
    assert build(web).returncode == 0
    assert builds(web) == 2
    assert (web / "dist" / "index.html").read_text() == "two"


def test_a_page_that_came_without_its_sources_is_taken_as_it_is(web: Path) -> None:
    assert build(web).returncode == 0
    for path in (web / "package.json", web / "package-lock.json", web / "index.html"):
        path.unlink()
    assert build(web).returncode == 0
    assert builds(web) == 1


def test_a_build_that_fails_says_so_and_counts_as_none(web: Path) -> None:
    (web / "make.mjs").write_text("throw new Error('broken on purpose');\n")
    done = build(web)
    assert done.returncode == 1
    assert "broken on purpose" in done.stdout + done.stderr
    assert "The page was not built" in done.stderr
    (web / "make.mjs").write_text(BUILD.replace('"builds"', '".builds"'))
    assert build(web).returncode == 0


def test_packages_that_cannot_be_had_are_explained(web: Path) -> None:
    package = json.loads((web / "package.json").read_text())
    package["dependencies"] = {"left-out": "1.0.0"}  # the lock does not know it
    (web / "package.json").write_text(json.dumps(package))
    done = build(web)
    assert done.returncode == 1
    assert "npm_config_registry" in done.stderr


def test_npm_runs_in_the_folder_of_the_page(web: Path) -> None:
    done = build(web, "npm", "run", "build")
    assert done.returncode == 0, done.stderr
    assert builds(web) == 1
