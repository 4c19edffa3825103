"""Which system calls exist for whom: the one list behind every filter.

Theory of operation
-------------------
Everything is an allow-list; what is not named here fails with EPERM. Two rings:

- the *box* ring holds for every process of a box, the zygote included. Docker enforces it from a
  profile (`docker_profile`), a bubblewrap box puts it on itself (`box_policy`);
- the *student* ring (`student_policy`) holds for submitted code, inside the first one. It cannot
  create processes, only threads; make no socket; signal nobody but itself; change no namespace,
  mount, limit of others, or filter.

Rules look at the low 32 bits of an argument, which is all the kernel reads of those named here.
`clone3` is ENOSYS rather than EPERM, because its flags are behind a pointer where no filter can
read them, and on ENOSYS the C library falls back to `clone`.

Numbers are those of x86_64, from the kernel's `unistd_64.h`. The calls of other architectures and
of the x32 ABI have other numbers for the same things, and are refused altogether.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from dataclasses import dataclass

# fmt: off
STUDENT_SYSCALLS: Mapping[str, int] = {
    # Memory.
    "brk": 12, "mmap": 9, "munmap": 11, "mprotect": 10, "mremap": 25, "madvise": 28, "msync": 26,
    "mincore": 27,
    # Files. The rest is up to mounts, owners and quotas.
    "read": 0, "write": 1, "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "preadv": 295,
    "pwritev": 296, "preadv2": 327, "pwritev2": 328, "open": 2, "openat": 257, "openat2": 437,
    "creat": 85, "close": 3, "close_range": 436, "lseek": 8, "stat": 4, "fstat": 5, "lstat": 6,
    "newfstatat": 262, "statx": 332, "access": 21, "faccessat": 269, "faccessat2": 439,
    "readlink": 89, "readlinkat": 267, "getdents": 78, "getdents64": 217, "getcwd": 79, "chdir": 80,
    "fchdir": 81, "mkdir": 83, "mkdirat": 258, "rmdir": 84, "unlink": 87, "unlinkat": 263,
    "rename": 82, "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88,
    "symlinkat": 266, "chmod": 90, "fchmod": 91, "fchmodat": 268, "utime": 132, "utimes": 235,
    "futimesat": 261, "utimensat": 280, "truncate": 76, "ftruncate": 77, "fallocate": 285,
    "fsync": 74, "fdatasync": 75, "flock": 73, "dup": 32, "dup2": 33, "dup3": 292, "umask": 95,
    "statfs": 137, "fstatfs": 138, "sendfile": 40,
    "copy_file_range": 326, "getxattr": 191, "lgetxattr": 192, "fgetxattr": 193, "listxattr": 194,
    "llistxattr": 195, "flistxattr": 196,
    # Waiting, and the one connection a student is given.
    "poll": 7, "ppoll": 271, "select": 23, "pselect6": 270, "epoll_create": 213,
    "epoll_create1": 291, "epoll_ctl": 233, "epoll_wait": 232, "epoll_pwait": 281,
    "epoll_pwait2": 441, "eventfd": 284, "eventfd2": 290, "pipe": 22, "pipe2": 293, "recvfrom": 45,
    "sendto": 44, "getsockname": 51, "getpeername": 52, "getsockopt": 55, "shutdown": 48,
    # Threads of one's own.
    "futex": 202, "futex_waitv": 449, "set_robust_list": 273, "set_tid_address": 218, "rseq": 334,
    "membarrier": 324, "arch_prctl": 158, "sched_yield": 24, "sched_getaffinity": 204,
    "sched_getparam": 143, "sched_getscheduler": 145, "sched_get_priority_max": 146,
    "sched_get_priority_min": 147, "getcpu": 309, "getpriority": 140, "exit": 60, "exit_group": 231,
    "restart_syscall": 219, "wait4": 61, "waitid": 247,
    # Signals to oneself.
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "rt_sigpending": 127,
    "rt_sigsuspend": 130, "rt_sigtimedwait": 128, "sigaltstack": 131, "pause": 34, "signalfd": 282,
    "signalfd4": 289,
    # Time.
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "gettimeofday": 96,
    "time": 201, "nanosleep": 35, "times": 100, "getitimer": 36, "setitimer": 38, "alarm": 37,
    "timer_create": 222, "timer_settime": 223, "timer_gettime": 224, "timer_getoverrun": 225,
    "timer_delete": 226, "timerfd_create": 283, "timerfd_settime": 286, "timerfd_gettime": 287,
    # Who and where am I.
    "getpid": 39, "gettid": 186, "getppid": 110, "getpgrp": 111, "getpgid": 121, "getsid": 124,
    "getuid": 102, "geteuid": 107, "getgid": 104, "getegid": 108, "getresuid": 118,
    "getresgid": 120, "getgroups": 115, "capget": 125, "uname": 63, "sysinfo": 99, "getrusage": 98,
    "getrlimit": 97, "setrlimit": 160, "getrandom": 318,
}
BOX_SYSCALLS: Mapping[str, int] = {
    # Making and ending students.
    "clone": 56, "kill": 62, "tgkill": 234, "prctl": 157, "prlimit64": 302, "seccomp": 317,
    "capset": 126, "setsid": 112, "setpgid": 109, "unshare": 272,
    # What a student's namespaces are made of.
    "mount": 165, "umount2": 166, "pivot_root": 155,
    # The grader's socket and the way out of root where the launcher starts as root.
    "socketpair": 53, "bind": 49, "listen": 50, "accept": 43, "accept4": 288, "connect": 42,
    "sendmsg": 46, "recvmsg": 47, "sendmmsg": 307, "recvmmsg": 299, "setsockopt": 54, "setuid": 105,
    "setgid": 106, "setgroups": 116, "setresuid": 117, "setresgid": 119, "setreuid": 113,
    "setregid": 114,
}
CONDITIONAL_SYSCALLS: Mapping[str, int] = {
    "clone": 56, "fcntl": 72, "ioctl": 16, "kill": 62, "prctl": 157, "prlimit64": 302,
    "socket": 41, "tgkill": 234,
}
MISSING_SYSCALLS: Mapping[str, int] = {"clone3": 435}
LAUNCH_SYSCALLS: Mapping[str, int] = {"execve": 59}  # an engine sets its filter before it execs
NAMESPACE_SYSCALLS = ("clone", "unshare", "mount", "umount2", "pivot_root")
# fmt: on

ARCHITECTURE = "x86_64"  # as `uname` and engines call it
ALL_BITS = (1 << 32) - 1
CLONE_THREAD = 0x00010000
CLONE_NEWUSER = 0x10000000
IOCTLS = (
    0x5401,  # TCGETS, by which isatty() is implemented
    0x5413,  # TIOCGWINSZ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
)
# Not F_SETOWN and F_SETSIG: the kernel would send a signal of one's choice on one's behalf.
FCNTLS = (
    0, 1, 2, 3, 4, 1030,  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
    5, 6, 7, 36, 37, 38,  # F_GETLK, F_SETLK, F_SETLKW, and the same for open files
)  # fmt: skip
# Naming threads and memory, and looking at the bounding set. Not dumpability, not filters.
PRCTLS = (15, 16, 23, 0x53564D41)  # PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_SET_VMA


@dataclass(frozen=True)
class Rule:
    """Allow a call only while ``argument & mask`` is one of `values`."""

    syscall: str
    argument: int
    values: tuple[int, ...]
    mask: int = ALL_BITS


@dataclass(frozen=True)
class Policy:
    """What one ring allows: calls by name and number, and rules, at most one per call."""

    allowed: Mapping[str, int]
    rules: tuple[Rule, ...]

    def numbered_rules(self) -> tuple[tuple[int, Rule], ...]:
        """The rules with the numbers of their calls."""
        return tuple((CONDITIONAL_SYSCALLS[rule.syscall], rule) for rule in self.rules)


def student_policy(own_pid: int) -> Policy:
    """What submitted code may do in process `own_pid`."""
    return Policy(
        STUDENT_SYSCALLS,
        (
            Rule("clone", 0, (CLONE_THREAD,), CLONE_THREAD),
            Rule("kill", 0, (own_pid,)),
            Rule("tgkill", 0, (own_pid,)),
            Rule("prlimit64", 0, (0, own_pid)),
            Rule("prctl", 0, PRCTLS),
            Rule("ioctl", 1, IOCTLS),
            Rule("fcntl", 1, FCNTLS),
        ),
    )


def box_policy() -> Policy:
    """What any process of a box may do; programs cannot be executed."""
    return Policy(
        {**STUDENT_SYSCALLS, **BOX_SYSCALLS},
        (
            Rule("socket", 0, (socket.AF_UNIX,)),
            Rule("ioctl", 1, IOCTLS),
            Rule("fcntl", 1, FCNTLS),
        ),
    )


def unnested_policy() -> Policy:
    """`box_policy` for a box to be started under, without what namespaces inside it would take.

    So refuses a kernel or an engine that does not let ordinary users have them.
    """
    box = box_policy()
    kept = {name: n for name, n in box.allowed.items() if name not in NAMESPACE_SYSCALLS}
    processes = Rule("clone", 0, (0,), CLONE_NEWUSER)
    return Policy({**kept, **LAUNCH_SYSCALLS}, (*box.rules, processes))


def docker_profile() -> dict[str, object]:
    """`box_policy` as a profile for Docker, plus what the engine needs to start the program."""
    policy = box_policy()
    names = sorted({**policy.allowed, **LAUNCH_SYSCALLS})
    allow: list[dict[str, object]] = [{"names": names, "action": "SCMP_ACT_ALLOW"}]
    missing = {
        "names": list(MISSING_SYSCALLS), "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS
    }  # fmt: skip
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        # Without x32 here libseccomp would kill the calling thread before the inner filter refuses.
        "archMap": [{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X32"]}],
        "syscalls": allow
        + [entry for rule in policy.rules for entry in _entries(rule)]
        + [missing],
    }


def _entries(rule: Rule) -> list[dict[str, object]]:
    """One entry a value: the conditions within an entry must all hold, entries are alternatives."""
    return [
        {
            "names": [rule.syscall],
            "action": "SCMP_ACT_ALLOW",
            "args": [
                {
                    "index": rule.argument,
                    "value": rule.mask,
                    "valueTwo": value,
                    "op": "SCMP_CMP_MASKED_EQ",
                }
            ],
        }
        for value in rule.values
    ]
