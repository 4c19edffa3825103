"""Programs that are refused succeed once the defence against them is left out.

A refusal proves a defence only if the attack works without it. Each program here is first imported
by a student that is confined as usual, and finds nothing; then by one that lacks a defence, and
says what it got. The probes at a box's start have to notice the same.

Programs that hunt for secrets are run where there is one to be found; answers that a careless
comparison would take for right are shown to such a comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.boxes import Box, BoxSpec, Role, SandboxError
from sandbox.bwrap_boxes import BwrapLauncher, BwrapSettings, find_binary
from sandbox.protocol import ConnectionLost
from sandbox.survey import require_bwrap
from tests.hostile import weakened
from tests.hostile.cases import FOLDER, named
from tests.hostile.weakened import Outcome, Try

WARM_S = 60.0
TRIED_S = 30.0
SECRET = "PLANTED-SECRET-" + "0123456789abcdef" * 2

# program, how often, what is left out, what it then says
BITES = [
    ("processes/vfork_and_raw_clone", 1, ["filter"], "no answer"),
    ("processes/clone3", 1, ["filter"], "no answer"),
    ("processes/the_32_bit_gate", 1, ["filter"], "no answer"),
    ("processes/shell_by_system", 1, ["filter"], "a shell ran"),
    ("processes/calls_nobody_needs", 1, ["filter"], "was not refused"),
    ("processes/trace_and_read_others", 1, ["filter"], "was reached"),
    ("processes/gain_privileges", 1, ["filter"], "no filter is in force"),
    ("processes/hold_capabilities", 1, ["capabilities"], "capabilities are held"),
    ("processes/raise_its_limits", 1, ["limits"], "RLIMIT_"),
    ("network/every_family", 1, ["filter"], "was given"),
    ("network/pair_of_sockets", 1, ["filter"], "was given"),
    ("network/metadata_address", 1, ["filter"], "it got as far as"),
    ("files/exactly_four_descriptors", 1, ["close"], "are open"),
    ("files/proc_is_covered", 1, ["cover /proc"], "/proc shows"),
    ("files/read_the_zygote", 1, ["filter", "cover /proc", "namespaces"], "can be read"),
    ("files/folders_are_covered", 1, ["scratch /tmp"], "/tmp holds"),
    ("files/write_for_the_next_run", 2, ["scratch /tmp"], "left by an earlier run"),
    ("files/leave_state_in_shared_memory", 2, ["scratch /dev/shm"], "POSIX shared memory"),
    (
        "files/leave_state_in_shared_memory", 2, ["filter", "namespaces"],
        "an earlier run left",
    ),
    (
        "files/leave_state_in_a_message_queue", 2, ["filter", "limits", "namespaces"],
        "left a message queue",
    ),
    ("files/leave_state_in_a_keyring", 1, ["filter"], "was left in keyring"),
    ("files/leave_state_in_a_socket", 1, ["filter"], "was bound"),
    ("files/leave_the_namespaces", 1, ["filter"], "it got a new user namespace"),
    ("files/change_the_mounts", 1, ["filter", "capabilities"], "it could"),
    ("files/change_the_mounts_by_handle", 1, ["filter", "capabilities"], "it could"),
]  # fmt: skip


@pytest.fixture(scope="module")
def weak_launcher() -> Iterator[BwrapLauncher]:
    """Makes boxes without a filter of their own."""
    try:
        binary = find_binary()
        require_bwrap(binary)
    except SandboxError as error:
        pytest.skip(f"needs bwrap: {error}")
    launcher = BwrapLauncher(BwrapSettings(binary))
    yield launcher
    launcher.close()


@pytest.fixture
def weak_box(weak_launcher: BwrapLauncher) -> Iterator[Box]:
    """A warm box whose students can be confined less than they should be."""
    spec = BoxSpec(
        role=Role.RUNNER,
        entry=weakened.ENTRY,
        packages=weakened.PACKAGES,
        memory_bytes=weakened.MEMORY_BYTES,
        pids=256,
        cpus=2.0,
        tmp_bytes=64 << 20,
    )
    with weak_launcher.shared_dir() as shared:
        box = weak_launcher.launch(spec, shared)
        try:
            box.receive(weakened.Ready, time.monotonic() + WARM_S)
            yield box
        finally:
            box.kill()


def attempt(box: Box, program: str, runs: int, without: list[str]) -> Outcome:
    """What came of the last of `runs` imports in a row."""
    for _ in range(runs):
        box.send(Try(named(program).source(), without), deadline=time.monotonic() + TRIED_S)
        outcome, _ = box.receive(Outcome, time.monotonic() + TRIED_S)
    return outcome


@pytest.mark.parametrize(
    ("program", "runs", "without", "says"),
    [pytest.param(*bite, id=f"{bite[0]} without {', '.join(bite[2])}") for bite in BITES],
)
def test_a_refused_attack_succeeds_without_its_defence(
    weak_box: Box, program: str, runs: int, without: list[str], says: str
) -> None:
    guarded = attempt(weak_box, program, runs, [])
    assert guarded == Outcome("", [])

    unguarded = attempt(weak_box, program, runs, without)
    assert says in unguarded.objection
    assert unguarded.failed_probes


def test_without_filter_and_namespaces_one_submission_ends_the_whole_box(weak_box: Box) -> None:
    assert attempt(weak_box, "processes/kill_everyone", 1, []).objection == ""

    with pytest.raises(ConnectionLost):
        attempt(weak_box, "processes/kill_everyone", 1, ["filter", "namespaces"])


# --- hunting for what is there ------------------------------------------------------------------

PLANTED_HUNTS = {
    "cheating/hunt_in_objects": "kept = {'password': SECRET}",
    "cheating/hunt_in_modules": "import json; json.password = SECRET",
    "cheating/hunt_in_memory": "kept = SECRET.encode() * 2",
    "files/read_the_environment": "import os; os.environ['DATABASE_PASSWORD'] = SECRET",
    "files/search_every_file": "open('/tmp/planted-secret.txt', 'w').write(SECRET)",
}
HUNT = """
import sys
SECRET = sys.argv[2]
{plant}
attention_kernel = None
exec(compile(open(sys.argv[1]).read(), "solution.py", "exec"))
"""


@pytest.mark.parametrize("program", PLANTED_HUNTS)
def test_a_hunt_finds_a_secret_that_is_there(program: str) -> None:
    planted = Path("/tmp/planted-secret.txt")
    script = HUNT.format(plant=PLANTED_HUNTS[program])
    try:
        done = run_python(script, str(FOLDER / f"{program}.py"), SECRET)
    finally:
        planted.unlink(missing_ok=True)
    assert done.returncode != 0
    assert SECRET in done.stderr.splitlines()[-1]


def run_python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": os.environ["PATH"]},
    )


# --- careless comparisons --------------------------------------------------------------------------

# What is often written for "is it right", by the answers it takes for right. It runs beside the
# submission, as it does where checker and submission share a process.
CARELESS = {
    "torch.allclose(got, expected)": ["cheating/patched_comparisons"],
    "((got - expected).abs() <= 1e-6).all()": [
        "values/empty_batch_of_one", "values/tensor_subclass_that_agrees",
    ],
    "not ((got - expected).abs() > 1e-6).any()": ["values/nan_everywhere"],
    "got == expected": ["values/object_equal_to_everything"],
}  # fmt: skip
