"""What a proof keeps, and what makes it ask again."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from judge.problem import Problem, load_problem
from judge.proof.cache import UNUSED_DAYS, FileCache, judging_key, rehearsal_key
from judge.results import Environment
from judge.settings import BadSetting
from tests.small_problem import FILES, write_problem

HERE = Environment(sandbox="bwrap", image="", torch="2.13.0", numpy="2.4.1")
KEY, ANSWER = b"key", b"answer"


def keys(problem: Problem, where: Environment = HERE) -> dict[str, bytes]:
    return {
        "submit": judging_key(problem, where, "submit"),
        "tests": judging_key(problem, where, "tests"),
        "rehearsal": rehearsal_key(problem, where),
    }


def changed_by(root: Path, name: str) -> set[str]:
    """The keys that another comment in the file `name` changes."""
    before = keys(load_problem(write_problem(root)))
    sign = "<!-- -->" if name.endswith(".md") else "# more"
    edited = {name.replace("/", "_").replace(".", "_"): f"{FILES[name]}{sign}\n"}
    after = keys(load_problem(write_problem(root, **edited)))
    return {kind for kind in before if before[kind] != after[kind]}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("checks/test_t1_oracle.py", {"submit", "tests", "rehearsal"}),
        ("reference.py", {"submit", "tests", "rehearsal"}),
        ("problem.toml", {"submit", "tests", "rehearsal"}),
        ("mutants.toml", {"submit", "tests"}),
        ("submissions/accepted/sum.py", {"tests"}),  # students' tests are run on it
        ("submissions/rejected/T1/same.py", set()),
        ("statement.md", set()),
        ("contract.pyi", set()),
    ],
)
def test_a_file_changes_the_keys_of_what_depends_on_it(
    tmp_path: Path, name: str, kinds: set[str]
) -> None:
    assert changed_by(tmp_path, name) == kinds


@pytest.mark.parametrize("part", ["sandbox", "image", "torch", "numpy"])
def test_another_place_has_other_keys(tmp_path: Path, part: str) -> None:
    problem = load_problem(write_problem(tmp_path))
    here, elsewhere = keys(problem), keys(problem, HERE.model_copy(update={part: "other"}))
    assert not set(here.values()) & set(elsewhere.values())


def test_an_answer_is_kept_between_proofs(tmp_path: Path) -> None:
    with FileCache(tmp_path / "deep" / "proofs.sqlite") as cache:
        assert cache.get(KEY) is None
        cache.put(KEY, ANSWER)
    with FileCache(tmp_path / "deep" / "proofs.sqlite") as cache:
        assert cache.get(KEY) == ANSWER


def test_a_fresh_proof_looks_nothing_up_and_renews_it(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    with FileCache(path) as cache:
        cache.put(KEY, ANSWER)
    with FileCache(path, fresh=True) as cache:
        assert cache.get(KEY) is None
        cache.put(KEY, b"another")
    with FileCache(path) as cache:
        assert cache.get(KEY) == b"another"


def test_what_was_not_used_for_long_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    with FileCache(path) as cache:
        cache.put(KEY, ANSWER)
        cache.put(b"used", ANSWER)
    file = sqlite3.connect(path)
    file.execute("UPDATE answers SET used = ?", (time.time() - (UNUSED_DAYS - 1) * 86_400,))
    file.commit()
    with FileCache(path) as cache:
        assert cache.get(b"used") == ANSWER
    file.execute("UPDATE answers SET used = used - 2 * 86400")
    file.commit()
    file.close()
    with FileCache(path) as cache:
        assert (cache.get(KEY), cache.get(b"used")) == (None, ANSWER)


def test_a_file_that_cannot_be_used_is_a_bad_setting(tmp_path: Path) -> None:
    path = tmp_path / "proofs.sqlite"
    path.write_text("no database, but a text that is long enough to be looked at\n" * 20)
    with pytest.raises(BadSetting, match=r"^JUDGE_CACHE: .*proofs\.sqlite cannot be used"):
        FileCache(path)
    with pytest.raises(BadSetting, match="name a folder"):
        FileCache(path / "proofs.sqlite")


def test_a_damaged_answer_is_found_out_anew(tmp_path: Path) -> None:
    with FileCache(tmp_path / "proofs.sqlite") as cache:
        cache.put(KEY, ANSWER)
        with sqlite3.connect(tmp_path / "proofs.sqlite") as other:
            other.execute("UPDATE answers SET answer = x'00'")
        other.close()
        assert cache.get(KEY) is None
        cache.put(KEY, ANSWER)
        assert cache.get(KEY) == ANSWER
