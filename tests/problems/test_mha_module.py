"""The checks of `mha-module`, proven in this process, without a sandbox."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.checks import Charts, CheckInfo, RecordedChart
from judge.problem import load_problem
from judge.service.statement import sections
from sandbox.runner.forbidden import find, resolve
from tests.problems.local_session import LocalSession, failing_tiers, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "mha-module"
PROBLEM = load_problem(FOLDER)
SEEDS = (0, 2**63 - 1)
CONSTRUCTOR = PROBLEM.starter(PROBLEM.files[0]).decode().partition("    def forward")[0]
# Right but for the rule that they break, which only a box enforces; and the names they break it by.
BY_NAME = {
    "uses_library_module": "torch.nn.MultiheadAttention",
    "imports_library_module": "torch.nn.MultiheadAttention",
    "uses_library_function": "torch.nn.functional.multi_head_attention_forward",
    "uses_native_operator": "torch._native_multi_head_attention",
}
HIDDEN = {
    "library_module_by_getattr",
    "library_module_inside_a_layer",
    "library_function_by_getattr",
    "native_operator_by_getattr",
}
PITFALLS = {
    "scale-by-model-width", "scale-by-width", "no-scale", "token-hidden-from-itself",
    "next-token-visible", "past-hidden", "causal-ignored", "causal-always", "hidden-scores-zero",
    "masked-after-softmax", "merge-without-transpose", "split-by-view-alone",
    "split-and-merge-by-view", "interleaved-heads", "out-proj-forgotten", "keys-from-q-proj",
    "values-from-k-proj", "softmax-over-queries", "residual-added", "one-head", "float32-inside",
    "detached-weights", "no-gradients",
}  # fmt: skip
WRONG = [each for each in PROBLEM.rejected if Path(each.name).stem not in HIDDEN | BY_NAME.keys()]
FORBIDDEN = [each for each in PROBLEM.rejected if each not in WRONG]
HEADS_APART = next(each for each in WRONG if each.name.endswith("T0/heads_left_apart.py"))
SHOWN = ("merge-without-transpose", "keys-from-q-proj", "interleaved-heads", "past-hidden")
OF_THE_MASK = ("next-token-visible", "past-hidden", "causal-ignored", "hidden-scores-zero")
USED = (*SHOWN, *OF_THE_MASK, "out-proj-forgotten")


@dataclass(frozen=True)
class Proof:
    """Every run of the checks: the failing ones, by source and seed."""

    checks: list[CheckInfo]
    others: dict[str, dict[int, dict[str, str]]]
    charts: dict[str, list[RecordedChart]]

    def tiers(self, name: str) -> dict[int, list[str]]:
        return {seed: failing_tiers(failures) for seed, failures in self.others[name].items()}


def _prove(session: LocalSession) -> Proof:
    mutants = {mutant.id: PROBLEM.mutate(mutant) for mutant in PROBLEM.mutants}
    sources = {name: mutants[name] for name in USED}
    sources |= {each.name: each.source for each in (*FORBIDDEN, HEADS_APART)}
    sources |= {"nan": _answering("x * torch.nan")}
    others = {
        name: {seed: session.failures(source, seed) for seed in SEEDS}
        for name, source in sources.items()
    }
    charts = {}
    for name in ("out-proj-forgotten", "keys-from-q-proj", "nan"):
        collected = Charts("submission")
        session.failures(sources[name], 0, collected)
        charts[name] = collected.recorded
    return Proof(session.checks, others, charts)


def _answering(expression: str) -> bytes:
    forward = f"    def forward(self, x, causal=False):\n        return {expression}\n"
    return f"{CONSTRUCTOR}{forward}".encode()


@pytest.fixture(scope="module")
def proof() -> Proof:
    return in_session(FOLDER, _prove)


def test_there_are_at_least_20_checks_each_with_words_for_the_student(proof: Proof) -> None:
    assert len(proof.checks) >= 20
    for check in proof.checks:
        for sentence in (check.title, check.why):
            assert sentence.endswith("."), check.id
            assert "!" not in sentence, check.id
            assert len(sentence) <= 120, check.id
    assert len({check.title for check in proof.checks}) == len(proof.checks)


def test_every_pitfall_of_the_statement_is_a_mutant_with_a_hint() -> None:
    pitfalls = {mutant.id for mutant in PROBLEM.mutants if mutant.pitfall}
    assert pitfalls == PITFALLS
    for mutant in PROBLEM.mutants:
        assert mutant.hint.endswith("."), mutant.id


def test_constructor_is_the_same_in_starter_and_reference() -> None:
    body = CONSTRUCTOR.partition("    def __init__")[2]
    assert body
    assert body in PROBLEM.reference.decode()


def test_editorial_leads_from_the_problem_in_seven_steps_to_the_pattern() -> None:
    titles = [title for title, _ in sections((FOLDER / "editorial.md").read_text("utf-8"))]
    assert titles[0] == "The problem"
    assert [title[:7] for title in titles[1:8]] == [f"Step {step}:" for step in range(1, 8)]
    assert titles[8:] == ["Key functions and tricks", "How to recognise the pattern"]


def test_forbidden_solutions_would_get_past_the_interface_and_the_oracle(proof: Proof) -> None:
    assert {Path(each.name).stem for each in FORBIDDEN} == HIDDEN | BY_NAME.keys()
    for each in FORBIDDEN:
        assert each.tier == "T0"
        for tiers in proof.tiers(each.name).values():
            assert not {"T0", "T1"} & {*tiers}, each.name


def test_forbidden_names_exist_and_are_found_in_the_sources_that_use_them() -> None:
    entries = PROBLEM.setting.forbidden
    for entry in entries:
        assert resolve(entry.name) is not None
    for each in (*PROBLEM.rejected, *PROBLEM.accepted):
        use = find({"solution.py": each.source}, entries)
        found = None if use is None else entries[use.rule].name
        assert found == BY_NAME.get(Path(each.name).stem), each.name


def test_experiment_catches_the_mistakes_it_shows(proof: Proof) -> None:
    for name in SHOWN:
        assert all("T3" in tiers for tiers in proof.tiers(name).values()), name


def test_mistake_in_the_mask_leaves_the_calls_without_one_alone(proof: Proof) -> None:
    for name in OF_THE_MASK:
        failed = proof.others[name][0]
        assert "test_t1_oracle::test_causal" in failed, name
        assert "test_t1_oracle::test_all_tokens_see_each_other" not in failed, name


def test_messages_name_the_largest_error_its_place_and_the_limit(proof: Proof) -> None:
    message = proof.others["out-proj-forgotten"][0]["test_t1_oracle::test_causal"]
    pattern = (
        r"The causal output: largest error \d.* at \[\d, \d, \d+\]; "
        r"the limit is rtol 1e-07, atol 1e-09\."
    )
    assert re.fullmatch(pattern, message)


def test_session_says_which_of_its_lines_is_another(proof: Proof) -> None:
    failed = proof.others[HEADS_APART.name][0]
    message = failed["test_t0_interface::test_session_of_the_statement"]
    assert message == (
        "Line 3 of what the session prints is 'torch.Size([2, 4, 5, 4])'; "
        "'torch.Size([2, 5, 16])' is expected."
    )


def test_charts_are_recorded_also_when_the_numbers_are_wrong(proof: Proof) -> None:
    for recorded in proof.charts.values():
        assert [chart.id for chart in recorded] == ["relations", "causal-relations"]
        for chart in recorded:
            text = json.dumps(chart.spec, allow_nan=False)
            assert "analytic target" in text
            assert "submission" in text


def test_charts_show_the_exact_fractions_beside_the_submission(proof: Proof) -> None:
    free, causal = proof.charts["keys-from-q-proj"]
    assert len(free.table) == len(causal.table) == 72
    rows = {(row["head"], row["token"], row["looks at"]): row for row in free.table}
    row = rows["head 0: the token before", "5 A", "4 B"]
    assert row["fraction"] == "8/13"
    assert row["analytic target"] == pytest.approx(8 / 13)
    assert rows["head 1: the same letter", "5 A", "0 A"]["fraction"] == "4/15"
    assert row["submission"] != row["analytic target"]
    hidden = [row for row in causal.table if str(row["looks at"]) > str(row["token"])]
    assert {row["fraction"] for row in hidden} == {"hidden"}
    assert {row["analytic target"] for row in hidden} == {0}


def test_numbers_that_cannot_be_drawn_are_gaps_in_the_chart_and_words_in_the_table(
    proof: Proof,
) -> None:
    chart = proof.charts["nan"][0]
    assert {row["submission"] for row in chart.table} == {"NaN"}
    data = chart.spec["data"]
    assert isinstance(data, dict)
    values = data["values"]
    assert isinstance(values, list)
    assert all(isinstance(row, dict) and row["submission"] is None for row in values)
