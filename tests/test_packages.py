from __future__ import annotations

import io
import os
import stat
import struct
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from judge.inspection import MANIFEST
from judge.packages.archive import MAX_FILE_BYTES, PackageError, open_package, write_package
from judge.packages.export import export_problem, wrong_solutions
from judge.packages.foreign import begin
from judge.packages.metadata import read_metadata
from judge.problem import list_slugs, load_problem
from judge.verdicts import Verdict
from tests.commands import Ended, run_judge
from tests.small_problem import FILES, write_problem

PROBLEMS = Path(__file__).parent.parent / "problems"

# A small package of the kind that contests exchange, written for this test.
FOREIGN = {
    "problem.yaml": (
        "problem_format_version: legacy\n"
        "name: Adding up\n"
        "source: A contest of ours\n"
        "license: cc by\n"
        "keywords: sums warm-up\n"
        "limits:\n  memory: 256\n  output: 4\n"
    ),
    "problem_statement/problem.en.md": "Read two numbers and print their sum.\n",
    "problem_statement/problem.sv.md": "Summera.\n",
    "data/sample/1.in": "1 2\n",
    "data/sample/1.ans": "3\n",
    "data/sample/1.png": "a picture",
    "data/secret/2.in": "5 6\n",
    "data/secret/2.ans": "11\n",
    "input_validators/check.py": "print(42)\n",
    "submissions/accepted/plain.py": "print(sum(map(int, input().split())))\n",
    "submissions/accepted/other-way.py": "a, b = map(int, input().split())\nprint(a + b)\n",
    "submissions/accepted/fast.cpp": "int main() {}\n",
    "submissions/wrong_answer/minus.py": "a, b = map(int, input().split())\nprint(a - b)\n",
    "submissions/time_limit_exceeded/slow.py": "while True: pass\n",
}


Run = Callable[..., Ended]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path / "problems"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ended:
        return run_judge(capsys, *arguments)

    return run


