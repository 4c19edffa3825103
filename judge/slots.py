"""Runner boxes: a slot for each submission that can be judged at a time, and one box in reserve.

Theory of operation
-------------------
A `Slot` holds one runner box. A box that is gone is replaced when the next one is needed: by the
warm one of the `Reserve`, where there is one, else by one that is started then. Where submissions
cannot be kept apart inside a box, each gets a box of its own, and the slot starts the next one
while the current one works.

A slot is used by one thread at a time, which has taken it from the `Pool`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from judge.faults import JudgeFault, NotStarted, RunnerLost, Untried
from judge.results import Environment
from sandbox.boxes import Box, BoxSpec, Role
from sandbox.protocol import BoxReady, ChannelError, Ping, Pong

START_PATIENCE_S = 120.0
PING_PATIENCE_S = 10.0  # a box on a machine with far too much to do is not stopped yet
ZYGOTE_BYTES = 320 << 20  # what a warm runner needs before the first submission's first byte
RUNNER_PIDS = 256
RUNNER_TMP_BYTES = 64 << 20
RUNNER_CPUS = 1.5  # the student's thread, with room for init and the zygote beside it

Launch = Callable[[], Box]


def runner_spec() -> BoxSpec:
    """What a runner box is started with; its memory limit is raised per problem."""
    return BoxSpec(
        role=Role.RUNNER,
        entry="sandbox.runner.zygote",
        packages=("sandbox",),
        memory_bytes=ZYGOTE_BYTES,
        pids=RUNNER_PIDS,
        cpus=RUNNER_CPUS,
        tmp_bytes=RUNNER_TMP_BYTES,
    )


def box_state(box: Box | None) -> str:
    """One of "warm", "starting" and "lost"."""
    if box is None or not box.alive():
        return "lost"
    return "starting" if box.ready is None else "warm"


class Reserve:
    """One warm box for whichever slot loses its own; `taken` is called when it is gone."""

    def __init__(self, launch: Launch, taken: Callable[[], None]) -> None:
        self._launch = launch
        self._taken = taken
        self._lock = threading.Lock()
        self._starting: Box | None = None
        self._warm: Box | None = None
        self._closed = False

    @property
    def state(self) -> str:
        """See `box_state`."""
        return box_state(self._warm or self._starting)

    def take(self) -> Box | None:
        """The box, when it is warm."""
        with self._lock:
            box, self._warm = self._warm, None
        if box is None:
            return None
        self._taken()
        if box.alive():
            return box
        box.kill()
        return None

    def fill(self) -> None:
        """Start a box and wait until it is warm, unless there is one.

        One thread at a time. Raises `JudgeFault` and `SandboxError`.
        """
        lost = None
        with self._lock:
            if self._warm is not None and self._warm.alive():
                return
            lost, self._warm = self._warm, None
        if lost is not None:
            lost.kill()
        box = self._starting = self._launch()
        if self._closed:
            box.kill()
        wait_until_fit(box)
        with self._lock:
            self._warm, self._starting = box, None
        if self._closed:
            box.kill()

    def check(self) -> None:
        """End the box if it does not answer. By the thread that fills."""
        with self._lock:
            box, self._warm = self._warm, None
        if box is None:
            return
        if not _answers(box):
            box.kill()
            return
        with self._lock:
            self._warm = box
        if self._closed:
            box.kill()

    def kill(self) -> None:
        """End the box, and every later one as soon as it is there."""
        self._closed = True
        for box in (self._starting, self._warm):
            if box is not None:
                box.kill()


class Slot:
    """One runner box at a time."""

    def __init__(self, launch: Launch, reserve: Reserve | None, sandbox: str) -> None:
        self._launch = launch
        self._reserve = reserve
        self._box: Box | None = None
        self._next: Box | None = None
        self._memory_bytes = 0
        self._closed = False
        self.environment = Environment(sandbox=sandbox, image="", torch="", numpy="")

    @property
    def state(self) -> str:
        """Of the box that is or will be used; see `box_state`."""
        return box_state(self._box or self._next)

    def prepare(self) -> None:
        """Begin to start a box, if none is on its way."""
        if self._next is None:
            self._next = self._started()

    def box(self, memory_bytes: int = 0) -> Box:
        """A warm box whose defences hold, with this memory limit in force unless it is 0.

        Raises `JudgeFault`, `RunnerLost` and `SandboxError`.
        """
        if self._box is not None and not self._box.alive():
            self.discard()
        if self._next is not None and not self._next.alive():
            self._next.kill()
            self._next = None
        if self._box is None:
            self._box, self._next = self._next or self._started(), None
        box = self._box
        if box.ready is None:
            wait_until_fit(box)
        self._describe(box)
        if _serves_once(box):
            self.prepare()
        if memory_bytes not in (0, self._memory_bytes):
            if memory_bytes < self._memory_bytes and not self.answers():
                # The last student may still hold more than that; an answer comes when it is gone.
                raise RunnerLost("the runner box does not answer")
            box.set_memory_limit(memory_bytes)
            self._memory_bytes = memory_bytes
        return box

    def answers(self) -> bool:
        """Whether the box is there, whatever the submission in it does.

        One that was stopped from outside looks, to whoever waits for it, like a slow submission.
        """
        return self._box is not None and _answers(self._box)

    def retire_used_box(self) -> None:
        """End a box that may serve one submission only."""
        if self._box is not None and _serves_once(self._box):
            self.discard()

    def discard(self) -> None:
        """End the box, without waiting for it; another takes its place when it is needed."""
        if self._box is not None:
            threading.Thread(target=self._box.kill, daemon=True, name="box-ending").start()
        self._box = None
        self._memory_bytes = 0

    def kill(self) -> None:
        """End everything, for good; may be called by any thread."""
        self._closed = True
        for box in (self._box, self._next):
            if box is not None:
                box.kill()

    def _started(self) -> Box:
        spare = self._reserve.take() if self._reserve is not None else None
        box = spare or self._launch()
        if self._closed:
            box.kill()
            raise Untried("the judge has been closed")
        return box

    def _describe(self, box: Box) -> None:
        ready = box.ready
        assert ready is not None
        self.environment = Environment(
            sandbox=box.environment.sandbox,
            image=box.environment.image,
            torch=ready.torch,
            numpy=ready.numpy,
        )


class Pool:
    """Which slots are idle. Any thread may take one, and gives it back."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = tuple(slots)
        self._idle = list(slots)
        self._changed = threading.Condition()
        self._closed = False

    def take(self) -> Slot:
        """An idle slot, one with a warm box if there is any; waits for it.

        Raises `Untried` when the pool has been closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._idle or self._closed)
            if self._closed:
                raise Untried("the judge has been closed")
            slot = next((each for each in self._idle if each.state == "warm"), self._idle[0])
            self._idle.remove(slot)
            return slot

    def take_lost(self) -> Slot | None:
        """An idle slot that has lost its box, if there is any."""
        with self._changed:
            slot = next((each for each in self._idle if each.state == "lost"), None)
            if slot is not None:
                self._idle.remove(slot)
            return slot

    def take_this(self, slot: Slot) -> bool:
        """Take this one, if it is idle."""
        with self._changed:
            if slot not in self._idle:
                return False
            self._idle.remove(slot)
            return True

    def give_back(self, slot: Slot) -> None:
        """The slot is idle again."""
        with self._changed:
            self._idle.append(slot)
            self._changed.notify()

    def close(self) -> None:
        """Nothing can be taken any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def states(self) -> list[str]:
        """Of each slot: "warm", "busy", "starting" or "lost"."""
        with self._changed:
            idle = list(self._idle)
        states = [(slot.state, slot in idle) for slot in self._slots]
        return ["busy" if each == "warm" and not rests else each for each, rests in states]


def wait_until_fit(box: Box) -> BoxReady:
    """Wait for the box's own report; a box that fails a probe is not used. Raises `JudgeFault`."""
    try:
        ready = box.wait_ready(time.monotonic() + START_PATIENCE_S)
    except ChannelError as error:
        said = box.diagnostics()
        box.kill()
        raise NotStarted(f"the runner box did not start: {error}\n{said}".rstrip()) from None
    failed = [f"{probe.name} ({probe.detail})" for probe in ready.probes if not probe.held]
    if failed:
        box.kill()
        raise JudgeFault(
            f"the sandbox does not hold: {', '.join(failed)}. Run `judge doctor` to see why."
        )
    return ready


def _answers(box: Box) -> bool:
    deadline = time.monotonic() + PING_PATIENCE_S
    try:
        box.send(Ping(), deadline=deadline)
        box.receive(Pong, deadline)
    except ChannelError:
        return False
    return True


def _serves_once(box: Box) -> bool:
    return box.ready is not None and not box.ready.nested
