from __future__ import annotations

import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console, RenderableType

from judge.cli import main
from judge.proof.outcomes import Case, CaseKind, Proof
from judge.proof.reports import figures, github, html
from judge.proof.reports.figures import MAX_FINDINGS
from judge.proof.reports.junit import junit_xml
from judge.proof.reports.terminal import details, overview
from judge.render import show
from tests.proof.proofs import DIFF, case, failing, finding, made, proven
from tests.small_problem import write_problem

ROOT = Path("/repository")
VOID = {"meta", "img", "source", "br", "wbr", "line", "circle", "path", "rect"}


class Tree(HTMLParser):
    """What a browser makes of a page, as far as these tests ask."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def printed(*parts: RenderableType, width: int = 120) -> str:
    file = io.StringIO()
    screen = Console(file=file, width=width, markup=False, highlight=False, emoji=False)
    for part in parts:
        show(screen, part)
    return file.getvalue()


# --- figures --------------------------------------------------------------------------------------


def test_the_kill_rate_is_never_rounded_up() -> None:
    almost = proven().model_copy(update={"made": made(2000, survivors=1)})
    assert figures.kill_rate(almost).startswith("99.9 % (1999 of 2000)")


def test_equivalent_mutants_are_named_but_do_not_count() -> None:
    assert figures.kill_rate(proven()) == "97.1 % (104 of 107, 3 equivalent)"


@pytest.mark.parametrize(
    ("mutants", "words"),
    [(made(0), "none made"), (made(2, equivalent=2), "none counts (2 equivalent)")],
)
def test_no_rate_is_made_up_where_nothing_counts(mutants: list[object], words: str) -> None:
    assert figures.kill_rate(proven().model_copy(update={"made": mutants})) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0 %"), (1e-9, "< 0.01 %"), (0.4, "40 %"), (1.0, "100 %"), (1.5, "1.5 times"),
     (12345.6, "12,346 times"), (float("inf"), "without bound"), (float("nan"), "not a number")],
)  # fmt: skip
def test_a_share_of_a_limit_is_said_in_words(share: float, words: str) -> None:
    assert figures.share(share) == words


def test_a_proof_with_advice_only_is_proven_with_advice() -> None:
    advised = case(CaseKind.LINT, "texts", "Texts", finding(advice=True))
    assert figures.state(proven().model_copy(update={"cases": [advised]})) == "proven, with advice"
    assert figures.state(proven()) == "proven"
    assert figures.state(failing()) == "not proven"


# --- a terminal -----------------------------------------------------------------------------------


def test_the_overview_has_a_row_with_all_numbers() -> None:
    row = printed(overview([proven()])).splitlines()[1]
    assert re.split(r"\s{2,}", row.strip()) == [
        "double", "✓ proven", "3 held, 1 skipped", "97.1 % (104 of 107, 3 equivalent)", "2 of 2",
        "40", "12 s",
    ]  # fmt: skip


def test_what_does_not_hold_is_said_with_file_line_and_remedy() -> None:
    broken = case(CaseKind.HEADROOM, "limits", "Limits", finding(), finding("odd", advice=True))
    shown = printed(*details(proven().model_copy(update={"cases": [broken]})))
    assert "✗ headroom limits: Limits" in shown
    assert "problems/double/checks/test_t1_oracle.py:8: the limit is loose\n" in shown
    assert "\n        lower rtol to 1e-9\n" in shown


def test_survivors_are_shown_once_with_their_diff() -> None:
    survived = finding(f"no check notices the change:\n{DIFF}", advice=True)
    rate = case(CaseKind.GENERATED, "kill-rate", "Enough are noticed.", survived)
    shown = printed(*details(proven().model_copy(update={"cases": [rate]})))
    assert "test_t1_oracle.py:8: no check notices the change:\n" in shown
    assert shown.count("+    return 3 * x") == 1


def test_of_hundreds_of_findings_the_first_are_shown() -> None:
    survived = [finding(f"change {number} is not noticed") for number in range(200)]
    rate = case(CaseKind.GENERATED, "kill-rate", "Enough are noticed.", *survived)
    shown = printed(*details(proven().model_copy(update={"cases": [rate]})))
    assert shown.count("is not noticed") == MAX_FINDINGS
    assert "and 180 more" in shown


def test_close_limits_slow_checks_and_what_was_not_tried_are_named() -> None:
    shown = printed(*details(proven()))
    assert (
        "test_edges, weights in float32: the reference is close to the limit (of it: reference "
        "40 %, nearest mistake (2-number-7) 1.5 times)"
    ) in " ".join(shown.split())
    assert "T2 > test_edges: 400 ms on the reference, up to 1.2 s" in shown
    assert "T1 > test_values" not in shown
    assert "was not tried: needs docker" in shown
    assert "test_call" not in shown


def test_what_holds_is_one_line() -> None:
    fine = proven().model_copy(update={"made": [], "headroom": [], "times": [], "cases": [
        each for each in proven().cases if each.holds
    ]})  # fmt: skip
    lines = printed(*details(fine)).splitlines()
    assert len(lines) == 2
    assert "reference, 2 named mutants" in lines[1]


@pytest.mark.parametrize("width", [30, 120])
def test_no_text_of_a_proof_commands_the_terminal(width: int) -> None:
    shown = printed(overview([failing()]), *details(failing()), width=width)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]", shown)
    assert "\\x1b[31mred" in printed(*details(failing()))


# --- JUnit ----------------------------------------------------------------------------------------


def test_junit_has_a_suite_for_each_proof_and_a_case_for_each_claim() -> None:
    root = ET.fromstring(junit_xml([proven(), failing()]))
    assert [suite.get("name") for suite in root] == ["double", "hostile"]
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("8", "1", "2")
    first = root[0].find("testcase[@classname='double.mutant']")
    assert first is not None
    assert (first.get("name"), first.get("time")) == ("tripled: Tripled", "0.013")
    properties = {each.get("name"): each.get("value") for each in root[0].iter("property")}
    assert properties["kill_rate"] == "0.9720"
    assert properties["version"] == "ab" * 32
    assert properties["seeds"] == "40"


def test_junit_tells_failures_from_advice_and_from_what_was_not_tried() -> None:
    suite = ET.fromstring(junit_xml([failing()]))[0]
    failed, advised, skipped, held = suite.findall("testcase")
    failure = failed.find("failure")
    assert failure is not None
    assert (failure.text or "").startswith("problems/dou,ble:1/mutants.toml:4: <script>")
    assert failed.get("line") == "4"
    assert advised.find("failure") is None
    assert "lower rtol" in advised.findtext("system-out", "")
    assert skipped.find("skipped") is not None
    assert list(held) == []


def test_junit_is_xml_whatever_is_said() -> None:
    text = junit_xml([failing()]).decode()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\ufffe]", text)
    assert "\\x1b[31mred\\x00\\x07 100%0A" in text


# --- GitHub ---------------------------------------------------------------------------------------


def test_an_annotation_is_one_line_at_the_authors_line() -> None:
    broken = Case(kind=CaseKind.HEADROOM, id="limits", title="Limits", findings=[
        finding().model_copy(update={"file": str(ROOT / "problems/double/mutants.toml")}),
    ])  # fmt: skip
    (command,) = github.annotations([proven().model_copy(update={"cases": [broken]})], ROOT)
    assert command == (
        "::error file=problems/double/mutants.toml,line=8,"
        "title=double%3A headroom limits%3A Limits::the limit is loose%0Alower rtol to 1e-9"
    )


def test_errors_come_before_advice() -> None:
    advised = case(CaseKind.LINT, "texts", "Texts", finding(advice=True))
    proofs = [proven().model_copy(update={"cases": [advised]}), failing()]
    kinds = [each.split(" ")[0] for each in github.annotations(proofs, ROOT)]
    assert kinds == ["::error", "::warning", "::warning"]


def test_no_text_of_a_proof_is_a_command_of_its_own() -> None:
    commands = list(github.annotations([failing()], ROOT))
    assert len(commands) == 2
    for command in commands:
        assert not re.search(r"[\r\n\x1b\x00]", command)
        properties = command.removeprefix("::").partition("::")[0].partition(" ")[2].split(",")
        assert [each.partition("=")[0] for each in properties] == ["file", "line", "title"]
        assert not any(":" in each for each in properties)
        assert "100%250A%0A::error" in command
    assert commands[0].startswith("::error file=problems/dou%2Cble%3A1/mutants.toml,line=4,")


def test_what_looks_like_a_command_in_the_report_beside_them_is_not_obeyed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The runner obeys lines that begin with two colons, whatever blanks are before them."""
    folder = write_problem(tmp_path, mutants_toml='"a\\n::add-mask::e" = 1\n')
    monkeypatch.setenv("JUDGE_PROBLEMS", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["verify", folder.name, "--github"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    (stopped,) = (line for line in lines if line.startswith("::stop-commands::"))
    word = stopped.removeprefix("::stop-commands::")
    assert len(word) > 16
    forged = next(at for at, line in enumerate(lines) if line.startswith("::add-mask::"))
    assert lines.index(stopped) < forged < lines.index(f"::{word}::")
    obeyed = [line for line in lines[lines.index(f"::{word}::") + 1 :] if line.startswith("::")]
    assert obeyed
    assert all(line.startswith("::error file=") for line in obeyed)


def test_a_file_outside_the_repository_keeps_its_name() -> None:
    elsewhere = finding().model_copy(update={"file": "/elsewhere/mutants.toml"})
    broken = case(CaseKind.MUTANT, "tripled", "Tripled", elsewhere)
    proof = proven().model_copy(update={"cases": [broken]})
    (command,) = github.annotations([proof], ROOT)
    assert "file=/elsewhere/mutants.toml," in command


def test_the_summary_has_a_row_for_each_proof_and_the_survivors() -> None:
    text = github.summary([proven()], ROOT)
    assert "| double | ✅ proven | 3 held, 1 skipped | 97.1 % (104 of 107, 3 equivalent) |" in text
    assert text.count("```diff\n") == 3
    assert text.count("<details>") == text.count("</details>") == 1


def test_of_hundreds_of_findings_the_summary_has_the_first_and_of_each_a_line() -> None:
    survived = [finding(f"no check notices {number}:\n{DIFF}") for number in range(200)]
    rate = case(CaseKind.GENERATED, "kill-rate", "Too few are noticed.", *survived)
    text = github.summary([proven().model_copy(update={"cases": [rate], "made": []})], ROOT)
    assert text.count("no check notices") == MAX_FINDINGS
    assert "... and 180 more" in text
    assert "return 3" not in text


def test_no_text_of_a_proof_is_markup_in_the_summary() -> None:
    text = github.summary([failing()], ROOT)
    fence = re.search(r"^(`{5,})diff\n.*?^\1$", text, re.MULTILINE | re.DOTALL)
    assert fence, "a fence longer than what is in it"
    outside = text.replace(fence.group(), "")
    assert "<script>" not in outside
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", outside)
    assert not re.search(r"^::", outside, re.MULTILINE)
    assert r"\`code\` \| cell" in outside


# --- pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("proof", [proven(), failing()], ids=["proven", "hostile"])
def test_a_page_runs_nothing_and_asks_for_nothing(proof: Proof) -> None:
    tree = Tree(html.page(proof))
    tags = {tag for tag, _ in tree.tags}
    assert not tags & {"script", "link", "iframe", "object", "form"}
    for _, attributes in tree.tags:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "srcset"):
            assert (attributes.get(name) or "data:image/svg+xml").startswith("data:image/svg+xml")
    assert any("default-src 'none'" in (each.get("content") or "") for each in tree.named("meta"))


def test_texts_of_a_proof_are_texts_on_its_page() -> None:
    page = html.page(failing())
    assert "<script>alert(1)</script>\\x1b[31mred\\x00" in Tree(page).text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\ufffe]", page)


