"""`tinyllm.pcg` against the published algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from tinyllm import PCG32

# The first numbers that the demonstration program of the PCG library prints.
DEMO = [0xA15C02B7, 0x7B47F409, 0xBA1D3330, 0x83D2F293, 0xBFA4784B, 0xCBED606E]


def published(seed: int, stream: int, count: int) -> list[int]:
    """The generator as its author defines it, a step at a time."""
    increment, state, numbers = (stream << 1 | 1) % 2**64, 0, []
    for _ in range(2):
        state = (state * 6364136223846793005 + increment) % 2**64
        state = (state + seed) % 2**64 if _ == 0 else state
    for _ in range(count):
        before, state = state, (state * 6364136223846793005 + increment) % 2**64
        mixed, turn = ((before >> 18 ^ before) >> 27) % 2**32, before >> 59
        numbers.append((mixed >> turn | mixed << (-turn & 31)) % 2**32)
    return numbers


def test_first_numbers_are_the_published_ones() -> None:
    rng = PCG32(42, 54)
    assert [rng.next_u32() for _ in DEMO] == DEMO
    assert published(42, 54, 6) == DEMO


@pytest.mark.parametrize(("seed", "stream"), [(0, 0), (1, 2**63), (2**64 - 1, 2**64 - 1)])
def test_many_numbers_at_once_are_those_of_single_steps(seed: int, stream: int) -> None:
    right = [number / 2**32 for number in published(seed, stream, 1000)]
    assert PCG32(seed, stream).random(1000).tolist() == right


def test_draws_of_any_shape_continue_one_stream() -> None:
    whole, parts = PCG32(3), PCG32(3)
    numbers = whole.random(24)
    pieces = [parts.random((2, 3)).ravel(), parts.random((4,)), parts.random(()).ravel()]
    pieces.append(parts.random((0, 3)).ravel())
    pieces.append(parts.random(13))
    assert np.concatenate(pieces).tolist() == numbers.tolist()
    assert parts.next_u32() == whole.next_u32()


def test_shapes_and_ranges() -> None:
    rng = PCG32(1)
    assert rng.random().shape == ()
    assert rng.random().dtype == np.float64
    numbers = rng.uniform(-2, 3, (100, 10))
    assert numbers.shape == (100, 10)
    assert -2 <= numbers.min() < -1.9
    assert 2.9 < numbers.max() < 3
    wholes = rng.integers(-1, 3, 1000)
    assert sorted(set(wholes.tolist())) == [-1, 0, 1, 2]
    with pytest.raises(ValueError, match="holds no number"):
        rng.integers(3, 3)


def test_moments_are_those_of_the_distribution() -> None:
    rng = PCG32(2)
    uniform, normal = rng.random(20_000), rng.normal((200, 100))
    assert abs(uniform.mean() - 0.5) < 0.01
    assert abs(uniform.var() - 1 / 12) < 0.003
    assert abs(normal.mean()) < 0.03
    assert abs(normal.var() - 1) < 0.03
    assert np.isfinite(normal).all()


def test_substreams_depend_on_seed_and_name_and_not_on_draws() -> None:
    fresh, used = PCG32(9), PCG32(9)
    used.random(100)
    first = fresh.substream("dropout").random(5).tolist()
    assert used.substream("dropout").random(5).tolist() == first
    others = [
        fresh.substream("init"), PCG32(8).substream("dropout"), PCG32(9, 1).substream("dropout"),
        fresh.substream("init").substream("dropout"), fresh,
    ]  # fmt: skip
    assert all(other.random(5).tolist() != first for other in others)


def test_substream_draws_nothing_from_its_parent() -> None:
    one, other = PCG32(4), PCG32(4)
    one.substream("init").random(10)
    assert one.next_u32() == other.next_u32()
