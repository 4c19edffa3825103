"""The PostgreSQL that comes with `judge serve`, for whoever has none of their own.

Theory of operation
-------------------
One folder holds everything, `postgres` in the data folder:

    lock            held by the `judge serve` that owns the server, whose process id is in it
    password        of the one database user, made at random
    cluster/        the database itself
    socket/         the only way in: there is no TCP
    binaries/       copies of the programs that were installed with the judge
    server.log      since the last start; server.log.old is from the start before

The programs are the system's, or else those installed with the judge. The latter are copied here:
the server's user may not be able to reach the place where they were installed, and what created a
database is still at hand after an upgrade of the judge. A database can only be opened by programs
of its own major version, so those are looked for once there is one.

PostgreSQL refuses to be root. Root starts it as a user id of its own, without adding a user to the
system. Only the server's own folders, `cluster` and `socket`, belong to that id; where root writes
nobody else can. The server needs no entry in /etc/passwd, but `initdb` does: bubblewrap shows it
one, or where that is not possible an existing account creates the database and hands it over.

A database appears complete or not at all: it is created in a folder `new.*` and then renamed.

The server ends with us. It has a session of its own, so that Ctrl-C reaches the judge alone, which
stops the server last. If the judge is killed, the kernel tells the server to stop. That signal
comes when the *thread* that started it ends, hence a thread that lives as long as the server. What
is left all the same is stopped by the next start. The lock is not inherited by the server, and the
kernel releases it when the judge ends in whatever way.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from judge.service.embedded_programs import (
    ENVIRONMENT,
    OWN_DATABASE,
    REMEDIES,
    Binaries,
    EmbeddedError,
    User,
    choose,
    remedy_for,
    run,
    run_or_fail,
    system_folders,
)
from sandbox.boxes import SandboxError
from sandbox.bwrap_boxes import find_binary

__all__ = ["EmbeddedError", "Server", "embedded_postgres", "running_url"]

ROLE = DATABASE = "judge"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES = 103
START_S = 60.0
POLL_S = 0.02
STOPS = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0))

SETTINGS = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=200",
    "shared_buffers=64MB",
    "max_wal_size=256MB",
    "fsync=on",
    "timezone=UTC",
    "jit=off",  # short statements only
    # Nobody replicates this server; that is fewer processes and less to write.
    "wal_level=minimal",
    "max_wal_senders=0",
    "max_logical_replication_workers=0",
    # Keeps the log small: what a statement did wrong is told to the judge, which logs it.
    "log_min_messages=log",
    "log_checkpoints=off",
    "log_timezone=UTC",
)


@dataclass(frozen=True)
class Server:
    """A server that answers.

    `url` is for psycopg (SQLAlchemy wants `postgresql+psycopg`) and holds the password. `binaries`
    is the folder of its programs and `why` says why these.
    """

    url: str
    version: str
    binaries: Path
    why: str


@dataclass(frozen=True)
class Home:
    """The places of everything, below the data folder; see the module's docstring."""

    data: Path

    @property
    def folder(self) -> Path:
        """What holds the others."""
        return self.data / "postgres"

    @property
    def lock(self) -> Path:
        """Held as long as its owner lives."""
        return self.folder / "lock"

    @property
    def password(self) -> Path:
        """A file of one word."""
        return self.folder / "password"

    @property
    def cluster(self) -> Path:
        """What PostgreSQL calls its data directory."""
        return self.folder / "cluster"

    @property
    def socket(self) -> Path:
        """The folder of the socket."""
        return self.folder / "socket"

    @property
    def binaries(self) -> Path:
        """One folder for each version of the wheel that was ever used."""
        return self.folder / "binaries"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "server.log"

    @property
    def url(self) -> str:
        """Where the server answers; reads the password."""
        password = self.password.read_text()
        host = quote(str(self.socket), safe="")
        return f"postgresql://{ROLE}:{password}@/{DATABASE}?host={host}"

    def major(self) -> int | None:
        """Major version of the database, or None when there is none yet."""
        if not self.cluster.exists():
            return None
        try:
            return int((self.cluster / "PG_VERSION").read_text())
        except (FileNotFoundError, ValueError):
            raise EmbeddedError(
                f"{self.cluster} is no database of PostgreSQL: PG_VERSION is damaged or missing",
                "Restore the folder, or move it away to begin with an empty database.",
            ) from None


