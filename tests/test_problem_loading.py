from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from judge.manifest import FORMS, Fault, Manifest, MutantList, ProblemError
from judge.problem import UnknownProblem, find_folder, load_problem
from judge.settings import Settings
from judge.toml_source import TomlSource
from tests.small_problem import MANIFEST, MUTANTS, write_problem


def faults_of(folder: Path) -> tuple[Fault, ...]:
    with pytest.raises(ProblemError) as caught:
        load_problem(folder)
    return caught.value.faults


def only_fault(folder: Path) -> Fault:
    (fault,) = faults_of(folder)
    return fault


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


def test_a_valid_folder_is_loaded(tmp_path: Path) -> None:
    problem = load_problem(write_problem(tmp_path))
    assert problem.slug == "double"
    assert [tier.id for tier in problem.tiers] == ["T0", "T1"]
    assert problem.main_file == "solution.py"
    assert problem.provided is None
    assert [kept.tier for kept in problem.accepted] == [None, None, None]
    assert [(kept.name, kept.tier) for kept in problem.rejected] == [
        ("submissions/rejected/T1/same.py", "T1")
    ]


def test_every_problem_of_the_project_is_valid() -> None:
    root = Settings().problems
    folders = [path.parent for path in root.glob("*/problem.toml")]
    assert folders
    for folder in folders:
        load_problem(folder)


def test_a_mutant_is_the_reference_with_one_edit(tmp_path: Path) -> None:
    problem = load_problem(write_problem(tmp_path))
    assert problem.mutate(problem.mutants[0]) == b"def double(x):\n    return 3 * x\n"
    assert problem.mutate(problem.mutants[1]) == b"def double(x):\n    return x / 2\n"


def test_the_version_changes_with_any_file_and_with_nothing_else(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    before = load_problem(folder).version
    (folder / "checks" / "__pycache__").mkdir()
    (folder / "checks" / "__pycache__" / "x.pyc").write_bytes(b"cache")
    (folder / ".editor").write_text("hidden")
    assert load_problem(folder).version == before
    (folder / "statement.md").write_text("# Doubling, again\n")
    assert load_problem(folder).version != before


def test_the_version_distinguishes_a_moved_boundary_between_name_and_content(
    tmp_path: Path,
) -> None:
    first = write_problem(tmp_path / "1")
    second = write_problem(tmp_path / "2")
    (first / "a").write_text("bc")
    (second / "ab").write_text("c")
    assert load_problem(first).version != load_problem(second).version


def test_a_syntax_error_has_its_own_line(tmp_path: Path) -> None:
    broken = MANIFEST.replace('summary = "Double a tensor."', "summary = Double a tensor.")
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.file.name == "problem.toml"
    assert fault.line == line_of(MANIFEST, "summary =")
    assert fault.remedy


def test_an_unfinished_file_is_reported_at_its_end(tmp_path: Path) -> None:
    fault = only_fault(write_problem(tmp_path, problem_toml='id = "double'))
    assert fault.line == 1


def test_a_missing_key_is_reported_at_its_table(tmp_path: Path) -> None:
    broken = MANIFEST.replace('about = "The numbers are right."\n', "")
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == broken.splitlines().index("[[tiers]]", line_of(broken, 'id = "T0"')) + 1
    assert "[[tiers]] number 2 has no `about`" in fault.message
    assert "add a line `about = ...`" in fault.remedy


def test_a_misspelt_key_is_reported_with_the_right_spelling(tmp_path: Path) -> None:
    broken = MANIFEST.replace("requires =", "require =")
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, "require =")
    assert "`requires`" in fault.remedy


def test_a_value_out_of_bounds_is_reported_on_its_line(tmp_path: Path) -> None:
    broken = MANIFEST.replace("wall_s = 5.0", "wall_s = 0")
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, "wall_s")
    assert "greater than 0" in fault.message


def test_several_faults_of_both_files_are_reported_together(tmp_path: Path) -> None:
    folder = write_problem(
        tmp_path,
        problem_toml=MANIFEST.replace("wall_s = 5.0", "wall_s = 0").replace("number = 7\n", ""),
        mutants_toml=MUTANTS.replace('title = "Halved"\n', ""),
    )
    assert [(fault.file.name, fault.line) for fault in faults_of(folder)] == [
        ("problem.toml", 1),
        ("problem.toml", line_of(MANIFEST, "wall_s") - 1),
        ("mutants.toml", line_of(MUTANTS, 'id = "halved"') - 1),
    ]


