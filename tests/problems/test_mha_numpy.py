"""What is particular to `mha-numpy`: its pitfalls, its charts and its words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.checks import Charts, RecordedChart
from judge.problem import load_problem
from tests.problems.local_session import LocalSession, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "mha-numpy"
PROBLEM = load_problem(FOLDER)
PITFALLS = {
    "no-scale", "scale-by-model-width", "scale-by-width", "softmax-over-queries",
    "softmax-over-everything", "exponentials-without-shift", "shifted-by-hidden-maximum",
    "interleaved-heads", "split-without-transpose", "merge-without-transpose", "w-o-forgotten",
    "transposed-orientation", "keys-with-w-q", "weights-averaged", "return-order-swapped",
    "mask-dropped", "mask-inverted", "mask-inverted-finite-fill", "mask-multiplied",
    "zeroed-without-renormalising", "mask-for-queries", "mask-as-index", "hidden-weights-tiny",
    "mask-changed-in-place", "x-changed-in-place", "float32-inside",
}  # fmt: skip
RUN = (
    "reference",
    "interleaved-heads",
    "scale-by-model-width",
    "x-changed-in-place",
    "wide_layers_lose_a_head",
)


@dataclass(frozen=True)
class Run:
    """The failing checks and the charts of one source."""

    failures: dict[str, str]
    charts: list[RecordedChart]


def _runs(session: LocalSession) -> dict[str, Run]:
    sources = {mutant.id: PROBLEM.mutate(mutant) for mutant in PROBLEM.mutants}
    sources |= {Path(each.name).stem: each.source for each in PROBLEM.rejected}
    sources["reference"] = PROBLEM.reference
    return {name: _run(session, sources[name]) for name in RUN}


def _run(session: LocalSession, source: bytes) -> Run:
    charts = Charts("submission")
    return Run(session.failures(source, 0, charts), charts.recorded)


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return in_session(FOLDER, _runs)


def test_pitfalls_are_those_of_the_statement() -> None:
    assert {mutant.id for mutant in PROBLEM.mutants if mutant.pitfall} == PITFALLS


def test_example_is_also_a_check_with_the_same_numbers(runs: dict[str, Run]) -> None:
    name = "test_t0_interface::test_worked_example"
    assert name not in runs["reference"].failures
    message = runs["scale-by-model-width"].failures[name]
    assert message.startswith("The weights: largest error 0.0613 at [0, 0, 0]; the limit is ")


def test_two_heads_read_two_relations(runs: dict[str, Run]) -> None:
    chart = runs["reference"].charts[0]
    rows = {
        (row["head"], row["token"]): row
        for row in chart.table
        if row["series"] == "analytic target"
    }
    before, meant = "head 0: the word before", "head 1: the word that is meant"
    assert rows[before, "she"]["and"] == 0.65
    assert rows[before, "it"]["found"] == 0.65
    assert rows[meant, "she"]["Ada"] == 0.65
    assert rows[meant, "it"]["key"] == 0.65


def test_charts_have_a_matrix_for_each_head_and_series(runs: dict[str, Run]) -> None:
    two, one = runs["reference"].charts
    assert [chart.id for chart in (two, one)] == ["two-relations", "one-head"]
    assert [len(chart.table) for chart in (two, one)] == [2 * 2 * 8, 2 * 8]
    for chart in (two, one):
        text = json.dumps(chart.spec, allow_nan=False)
        assert "submission" in text
        assert "analytic target" in text


def test_a_single_head_divides_the_weight_of_a_pronoun(runs: dict[str, Run]) -> None:
    chart = runs["reference"].charts[1]
    she = next(row for row in chart.table if row["token"] == "she")
    assert she["and"] == she["Ada"] == pytest.approx(0.336, abs=1e-3)


def test_experiment_notices_mistakes_that_its_charts_show(runs: dict[str, Run]) -> None:
    name = "test_t3_experiment::test_two_heads_read_two_relations"
    for mistake in ("interleaved-heads", "scale-by-model-width", "wide_layers_lose_a_head"):
        assert name in runs[mistake].failures, mistake
        submitted = runs[mistake].charts[0].table
        assert submitted != runs["reference"].charts[0].table, mistake


def test_messages_say_which_argument_a_call_has_changed(runs: dict[str, Run]) -> None:
    failures = runs["x-changed-in-place"].failures
    name = "test_t0_interface::test_inputs_stay_as_they_are"
    assert failures[name] == "The call changed the argument `X`. It has to stay as passed."


def test_example_of_the_page_prints_what_it_claims(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = PROBLEM.manifest.examples
    space: dict[str, object] = {}
    exec(PROBLEM.reference, space)
    exec(example.code, space)
    assert capsys.readouterr().out.strip() == example.output.strip()
