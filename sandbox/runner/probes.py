"""The hostile program that tries each defence before a box is used.

It runs where a submission would, in a student that is confined in exactly the same way, and only
reports what it got. A defence *held* when the attempt failed in the way it should. Where a call
is refused by the filter it is made with arguments that the kernel itself would refuse differently
(EFAULT, EBADF, ...), so the answer shows that it was the filter, and nothing happens if it is not.
"""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from msgspec import Struct

from sandbox.boxes import SHARED_FOLDER, SITE_PACKAGES
from sandbox.protocol import Connection, Probe
from sandbox.runner import confine, syscalls
from sandbox.runner.init import CONNECTION_FD, announce_ready

FILL_STEP_BYTES = 8 << 20
FILL_AT_MOST_BYTES = 8 << 30
_FDS_TRIED = 4096
_AF_ALG = 38
_AF_VSOCK = 40
_NOWHERE = 0x10  # an address that is never mapped

# Numbers on x86_64. All of these must be refused by the student's filter.
_EXECUTING = {"execve": 59, "execveat": 322}
_TRACING = {"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312}
_REARRANGING = {
    "unshare": 272, "setns": 308, "mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161,
    "move_mount": 429, "open_tree": 428, "fsopen": 430, "mount_setattr": 442,
}  # fmt: skip
_NEEDLESS = {
    "io_uring_setup": 425, "bpf": 321, "keyctl": 250, "add_key": 248, "userfaultfd": 323,
    "perf_event_open": 298, "seccomp": 317, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "memfd_create": 319, "pidfd_open": 434, "personality": 135, "modify_ldt": 154,
    "open_by_handle_at": 304, "init_module": 175, "kexec_load": 246, "syslog": 103,
}  # fmt: skip
_CLONE3 = 435
_X32_GETPID = 0x40000000 + 39
_OOM_SCORE = "/proc/self/oom_score_adj"
_TIOCSTI = 0x5412
_IOCTL = 16

Outcome = tuple[bool, str]
Attempt = Callable[[], Outcome]


class ProbeResults(Struct, frozen=True, tag="probes"):
    """What the program tried, one entry a defence."""

    probes: list[Probe]


def run_nested(sock: socket.socket) -> None:
    """The program of a student that has namespaces of its own."""
    _report(sock, {**COMMON, **NESTED})


def run_single(sock: socket.socket) -> None:
    """The program of a student that shares the box's namespaces."""
    _report(sock, {**COMMON, **SINGLE})


def fill_memory(sock: socket.socket) -> None:
    """The program that takes memory until it is stopped, once the other end has been closed."""
    announce_ready()
    sock.recv(1)
    kept: list[bytes] = []
    while len(kept) * FILL_STEP_BYTES < FILL_AT_MOST_BYTES:
        kept.append(b"\1" * FILL_STEP_BYTES)


def _report(sock: socket.socket, attempts: Mapping[str, Attempt]) -> None:
    announce_ready()
    results = ProbeResults([Probe(name, *_try(attempt)) for name, attempt in attempts.items()])
    Connection(sock, 0).send(results)


def _try(attempt: Attempt) -> Outcome:
    try:
        return attempt()
    except OSError as error:
        return False, f"unexpected: {error}"


def _all_refused(calls: Mapping[str, int]) -> Outcome:
    return _verdict(name for name, number in calls.items() if not _refused(number))


def _refused(number: int, *arguments: int) -> bool:
    return syscalls.raw(number, *arguments) == -errno.EPERM


def _verdict(broken: Iterable[str]) -> Outcome:
    """Held when nothing is listed."""
    names = list(broken)
    return not names, "possible: " + ", ".join(names) if names else "refused"


def _identity() -> Outcome:
    ids = {*os.getresuid(), *os.getresgid()}
    return 0 not in ids, f"user {os.getuid()}"


def _capabilities() -> Outcome:
    held = syscalls.held_capabilities()
    return held == 0, f"held {held:#x}"


def _bounding_set() -> Outcome:
    bounding = syscalls.bounding_capabilities()
    return bounding == 0, f"bounding {bounding:#x}"


def _network() -> Outcome:
    families = {
        "inet": socket.AF_INET, "inet6": socket.AF_INET6, "unix": socket.AF_UNIX,
        "netlink": socket.AF_NETLINK, "packet": socket.AF_PACKET, "alg": _AF_ALG,
        "vsock": _AF_VSOCK,
    }  # fmt: skip
    return _verdict(name for name, family in families.items() if _socket_opens(family))


def _socket_opens(family: int) -> bool:
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
    except OSError as error:
        return error.errno != errno.EPERM
    return True


def _processes() -> Outcome:
    try:
        if os.fork() == 0:
            os._exit(0)
    except OSError as error:
        forked = error.errno != errno.EPERM
    else:
        forked = True
    # clone3 must look unknown, or the C library would not fall back to what a filter can read.
    clone3 = syscalls.raw(_CLONE3, _NOWHERE, 0) != -errno.ENOSYS
    return _verdict(name for name, done in (("fork", forked), ("clone3", clone3)) if done)


def _other_architecture() -> Outcome:
    return _verdict(["x32"] if not _refused(_X32_GETPID) else [])


def _terminal() -> Outcome:
    return _verdict(["TIOCSTI"] if not _refused(_IOCTL, 0, _TIOCSTI, _NOWHERE) else [])


def _signals() -> Outcome:
    targets = {"everything": -1, "own group": 0, "first process": 1, "parent": os.getppid()}
    return _verdict(name for name, pid in targets.items() if _signals_reach(pid))


def _signals_reach(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.EPERM
    return True


def _descriptors() -> Outcome:
    found = [fd for fd in range(_FDS_TRIED) if _is_open(fd)]
    return found == list(range(CONNECTION_FD + 1)), f"open: {found[:20]}"


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def _root_is_read_only() -> Outcome:
    folders = ("/", "/etc", "/usr", "/usr/lib", "/env", SITE_PACKAGES, "/dev", "/run")
    return _verdict(folder for folder in folders if _can_write(folder))


def _can_write(folder: str) -> bool:
    path = Path(folder, "probe")
    try:
        path.touch(exist_ok=False)
    except OSError:
        return False
    path.unlink()
    return True


def _others_memory() -> Outcome:
    files = [f"/proc/{pid}/{name}" for pid in ("1", os.getppid()) for name in ("environ", "mem")]
    return _verdict(file for file in files if _can_open(file, os.O_RDONLY))


def _oom_score() -> Outcome:
    return _verdict([_OOM_SCORE] if _can_open(_OOM_SCORE, os.O_WRONLY) else [])


def _can_open(file: str, flags: int) -> bool:
    try:
        os.close(os.open(file, flags))
    except OSError:
        return False
    return True


def _limits() -> Outcome:
    limits = {
        "core": (resource.RLIMIT_CORE, 0), "threads": (resource.RLIMIT_NPROC, confine.THREADS),
        "files": (resource.RLIMIT_NOFILE, confine.OPEN_FILES),
        "queues": (resource.RLIMIT_MSGQUEUE, 0),
    }  # fmt: skip
    return _verdict(
        name for name, (kind, most) in limits.items() if resource.getrlimit(kind) != (most, most)
    )


def _process_tree() -> Outcome:
    ids = os.getppid(), os.getpid()
    return ids == (1, 2), f"parent {ids[0]}, self {ids[1]}"


def _covered_proc() -> Outcome:
    return _verdict(set(_entries("/proc")) - {"cpuinfo", "meminfo"})


def _covered_folders() -> Outcome:
    folders = [folder for folder in ("/sys", "/dev/mqueue", SHARED_FOLDER) if Path(folder).is_dir()]
    return _verdict(folder for folder in folders if _entries(folder) or _can_write(folder))


def _unlisted_sockets() -> Outcome:
    """Without a mount namespace the folder cannot be covered; its names are secret instead."""
    try:
        names = _entries(SHARED_FOLDER)
    except PermissionError:
        return True, "cannot be listed"
    return not names, f"{len(names)} names can be read"


def _private_scratch() -> Outcome:
    folders = [folder for folder in ("/tmp", "/dev/shm") if Path(folder).is_dir()]  # noqa: S108
    return _verdict(folder for folder in folders if _entries(folder) or not _is_capped(folder))


def _entries(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


def _is_capped(folder: str) -> bool:
    state = os.statvfs(folder)
    size_bytes = state.f_blocks * state.f_frsize
    return size_bytes <= confine.SCRATCH_BYTES and state.f_files <= confine.SCRATCH_INODES


COMMON: Mapping[str, Attempt] = {
    "ordinary user": _identity,
    "no capabilities": _capabilities,
    "no sockets": _network,
    "no processes": _processes,
    "no programs": lambda: _all_refused(_EXECUTING),
    "no tracing": lambda: _all_refused(_TRACING),
    "no namespaces or mounts": lambda: _all_refused(_REARRANGING),
    "no needless calls": lambda: _all_refused(_NEEDLESS),
    "one architecture": _other_architecture,
    "no terminal input": _terminal,
    "signals only to itself": _signals,
    "four descriptors": _descriptors,
    "read-only root": _root_is_read_only,
    "memory of others": _others_memory,
    "first to be killed for memory": _oom_score,
    "limits": _limits,
}
NESTED: Mapping[str, Attempt] = {
    "empty bounding set": _bounding_set,
    "own process tree": _process_tree,
    "covered /proc": _covered_proc,
    "covered folders": _covered_folders,
    "private scratch": _private_scratch,
}
SINGLE: Mapping[str, Attempt] = {
    "unlisted sockets": _unlisted_sockets,
}
