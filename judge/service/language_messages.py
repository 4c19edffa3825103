"""What passes between an editor and a language server: nothing that is not named here.

Theory of operation
-------------------
Both sides are strangers to each other. What the editor says is decoded into the structs below,
which hold what a method needs and bound it, and encoded anew; what the server says likewise. So a
field or a method that nobody thought of cannot pass. Requests that may not pass are answered in the
server's place, notifications are dropped.

The editor knows its files as `file:///workspace/solution.py`, wherever the workspace is. Places
outside it are dropped, and paths in words are replaced, so that nothing tells of this machine.

Documents travel whole (`textDocumentSync` 1), so that their size is bounded by looking at them.
Texts are plain, never Markdown: a docstring is somebody's text, and no page should render it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from judge.own_tests import is_tests_file
from judge.service.language_server import WORKSPACE

ROOT_URI = f"file://{WORKSPACE}"
MOST_PENDING = 16  # requests that wait for an answer at once
DOCUMENTATION_CHARACTERS = 400  # of one completion, of which there may be a thousand
TEXT_CHARACTERS = 20_000  # of a hover or a signature

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
SERVER_BUSY = -32000

Count = Annotated[int, Meta(ge=0, lt=1 << 31)]
Version = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]
RequestId = Annotated[str, Meta(max_length=64)] | Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)]
Uri = Annotated[str, Meta(max_length=300)]


class Misuse(Exception):
    """What the editor said is no message at all: the connection ends."""


# --- what the editor may say ----------------------------------------------------------------------


class Envelope(Struct):
    """Any message of either side."""

    method: str | None = None
    id: RequestId | None = None
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class Document(Struct):
    """A document by its name."""

    uri: Uri


class OpenedDocument(Struct):
    """A document with its text."""

    uri: Uri
    version: Version
    text: str
    languageId: str = "python"  # noqa: N815  # the protocol's name


class VersionedDocument(Struct):
    """A document by name and version."""

    uri: Uri
    version: Version


class Whole(Struct, forbid_unknown_fields=True):
    """A change: the whole text. A range would be a part of it, which is refused."""

    text: str


class Opened(Struct):
    """`textDocument/didOpen`."""

    textDocument: OpenedDocument  # noqa: N815


class Changed(Struct):
    """`textDocument/didChange`."""

    textDocument: VersionedDocument  # noqa: N815
    contentChanges: Annotated[tuple[Whole, ...], Meta(min_length=1, max_length=1)]  # noqa: N815


class Closed(Struct):
    """`textDocument/didClose`."""

    textDocument: Document  # noqa: N815


class Position(Struct):
    """Line and UTF-16 column, from 0."""

    line: Count
    character: Count


class Asked(Struct):
    """A question about a place in a document."""

    textDocument: Document  # noqa: N815
    position: Position


class Cancelled(Struct):
    """`$/cancelRequest`."""

    id: RequestId


class Nothing(Struct):
    """A method without parameters."""


NOTIFICATIONS: Mapping[str, type[Struct]] = {
    "initialized": Nothing,
    "textDocument/didOpen": Opened,
    "textDocument/didChange": Changed,
    "textDocument/didClose": Closed,
    "$/cancelRequest": Cancelled,
}
QUESTIONS = frozenset({
    "textDocument/completion", "textDocument/hover", "textDocument/signatureHelp",
    "textDocument/definition",
})  # fmt: skip


# --- what the server may say ----------------------------------------------------------------------


class Range(Struct):
    """From a position up to another."""

    start: Position
    end: Position


class Diagnostic(Struct, omit_defaults=True):
    """Something that is wrong with a document."""

    range: Range
    message: str
    severity: int = 1
    code: str | int | None = None
    source: str | None = None
    tags: tuple[int, ...] = ()


class Published(Struct):
    """`textDocument/publishDiagnostics`."""

    uri: str
    diagnostics: tuple[Diagnostic, ...]
    version: int | None = None


class Text(Struct):
    """A plain text of the server."""

    value: str
    kind: str = "plaintext"


class Edit(Struct):
    """A part of the document and what replaces it."""

    range: Range
    newText: str  # noqa: N815


class Completion(Struct, omit_defaults=True):
    """One thing that could stand at the cursor."""

    label: str
    kind: int | None = None
    detail: str | None = None
    documentation: Text | str | None = None
    sortText: str | None = None  # noqa: N815
    filterText: str | None = None  # noqa: N815
    insertText: str | None = None  # noqa: N815
    textEdit: Edit | None = None  # noqa: N815


class Completions(Struct):
    """All of them; `isIncomplete` asks to ask again as more is typed."""

    items: tuple[Completion, ...]
    isIncomplete: bool = False  # noqa: N815


class Hover(Struct, omit_defaults=True):
    """What is known of a name."""

    contents: Text
    range: Range | None = None


class Parameter(Struct, omit_defaults=True):
    """One parameter of a signature; its label may be a part of the signature's."""

    label: str | tuple[int, int]
    documentation: Text | str | None = None


