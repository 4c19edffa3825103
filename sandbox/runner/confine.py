"""What a student's pair of processes gives up, in the order in which it has to happen.

A restriction is one more step in one of three lists:

- `enter_namespaces`, in init, right after it was forked into new namespaces: whose ids it has,
  and what of the box's file system it and its child still see;
- `become_student`, in the student, up to the point where only the filter is missing;
- the filter itself (`sandbox.runner.seccomp`), last, because the steps before it need the calls
  that it refuses.

Where namespaces are refused, only the second and third are taken, and the whole box is thrown away
after one student (`nested` is False).
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox.boxes import SHARED_FOLDER
from sandbox.runner import syscalls

NAMESPACES = (
    syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWPID
    | syscalls.CLONE_NEWNS
    | syscalls.CLONE_NEWNET
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
)
SCRATCH_BYTES = 64 << 20  # each of /tmp and /dev/shm; they count as memory of the box as well
SCRATCH_INODES = 4096
THREADS = 128
OPEN_FILES = 256
FILE_BYTES = SCRATCH_BYTES
STACK_BYTES = 8 << 20
OOM_FIRST = 1000

_SCRATCH = ("/tmp", "/dev/shm")  # noqa: S108  # mount points inside the box
_HIDDEN = ("/sys", "/dev/mqueue", "/dev/pts", SHARED_FOLDER)
_SHOWN_OF_PROC = ("cpuinfo", "meminfo")  # torch chooses its kernels by the first
_SAFE = syscalls.MS_NOSUID | syscalls.MS_NODEV | syscalls.MS_NOEXEC
_FIRST_HIGH_FD = 512


class SetupFailed(Exception):
    """A step was refused; `step` is its name."""

    def __init__(self, step: str, error: OSError) -> None:
        super().__init__(f"{step}: {error.strerror or error}")
        self.step = step


@dataclass(frozen=True)
class Surroundings:
    """What init must know of the box, found once: who it is, and mount points to cover."""

    uid: int
    gid: int
    scratch: tuple[str, ...]
    hidden: tuple[str, ...]

    @classmethod
    def look(cls) -> Surroundings:
        """The usual places that exist, and whatever else of this box can be written to."""
        scratch = tuple(place for place in _SCRATCH if Path(place).is_dir())
        usual = (place for place in _HIDDEN if Path(place).is_dir())
        writable = (place for place in _writable_mounts() if not _within(place, scratch))
        return cls(os.getuid(), os.getgid(), scratch, tuple(dict.fromkeys((*usual, *writable))))


def enter_namespaces(box: Surroundings) -> None:
    """Finish the namespaces that this process was forked into. Raises `SetupFailed`."""
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("tie to parent", syscalls.die_with_parent),
        # The zygote is not dumpable, and then its forks cannot write their own id maps.
        ("dumpable", lambda: syscalls.set_dumpable(True)),
        ("map ids", lambda: _map_ids(box.uid, box.gid)),
        ("private mounts", _make_mounts_private),
        ("cover /proc", _cover_proc),
        *((f"scratch {place}", lambda place=place: _mount_scratch(place)) for place in box.scratch),
        *((f"hide {place}", lambda place=place: _mount_empty(place)) for place in box.hidden),
        ("not dumpable", lambda: syscalls.set_dumpable(False)),
    )  # fmt: skip
    for name, step in steps:
        _take(name, step)


def become_student(proc_fd: int, descriptors: Iterable[int]) -> None:
    """Give up everything but the filter; `descriptors` become 0, 1, 2, ... and all others close.

    `proc_fd` is an open /proc of the box, from before it was covered. Raises `SetupFailed`.
    """
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("tie to parent", syscalls.die_with_parent),
        ("oom score", lambda: _offer_to_oom_killer(proc_fd)),
        ("descriptors", lambda: keep_only(descriptors)),
        ("folder", lambda: os.chdir(_SCRATCH[0])),
        ("signals", _reset_signals),
        ("limits", _set_limits),
        ("capabilities", syscalls.drop_capabilities),
        ("not dumpable", lambda: syscalls.set_dumpable(False)),
    )
    for name, step in steps:
        _take(name, step)


def keep_only(descriptors: Iterable[int], first: int = 0) -> None:
    """Renumber `descriptors` to `first`, `first` + 1, ... and close all above them."""
    moved = [_duplicate_high(descriptor) for descriptor in descriptors]
    for target, descriptor in enumerate(moved, first):
        os.dup2(descriptor, target, inheritable=False)
    syscalls.close_from(first + len(moved))


def _take(name: str, step: Callable[[], None]) -> None:
    try:
        step()
    except OSError as error:
        raise SetupFailed(name, error) from None


def _map_ids(uid: int, gid: int) -> None:
    # Without "deny" an unprivileged process may not map a group at all.
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")


def _make_mounts_private() -> None:
    syscalls.mount("none", "/", flags=syscalls.MS_REC | syscalls.MS_PRIVATE)


def _cover_proc() -> None:
    """A fresh /proc is refused under an engine's masks, so it is covered by two files.

    The cover is built on top of /sys, which is hidden later anyway, and moved from there.
    """
    site = "/sys"
    syscalls.mount("tmpfs", site, "tmpfs", _SAFE, "size=4k,nr_inodes=8,mode=555")
    for name in _SHOWN_OF_PROC:
        Path(site, name).touch(0o444)
        syscalls.mount(f"/proc/{name}", f"{site}/{name}", flags=syscalls.MS_BIND)
    syscalls.mount("none", site, flags=syscalls.MS_REMOUNT | syscalls.MS_RDONLY | _SAFE)
    syscalls.mount(site, "/proc", flags=syscalls.MS_MOVE)


def _mount_scratch(place: str) -> None:
    options = f"size={SCRATCH_BYTES},nr_inodes={SCRATCH_INODES},mode=1777"
    syscalls.mount("tmpfs", place, "tmpfs", _SAFE, options)


def _mount_empty(place: str) -> None:
    flags = _SAFE | syscalls.MS_RDONLY
    syscalls.mount("tmpfs", place, "tmpfs", flags, "size=4k,nr_inodes=2,mode=555")


def _offer_to_oom_killer(proc_fd: int) -> None:
    # Writing needs a dumpable process; being undumpable later is what keeps submitted code from
    # writing it back where /proc is not covered.
    syscalls.set_dumpable(True)
    file = os.open("self/oom_score_adj", os.O_WRONLY, dir_fd=proc_fd)
    os.write(file, str(OOM_FIRST).encode())
    os.close(file)


def _reset_signals() -> None:
    """As in a fresh interpreter; the zygote's own handlers are not inherited."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _set_limits() -> None:
    for kind, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, THREADS),  # counts threads, per user and user namespace
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, THREADS),
    ):
        resource.setrlimit(kind, (value, value))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    stack = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))


def _duplicate_high(descriptor: int) -> int:
    return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST_HIGH_FD)


def _within(place: str, others: Iterable[str]) -> bool:
    return any(place == other or place.startswith(f"{other}/") for other in others)


def _writable_mounts() -> Iterator[str]:
    """Folders other than / that are mounted writable and let this user write."""
    for line in Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields, _, source = line.partition(" - ")
        place, options = fields.split()[4:6]
        place = place.encode().decode("unicode_escape")  # spaces are written as \\040
        if place == "/" or _within(place, ("/proc", "/sys")):
            continue
        flags = set(options.split(",")) & set(source.split()[-1].split(","))
        if "rw" in flags and Path(place).is_dir() and os.access(place, os.W_OK):
            yield place
