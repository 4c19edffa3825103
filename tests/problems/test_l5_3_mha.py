"""The checks of `l5-3-mha`, proven without a sandbox."""

from __future__ import annotations

import ast
import importlib
import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.checks import Charts, CheckInfo, LocalSubmission, RecordedChart
from judge.problem import load_problem
from sandbox.runner.own_rules import Breach, find_breach
from tests.problems.local_session import LocalSession, failing_tiers, in_session

FOLDER = Path(__file__).parents[2] / "problems" / "l5-3-mha"
PROBLEM = load_problem(FOLDER)
SEEDS = (0, 2**63 - 1)
# The course tests: name, kind and tier.
COURSE_TESTS = {
    "hand_example_two_heads": ("unit", "T1"),
    "hand_example_one_head_mixes_everything": ("unit", "T1"),
    "golden_torch": ("golden", "T1"),
    "gradcheck_inputs_and_parameters": ("gradcheck", "T2"),
    "split_and_merge_layout": ("property", "T2"),
    "heads_are_independent": ("property", "T2"),
    "one_head_is_projected_attention": ("differential", "T1"),
    "mask_shapes_agree": ("property", "T2"),
    "masked_keys_are_never_read": ("property", "T2"),
    "cross_attention_reads_keys_from_x_kv": ("property", "T2"),
    "dropout_only_in_training": ("unit", "T2"),
    "parameter_names_shapes_and_init": ("unit", "T0"),
    "load_packed_in_proj": ("unit", "T2"),
    "validation": ("boundary", "T0"),
}
# The mistakes that grade student tests, and course tests that catch each.
CAUGHT_BY = {
    "s01-merge-without-transpose": {"split_and_merge_layout", "golden_torch"},
    "s02-split-without-transpose": {"split_and_merge_layout", "golden_torch"},
    "s03-scale-by-model-width": {"hand_example_two_heads", "golden_torch"},
    "s04-keys-from-x-q": {"cross_attention_reads_keys_from_x_kv"},
    "s05-sequence-mask-on-heads": {"mask_shapes_agree"},
    "s06-dropout-in-eval": {"dropout_only_in_training"},
    "s07-packed-rows-k-q-v": {"load_packed_in_proj"},
    "s08-output-projection-skipped": {"one_head_is_projected_attention"},
}
GRADED = list(CAUGHT_BY)
LAST_LINE = "return self.out_proj(self.merge_heads(heads)), weights"
STEP = 1e-3


@dataclass(frozen=True)
class Proof:
    """Every run of the checks: the failing ones, by source and seed; and what was frozen."""

    checks: list[CheckInfo]
    others: dict[str, dict[int, dict[str, str]]]
    charts: dict[str, list[RecordedChart]]
    frozen: dict[str, np.ndarray]
    recomputed: dict[str, np.ndarray]
    worked: tuple[np.ndarray, ...]

    def tiers(self, name: str) -> dict[int, list[str]]:
        return {seed: failing_tiers(failures) for seed, failures in self.others[name].items()}

    def failing(self, name: str) -> set[str]:
        """Names of the failing checks, without file and `test_`."""
        return {check.partition("::test_")[2] for check in self.others[name][0]}


def _prove(session: LocalSession) -> Proof:
    sources = {mutant.id: PROBLEM.mutate(mutant) for mutant in PROBLEM.graded_mutants}
    sources |= {"nan": _answering("x_q * np.nan, weights * np.nan")}
    others = {
        name: {seed: session.failures(source, seed) for seed in SEEDS}
        for name, source in sources.items()
    }
    charts = {}
    for name in ("s03-scale-by-model-width", "nan"):
        collected = Charts("submission")
        session.failures(sources[name], 0, collected)
        charts[name] = collected.recorded
    # The checks' own modules can be imported only while the session is open.
    frozen, oracle, t1 = map(importlib.import_module, ("frozen", "oracle", "test_t1_oracle"))
    worked = (*oracle.expected(t1._hand_example(2)), *oracle.expected(t1._hand_example(1)))
    recomputed = _central_differences(oracle.expected, *frozen.frozen_case())
    kept = np.array([each == "1" for each in frozen.KEPT])
    return Proof(
        session.checks,
        others,
        charts,
        {**frozen.GRADIENTS, "kept": kept},
        {**recomputed, "kept": _first_draws(session)},
        worked,
    )


def _answering(expression: str) -> bytes:
    source = PROBLEM.reference.decode()
    assert source.count(LAST_LINE) == 1
    return source.replace(LAST_LINE, f"return {expression}").encode()


def _central_differences(
    expected: Callable[[Any], tuple[np.ndarray, np.ndarray]],
    case: Any,
    d_output: np.ndarray,
    d_weights: np.ndarray,
) -> dict[str, np.ndarray]:
    """Gradients of the oracle's loss by five points; arrays are changed in place and put back."""

    def slope(array: np.ndarray, at: tuple[int, ...]) -> float:
        here, totals = array[at], []
        for steps in (1, -1, 2, -2):
            array[at] = here + steps * STEP
            output, weights = expected(case)
            totals.append((output * d_output).sum() + (weights * d_weights).sum())
        array[at] = here
        return float(8 * (totals[0] - totals[1]) - (totals[2] - totals[3])) / (12 * STEP)

    arrays = {"x_q": case.x_q, "x_kv": case.x_kv, **case.state}
    return {
        name: np.array([slope(array, at) for at in np.ndindex(array.shape)]).reshape(array.shape)
        for name, array in arrays.items()
    }


