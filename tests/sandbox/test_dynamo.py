"""torch's compiler stays away until it is wanted."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAD = """
import importlib.util
import sys
import torch
from sandbox.runner import dynamo
dynamo.keep_away()
dynamo.keep_away()
"""
# The stand-in bears the name itself, and loads no part but the settings.
TAIL = """
print("torch._dynamo.eval_frame" in sys.modules)
"""
RUNNER = """
from sandbox.runner import student, warm
warm.warm_up()
student.rehearse()
"""
GRADER = """
from judge.grader import main
main._warm_up()
"""
WALK = """
import inspect
inspect.stack()
inspect.getmodule(lambda: None)
for module in list(sys.modules.values()):
    getattr(module, "__warningregistry__", None)
assert importlib.util.find_spec("torch._dynamo").origin == torch._dynamo.__file__
assert importlib.util.find_spec("torch._dynamo.config").origin.endswith("config.py")
assert importlib.util.find_spec("torch._dynamo.no_such_part") is None
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
CHECKPOINTED = """
from torch.utils.checkpoint import checkpoint
calls = []
def square(x):
    calls.append(x)
    return x * x
x = torch.arange(3.0, requires_grad=True)
checkpoint(square, x, use_reentrant=False).sum().backward()
assert torch.equal(x.grad, 2 * x.detach()) and len(calls) == 2
"""
LET_BE = """
import gc
import weakref
def own(x):
    return x
own.__module__ = "torch.some.part"
assert torch._dynamo.disable(own) is own
kept = weakref.ref(own)
del own
gc.collect()
assert kept() is None
"""
STUDENTS_OWN = """
@torch.compiler.disable
def twice(x):
    return 2 * x
assert torch.equal(twice(torch.ones(2)), 2 * torch.ones(2))
try:
    torch.compile(lambda x: twice(x) + 1, backend="eager", fullgraph=True)(torch.ones(2))
except Exception as error:
    assert "disable" in str(error), error
else:
    raise AssertionError("it was compiled")
"""
SETTINGS = """
import torch._dynamo.config
settings = torch._dynamo.config
assert sys.modules["torch._dynamo.config"] is settings
assert settings.__spec__.name == "torch._dynamo.config"
settings.recompile_limit = 1234
"""
ATTRIBUTE = """
assert callable(torch._dynamo.optimize)
assert sys.modules["torch._dynamo"] is torch._dynamo
assert torch._dynamo.__file__
"""
SUBMODULE = """
import torch._dynamo.eval_frame
assert torch._dynamo.eval_frame.config is torch._dynamo.config
assert torch._dynamo.eval_frame.__spec__.name == "torch._dynamo.eval_frame"
assert not hasattr(torch.optim.Optimizer.zero_grad.__wrapped__, "__dynamo_disable")
"""
SAME_SETTINGS = """
import torch._dynamo.convert_frame
assert torch._dynamo.config is settings
assert torch._dynamo.convert_frame.config is settings
assert sys.modules["torch._dynamo.config"] is settings
assert settings.__spec__.name == "torch._dynamo.config"
assert settings.recompile_limit == 1234
"""
DISABLED = """
disable = torch._dynamo.disable
torch._dynamo.optimize
assert hasattr(disable(lambda: 3), "_torchdynamo_disable")
assert torch._dynamo.disable(recursive=False)(len)([1]) == 1
"""
REGISTRY = """
from torch._dynamo.backends.registry import list_backends
assert "eager" in list_backends(exclude_tags=())
assert torch._dynamo.backends.registry.list_backends is list_backends
"""
FAILING = """
sys.modules["torch._dynamo.aot_compile"] = None  # so that it cannot be imported
try:
    torch._dynamo.optimize
except ModuleNotFoundError:
    pass
del sys.modules["torch._dynamo.aot_compile"]
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


@pytest.mark.parametrize(
    "program",
    [
        TRAINING,
        FUNCTIONS,
        CHECKPOINTED,
        LET_BE,
        SETTINGS,
        WALK,
        FAILING + TRAINING,
        SETTINGS + FAILING + SETTINGS,
        RUNNER,
        GRADER,
    ],
    ids=[
        "training",
        "functions",
        "checkpointed",
        "let-be",
        "settings",
        "walk",
        "failing",
        "settings-and-failing",
        "runner",
        "grader",
    ],
)
def test_what_needs_no_compiler_does_not_import_it(program: str) -> None:
    assert not _is_there_after(program)


@pytest.mark.parametrize(
    "program",
    [
        ATTRIBUTE,
        SUBMODULE,
        SETTINGS + SAME_SETTINGS,
        REGISTRY,
        PART,
        DISABLED,
        COMPILED,
        CHECKPOINTED + COMPILED + CHECKPOINTED,
        TRAINING + COMPILED + TRAINING,
    ],
    ids=[
        "attribute",
        "submodule",
        "settings",
        "registry",
        "part",
        "disabled",
        "compiled",
        "checkpointed-and-compiled",
        "trained-and-compiled",
    ],
)
def test_who_wants_it_gets_the_real_one(program: str) -> None:
    assert _is_there_after(program)