class Signature(Struct, omit_defaults=True):
    """One way to call."""

    label: str
    documentation: Text | str | None = None
    parameters: tuple[Parameter, ...] = ()
    activeParameter: int | None = None  # noqa: N815


class Signatures(Struct, omit_defaults=True):
    """The ways to call, and where the cursor is."""

    signatures: tuple[Signature, ...]
    activeSignature: int | None = None  # noqa: N815
    activeParameter: int | None = None  # noqa: N815


class Location(Struct):
    """A place in a file."""

    uri: str
    range: Range


class Provider(Struct, rename="camel", omit_defaults=True, frozen=True):
    """When the editor should ask by itself."""

    trigger_characters: tuple[str, ...] = ()
    retrigger_characters: tuple[str, ...] = ()


class Capabilities(Struct, rename="camel"):
    """What the server can do, as far as it may be asked."""

    completion_provider: Provider = Provider()
    signature_help_provider: Provider = Provider()


class Initialized(Struct):
    """The answer to `initialize`."""

    capabilities: Capabilities


ANSWERS: Mapping[str, Any] = {
    "textDocument/completion": Completions | tuple[Completion, ...] | None,
    "textDocument/hover": Hover | None,
    "textDocument/signatureHelp": Signatures | None,
    "textDocument/definition": tuple[Location, ...] | Location | None,
}


# --- what passes ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pending:
    """A request of the editor that the server has not answered."""

    method: str
    since: float


