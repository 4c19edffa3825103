"""The embedded PostgreSQL, with real servers, and real judges that are killed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from judge.service.embedded import (
    EmbeddedError,
    Home,
    Server,
    _account,
    _postmaster,
    _server_command,
    embedded_postgres,
    running_url,
)
from judge.service.embedded_programs import User, choose, system_folders

PATIENCE_S = 60.0
SEARCHES: dict[str, Callable[[], list[Path]]] = {"bundled": list}
if system_folders():
    SEARCHES["system"] = system_folders

# A `judge serve` that can be killed: keeps one row, then waits.
OWNER = """import sys, time
from pathlib import Path
import psycopg
from judge.service.embedded import embedded_postgres
with embedded_postgres(Path(sys.argv[1]), print) as server:
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    print("ready", flush=True)
    time.sleep(600)
"""


def silent(_words: str) -> None:
    """For whoever does not want to hear it."""


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short path that the server's user can reach, which pytest's it cannot."""
    with tempfile.TemporaryDirectory(prefix="jdb", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A data folder whose database has been created."""
    with tempfile.TemporaryDirectory(prefix="jdb", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        with embedded_postgres(Path(folder), silent):
            pass
        yield Path(folder)


@pytest.fixture
def data(template: Path, place: Path) -> Path:
    """A data folder with a database of its own, without the wait for its creation."""
    copy = ["cp", "-a", "--sparse=always"]  # two thirds are zeros: a log not yet written
    subprocess.run([*copy, str(template), str(place / "data")], check=True)
    return place / "data"


@pytest.fixture
def home(data: Path) -> Home:
    return Home(data)


def number(url: str, query: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return int(row[0])


def run(url: str, statement: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(statement.encode())


def server_pid(home: Home) -> int:
    pid = _postmaster(home)
    assert pid is not None
    return pid


def has_ended(pid: int) -> bool:
    """Also when nobody has asked for its exit status yet, as where the first process is lazy."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def refusal(data: Path, search: Callable[[], list[Path]] | None = None) -> str:
    """What a start that must fail says."""
    with pytest.raises(EmbeddedError) as refused, embedded_postgres(data, silent, search=search):
        pass
    return str(refused.value)


def pretend_cluster(place: Path, version: str) -> None:
    cluster = Home(place).cluster
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text(version)


@contextlib.contextmanager
def killable(data: Path) -> Iterator[subprocess.Popen[str]]:
    """A judge of its own process, on `data`."""
    command = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judge:
        yield judge
        judge.kill()


# --- a server and its data ------------------------------------------------------------------------


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
def test_a_first_start_answers_and_the_next_has_the_data(
    place: Path, search: Callable[[], list[Path]]
) -> None:
    words: list[str] = []
    with embedded_postgres(place / "data", words.append, search=search) as server:
        run(server.url, "CREATE TABLE kept AS SELECT 7 AS number")
    assert len(words) == 1
    with embedded_postgres(place / "data", words.append, search=search) as again:
        assert number(again.url, "SELECT number FROM kept") == 7
        assert number(again.url, "SHOW server_version_num") // 10000 == int(
            again.version.partition(".")[0]
        )
    assert len(words) == 1
    assert again.url == server.url


def test_without_postgresql_on_the_system_that_of_the_wheel_is_copied(place: Path) -> None:
    home, user = Home(place), User.of_server()
    home.folder.mkdir()
    binaries, why = choose(home.binaries, None, user, list)
    program = binaries.folder / "postgres"
    assert program.is_relative_to(home.binaries)
    assert "installed with the judge" in why
    made = program.stat().st_ino
    assert choose(home.binaries, None, user, list)[0] == binaries
    assert program.stat().st_ino == made


def test_a_damaged_copy_of_the_wheel_is_made_anew(place: Path) -> None:
    home, user = Home(place), User.of_server()
    home.folder.mkdir()
    binaries, _why = choose(home.binaries, None, user, list)
    os.truncate(binaries.folder / "postgres", 100)
    assert choose(home.binaries, None, user, list)[0] == binaries


def test_sqlalchemy_takes_the_address(data: Path) -> None:
    with embedded_postgres(data, silent) as server:
        url = server.url.replace("postgresql", "postgresql+psycopg", 1)
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            assert connection.scalar(sqlalchemy.text("SELECT current_database()")) == "judge"
        engine.dispose()


def test_a_path_may_have_characters_that_addresses_and_settings_treat_specially(
    place: Path, data: Path
) -> None:
    odd = place / 'a "b" 100% & c?=é'
    data.rename(odd)
    with embedded_postgres(odd, silent) as server:
        assert number(server.url, "SELECT 7") == 7