def _first_draws(session: LocalSession) -> np.ndarray:
    """Which weights the first two calls in training keep, as tinyllm's generator says."""
    source = b"""
from tinyllm import PCG32

def kept():
    stream = PCG32(0).substream("dropout")
    return [stream.random((1, 2, 3, 3)) >= 0.5 for _ in range(2)]
"""
    main = session.setting.main
    submission = LocalSubmission.from_sources({main: source}, _without_harness(session))
    return np.array(submission.kept()).reshape(-1)


def _without_harness(session: LocalSession) -> Any:
    setting = session.setting
    return type(setting)(main=setting.main, module=setting.module, library=setting.library)


@pytest.fixture(scope="module")
def proof() -> Proof:
    return in_session(FOLDER, _prove)


# --- the checks -----------------------------------------------------------------------------------


def test_the_fourteen_course_tests_have_their_kinds_and_tiers(proof: Proof) -> None:
    found = {}
    for check in proof.checks:
        name = check.id.partition("::test_")[2]
        if name in COURSE_TESTS:
            found[name] = (check.kind, failing_tiers({check.id: ""})[0])
    assert found == COURSE_TESTS


@pytest.mark.parametrize("name", GRADED)
def test_graded_mistake_is_caught_by_the_course_tests_made_for_it(proof: Proof, name: str) -> None:
    assert proof.failing(name) >= CAUGHT_BY[name]


def test_only_checks_about_masks_notice_a_sequence_mask_on_the_heads(proof: Proof) -> None:
    found = proof.failing("s05-sequence-mask-on-heads")
    assert found == {"mask_shapes_agree", "head_mask_gives_every_sequence_its_own"}


def test_messages_name_what_is_off_its_place_and_the_limit(proof: Proof) -> None:
    failures = proof.others["s08-output-projection-skipped"][0]
    message = failures["test_t1_oracle::test_one_head_is_projected_attention"]
    pattern = (
        r"The output: largest error \d.* at \[\d, \d, \d\]; the limit is rtol 1e-07, atol 1e-09\."
    )
    assert re.fullmatch(pattern, message)


def test_frozen_numbers_are_those_of_the_oracle_and_of_the_generator(proof: Proof) -> None:
    assert proof.frozen.keys() == proof.recomputed.keys()
    for name, values in proof.frozen.items():
        np.testing.assert_allclose(values, proof.recomputed[name], rtol=0, atol=1e-10)


# --- charts ---------------------------------------------------------------------------------------


def test_charts_are_recorded_also_when_the_numbers_are_wrong(proof: Proof) -> None:
    for recorded in proof.charts.values():
        assert [chart.id for chart in recorded] == ["favourites", "outvoted"]
        for chart in recorded:
            text = json.dumps(chart.spec, allow_nan=False)
            assert "closed form" in text
            assert "submission" in text


def test_charts_show_the_worked_example_and_who_is_outvoted(proof: Proof) -> None:
    favourites, outvoted = proof.charts["s03-scale-by-model-width"]
    exact = [row["closed form"] for row in favourites.table]
    worked = [0.669762, 0.330238, 0.055807, 0.944193, 0.182426, 0.817574]
    np.testing.assert_allclose(np.array(exact, float), worked, atol=1e-6)
    assert any(row["submission"] != row["closed form"] for row in favourites.table)
    lines = np.array([row["closed form"] for row in outvoted.table], float).reshape(3, -1)
    assert np.ptp(lines[0]) == 0
    assert lines[2, 0] > 0.6
    assert lines[2, -1] < 0.05


# --- what the page says ---------------------------------------------------------------------------


def test_pitfalls_are_the_first_seven_graded_mistakes() -> None:
    assert [mutant.id for mutant in PROBLEM.mutants if mutant.pitfall] == GRADED[:7]
    assert [mutant.id for mutant in PROBLEM.graded_mutants] == GRADED
    assert list(PROBLEM.must_kill) == GRADED[:7]


def test_worked_example_of_the_statement_is_right(proof: Proof) -> None:
    statement = PROBLEM.contents["statement.md"].decode()
    numbers = np.concatenate([each.reshape(-1) for each in proof.worked])
    for number in numbers:
        assert f"{number:.6f}" in statement or number == 0, number


@pytest.mark.parametrize("example", PROBLEM.manifest.examples, ids=lambda each: each.title)
def test_example_prints_what_the_page_says(example: Any) -> None:
    code = textwrap.indent(example.code.strip(), "    ")
    source = f"""{PROBLEM.reference.decode()}
import contextlib, io
_said = io.StringIO()
with contextlib.redirect_stdout(_said):
{code}

def said():
    return _said.getvalue()
"""
    submission = LocalSubmission.from_sources({PROBLEM.main_file: source.encode()}, PROBLEM.setting)
    assert submission.said().strip() == example.output.strip()


# --- students' own tests --------------------------------------------------------------------------


def _breach(suite: bytes) -> Breach | None:
    own = PROBLEM.manifest.tests
    assert own is not None
    return find_breach(ast.parse(suite), own.imports)


@pytest.mark.parametrize(
    "name",
    [
        "accepted/good",
        "rejected/no_batch_equals_heads",
        "rejected/always_fails",
    ],
)
def test_suite_keeps_to_the_contract(name: str) -> None:
    assert _breach(PROBLEM.contents[f"suites/{name}.py"]) is None


def test_suite_of_the_starter_keeps_to_the_contract() -> None:
    assert _breach(PROBLEM.starter(PROBLEM.files[1])) is None


def test_suite_that_reads_the_source_is_refused() -> None:
    assert _breach(PROBLEM.contents["suites/rejected/reads_source.py"]) is not None