def test_an_unknown_requirement_is_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace('requires = ["T0"]', 'requires = ["T9"]')
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, "requires")
    assert "T9" in fault.message
    assert "T0" in fault.remedy


MORE_TIERS = """
[[tiers]]
id = "T2"
title = "Edges"
about = "It holds at the edges."
checks = "checks/test_t1_oracle.py"
requires = ["T1"]

[[files]]"""


def test_a_tier_that_would_run_although_the_first_failed_is_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace('requires = ["T0"]\n', "").replace("\n[[files]]", MORE_TIERS)
    first, second = faults_of(write_problem(tmp_path, problem_toml=broken))
    assert first.line == line_of(broken, 'id = "T1"') - 1
    assert second.line == line_of(broken, 'requires = ["T1"]')
    assert "tier T1 would run although T0 failed" in first.message
    assert 'requires = ["T0"]' in first.remedy


def test_a_tier_may_require_the_first_one_through_another(tmp_path: Path) -> None:
    longer = MANIFEST.replace("\n[[files]]", MORE_TIERS)
    problem = load_problem(write_problem(tmp_path, problem_toml=longer))
    assert [tier.requires for tier in problem.tiers] == [(), ("T0",), ("T1",)]


@pytest.mark.parametrize("line", ['prerequisites = ["sorted"]', 'used_by = ["x"]'])
def test_a_key_that_nothing_enforces_is_refused(tmp_path: Path, line: str) -> None:
    broken = MANIFEST.replace("tags =", f"{line}\ntags =")
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, line)
    assert fault.message == f"the file has an unknown key `{line.partition(' ')[0]}`"
    assert fault.remedy == "remove it"


def test_a_file_of_another_role_is_refused(tmp_path: Path) -> None:
    broken = MANIFEST.replace('role = "solution"', 'role = "notes"')
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, "role =")
    assert "input should be 'solution' or 'tests'" in fault.message


def test_an_entry_point_that_the_reference_does_not_define_is_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace('entry_points = ["double"]', 'entry_points = ["dubble"]')
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert fault.line == line_of(broken, "entry_points")
    assert fault.message == "reference.py does not define 'dubble'"


def test_a_provided_name_that_is_not_defined_is_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace("\n[limits]", 'provided_names = ["kernel", "tau"]\n\n[limits]')
    folder = write_problem(tmp_path, problem_toml=broken)
    (folder / "provided.py").write_text("from math import pi, tau\n")
    fault = only_fault(folder)
    assert fault.line == line_of(broken, "provided_names")
    assert fault.message == "provided.py does not define 'kernel'"


def test_two_tiers_of_one_name_are_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace('id = "T1"', 'id = "T0"').replace('requires = ["T0"]\n', "")
    first, *_ = faults_of(write_problem(tmp_path, problem_toml=broken))
    assert "two tiers have the id 'T0'" in first.message


@pytest.mark.parametrize("name", ["statement.md", "reference.py", "starter.py", "contract.pyi"])
def test_a_missing_file_is_reported(tmp_path: Path, name: str) -> None:
    folder = write_problem(tmp_path)
    (folder / name).unlink()
    assert any(name in f"{fault.file} {fault.message}" for fault in faults_of(folder))


@pytest.mark.parametrize("name", ["problem.toml", "mutants.toml"])
def test_a_folder_without_its_toml_files_is_no_problem(tmp_path: Path, name: str) -> None:
    folder = write_problem(tmp_path)
    (folder / name).unlink()
    assert only_fault(folder).file == folder / name


def test_a_mutant_whose_text_is_not_there_is_reported(tmp_path: Path) -> None:
    broken = MUTANTS.replace('find = "2 * x"', 'find = "2*x"')
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert fault.line == line_of(broken, 'find = "2*x"')
    assert "0 times" in fault.message


def test_a_mutant_whose_text_is_there_twice_is_reported(tmp_path: Path) -> None:
    broken = MUTANTS.replace('find = "2 * x"', 'find = "x"')
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert "2 times in reference.py" in fault.message


def test_a_mutant_of_an_unknown_tier_is_reported(tmp_path: Path) -> None:
    broken = MUTANTS.replace('pitfall = true\ntier = "T1"', 'pitfall = true\ntier = "T7"')
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert fault.line == line_of(broken, 'tier = "T7"')


def test_a_mutant_that_does_not_compile_is_reported(tmp_path: Path) -> None:
    broken = MUTANTS.replace("3 * x", "3 *")
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert fault.line == line_of(broken, "replace =")
    assert "does not compile" in fault.message