@dataclass
class Passage:
    """What one editor and one server may say to each other.

    `workspace` is the server's path of it, `shown` what to say instead of paths of this machine,
    `documents` the files there are and where in the workspace, of at most `document_bytes` each.
    So many `more_tests` may be opened as well.
    """

    workspace: str
    shown: Mapping[str, str]
    documents: Mapping[str, str]
    document_bytes: int
    more_tests: int = 0
    pending: dict[int | str, Pending] = field(default_factory=dict)
    unchecked: dict[str, float] = field(default_factory=dict)  # documents, since when
    _began: bool = False
    _tests: set[str] = field(default_factory=set)

    def inward(self, text: str) -> tuple[bytes | None, bytes | None]:
        """What the editor said: what to tell the server, and what to answer at once.

        Raises `Misuse`.
        """
        try:
            said = msgspec.json.decode(text, type=Envelope)
        except (msgspec.DecodeError, RecursionError):
            raise Misuse("A message is no JSON-RPC.") from None
        if said.method is None:
            return None, None  # an answer: the server is never let ask
        if said.id is None:
            return self._notification(said.method, said), None
        if refusal := self._refusal(said.id, said.method):
            return None, refusal
        if said.method == "shutdown":
            return None, _encoded({"id": said.id, "result": None})
        try:
            params = self._request(said.method, said)
        except (msgspec.DecodeError, ValueError) as error:
            return None, _error(said.id, INVALID_PARAMS, str(error))
        self.pending[said.id] = Pending(said.method, time.monotonic())
        return _encoded({"id": said.id, "method": said.method, "params": params}), None

    def outward(self, message: bytes) -> tuple[bytes | None, bytes | None]:
        """What the server said: what to tell the editor, and what to answer at once.

        Raises `msgspec.DecodeError` for what no server should say.
        """
        said = msgspec.json.decode(message, type=Envelope)
        if said.method is not None:
            if said.id is not None:
                return None, _error(said.id, METHOD_NOT_FOUND, "The editor takes no requests.")
            return self._told(said.method, said), None
        asked = self.pending.pop(said.id, None) if said.id is not None else None
        if asked is None:
            return None, None
        if isinstance(said.result, UnsetType):
            answer: dict[str, object] = {
                "error": {"code": SERVER_BUSY, "message": "There is no answer to this."}
            }
        else:
            answer = {"result": self._answer(asked.method, said.result)}
        return _encoded({"id": said.id, **answer}), None

    def longest_wait_s(self) -> float:
        """How long the oldest question has waited, or a document to be checked."""
        asked = (each.since for each in self.pending.values())
        since = min((*asked, *self.unchecked.values()), default=None)
        return 0.0 if since is None else time.monotonic() - since

    # --- from the editor --------------------------------------------------------------------------

    def _refusal(self, request_id: int | str, method: str) -> bytes | None:
        """Why a request may not be made now, if so."""
        if method not in QUESTIONS and method not in ("initialize", "shutdown"):
            words = f"{method[:80]} is not available here."
            return _error(request_id, METHOD_NOT_FOUND, words)
        if self._began == (method == "initialize"):
            words = "Initialize first." if not self._began else "This was initialized already."
            return _error(request_id, INVALID_REQUEST, words)
        if request_id in self.pending:
            return _error(request_id, INVALID_REQUEST, "This id waits for an answer already.")
        if len(self.pending) >= MOST_PENDING:
            return _error(request_id, SERVER_BUSY, "Too many questions wait for an answer.")
        return None

    def _request(self, method: str, said: Envelope) -> object:
        """The parameters of a request as the server gets them; raises what decoding raises."""
        if method == "initialize":
            self._began = True
            return _initialize(f"file://{self.workspace}")
        asked = msgspec.json.decode(_raw(said.params), type=Asked)
        asked.textDocument.uri = self._inner(asked.textDocument.uri)
        return asked

    def _notification(self, method: str, said: Envelope) -> bytes | None:
        """A notification as the server gets it, if it does."""
        kind = NOTIFICATIONS.get(method)
        if kind is None or not self._began:
            return None
        try:
            params = msgspec.json.decode(_raw(said.params), type=kind)
            match params:
                case Opened():
                    params.textDocument.uri = self._inner(params.textDocument.uri)
                    params.textDocument.languageId = "python"
                    self._bound(params.textDocument.text)
                    self.unchecked.setdefault(params.textDocument.uri, time.monotonic())
                case Changed():
                    params.textDocument.uri = self._inner(params.textDocument.uri)
                    self._bound(params.contentChanges[0].text)
                    self.unchecked.setdefault(params.textDocument.uri, time.monotonic())
                case Closed():
                    params.textDocument.uri = self._inner(params.textDocument.uri)
                    self.unchecked.pop(params.textDocument.uri, None)
                case _:
                    pass
        except (msgspec.DecodeError, ValueError) as error:
            # The server would go on with another text than the editor's: better none at all.
            raise Misuse(str(error)) from None
        return _encoded({"method": method, "params": params})

    def _inner(self, uri: str) -> str:
        """A document's address as the server knows it; raises `ValueError`."""
        name = uri.removeprefix(f"{ROOT_URI}/")
        if name == uri or not (name in self.documents or self._is_test(name)):
            raise ValueError(f"There is no document {uri[:80]}.")
        return f"file://{self.workspace}/{self.documents.get(name, name)}"

    def _is_test(self, name: str) -> bool:
        """Whether this can be one more file of tests; from now on it is."""
        if is_tests_file(name) and len(self._tests) < self.more_tests:
            self._tests.add(name)
        return name in self._tests

    def _bound(self, text: str) -> None:
        """Refuse a document that could not be submitted either; raises `ValueError`."""
        if len(text.encode("utf-8", "surrogatepass")) > self.document_bytes:
            raise ValueError(f"A document may have {self.document_bytes} bytes.")

    # --- from the server --------------------------------------------------------------------------

    def _told(self, method: str, said: Envelope) -> bytes | None:
        """A notification as the editor gets it, if it does."""
        if method != "textDocument/publishDiagnostics":
            return None
        published = msgspec.json.decode(_raw(said.params), type=Published)
        self.unchecked.pop(published.uri, None)
        outer = self._outer(published.uri)
        if outer is None:
            return None
        published.uri = outer
        for diagnostic in published.diagnostics:
            sentence, _, _where_it_looked = diagnostic.message.partition("\n")
            diagnostic.message = self._words(sentence)
        return _encoded({"method": method, "params": published})

    def _answer(self, method: str, result: Raw) -> object:
        """The result of a request as the editor gets it."""
        if method == "initialize":
            can = msgspec.json.decode(result, type=Initialized).capabilities
            return _initialized(can)
        answer = msgspec.json.decode(result, type=ANSWERS[method])
        match answer:
            case Completions():
                self._shorten(answer.items)
            case Hover():
                answer.contents = self._text(answer.contents, TEXT_CHARACTERS)
            case Signatures():
                for signature in answer.signatures:
                    self._reword(signature)
            case Location():
                return self._places((answer,))
            case tuple() if method == "textDocument/definition":
                return self._places(answer)
            case tuple():
                self._shorten(answer)
            case _:
                pass
        return answer

    def _shorten(self, items: tuple[Completion, ...]) -> None:
        for item in items:
            item.documentation = self._maybe(item.documentation, DOCUMENTATION_CHARACTERS)
            item.detail = None if item.detail is None else self._words(item.detail)

    def _reword(self, signature: Signature) -> None:
        signature.documentation = self._maybe(signature.documentation, TEXT_CHARACTERS)
        for parameter in signature.parameters:
            parameter.documentation = self._maybe(parameter.documentation, TEXT_CHARACTERS)

    def _places(self, locations: tuple[Location, ...]) -> list[Location]:
        """Those inside the workspace, as the editor knows them."""
        places = []
        for location in locations:
            outer = self._outer(location.uri)
            if outer is not None:
                places.append(Location(outer, location.range))
        return places

    def _outer(self, uri: str) -> str | None:
        """The address of a document as the editor knows it; None for any other file."""
        inner = f"file://{self.workspace}/"
        place = uri.removeprefix(inner)
        known = {path: name for name, path in self.documents.items()} | {
            name: name for name in self._tests
        }
        return f"{ROOT_URI}/{known[place]}" if place != uri and place in known else None

    def _maybe(self, text: Text | str | None, most: int) -> Text | None:
        if text is None:
            return None
        return self._text(text if isinstance(text, Text) else Text(text), most)

    def _text(self, text: Text, most: int) -> Text:
        value = self._words(text.value)
        return Text(value if len(value) <= most else f"{value[:most].rstrip()} …")

    def _words(self, words: str) -> str:
        """Words without paths of this machine."""
        for path, instead in self.shown.items():
            words = words.replace(path, instead)
        return words


