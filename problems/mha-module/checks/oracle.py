"""Cases, and what they should give: torch's own module with the case's weights, in float64."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest

import torch
from torch.func import functional_call

from judge.checks import (
    Module,
    Rng,
    Submission,
    assert_array,
    assert_close,
    assert_unchanged,
    fail,
)

CLASS = "MultiHeadAttention"
PROMPTS = (">>>", "...")
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "out_proj")
WEIGHTS = tuple(f"{name}.weight" for name in PROJECTIONS)
BIASES = tuple(f"{name}.bias" for name in PROJECTIONS)


@dataclass(frozen=True)
class Case:
    """An input [B,T,D], the eight parameters by name, and the number of heads."""

    x: torch.Tensor
    state: Mapping[str, torch.Tensor]
    num_heads: int

    @property
    def width(self) -> int:
        """D, the model's width."""
        return self.x.shape[-1]

    def but(self, **tensors: torch.Tensor) -> Case:
        """The same case with other parameters: ``q_proj_weight=...`` is ``q_proj.weight``."""
        changed = {name.replace("proj_", "proj."): tensor for name, tensor in tensors.items()}
        return replace(self, state={**self.state, **changed})


def draw(
    rng: Rng,
    *,
    batch: int = 2,
    length: int = 5,
    width: int = 12,
    heads: int = 3,
    dtype: torch.dtype = torch.float64,
    requires_grad: bool = False,
) -> Case:
    """A random case; weights have standard deviation 1/sqrt(D), so nothing grows or fades.

    All nine tensors are drawn at once and lie side by side in memory, which is quicker to send.
    """
    shapes = [(batch, length, width), *[(width, width)] * 4, *[(width,)] * 4]
    sizes = [math.prod(shape) for shape in shapes]
    numbers = rng.normal(sum(sizes), dtype=dtype)
    numbers[sizes[0] :].mul_(width**-0.5)
    parts = zip(numbers.split_with_sizes(sizes), shapes, strict=True)
    x, *parameters = [part.view(shape).requires_grad_(requires_grad) for part, shape in parts]
    return Case(x, dict(zip((*WEIGHTS, *BIASES), parameters, strict=True)), heads)


def module_of(submission: Submission, case: Case) -> Module:
    """The submission's module with the case's parameters."""
    return submission.module(CLASS, case.width, case.num_heads).with_state(case.state)


def attend(submission: Submission, case: Case, *, causal: bool = False) -> torch.Tensor:
    """The submission's answer, once it has the right form and the input is as it was."""
    return answer_of(module_of(submission, case), case, causal=causal)


def answer_of(module: Module, case: Case, *, causal: bool = False) -> torch.Tensor:
    """What `module` answers to the case's input, checked as in `attend`."""
    observation = module.observe(case.x, causal=True) if causal else module.observe(case.x)
    assert_unchanged(observation)
    output: torch.Tensor = observation.value
    assert_array(output, "the output", shape=case.x.shape, dtype=case.x.dtype)
    return output


def assert_agrees(submission: Submission, case: Case, *, causal: bool, where: str = "") -> None:
    """The submission's answer is the oracle's."""
    output = attend(submission, case, causal=causal)
    assert_close(output, expected(case, causal=causal), words(causal, where), dtype=case.x.dtype)


def assert_prints(submission: Submission, session: str) -> None:
    """The ``>>>`` lines of an interpreter session print what stands below them."""
    found = str(submission.run_session(session)).splitlines()
    wanted = [line for line in session.splitlines() if line and not line.startswith(PROMPTS)]
    for number, (line, want) in enumerate(zip_longest(found, wanted), 1):
        if line != want:
            prints = "is missing" if line is None else f"is {line[:200]!r}"
            expects = "nothing more is expected" if want is None else f"{want!r} is expected"
            fail(f"Line {number} of what the session prints {prints}; {expects}.")


def words(causal: bool, where: str = "") -> str:
    """What an output is called in a message."""
    return f"the {'causal ' if causal else ''}output{where}"


def expected(case: Case, *, causal: bool = False) -> torch.Tensor:
    """The output in float64, connected to the case's tensors where those ask for it."""
    x, length = case.x.double(), case.x.shape[1]
    parameters = {
        "in_proj_weight": torch.cat([case.state[name].double() for name in WEIGHTS[:3]]),
        "in_proj_bias": torch.cat([case.state[name].double() for name in BIASES[:3]]),
        "out_proj.weight": case.state["out_proj.weight"].double(),
        "out_proj.bias": case.state["out_proj.bias"].double(),
    }
    # In a boolean mask of this module True means blocked.
    blocked = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1) if causal else None
    layer = _torchs_own(case.width, case.num_heads)
    options = {"attn_mask": blocked, "need_weights": False}
    output: torch.Tensor = functional_call(layer, parameters, (x, x, x), options)[0]
    return output


@cache
def _torchs_own(width: int, heads: int) -> torch.nn.MultiheadAttention:
    """The layer without numbers of its own: each call brings all of them along."""
    return torch.nn.MultiheadAttention(width, heads, batch_first=True, device="meta")
