"""What the inside of a box is like, tried from inside."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

from sandbox.boxes import Launcher, Role, SharedDir
from sandbox.protocol import ConnectionLost
from tests.sandbox.box_programs.messages import Do, Said
from tests.sandbox.boxes import MEMORY_BYTES, MIB, PIDS, SPEC, TMP_BYTES, Obedient

STATUS = "answer = dict(l.split(':\\t', 1) for l in open('/proc/self/status') if ':\\t' in l)"
WALK = """
import os
answer = []
for top, folders, files in os.walk('/'):
    folders[:] = [f for f in folders if os.path.join(top, f) not in ('/proc', '/sys')
                  and f not in ('torch', 'sympy', 'numpy', 'networkx')]
    paths = [os.path.join(top, f) for f in files]
    named = [p for p in paths if any(n in p for n in NEEDLES)]
    answer += [p for p in named if os.path.isfile(p)]  # one that is covered is a null device
"""
NEEDLES = ["multi-head-attention", "verdicts.py", "choose.py", "_judge", "judge-0"]


# As a runner does: it is handed a socket to listen on, or else makes one in the shared folder.
LISTEN = """
import os, socket
handed_over = os.environ.get('JUDGE_LISTENER_FD')
listener = socket.socket(socket.AF_UNIX, fileno=int(handed_over) if handed_over else None)
if not handed_over:
    listener.bind(f'/run/judge/{box_id}.sock')
listener.listen()
"""
WAIT_FOR_A_CALL = LISTEN + "answer = listener.accept()[0].recv(99)"
CALL = """
import os, socket, time
while not os.path.lexists('/run/judge/{0}.sock'):
    time.sleep(0.01)
caller = socket.socket(socket.AF_UNIX)
caller.connect('/run/judge/{0}.sock')
caller.send(b'hello')
"""


def found(inside: Obedient, code: str) -> object:
    return ast.literal_eval(inside.run(code))


def test_a_box_is_nobody_without_capabilities(lasting: Obedient) -> None:
    status = found(lasting, STATUS)
    assert isinstance(status, dict)
    assert status["Uid"].split() == ["65534"] * 4
    assert status["Gid"].split() == ["65534"] * 4
    assert status["Groups"].strip() in ("", "65534")
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"


def test_a_box_is_the_first_process_and_alone(lasting: Obedient) -> None:
    code = "import os; answer = (os.getpid(), [n for n in os.listdir('/proc') if n.isdigit()])"
    assert found(lasting, code) == (1, ["1"])


def test_a_box_has_no_network(lasting: Obedient) -> None:
    interfaces = "answer = [l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l]"
    assert found(lasting, interfaces) == ["lo"]
    connect = "import socket; socket.create_connection(('192.0.2.1', 80), 2)"
    assert "unreachable" in lasting.run(connect) or "not permitted" in lasting.run(connect)


@pytest.mark.parametrize(
    "place", ["/", "/usr", "/etc", "/env", "/env/site-packages", "/dev", "/sys", "/run", "/proc"]
)
def test_nothing_but_scratch_can_be_written(lasting: Obedient, place: str) -> None:
    answer = lasting.run(f"open({place!r} + '/planted', 'w')")
    assert answer.startswith(("OSError", "PermissionError", "FileNotFoundError")), answer


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_scratch_is_capped(lasting: Obedient, place: str) -> None:
    code = f"""
