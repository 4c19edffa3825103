"""`ty server` as a process: its workspace, its confinement, its framing.

Theory of operation
-------------------
A language server only parses what a student types, and runs none of it. It is treated as exposed
all the same: it starts with a clean environment, bounds on memory, processor time and files, a low
priority, and ends with the process that started it. Two ways to confine it, the first where it
works:

- bubblewrap: its own root with nothing but itself, the system's libraries, torch and numpy, and the
  workspace, all read-only, without a network and without other processes in sight.
- plainly: the workspace is a folder for its owner alone. Root starts it as a user of its own, who
  may be unable to reach torch; then it says less.

The workspace holds what the student sees anyway: the starters, `provided.py`, and a stub by which
the provided names are known as if they were built in; the packages that the exercise stands on, and
the contracts of the exercises that it is judged on top of, in place of their solutions. Nothing
else of the exercise is there, so nothing else can be completed, hovered or found.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Self

from judge.inspection import PROVIDED
from judge.problem import Problem
from judge.scratch import SCRATCH_FILE
from sandbox.boxes import SandboxError
from sandbox.bwrap_boxes import find_binary
from sandbox.watchdog import descendants

WORKSPACE = "/workspace"
ENVIRONMENT_FOLDER = "/python"
PACKAGES = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
KNOWN_PACKAGES = ("torch", "numpy", "typing_extensions", "pytest", "_pytest")
BUILTINS = "__builtins__.pyi"
CONFIGURATION = "ty.toml"
PREFIX = "judge-language."

LANGUAGE_UID = 60878  # beside that of the embedded PostgreSQL
MEMORY_BYTES = 1 << 30  # torch's stubs take about 100 MB of it
PROCESSOR_S = 900  # of one connection, in all
DESCRIPTORS = 256
NICENESS = 10  # judging goes first
MESSAGE_BYTES = 8 << 20  # what one message of the server may have
PROBE_S = 10.0

ENVIRONMENT = {"HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TY_MAX_PARALLELISM": "2"}
NAMESPACES = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")

# Take the bounds, become a user for good if one is named, have the kernel kill us when the thread
# that started us ends, and execute what follows.
BOUND = """import ctypes, os, resource, sys
uid, nice, memory, processor, descriptors = map(int, sys.argv[1:6])
for name, most in (("DATA", memory), ("CPU", processor), ("NOFILE", descriptors), ("CORE", 0)):
    kind = getattr(resource, "RLIMIT_" + name)
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
os.nice(nice)
with open("/proc/self/oom_score_adj", "w") as file:
    file.write("500")
if uid:
    os.setgroups([]); os.setresgid(uid, uid, uid); os.setresuid(uid, uid, uid)
ctypes.CDLL(None).prctl(1, 9)
os.execv(sys.argv[6], sys.argv[6:])"""


class NoLanguageServer(Exception):
    """None can be had here; the message says why."""


class ServerEnded(Exception):
    """The server has ended, or no longer says what it should."""


# --- what it may read -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """What the workspace of an exercise holds: the student's files and what stands around them.

    `library` are importable modules by path. `places` says where a file is in the workspace that is
    not imported by its own name. With `takes_tests` there may be more tests than `files` names.
    """

    files: Mapping[str, bytes]
    provided: bytes | None
    provided_names: tuple[str, ...]
    library: Mapping[str, bytes] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    takes_tests: bool = False

    @classmethod
    def of(cls, problem: Problem, contracts: Mapping[str, bytes] = MappingProxyType({})) -> Self:
        """Those of `problem`; `contracts` stand for its needed modules, by the paths of these."""
        setting, needed = problem.setting, problem.needed_modules
        library = {path: text for path, text in setting.library.items() if path not in needed}
        library |= {f"{path}i": text for path, text in contracts.items() if path in needed}
        module = setting.module.replace(".", "/")
        return cls(
            files={file.name: problem.starter(file) for file in problem.files},
            provided=problem.provided,
            provided_names=problem.manifest.provided_names,
            library=library,
            places={problem.main_file: f"{module}.py"} if module else {},
            takes_tests=problem.takes_tests,
        )

    @property
    def documents(self) -> dict[str, str]:
        """Names of the files that can be open in the editor, and where they are."""
        provided = {PROVIDED} if self.provided is not None else set[str]()
        names = {*self.files, *provided, SCRATCH_FILE}
        return {name: self.places.get(name, name) for name in names}

    def contents(self, environment: str) -> dict[str, bytes]:
        """All files of the workspace; `environment` is where the server finds torch."""
        module = Path(PROVIDED).stem
        files = {self.places.get(name, name): text for name, text in self.files.items()}
        contents = {**self.library, **files, CONFIGURATION: _configuration(environment).encode()}
        if self.provided is not None:
            names = {name.partition(".")[0] for name in self.provided_names}
            lines = [f"from {module} import {name} as {name}\n" for name in sorted(names)]
            contents |= {PROVIDED: self.provided, BUILTINS: "".join(lines).encode()}
        return contents


def _configuration(environment: str) -> str:
    """What ty is told. In scratch the names of the solution are defined, which it cannot know.

    Without an environment named it would take the one that it is installed in, with all of it.
    """
    return f"""\