def test_without_bubblewrap_the_database_is_created_where_an_account_can_do_it(
    place: Path,
) -> None:
    if os.geteuid() != 0 and not _account(os.geteuid()):
        with pytest.raises(EmbeddedError, match="needs an entry in /etc/passwd"):
            embedded_postgres(place, silent, bwrap=Path("/bin/false")).__enter__()
        return
    with embedded_postgres(place, silent, bwrap=Path("/bin/false")) as server:
        assert number(server.url, "SELECT 7") == 7
        owners = {path.stat().st_uid for path in Home(place).cluster.rglob("*")}
        assert owners == {User.of_server().uid}


# --- who gets in ----------------------------------------------------------------------------------


def test_a_wrong_password_is_refused(data: Path) -> None:
    with embedded_postgres(data, silent) as server:
        wrong = re.sub(r":[^:@]+@", ":wrong@", server.url)
        assert wrong != server.url
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)


def test_it_listens_on_no_address(data: Path, home: Home) -> None:
    with embedded_postgres(data, silent):
        descriptors = Path(f"/proc/{server_pid(home)}/fd").iterdir()
        sockets = {str(each.readlink()).strip("socket:[]") for each in descriptors}
    listening = [Path(f"/proc/net/{kind}").read_text().splitlines()[1:] for kind in ("tcp", "tcp6")]
    assert not sockets & {line.split()[9] for lines in listening for line in lines}


def test_others_can_neither_read_nor_connect(data: Path, home: Home) -> None:
    with embedded_postgres(data, silent):
        for path in [home.folder, *home.folder.rglob("*")]:
            assert not stat.S_IMODE(path.lstat().st_mode) & 0o067 or path.is_relative_to(
                home.binaries
            )
        assert stat.S_IMODE(home.folder.stat().st_mode) in (0o710, 0o700)


def test_it_is_not_root_and_hears_no_ctrl_c(data: Path, home: Home) -> None:
    with embedded_postgres(data, silent):
        pid = server_pid(home)
        assert Path(f"/proc/{pid}").stat().st_uid == User.of_server().uid != 0
        assert os.getpgid(pid) == pid


# --- one server per folder ------------------------------------------------------------------------


def test_a_second_judge_on_the_same_data_is_refused(data: Path) -> None:
    with embedded_postgres(data, silent) as server:
        words = refusal(data)
        assert f"process {os.getpid()}" in words
        assert "JUDGE_DATA" in words
        assert number(server.url, "SELECT 7") == 7


def test_it_ends_with_the_context_also_when_somebody_is_connected(data: Path, home: Home) -> None:
    with embedded_postgres(data, silent) as server:
        pid = server_pid(home)
        connection = psycopg.connect(server.url)
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 7")
    connection.close()


def test_it_ends_with_a_judge_that_is_killed_and_the_next_has_the_data(
    data: Path, home: Home
) -> None:
    with killable(data) as judge:
        assert judge.stdout is not None
        assert judge.stdout.readline() == "ready\n"
        pid = server_pid(home)
        judge.send_signal(signal.SIGKILL)
    with embedded_postgres(data, silent) as server:
        assert number(server.url, "SELECT number FROM kept") == 7
        assert server_pid(home) != pid
        assert has_ended(pid)


def test_after_a_kill_nothing_is_left_running(data: Path, home: Home) -> None:
    with killable(data) as judge:
        assert judge.stdout is not None
        judge.stdout.readline()
        pid = server_pid(home)
        judge.send_signal(signal.SIGKILL)
    wait_for(lambda: has_ended(pid))


def test_a_server_that_was_left_behind_is_stopped(data: Path, home: Home) -> None:
    with embedded_postgres(data, silent) as server:
        run(server.url, "CREATE TABLE kept AS SELECT 7 AS number")
    user = User.of_server()
    command = user.become(
        _server_command(home, choose(home.binaries, home.major(), user, system_folders)[0])
    )
    with subprocess.Popen(command, cwd="/", stderr=subprocess.DEVNULL) as left:
        wait_for(lambda: running_url(data) is not None)
        words: list[str] = []
        with embedded_postgres(data, words.append) as server:
            assert left.wait(PATIENCE_S) == 0
            assert number(server.url, "SELECT number FROM kept") == 7
    assert f"process {left.pid}" in words[0]


