"""`tinyllm.module` and `tinyllm.linear`."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tinyllm import PCG32, Linear, Module, Parameter, Tensor


class Inner(Module):
    def __init__(self, rng: PCG32) -> None:
        self.scale = Parameter([1.0, 2.0])
        self.first = Linear(2, 3, rng=rng)


class Outer(Module):
    def __init__(self) -> None:
        rng = PCG32(7).substream("init")
        self.width = 2
        self.last = Linear(3, 2, bias=False, rng=rng)
        self.inner = Inner(rng)
        self.offset = Parameter(np.zeros((1, 2)))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.inner.first(x * self.inner.scale).tanh()
        result: Tensor = self.last(hidden) + self.offset
        return result


NAMES = ["last.weight", "inner.scale", "inner.first.weight", "inner.first.bias", "offset"]


def test_parameters_are_named_in_the_order_of_definition() -> None:
    model = Outer()
    assert [name for name, _ in model.named_parameters()] == NAMES
    assert list(model.state_dict()) == NAMES
    assert [each.shape for each in model.parameters()] == [(2, 3), (2,), (3, 2), (3,), (1, 2)]


def test_shared_parameter_is_listed_once_and_saved_under_both_names() -> None:
    model = Outer()
    model.inner.first.weight = model.last.weight = Parameter(np.ones((3, 3)))
    assert len(list(model.parameters())) == len(NAMES) - 1
    assert list(model.state_dict()) == NAMES


def test_state_is_a_copy() -> None:
    model = Outer()
    model.state_dict()["offset"][:] = 5
    assert model.offset.data.tolist() == [[0.0, 0.0]]


def test_loading_what_was_saved_gives_the_same_answers() -> None:
    model, other = Outer(), Outer()
    state = {name: values * 2 + 1 for name, values in model.state_dict().items()}
    model.load_state_dict(state)
    other.load_state_dict(model.state_dict())
    x = Tensor([[0.5, -1.0]])
    np.testing.assert_array_equal(model(x).data, other(x).data)
    state["offset"][:] = 100
    np.testing.assert_array_equal(model(x).data, other(x).data)


def test_loading_keeps_the_parameters_themselves_and_takes_float64() -> None:
    model = Outer()
    before = list(model.parameters())
    model.load_state_dict({n: v.astype(np.float64) for n, v in model.state_dict().items()})
    after = list(model.parameters())
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert {each.dtype for each in after} == {np.dtype(np.float64)}
    assert all(each.requires_grad for each in after)


def test_loading_refuses_other_names_and_shapes_and_changes_nothing() -> None:
    model = Outer()
    state = {name: values + 1 for name, values in model.state_dict().items()}
    cases = [
        ({n: v for n, v in state.items() if n != "offset"}, "offset is missing"),
        ({**state, "extra": np.ones(1)}, "extra is no parameter"),
        ({**state, "offset": np.ones(2)}, r"offset has shape \(2,\) instead of \(1, 2\)"),
    ]
    before = model.state_dict()
    for wrong, message in cases:
        with pytest.raises(ValueError, match=message):
            model.load_state_dict(wrong)
    for name, values in model.state_dict().items():
        np.testing.assert_array_equal(values, before[name])


def test_train_and_eval_reach_every_part_inside() -> None:
    model = Outer()
    assert [each.training for each in model.modules()] == [True] * 4
    assert model.eval() is model
    assert [each.training for each in model.modules()] == [False] * 4
    assert [each.training for each in model.train().modules()] == [True] * 4


def test_call_needs_a_forward() -> None:
    with pytest.raises(NotImplementedError, match="Inner defines no forward"):
        Inner(PCG32())()


def test_zero_grad_forgets_all_gradients() -> None:
    model = Outer()
    model(Tensor([[1.0, 2.0]])).sum().backward()
    assert all(each.grad is not None for each in model.parameters())
    model.zero_grad()
    assert all(each.grad is None for each in model.parameters())


@pytest.mark.parametrize("bias", [True, False])
def test_linear_agrees_with_torch(bias: bool) -> None:
    ours, theirs = Linear(4, 3, bias=bias), torch.nn.Linear(4, 3, bias=bias, dtype=torch.float64)
    state = {name: values.numpy() for name, values in theirs.state_dict().items()}
    ours.load_state_dict(state)
    numbers = np.random.default_rng(1).normal(size=(2, 5, 4))
    x, other = Tensor(numbers, requires_grad=True), torch.tensor(numbers, requires_grad=True)
    y, right = ours(x), theirs(other)
    np.testing.assert_allclose(y.data, right.detach().numpy(), rtol=1e-12, atol=1e-12)
    (y * y).sum().backward()
    (right * right).sum().backward()
    pairs = [(x, other), *zip(ours.parameters(), theirs.parameters(), strict=True)]
    for tensor, wanted in pairs:
        assert tensor.grad is not None
        assert wanted.grad is not None
        np.testing.assert_allclose(tensor.grad, wanted.grad.numpy(), rtol=1e-12, atol=1e-12)


def test_linear_is_drawn_from_the_stream_weight_first() -> None:
    layer, rng = Linear(4, 3, rng=PCG32(5)), PCG32(5)
    np.testing.assert_array_equal(layer.weight.data, np.float32(rng.uniform(-0.5, 0.5, (3, 4))))
    assert layer.bias is not None
    np.testing.assert_array_equal(layer.bias.data, np.float32(rng.uniform(-0.5, 0.5, (3,))))
    assert layer.weight.dtype == np.float32


def test_linear_without_a_stream_is_always_the_same() -> None:
    stream = PCG32(0).substream("init")
    one, other, third = Linear(4, 3), Linear(4, 3), Linear(4, 3, rng=stream)
    np.testing.assert_array_equal(one.weight.data, other.weight.data)
    np.testing.assert_array_equal(one.weight.data, third.weight.data)