import os
try:
    with open({place!r} + '/big', 'wb', buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
except OSError as error:
    answer = (error.errno, os.path.getsize({place!r} + '/big'))
os.unlink({place!r} + '/big')
"""
    answer = found(lasting, code)
    assert isinstance(answer, tuple)
    assert answer[0] == 28  # ENOSPC
    assert answer[1] <= TMP_BYTES


def test_boxes_of_a_launcher_meet_in_the_shared_folder(
    inside: Obedient, box_launcher: Launcher, shared: SharedDir
) -> None:
    grader = Obedient(box_launcher, shared, dataclasses.replace(SPEC, role=Role.GRADER))
    inside.box.send(Do(WAIT_FOR_A_CALL))
    assert grader.run(CALL.format(inside.box.id)) == ""
    assert inside.box.receive(Said)[0].text == "b'hello'"
    grader.box.kill()


def test_names_in_the_shared_folder_cannot_be_listed_by_a_runner(lasting: Obedient) -> None:
    answer = lasting.run("import os; os.chmod('/run/judge', 0o777)")
    assert answer.startswith(("PermissionError", "OSError"))
    answer = lasting.run("import os; answer = os.listdir('/run/judge')")
    assert answer == "[]" or answer.startswith("PermissionError")


def test_a_box_sees_no_code_of_ours_but_what_was_sent(lasting: Obedient) -> None:
    assert "No module named 'judge'" in lasting.run("import judge")
    assert found(lasting, WALK.replace("NEEDLES", repr(NEEDLES))) == []


def test_a_box_sees_no_path_or_secret_of_the_host(lasting: Obedient) -> None:
    environment = found(lasting, "import os; answer = dict(os.environ)")
    assert isinstance(environment, dict)
    foreign = set(environment) - {
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX", "PATH",
        "HOME", "LANG", "JUDGE_MEMORY_MODE", "JUDGE_MEMORY_BYTES", "HOSTNAME", "PWD",
        "LD_LIBRARY_PATH", "JUDGE_LISTENER_FD",
    }  # fmt: skip
    assert foreign == set()
    assert found(lasting, "import socket; answer = repr(socket.gethostname())") == "box"
    here = str(Path(__file__).resolve().parent)
    assert found(lasting, f"import os; answer = os.path.exists({here!r})") is False
    assert found(lasting, f"answer = {here!r} in open('/proc/self/mountinfo').read()") is False


def test_a_box_holds_no_descriptor_of_the_launcher(lasting: Obedient) -> None:
    code = """
import os
listing = os.open('/proc/self/fd', os.O_RDONLY)
answer = sorted(os.readlink(f'/proc/self/fd/{n}').split(':')[0]
                for n in os.listdir(listing) if os.path.lexists(f'/proc/self/fd/{n}'))
os.close(listing)
"""
    kinds = found(lasting, code)
    assert isinstance(kinds, list)
    # /dev/null, stderr twice, the channel twice, the listening socket, the listing
    assert len(kinds) <= 7, kinds
    assert set(kinds) <= {"/dev/null", "pipe", "socket", "/proc/1/fd"}, kinds


def test_the_libraries_are_there(lasting: Obedient) -> None:
    assert lasting.run("import numpy, msgspec; answer = numpy.zeros(2).sum()") == "0.0"


def test_counters_are_readable_where_the_kernel_keeps_them(counted: Obedient) -> None:
    code = """
import os
names = ['memory/memory.limit_in_bytes', 'memory.max']
answer = [open('/sys/fs/cgroup/' + n).read().strip() for n in names
          if os.path.exists('/sys/fs/cgroup/' + n)]
"""
    assert found(counted, code) == [str(MEMORY_BYTES)]


def test_memory_beyond_the_limit_ends_the_process(counted: Obedient) -> None:
    counted.box.set_memory_limit(64 * MIB)
    with pytest.raises(ConnectionLost):
        counted.run("keep = bytearray(200 << 20)")
    assert not counted.box.alive()


def test_a_raised_limit_gives_more_memory(counted: Obedient) -> None:
    counted.box.set_memory_limit(512 * MIB)
    assert counted.run("keep = bytearray(300 << 20); answer = len(keep)") == str(300 * MIB)


def test_processes_are_bounded(counted: Obedient) -> None:
    code = """
import threading
gate, made = threading.Event(), []
try:
    for _ in range(100):
        made.append(threading.Thread(target=gate.wait))
        made[-1].start()
except RuntimeError:
    answer = len(made)
gate.set()
"""
    assert int(counted.run(code)) <= PIDS


def test_the_watchdog_ends_what_really_uses_too_much(uncounted: Obedient) -> None:
    code = """
import os, time
pid = os.fork()
if pid == 0:
    keep = bytearray(400 << 20)
    time.sleep(10)
    os._exit(0)
answer = os.waitpid(pid, 0)[1]
"""
    assert uncounted.run(code) == "9"


def test_the_watchdog_never_ends_the_first_process_of_a_box(uncounted: Obedient) -> None:
    code = "keep = bytearray(400 << 20); import time; time.sleep(0.5); answer = len(keep)"
    assert uncounted.run(code) == str(400 * MIB)


def test_a_box_without_a_group_is_told_to_bound_itself(uncounted: Obedient) -> None:
    code = "import os; answer = os.environ['JUDGE_MEMORY_MODE'], os.environ['JUDGE_MEMORY_BYTES']"
    assert found(uncounted, code) == ("rlimit", str(MEMORY_BYTES))