def test_files_of_a_server_whose_process_id_is_somebody_elses_are_no_obstacle(
    data: Path, home: Home
) -> None:
    user = User.of_server()
    command = user.become(["/bin/sleep", "600"])
    with subprocess.Popen(command) as somebody:
        for stale in (home.cluster / "postmaster.pid", home.socket / ".s.PGSQL.5432.lock"):
            stale.write_text(f"{somebody.pid}\n{home.cluster}\n1\n5432\n\n\n\nready\n")
            user.own(stale)
        assert running_url(data) is None
        with embedded_postgres(data, silent) as server:
            assert number(server.url, "SELECT 7") == 7
        assert somebody.poll() is None
        somebody.kill()


def test_the_address_is_known_to_others_while_it_runs(place: Path, data: Path) -> None:
    assert running_url(place / "nothing") is None
    assert running_url(data) is None
    with embedded_postgres(data, silent) as server:
        assert running_url(data) == server.url
        (place / "link").symlink_to(data)
        assert running_url(place / "link") == server.url
    assert running_url(data) is None


# --- what can be wrong with the folder ------------------------------------------------------------


def test_a_creation_that_was_killed_begins_anew(place: Path) -> None:
    folder = Home(place).folder
    with killable(place) as judge:
        wait_for(lambda: any(folder.glob("new.*/cluster/PG_VERSION")))
        judge.send_signal(signal.SIGKILL)
    with embedded_postgres(place, silent) as server:
        assert number(server.url, "SELECT 7") == 7
    # What was killed may have had a last breath.
    with embedded_postgres(place, silent):
        assert not list(folder.glob("new.*"))


def test_a_long_path_is_refused_with_what_to_do(place: Path) -> None:
    assert "Set JUDGE_DATA to a shorter path." in refusal(place / ("x" * 100))


def test_a_path_with_a_comma_is_refused(place: Path) -> None:
    assert "comma" in refusal(place / "a,b")


def test_a_file_instead_of_a_folder_is_refused_with_what_to_do(place: Path) -> None:
    (place / "file").touch()
    assert "Set JUDGE_DATA to a folder, not a file." in refusal(place / "file")
    assert running_url(place / "file") is None


def test_a_folder_that_cannot_be_written_to_is_refused_with_what_to_do() -> None:
    assert "Set JUDGE_DATA to a folder that you may write to." in refusal(Path("/sys/judge"))


def test_a_full_disk_is_told_with_what_to_do(place: Path) -> None:
    programs = place / "programs"
    programs.mkdir()
    say = {
        "postgres": "echo 'postgres (PostgreSQL) 16.1'",
        "initdb": "echo 'initdb: error: could not write: No space left on device'; exit 1",
    }
    for name, line in say.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    words = refusal(place / "data", search=lambda: [programs])
    assert "Make room" in words
    assert "initdb: error" in words
    assert not list(Home(place / "data").folder.glob("new.*"))


def test_a_database_of_another_version_needs_programs_of_that_version(place: Path) -> None:
    pretend_cluster(place, "13\n")
    words = refusal(place)
    assert "made by PostgreSQL 13" in words
    assert "Install PostgreSQL 13" in words


def test_an_existing_database_is_opened_by_its_own_version_not_the_newest(
    place: Path, data: Path, home: Home
) -> None:
    newer = place / "newer"
    newer.mkdir()
    for name in ("postgres", "initdb"):
        (newer / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 99.1'\n")
        (newer / name).chmod(0o755)
    with embedded_postgres(data, silent, search=lambda: [newer, *system_folders()]) as server:
        assert int(server.version.partition(".")[0]) == home.major() != 99


def test_what_is_no_database_is_refused(place: Path) -> None:
    pretend_cluster(place, "")
    assert "PG_VERSION" in refusal(place)


def test_a_lost_password_is_refused_with_what_to_do(data: Path, home: Home) -> None:
    home.password.unlink()
    assert f"move {home.cluster} away" in refusal(data)


def test_a_password_that_is_not_the_databases_is_told_at_once(data: Path, home: Home) -> None:
    home.password.write_text("wrong")
    began = time.monotonic()
    assert "password authentication failed" in refusal(data)
    assert time.monotonic() - began < PATIENCE_S


def test_a_server_that_cannot_start_shows_its_log(data: Path, home: Home) -> None:
    (home.cluster / "global" / "pg_control").unlink()
    assert "pg_control" in refusal(data)


def test_a_damaged_socket_folder_is_made_anew(data: Path, home: Home) -> None:
    shutil.rmtree(home.socket)
    with embedded_postgres(data, silent) as server:
        assert number(server.url, "SELECT 7") == 7


def test_what_is_raised_inside_the_context_stays_what_it_is(data: Path) -> None:
    def fail(_server: Server) -> None:
        raise FileNotFoundError("a file of the judge")

    with pytest.raises(FileNotFoundError), embedded_postgres(data, silent) as server:
        fail(server)
