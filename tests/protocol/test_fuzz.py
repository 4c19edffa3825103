"""A hundred thousand hostile frames: each is a message or a `ChannelError`, and none costs memory.

Every frame goes the whole way a reply goes in the grader: received, decoded, its arrays rebuilt,
its value built. The frames are mutations of good ones (flipped bits, changed lengths, announced
sizes, cuts, splices) and plain noise. The seed is fixed, so a failure is repeated by its number.
"""

from __future__ import annotations

import itertools
import random
import socket
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from sandbox.arrays import build, decode_arrays
from sandbox.protocol import (
    PREFIX,
    Call,
    ChannelError,
    CodeFrame,
    CollectedTests,
    Complex,
    Connection,
    Dense,
    Describe,
    Described,
    Execute,
    Executed,
    Failure,
    Forbidden,
    Gradients,
    Granted,
    Instance,
    Items,
    Lease,
    LeaseReply,
    LeaseRequest,
    Load,
    Loaded,
    LoadFailed,
    OwnTest,
    Pairs,
    Parameter,
    ProtocolError,
    Raised,
    RanTest,
    RanTests,
    Ref,
    Refused,
    RefusedTests,
    Release,
    Reply,
    Report,
    Request,
    Returned,
    RuleBroken,
    RunTests,
    Setting,
    Strange,
    View,
)

FRAMES = 100_000
TRACED_FRAMES = 5_000
MAX_PAYLOAD_BYTES = 1 << 16
MAX_FRAME_BYTES = 1 << 15  # fits into a socket's buffer, so that one thread can write, then read

FAILURE = Failure(
    kind="ValueError",
    bases=["ValueError", "Exception"],
    message="w_q does not fit",
    frames=[CodeFrame("solution.py", 3, "multi_head_attention", "return query @ w_q")],
)
VIEW = View("torch", "float64", (2, 3), (3, 1), 0, 0, requires_grad=True)
MATRIX = Dense("torch", "float64", (2, 3), requires_grad=True)
VALUE = Items(
    "tuple", [Ref(0), Ref(1), Pairs(["a"], [Items("list", [1, 2.5, None, True, "x"])]),
              Complex(1.0, -1.0), Strange("Sparse", "it is sparse")]
)  # fmt: skip

REPLIES: list[tuple[msgspec.Struct, bytes]] = [
    (Loaded(["multi_head_attention", "attention_kernel"]), b""),
    (LoadFailed("compile", FAILURE), b""),
    (Returned(1, VALUE, [MATRIX, Dense("numpy", "int16", (2, 2))], [0]), bytes(range(64))),
    (Returned(2, Ref(0), [Dense("numpy-scalar", "float32", ())], []), b"\0\0\x80\x3f"),
    (Returned(3, None, [Dense("torch", "bool", (0, 5))], []), b""),
    (Raised(4, FAILURE), b""),
    (RuleBroken(0, [CodeFrame("solution.py", 3, "f", "x")]), b""),
    (Gradients(5, [True, False], [MATRIX]), bytes(48)),
    (Described(6, True, True, [Parameter("query", "POSITIONAL_OR_KEYWORD", False)]), b""),
    (Executed(7), b""),
    (Refused(8, FAILURE), b""),
    (
        CollectedTests(9, [OwnTest("test_own::test_a[1]", "It adds."), OwnTest("b", "")], [1, 0]),
        b"",
    ),
    (RanTest(10, 1, FAILURE), b""),
    (RanTest(11, 0, None), b""),
    (RanTests(12), b""),
    (RefusedTests(13, "rule", "tests/test_own.py", FAILURE), b""),
]
SETTING = Setting(
    "solution.py", "a.b", b"x = 1\n", {"a/__init__.py": b""}, b"", [Forbidden("torch.f", "No.")]
)
MADE = Instance([2, Ref(0)], {"bias": True}, Pairs(["w"], [Ref(0)]), True, "split", ["width"])
CALL = Call(1, "f", [Ref(0), 2], {"mask": None, "num_heads": 2}, [VIEW], [48])
REQUESTS: list[tuple[msgspec.Struct, bytes]] = [
    (Load({"solution.py": b"import torch\n"}, SETTING, 7), b""),
    (CALL, bytes(48)),
    (structs.replace(CALL, instance=MADE), bytes(48)),
    (Describe(2, "multi_head_attention"), b""),
    (Execute(3, "scratch.py", b"print(f(1))\n"), b""),
    (RunTests(4, {"tests/test_own.py": b"def test_a(): pass\n"}, ["numpy"], 2), b""),
]
LEASES: list[tuple[msgspec.Struct, bytes]] = [
    (Lease(1.5, 1 << 20), b""),
    (Release(), b""),
    (Granted("runner-1"), b""),
    (Report("signalled", 0, 11, False, 12.5, 1 << 27), b""),
]
GOOD = [*REPLIES, *REQUESTS, *LEASES]
KINDS: list[object] = [Reply, Reply, Reply, Reply, Request, LeaseRequest, LeaseReply]

