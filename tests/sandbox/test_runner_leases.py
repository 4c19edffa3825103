"""A runner box, from the grader's side: what a lease gives, what it costs, how it ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from sandbox.boxes import Box, Launcher, SharedDir
from sandbox.protocol import (
    Call,
    ConnectionLost,
    DeadlinePassed,
    Described,
    Gradients,
    Items,
    Loaded,
    LoadFailed,
    Probe,
    ProtocolError,
    Raised,
    Returned,
    TooLarge,
    TryMemory,
)
from tests.sandbox.conftest import make_launcher
from tests.sandbox.leases import MEMORY_BYTES, Grader, Student, runner_box, soon

ADD_ONE = "def f(x):\n    return x + 1\n"


@pytest.fixture(scope="module", params=["bwrap-groups", "bwrap"])
def bwrap(request: pytest.FixtureRequest) -> Iterator[Launcher]:
    launcher = make_launcher(request.param)
    yield launcher
    launcher.close()


@pytest.fixture(scope="module")
def folder(bwrap: Launcher) -> Iterator[SharedDir]:
    with bwrap.shared_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def box(bwrap: Launcher, folder: SharedDir) -> Iterator[Box]:
    with runner_box(bwrap, folder) as box:
        yield box


@pytest.fixture
def grader(box: Box, folder: SharedDir) -> Iterator[Grader]:
    grader = Grader(box, folder)
    yield grader
    grader.close()


WITH_AND_WITHOUT_THE_COMPILER = """
import sys, torch
from torch.utils.checkpoint import checkpoint
def f(x):
    layer = torch.nn.Linear(2, 2)
    layer(x).sum().backward()
    torch.optim.Adam(layer.parameters()).step()
    torch.func.grad(torch.sum)(x)
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    return "torch._dynamo.eval_frame" in sys.modules
def g(x):
    return torch.compile(lambda x: 2 * x, backend="eager")(x).tolist()
