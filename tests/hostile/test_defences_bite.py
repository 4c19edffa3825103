"""Programs that are refused succeed once the defence against them is left out.

A refusal proves a defence only if the attack works without it. Each program here is first imported
by a student that is confined as usual, and finds nothing; then by one that lacks a defence, and
says what it got. The probes at a box's start have to notice the same.

A program that got a child never answers. How long is never is told by the same program when it is
confined as usual, and does answer.

Programs that hunt for secrets are run where there is one to be found; answers that a careless
comparison would take for right are shown to such a comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox.boxes import Box, BoxSpec, Role, SandboxError, SharedDir
from sandbox.bwrap_boxes import BwrapLauncher, BwrapSettings, find_binary
from sandbox.survey import require_bwrap
from tests.hostile import weakened
from tests.hostile.cases import FOLDER, HONEST, named
from tests.hostile.weakened import Outcome, Probe, Probed, Try

WARM_S = 120.0
ANSWER_S = 30.0  # for what does answer
NEVER_S = 0.5  # for what does not, or else as many times what it took to answer:
NEVER = 2.0
TRIED_S = 90.0
SECRET = "PLANTED-SECRET-" + "0123456789abcdef" * 2
SPEC = BoxSpec(
    role=Role.RUNNER,
    entry=weakened.ENTRY,
    packages=weakened.PACKAGES,
    memory_bytes=weakened.MEMORY_BYTES,
    pids=256,
    cpus=2.0,
    tmp_bytes=64 << 20,
)
# Outside namespaces of its own a student has no right to empty its bounding set.
ONE_TREE = ["namespaces", "capabilities"]

UNANSWERED = "did not answer"

# program, how often, what is left out, what it then says
BITES = [
    ("processes/vfork_and_raw_clone", 1, ["filter"], UNANSWERED),
    ("processes/clone3", 1, ["filter"], UNANSWERED),
    ("processes/shell_by_system", 1, ["filter"], "a shell ran"),
    ("processes/calls_nobody_needs", 1, ["filter"], "was allowed"),
    ("processes/trace_and_read_others", 1, ["filter"], "was reached"),
    ("processes/gain_privileges", 1, ["filter"], "no filter is in force"),
    ("processes/hold_capabilities", 1, ["capabilities"], "capabilities are held"),
    ("processes/raise_its_limits", 1, ["limits"], "RLIMIT_"),
    ("network/every_family", 1, ["filter"], "was given"),
    ("network/pair_of_sockets", 1, ["filter"], "was given"),
    ("network/metadata_address", 1, ["filter"], "it got as far as"),
    ("files/exactly_four_descriptors", 1, ["close"], "are open"),
    ("files/proc_is_covered", 1, ["cover /proc"], "/proc shows"),
    ("files/read_the_zygote", 1, ["cover /proc", *ONE_TREE], "can be read"),
    ("files/folders_are_covered", 1, ["scratch /tmp"], "/tmp holds"),
    ("files/write_for_the_next_run", 2, ["scratch /tmp"], "left by an earlier run"),
    ("files/leave_state_in_shared_memory", 2, ["scratch /dev/shm"], "POSIX shared memory"),
    ("files/leave_state_in_shared_memory", 2, ["filter", *ONE_TREE], "an earlier run left"),
    ("files/leave_state_in_a_message_queue", 2, ["filter", "limits", *ONE_TREE], "an earlier run"),
    ("files/leave_state_in_a_keyring", 1, ["filter"], "was left in keyring"),
    ("files/leave_state_in_a_socket", 1, ["filter"], "was bound"),
    ("files/leave_the_namespaces", 1, ["filter"], "it got a new user namespace"),
    ("files/change_the_mounts", 1, ["filter", "capabilities"], "it could"),
    ("files/change_the_mounts_by_handle", 1, ["filter", "capabilities"], "it could"),
]


@dataclass
class WeakBoxes:
    """A warm box whose students can be confined less than they should be, and its successors."""

    launcher: BwrapLauncher
    shared: SharedDir
    box: Box | None = None
    noticed: dict[str, list[str]] = field(default_factory=dict)

    def attempt(
        self, program: str, runs: int, without: list[str], answer_s: float = ANSWER_S
    ) -> str:
        """What the last of `runs` imports in a row objected to; raises a `ChannelError`."""
        box = self._living()
        asked = Try(named(program).source(), without, answer_s)
        for _ in range(runs):
            box.send(asked, deadline=time.monotonic() + TRIED_S)
            outcome, _ = box.receive(Outcome, time.monotonic() + TRIED_S)
        return outcome.objection

    def failed_probes(self, without: list[str]) -> list[str]:
        """The probes that notice what is left out; raises a `ChannelError`. Tried once."""
        key = ", ".join(without)
        if key not in self.noticed:
            box = self._living()
            box.send(Probe(without), deadline=time.monotonic() + TRIED_S)
            probed, _ = box.receive(Probed, time.monotonic() + TRIED_S)
            self.noticed[key] = probed.failed
        return self.noticed[key]

    def _living(self) -> Box:
        if self.box is None or not self.box.alive():
            self.box = self.launcher.launch(SPEC, self.shared)
            self.box.receive(weakened.Ready, time.monotonic() + WARM_S)
        return self.box


@pytest.fixture(scope="module")
def weak_boxes() -> Iterator[WeakBoxes]:
    """Boxes that bubblewrap makes, without a filter of their own."""
    try:
        binary = find_binary()
        require_bwrap(binary)
    except SandboxError as error:
        pytest.skip(f"needs bwrap: {error}")
    launcher = BwrapLauncher(BwrapSettings(binary))
    with launcher.shared_dir() as shared:
        yield WeakBoxes(launcher, shared)
        launcher.close()


@pytest.mark.parametrize(
    ("program", "runs", "without", "says"),
    [pytest.param(*bite, id=f"{bite[0]} without {', '.join(bite[2])}") for bite in BITES],
)
def test_a_refused_attack_succeeds_without_its_defence(
    weak_boxes: WeakBoxes, program: str, runs: int, without: list[str], says: str
) -> None:
    assert weak_boxes.failed_probes([]) == []
    began = time.monotonic()
    assert weak_boxes.attempt(program, runs, []) == ""

    answer_s = never_s(began) if says == UNANSWERED else ANSWER_S
    assert says in weak_boxes.attempt(program, runs, without, answer_s)
    assert weak_boxes.failed_probes(without)


def test_a_gate_with_other_numbers_is_shut_by_the_filter_alone(weak_boxes: WeakBoxes) -> None:
    began = time.monotonic()
    guarded = weak_boxes.attempt("processes/the_32_bit_gate", 1, [])
    assert "closed the connection" in guarded  # killed at the gate

    answer_s = never_s(began)
    unguarded = weak_boxes.attempt("processes/the_32_bit_gate", 1, ["filter"], answer_s)
    assert UNANSWERED in unguarded  # it has a child


def test_without_filter_and_namespaces_a_submission_kills_its_guard(weak_boxes: WeakBoxes) -> None:
    assert weak_boxes.attempt("processes/kill_everyone", 1, []) == ""

    unguarded = weak_boxes.attempt("processes/kill_everyone", 1, ["filter", *ONE_TREE])
    assert "closed the connection" in unguarded


def never_s(began: float) -> float:
    """How long to wait for an answer that does not come, after one that took until now."""
    return max(NEVER_S, NEVER * (time.monotonic() - began))


# --- hunting for what is there ------------------------------------------------------------------

PLANTED_HUNTS = {
    "cheating/hunt_in_objects": "kept = {'password': SECRET}",
    "cheating/hunt_in_modules": "import json; json.password = SECRET",
    "cheating/hunt_in_memory": "kept = SECRET.encode() * 2",
    "files/read_the_environment": "import os; os.environ['DATABASE_PASSWORD'] = SECRET",
    "files/search_every_file": (
        "import os; walk = os.walk; os.walk = lambda _: walk(sys.argv[3]);"
        "open(f'{sys.argv[3]}/planted.txt', 'w').write(SECRET)"
    ),
}
HUNT = """
import sys
SECRET = sys.argv[2]
{plant}
attention_kernel = None
exec(compile(open(sys.argv[1]).read(), "solution.py", "exec"))
"""


@pytest.mark.parametrize("program", PLANTED_HUNTS)
def test_a_hunt_finds_a_secret_that_is_there(program: str, tmp_path: Path) -> None:
    script = HUNT.format(plant=PLANTED_HUNTS[program])
    done = run_python(script, str(FOLDER / f"{program}.py"), SECRET, str(tmp_path))
    assert done.returncode != 0
    assert SECRET in done.stderr.splitlines()[-1]


def run_python(script: str, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"},  # a fork keeps one thread
    )


# --- careless comparisons ------------------------------------------------------------------------

# What is often written for "is it right?". It runs beside the submission here, as in judges where
# checker and submission share a process.
CARELESS = [
    ("torch.allclose(got, expected)", "cheating/patched_comparisons"),
    ("torch.allclose(got, expected)", "values/tensor_subclass_that_agrees"),
    ("np.testing.assert_allclose(got, expected) is None", "cheating/patched_numpy_testing"),
    ("all(abs(g - e) < 1e-6 for g, e in zip(got[0, 0], expected[0]))", "values/empty_last_axis"),
    ("all(abs(g - e) < 1e-6 for g, e in zip(got, expected))", "values/empty_batch"),
    ("not ((got - expected).abs() > 1e-6).any()", "values/nan_everywhere"),
    ("not (got - expected).abs().max() > 1e-6", "values/nan_everywhere"),
    ("torch.allclose(got, expected)", "values/broadcastable_output"),
    ("(got - expected).abs().sum() == 0", "values/empty_batch"),
    ("bool(got == expected)", "values/object_equal_to_everything"),
    ("bool(got == expected)", "values/array_subclass_that_agrees"),
    ("not (got - expected.numpy()).any()", "values/masked_arrays"),
]
# Reads a question and a program a line; says for each whether it was accepted.
JUDGE_OF_OLD = """
import os
import sys