# Bytes that mean much to msgpack: huge arrays, maps, texts, extensions, numbers, nesting.
HEADS = [
    b"\xdd\xff\xff\xff\xff", b"\xdc\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x05", b"\xd6\xff\0\0\0\0", b"\xc7\x0c\xff",
    b"\xcf" + b"\xff" * 8, b"\xd3\x80" + b"\0" * 7, b"\xcb\x7f\xf8" + b"\0" * 6,
    b"\xcb\x7f\xf0" + b"\0" * 6, b"\x91" * 2000, b"\x81\xa4type" * 500, b"\xa4\xed\xa0\x80\xff",
    b"\xc0", b"\xc1", b"\xc2", b"\x80", b"\x90", b"\x00", b"\xff", b"\x80\x04\x95.", b"\x93NUMPY",
]  # fmt: skip
SIZES = [0, 1, 11, 12, 255, 2**16, 2**20, 2**20 + 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1]


def whole(message: msgspec.Struct, payload: bytes) -> bytes:
    header = msgspec.msgpack.encode(message)
    return PREFIX.pack(len(header), len(payload)) + header + payload


CORPUS = [whole(message, payload) for message, payload in GOOD]


def refit(dice: random.Random, frame: bytearray) -> None:
    """Announce the header's length as it now is, so that what it says gets to the decoder."""
    if len(frame) > PREFIX.size:
        header_bytes = len(frame) - PREFIX.size
        payload_bytes = dice.choice([0, 0, 0, 8, 48])
        if payload_bytes < header_bytes:
            PREFIX.pack_into(frame, 0, header_bytes - payload_bytes, payload_bytes)


def flip(dice: random.Random, frame: bytearray) -> None:
    for _ in range(dice.randint(1, 8)):
        frame[dice.randrange(len(frame))] ^= 1 << dice.randrange(8)


def insert_head(dice: random.Random, frame: bytearray) -> None:
    place = dice.randint(min(PREFIX.size, len(frame)), len(frame))
    frame[place:place] = dice.choice(HEADS)


def overwrite(dice: random.Random, frame: bytearray) -> None:
    head = dice.choice(HEADS)
    place = dice.randint(min(PREFIX.size, len(frame)), len(frame))
    frame[place : place + len(head)] = head


def cut(dice: random.Random, frame: bytearray) -> None:
    del frame[dice.randint(1, len(frame)) :]


def announce(dice: random.Random, frame: bytearray) -> None:
    sizes = PREFIX.pack(dice.choice(SIZES) % 2**32, dice.choice(SIZES))
    frame[: PREFIX.size] = sizes


def splice(dice: random.Random, frame: bytearray) -> None:
    other = dice.choice(CORPUS)
    frame[dice.randint(1, len(frame)) :] = other[dice.randrange(len(other)) :]