[environment]
python = "{environment}"
python-version = "{sys.version_info[0]}.{sys.version_info[1]}"
root = ["."]

[[overrides]]
include = ["{SCRATCH_FILE}"]

[overrides.rules]
unresolved-reference = "ignore"
"""


def _packages() -> Iterator[Path]:
    """Where torch and numpy are, found without importing them."""
    for name in KNOWN_PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            yield Path(next(iter(spec.submodule_search_locations)))
        elif spec is not None and spec.origin:
            yield Path(spec.origin)


# --- how it is confined ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Confinement:
    """How servers are started here. `bwrap` is None where they are started plainly."""

    program: Path
    bwrap: Path | None
    packages: tuple[Path, ...]

    @classmethod
    def choose(cls, program: str = "ty", bwrap: Path | None = None) -> Self:
        """The best that this machine has; raises `NoLanguageServer`. Takes a moment."""
        beside = sysconfig.get_path("scripts")
        found = shutil.which(program, path=beside) or shutil.which(program)
        if found is None:
            raise NoLanguageServer(f"The program `{program}` is not installed on this server.")
        packages = tuple(_packages())
        with contextlib.suppress(SandboxError, OSError):
            confined = cls(Path(found).resolve(), find_binary(bwrap), packages)
            if confined._works():
                return confined
        plain = cls(Path(found).resolve(), None, packages)
        if not plain._works():
            raise NoLanguageServer(f"The program `{program}` cannot be executed on this server.")
        return plain

    def _works(self) -> bool:
        """Whether a server can be started this way: it is asked for its version."""
        try:
            with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
                folder = Path(name)
                self.furnish(folder, Sources({}, None, ()))
                done = subprocess.run(
                    self.command(folder, "version"), cwd="/", env=ENVIRONMENT, capture_output=True,
                    timeout=PROBE_S, check=False,
                )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    @property
    def uid(self) -> int:
        """As whom a server runs; 0 is whoever we are."""
        return LANGUAGE_UID if self.bwrap is None and os.geteuid() == 0 else 0

    def workspace(self, folder: Path) -> str:
        """The path by which a server knows its workspace."""
        return WORKSPACE if self.bwrap else str(folder / "workspace")

    def shown(self, folder: Path) -> dict[str, str]:
        """Paths that a server may name, and what to say in their place; longer ones first."""
        if self.bwrap:
            return {}
        named = {str(folder / "workspace"): WORKSPACE, str(folder / "python"): ENVIRONMENT_FOLDER}
        for path in self.packages:
            shown = f"{ENVIRONMENT_FOLDER}/{PACKAGES}/{path.name}"
            named |= {str(path.resolve()): shown, str(path): shown}
        return dict(sorted(named.items(), key=lambda item: -len(item[0])))

    def furnish(self, folder: Path, sources: Sources) -> None:
        """Write the workspace below `folder`, which is for its owner alone."""
        workspace, environment = folder / "workspace", folder / "python"
        workspace.mkdir()
        (environment / PACKAGES).mkdir(parents=True)
        if self.bwrap is None:
            for path in self.packages:
                (environment / PACKAGES / path.name).symlink_to(path)
        known = ENVIRONMENT_FOLDER if self.bwrap else str(environment)
        for name, content in sources.contents(known).items():
            path = workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if self.uid:
            for path in (*folder.rglob("*"), folder):
                os.chown(path, self.uid, self.uid, follow_symlinks=False)

    def command(self, folder: Path, task: str) -> list[str]:
        """What to execute for a server (`task` "server") over the workspace below `folder`."""
        bounds = (self.uid, NICENESS, MEMORY_BYTES, PROCESSOR_S, DESCRIPTORS)
        bounded = [sys.executable, "-I", "-S", "-c", BOUND, *map(str, bounds)]
        if self.bwrap is None:
            return [*bounded, str(self.program), task]
        return [*bounded, str(self.bwrap), *self._root(folder), "--", "/ty", task]

    def _root(self, folder: Path) -> Iterator[str]:
        """The root that bubblewrap makes: read-only, and nothing in it that is not named here."""
        yield from (*NAMESPACES, *(["--unshare-user"] if os.geteuid() else []))
        yield from ("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")
        for name, value in ENVIRONMENT.items():
            yield from ("--setenv", name, value)
        for library in LIBRARIES:
            yield from ("--ro-bind-try", library, library)
        yield from ("--ro-bind", str(self.program), "/ty")
        yield from ("--dir", f"{ENVIRONMENT_FOLDER}/{PACKAGES}")
        for path in self.packages:
            yield from ("--ro-bind", str(path), f"{ENVIRONMENT_FOLDER}/{PACKAGES}/{path.name}")
        yield from ("--ro-bind", str(folder / "workspace"), WORKSPACE)
        yield from ("--remount-ro", "/", "--chdir", WORKSPACE)


# --- the process ----------------------------------------------------------------------------------


class LanguageServer:
    """A running server. Messages are whole JSON texts, without their framing."""

    def __init__(
        self, process: asyncio.subprocess.Process, folder: Path, confinement: Confinement
    ) -> None:
        self._process = process
        self._folder = folder
        self.workspace = confinement.workspace(folder)
        self.shown = confinement.shown(folder)

    @classmethod
    async def start(cls, confinement: Confinement, sources: Sources) -> Self:
        """Make the workspace and start the process; raises `NoLanguageServer`."""
        folder = await asyncio.to_thread(_furnished, confinement, sources)
        try:
            process = await asyncio.create_subprocess_exec(
                *confinement.command(folder, "server"), cwd="/", env=ENVIRONMENT,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL, start_new_session=True, limit=1 << 16,
            )  # fmt: skip
        except OSError as error:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise NoLanguageServer("It cannot be started just now.") from error
        return cls(process, folder, confinement)

    @property
    def pid(self) -> int:
        """The process, on this machine."""
        return self._process.pid

    async def send(self, message: bytes) -> None:
        """Say something; raises `ServerEnded`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(message), message))
            await self._process.stdin.drain()
        except ConnectionError:
            raise ServerEnded("it has ended") from None

    async def receive(self) -> bytes:
        """What it says next; raises `ServerEnded`."""
        assert self._process.stdout is not None
        try:
            head = await self._process.stdout.readuntil(b"\r\n\r\n")
            return await self._process.stdout.readexactly(_length(head))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            raise ServerEnded("it has ended") from None

    async def close(self) -> None:
        """Kill it and remove its workspace; harmless when it has ended."""
        if self._process.returncode is None:
            _kill_with_descendants(self._process.pid)
        assert self._process.stdout is not None
        # What it said and nobody read would keep its end from being seen, for ever.
        while await self._process.stdout.read(1 << 16):
            pass
        await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


def _kill_with_descendants(pid: int) -> None:
    """End a process of ours and everything below it; harmless when it has ended.

    bubblewrap's child asks the kernel to end it along with bubblewrap, but only a moment after it
    was forked: until then it would be left behind, holding on to our pipes. Bubblewrap is stopped
    first, so that it forks nothing while we look.
    """
    _signal(pid, signal.SIGSTOP)
    for each in (*descendants(pid), pid):
        _signal(each, signal.SIGKILL)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _furnished(confinement: Confinement, sources: Sources) -> Path:
    """A new folder with the workspace in it; raises `NoLanguageServer`."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # 0700
        try:
            confinement.furnish(folder, sources)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        raise NoLanguageServer("There is no room for its files just now.") from error
    return folder


def _length(head: bytes) -> int:
    """What a head announces; raises `ServerEnded`."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = int(value)
            if length <= MESSAGE_BYTES:
                return length
    raise ServerEnded("it says something that cannot be read")