@contextlib.contextmanager
def embedded_postgres(
    data: Path,
    announce: Callable[[str], None],
    *,
    bwrap: Path | None = None,
    search: Callable[[], list[Path]] | None = None,
) -> Iterator[Server]:
    """A server of our own on the database in `data`, as long as the context lasts.

    Creates the database, and `data`, if need be. `announce` is told in a sentence what takes
    longer. `bwrap` is the bubblewrap to use instead of the bundled one, and `search` lists the
    folders with programs of PostgreSQL on this system. Raises `EmbeddedError`.
    """
    with contextlib.ExitStack() as undo:
        with _plainly(data):
            server = _start(Home(data.resolve()), announce, bwrap, search or system_folders, undo)
        yield server


def running_url(data: Path) -> str | None:
    """The address of the server that a `judge serve` on this machine runs on `data`, if any.

    Raises `EmbeddedError` when there may be one that we may not use.
    """
    home = Home(data.resolve())
    try:
        return home.url if _postmaster(home) is not None and _is_ready(home) else None
    except PermissionError:
        raise EmbeddedError(
            f"the database in {data} belongs to another user",
            "Run this as the user who runs `judge serve`, or set JUDGE_DATABASE_URL.",
        ) from None


# --- starting ------------------------------------------------------------------------------------


def _start(
    home: Home,
    announce: Callable[[str], None],
    bwrap: Path | None,
    search: Callable[[], list[Path]],
    undo: contextlib.ExitStack,
) -> Server:
    user = User.of_server()
    _check_path(home)
    _make_folders(home, user)
    undo.enter_context(_held(home))
    _clear(home, announce)
    binaries, why = choose(home.binaries, home.major(), user, search)
    if home.major() is None:
        announce(f"Creating a database in {home.folder} (PostgreSQL {binaries.version}).")
        _create(home, binaries, user, bwrap, announce)
    if home.cluster.stat().st_uid != user.uid:
        user.own(home.cluster)
    if not home.password.exists():
        raise EmbeddedError(
            f"the database's password is missing: {home.password}",
            f"Restore it, or move {home.cluster} away to begin with an empty database.",
        )
    process = _launch(home, binaries, user, undo)
    _wait_until_it_answers(home, process)
    return Server(home.url, binaries.version, binaries.folder, why)


def _check_path(home: Home) -> None:
    if len(os.fsencode(home.socket / SOCKET_NAME)) > SOCKET_PATH_BYTES:
        raise EmbeddedError(
            f"the path of the data folder is too long for a socket in it: {home.data}",
            "Set JUDGE_DATA to a shorter path.",
        )
    if "," in str(home.data):
        raise EmbeddedError(
            f"the path of the data folder has a comma, which separates hosts: {home.data}",
            "Set JUDGE_DATA to a path without one.",
        )


def _make_folders(home: Home, user: User) -> None:
    root = os.geteuid() == 0
    for folder in (*reversed(home.data.parents), home.data):
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o711 if root else 0o700)  # whatever the umask
    home.folder.mkdir(mode=0o700, exist_ok=True)
    owner = home.folder.stat().st_uid
    if owner != os.geteuid():
        raise EmbeddedError(
            f"{home.folder} belongs to another user (uid {owner})",
            "Run the judge as that user, or set JUDGE_DATA to another folder.",
        )
    if root:
        os.chown(home.folder, 0, user.gid)
        home.folder.chmod(0o710)  # the server may pass through
    home.socket.mkdir(mode=0o700, exist_ok=True)
    user.own(home.socket)
    enter = user.become(["/bin/sh", "-c", 'cd "$1"', "sh", str(home.folder)])
    if run(enter).returncode != 0:
        raise EmbeddedError(
            f"{home.folder} cannot be reached by uid {user.uid}, as which PostgreSQL runs because "
            "it refuses to be root",
            "Let others pass through each folder above it (chmod o+x), or set JUDGE_DATA to "
            "another folder.",
        )