import numpy as np
import torch

def attention_kernel(q, k, v, mask=None):
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v, weights

HONEST
x = torch.randn(1, 1, 4, dtype=torch.float64).expand(1, 2, 4)
w = torch.randn(4, 4, dtype=torch.float64)
expected, _ = multi_head_attention(x, x, x, w, w, w, w, 2)
for line in sys.stdin:
    question, program = line.strip().split("|")
    sys.stdout.flush()
    if os.fork():
        os.wait()
        continue
    exec(compile(open(program).read(), "solution.py", "exec"))
    got, _ = multi_head_attention(x, x, x, w, w, w, w, 2)
    print(line.strip() if eval(question) else "refused", flush=True)
    os._exit(0)
""".replace("HONEST", HONEST)


@pytest.fixture(scope="module")
def accepted() -> list[str]:
    """The questions and programs to which a judge of old said yes."""
    lines = [f"{question}|{FOLDER / program}.py\n" for question, program in CARELESS]
    return run_python(JUDGE_OF_OLD, given="".join(lines)).stdout.splitlines()


@pytest.mark.parametrize(("question", "program"), CARELESS, ids=lambda text: text.split("/")[-1])
def test_a_careless_comparison_takes_it_for_right(
    accepted: list[str], question: str, program: str
) -> None:
    assert f"{question}|{FOLDER / program}.py" in accepted