def test_a_page_shows_every_part_of_a_proof() -> None:
    tree = Tree(html.page(proven()))
    for words in (
        "Doubling", "97.1 %", "104 of 107, 3 equivalent", "Cases", "Kill matrix", "Made mutants",
        "2 is as good", "Headroom", "40 %", "Times", "1.2 s", "Charts",
    ):  # fmt: skip
        assert words in tree.text
    assert len(tree.named("caption")) == len(tree.named("table"))


def test_a_survivor_is_on_the_page_once_with_its_diff_and_what_may_be_copied() -> None:
    survived = finding(f"no check notices the change:\n{DIFF}").model_copy(
        update={"remedy": "say why in mutants.toml:\n[[equivalent]]\nline = 'x'\n"}
    )
    rate = case(CaseKind.GENERATED, "kill-rate", "Too few are noticed.", survived)
    page = html.page(proven().model_copy(update={"cases": [rate], "made": made(3, survivors=1)}))
    assert page.count('<span class="plus">') == 1
    assert "<code>[[equivalent]]\nline = &#x27;x&#x27;</code>" in page


def test_the_matrix_marks_the_tier_that_must_notice_a_mistake() -> None:
    page = html.page(proven()).partition("<h2>Kill matrix</h2>")[2]
    row = page[page.index("<code>tripled</code>") :].partition("</tr>")[0]
    first, expected, later = re.findall(r'<td(?: class="([^"]*)")?>(.*?)</td>', row)
    assert ("expected" in first[0], "noticed" in first[1]) == (False, False)
    assert ("expected" in expected[0], "noticed" in expected[1]) == (True, True)
    assert ("expected" in later[0], "noticed" in later[1]) == (False, True)
    foot = page[page.index("<tfoot>") :].partition("</tfoot>")[0]
    assert re.findall(r"<td[^>]*>(\d+)</td>", foot) == ["0", "1", "2"]


