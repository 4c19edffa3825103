"""Checks that run against a submission in its box read as if it were local.

Each body is a check that passes where the submission is in a box, and where it is beside the check.
"""

from __future__ import annotations

import pytest

from judge.judging import Judge
from judge.problem import Problem, load_problem
from judge.results import CheckResult
from judge.verdicts import Verdict
from tests.judging.tiny import HEADER, MUTANTS, check_source
from tests.problems.local_session import in_session
from tests.small_problem import MANIFEST, write_problem

SEED = 7

SOURCE = """\
import numpy as np
import torch


def double(x, *rest, scale=2.0):
    return scale * x


def two(x, y):
    return x * y, (x + y).detach()


def unused(x, y):
    return x * 2 + 0 * x, y.sum() * 0 + 1


def leaves_one_out(x, y):
    return x * 2


def count(x):
    return {"n": x.shape[0], "ids": torch.arange(3), "named": [True, None, "text", 1.5, 2j]}


def strides(x):
    return x.stride(), x.is_contiguous(), x.storage_offset()


def same(x, y):
    return x is y, x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def array(x):
    return np.asarray(x) * 2, np.float32(3), x.strides


def overwrite(x, y):
    x[0] = 7
    return y + 1


def put(x, value):
    x[1] = value


def low(x):
    return x.to(torch.bfloat16), torch.view_as_complex(x.reshape(-1, 2)).conj()


def cast(x, dtype):
    return x.to(dtype)


def boom(x):
    return Boom.apply(x)


class Boom(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("no way back")
"""