def test_a_pitfall_without_a_hint_is_reported(tmp_path: Path) -> None:
    broken = MUTANTS.replace("pitfall = false", "pitfall = true")
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert "halved is a pitfall without a hint" in fault.message


EQUIVALENT = """
[[equivalent]]
line = "return 2 * x"
becomes = "return 2 * (x)"
reason = "Parentheses."
"""


def test_changes_that_no_check_can_notice_are_read(tmp_path: Path) -> None:
    problem = load_problem(write_problem(tmp_path, mutants_toml=MUTANTS + EQUIVALENT))
    (entry,) = problem.equivalent
    assert (entry.line, entry.becomes) == ("return 2 * x", "return 2 * (x)")
    assert load_problem(write_problem(tmp_path)).equivalent == ()


@pytest.mark.parametrize("line", ["2 * x", "return 2 * y", "return 2 * x\\nreturn 2 * x"])
def test_an_equivalent_change_of_a_line_that_is_not_there_is_reported(
    tmp_path: Path, line: str
) -> None:
    text = MUTANTS + EQUIVALENT.replace('line = "return 2 * x"', f'line = "{line}"')
    fault = only_fault(write_problem(tmp_path, mutants_toml=text))
    assert (fault.file.name, fault.line) == ("mutants.toml", line_of(text, f'line = "{line}"'))
    assert "has no such line" in fault.message
    assert "copy whole lines" in fault.remedy


def test_several_lines_are_found_whatever_their_indentation(tmp_path: Path) -> None:
    lines = 'line = """\n  def double(x):\n  return 2 * x\n"""'
    text = MUTANTS + EQUIVALENT.replace('line = "return 2 * x"', lines)
    assert load_problem(write_problem(tmp_path, mutants_toml=text)).equivalent


def test_an_equivalent_change_that_changes_nothing_is_reported(tmp_path: Path) -> None:
    text = MUTANTS + EQUIVALENT.replace("2 * (x)", "2 * x ")
    fault = only_fault(write_problem(tmp_path, mutants_toml=text))
    assert fault.line == line_of(text, "becomes =")
    assert "are the same" in fault.message


def test_an_equivalent_change_without_its_reason_is_reported(tmp_path: Path) -> None:
    text = MUTANTS + EQUIVALENT.replace('reason = "Parentheses."', "")
    fault = only_fault(write_problem(tmp_path, mutants_toml=text))
    assert "[[equivalent]] number 1 has no `reason`" in fault.message


def test_a_reference_that_does_not_compile_has_the_line_of_its_error(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, reference_py="def double(x):\n    return (2 * x\n")
    fault = only_fault(folder)
    assert (fault.file.name, fault.line) == ("reference.py", 2)


def test_a_missing_reference_is_one_fault_however_many_mutants_there_are(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "reference.py").unlink()
    assert only_fault(folder).file == folder / "reference.py"


def test_a_form_that_is_not_allowed_is_answered_in_words(tmp_path: Path) -> None:
    broken = MUTANTS.replace('id = "tripled"', 'id = "Tripled--x"')
    fault = only_fault(write_problem(tmp_path, mutants_toml=broken))
    assert fault.remedy == "write lower-case letters, digits and single hyphens"