def test_a_chart_that_cannot_be_drawn_is_its_numbers_and_the_reason() -> None:
    chart = proven().charts[0].model_copy(update={"spec": {"mark": "no such mark"}})
    tree = Tree(html.page(proven().model_copy(update={"charts": [chart]})))
    assert not tree.named("img")
    assert "cannot be drawn" in tree.text
    assert "0.75" in tree.text


def test_charts_are_drawn_for_light_and_dark_paper() -> None:
    tree = Tree(html.page(proven()))
    (light,), (dark,) = tree.named("img"), tree.named("source")
    assert dark["media"] == "(prefers-color-scheme: dark)"
    assert light["src"] != dark["srcset"]
    assert light["alt"] == "Weights"


@pytest.mark.parametrize("make", [proven, failing])
def test_a_proof_that_came_to_nothing_still_has_a_page(make: Callable[[], Proof]) -> None:
    bare = Proof(
        problem="double", title="double", folder="f", version="", seeds=0, cases=make().cases
    )
    assert "Kill matrix" not in Tree(html.page(bare)).text


def test_pages_are_written_with_an_index_of_several(tmp_path: Path) -> None:
    assert html.write_pages([proven()], tmp_path / "one") == [tmp_path / "one/double.html"]
    written = html.write_pages([proven(), failing()], tmp_path / "two")
    assert [path.name for path in written] == ["double.html", "hostile.html", "index.html"]
    index = Tree(written[-1].read_text(encoding="utf-8"))
    assert [each["href"] for each in index.named("a")] == ["double.html", "hostile.html"]
    assert "1 of 2 exercises proven" in index.text
