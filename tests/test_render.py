from __future__ import annotations

import io
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType

from judge.render import LEGEND, SYMBOLS, array_window, headline, note, report, show, tier_table
from judge.results import (
    CheckResult,
    Detail,
    Diagnosis,
    Environment,
    Frame,
    Limits,
    Output,
    Result,
    Table,
    TierResult,
    Timing,
)
from judge.verdicts import Verdict


def table(rows: list[list[str]], differs: list[list[bool]]) -> Table:
    return Table(
        shape=[2, 2, 4], dtype="float64", prefix=[1], row_labels=[0, 1], column_labels=[2, 3],
        rows=rows, differs=differs,
    )  # fmt: skip


DETAIL = Detail(
    expected=table([["0.5", "0.25"], ["1", "-2.125"]], [[False, False], [False, False]]),
    got=table([["0.5", "0.75"], ["1", "-2.125"]], [[False, True], [False, False]]),
    max_abs=0.5, max_rel=2.0, at=[1, 0, 3], limit="rtol 1e-07, atol 1e-09",
)  # fmt: skip


def check(
    verdict: Verdict = Verdict.WA, *, name: str = "test_output", detail: Detail | None = None,
    message: str = "output: largest error 0.5 at [1, 0, 3]; the limit is 1e-07",
) -> CheckResult:  # fmt: skip
    return CheckResult(
        id=name, title="The output agrees with the oracle.", kind="oracle",
        why="Everything later is built on it.", verdict=verdict,
        message="" if verdict is Verdict.AC else message, detail=detail,
    )  # fmt: skip


def result(
    *failing: CheckResult, diagnosis: list[Diagnosis] | None = None, output: str = ""
) -> Result:
    verdict = failing[0].verdict if failing else Verdict.AC
    checks = [*failing, check(Verdict.AC, name="test_fine")]
    return Result(
        id="1", problem="multi-head-attention", problem_version="0" * 64, kind="submit",
        state="finished", verdict=verdict, score=0.5,
        tiers=[
            TierResult(id="T0", title="Interface", verdict=Verdict.AC, passed=1, total=1,
                       checks=[check(Verdict.AC)]),
            TierResult(id="T1", title="Oracle", verdict=verdict, passed=1, total=len(checks),
                       checks=checks),
            TierResult(id="T3", title="Experiment", verdict=Verdict.SK, passed=0, total=3,
                       checks=[]),
        ],
        diagnosis=diagnosis or [], output=Output(text=output), seed=42,
        limits=Limits(wall_s=10, cpu_s=10, memory_bytes=1 << 29, output_bytes=1 << 20,
                      source_bytes=1 << 16),
        timing=Timing(judged_ms=96.4),
        environment=Environment(sandbox="docker/nested", image="", torch="2.13.0", numpy="2.4.6"),
    )  # fmt: skip


def shown(
    renderable: RenderableType, *, colour: bool = False, soft_wrap: bool = False, width: int = 100
) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour,
        color_system="standard" if colour else None, markup=False, highlight=False, emoji=False,
    )  # fmt: skip
    with console.capture() as captured:
        console.print(renderable, soft_wrap=soft_wrap)
    return captured.get()


def report_of(judged: Result) -> str:
    return shown(report(judged, "attempt.py"))


def test_the_headline_says_verdict_place_score_and_time() -> None:
    assert shown(headline(result(check()), "attempt.py")).strip() == (
        "✗ WA  attempt.py  Wrong answer at T1 Oracle · score 0.50 · 96 ms · docker/nested"
    )


def test_an_accepted_submission_needs_no_place() -> None:
    assert report_of(result()).startswith("✓ AC  attempt.py  Accepted · score 0.50")


def test_a_note_is_never_broken_so_that_it_can_be_copied() -> None:
    long = "judge run " + "x" * 200
    assert shown(note("replay", [long, "second"]), soft_wrap=True).splitlines() == [
        f"  replay          {long}",
        "                  second",
    ]


def test_the_tier_table_has_a_row_for_each_tier() -> None:
    rows = shown(tier_table(result(check()).tiers)).splitlines()
    assert [row.split() for row in rows] == [
        ["✓", "AC", "T0", "Interface", "1/1"],
        ["✗", "WA", "T1", "Oracle", "1/2"],
        [SYMBOLS[Verdict.SK], "SK", "T3", "Experiment", "not", "run"],
    ]


def test_advice_is_told_after_the_verdict_and_looks_like_none() -> None:
    advice = TierResult(
        id="T4", title="Cost", verdict=Verdict.WA, passed=0, total=1, advisory=True,
        checks=[check(name="test_memory", message="the call held 57 MiB")],
    )  # fmt: skip
    accepted = result()
    judged = accepted.model_copy(update={"tiers": [*accepted.tiers, advice]})
    text = report_of(judged)
    assert text.startswith("✓ AC  attempt.py  Accepted")
    assert text.index("T4 is advisory") < text.index("the call held 57 MiB")
    rejected = result(check())
    both = report_of(rejected.model_copy(update={"tiers": [advice, *rejected.tiers]}))
    assert "Wrong answer at T1 Oracle" in both
    assert both.index("T1 > test_output") < both.index("T4 is advisory")
    rows = shown(tier_table(judged.tiers), colour=True).splitlines()
    assert "Cost (advisory)" in rows[-1]
    assert "\x1b[31m" not in rows[-1]
    assert "\x1b[1;31m" not in rows[-1]


