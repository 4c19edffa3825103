"""The Linux system calls that Python has no function for.

Each raises `OSError` with the kernel's error number; the message names the call.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_MOVE = 0x2000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_READ = 23
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_SYS_CLONE = 56
_SYS_CAPGET = 125
_SYS_CAPSET = 126
_SYS_CLOSE_RANGE = 436
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_SETPCAP = 8
_MADV_POPULATE_WRITE = 23
_MADV_COLLAPSE = 25
_LAST_FD = (1 << 32) - 1
_CPUCLOCK_SCHED = 2

# PyDLL keeps the interpreter's lock across the call, which a fork requires.
_libc = ctypes.PyDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def _prctl(option: int, value: int, what: str) -> int:
    unused = ctypes.c_ulong(0)
    result = _libc.prctl(option, ctypes.c_ulong(value), unused, unused, unused)
    return _checked(int(result), f"prctl {what}")


def fork_into(namespaces: int) -> int:
    """`os.fork`, but the child is the first process of new namespaces (CLONE_NEW... flags).

    In the child the C library still believes in the parent's thread id; that only matters for
    signals to oneself, which the child must not use, and is right again in *its* forks.
    """
    ctypes.pythonapi.PyOS_BeforeFork()
    flags = ctypes.c_ulong(namespaces | signal.SIGCHLD)
    none = ctypes.c_ulong(0)
    pid = _libc.syscall(ctypes.c_long(_SYS_CLONE), flags, none, none, none, none)
    code = ctypes.get_errno()
    if pid == 0:
        ctypes.pythonapi.PyOS_AfterFork_Child()
        return 0
    ctypes.pythonapi.PyOS_AfterFork_Parent()
    ctypes.set_errno(code)
    return _checked(int(pid), "clone")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Attach a file system at `target`, or change what is attached there."""
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(result, f"mount {target}")


def die_with_parent() -> None:
    """Ask for SIGKILL when the parent ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, "PDEATHSIG")


def adopt_orphans() -> None:
    """Become the parent of descendants whose parent ends."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1, "CHILD_SUBREAPER")


def set_dumpable(dumpable: bool) -> None:
    """Whether this process's memory and /proc entries are open to others of the same user."""
    _prctl(_PR_SET_DUMPABLE, int(dumpable), "DUMPABLE")


def set_filter(program: bytes) -> None:
    """Put a filter program on this process, which thereby gives up gaining privileges."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1, "NO_NEW_PRIVS")
    filter_ = _Program(len(program) // 8, program)
    unused = ctypes.c_ulong(0)
    result = _libc.prctl(
        _PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(filter_), unused, unused
    )
    _checked(result, "prctl SECCOMP")


def drop_capabilities() -> None:
    """Empty all capability sets, the bounding set only where we are allowed to."""
    _prctl_ambient_clear()
    allowed = _capability_sets()[0] & (1 << _CAP_SETPCAP)
    capability = 0
    while allowed and _bounding(capability) is not None:
        if _bounding(capability):
            _prctl(_PR_CAPBSET_DROP, capability, "CAPBSET_DROP")
        capability += 1
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    empty = bytes(24)
    _checked(_libc.syscall(ctypes.c_long(_SYS_CAPSET), header, empty), "capset")


def held_capabilities() -> int:
    """The union of the effective, permitted and inheritable sets, as a bit mask."""
    effective, permitted, inheritable = _capability_sets()
    return effective | permitted | inheritable


def bounding_capabilities() -> int:
    """The bounding set as a bit mask."""
    mask = capability = 0
    while (bound := _bounding(capability)) is not None:
        mask |= bound << capability
        capability += 1
    return mask


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    call, none = ctypes.c_long(_SYS_CLOSE_RANGE), ctypes.c_ulong(0)
    if _libc.syscall(call, ctypes.c_ulong(first), ctypes.c_ulong(_LAST_FD), none) < 0:
        # Older engines' filters do not know this call.
        os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def collapse_pages(address: int, size_bytes: int) -> bool:
    """Ask for huge pages in a range, now; False where the kernel would or could not."""
    return _advise(address, size_bytes, _MADV_COLLAPSE)


def copy_pages(address: int, size_bytes: int) -> bool:
    """Have the pages of a range as if they had been written to; False where the kernel cannot."""
    return _advise(address, size_bytes, _MADV_POPULATE_WRITE)


def _advise(address: int, size_bytes: int, advice: int) -> bool:
    start, length = ctypes.c_void_p(address), ctypes.c_size_t(size_bytes)
    return int(_libc.madvise(start, length, advice)) == 0


def raw(number: int, *arguments: int) -> int:
    """Any system call by number, for probes; returns its result or minus the error number."""
    words = [ctypes.c_ulong(argument & (1 << 64) - 1) for argument in arguments]
    result = int(_libc.syscall(ctypes.c_long(number), *words))
    return result if result >= 0 else -ctypes.get_errno()


def cpu_clock(pid: int) -> int:
    """The id by which `time.clock_gettime` knows the CPU clock of another process."""
    return (~pid << 3) | _CPUCLOCK_SCHED


def _capability_sets() -> tuple[int, int, int]:
    """The effective, permitted and inheritable sets, as bit masks."""
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), 8)
    data = ctypes.create_string_buffer(24)
    _checked(_libc.syscall(ctypes.c_long(_SYS_CAPGET), header, data), "capget")
    low, high = struct.unpack("=3I", data.raw[:12]), struct.unpack("=3I", data.raw[12:])
    return low[0] | high[0] << 32, low[1] | high[1] << 32, low[2] | high[2] << 32


def _bounding(capability: int) -> int | None:
    """Whether a capability is in the bounding set; None when the kernel does not know it."""
    unused = ctypes.c_ulong(0)
    value = ctypes.c_ulong(capability)
    result = int(_libc.prctl(_PR_CAPBSET_READ, value, unused, unused, unused))
    return result if result >= 0 else None


def _prctl_ambient_clear() -> None:
    unused = ctypes.c_ulong(0)
    clear = ctypes.c_ulong(_PR_CAP_AMBIENT_CLEAR_ALL)
    _checked(_libc.prctl(_PR_CAP_AMBIENT, clear, unused, unused, unused), "prctl CAP_AMBIENT")
