"""The language bridge with the real `ty`, behind the real server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from judge.own_tests import MAX_TEST_FILES
from judge.service import language_server
from judge.service.connection import WebSocketConnection
from judge.service.language import Allowance
from judge.service.language_server import Confinement, LanguageServer, Sources
from judge.service.languages import Languages, Patience
from judge.service.running import MESSAGE_BYTES, Stop, _serve_http
from sandbox.watchdog import descendants
from tests.service.chapters import write_chapters
from tests.service.serving import Api, open_api
from tests.small_problem import MANIFEST, write_problem

SOLUTION = "file:///workspace/solution.py"
PROVIDED = '''\
"""Already defined."""

import torch


def kernel(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """Scale a tensor."""
    return scale * x
'''
WITH_PROVIDED = MANIFEST.replace(
    'entry_points = ["double"]', 'entry_points = ["double"]\nprovided_names = ["kernel"]'
)


@dataclass
class Editor:
    """An editor that speaks to the bridge, and keeps all it hears."""

    socket: ClientConnection
    heard: list[str]
    ids: Any

    async def say(self, **message: object) -> None:
        await self.socket.send(json.dumps({"jsonrpc": "2.0", **message}))

    async def hear(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(30):
            while True:
                text = await self.socket.recv()
                assert isinstance(text, str)
                self.heard.append(text)
                message: dict[str, Any] = json.loads(text)
                if wanted(message):
                    return message

    async def ask(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self.ids)
        await self.say(id=number, method=method, params=params)
        return await self.hear(lambda message: message.get("id") == number)

    async def at(self, method: str, line: int, character: int, uri: str = SOLUTION) -> Any:
        answer = await self.ask(
            f"textDocument/{method}",
            textDocument={"uri": uri},
            position={"line": line, "character": character},
        )
        return answer["result"]

    async def begin(self) -> dict[str, Any]:
        answer = await self.ask("initialize", processId=None, rootUri=None, capabilities={})
        await self.say(method="initialized", params={})
        return answer

    async def open(self, text: str, uri: str = SOLUTION) -> list[dict[str, Any]]:
        """Open a document; what is wrong with it."""
        document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        await self.say(method="textDocument/didOpen", params={"textDocument": document})
        return await self.diagnostics(uri)

    async def diagnostics(self, uri: str = SOLUTION) -> list[dict[str, Any]]:
        told = await self.hear(
            lambda message: (
                message.get("method") == "textDocument/publishDiagnostics"
                and message["params"]["uri"] == uri
            )
        )
        found: list[dict[str, Any]] = told["params"]["diagnostics"]
        return found

    async def closed(self) -> tuple[int, str]:
        """Wait for the end, and say why it came."""
        async with asyncio.timeout(30):
            await self.socket.wait_closed()
        assert self.socket.close_code is not None
        return self.socket.close_code, self.socket.close_reason or ""


@dataclass
class Bridge:
    """A judge that serves, and editors for it."""

    api: Api
    address: str
    stop: Stop

    @property
    def languages(self) -> Languages:
        return self.api.parts.languages

    @asynccontextmanager
    async def editor(
        self, student: str = "a", room: int | None = None, slug: str = "double", **headers: Any
    ) -> AsyncIterator[Editor]:
        """An editor; `room` is how many bytes it takes without reading them."""
        token = {"Authorization": f"Bearer {student * 20}", **headers}
        url = f"ws://{self.address}/api/problems/{slug}/language"
        sock = socket.socket()
        if room is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        host, port = self.address.split(":")
        sock.connect((host, int(port)))
        async with connect(
            url, additional_headers=token, proxy=None, max_size=None, sock=sock
        ) as connection:
            yield Editor(connection, [], count(1))

    async def refused(self, student: str = "a", **headers: Any) -> tuple[int, dict[str, Any]]:
        """The answer to an editor that is not let in."""
        with pytest.raises(InvalidStatus) as refusal:
            async with self.editor(student, **headers):
                pass
        response = refusal.value.response
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Type"] == "application/problem+json"
        return response.status_code, json.loads(response.body)

    async def emptied(self) -> None:
        """Wait until no server is left."""
        async with asyncio.timeout(20):
            while self.languages.open:
                await asyncio.sleep(0.02)


@cache
def confinement() -> Confinement:
    """How servers are confined here, which takes a while to find out."""
    return Confinement.choose()


def bridged(
    database_url: str,
    folder: Path,
    test: Callable[[Bridge], Coroutine[None, None, None]],
    *,
    languages: Languages | None = None,
    **settings: object,
) -> None:
    """Run a test against a bridge to the small problem, with something provided."""
    if languages is None:
        languages = Languages()
        languages._confinement = confinement()

    async def run() -> None:
        async with open_api(database_url, folder, loopback=True, settings=settings) as api:
            write_problem(folder, problem_toml=WITH_PROVIDED)
            (folder / "double" / "provided.py").write_text(PROVIDED, encoding="utf-8")
            await api.parts.bank.refresh()
            stop = Stop()
            parts = replace(api.parts, stopping=stop.gracefully, languages=languages)
            listener = socket.create_server(("127.0.0.1", 0))
            serving = asyncio.create_task(_serve_http(parts, listener, stop))
            address = f"127.0.0.1:{listener.getsockname()[1]}"
            try:
                await test(Bridge(replace(api, parts=parts), address, stop))
            finally:
                stop.gracefully.set()
                await serving

    asyncio.run(run())


def servers() -> list[int]:
    """Language servers below this process: others on the machine may have some, too."""
    return [pid for pid in descendants(os.getpid()) if words_of(pid)[1:2] == [b"server"]]


def workspaces() -> set[Path]:
    """Folders of workspaces that a process below this one was started with."""
    words = b"\0".join(word for pid in descendants(os.getpid()) for word in words_of(pid))
    folders = Path(tempfile.gettempdir()).glob(f"{language_server.PREFIX}*")
    return {folder for folder in folders if str(folder).encode() in words}


def words_of(pid: int) -> list[bytes]:
    """What a process was started with; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


