"""Inputs are replayable, independent and never without effect."""

from __future__ import annotations

import numpy as np
import torch

from judge.checks import Rng


def test_same_seed_and_check_give_the_same_numbers() -> None:
    one, other = Rng(7, "a::b"), Rng(7, "a::b")
    assert torch.equal(one.normal(3, 4), other.normal(3, 4))
    assert torch.equal(one.visible(3, 4), other.visible(3, 4))
    assert one.numpy.integers(1 << 60) == other.numpy.integers(1 << 60)


def test_other_seed_or_check_gives_other_numbers() -> None:
    draws = [Rng(seed, check).normal(4) for seed in (1, 2, 2**64) for check in ("a", "b")]
    assert all(not torch.equal(x, y) for i, x in enumerate(draws) for y in draws[:i])


def test_global_generators_are_left_alone() -> None:
    torch.manual_seed(0)
    before_torch, before_numpy = torch.get_rng_state(), repr(np.random.get_state())
    rng = Rng(1, "a")
    rng.normal(3)
    rng.uniform(3)
    rng.permutation(3)
    rng.numpy.normal()
    assert torch.equal(torch.get_rng_state(), before_torch)
    assert repr(np.random.get_state()) == before_numpy


def test_normal_has_the_asked_dtype_spread_and_leafness() -> None:
    drawn = Rng(1, "a").normal(200, 200, std=0.25, dtype=torch.float32, requires_grad=True)
    assert (drawn.dtype, drawn.is_leaf, drawn.requires_grad) == (torch.float32, True, True)
    assert abs(float(drawn.detach().std()) - 0.25) < 0.01


def test_mask_shows_and_hides_something_in_every_row() -> None:
    for seed in range(200):
        mask = Rng(seed, "a").visible(4, 3, 2)
        assert mask.dtype == torch.bool
        assert mask.any(dim=-1).all()
        assert not mask.all(dim=-1).any()
        shown = Rng(seed, "a").visible(4, 3).sum(dim=-1)
        assert (shown == 2).all()  # of three, one is hidden, and two are not
    assert Rng(1, "a").visible(5, 1).all()


def test_permutation_moves_something_and_integers_stay_in_range() -> None:
    for seed in range(50):
        rng = Rng(seed, "a")
        order = rng.permutation(3)
        assert sorted(order.tolist()) == [0, 1, 2]
        assert order.tolist() != [0, 1, 2]
        assert 2 <= rng.integer(2, 4) < 4
        assert ((rng.uniform(9, low=-1, high=2) + 1) / 3 < 1).all()