def zipped(path: Path, files: Mapping[str, str | bytes], top: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(f"{top}{name}", content)
    return path


def foreign(path: Path, **changed: str | bytes | None) -> Path:
    """The foreign package; a keyword replaces a file by its name with `_` for `/`, `.` and `-`."""
    files: dict[str, str | bytes] = {}
    for name, text in FOREIGN.items():
        new = changed.pop(name.replace("/", "_").replace(".", "_").replace("-", "_"), text)
        if new is not None:
            files[name] = new
    assert not changed
    return zipped(path, files, "addingup/")


# --- our own --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", list_slugs(PROBLEMS))
@pytest.mark.parametrize("target", ["package.zip", "package"])
def test_an_exercise_comes_back_as_it_was(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slug: str, target: str
) -> None:
    monkeypatch.setenv("JUDGE_PROBLEMS", str(PROBLEMS))
    before = load_problem(PROBLEMS / slug)
    assert run("export", slug, "--to", target).status == 0
    ended = run("import", target, "--into", "bank")
    assert ended.status == 0, ended.err
    after = load_problem(tmp_path / "bank" / slug)
    assert after.contents == before.contents
    assert after.version == before.version
    assert f"version: {before.version}, as it was exported" in ended.out
    assert set(list_slugs(tmp_path / "bank")) >= {slug, *before.manifest.needs}


@pytest.mark.parametrize("slug", list_slugs(PROBLEMS))
def test_a_package_has_the_layout_of_the_format(slug: str) -> None:
    problem = load_problem(PROBLEMS / slug)
    package = export_problem(problem)
    settings = yaml.safe_load(package.files["problem.yaml"])
    assert settings["problem_format_version"] == "2025-09"
    assert settings["name"] == problem.manifest.title
    assert settings["limits"]["time_limit"] == problem.limits.wall_s
    assert settings["limits"]["memory"] << 20 >= problem.limits.memory_bytes
    assert package.files["statement/problem.en.md"]
    model = yaml.safe_load(package.files["submissions/submissions.yaml"])
    (reference,) = model
    assert package.files[f"submissions/{reference}"] == problem.reference
    programs = [name for name in package.files if name.startswith("submissions/")]
    names = [Path(name).name for name in programs]
    assert len(names) == len(set(names))
    tiers = [*(each.tier for each in problem.rejected), *(each.tier for each in problem.mutants)]
    wrong = sum(tier not in problem.advisory for tier in tiers)
    assert len(names) == 2 + len(problem.accepted) + wrong


def test_wrong_solutions_are_sorted_by_what_they_get_when_that_is_known(tmp_path: Path) -> None:
    problem = load_problem(write_problem(tmp_path))
    names = [each.name for each in wrong_solutions(problem)]
    assert names == ["T1-same.py", "T1-mutant-tripled.py", "T1-mutant-halved.py"]
    verdicts = dict(zip(names, (Verdict.WA, Verdict.TLE, Verdict.MLE), strict=True))
    files = export_problem(problem, verdicts).files
    assert "submissions/wrong_answer/T1-same.py" in files
    assert "submissions/time_limit_exceeded/T1-mutant-tripled.py" in files
    assert "submissions/rejected/T1-mutant-halved.py" in files
    unjudged = export_problem(problem).files
    assert all(f"submissions/rejected/{name}" in unjudged for name in names)


def test_what_only_an_advisory_tier_finds_wrong_is_no_wrong_solution(tmp_path: Path) -> None:
    about = 'about = "The numbers are right."\n'
    manifest = FILES[MANIFEST].replace(about, f"{about}advisory = true\n")
    problem = load_problem(write_problem(tmp_path, problem_toml=manifest))
    assert wrong_solutions(problem) == ()
    assert any(
        "What is advisory (T1) has no place" in line for line in export_problem(problem).lost
    )


def test_the_same_exercise_gives_the_same_bytes(tmp_path: Path) -> None:
    package = export_problem(load_problem(write_problem(tmp_path)))
    for name in ("a.zip", "b.zip"):
        write_package(tmp_path / name, package.name, package.files)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_does_not_fit_is_said_in_the_package_and_printed(run: Run, tmp_path: Path) -> None:
    write_problem(tmp_path / "problems")
    ended = run("export", "double")
    assert ended.status == 0
    with open_package(tmp_path / "double.zip") as package:
        readme = package.read_text("README.md")
    lost = export_problem(load_problem(tmp_path / "problems" / "double")).lost
    assert all(line in readme and line in ended.out for line in lost)


def test_an_export_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    write_problem(tmp_path / "problems")
    (tmp_path / "double.zip").write_text("mine")
    ended = run("export", "double")
    assert ended.status == 2
    assert "is there already" in ended.err
    assert (tmp_path / "double.zip").read_text() == "mine"


def test_an_import_overwrites_nothing_and_leaves_nothing(run: Run, tmp_path: Path) -> None:
    write_problem(tmp_path / "problems")
    run("export", "double")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "problems").rglob("*")}
    ended = run("import", "double.zip")
    assert ended.status == 2
    assert "is there already" in ended.err
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "problems").rglob("*")} == before


def test_our_own_exercise_keeps_its_name(run: Run, tmp_path: Path) -> None:
    write_problem(tmp_path / "problems")
    run("export", "double")
    ended = run("import", "double.zip", "--slug", "other", "--into", "bank")
    assert ended.status == 2
    assert "called double" in ended.err
    assert not (tmp_path / "bank").exists()


def test_a_statement_that_was_changed_in_the_package_only_is_told(run: Run, tmp_path: Path) -> None:
    write_problem(tmp_path / "problems")
    run("export", "double", "--to", "package")
    (tmp_path / "package/statement/problem.en.md").write_text("Other words.\n")
    ended = run("import", "package", "--into", "bank")
    assert ended.status == 0
    assert "statement/problem.en.md" in ended.out


def test_an_exercise_that_was_changed_in_the_package_has_another_version(
    run: Run, tmp_path: Path
) -> None:
    write_problem(tmp_path / "problems")
    run("export", "double", "--to", "package")
    (tmp_path / "package/judge/exercise/double/statement.md").write_text("Other words.\n")
    ended = run("import", "package", "--into", "bank")
    assert ended.status == 0
    assert "the package was changed" in ended.out