# --- what a student sees --------------------------------------------------------------------------


def test_torch_is_completed_explained_and_checked(database_url: str, tmp_path: Path) -> None:
    text = "import torch\n\nx = torch.matmul(torch.ones(2))\ntorch.matmul(1, 2)\ntorch.mat\n"

    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            wrong = await editor.open(text)
            assert "invalid-argument-type" in {each["code"] for each in wrong}
            items = (await editor.at("completion", 4, 9))["items"]
            matmul = next(item for item in items if item["label"] == "matmul")
            assert "Tensor" in matmul["detail"]
            assert len(matmul["documentation"]["value"]) < 500
            hover = await editor.at("hover", 2, 12)
            assert hover["contents"]["kind"] == "plaintext"
            assert "def matmul(" in hover["contents"]["value"]
            signatures = (await editor.at("signatureHelp", 3, 13))["signatures"]
            assert "input: Tensor" in signatures[0]["label"]

    bridged(database_url, tmp_path, test)


def test_an_unknown_name_is_told_and_a_provided_one_is_not(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            text = "def double(x):\n    return kernel(x, 2.0) + nowhere\n"
            wrong = await editor.open(text)
            assert [(each["code"], each["range"]["start"]["line"]) for each in wrong] == [
                ("unresolved-reference", 1)
            ]
            assert "nowhere" in wrong[0]["message"]
            change = {
                "textDocument": {"uri": SOLUTION, "version": 2},
                "contentChanges": [{"text": text.replace(" + nowhere", "")}],
            }
            await editor.say(method="textDocument/didChange", params=change)
            assert await editor.diagnostics() == []
            hover = await editor.at("hover", 1, 13)
            assert "Scale a tensor." in hover["contents"]["value"]
            (place,) = await editor.at("definition", 1, 13)
            assert place["uri"] == "file:///workspace/provided.py"
            assert place["range"]["start"]["line"] == 5

    bridged(database_url, tmp_path, test)


def test_scratch_knows_that_the_solutions_names_are_defined(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            scratch = "file:///workspace/scratch.py"
            assert await editor.open("print(double(kernel))\n", scratch) == []

    bridged(database_url, tmp_path, test)


def test_only_what_the_bridge_lets_through_is_offered(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            assert (await editor.ask("textDocument/hover"))["error"]["code"] == -32600
            offered = (await editor.begin())["result"]["capabilities"]
            assert offered["textDocumentSync"] == {"openClose": True, "change": 1}
            assert set(offered) == {
                "positionEncoding", "textDocumentSync", "completionProvider",
                "signatureHelpProvider", "hoverProvider", "definitionProvider",
            }  # fmt: skip
            for method in ("workspace/executeCommand", "textDocument/rename", "workspace/symbol"):
                refused = await editor.ask(method, command="ty.printDebugInformation")
                assert refused["error"]["code"] == -32601
            assert (await editor.ask("initialize"))["error"]["code"] == -32600
            assert (await editor.ask("shutdown"))["result"] is None

    bridged(database_url, tmp_path, test)


# --- what nobody sees -----------------------------------------------------------------------------


@pytest.mark.parametrize("plain", [False, True])
def test_no_message_names_a_path_of_this_machine(
    database_url: str, tmp_path: Path, plain: bool
) -> None:
    languages = Languages()
    if plain:
        languages._confinement = replace(confinement(), bwrap=None)

    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            await editor.open(
                "import torch\nimport numpy as np\nimport provided\nimport judge\nimport solution\n"
                "from . import nothing\ntorch.matmul\nnp.zeros(\nprovided.\nreveal_type(solution)\n"
            )
            for line, character in ((0, 8), (1, 8), (2, 8), (3, 8), (6, 8), (7, 5), (8, 9)):
                for method in ("hover", "definition", "completion", "signatureHelp"):
                    await editor.at(method, line, character)
            said = "".join(editor.heard)
            for path in (sys.prefix, tempfile.gettempdir(), "site-packages", "judge-language"):
                assert path not in said
            assert "file:///workspace/provided.py" in said

    bridged(database_url, tmp_path, test, languages=languages)


def test_the_workspace_has_nothing_of_the_exercise_but_what_is_shown(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            (folder,) = workspaces()
            names = {path.name for path in (folder / "workspace").iterdir()}
            assert names == {"solution.py", "provided.py", "__builtins__.pyi", "ty.toml"}
            assert folder.stat().st_mode & 0o777 == 0o700
        await bridge.emptied()
        assert not folder.exists()

    bridged(database_url, tmp_path, test)


async def with_chapters(bridge: Bridge) -> None:
    write_chapters(bridge.api.problems)
    await bridge.api.parts.bank.refresh()


def test_a_solution_knows_its_package_and_what_it_needs_by_its_contract(
    database_url: str, tmp_path: Path
) -> None:
    text = (
        "from pack.given import given\nfrom .double import double\n\n\n"
        "def quadruple(x: int) -> int:\n    return given(double(x))\n"
    )

    async def test(bridge: Bridge) -> None:
        await with_chapters(bridge)
        async with bridge.editor(slug="quadruple") as editor:
            await editor.begin()
            wrong = await editor.open(text)
            assert [each["range"]["start"]["line"] for each in wrong] == [5]
            assert "`str`" in wrong[0]["message"]
            hover = await editor.at("hover", 5, 13)
            assert "def given(x: int) -> str" in hover["contents"]["value"]
            (place,) = await editor.at("definition", 4, 6)
            assert place["uri"] == SOLUTION
            assert await editor.at("definition", 5, 18) == []  # which is no document
            (folder,) = workspaces()
            files = [path for path in (folder / "workspace").rglob("*") if path.is_file()]
            names = {str(path.relative_to(folder / "workspace")) for path in files}
            assert names == {
                "pack/__init__.py", "pack/given.py", "pack/double.pyi", "pack/quadruple.py",
                "tests/test_own.py", "ty.toml",
            }  # fmt: skip
            assert not any("2 * x" in path.read_text() for path in files)

    bridged(database_url, tmp_path, test)


def test_tests_know_the_solution_as_it_is_typed(database_url: str, tmp_path: Path) -> None:
    text = (
        "import pytest\n\nfrom pack.quadruple import quadruple\n\n\n"
        "def test_it() -> None:\n    assert pytest.approx(1) == quadruple('4')\n"
    )

    async def test(bridge: Bridge) -> None:
        await with_chapters(bridge)
        async with bridge.editor(slug="quadruple") as editor:
            await editor.begin()
            await editor.open("def quadruple(x: int) -> int:\n    return x\n")
            for name in ("own", "more"):
                uri = f"file:///workspace/tests/test_{name}.py"
                wrong = await editor.open(text, uri)
                assert [each["code"] for each in wrong] == ["invalid-argument-type"]
                (place,) = await editor.at("definition", 6, 35, uri)
                assert place["uri"] == SOLUTION

    bridged(database_url, tmp_path, test)


def test_no_more_tests_can_be_open_than_can_be_sent(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        await with_chapters(bridge)
        async with bridge.editor(slug="quadruple") as editor:
            await editor.begin()
            for number in range(MAX_TEST_FILES):
                await editor.open("", f"file:///workspace/tests/test_{number}.py")
            uri = "file:///workspace/tests/test_more.py"
            document = {"uri": uri, "languageId": "python", "version": 1, "text": ""}
            await editor.say(method="textDocument/didOpen", params={"textDocument": document})
            assert (await editor.closed())[1].startswith("There is no document")

    bridged(database_url, tmp_path, test)


def test_a_server_is_bounded_and_has_no_network_and_no_files(tmp_path: Path) -> None:
    chosen = confinement()
    (tmp_path / "folder").mkdir()
    chosen.furnish(tmp_path / "folder", Sources({}, None, ()))
    assert chosen.bwrap is not None
    command, ours = chosen.command(tmp_path / "folder", "server"), Path("/proc/self/ns")

    async def run() -> None:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(20):
                while not (inside := children(process.pid)):
                    await asyncio.sleep(0.02)
            folder = Path(f"/proc/{inside[-1]}")
            limits = (folder / "limits").read_text()
            assert f"{language_server.MEMORY_BYTES}" in limits
            for kind in ("net", "pid", "ipc", "mnt"):
                assert (folder / "ns" / kind).readlink() != (ours / kind).readlink()
            assert os.getpriority(os.PRIO_PROCESS, inside[-1]) >= language_server.NICENESS
            roots = {path.name for path in (folder / "root").iterdir()}
            assert roots <= {"ty", "python", "workspace", "lib", "lib64", "usr"}
            assert (folder / "environ").read_bytes().count(b"=") <= 4
            assert "CapEff:\t0000000000000000" in (folder / "status").read_text()
        finally:
            process.kill()
            await process.wait()

    asyncio.run(run())


def children(pid: int) -> list[int]:
    """The process of a server below its bubblewrap, once it runs."""
    below = [pid, *descendants(pid)]
    return [each for each in below if words_of(each)[:1] == [b"/ty"]]


# --- who may come ---------------------------------------------------------------------------------


def test_a_foreign_page_cannot_open_it_and_our_own_can(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        for name, value, status, kind in (
            ("Origin", "https://attacker.example", 403, "cross-site"),
            ("Origin", "null", 403, "cross-site"),
            ("Sec-Fetch-Site", "cross-site", 403, "cross-site"),
            ("Authorization", "Bearer short", 401, "bad-credentials"),
        ):
            answered, report = await bridge.refused(**{name: value})
            assert (answered, report["type"]) == (status, f"urn:judge:{kind}"), (name, value)
            assert bridge.languages.open == 0
        # Nor can a name that was made to point here.
        port = int(bridge.address.partition(":")[2])
        url = f"ws://attacker.example:{port}/api/problems/double/language"
        with pytest.raises(InvalidStatus) as refusal:
            await connect(url, host="127.0.0.1", port=port, proxy=None)
        assert refusal.value.response.status_code == 421
        async with bridge.editor(Origin=f"http://{bridge.address}") as editor:
            assert "result" in await editor.begin()

    bridged(database_url, tmp_path, test)


def test_what_is_not_there_is_told(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"ws://{bridge.address}/api/problems/none/language", proxy=None)
        assert refusal.value.response.status_code == 404
        async with httpx.AsyncClient(trust_env=False) as http:
            answer = await http.get(f"http://{bridge.address}/api/problems/double/language")
        assert answer.status_code == 404

    bridged(database_url, tmp_path, test)


def test_past_the_cap_editors_are_refused_in_words(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor("a") as first, bridge.editor("b"):
            status, report = await bridge.refused("c")
            assert (status, report["type"]) == (503, "urn:judge:no-language-server")
            assert "serves others" in report["detail"]
            await first.begin()
            assert bridge.languages.open == 2
        await bridge.emptied()
        async with bridge.editor("c") as late:
            await late.begin()

    bridged(database_url, tmp_path, test, language_servers=2)


def test_one_student_cannot_take_all(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor("a"), bridge.editor("a"), bridge.editor("b"):
            status, report = await bridge.refused("a")
            assert status == 503
            assert "other tabs" in report["detail"]

    bridged(database_url, tmp_path, test)


def test_it_can_be_turned_off(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        status, report = await bridge.refused()
        assert status == 503
        assert "turned off" in report["detail"]

    bridged(database_url, tmp_path, test, language_servers=0)


def test_without_the_program_editors_are_refused_in_words(
    database_url: str, tmp_path: Path
) -> None:
    async def test(bridge: Bridge) -> None:
        status, report = await bridge.refused()
        assert status == 503
        assert "not installed" in report["detail"]
        assert bridge.languages.open == 0

    bridged(database_url, tmp_path, test, languages=Languages(program="no-such-program"))


def test_what_is_no_handshake_does_not_keep_a_connection(database_url: str, tmp_path: Path) -> None:
    async def answer_to(bridge: Bridge, method: str, header: str) -> bytes:
        host, port = bridge.address.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(
            f"{method} /api/problems/double/language HTTP/1.1\r\nHost: {bridge.address}\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{header}\r\n\r\n".encode()
        )
        async with asyncio.timeout(30):
            answer = await reader.read()
        writer.close()
        return answer.split()[1]

    async def test(bridge: Bridge) -> None:
        assert await answer_to(bridge, "POST", "X-Nothing: 1") == b"405"
        assert await answer_to(bridge, "GET", "X-Long: " + "x" * 9000) == b"400"
        assert await answer_to(bridge, "GET", "Sec-WebSocket-Version: 1") == b"400"
        assert bridge.languages.open == 0

    bridged(database_url, tmp_path, test)


# --- how it ends ----------------------------------------------------------------------------------


def test_nothing_is_left_when_the_editor_goes(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        before = set(servers())
        async with bridge.editor() as editor:
            await editor.begin()
            assert set(servers()) - before
        await bridge.emptied()
        assert not set(servers()) - before

    bridged(database_url, tmp_path, test)


def test_an_idle_editor_is_disconnected(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.say(id=1, method="initialize", params={"capabilities": {}})
            assert await editor.closed() == (1001, "Nothing was typed for a while.")
        await bridge.emptied()

    bridged(database_url, tmp_path, test, languages=Languages(Patience(idle_s=0.5)))


def test_a_server_that_hangs_is_ended(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        before = set(servers())
        async with bridge.editor() as editor:
            async with asyncio.timeout(30):
                while not (hung := set(servers()) - before):
                    await asyncio.sleep(0.02)
            for pid in hung:
                os.kill(pid, 19)  # SIGSTOP
            await editor.say(id=1, method="initialize", params={"capabilities": {}})
            assert await editor.closed() == (1011, "The language server did not answer.")
        await bridge.emptied()
        assert not set(servers()) - before

    bridged(database_url, tmp_path, test, languages=Languages(Patience(answer_s=1.0)))


def test_a_server_that_checks_a_document_without_end_is_ended(
    database_url: str, tmp_path: Path
) -> None:
    doubled = "a = (1,)\n" + "a = (a, a)\n" * 60 + "reveal_type(a)\n"
    document = {"uri": SOLUTION, "languageId": "python", "version": 1, "text": doubled}

    async def test(bridge: Bridge) -> None:
        before = set(servers())
        async with bridge.editor() as editor:
            await editor.say(id=1, method="initialize", params={"capabilities": {}})
            await editor.say(method="initialized", params={})
            await editor.say(method="textDocument/didOpen", params={"textDocument": document})
            assert await editor.closed() == (1011, "The language server did not answer.")
        await bridge.emptied()
        assert not set(servers()) - before

    bridged(database_url, tmp_path, test, languages=Languages(Patience(answer_s=1.0)))


def test_an_editor_that_reads_nothing_keeps_no_server(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause_writing = WebSocketConnection.pause_writing
    paused = asyncio.Event()

    def ping_soon(self: WebSocketConnection) -> None:
        pause_writing(self)
        paused.set()
        self.ping_interval = self.ping_timeout = 0.5
        self.schedule_ping()

    monkeypatch.setattr(WebSocketConnection, "pause_writing", ping_soon)

    async def test(bridge: Bridge) -> None:
        async with bridge.editor(room=4096) as editor:
            await editor.begin()
            await editor.open("import torch\ntorch.\n")
            editor.socket.transport.pause_reading()
            place = {"textDocument": {"uri": SOLUTION}, "position": {"line": 1, "character": 6}}
            async with asyncio.timeout(30):
                for number in count(100):
                    await editor.say(id=number, method="textDocument/completion", params=place)
                    await asyncio.sleep(0.05)
                    if paused.is_set():
                        break
            await bridge.emptied()
            editor.socket.transport.abort()

    bridged(database_url, tmp_path, test)


def test_frames_without_end_end_the_connection(database_url: str, tmp_path: Path) -> None:
    pings = b"\x89\x80\0\0\0\0" * 10_000
    parts_of_a_message = b"\x01\x80\0\0\0\0" + b"\0\x80\0\0\0\0" * 10_000
    messages = b"\x81\x82\0\0\0\0{}" * 10_000

    async def test(bridge: Bridge) -> None:
        for frames in (pings, parts_of_a_message, messages):
            async with bridge.editor() as editor:
                await editor.begin()
                editor.socket.transport.write(frames)
                assert (await editor.closed())[0] == 1006
            await bridge.emptied()

    bridged(database_url, tmp_path, test)


def test_a_server_that_dies_ends_the_connection(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        before = set(servers())
        async with bridge.editor() as editor:
            await editor.begin()
            for pid in set(servers()) - before:
                os.kill(pid, 9)
            assert await editor.closed() == (1011, "The language server has ended.")

    bridged(database_url, tmp_path, test)


def test_the_judge_stops_with_editors_open(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        before = set(servers())
        async with bridge.editor() as editor:
            await editor.begin()
            bridge.stop.gracefully.set()
            code, _reason = await editor.closed()
            assert code == 1012
        await bridge.emptied()
        assert not set(servers()) - before

    bridged(database_url, tmp_path, test)


# --- what is too much -----------------------------------------------------------------------------


def test_what_is_no_message_ends_the_connection(database_url: str, tmp_path: Path) -> None:
    refused: tuple[tuple[str | bytes, str], ...] = (
        ("no JSON", "A message is no JSON-RPC."),
        ("[" * 50_000, "A message is no JSON-RPC."),
        (b"bytes", "Messages are text."),
    )

    async def test(bridge: Bridge) -> None:
        for message, reason in refused:
            async with bridge.editor() as editor:
                await editor.begin()
                await editor.socket.send(message)
                assert await editor.closed() == (1008, reason)
            await bridge.emptied()

    bridged(database_url, tmp_path, test)


def test_only_the_exercises_documents_can_be_opened(database_url: str, tmp_path: Path) -> None:
    async def ending(bridge: Bridge, uri: str, text: str = "") -> tuple[int, str]:
        async with bridge.editor() as editor:
            await editor.begin()
            document = {"uri": uri, "languageId": "python", "version": 1, "text": text}
            await editor.say(method="textDocument/didOpen", params={"textDocument": document})
            closed = await editor.closed()
        await bridge.emptied()
        return closed

    async def test(bridge: Bridge) -> None:
        for uri in (
            "file:///etc/passwd",
            "file:///workspace/../etc/passwd",
            "file:///workspace/other.py",
            "file:///workspace/ty.toml",
            "file:///workspace/tests/test_own.py",
        ):
            code, reason = await ending(bridge, uri)
            assert code == 1008, uri
            assert reason.startswith("There is no document"), uri
        code, reason = await ending(bridge, SOLUTION, "x" * (64 * 1024 + 1))
        assert code == 1008
        assert reason.startswith("A document may have")

    bridged(database_url, tmp_path, test)


def test_a_part_of_a_document_cannot_be_changed(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            await editor.open("x = 1\n")
            start = {"line": 0, "character": 0}
            part = {"range": {"start": start, "end": start}, "text": "y"}
            change = {
                "textDocument": {"uri": SOLUTION, "version": 2},
                "contentChanges": [part],
            }
            await editor.say(method="textDocument/didChange", params=change)
            assert (await editor.closed())[0] == 1008

    bridged(database_url, tmp_path, test)


def test_a_message_without_end_ends_the_connection(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.socket.send("x" * (MESSAGE_BYTES + 1))
            assert (await editor.closed())[0] == 1009

    bridged(database_url, tmp_path, test)


def test_many_questions_at_once_are_answered_or_refused(database_url: str, tmp_path: Path) -> None:
    async def test(bridge: Bridge) -> None:
        async with bridge.editor() as editor:
            await editor.begin()
            await editor.open("import torch\ntorch.\n")
            place = {"textDocument": {"uri": SOLUTION}, "position": {"line": 1, "character": 6}}
            for number in range(100, 160):
                await editor.say(id=number, method="textDocument/completion", params=place)
            answers = [await editor.hear(lambda message: "id" in message) for _ in range(60)]
            assert {each["id"] for each in answers} == set(range(100, 160))
            refused = [each["error"]["code"] for each in answers if "error" in each]
            assert set(refused) <= {-32000}

    bridged(database_url, tmp_path, test)


def test_who_says_too_much_waits() -> None:
    async def run() -> float:
        allowance = Allowance(per_s=100, most=5)
        loop = asyncio.get_running_loop()
        began = loop.time()
        for _ in range(15):
            await allowance.take()
        return loop.time() - began

    assert 0.08 < asyncio.run(run()) < 10.0


def test_a_torch_that_cannot_be_had_is_only_not_known() -> None:
    without_packages = replace(confinement(), packages=())

    async def run() -> list[dict[str, Any]]:
        server = await LanguageServer.start(
            without_packages, Sources({"solution.py": b""}, None, ())
        )
        try:
            return await _first_diagnostics(server)
        finally:
            await server.close()

    assert [each["code"] for each in asyncio.run(run())] == ["import-not-found"]


async def _first_diagnostics(server: LanguageServer) -> list[dict[str, Any]]:
    uri = f"file://{server.workspace}"
    folders = [{"uri": uri, "name": "workspace"}]
    document = {
        "uri": f"{uri}/solution.py", "languageId": "python", "version": 1, "text": "import torch\n",
    }  # fmt: skip
    for message in (
        {"id": 1, "method": "initialize",
         "params": {"processId": None, "capabilities": {}, "workspaceFolders": folders}},
        {"method": "initialized", "params": {}},
        {"method": "textDocument/didOpen", "params": {"textDocument": document}},
    ):  # fmt: skip
        await server.send(json.dumps({"jsonrpc": "2.0", **message}).encode())
    async with asyncio.timeout(20):
        while True:
            told = json.loads(await server.receive())
            if told.get("method") == "textDocument/publishDiagnostics":
                found: list[dict[str, Any]] = told["params"]["diagnostics"]
                return found