"""


def value_of(reply: object) -> object:
    assert isinstance(reply, Returned), reply
    return reply.value


def test_every_defence_holds_in_the_box(box: Box) -> None:
    assert box.ready is not None
    assert box.ready.nested, box.ready.reason
    assert len(box.ready.probes) > 15
    assert [probe for probe in box.ready.probes if not probe.held] == []


def test_memory_is_bounded_and_the_box_survives_it(box: Box, grader: Grader) -> None:
    box.send(TryMemory(), deadline=soon())
    probe, _ = box.receive(Probe, soon())
    assert probe.held, probe.detail
    assert value_of(grader.take().loaded(ADD_ONE).call(1)) == 2


def test_calls_and_backward_passes_are_answered(grader: Grader) -> None:
    student = grader.take().loaded("def f(x, w):\n    print('seen')\n    return x @ w, 3\n")
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4)
    reply = student.call(x, w)
    assert isinstance(reply, Returned)
    assert [array.shape for array in reply.arrays] == [(2, 4)]
    assert reply.arrays[0].requires_grad
    gradients = student.backward(1, [torch.ones(2, 4)], [0])
    assert isinstance(gradients, Gradients)
    assert gradients.present == [True]
    assert isinstance(student.backward(1, [torch.ones(2, 4)], [0]), Gradients)
    report = grader.release()
    assert (report.ended, grader.printed()) == ("killed", b"seen\n")
    assert report.peak_memory_bytes > 50 << 20


def test_torchs_compiler_is_there_when_it_is_asked_for_and_not_before(grader: Grader) -> None:
    student = grader.take().loaded(WITH_AND_WITHOUT_THE_COMPILER)
    assert value_of(student.call(torch.ones(2))) is False
    assert value_of(student.call(torch.ones(2), function="g")) == Items("list", [2.0, 2.0])


def test_an_input_that_was_changed_is_sent_back(grader: Grader) -> None:
    reply = (
        grader.take()
        .loaded("def f(x, y):\n    x += 1\n    return y\n")
        .call(np.zeros(3), np.ones(3))
    )
    assert isinstance(reply, Returned)
    assert reply.changed == [0]


def test_a_signature_is_described(grader: Grader) -> None:
    student = grader.take().loaded("def f(a, /, b=1, *, c): ...\n")
    reply = student.describe("f")
    assert isinstance(reply, Described)
    assert reply.parameters is not None
    assert [(p.name, p.kind, p.has_default) for p in reply.parameters] == [
        ("a", "POSITIONAL_ONLY", False),
        ("b", "POSITIONAL_OR_KEYWORD", True),
        ("c", "KEYWORD_ONLY", False),
    ]
    missing = student.describe("g")
    assert isinstance(missing, Described)
    assert not missing.found


def test_provided_names_and_other_files_can_be_used(grader: Grader) -> None:
    student = grader.take()
    reply = student.load(
        "import parts, provided\ndef f(x):\n    return kernel(x) + parts.one + provided.two\n",
        provided="two = 2\ndef kernel(x):\n    return 10 * x\n",
        parts="one = 1\n",
    )
    assert isinstance(reply, Loaded)
    assert value_of(student.call(5)) == 53


@pytest.mark.parametrize(
    ("source", "stage", "kind"),
    [
        ("def f(:\n", "compile", "SyntaxError"),
        ("-" * 100_000 + "1", "compile", "MemoryError"),
        ("1 / 0", "import", "ZeroDivisionError"),
        ("import sys\nsys.exit()", "import", "SystemExit"),
        ("'a' * 10**13", "import", "MemoryError"),
        ("import torch\ntorch.empty(10**13)", "import", "MemoryError"),
    ],
)
def test_code_that_cannot_be_loaded_says_why(
    grader: Grader, source: str, stage: str, kind: str
) -> None:
    reply = grader.take().load(source)
    assert isinstance(reply, LoadFailed)
    assert (reply.stage, reply.failure.kind) == (stage, kind)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("return f()", "RecursionError"),
        ("raise BaseException('x')", "BaseException"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("import os; os.fork()", "PermissionError"),
        ("import os; os.execv('/bin/sh', ['sh'])", "PermissionError"),
        ("import socket; socket.socket()", "PermissionError"),
        ("import os; os.kill(1, 2)", "PermissionError"),
        ("import os; os.kill(-1, 9)", "PermissionError"),
        ("import fcntl; fcntl.fcntl(3, fcntl.F_SETOWN, 1)", "PermissionError"),
        ("open('/proc/self/oom_score_adj', 'w')", "FileNotFoundError"),
        ("open('/usr/x', 'w')", "OSError"),
        ("import torch; torch.empty(10**13)", "MemoryError"),
        ("import mmap; mmap.mmap(-1, 1 << 46)", "MemoryError"),
    ],
)
def test_what_a_call_raises_is_reported(grader: Grader, body: str, kind: str) -> None:
    reply = grader.take().loaded(f"def f():\n    {body}\n").call()
    assert isinstance(reply, Raised)
    assert kind in (reply.failure.kind, *reply.failure.bases)
    assert [frame.function for frame in reply.failure.frames[:1]] == ["f"]


@pytest.mark.parametrize(
    ("body", "ended", "number"),
    [
        ("import os; os._exit(3)", "exited", 0),
        ("import os; os.abort()", "signalled", signal.SIGABRT),
        ("import ctypes; ctypes.string_at(0)", "signalled", signal.SIGSEGV),
        ("import os; os.kill(os.getpid(), 9)", "signalled", signal.SIGKILL),
        ("import os; os.closerange(0, 99)", "exited", 0),
        ("\n    while 1: print('x' * 999)", "output", signal.SIGKILL),
        ("\n    import os\n    while 1: os.write(2, b'x' * 9999)", "output", signal.SIGKILL),
        ("\n    while 1: pass", "cpu", signal.SIGKILL),
    ],
)
def test_how_a_student_ended_is_reported(
    grader: Grader, body: str, ended: str, number: int
) -> None:
    student = grader.take(cpu_s=0.3).loaded(f"def f():\n    {body}\n")
    with pytest.raises(ConnectionLost):
        student.call()
    report = grader.report()
    assert (report.ended, report.signal) == (ended, number)
    assert len(grader.printed()) <= 64 << 10


def test_memory_taken_by_many_threads_ends_the_student_alone(grader: Grader) -> None:
    student = grader.take().loaded(
        "import threading\nkept = []\ndef fill():\n    while 1: kept.append(b'x' * (1 << 22))\n"
        "def f():\n    [threading.Thread(target=fill).start() for _ in range(8)]\n    fill()\n"
    )
    try:
        reply = student.call()
    except ConnectionLost:
        assert grader.report().ended == "memory"
    else:  # without control groups the address space is what ends
        assert isinstance(reply, Raised)
        assert reply.failure.kind == "MemoryError"
        grader.release()
    assert value_of(grader.take().loaded(ADD_ONE).call(1)) == 2


def test_a_stopped_student_is_released_quickly(grader: Grader) -> None:
    student = grader.take().loaded(
        "import os, signal\ndef f():\n    os.kill(os.getpid(), signal.SIGSTOP)\n"
    )
    student.connection.send(Call(1, "f", [], {}, [], []), deadline=soon())
    with pytest.raises(DeadlinePassed):
        student.connection.receive(Returned, soon(0.2))
    started = time.monotonic()
    assert grader.release().ended == "killed"
    assert time.monotonic() - started < 2


def test_a_result_that_is_too_large_is_announced_with_its_size(grader: Grader) -> None:
    student = grader.take().loaded("import torch\ndef f():\n    return torch.ones(20_000_000)\n")
    with pytest.raises(TooLarge, match="80000000"):
        student.call()


def test_bytes_written_into_the_connection_are_a_protocol_error(grader: Grader) -> None:
    student = grader.take().loaded("import os\ndef f():\n    os.write(3, bytes(64))\n")
    with pytest.raises(ProtocolError):
        student.call()


def test_threads_files_and_parallel_kernels_work(grader: Grader) -> None:
    student = grader.take().loaded(
        "import tempfile, threading, torch\ndef f():\n"
        "    torch.set_num_threads(2)\n    a = torch.ones(900, 900)\n    done = []\n"
        "    ts = [threading.Thread(target=done.append, args=(i,)) for i in range(9)]\n"
        "    [t.start() for t in ts]; [t.join() for t in ts]\n"
        "    with tempfile.NamedTemporaryFile() as file:\n        file.write(b'x')\n"
        "    return len(done), float((a @ a)[0, 0])\n"
    )
    reply = student.call()
    assert isinstance(reply, Returned), reply
    assert getattr(reply.value, "items", None) == [9, 900.0]


def test_nothing_is_left_for_the_next_student(grader: Grader) -> None:
    leave = (
        "import os, sys, builtins\nbuiltins.left = 1\n"
        "for folder in ('/tmp', '/dev/shm'):\n    open(folder + '/left', 'w').close()\n" + ADD_ONE
    )
    grader.take().loaded(leave)
    grader.release()
    look = (
        "import os, builtins\ndef f():\n"
        "    return [os.listdir('/tmp'), os.listdir('/dev/shm'), hasattr(builtins, 'left')]\n"
    )
    reply = grader.take().loaded(look).call()
    assert isinstance(reply, Returned)
    assert [getattr(v, "items", v) for v in getattr(reply.value, "items", [])] == [[], [], False]


def test_one_connection_leases_many_students(grader: Grader) -> None:
    for _ in range(5):
        student = grader.take().loaded(ADD_ONE)
        assert value_of(student.call(1)) == 2
        assert grader.release().ended == "killed"


def test_a_grader_that_vanishes_gives_its_student_back(box: Box, folder: SharedDir) -> None:
    first = Grader(box, folder)
    student = first.take().loaded(ADD_ONE)
    first.close()
    with pytest.raises(ConnectionLost):
        student.connection.receive(Returned, soon())
    second = Grader(box, folder)
    assert value_of(second.take().loaded(ADD_ONE).call(1)) == 2
    second.close()


def test_a_second_grader_waits_for_the_first(box: Box, folder: SharedDir) -> None:
    first, second = Grader(box, folder), Grader(box, folder)
    first.take()
    with pytest.raises(DeadlinePassed):
        second.lease.receive_with_descriptors(Loaded, 1, soon(0.2))
    first.close()
    assert isinstance(second.take(), Student)
    second.close()


@pytest.mark.parametrize("bwrap", ["bwrap"], indirect=True)
def test_what_the_watchdog_ends_has_run_out_of_memory(box: Box, grader: Grader) -> None:
    box.set_memory_limit(1 << 30)
    student = grader.take().loaded("def f():\n    global kept\n    kept = b'x' * (400 << 20)\n")
    assert value_of(student.call()) is None
    box.set_memory_limit(400 << 20)
    report = grader.report()
    assert (report.ended, report.signal) == ("memory", signal.SIGKILL)
    box.set_memory_limit(MEMORY_BYTES)
    assert value_of(grader.take().loaded(ADD_ONE).call(1)) == 2


def test_the_box_ends_with_its_control_channel(box: Box, folder: SharedDir) -> None:
    # The last of the module: the others share this box.
    grader = Grader(box, folder)
    student = grader.take().loaded(ADD_ONE)
    box.kill()
    with pytest.raises(ConnectionLost):
        student.connection.receive(Returned, soon())
    grader.close()