# --- packages from elsewhere ----------------------------------------------------------------------


def test_of_a_foreign_package_is_taken_what_fits(run: Run, tmp_path: Path) -> None:
    ended = run("import", foreign(tmp_path / "addingup.zip"))
    assert ended.status == 0, ended.err
    folder = tmp_path / "problems" / "addingup"
    tree = tomllib.loads((folder / MANIFEST).read_text())
    assert tree["title"] == "Adding up"
    assert tree["sources"] == ["A contest of ours"]
    assert tree["tags"] == ["sums", "warm-up"]
    assert tree["limits"]["memory_bytes"] == 256 << 20
    assert tree["limits"]["output_bytes"] == 4 << 20
    assert (folder / "statement.md").read_text() == FOREIGN["problem_statement/problem.en.md"]
    assert (folder / "samples/1.in").read_text() == "1 2\n"
    assert (folder / "reference.py").read_text() == FOREIGN["submissions/accepted/other-way.py"]
    assert (folder / "submissions/accepted/plain.py").is_file()
    rejected = folder / "submissions/rejected/T1"
    assert sorted(path.name for path in rejected.iterdir()) == [
        "time_limit_exceeded_slow.py",
        "wrong_answer_minus.py",
    ]


def test_what_is_left_to_do_is_said_and_nothing_looks_finished(run: Run, tmp_path: Path) -> None:
    ended = run("import", foreign(tmp_path / "addingup.zip"), "--slug", "sum")
    for words in (
        "Its programs read standard input",
        "checks/: both files are stubs",
        "contract.pyi",
        "mutants.toml",
        "no time limit",
        "fast.cpp",
        "data, input_validators",
        "beside the statement: problem_statement/problem.sv.md",
        "of the samples: data/sample/1.png",
        "licence is 'cc by'",
    ):
        assert words in ended.out
    verified = run("verify", "sum")
    assert verified.status != 0
    assert "mutants.toml:1: the file is missing" in verified.out + verified.err


def test_a_statement_in_latex_is_kept_as_code(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "a.zip",
        {"problem.yaml": "name: A\n", "problem_statement/problem.tex": "\\problemname{A} ```\n"},
    )
    with open_package(path) as package:
        begun = begin(package, "sum")
    assert begun.files["statement.md"].startswith(b"````latex\n")
    assert any("LaTeX" in line for line in begun.left)


def test_names_in_several_languages_and_newer_sources_are_understood(tmp_path: Path) -> None:
    text = (
        "problem_format_version: 2025-09\nname: {sv: Summa, en: Sum}\n"
        "type: [scoring, interactive]\n"
        "source: [{name: A, url: 'https://a.example'}, B]\nkeywords: [x, y]\nlimits:\n"
        "author:\n"
    )
    with open_package(zipped(tmp_path / "a.zip", {"problem.yaml": text})) as package:
        metadata = read_metadata(package)
        begun = begin(package, "sum")
    assert metadata.title == "Sum"
    assert metadata.sources == ["A, https://a.example", "B"]
    assert metadata.tags == ["x", "y"]
    assert any("scoring, interactive" in line for line in begun.left)


def test_limits_that_the_judge_does_not_take_are_told(tmp_path: Path) -> None:
    path = foreign(
        tmp_path / "a.zip", problem_yaml="name: A\nlimits: {time_limit: 2.5, memory: 16}\n"
    )
    with open_package(path) as package:
        begun = begin(package, "sum")
    limits = tomllib.loads(begun.files[MANIFEST].decode())["limits"]
    assert (limits["wall_s"], limits["memory_bytes"]) == (2.5, 64 << 20)
    assert any("memory_bytes" in line for line in begun.left)


def test_a_text_that_would_break_out_of_toml_stays_a_text(tmp_path: Path) -> None:
    title = r"A' \\ ]\n[tiers] \ud800 \u202e \x7f"  # as YAML writes it between double quotes
    path = foreign(tmp_path / "a.zip", problem_yaml=f'name: "{title}"\n')
    with open_package(path) as package:
        begun = begin(package, "sum")
    tree = tomllib.loads(begun.files[MANIFEST].decode())
    assert tree["title"].startswith("A' \\ ] [tiers] \\ud800")
    assert len(tree["tiers"]) == 2


