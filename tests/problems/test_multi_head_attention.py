"""The checks of `multi-head-attention`, proven in this process, without a sandbox."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from judge.checks import Charts, CheckInfo, RecordedChart
from judge.problem import load_problem
from tests.problems.local_session import LocalSession, failing_tiers, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "multi-head-attention"
PROBLEM = load_problem(FOLDER)
SEEDS = (0, 2**63 - 1)
NAN = b"""
import torch

def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    rows = (query.shape[0], num_heads, query.shape[1], key.shape[1])
    return query * torch.nan, query.new_full(rows, torch.nan)
"""
USED = ("merge-without-transpose", "keys-with-w-q", "interleaved-heads", "w-o-forgotten")
PITFALLS = {
    "keys-with-w-q", "mask-dropped", "merge-without-transpose", "w-o-forgotten",
    "scale-by-model-width", "weights-averaged", "return-order-swapped", "transposed-orientation",
    "interleaved-heads", "mask-inverted", "first-head-mask", "values-from-key", "dead-rows-nan",
    "dead-rows-uniform", "dead-rows-nan-gradient", "detached-weights", "mask-changed-in-place",
    "float32-inside", "residual-added", "no-scale", "softmax-over-queries",
}  # fmt: skip


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
    sources = {name: mutants[name] for name in USED} | {"nan": NAN}
    others = {
        name: {seed: session.failures(source, seed) for seed in SEEDS}
        for name, source in sources.items()
    }
    charts = {}
    for name in ("w-o-forgotten", "merge-without-transpose", "nan"):
        collected = Charts("submission")
        session.failures(sources[name], 0, collected)
        charts[name] = collected.recorded
    return Proof(session.checks, others, charts)


@pytest.fixture(scope="module")
def proof() -> Proof:
    return in_session(FOLDER, _prove)


def test_there_are_at_least_28_checks_each_with_words_for_the_student(proof: Proof) -> None:
    assert len(proof.checks) >= 28
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


def test_experiment_catches_the_mistakes_it_shows(proof: Proof) -> None:
    for name in USED:
        assert all("T3" in tiers for tiers in proof.tiers(name).values()), name


def test_messages_name_the_largest_error_its_place_and_the_limit(proof: Proof) -> None:
    failures = proof.others["w-o-forgotten"][0]
    message = failures["test_t1_oracle::test_output_of_a_small_cross_attention"]
    pattern = (
        r"The output: largest error \d.* at \[\d, \d, \d\]; the limit is rtol 1e-07, atol 1e-09\."
    )
    assert re.fullmatch(pattern, message)


def test_charts_are_recorded_also_when_the_numbers_are_wrong(proof: Proof) -> None:
    for recorded in proof.charts.values():
        assert [chart.id for chart in recorded] == [
            "routing-weights", "routed-features", "peak-memory", "growth-of-time",
        ]  # fmt: skip
        for chart in recorded:
            text = json.dumps(chart.spec, allow_nan=False)
            assert "analytic target" in text or "the bound" in text
            assert "submission" in text


def test_charts_show_the_exact_fractions_beside_the_submission(proof: Proof) -> None:
    weights, features, *_ = proof.charts["merge-without-transpose"]
    first = weights.table[0]
    assert (first["head"], first["query"], first["key"]) == ("head 0", "query 0", "key 0")
    assert (first["fraction"], first["analytic target"], first["submission"]) == ("6/10", 0.6, 0.6)
    assert len(weights.table) == 12
    assert len(features.table) == 16
    assert any(row["submission"] != row["analytic target"] for row in features.table)


def test_numbers_that_cannot_be_drawn_are_gaps_in_the_chart_and_words_in_the_table(
    proof: Proof,
) -> None:
    weights = proof.charts["nan"][0]
    assert {row["submission"] for row in weights.table} == {"NaN"}
    data = weights.spec["data"]
    assert isinstance(data, dict)
    values = data["values"]
    assert isinstance(values, list)
    assert all(isinstance(row, dict) and row["submission"] is None for row in values)


def test_charts_show_the_cost_beside_what_it_is_measured_by(proof: Proof) -> None:
    memory, time = proof.charts["w-o-forgotten"][2:]
    lengths = [48, 96, 192]
    assert (
        [row["length"] for row in memory.table] == [row["length"] for row in time.table] == lengths
    )
    assert [row["the weights"] for row in memory.table] == [0.1, 0.4, 1.7]
    assert time.table[0]["submission"] == time.table[0]["the work"] == 1.0