@contextlib.contextmanager
def _held(home: Home) -> Iterator[None]:
    """Hold the lock, which also says who does."""
    with os.fdopen(os.open(home.lock, os.O_RDWR | os.O_CREAT, 0o600), "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EmbeddedError(
                f"another `judge serve` (process {lock.read() or 'unknown'}) uses the database in "
                f"{home.data}",
                "Stop it, or set JUDGE_DATA to another folder.",
            ) from None
        lock.truncate()
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _clear(home: Home, announce: Callable[[str], None]) -> None:
    """Remove what a judge that was killed has left: a server, half a database, stale files."""
    pid = _postmaster(home)
    if pid is not None:
        announce(f"Stopping a database server that was left behind (process {pid}).")
        _stop(pid)
    recorded = _recorded_pid(home)
    if recorded is not None and Path(f"/proc/{recorded}").exists():
        # Somebody else has this process id now, which PostgreSQL would take for its server. If
        # nobody had it the file would stay: PostgreSQL uses it to look for what else is left.
        (home.cluster / "postmaster.pid").unlink()
    for stale in home.socket.iterdir():
        stale.unlink()
    for unfinished in home.folder.glob("new.*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def _launch(
    home: Home, binaries: Binaries, user: User, undo: contextlib.ExitStack
) -> subprocess.Popen[bytes]:
    if home.log.exists():
        home.log.replace(home.log.with_name(f"{home.log.name}.old"))
    starter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="postgres-starter")
    undo.callback(starter.shutdown)
    command = user.become(_server_command(home, binaries), parent=os.getpid())
    log = os.open(home.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = starter.submit(
            lambda: subprocess.Popen(
                command, cwd="/", env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True,
            )
        ).result()  # fmt: skip
    finally:
        os.close(log)
    undo.callback(_end, process)
    return process


def _server_command(home: Home, binaries: Binaries) -> list[str]:
    folder = str(home.socket).replace('"', '""')
    command = [str(binaries.folder / "postgres"), "-D", str(home.cluster)]
    for setting in (*SETTINGS, f'unix_socket_directories="{folder}"'):
        command += ["-c", setting]
    return command


def _wait_until_it_answers(home: Home, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        # Asked first: what has been true before the attempt failed is no matter of patience.
        hopeless = process.poll() is not None or _is_ready(home)
        try:
            psycopg.connect(home.url, connect_timeout=5).close()
        except psycopg.OperationalError as error:
            if hopeless or time.monotonic() > deadline:
                raise EmbeddedError(
                    f"PostgreSQL did not start; the end of its log, {home.log}, is below",
                    remedy_for(home.log.read_text(errors="replace")),
                    f"{home.log.read_text(errors='replace')}\n{error}",
                ) from None
        else:
            return
        time.sleep(POLL_S)


# --- stopping ------------------------------------------------------------------------------------


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        _stop(process.pid)
        process.wait()


def _stop(pid: int) -> None:
    """Stop a server: connections are ended, then without more ado, then by force."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    ended = select.poll()
    ended.register(descriptor, select.POLLIN)
    try:
        for number, patience_s in STOPS:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)
            if ended.poll(patience_s * 1000):
                return
    finally:
        os.close(descriptor)
    raise EmbeddedError(f"the database server (process {pid}) does not end", "Restart the machine.")


def _postmaster(home: Home) -> int | None:
    """Process id of the living server on this database.

    The id in its file may have been given to another process since, so its command is looked at.
    """
    pid = _recorded_pid(home)
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return pid if os.fsencode(home.cluster) in command else None


def _recorded_pid(home: Home) -> int | None:
    try:
        first = (home.cluster / "postmaster.pid").read_text().partition("\n")[0]
    except (FileNotFoundError, NotADirectoryError):
        return None
    return int(first) if first.isdigit() else None


def _is_ready(home: Home) -> bool:
    """Whether the server says that it takes connections."""
    with contextlib.suppress(FileNotFoundError):
        return (home.cluster / "postmaster.pid").read_text().rstrip().endswith("\nready")
    return False


# --- creating ------------------------------------------------------------------------------------


def _create(
    home: Home,
    binaries: Binaries,
    user: User,
    bwrap: Path | None,
    announce: Callable[[str], None],
) -> None:
    with tempfile.TemporaryDirectory(
        prefix="new.", dir=home.folder, ignore_cleanup_errors=True
    ) as folder:
        new = Path(folder)
        (new / "password").write_text(_password(home))
        prefix, creator = _with_account(new, user, bwrap, announce)
        creator.own(new)
        cluster = new / "cluster"
        initdb = [str(binaries.folder / "initdb"), "-D", str(cluster), "--username", ROLE]
        initdb += ["--pwfile", str(new / "password"), "--auth", "scram-sha-256", "--no-sync"]
        initdb += ["--encoding", "UTF8", "--locale", "C", "--no-instructions"]
        run_or_fail([*prefix, *creator.become(initdb)])
        # Before the server first runs, so that there is no moment when the database is missing.
        alone = [str(binaries.folder / "postgres"), "--single", "-D", str(cluster), "-F"]
        alone += ["-c", "exit_on_error=true", "-c", "log_checkpoints=off", "template1"]
        run_or_fail([*prefix, *creator.become(alone)], f"CREATE DATABASE {DATABASE};\n")
        user.own(cluster)
        cluster.rename(home.cluster)
    # Nothing above waited for the disk, nor do we; but what we promise later rests on it.
    sync = user.become([str(binaries.folder / "initdb"), "-D", str(home.cluster), "--sync-only"])
    threading.Thread(target=run, args=(sync,), name="postgres-sync", daemon=True).start()


def _password(home: Home) -> str:
    """The password for a new database, kept before it is first used."""
    if not home.password.exists():
        new = home.folder / "new.password"
        new.touch(mode=0o600)
        new.write_text(secrets.token_urlsafe(24))
        new.replace(home.password)
    return home.password.read_text()


def _with_account(
    new: Path, user: User, bwrap: Path | None, announce: Callable[[str], None]
) -> tuple[list[str], User]:
    """What to put before a command that looks itself up in /etc/passwd, and as whom to run it."""
    if _account(user.uid):
        return [], user
    passwd = new / "passwd"
    passwd.write_text(f"{ROLE}:x:{user.uid}:{user.gid}::/:/bin/false\n")
    passwd.chmod(0o644)
    with contextlib.suppress(SandboxError, OSError):
        prefix = [str(find_binary(bwrap)), "--unshare-pid", "--die-with-parent"]
        prefix += ["--dev-bind", "/", "/", "--ro-bind", str(passwd), "/etc/passwd", "--"]
        if run([*prefix, *user.become(["/bin/sh", "-c", ":"])]).returncode == 0:
            return prefix, user
    if os.geteuid() == 0:
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                creator = User(pwd.getpwnam(name).pw_uid, user.gid)
                announce(f"Without bubblewrap, the user {name} creates the database.")
                return [], creator
    raise EmbeddedError(
        f"initdb needs an entry in /etc/passwd for uid {user.uid}, and bubblewrap, which could "
        "show it one, does not work here",
        f"Add such an entry. {OWN_DATABASE}",
    )


def _account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


@contextlib.contextmanager
def _plainly(data: Path) -> Iterator[None]:
    """Say in a sentence what the system refused."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise EmbeddedError(
            f"the data folder {data} cannot be used: {reason} ({error.filename or data})",
            REMEDIES.get(error.errno or 0, f"Set JUDGE_DATA to another folder. {OWN_DATABASE}"),
        ) from error
