from __future__ import annotations

import os
from pathlib import Path

import pytest

from judge.problem import Problem, load_problem
from judge.sources import (
    UnreadableSources,
    left_out,
    read_all_sources,
    read_sources,
    read_tests,
    source_size,
)
from tests.small_problem import write_problem


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return load_problem(write_problem(tmp_path / "problems"))


def test_a_file_is_read_to_one_byte_above_the_limit(problem: Problem, tmp_path: Path) -> None:
    with (tmp_path / "huge.py").open("wb") as huge:
        huge.truncate(1 << 40)
    files = read_sources(tmp_path / "huge.py", problem)
    assert list(files) == ["solution.py"]
    assert source_size(files) == problem.limits.source_bytes + 1


def test_the_files_of_a_folder_are_bounded_together(problem: Problem, tmp_path: Path) -> None:
    names = ["a.py", "b.py", "c.py", "solution.py"]
    for name in names:
        (tmp_path / name).write_bytes(b"#" * 40_000)
    files = read_sources(tmp_path, problem)
    assert sorted(files) == names
    assert source_size(files) == problem.limits.source_bytes + 1


def test_a_folder_of_exactly_the_limit_is_read_whole(problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"#" * 1000)
    (tmp_path / "solution.py").write_bytes(b"#" * (problem.limits.source_bytes - 1000))
    assert source_size(read_sources(tmp_path, problem)) == problem.limits.source_bytes


def test_what_is_no_regular_file_is_refused_unopened(problem: Problem, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UnreadableSources, match=r": not a regular file\. Name a file"):
            read_sources(path, problem)


def test_what_a_folder_holds_besides_modules_is_left_out_and_named(
    problem: Problem, tmp_path: Path
) -> None:
    folder = tmp_path / "attempt"
    for name in ("inner", "odd.py", "__pycache__", ".git"):
        (folder / name).mkdir(parents=True)
    for name in ("solution.py", "more.py", "data.csv", ".hidden"):
        (folder / name).write_text("")
    assert sorted(read_sources(folder, problem)) == ["more.py", "solution.py"]
    assert left_out(folder) == ["data.csv", "inner/", "odd.py/"]
    assert left_out(folder / "solution.py") == []


def test_a_file_of_a_folder_that_cannot_be_read_is_named_itself(
    problem: Problem, tmp_path: Path
) -> None:
    (tmp_path / "solution.py").write_text("")
    (tmp_path / "more.py").symlink_to("/proc/self/mem")
    with pytest.raises(UnreadableSources, match=r"more.py: input/output error. Name a file"):
        read_sources(tmp_path, problem)


def test_all_refusals_are_told_together(problem: Problem, tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text("")
    paths = [tmp_path / "no.py", tmp_path / "right.py", tmp_path / "nor_this.py"]
    with pytest.raises(UnreadableSources) as caught:
        read_all_sources(paths, problem)
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == [
        str(paths[0]), str(paths[2])
    ]  # fmt: skip


def test_tests_have_their_place_wherever_they_were(problem: Problem, tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    for name in ("test_b.py", "test_a.py", "conftest.py"):
        (folder / name).write_bytes(name.encode())
    both = {f"tests/{name}": name.encode() for name in ("test_a.py", "test_b.py")}
    assert read_tests(folder, problem) == read_tests(tmp_path, problem) == both
    assert list(read_tests(folder / "test_a.py", problem)) == ["tests/test_a.py"]


def test_tests_are_bounded_together(problem: Problem, tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_bytes(b"#" * 40_000)
    assert source_size(read_tests(tmp_path, problem)) == problem.limits.source_bytes + 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own.py", "tests are called test_....py"),
        ("test_with-hyphen.py", "tests are called test_....py"),
        ("missing.py", "no such file"),
        ("empty", "no test_....py in this folder"),
        ("pipe", "not a regular file"),
    ],
)
def test_what_are_no_tests_is_refused_in_words(
    problem: Problem, tmp_path: Path, name: str, words: str
) -> None:
    for file in ("own.py", "test_with-hyphen.py"):
        (tmp_path / file).write_text("")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableSources, match=words) as refused:
        read_tests(tmp_path / name, problem)
    assert str(tmp_path / name) in str(refused.value)
