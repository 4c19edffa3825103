"""torch's compiler stays away until it is wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import sys
import torch
from sandbox.runner import dynamo
dynamo.keep_away()
dynamo.keep_away()
"""
TAIL = """
print("torch._dynamo.config" in sys.modules)
"""
TRAINING = """
torch.manual_seed(1)
layer = torch.nn.Linear(3, 2)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
before = layer.weight.detach().clone()
layer(torch.ones(3)).sum().backward()
optimizer.step()
scheduler.step()
optimizer.zero_grad()
optimizer.load_state_dict(optimizer.state_dict())
assert not torch.equal(layer.weight, before)
"""
FUNCTIONS = """
x = torch.arange(3.0)
gradient = torch.func.grad(lambda x: (x * x).sum())(x)
assert torch.equal(gradient, 2 * x)
assert torch.equal(torch.func.vmap(torch.square)(x), x * x)
assert torch.equal(torch.func.jacrev(torch.square)(x), torch.diag(2 * x))
"""
ATTRIBUTE = """
assert callable(torch._dynamo.optimize)
assert sys.modules["torch._dynamo"] is torch._dynamo
assert torch._dynamo.__file__
"""
SUBMODULE = """
import torch._dynamo.config
"""
PART = """
assert callable(torch._dynamo.compiled_autograd._enable)
"""
COMPILED = """
twice = torch.compile(lambda x: 2 * x, backend="eager")
assert twice(torch.ones(2)).tolist() == [2, 2]
"""


def _is_there_after(program: str) -> bool:
    """Whether the real one was imported; in a process of its own, which has not asked for it."""
    command = [sys.executable, "-c", HEAD + program + TAIL]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()[-1] == "True"


@pytest.mark.parametrize("program", [TRAINING, FUNCTIONS], ids=["training", "functions"])
def test_what_needs_no_compiler_does_not_import_it(program: str) -> None:
    assert not _is_there_after(program)


@pytest.mark.parametrize(
    "program",
    [ATTRIBUTE, SUBMODULE, PART, COMPILED],
    ids=["attribute", "submodule", "part", "compiled"],
)
def test_who_wants_it_gets_the_real_one(program: str) -> None:
    assert _is_there_after(program)