def noise(dice: random.Random, frame: bytearray) -> None:
    frame[:] = dice.randbytes(dice.randint(1, 200))


def noisy_header(dice: random.Random, frame: bytearray) -> None:
    frame[PREFIX.size :] = dice.randbytes(dice.randint(1, 200))


MUTATIONS: list[Callable[[random.Random, bytearray], None]] = [
    flip, flip, flip, insert_head, overwrite, cut, announce, splice, noise, noisy_header,
]  # fmt: skip


def hostile_frames(seed: int) -> Iterator[bytes]:
    """Endless; the same for the same seed."""
    dice = random.Random(seed)
    while True:
        frame = bytearray(dice.choice(CORPUS))
        for _ in range(dice.choice([1, 1, 2, 3])):
            dice.choice(MUTATIONS)(dice, frame)
        if dice.random() < 0.6:
            refit(dice, frame)
        yield bytes(frame[:MAX_FRAME_BYTES])


def receive(frame: bytes, kind: object) -> tuple[object, memoryview]:
    """Receive from a peer that sends `frame` and leaves."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frame)
        theirs.close()
        connection = Connection(ours, MAX_PAYLOAD_BYTES)
        return connection.receive(kind, time.monotonic() + 30)


def digest(frame: bytes, kind: object) -> str:
    """What became of `frame`: the name of a message or of a `ChannelError`; nothing else."""
    try:
        message, payload = receive(frame, kind)
        if isinstance(message, Returned):
            rebuild(message, payload)
        elif isinstance(message, Gradients):
            decode_arrays(message.arrays, payload)
    except ChannelError as error:
        return type(error).__name__
    return type(message).__name__


def rebuild(message: Returned, payload: memoryview) -> None:
    """The arrays and the value of a reply, as the grader makes them."""
    arrays, _rest = decode_arrays(message.arrays, payload)

    def resolve(ref: Ref) -> object:
        if ref.index >= len(arrays):
            raise ProtocolError("a reference points nowhere")
        return arrays[ref.index]

    build(message.value, resolve)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_hundred_thousand_hostile_frames_end_as_messages_or_channel_errors() -> None:
    kinds = itertools.cycle(KINDS)
    frames = hostile_frames(seed=1)
    ends: Counter[str] = Counter()
    warm_up = [digest(frame, kind) for frame, kind in zip(CORPUS, kinds, strict=False)]
    memory, descriptors = resident_bytes(), open_descriptors()

    for number in range(FRAMES - len(warm_up)):
        frame, kind = next(frames), next(kinds)
        try:
            ends[digest(frame, kind)] += 1
        except Exception as error:  # noqa: BLE001  # what escapes is the finding: say which frame
            pytest.fail(f"frame {number} as {kind}: {error!r}\n{frame[:200]!r}")

    assert resident_bytes() - memory < 16 << 20
    assert open_descriptors() == descriptors
    # The frames reach every outcome, so the fuzzing is not turned away at the door.
    assert min(ends[name] for name in ("ProtocolError", "TooLarge", "ConnectionLost")) > 1000
    assert min(ends[type(message).__name__] for message, _ in REPLIES) > 50, ends


def test_no_hostile_frame_allocates_what_it_announces() -> None:
    frames = itertools.islice(hostile_frames(seed=2), TRACED_FRAMES)
    for frame in CORPUS:
        digest(frame, Reply)

    tracemalloc.start()
    try:
        for number, frame in enumerate(frames):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            digest(frame, Reply)
            used = tracemalloc.get_traced_memory()[1] - before
            # One header and one payload within their bounds, and what a small frame decodes to.
            assert used < (1 << 20) + MAX_PAYLOAD_BYTES + 20 * MAX_FRAME_BYTES, (number, frame[:99])
    finally:
        tracemalloc.stop()


def test_the_frames_that_are_mutated_are_good_ones() -> None:
    for message, payload in GOOD:
        ends = [digest(whole(message, payload), kind) for kind in set(KINDS)]
        assert type(message).__name__ in ends
