"""The programs themselves: each states what must come of it, and says why."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from judge.verdicts import Verdict
from tests.hostile.cases import (
    FOLDER,
    GROUPS,
    BadStatement,
    Expectation,
    all_cases,
    parse_statement,
)

FILES = sorted(path for group in GROUPS for path in (FOLDER / group).glob("*.py"))


def test_a_statement_is_read_with_all_its_keys() -> None:
    line = (
        "# verdict: RE, MLE; message: can't: start; tier: T2; output: a b; runs: 2; needs: nested"
    )
    assert parse_statement(line) == Expectation(
        frozenset({Verdict.RE, Verdict.MLE}), "can't: start", "T2", "a b", 2, "nested"
    )


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("import os", id="none"),
        pytest.param("# verdict:", id="empty"),
        pytest.param("# verdict: OK", id="unknown verdict"),
        pytest.param("# verdict: RE; because: I say so", id="unknown key"),
        pytest.param("# verdict: RE; runs: often", id="not a number"),
    ],
)
def test_a_bad_statement_is_refused(line: str) -> None:
    with pytest.raises(BadStatement):
        parse_statement(line)


def test_no_program_may_be_judged_our_fault_or_not_at_all() -> None:
    for case in all_cases():
        assert not case.expected.verdicts & {Verdict.JE, Verdict.SK}, case.id


def test_names_are_unique() -> None:
    twice = [name for name, count in Counter(c.id for c in all_cases()).items() if count > 1]
    assert not twice


def test_every_group_has_programs_and_no_folder_is_forgotten() -> None:
    assert {case.group for case in all_cases()} == set(GROUPS)
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert {name for name in folders if not name.startswith((".", "_"))} == set(GROUPS)


def test_every_program_says_what_it_attempts() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert path.suffix == ".py"
        assert text.split("\n")[1].startswith('"""'), path


def test_every_program_is_python_unless_that_is_its_point() -> None:
    for path in FILES:
        if path.parent.name != "source":
            tree = ast.parse(path.read_bytes(), path.name)
            assert ast.get_docstring(tree), path