def _initialize(root_uri: str) -> dict[str, object]:
    """What the server is told of an editor, whatever the editor says of itself.

    Without `textDocument.diagnostic`: with it the server would wait to be asked for type errors.
    """
    plain = {"documentationFormat": ["plaintext"]}
    return {
        "processId": None,
        "rootUri": root_uri,
        "workspaceFolders": [{"uri": root_uri, "name": "workspace"}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "textDocument": {
                "synchronization": {},
                "completion": {"completionItem": plain, "contextSupport": True},
                "hover": {"contentFormat": ["plaintext"]},
                "signatureHelp": {
                    "signatureInformation": {
                        **plain,
                        "activeParameterSupport": True,
                        "parameterInformation": {"labelOffsetSupport": True},
                    }
                },
                "definition": {},
                "publishDiagnostics": {"versionSupport": True},
            },
        },
        "initializationOptions": {"completions": {"autoImport": False}},
    }


def _initialized(can: Capabilities) -> dict[str, object]:
    """What the editor is told of the server."""
    return {
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": True, "change": 1},
            "completionProvider": can.completion_provider,
            "signatureHelpProvider": can.signature_help_provider,
            "hoverProvider": True,
            "definitionProvider": True,
        },
        "serverInfo": {"name": "ty"},
    }


def _raw(params: Raw | UnsetType) -> bytes | Raw:
    return b"{}" if isinstance(params, UnsetType) else params


def _error(request_id: int | str, code: int, message: str) -> bytes:
    return _encoded({"id": request_id, "error": {"code": code, "message": message}})


def _encoded(message: Mapping[str, object]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message})
