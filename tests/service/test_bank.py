from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from judge.problem import Problem
from judge.service.bank import Bank, Track
from tests.service.chapters import write_chapters
from tests.small_problem import MANIFEST, write_problem


class Published:
    """Stands in for the store: keeps what is published, or refuses it."""

    def __init__(self) -> None:
        self.versions: list[str] = []
        self.is_away = False
        self.done = asyncio.Event()

    async def __call__(self, problems: Sequence[Problem]) -> None:
        if self.is_away:
            raise ConnectionError("the database is away")
        self.versions += [problem.version for problem in problems]
        self.done.set()


def refresh(bank: Bank) -> None:
    asyncio.run(bank.refresh())


def opened(root: Path) -> Bank:
    bank = Bank(root, Published())
    refresh(bank)
    return bank


def shown(bank: Bank) -> Problem:
    problem = bank.current("double")
    assert problem is not None
    return problem


def test_a_problem_is_there_by_its_slug_and_published(tmp_path: Path) -> None:
    write_problem(tmp_path)
    published = Published()
    bank = Bank(tmp_path, published)
    assert bank.current("double") is None
    refresh(bank)
    assert published.versions == [shown(bank).version]
    assert bank.current("../double") is None


def test_a_changed_file_is_another_version(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    published = Published()
    bank = Bank(tmp_path, published)
    refresh(bank)
    before = shown(bank)
    (folder / "statement.md").write_text("# Doubling, again\n")
    refresh(bank)
    assert shown(bank).version != before.version
    assert published.versions == [before.version, shown(bank).version]


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path) -> None:
    write_problem(tmp_path)
    bank = opened(tmp_path)
    before = shown(bank)
    refresh(bank)
    assert shown(bank) is before


def test_a_folder_that_breaks_keeps_its_last_good_version_and_says_so(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    bank = opened(tmp_path)
    before = shown(bank)
    (folder / "problem.toml").write_text(MANIFEST.replace("number = 7", "number = 'x'"))
    for _ in range(2):
        refresh(bank)
        assert shown(bank) is before
        (broken,) = bank.broken()
        assert broken.slug == "double"
        assert "number" in broken.faults[0].message
    (folder / "problem.toml").write_text(MANIFEST)
    refresh(bank)
    assert bank.broken() == []


def test_a_broken_folder_does_not_take_the_others_down(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "problem.toml").write_text("id = ")
    bank = opened(tmp_path)
    assert [problem.slug for problem in bank.all()] == ["double"]
    assert [broken.slug for broken in bank.broken()] == ["other"]


def test_a_removed_folder_is_gone(tmp_path: Path) -> None:
    shutil.rmtree(write_problem(tmp_path))
    bank = opened(tmp_path)
    write_problem(tmp_path)
    refresh(bank)
    shutil.rmtree(tmp_path / "double")
    refresh(bank)
    assert bank.all() == []


def test_what_cannot_be_published_is_not_shown_and_tried_again(tmp_path: Path) -> None:
    write_problem(tmp_path)
    published = Published()
    published.is_away = True
    bank = Bank(tmp_path, published)
    with pytest.raises(ConnectionError):
        refresh(bank)
    assert bank.current("double") is None
    published.is_away = False
    refresh(bank)
    assert shown(bank).version in published.versions


def test_watching_survives_what_publishing_raises(tmp_path: Path) -> None:
    async def run() -> None:
        stop = asyncio.Event()
        published = Published()
        published.is_away = True
        bank = Bank(tmp_path, published)
        write_problem(tmp_path)
        watching = asyncio.create_task(bank.watch(stop))
        await asyncio.sleep(0.2)
        published.is_away = False
        await asyncio.wait_for(published.done.wait(), 5)
        stop.set()
        await watching
        assert bank.current("double") is not None

    asyncio.run(run())


def write_needing(root: Path, slug: str, *needs: str) -> None:
    """The small problem under another name, with needs."""
    folder = root / slug
    shutil.copytree(write_problem(root / "new"), folder, dirs_exist_ok=True)
    shutil.rmtree(root / "new")
    manifest = MANIFEST.replace('id = "double"', f'id = "{slug}"')
    names = ", ".join(f'"{need}"' for need in needs)
    tags = 'tags = ["torch"]\n'
    assert tags in manifest
    (folder / "problem.toml").write_text(manifest.replace(tags, f"{tags}needs = [{names}]\n"))


def faults_of(bank: Bank) -> dict[str, str]:
    return {broken.slug: str(broken.faults[0]) for broken in bank.broken()}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("double/problem.toml", 'module = "pack.double"\n', ""),
        ("double/reference.py", "2 * x", "x + x"),
        ("packages/pack/given.py", "str(x)", "repr(x)"),
    ],
)
def test_a_problem_is_another_version_when_what_it_stands_on_changes(
    tmp_path: Path, name: str, old: str, new: str
) -> None:
    write_chapters(tmp_path)
    bank = opened(tmp_path)
    before = bank.current("quadruple")
    file = tmp_path / name
    file.write_text(file.read_text().replace(old, new))
    refresh(bank)
    after = bank.current("quadruple")
    assert before is not None
    assert after is not None
    assert before.version != after.version


