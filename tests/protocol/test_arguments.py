"""Arguments on their way to a submission: what arrives is what was passed."""

from __future__ import annotations

import torch

from sandbox.arrays import DecodedArguments, encode_arguments


def _through_a_frame(*args: object) -> list[object]:
    sent = encode_arguments(args)
    sizes = [len(buffer) for buffer in sent.buffers]
    received = DecodedArguments(sent.views, sizes, memoryview(b"".join(sent.buffers)))
    return [received.value(value) for value in sent.args]


def test_each_conjugate_arrives_with_its_own_numbers() -> None:
    """What is made for the journey alone must not be taken for what was made before it."""
    numbers = [torch.full((20_000,), complex(number, number)) for number in range(10)]
    arrived = _through_a_frame(*(each.conj() for each in numbers))
    for got, passed in zip(arrived, numbers, strict=True):
        assert isinstance(got, torch.Tensor)
        assert torch.equal(got, passed.conj())


def test_negative_views_arrive_with_their_sign() -> None:
    number = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert number.is_neg()
    (got,) = _through_a_frame(number)
    assert isinstance(got, torch.Tensor)
    assert torch.equal(got, torch.tensor([-2.0, 4.0]))