# --- packages that are hostile, or broken ---------------------------------------------------------


def link(name: str, target: str) -> tuple[zipfile.ZipInfo, str]:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target


def refused(run: Run, path: Path, *words: str) -> None:
    """Importing ends with a usage error that says so, and leaves nothing behind."""
    root = path.parent
    before = sorted(root.rglob("*"))
    ended = run("import", path, "--into", root / "bank")
    assert ended.status == 2, ended.out
    assert "Traceback" not in ended.err
    assert all(word in ended.err for word in words), ended.err
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(
    "name",
    [
        "../evil.py",
        "/etc/evil.py",
        "a/../../evil.py",
        "C:/evil.py",
        "a\\..\\evil.py",
        "a\nb",
        "x" * 300,
    ],
)
def test_a_path_that_leads_elsewhere_condemns_the_package(
    run: Run, tmp_path: Path, name: str
) -> None:
    path = zipped(tmp_path / "a.zip", {**FOREIGN, name: "x"})
    refused(run, path, "path of a file", "not allowed")


def test_a_link_in_a_zip_is_not_followed(run: Run, tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"problem.yaml": "name: A\n"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(*link("statement/problem.en.md", "/etc/passwd"))
    refused(run, path, "statement/problem.en.md is a link")


def test_a_link_in_a_folder_is_not_followed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    (folder / "statement").mkdir(parents=True)
    (folder / "problem.yaml").write_text("name: A\n")
    (folder / "statement/problem.en.md").symlink_to("/etc/passwd")
    refused(run, folder, "is a link")


def test_a_pipe_in_a_folder_holds_nobody_up(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "package"
    folder.mkdir()
    os.mkfifo(folder / "problem.yaml")
    refused(run, folder, "no regular file")


def test_a_link_that_nobody_asks_for_is_no_harm(tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(*link("addingup/data/secret/3.in", "2.in"))
    with open_package(path) as package:
        assert begin(package, "sum").files


def test_a_member_that_grows_beyond_the_limit_is_not_read_to_its_end(
    run: Run, tmp_path: Path
) -> None:
    path = foreign(tmp_path / "a.zip", problem_statement_problem_en_md=bytes(64 << 20))
    refused(run, path, "larger than")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_gigabytes_at_once_are_not_taken(
    run: Run, tmp_path: Path, method: int
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("problem.yaml", "name: A\n")
    refused(run, path, "problem.yaml is packed in a way")


def test_a_list_of_a_million_files_is_not_even_read(run: Run, tmp_path: Path) -> None:
    """zipfile would make an object of each before any can be counted."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", *[0] * 9, 1, *[0] * 6) + b"a"
    size = len(entry) * 1_000_000
    with (tmp_path / "a.zip").open("wb") as file:
        file.write(entry * 1_000_000)
        file.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 65535, 65535, size, 0, 0))
    refused(run, tmp_path / "a.zip", "list of files is too large")


def test_a_name_that_is_not_the_utf8_it_claims_to_be_is_refused(run: Run, tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {**FOREIGN, "n\N{LATIN SMALL LETTER E WITH ACUTE}": "x"})
    path.write_bytes(path.read_bytes().replace(b"n\xc3\xa9", b"n\xc3\xc3"))
    refused(run, path, "not a zip file")


@pytest.mark.parametrize(
    "name",
    [
        "judge/exercise/packages/problem.toml",
        "judge/exercise/A; b/problem.toml",
        "judge/needs/a b/problem.toml",
        "judge/packages/a-b/__init__.py",
    ],
)
def test_folders_that_cannot_be_of_the_bank_are_not_made(
    run: Run, tmp_path: Path, name: str
) -> None:
    files = {"problem.yaml": "name: A\n", "judge/exercise/a/problem.toml": "x", name: "x"}
    if name.startswith("judge/exercise"):
        del files["judge/exercise/a/problem.toml"]
    refused(run, zipped(tmp_path / "a.zip", files), "can be called")


def test_our_own_files_are_bounded_as_well(run: Run, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "problem.yaml": "name: A\n",
        "judge/exercise/a/problem.toml": bytes(MAX_FILE_BYTES + 1),
    }
    refused(run, zipped(tmp_path / "a.zip", files), "larger than")


def test_too_many_files_are_refused(run: Run, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"data/{number}.in": "" for number in range(20_001)}
    refused(run, zipped(tmp_path / "a.zip", files), "more than")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_in_it_twice_is_refused(run: Run, tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("addingup/problem.yaml", "name: B\n")
    refused(run, path, "twice")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: A\nx: [", "problem.yaml:2"),
        ("a: b: c\n", "problem.yaml:1"),
        ("- 1\n", "not a map"),
        ("", "not a map"),
        ("x: &a [1]\ny: *a\n", "problem.yaml:2: an alias"),
        ("x: " + "[" * 5000, "nested"),
        ("name: A\nlimits: {memory: lots}\n", "`limits.memory`"),
        ("name: A\nlimits: {memory: " + "9" * 6000 + "}\n", "`limits.memory`"),
        ("name: A\nlimits: {memory: " + "9" * 4000 + "}\n", "`limits.memory`"),
        ("name: A\nlimits: {time_limit: -1}\n", "`limits.time_limit`"),
        ("name: A\nlimits: {time_limit: .inf}\n", "`limits.time_limit`"),
        ("!!python/object/apply:os.system ['true']\n", "not a map"),
        (b"name: \xff\n", "not UTF-8"),
        ("name: A # " + "x" * 70_000, "larger than 64 KiB"),
    ],
)
def test_bad_yaml_is_named_with_its_place(
    run: Run, tmp_path: Path, text: str | bytes, words: str
) -> None:
    refused(run, foreign(tmp_path / "a.zip", problem_yaml=text), words)


def test_a_statement_that_is_not_utf8_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.zip", problem_statement_problem_en_md=b"one\ntw\xe9\n")
    refused(run, path, "problem.en.md:2: not UTF-8")


def test_what_is_no_package_is_said_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no zip")
    refused(run, tmp_path / "a.zip", "not a zip file")
    (tmp_path / "folder").mkdir()
    refused(run, tmp_path / "folder", "no problem.yaml")
    refused(run, tmp_path / "missing.zip", "no such file")


def test_a_zip_that_is_damaged_inside_is_refused(run: Run, tmp_path: Path) -> None:
    path = foreign(tmp_path / "a.zip")
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as archive:
        info = archive.getinfo("addingup/problem.yaml")
    start = info.header_offset + 30 + len(info.filename)
    data[start : start + 20] = b"\xff" * 20
    path.write_bytes(data)
    refused(run, path, "cannot be read")


def test_a_slug_of_another_form_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    ended = run("import", foreign(tmp_path / "a.zip"), "--slug", "../x")
    assert ended.status == 2
    assert "lower-case" in ended.err


@pytest.mark.parametrize("slug", ["packages", "-"])
def test_a_package_cannot_take_the_place_of_what_is_no_exercise(
    run: Run, tmp_path: Path, slug: str
) -> None:
    refused(run, zipped(tmp_path / f"{slug}.zip", FOREIGN), "name")


def test_the_folder_of_an_installed_package_takes_no_import(run: Run, tmp_path: Path) -> None:
    installed = tmp_path / "lib" / "site-packages" / "judge_problems"
    ended = run("import", foreign(tmp_path / "a.zip"), "--into", installed)
    assert (ended.status, installed.exists()) == (2, False)
    assert "Name a folder of your own" in ended.err


def test_a_disk_that_refuses_leaves_nothing(tmp_path: Path) -> None:
    files = {"a": b"1", "a/b": b"2"}  # no file system has both
    with pytest.raises(PackageError):
        write_package(tmp_path / "deep" / "package", "package", files)
    assert list(tmp_path.iterdir()) == []
