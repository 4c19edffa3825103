"""`tinyllm.num`: right gradients pass, wrong ones are named."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tinyllm import PCG32, Linear, Tensor, gradcheck

X, Y = PCG32(1).normal((2, 3)), PCG32(2).normal((3, 2))


def with_wrong_gradient(factor: float) -> Callable[[Tensor], Tensor]:
    """The square, half of whose gradient at [1, 2] is multiplied by `factor`."""

    def square(x: Tensor) -> Tensor:
        result = x * x
        right = result.pullback

        def wrong(g: np.ndarray) -> list[np.ndarray]:
            assert right is not None
            one, other = right(g)
            one = one.copy()
            one[1, 2] *= factor
            return [one, other]

        if result.requires_grad:
            result.pullback = wrong
        return result

    return square


def test_right_gradients_pass() -> None:
    assert gradcheck(lambda x, y: ((x @ y).softmax() * y[:2]).tanh(), [X, Y]) is True


@pytest.mark.parametrize("factor", [0.0, 1.001, -1.0, float("nan")])
def test_wrong_gradient_is_named(factor: float) -> None:
    message = r"the gradient of input 0 at \[1, 2\] is \S+, central differences give \S+$"
    with pytest.raises(AssertionError, match=message):
        gradcheck(with_wrong_gradient(factor), [X])


def test_detached_input_fails() -> None:
    with pytest.raises(AssertionError, match="input 1 at"):
        gradcheck(lambda x, y: x @ y.detach(), [X, Y])


def test_result_that_depends_on_nothing_has_gradient_zero() -> None:
    assert gradcheck(lambda x: x.detach() * 0, [X])


def test_parameters_used_by_a_closure_are_checked_and_stay_as_they_were() -> None:
    layer = Linear(3, 2)
    layer.load_state_dict({n: v.astype(np.float64) for n, v in layer.state_dict().items()})
    before, x = layer.state_dict(), Tensor(X, requires_grad=True)
    layer.weight.grad = np.ones((2, 3))
    assert gradcheck(lambda x, *_: layer(x), [x, *layer.parameters()])
    for name, values in layer.state_dict().items():
        np.testing.assert_array_equal(values, before[name])
    assert layer.weight.grad.tolist() == np.ones((2, 3)).tolist()
    assert x.grad is None


def test_inputs_that_cannot_be_checked_are_refused() -> None:
    for wrong in (Tensor(X), Tensor([1.0], requires_grad=True), X.astype(np.float32)):
        with pytest.raises(ValueError, match="input 0 is not a float64 tensor"):
            gradcheck(lambda x: x, [wrong])
