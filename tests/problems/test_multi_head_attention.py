"""The checks of `multi-head-attention`, proven in this process, without a sandbox."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from judge.checks import Charts, CheckInfo, RecordedChart, Rng
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
    oracle: ModuleType

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
    # The checks' own modules can be imported only while the session is open.
    return Proof(session.checks, others, charts, importlib.import_module("oracle"))


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


def test_what_is_expected_is_what_torch_computes(proof: Proof) -> None:
    for case in _cases(proof.oracle):
        for found, right in zip(proof.oracle.expected(case), _by_torch(case), strict=True):
            torch.testing.assert_close(found, right.detach(), rtol=1e-10, atol=1e-12)


def test_gradients_that_are_expected_are_what_torch_computes(proof: Proof) -> None:
    for seed, case in enumerate(_cases(proof.oracle)):
        results, rng = _by_torch(case), Rng(seed, "cotangents")
        cotangents = [rng.normal(*result.shape) for result in results]
        found = proof.oracle.expected_gradients(case, *cotangents)
        right = torch.autograd.grad(results, list(case.tensors.values()), cotangents)
        for gradient, by_torch in zip(found.values(), right, strict=True):
            torch.testing.assert_close(gradient, by_torch, rtol=1e-10, atol=1e-12)


def test_weights_that_are_expected_are_exactly_zero_where_keys_are_hidden(proof: Proof) -> None:
    masked = [case for case in _cases(proof.oracle) if case.mask is not None]
    for case in masked:
        _, weights = proof.oracle.expected(case)
        hidden = ~case.mask.expand_as(weights)
        assert hidden.all(dim=-1).any(), "there is to be a row that sees nothing"
        assert (weights[hidden] == 0).all()
    assert len(masked) == 4


def _cases(oracle: ModuleType) -> Iterator[Any]:
    """Of several sizes, and with masks of every shape, which hide one row at least altogether."""
    rng = Rng(0, "cases")
    yield oracle.draw(rng, requires_grad=True)
    yield oracle.draw(rng, batch=1, queries=1, keys=1, width=3, heads=1, requires_grad=True)
    yield oracle.draw(rng, batch=3, queries=6, keys=4, width=12, heads=4, requires_grad=True)
    yield oracle.draw(rng, width=6, heads=6, requires_grad=True)
    for shape in ((3, 5), (2, 1, 1, 5), (2, 1, 3, 5), (2, 2, 3, 5)):
        mask = rng.visible(*shape)
        mask.view(-1, 5)[-1] = False
        yield oracle.with_mask(oracle.draw(rng, requires_grad=True), mask)


def _by_torch(case: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and weights by the library's own attention, connected to the case's tensors.

    Rows that see nothing are shown everything and then multiplied by zero.
    """
    batch, queries, keys, _, heads = case.shape
    q, k, v = (
        (x @ w).unflatten(-1, (heads, -1)).transpose(1, 2)
        for x, w in ((case.query, case.w_q), (case.key, case.w_k), (case.value, case.w_v))
    )
    mask = torch.ones((), dtype=torch.bool) if case.mask is None else case.mask
    mask = mask.expand(batch, heads, queries, keys)
    alive = mask.any(dim=-1, keepdim=True)
    # Values that are unit vectors come back as the weights themselves.
    units = torch.eye(keys, dtype=q.dtype).expand(batch, heads, keys, keys)
    mixed, weights = (
        scaled_dot_product_attention(q, k, values, mask | ~alive) * alive for values in (v, units)
    )
    return mixed.transpose(1, 2).flatten(2) @ case.w_o, weights
