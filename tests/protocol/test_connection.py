"""One connection, one peer that behaves or does not: what `Connection` does in each case.

The peer is the other end of a socket pair, driven by hand: only bytes count here, whoever sent
them. A deadline that has to pass is short, one that must not is long.
"""

from __future__ import annotations

import array
import itertools
import os
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.protocol import (
    MAX_ARGUMENT_BYTES,
    MAX_HEADER_BYTES,
    PREFIX,
    Buffer,
    Call,
    ChannelError,
    Connection,
    ConnectionLost,
    DeadlinePassed,
    Dense,
    Granted,
    Items,
    Lease,
    LeaseRequest,
    Load,
    Loaded,
    Pairs,
    ProtocolError,
    Ref,
    Release,
    Reply,
    Request,
    Returned,
    Setting,
    Strange,
    TooLarge,
)

SHORT_S = 0.2
LONG_S = 20.0
MAX_PAYLOAD_BYTES = 1 << 20


@pytest.fixture
def ends() -> Iterator[tuple[Connection, socket.socket]]:
    """A connection and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Connection(ours, MAX_PAYLOAD_BYTES), theirs


def soon() -> float:
    return time.monotonic() + SHORT_S


def later() -> float:
    return time.monotonic() + LONG_S


def frame(message: msgspec.Struct, payload: bytes = b"") -> bytes:
    header = msgspec.msgpack.encode(message)
    return PREFIX.pack(len(header), len(payload)) + header + payload


@contextmanager
def beside(work: Callable[[], object]) -> Iterator[None]:
    """Run `work` in a thread for the length of the block, and wait for it."""
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()


# --- frames that are whole -----------------------------------------------------------------------


def test_a_message_and_its_payload_arrive_as_they_were_sent(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    sender = Connection(peer, MAX_PAYLOAD_BYTES)
    message = Returned(id=7, value=Ref(0), arrays=[Dense("torch", "float64", (2, 3))], changed=[1])

    sender.send(message, [b"abc", memoryview(b"def"), bytearray(b"ghi")], later())
    received, payload = connection.receive(Reply, later())

    assert received == message
    assert bytes(payload) == b"abcdefghi"


def test_frames_that_come_together_are_told_apart(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    peer.sendall(frame(Lease(1.5, 64)) + frame(Release()) + frame(Loaded(["f"]), b"xy"))

    assert connection.receive(LeaseRequest, later())[0] == Lease(1.5, 64)
    assert connection.receive(LeaseRequest, later())[0] == Release()
    reply, payload = connection.receive(Reply, later())
    assert (reply, bytes(payload)) == (Loaded(["f"]), b"xy")
    assert not connection.pending()


def test_a_frame_in_single_bytes_is_assembled_when_there_is_time(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends

    def drip() -> None:
        for byte in frame(Loaded(["f"]), b"0123456789"):
            peer.send(bytes([byte]))
            time.sleep(0.001)

    with beside(drip):
        reply, payload = connection.receive(Reply, later())
    assert (reply, bytes(payload)) == (Loaded(["f"]), b"0123456789")


def test_a_payload_larger_than_the_socket_buffers_crosses(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    sender = Connection(peer, MAX_PAYLOAD_BYTES)
    data = os.urandom(MAX_PAYLOAD_BYTES)

    with beside(lambda: sender.send(Loaded([]), [data], later())):
        _, payload = connection.receive(Reply, later())
    assert bytes(payload) == data


@pytest.mark.parametrize(
    "buffer",
    [
        pytest.param(b"", id="empty"),
        pytest.param(memoryview(array.array("d", [1.0, 2.0])), id="eight bytes an item"),
        pytest.param(np.arange(6.0).reshape(2, 3).data, id="two axes"),
        pytest.param(np.zeros((0, 3)).data, id="no items"),
    ],
)
def test_a_buffer_is_announced_and_sent_in_bytes_whatever_its_items(
    ends: tuple[Connection, socket.socket], buffer: Buffer
) -> None:
    connection, peer = ends
    sender = Connection(peer, MAX_PAYLOAD_BYTES)

    sender.send(Loaded([]), [buffer, b"end"], later())
    _, payload = connection.receive(Reply, later())

    assert bytes(payload) == memoryview(buffer).tobytes() + b"end"
    assert not connection.pending()


def test_a_pair_of_pipes_serves_as_well() -> None:
    to_us, their_end = os.pipe()
    their_other_end, from_us = os.pipe()
    ours = Connection.over_pipes(to_us, from_us, MAX_PAYLOAD_BYTES)
    theirs = Connection.over_pipes(their_other_end, their_end, MAX_PAYLOAD_BYTES)

    ours.send(Release(), [b"there"], later())
    assert theirs.receive(LeaseRequest, later()) == (Release(), memoryview(b"there"))
    theirs.send(Loaded(["f"]), [b"and back"], later())
    assert ours.pending()
    assert ours.receive(Reply, later()) == (Loaded(["f"]), memoryview(b"and back"))
    assert not ours.pending()

    theirs.close()
    with pytest.raises(ConnectionLost):
        ours.receive(Reply, later())
    with pytest.raises(ConnectionLost):
        ours.send(Release(), deadline=later())
    ours.close()


# --- descriptors ---------------------------------------------------------------------------------


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # a path would keep one open itself


def test_a_descriptor_arrives_with_its_frame(ends: tuple[Connection, socket.socket]) -> None:
    connection, peer = ends
    reader, writer = os.pipe()

    Connection(peer, MAX_PAYLOAD_BYTES).send_with_descriptors(Granted("box"), [writer])
    granted, (descriptor,) = connection.receive_with_descriptors(Granted, 1, later())
    os.close(writer)

    assert granted == Granted("box")
    os.write(descriptor, b"through")
    assert os.read(reader, 10) == b"through"
    os.close(descriptor)
    os.close(reader)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(frame(Granted("box"))[:9], id="cut in the prefix"),
        pytest.param(frame(Granted("box"))[:-1], id="cut in the header"),
        pytest.param(frame(Release()), id="another message"),
        pytest.param(PREFIX.pack(2, 2**63) + b"\x80\x80", id="too large"),
    ],
)
def test_a_descriptor_with_a_bad_frame_does_not_stay_open(
    ends: tuple[Connection, socket.socket], data: bytes
) -> None:
    connection, peer = ends
    before = open_descriptors()
    socket.send_fds(peer, [data], [0])
    peer.shutdown(socket.SHUT_WR)

    with pytest.raises(ChannelError):
        connection.receive_with_descriptors(Granted, 1, later())
    assert open_descriptors() == before


def test_a_frame_that_should_bring_a_descriptor_is_refused_without(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    peer.sendall(frame(Granted("box")))

    with pytest.raises(ProtocolError):
        connection.receive_with_descriptors(Granted, 1, later())


def test_more_descriptors_than_one_are_not_taken(ends: tuple[Connection, socket.socket]) -> None:
    connection, peer = ends
    before = open_descriptors()
    socket.send_fds(peer, [frame(Granted("box"))], [0] * 100)

    _, (descriptor,) = connection.receive_with_descriptors(Granted, 1, later())
    os.close(descriptor)
    assert open_descriptors() == before


def test_descriptors_nobody_asked_for_do_not_stay_open(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    before = open_descriptors()
    socket.send_fds(peer, [frame(Loaded(["f"]), b"xyz")], [0] * 100)

    assert connection.receive(Reply, later())[0] == Loaded(["f"])
    assert open_descriptors() == before


def test_a_descriptor_is_waited_for_until_the_deadline(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, _peer = ends

    with pytest.raises(DeadlinePassed):
        connection.receive_with_descriptors(Granted, 1, soon())


# --- frames that stop half-way -------------------------------------------------------------------

WHOLE = frame(Loaded(["multi_head_attention"]), b"payload")
CUTS = {
    "in the prefix": PREFIX.size // 2,
    "after the prefix": PREFIX.size,
    "in the header": PREFIX.size + 4,
    "before the payload": len(WHOLE) - len(b"payload"),
    "in the payload": len(WHOLE) - 1,
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS.keys())
def test_a_peer_that_closes_half_way_is_lost(
    ends: tuple[Connection, socket.socket], cut: int
) -> None:
    connection, peer = ends
    peer.sendall(WHOLE[:cut])
    peer.close()

    with pytest.raises(ConnectionLost):
        connection.receive(Reply, later())


@pytest.mark.parametrize("cut", [0, *CUTS.values()], ids=["at once", *CUTS.keys()])
def test_a_peer_that_stalls_runs_into_the_deadline(
    ends: tuple[Connection, socket.socket], cut: int
) -> None:
    connection, peer = ends
    peer.sendall(WHOLE[:cut])

    began = time.monotonic()
    with pytest.raises(DeadlinePassed):
        connection.receive(Reply, soon())
    assert SHORT_S <= time.monotonic() - began < SHORT_S + 0.5


def test_a_closed_peer_is_lost(ends: tuple[Connection, socket.socket]) -> None:
    connection, peer = ends
    peer.close()

    assert connection.pending()
    with pytest.raises(ConnectionLost):
        connection.receive(Reply, later())
    with pytest.raises(ConnectionLost):
        connection.send(Release(), deadline=later())


def test_a_peer_that_resets_is_lost() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
        with ours:
            connection = Connection(ours, MAX_PAYLOAD_BYTES)
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            theirs.close()
            with pytest.raises(ConnectionLost):
                connection.receive(Reply, later())


# --- deadlines -----------------------------------------------------------------------------------


def test_the_deadline_holds_for_the_frame_not_for_each_byte(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    done = threading.Event()

    def drip() -> None:
        for byte in PREFIX.pack(1000, 0) + bytes(1000):
            if done.wait(0.02):
                return
            peer.send(bytes([byte]))

    with beside(drip):
        began = time.monotonic()
        with pytest.raises(DeadlinePassed):
            connection.receive(Reply, soon())
        took_s = time.monotonic() - began
        done.set()
    assert SHORT_S <= took_s < SHORT_S + 0.5


def test_a_deadline_in_the_past_still_takes_what_is_there(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    peer.sendall(frame(Release()))

    assert connection.receive(LeaseRequest, time.monotonic() - 1)[0] == Release()
    with pytest.raises(DeadlinePassed):
        connection.receive(LeaseRequest, time.monotonic() - 1)


def test_a_peer_that_never_reads_runs_into_the_deadline(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, _peer = ends
    input_bytes = bytes(64 << 20)

    began = time.monotonic()
    with pytest.raises(DeadlinePassed):
        connection.send(Release(), [input_bytes], soon())
    assert SHORT_S <= time.monotonic() - began < SHORT_S + 0.5


def test_a_peer_that_reads_byte_by_byte_runs_into_the_deadline(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    done = threading.Event()

    def sip() -> None:
        while not done.wait(0.01):
            peer.recv(1)

    with beside(sip):
        began = time.monotonic()
        with pytest.raises(DeadlinePassed):
            connection.send(Release(), [bytes(64 << 20)], soon())
        took_s = time.monotonic() - began
        done.set()
    assert SHORT_S <= took_s < SHORT_S + 0.5


def test_a_peer_that_leaves_while_it_is_sent_to_is_lost(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends

    def leave() -> None:
        peer.recv(100)
        peer.close()

    with beside(leave), pytest.raises(ConnectionLost):
        connection.send(Release(), [bytes(64 << 20)], later())


# --- announced sizes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix",
    [
        pytest.param(PREFIX.pack(MAX_HEADER_BYTES + 1, 0), id="header over its bound by one"),
        pytest.param(PREFIX.pack(2**32 - 1, 0), id="largest header"),
        pytest.param(PREFIX.pack(0, MAX_PAYLOAD_BYTES + 1), id="payload over its bound by one"),
        pytest.param(PREFIX.pack(16, 2**63), id="2^63 bytes"),
        pytest.param(PREFIX.pack(2**32 - 1, 2**64 - 1), id="largest of both"),
        pytest.param(b"\x80\x04\x95" + b"\xff" * 9, id="a pickle"),
        pytest.param(b"PK\x03\x04" + b"\x14\x00\x00\x00\x08\x00\x00\x00", id="an npz archive"),
        pytest.param(b"HTTP/1.1 200 OK", id="another protocol"),
    ],
)
def test_an_announced_size_over_the_bound_is_refused_before_it_is_allocated(
    ends: tuple[Connection, socket.socket], prefix: bytes
) -> None:
    connection, peer = ends
    peer.sendall(prefix[: PREFIX.size])

    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            connection.receive(Reply, later())
        assert tracemalloc.get_traced_memory()[1] < 64 << 10
    finally:
        tracemalloc.stop()


def test_a_frame_of_exactly_the_bound_is_taken(ends: tuple[Connection, socket.socket]) -> None:
    connection, peer = ends
    whole = frame(Loaded([]), bytes(MAX_PAYLOAD_BYTES))

    with beside(lambda: peer.sendall(whole)):
        _, payload = connection.receive(Reply, later())
    assert payload.nbytes == MAX_PAYLOAD_BYTES


def test_our_own_frame_over_the_bound_is_not_begun(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    peer.setblocking(False)
    much = memoryview(bytearray(1 << 20))

    with pytest.raises(TooLarge):
        connection.send(Release(), [much] * (MAX_ARGUMENT_BYTES // len(much) + 1), later())
    with pytest.raises(TooLarge):
        connection.send(Load({"solution.py": bytes(MAX_HEADER_BYTES)}, Setting("solution.py"), 0))
    with pytest.raises(BlockingIOError):
        peer.recv(1)


# --- headers that are not messages ---------------------------------------------------------------


def packed(**fields: object) -> bytes:
    return msgspec.msgpack.encode(fields)


def returned(**fields: object) -> bytes:
    """The header of a plain `Returned`, with some fields otherwise; the last ones come last."""
    plain = {"type": "returned", "id": 1, "value": None, "arrays": [], "changed": []}
    return packed(**{key: plain[key] for key in plain if key not in fields} | fields)


def returned_with(field: str, raw: bytes) -> bytes:
    """A `Returned` whose last field is `field` with `raw` for its encoded value."""
    return returned(**{field: None})[:-1] + raw


def nested(depth: int) -> bytes:
    """A value of `depth` tuples in each other."""
    head = msgspec.msgpack.encode({"type": "items", "kind": "tuple", "items": [None]})[:-1]
    return returned_with("value", head * depth + b"\xc0")


def one_array(**fields: object) -> bytes:
    return returned(arrays=[{"kind": "torch", "dtype": "float64", "shape": [1]} | fields])


HUGE_ARRAY = b"\xdd\xff\xff\xff\xff"  # the head of an array of 2^32 - 1 elements
HUGE_MAP = b"\xdf\xff\xff\xff\xff"
HUGE_TEXT = b"\xdb\xff\xff\xff\xff"

MALFORMED = {
    "nothing": b"",
    "noise": b"\xc1\xc1\xc1",
    "a number": b"\x01",
    "a list": b"\x90",
    "no type": packed(id=1),
    "unknown type": packed(type="verdict", verdict="AC"),
    "type of the other direction": packed(type="call", id=1),
    "a type that is a number": packed(type=1),
    "field missing": packed(type="returned", id=1),
    "field of another type": returned(id="1"),
    "trailing bytes": returned() + b"\x00",
    "cut short": returned()[:-1],
    "pickle": b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00N.",
    "extension type": returned(value=msgspec.msgpack.Ext(1, b"x" * 8)),
    "timestamp": returned_with("value", b"\xd6\xff\x00\x00\x00\x00"),
    "bytes for a value": returned(value=b"x"),
    "text that is not UTF-8": returned(value="xx").replace(b"\xa2xx", b"\xa2\xff\xfe"),
    "unknown value type": returned(value={"type": "object", "module": "os", "name": "system"}),
    "unknown array kind": one_array(kind="object"),
    "negative dimension": one_array(shape=[-1]),
    "dimension over its bound": one_array(shape=[2**63]),
    "dimension that is a fraction": one_array(shape=[1.5]),
    "too many dimensions": one_array(shape=[1] * 33),
    "too many arrays": returned(arrays=[{"kind": "torch", "dtype": "x", "shape": []}] * 1025),
    "reference below zero": returned(value={"type": "ref", "index": -1}),
    "nested too deeply to parse": nested(20_000),
    "nested too deeply to skip": returned_with("other", b"\x91" * 100_000),
    "2^32 arrays": returned_with("arrays", HUGE_ARRAY),
    "2^32 changed inputs": returned_with("changed", HUGE_ARRAY),
    "2^32 elements where nothing is expected": returned_with("other", HUGE_ARRAY),
    "2^32 fields": HUGE_MAP,
    "a text of 2^32 bytes": returned_with("value", HUGE_TEXT),
}


@pytest.mark.parametrize("header", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_header_is_a_protocol_error_and_costs_nothing(
    ends: tuple[Connection, socket.socket], header: bytes
) -> None:
    connection, peer = ends
    message = PREFIX.pack(len(header), 0) + header

    with beside(lambda: peer.sendall(message)):
        tracemalloc.start()
        try:
            with pytest.raises(ProtocolError):
                connection.receive(Reply, later())
            assert tracemalloc.get_traced_memory()[1] < len(header) + (2 << 20)
        finally:
            tracemalloc.stop()


def test_a_message_of_the_wrong_side_is_a_protocol_error(
    ends: tuple[Connection, socket.socket],
) -> None:
    connection, peer = ends
    call = Call(id=1, function="f", args=[], kwargs={}, views=[], buffers=[])
    peer.sendall(frame(call))

    with pytest.raises(ProtocolError):
        connection.receive(Reply, later())


@pytest.mark.parametrize("name", ["../x.py", "x.so", "/etc/passwd", "a b.py", "x.py\n", "", ".py"])
def test_a_source_file_has_a_plain_module_name(
    ends: tuple[Connection, socket.socket], name: str
) -> None:
    connection, peer = ends
    peer.sendall(frame(Load({name: b""}, Setting("solution.py"), 0)))

    with pytest.raises(ProtocolError):
        connection.receive(Request, later())


# --- any message at all --------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
floats = st.floats(allow_nan=False)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    floats,
    texts,
    st.builds(Ref, st.integers(0, 1023)),
    st.builds(Strange, texts, texts),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Items, st.sampled_from(["tuple", "list"]), st.lists(inner, max_size=4)),
        st.builds(Pairs, st.lists(texts, max_size=4), st.lists(inner, max_size=4)),
    ),
    max_leaves=10,
)
dense = st.builds(
    Dense,
    st.sampled_from(["torch", "numpy", "numpy-scalar"]),
    texts,
    st.lists(st.integers(0, 1 << 40), max_size=32).map(tuple),
    st.booleans(),
)
replies = st.builds(
    Returned,
    st.integers(0, 2**63 - 1),
    values,
    st.lists(dense, max_size=4),
    st.lists(st.integers(0, 1023), max_size=4),
)


def over_a_pair(data: bytes, kind: object) -> tuple[Reply, bytes]:
    """Receive one frame from a peer that sends `data` (at most 64 KiB) and leaves."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(data)
        theirs.close()
        message, payload = Connection(ours, MAX_PAYLOAD_BYTES).receive(kind, later())
        return message, bytes(payload)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(message=replies, payload=st.binary(max_size=1000))
def test_every_message_survives_the_journey(message: Returned, payload: bytes) -> None:
    assert over_a_pair(frame(message, payload), Reply) == (message, payload)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(message=replies, cut=st.integers(0, 10**6), flips=st.lists(st.integers(0, 10**6)))
def test_a_damaged_frame_is_a_message_or_a_channel_error(
    message: Returned, cut: int, flips: list[int]
) -> None:
    data = bytearray(frame(message))
    for flip in itertools.islice(flips, 8):
        data[flip // 8 % len(data)] ^= 1 << flip % 8
    try:
        reply, _ = over_a_pair(bytes(data[: 1 + cut % len(data)]), Reply)
    except ChannelError:
        return
    assert isinstance(reply, msgspec.Struct)