def test_a_failing_check_is_told_in_the_order_of_a_readers_questions() -> None:
    known = [Diagnosis(pitfall="keys-with-w-q", hint="Keys have a matrix of their own.")]
    text = report_of(result(check(detail=DETAIL), diagnosis=known, output="printed line"))
    parts = [
        "T1 > test_output", "The output agrees with the oracle.", "largest error 0.5 at [1, 0, 3]",
        "expected float64", "got float64", "Keys have a matrix of their own.",
        "Everything later is built on it.", "printed line",
    ]  # fmt: skip
    positions = [text.index(part) for part in parts]
    assert positions[:4] == sorted(positions[:4])
    assert positions[5:] == sorted(positions[5:])


def test_a_window_is_aligned_and_marks_what_differs() -> None:
    assert DETAIL.got is not None
    assert not isinstance(DETAIL.got, str)
    assert [line.rstrip() for line in shown(array_window(DETAIL.got, "got")).splitlines()] == [
        "got float64[2, 2, 4] at [1]",
        "   ...    2       3",
        "0  ...  0.5   *0.75",
        "1  ...    1  -2.125",
    ]


def test_a_window_shows_on_which_sides_the_array_goes_on() -> None:
    inner = Table(
        shape=[9, 9], dtype="int64", row_labels=[4, 5], column_labels=[4, 5],
        rows=[["1", "2"], ["3", "4"]], differs=[[False, False], [False, True]],
    )  # fmt: skip
    assert array_window(inner, "got").plain.splitlines() == [
        "got int64[9, 9]",
        "     ...  4   5  ...",
        "...",
        "  4  ...  1   2  ...",
        "  5  ...  3  *4  ...",
        "...",
    ]


def test_a_whole_array_has_no_ellipsis() -> None:
    for shape in ([2], [1, 2], [3, 1, 2]):
        whole = Table(
            shape=shape, dtype="int64", row_labels=[0], column_labels=[0, 1], rows=[["1", "2"]],
            differs=[[False, False]],
        )  # fmt: skip
        assert "..." not in array_window(whole, "got").plain


def test_the_mark_is_explained_once_where_there_is_one() -> None:
    text = report_of(result(check(detail=DETAIL)))
    assert text.count(LEGEND) == 1
    unmarked = DETAIL.model_copy(update={"got": DETAIL.expected})
    assert LEGEND not in report_of(result(check(detail=unmarked)))


def test_columns_that_do_not_fit_are_cut_but_for_the_one_that_matters() -> None:
    wide = Table(
        shape=[1, 6], dtype="float64", row_labels=[0], column_labels=list(range(6)),
        rows=[[f"{n}.23456789e-15" for n in range(6)]], differs=[[n == 4 for n in range(6)]],
    )  # fmt: skip
    detail = Detail(expected=wide, got=wide, at=[0, 4])
    for width in (30, 45, 59, 80):
        lines = shown(report(result(check(detail=detail)), "x.py"), width=width).splitlines()
        rows = [line for line in lines if "*4.23456789e-15" in line]
        assert len(rows) == 2
        assert all("..." in row and len(row) <= width for row in rows)


def test_expected_and_got_stand_side_by_side() -> None:
    lines = report_of(result(check(detail=DETAIL))).splitlines()
    row = next(line for line in lines if "*0.75" in line)
    assert "0.25" in row.partition("*0.75")[0]


def test_windows_stand_one_below_the_other_where_there_is_no_room() -> None:
    text = shown(report(result(check(detail=DETAIL)), "attempt.py"), width=55)
    assert "…" not in text
    lines = text.splitlines()
    expected = next(index for index, line in enumerate(lines) if "expected float64" in line)
    assert "got float64" in lines[expected + 4]


def test_words_instead_of_tables_are_shown_too() -> None:
    text = report_of(result(check(detail=Detail(expected="shape [2, 3]", got="None"))))
    assert "shape [2, 3]" in text
    assert "got             None" in text