def test_needs_are_known_both_ways(tmp_path: Path) -> None:
    write_needing(tmp_path, "one")
    write_needing(tmp_path, "two", "one")
    write_needing(tmp_path, "three", "one", "two")
    bank = opened(tmp_path)
    known = {each.slug: (bank.needs(each), bank.used_by(each)) for each in bank.all()}
    assert known == {
        "one": ([], ["three", "two"]), "two": (["one"], ["three"]), "three": (["one", "two"], []),
    }  # fmt: skip


def test_a_need_that_is_no_exercise_is_a_fault_until_it_is_one(tmp_path: Path) -> None:
    write_needing(tmp_path, "two", "one")
    bank = opened(tmp_path)
    assert bank.all() == []
    assert str(tmp_path / "two" / "problem.toml:7: ") in faults_of(bank)["two"]
    assert "'one', which is no exercise" in faults_of(bank)["two"]
    write_needing(tmp_path, "one")
    refresh(bank)
    assert [each.slug for each in bank.all()] == ["one", "two"]
    assert bank.broken() == []


def test_needs_in_a_circle_are_a_fault_of_each_in_it(tmp_path: Path) -> None:
    write_needing(tmp_path, "one")
    write_needing(tmp_path, "two", "one")
    write_needing(tmp_path, "three", "two")
    bank = opened(tmp_path)
    before = bank.current("one")
    write_needing(tmp_path, "one", "two")
    refresh(bank)
    assert set(faults_of(bank)) == {"one", "two"}
    assert "one -> two -> one" in faults_of(bank)["one"]
    assert bank.current("one") is before
    write_needing(tmp_path, "one", "one")
    refresh(bank)
    assert set(faults_of(bank)) == {"one"}
    assert "one -> one" in faults_of(bank)["one"]


def test_needing_an_exercise_that_is_broken_is_no_fault(tmp_path: Path) -> None:
    write_needing(tmp_path, "two", "one")
    write_needing(tmp_path, "one")
    (tmp_path / "one" / "problem.toml").write_text("id = ")
    bank = opened(tmp_path)
    assert set(faults_of(bank)) == {"one"}
    (two,) = bank.all()
    assert bank.needs(two) == []


def test_tracks_have_their_order_and_unknown_ones_their_id(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "tracks.toml").write_text(
        '[[tracks]]\nid = "scratch"\ntitle = "From scratch"\nsummary = "By hand."\n'
    )
    bank = opened(tmp_path)
    scratch = Track(id="scratch", title="From scratch", summary="By hand.")
    assert bank.tracks() == [scratch, Track(id="papers", title="papers")]
    assert bank.track("papers").title == "papers"


def test_tracks_that_cannot_be_read_stay_as_they_were(tmp_path: Path) -> None:
    write_problem(tmp_path)
    tracks = tmp_path / "tracks.toml"
    tracks.write_text('[[tracks]]\nid = "papers"\ntitle = "Papers"\n')
    bank = opened(tmp_path)
    tracks.write_text('[[tracks]]\nid = "papers"\nname = "?"\n')
    for _ in range(2):
        refresh(bank)
        assert bank.track("papers").title == "Papers"
        assert [broken.slug for broken in bank.broken()] == ["tracks.toml"]
