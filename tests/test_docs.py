from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from judge.cli import app
from judge.manifest import (
    Course,
    Equivalent,
    Example,
    ForbiddenName,
    Manifest,
    Mutant,
    OwnTests,
    ProblemFile,
    Takeaway,
    Tier,
)
from judge.results import Limits, Record
from judge.settings import Settings

ROOT = Path(__file__).parent.parent
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
AUTHORING = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command as it is typed, with its long options."""
    waiting = [("judge", get_command(app))]
    while waiting:
        name, command = waiting.pop()
        children = getattr(command, "commands", {})
        waiting += [(f"{name} {child}", children[child]) for child in children]
        if not children:
            options = [option for each in command.params for option in each.opts]
            yield name, [option for option in options if option.startswith("--")]


def test_every_setting_is_documented() -> None:
    documented = set(re.findall(r"^\| `(JUDGE_\w+)`", OPERATING, re.MULTILINE))
    assert documented == {f"JUDGE_{name.upper()}" for name in Settings.model_fields}


def test_every_command_and_option_is_in_the_readme() -> None:
    for command, options in commands():
        line = next((line for line in README.splitlines() if f"`{command}" in line), "")
        assert line, f"{command} is not in README.md"
        missing = [option for option in options if option not in line and option != "--help"]
        assert not missing, f"{command}: {missing} not in README.md"


MODELS = [
    *(Manifest, Mutant, Equivalent, Tier, ProblemFile, Limits),
    *(ForbiddenName, OwnTests, Course, Takeaway, Example),
]


@pytest.mark.parametrize("model", MODELS)
def test_every_key_of_a_problem_is_in_the_authors_guide(model: type[Record]) -> None:
    words = set(re.findall(r"\w+", AUTHORING))
    keys = {field.alias or name for name, field in model.model_fields.items()}
    assert keys <= words


def test_every_file_the_documents_point_to_exists() -> None:
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("web/*.md")]
    for document in documents:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
    for path in re.findall(r"`((?:judge|sandbox|docs|problems)/[\w./]+)`", README):
        assert (ROOT / path).exists(), f"README.md: {path}"


def test_make_lists_every_target_by_default() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", text, re.MULTILINE)
    make = ["make", "--no-print-directory"]  # which it does inside another make
    listed = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line.split()[1] for line in listed.splitlines()] == targets
