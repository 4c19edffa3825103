"""The filters: assembled by us, enforced by the kernel, tried in a process of their own."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys

import pytest

from sandbox.runner.seccomp import assemble, ranges
from sandbox.syscall_policy import (
    BOX_SYSCALLS,
    CONDITIONAL_SYSCALLS,
    LAUNCH_SYSCALLS,
    MISSING_SYSCALLS,
    STUDENT_SYSCALLS,
    box_policy,
    docker_profile,
    student_policy,
)

NEVER = [
    "execve", "execveat", "fork", "vfork", "socket", "socketpair", "connect", "bind", "ptrace",
    "process_vm_readv", "kcmp", "keyctl", "add_key", "bpf", "io_uring_setup", "userfaultfd",
    "perf_event_open", "mount", "umount2", "pivot_root", "setns", "unshare", "shmget", "shmat",
    "semget", "msgget", "mq_open", "seccomp", "tkill", "rt_sigqueueinfo", "pidfd_open",
    "pidfd_getfd", "sendmsg", "recvmsg", "mknod", "chroot", "personality", "memfd_create",
]  # fmt: skip

# Every number up to 600 and its x32 twin, except those that are allowed, with arguments that do no
# harm. 335 and 336 are trampolines of the kernel's tracing, which no filter sees.
SWEEP = """
import json, os, sys
from sandbox.runner import seccomp, syscalls
skipped = set(json.loads(sys.argv[1]))
seccomp.confine_student(os.getpid())
numbers = [n for n in range(600) if n not in skipped] + [0x40000000 + n for n in range(600)]
print(json.dumps([[n, syscalls.raw(n, 0, 0, 0, 0, 0)] for n in numbers]))
"""
THREADS = """
import os, signal, threading, sys
from sandbox.runner import seccomp
seccomp.confine_student(os.getpid())
thread = threading.Thread(target=print, args=("ran",)); thread.start(); thread.join()
def refused(call):
    try: call()
    except PermissionError: return True
    return False
os.kill(os.getpid(), 0)
print(refused(os.fork), refused(lambda: os.kill(os.getppid(), 0)), refused(lambda: os.kill(0, 0)))
os.abort()
"""


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )


def test_everything_that_is_not_allowed_is_refused() -> None:
    allowed = {**STUDENT_SYSCALLS, **CONDITIONAL_SYSCALLS, "trampolines": 335, "trampoline": 336}
    ran = run(SWEEP, json.dumps([*allowed.values()]))
    assert ran.returncode == 0, ran.stderr
    answers = dict(json.loads(ran.stdout))
    assert answers.pop(MISSING_SYSCALLS["clone3"]) == -38
    assert {number: answer for number, answer in answers.items() if answer != -1} == {}


def test_threads_start_and_signals_reach_only_oneself() -> None:
    ran = run(THREADS)
    assert ran.stdout.split() == ["ran", "True", "True", "True"]
    assert ran.returncode == -6


def test_a_student_never_gets_these() -> None:
    assert not set(NEVER) & (STUDENT_SYSCALLS.keys() | {r.syscall for r in student_policy(1).rules})


def test_the_box_cannot_execute_programs_but_an_engine_can_start_it() -> None:
    assert not {"execve", "execveat", "ptrace", "bpf", "setns"} & box_policy().allowed.keys()
    entries = docker_profile()["syscalls"]
    assert isinstance(entries, list)
    assert "execve" in entries[0]["names"]
    assert docker_profile()["defaultAction"] == "SCMP_ACT_ERRNO"
    json.dumps(docker_profile())


def test_the_numbers_are_the_kernels() -> None:
    try:
        resolve = ctypes.CDLL("libseccomp.so.2").seccomp_syscall_resolve_name  # engines bring it
    except OSError as error:
        pytest.skip(f"needs libseccomp: {error}")
    groups = (STUDENT_SYSCALLS, BOX_SYSCALLS, CONDITIONAL_SYSCALLS, MISSING_SYSCALLS)
    ours = {name: number for group in (*groups, LAUNCH_SYSCALLS) for name, number in group.items()}
    # The library may be older than the list; then it answers -1.
    assert {n: v for n, v in ours.items() if resolve(n.encode()) not in (v, -1)} == {}
    assert len(set(ours.values())) == len(ours)


def test_numbers_become_runs() -> None:
    assert list(ranges([5, 1, 2, 3, 9])) == [(1, 3), (5, 5), (9, 9)]


def test_a_program_is_a_list_of_whole_instructions() -> None:
    program = assemble(student_policy(2))
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096