BODIES = {
    "keyword_arguments_travel": """
        x = rng.normal(3)
        assert_close(submission.double(x, scale=3.0), 3 * x)
    """,
    "gradients_of_several_results_with_cotangents": """
        x, y = rng.normal(3, requires_grad=True), rng.normal(3, requires_grad=True)
        product, total = submission.two(x, y)
        g = rng.normal(3)
        gx, gy = torch.autograd.grad(product, [x, y], g)
        assert_close(gx, g * y)
        assert_close(gy, g * x)
        assert product.requires_grad and not total.requires_grad
    """,
    "a_backward_pass_may_be_repeated": """
        x = rng.normal(3, requires_grad=True)
        out = submission.double(x)
        for factor in (1.0, 4.0):
            (g,) = torch.autograd.grad(out, x, factor * torch.ones_like(out), retain_graph=True)
            assert_close(g, 2 * factor * torch.ones(3, dtype=x.dtype))
    """,
    "gradients_continue_into_the_checks_own_graph": """
        x = rng.normal(3, requires_grad=True)
        y = submission.double(submission.double(x * x))
        (g,) = torch.autograd.grad(y.sum(), x)
        assert_close(g, 8 * x)
    """,
    "an_input_that_is_not_used_has_no_gradient": """
        x, y = rng.normal(3, requires_grad=True), rng.normal(3, requires_grad=True)
        out = submission.leaves_one_out(x, y)
        assert torch.autograd.grad(out.sum(), y, allow_unused=True, retain_graph=True) == (None,)
        with pytest.raises(RuntimeError):
            torch.autograd.grad(out.sum(), y)
    """,
    "plain_values_come_back_as_they_are": """
        found = submission.count(rng.normal(4, 2))
        assert found["n"] == 4 and found["named"] == [True, None, "text", 1.5, 2j], str(found)
        assert torch.equal(found["ids"], torch.arange(3))
    """,
    "strides_and_offsets_are_real": """
        x = rng.normal(4, 6)
        assert submission.strides(x.T[1:]) == ((1, 6), False, 1)
        assert submission.strides(x[:1].expand(5, 6)) == ((0, 1), False, 0)
    """,
    "identity_and_aliasing_are_real": """
        x = rng.normal(4)
        assert submission.same(x, x) == (True, True)
        assert submission.same(x, x[1:]) == (False, True)
        assert submission.same(x, x.clone()) == (False, False)
    """,
    "numpy_arrays_and_scalars_travel": """
        x = np.arange(6.0).reshape(2, 3).T
        doubled, scalar, strides = submission.array(x)
        assert isinstance(doubled, np.ndarray) and np.array_equal(doubled, 2 * x)
        assert type(scalar) is np.float32 and scalar == 3
        assert strides == x.strides
    """,
    "changed_inputs_are_seen_and_only_those": """
        x, y = rng.normal(3), rng.normal(3)
        before = x.clone()
        seen = submission.observe("overwrite", x, y)
        assert [change.name for change in seen.changed] == [0]
        assert seen.changed[0].after[0] == 7 and torch.equal(seen.changed[0].before, before)
        assert_close(seen.value, y + 1)
    """,
    "a_change_from_zero_to_nan_or_minus_zero_is_a_change": """
        for value in (float("nan"), -0.0):
            x = torch.zeros(3, dtype=torch.float64)
            seen = submission.observe("put", x, value)
            assert [change.name for change in seen.changed] == [0], str(value)
        assert not submission.observe("put", torch.zeros(3), 0.0).changed
    """,
    "bfloat16_and_conjugate_views_have_a_rule": """
        x = rng.normal(2, 2)
        low, conjugate = submission.low(x)
        assert torch.equal(low, x.to(torch.bfloat16))
        assert torch.equal(conjugate, torch.view_as_complex(x).conj().resolve_conj())
    """,
    "a_dtype_can_be_an_argument": """
        x = rng.normal(2)
        assert submission.cast(x, torch.float32).dtype is torch.float32
    """,
    "an_error_in_the_backward_pass_arrives": """
        x = rng.normal(2, requires_grad=True)
        out = submission.boom(x)
        with pytest.raises(RuntimeError, match="no way back"):
            torch.autograd.grad(out.sum(), x)
    """,
    "a_missing_function_is_said_in_words": """
        with pytest.raises(AssertionError, match="doubel"):
            submission.doubel
        assert submission.signature("doubel") is None
    """,
    "signatures_are_read": """
        names = [p.name for p in submission.signature("double").parameters]
        assert names == ["x", "rest", "scale"], str(names)
    """,
}


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """All bodies are checks of it, and what they are run against is its reference."""
    manifest = MANIFEST.replace("_s = 5.0", "_s = 60.0")  # for all of them
    folder = write_problem(
        tmp_path_factory.mktemp("remote"),
        problem_toml=manifest,
        mutants_toml=MUTANTS,
        reference_py=SOURCE,
        checks_test_t0_interface_py=HEADER + check_source("call", "pass"),
        checks_test_t1_oracle_py=HEADER + "".join(map(check_source, BODIES, BODIES.values())),
    )
    return load_problem(folder)


@pytest.fixture(scope="module")
def judged(warm_judge: Judge, problem: Problem) -> dict[str, CheckResult]:
    """What each check came to in a box, by its name."""
    result = warm_judge.judge(problem, {"solution.py": SOURCE.encode()})
    return {check.id.partition("::test_")[2]: check for check in result.tiers[1].checks}


@pytest.fixture(scope="module")
def failures_beside_the_checks(problem: Problem) -> dict[str, str]:
    """What fails where the submission is in the process of the checks, by their names."""
    failures = in_session(problem.folder, lambda session: session.failures(SOURCE.encode(), SEED))
    return {check.partition("::test_")[2]: message for check, message in failures.items()}


@pytest.mark.parametrize("name", BODIES)
def test_in_a_box(judged: dict[str, CheckResult], name: str) -> None:
    assert (judged[name].verdict, judged[name].message) == (Verdict.AC, "")


@pytest.mark.parametrize("name", BODIES)
def test_beside_the_checks(failures_beside_the_checks: dict[str, str], name: str) -> None:
    assert failures_beside_the_checks.get(name) is None