def test_every_form_a_value_must_have_is_known_in_words() -> None:
    schemas = json.dumps([Manifest.model_json_schema(), MutantList.model_json_schema()])
    patterns = {json.loads(text) for text in re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', schemas)}
    assert patterns == set(FORMS)


def test_a_folder_without_a_manifest_says_so(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "begun").mkdir()
    with pytest.raises(UnknownProblem, match=r"begun is a folder without problem\.toml"):
        find_folder(tmp_path, "begun")


def test_a_check_without_its_sentence_is_reported(tmp_path: Path) -> None:
    folder = write_problem(
        tmp_path, checks_test_t1_oracle_py="X = 1\n\n\ndef test_values(submission):\n    pass\n"
    )
    fault = only_fault(folder)
    assert (fault.file.name, fault.line) == ("test_t1_oracle.py", 4)
    assert "docstring" in fault.message


def test_a_check_hidden_by_another_of_its_name_is_reported(tmp_path: Path) -> None:
    check = 'def test_values(submission):\n    """Sentence."""\n'
    folder = write_problem(tmp_path, checks_test_t1_oracle_py=check * 2)
    fault = only_fault(folder)
    assert fault.line == 3
    assert "two checks are called test_values" in fault.message


def test_a_visible_check_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    broken = MANIFEST.replace("visible = true", 'visible = ["test_cal"]')
    fault = only_fault(write_problem(tmp_path, problem_toml=broken))
    assert "has no check 'test_cal'" in fault.message


def test_fewer_than_three_accepted_submissions_are_too_few(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "submissions/accepted/sum.py").unlink()
    assert "2 accepted submissions" in only_fault(folder).message


def test_a_rejected_submission_must_name_a_tier(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "submissions/rejected/T1").rename(folder / "submissions/rejected/T5")
    assert "'T5' is no tier" in only_fault(folder).message


def test_a_submission_above_the_limit_is_reported(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "submissions/accepted/sum.py").write_text("#" * 70_000)
    assert "70000 bytes, but the limit is 65536" in only_fault(folder).message


def test_a_folder_must_have_the_name_of_its_problem(tmp_path: Path) -> None:
    folder = write_problem(tmp_path).rename(tmp_path / "triple")
    assert "not the folder's name 'triple'" in only_fault(folder).message


@pytest.mark.parametrize("target", ["secret.txt", "problems/.git/config"])
def test_a_link_to_what_is_no_exercise_is_a_fault(tmp_path: Path, target: str) -> None:
    """An export would carry it off."""
    folder = write_problem(tmp_path / "problems")
    (tmp_path / target).parent.mkdir(exist_ok=True)
    (tmp_path / target).write_text("a secret", encoding="utf-8")
    (folder / "notes.txt").symlink_to(tmp_path / target)
    with pytest.raises(ProblemError, match=r"notes\.txt:1: a link that leads out"):
        load_problem(folder)


def test_links_in_the_folder_and_beside_it_are_followed(tmp_path: Path) -> None:
    folder = write_problem(tmp_path / "problems")
    (tmp_path / "problems" / "common.py").write_text("COMMON = 1\n", encoding="utf-8")
    (folder / "checks" / "common.py").symlink_to("../../common.py")
    (folder / ".data").mkdir()
    (folder / "statement.md").rename(folder / ".data" / "statement.md")
    (folder / "statement.md").symlink_to(".data/statement.md")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "double").symlink_to(folder)
    contents = load_problem(tmp_path / "linked" / "double").contents
    assert contents["checks/common.py"] == b"COMMON = 1\n"
    assert contents["statement.md"]


def test_kept_tests_say_by_their_folder_how_they_are_graded(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    for name in ("accepted/good.py", "rejected/weak.py", "acepted/typo.py"):
        path = folder / "suites" / name
        path.parent.mkdir(parents=True)
        path.write_text("def test_one(): ...\n", encoding="utf-8")
    fault = only_fault(folder)
    assert str(fault.file).endswith("suites/acepted/typo.py")
    assert fault.remedy == "move it to suites/accepted or suites/rejected"


def test_a_fault_reads_as_file_line_message_and_remedy() -> None:
    fault = Fault(Path("problems/x/problem.toml"), 12, "it is wrong", "mend it")
    assert str(fault) == "problems/x/problem.toml:12: it is wrong\n    mend it"


def test_an_unknown_problem_is_answered_with_close_names(tmp_path: Path) -> None:
    write_problem(tmp_path)
    with pytest.raises(UnknownProblem, match=r"no problem 'dubble'.*known: double"):
        find_folder(tmp_path, "dubble")


def test_an_empty_root_is_answered_with_the_setting_to_change(tmp_path: Path) -> None:
    with pytest.raises(UnknownProblem, match="JUDGE_PROBLEMS"):
        find_folder(tmp_path, "double")


def test_a_slug_cannot_leave_the_root(tmp_path: Path) -> None:
    write_problem(tmp_path)
    (tmp_path / "inner").mkdir()
    with pytest.raises(UnknownProblem):
        find_folder(tmp_path / "inner", "../double")


def test_lines_are_found_after_multi_line_values_and_comments() -> None:
    source = TomlSource.parse(
        '# a comment\nfirst = """\n[[not.a.table]]\nsecond = 1\n"""\n\nlist = [\n  1,\n  2,\n]\n'
        "second = 2  # comment\n[table]\ninner.key = 3\n[[items]]\n[[items]]\nx = 4\n"
    )
    lines = {
        ("first",): 2,
        ("list",): 7,
        ("list", 1): 7,
        ("second",): 11,
        ("table",): 12,
        ("table", "inner", "key"): 13,
        ("items", 1): 15,
        ("items", 1, "x"): 16,
        ("items", 1, "missing"): 15,
        ("missing",): 1,
    }
    assert {location: source.line_of(location) for location in lines} == lines