def test_frames_are_shown_with_their_line_and_a_caret_where_known() -> None:
    frames = [
        Frame(file="solution.py", line=7, function="merge", text="    return x.rshape(2)"),
        Frame(file="solution.py", line=3, function="", text="    x = (1", column=9),
    ]
    lines = [
        line.rstrip()
        for line in report_of(result(check(detail=Detail(frames=frames)))).splitlines()
    ]
    where = next(index for index, line in enumerate(lines) if "solution.py:7 in merge" in line)
    assert lines[where + 1].endswith("    return x.rshape(2)")
    assert lines[where + 3].index("(") == lines[where + 4].index("^")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("\tx\t= (1", "("),
        ("  \tx = '\x1b[31m' + (1", "("),
        ("    '数学' + (1", "("),
        ("    if x", ""),
    ],
)
def test_a_caret_is_below_what_it_marks_whatever_is_before_it(text: str, marked: str) -> None:
    column = text.index(marked) + 1 if marked else len(text) + 1
    frame = Frame(file="solution.py", line=3, function="", text=text, column=column)
    lines = report_of(result(check(detail=Detail(frames=[frame])))).splitlines()
    where = next(index for index, line in enumerate(lines) if "solution.py:3" in line)
    source, caret = lines[where + 1].rstrip(), lines[where + 2].rstrip()
    before = source[: source.index(marked)] if marked else source
    assert cell_len(caret) == cell_len(before) + 1
    assert caret.endswith("^")


def test_code_that_was_not_imported_is_not_said_to_break_a_check() -> None:
    text = report_of(result(check(Verdict.CE, message="The code does not compile.")))
    assert "The code does not compile." in text
    assert "The output agrees with the oracle." not in text


def test_other_failing_checks_are_named_and_counted() -> None:
    others = [check(name=f"test_{index}") for index in range(12)]
    text = report_of(result(check(), *others))
    assert "test_7" in text
    assert "test_8" not in text
    assert "... and 4 more" in text


def test_a_students_text_is_neither_markup_nor_a_terminal_command() -> None:
    hostile = "[bold red]x[/bold red] :smile: \x1b[31mred\x1b]0;title\x07 \u202egnp"
    frame = Frame(file="solution.py", line=1, function=hostile, text=hostile)
    judged = result(
        check(message=hostile, detail=Detail(expected=hostile, got=hostile, frames=[frame])),
        diagnosis=[Diagnosis(pitfall="p", hint=hostile)], output=hostile,
    )  # fmt: skip
    text = report_of(judged)
    assert "[bold red]x[/bold red] :smile:" in text
    assert not set(text) & {"\x1b", "\x07", "\u202e"}


def test_long_output_is_cut_and_says_so() -> None:
    text = report_of(result(check(), output="\n".join(f"line {n}" for n in range(50))))
    assert "line 19" in text
    assert "line 20" not in text
    assert "... 30 more lines" in text


def test_output_is_cut_at_the_lines_it_takes_on_the_screen() -> None:
    text = shown(report(result(check(), output="x" * 6200), "x.py"), width=80)
    assert text.count("xxx\n") + text.count("xxx ") <= 21
    assert "... 80 more lines" in text  # of 62 columns


def test_output_that_was_not_kept_is_told() -> None:
    few, many = (
        result().model_copy(update={"output": Output(text=text, truncated=True)})
        for text in ("one\n", "one\n" * 50)
    )
    assert "... more, which was not kept" in report_of(few)
    assert "... at least 30 more lines" in report_of(many)


def test_a_long_message_is_cut_and_says_so() -> None:
    text = report_of(result(check(Verdict.RE, message="\n".join(f"m {n}" for n in range(635)))))
    assert "... 615 more lines" in text
    assert "m 20" not in text


def test_equal_frames_are_told_once_and_the_innermost_ones_are_kept() -> None:
    again = Frame(file="solution.py", line=2, function="f", text="return f(x)")
    others = [Frame(file="solution.py", line=n, function="g", text="y") for n in range(10, 40)]
    text = report_of(result(check(Verdict.RE, detail=Detail(frames=[again] * 31))))
    assert text.count("solution.py:2 in f") == 1
    assert "... 30 more like this" in text
    text = report_of(result(check(Verdict.RE, detail=Detail(frames=[again, *others]))))
    assert "... 42 more lines" in text
    assert "solution.py:39 in g" in text
    assert "solution.py:2 in f" not in text


@pytest.mark.parametrize(
    "verdict", [Verdict.RE, Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.RV, Verdict.JE]
)
def test_only_a_wrong_answer_says_what_should_hold_and_why_it_matters(verdict: Verdict) -> None:
    text = report_of(result(check(verdict), check(name="test_other")))
    assert "while checking  The output agrees with the oracle." in text
    for part in ("should hold", "Everything later", "also failing", "test_other"):
        assert part not in text
    wrong = report_of(result(check(), check(name="test_other")))
    for part in ("should hold", "Everything later", "also failing", "test_other"):
        assert part in wrong


def test_lines_do_not_end_in_blanks_where_no_terminal_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    console = Console(file=sys.stdout, width=100)
    show(console, report(result(check(detail=DETAIL), output="printed"), "x.py"))
    text = capsys.readouterr().out
    assert "printed" in text
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_colour_is_used_on_a_terminal_only() -> None:
    assert "\x1b[" in shown(headline(result(), "attempt.py"), colour=True)
    assert "\x1b[" not in shown(headline(result(), "attempt.py"))
