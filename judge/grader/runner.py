"""The grader's end of a runner: leases a confined child, asks it things, and names every fault.

The other side of these sockets is untrusted. A request either yields a reply of the right type in
time, or raises `RunnerFault`, which carries the verdict. `RunnerFault` is a `BaseException`, so
that no `except Exception` in a check can swallow a deadline or a dead child.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from judge.grader.messages import Job
from judge.verdicts import Verdict
from sandbox.protocol import (
    MAX_RESULT_BYTES,
    Buffer,
    Connection,
    ConnectionLost,
    DeadlinePassed,
    Execute,
    Executed,
    Failure,
    Forbidden,
    Gauge,
    Granted,
    Lease,
    LeaseReply,
    Load,
    Loaded,
    LoadFailed,
    ProtocolError,
    Raised,
    RanTests,
    Refused,
    RefusedTests,
    Release,
    Reply,
    Report,
    Request,
    RuleBroken,
    RunTests,
    TooLarge,
    Usage,
)
from sandbox.text import one_line, printable, printable_bytes

LEASE_PATIENCE_S = 10.0
REPORT_PATIENCE_S = 3.0
END_PATIENCE_S = 1.0
OUTPUT_PATIENCE_S = 0.5
AT_ONCE_S = 0.025
OUT_OF_TURN = "The code answered out of turn: no usable result."
TOO_LARGE = f"The results of one check are larger than {MAX_RESULT_BYTES >> 20} MiB."
NOT_A_FRAME = "The code wrote to the judge's connection: no usable result."
_REMEDIES = {  # first match
    "EOFError": "There is nobody to ask here: the functions get all they need as arguments.",
    "ModuleNotFoundError": "The standard library, numpy and torch can be imported.",
    "PermissionError": "Other programs, processes and the network are out of reach here.",
    "gaierror": "There is no network here.",
    "InductorError": "torch.compile needs a compiler, and there is none: call the function itself.",
}
_LEASE_PAYLOAD_BYTES = 1 << 20


class RunnerFault(BaseException):
    """The submission broke a limit, died, or answered nonsense: `verdict` says which."""

    def __init__(self, verdict: Verdict, message: str, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.message = message
        self.failure = failure


class RunnerUnavailable(BaseException):
    """The runner box gave no child, or is gone: our fault, never the submission's.

    A `BaseException` for the same reason; it ends the whole job, which is then judged again.
    """


class Runner:
    """One confined child of a runner box, from lease to report.

    `budget_s` is the time the submission may still use; waiting for it is charged, nothing else.
    `result_bytes_left` is what the answers of one check may still hold, and is reset by it.
    `fault` is what ended its use, once something did, whoever may have caught it since.
    `while_waiting` is called whenever an answer does not come at once.
    """

    def __init__(self, job: Job, while_waiting: Callable[[], None]) -> None:
        self._limits = limits = job.limits
        self._request = Lease(limits.cpu_s, limits.output_bytes, job.id)
        self._lease = _connect(job.runner)
        self._while_waiting = while_waiting
        self._next_id = 0
        self.budget_s = limits.wall_s
        self._too_slow = ""
        self.waiting = False
        self.report: Report | None = None
        self.result_bytes_left = MAX_RESULT_BYTES
        self.fault: RunnerFault | None = None
        self.names: list[str] = []
        self._forbidden: Sequence[Forbidden] = ()
        self._printed: list[bytes] = []
        self._truncated = False
        self._child, self._output = self._lease_child()

    def renew(self) -> None:
        """Change to a fresh child; what was loaded has to be loaded again. The time is not charged.

        Raises `RunnerUnavailable`.
        """
        self.waiting = True
        try:
            self._give_back_child()
            self.report = None
            self._child, self._output = self._lease_child()
        finally:
            self.waiting = False

    def _lease_child(self) -> tuple[Connection, socket.socket]:
        try:
            self._lease.send(self._request)
            deadline = time.monotonic() + LEASE_PATIENCE_S
            if not self._lease.pending(AT_ONCE_S):
                self._while_waiting()
            _, descriptors = self._lease.receive_with_descriptors(Granted, 2, deadline)
        except (ConnectionLost, DeadlinePassed, ProtocolError) as error:
            raise RunnerUnavailable(f"the runner box gave no child: {error}") from None
        child = Connection(socket.socket(fileno=descriptors[0]), MAX_RESULT_BYTES)
        return child, socket.socket(fileno=descriptors[1])

    def load(self, sources: Load, allowance_s: float) -> float:
        """Import the submission within `allowance_s`; what is left of it.

        The time is not charged to the tier.
        """
        self._too_slow = f"Importing the code took longer than {allowance_s:.3g} s."
        self._forbidden = sources.setting.forbidden
        tier_s, self.budget_s = self.budget_s, allowance_s
        reply, _ = self._exchange(sources, ())
        left_s, self.budget_s = self.budget_s, tier_s
        self._too_slow = f"The calls of one tier took longer than {self._limits.wall_s:g} s."
        match reply:
            case Loaded(names):
                self.names = [one_line(name) for name in names]
            case LoadFailed(stage, failure):
                raise self.fail(*load_words(stage, failure), failure)
            case _:
                raise self.fail(Verdict.RE, OUT_OF_TURN)
        return left_s

    def execute(self, file: str, source: bytes) -> None:
        """Run one more file of the student's after the submission. Raises `RunnerFault`."""
        self._too_slow = f"{file} took longer than {self._limits.wall_s:g} s."
        reply, _ = self.ask(Execute(self.next_id(), file, source))
        match reply:
            case Executed():
                return
            case Refused(failure=failure):
                raise self.fail(*load_words("compile", failure), failure)
            case Raised(failure=failure) if out_of_memory(failure):
                raise self.fail(Verdict.MLE, f"{file} ran out of memory.", failure)
            case Raised(failure=failure):
                raise self.fail(Verdict.RE, f"The code raised {raised_words(failure)}", failure)
            case _:
                raise self.fail(Verdict.RE, OUT_OF_TURN)

    def run_tests(self, request: RunTests) -> Iterator[Reply]:
        """Run a student's tests: the answers as they come, up to the last. Raises `RunnerFault`.

        What they say is for the caller to judge; each has the request's id.
        """
        self._too_slow = f"The tests took longer than {self._limits.wall_s:g} s."
        reply, _ = self.ask(request)
        while not isinstance(reply, RanTests | RefusedTests):
            yield reply
            with self._charged() as deadline:
                reply, _ = self._receive(deadline)
            self._require_answer(reply)
        yield reply

    def fail(self, verdict: Verdict, message: str, failure: Failure | None = None) -> RunnerFault:
        """The fault to raise; the first one stays, and every later request raises it again."""
        if self.fault is None:
            self.fault = RunnerFault(verdict, message, failure)
        return self.fault

    def next_id(self) -> int:
        """A fresh id for a request."""
        self._next_id += 1
        return self._next_id

    def ask(self, request: Request, buffers: Sequence[Buffer] = ()) -> tuple[Reply, memoryview]:
        """One request, one reply with the same id. Raises `RunnerFault`."""
        reply, payload = self._exchange(request, buffers)
        self._require_answer(reply)
        return reply, payload

    def usage(self, *, closely: bool) -> Usage:
        """What the child has used so far, by the kernel's count. Raises `RunnerFault`.

        With `closely` its memory is watched until this is asked again.
        """
        if self.fault is not None:
            raise self.fault
        self.waiting = True
        try:
            self._lease.send(Gauge(closely))
            reply, _ = self._lease.receive(LeaseReply, time.monotonic() + REPORT_PATIENCE_S)
        except (ConnectionLost, DeadlinePassed, ProtocolError) as error:
            raise RunnerUnavailable(f"the runner box does not say what is used: {error}") from None
        finally:
            self.waiting = False
        match reply:
            case Usage():
                return reply
            case Report():
                self.report = reply
                raise self._fault_of_end()
            case _:
                raise RunnerUnavailable("the runner box answered out of turn")

    def _require_answer(self, reply: Reply) -> None:
        if isinstance(reply, Loaded | LoadFailed | RuleBroken) or reply.id != self._next_id:
            raise self.fail(Verdict.RE, OUT_OF_TURN)

    def close(self) -> tuple[str, bool]:
        """Give the child back; what it printed, printable, and whether that was cut."""
        self._give_back_child()
        self._lease.close()
        return printable_bytes(b"".join(self._printed)), self._truncated

    def _give_back_child(self) -> None:
        if self.report is None:
            with contextlib.suppress(RunnerUnavailable):  # whoever leases next finds that out
                self.report = self._await_report(release=True)
        self._child.close()  # not earlier: it would then end by itself, which takes longer
        self._printed.append(_drained(self._output))
        self._output.close()
        self._truncated |= self.report is None or self.report.output_truncated

    def _exchange(self, request: Request, buffers: Sequence[Buffer]) -> tuple[Reply, memoryview]:
        if self.fault is not None:
            raise self.fault
        with self._charged() as deadline:
            self._refuse_unasked_answers(time.monotonic())
            self._child.send(request, buffers, deadline)
            return self._receive(deadline)

    @contextmanager
    def _charged(self) -> Iterator[float]:
        """The deadline of what is done inside, which is charged; and names the fault it ends in."""
        started = time.monotonic()
        self.waiting = True
        try:
            yield started + self.budget_s
        except DeadlinePassed:
            raise self._fault_of_deadline() from None
        except ConnectionLost:
            raise self._fault_of_end() from None
        finally:
            self.waiting = False
            self.budget_s -= time.monotonic() - started

    def _receive(self, deadline: float) -> tuple[Reply, memoryview]:
        if not self._child.pending(min(AT_ONCE_S, max(0.0, deadline - time.monotonic()))):
            self._while_waiting()
        try:
            reply: tuple[Reply, memoryview] = self._child.receive(Reply, deadline)
        except TooLarge:
            raise self.fail(Verdict.OLE, TOO_LARGE) from None
        except ProtocolError:
            raise self.fail(Verdict.RE, NOT_A_FRAME) from None
        if isinstance(reply[0], RuleBroken):
            raise self._fault_of_rule(reply[0])
        self.result_bytes_left -= len(reply[1])
        if self.result_bytes_left < 0:
            raise self.fail(Verdict.OLE, TOO_LARGE)
        return reply

    def _fault_of_rule(self, broken: RuleBroken) -> RunnerFault:
        if broken.rule >= len(self._forbidden):
            return self.fail(Verdict.RE, OUT_OF_TURN)
        rule = self._forbidden[broken.rule].rule
        failure = Failure("RuleBroken", [], rule, broken.frames)
        return self.fail(Verdict.RV, rule, failure)

    def _refuse_unasked_answers(self, now: float) -> None:
        """Bytes before the question: it died in between, or it talks out of turn."""
        if not self._child.pending():
            return
        with contextlib.suppress(DeadlinePassed, ProtocolError):
            self._child.receive(Reply, now)
        raise self.fail(Verdict.RE, NOT_A_FRAME)

    def _fault_of_deadline(self) -> RunnerFault:
        """Out of time; unless the child had already been ended for another reason."""
        report = self._await_report(release=False, patience_s=0.0)
        if report is not None and report.ended in ("memory", "output", "cpu"):
            return self._fault_of_report(report)
        return self.fail(Verdict.TLE, self._too_slow)

    def _fault_of_end(self) -> RunnerFault:
        """The child closed its connection: it ended, or it did this on purpose and lives on."""
        report = self._await_report(release=False, patience_s=END_PATIENCE_S)
        if report is None:
            report = self._await_report(release=True)
        # No report even now: it is so large that the kernel still takes it apart.
        if report is None or report.ended == "killed":
            return self.fail(Verdict.RE, "The code closed its connection: no result.")
        return self._fault_of_report(report)

    def _fault_of_report(self, report: Report) -> RunnerFault:
        match report.ended:
            case "memory":
                limit = self._limits.memory_bytes >> 20
                return self.fail(Verdict.MLE, f"The code used more than {limit} MiB of memory.")
            case "output":
                limit = self._limits.output_bytes >> 10
                return self.fail(Verdict.OLE, f"The code printed more than {limit} KiB.")
            case "cpu":
                limit_s = self._limits.cpu_s
                return self.fail(Verdict.TLE, f"The code used more than {limit_s:g} s of CPU.")
            case "signalled":
                name = _signal_name(report.signal)
                return self.fail(Verdict.RE, f"The code was ended by {name}: no result.")
            case _:
                how = f"exit status {report.code}"
                return self.fail(Verdict.RE, f"The code ended its process ({how}): no result.")

    def _await_report(
        self, *, release: bool, patience_s: float = REPORT_PATIENCE_S
    ) -> Report | None:
        if self.report is not None:
            return self.report
        if release:
            with contextlib.suppress(ConnectionLost):  # then its report is already on the way
                self._lease.send(Release())
        try:
            reply, _ = self._lease.receive(LeaseReply, time.monotonic() + patience_s)
        except DeadlinePassed:
            return None
        except (ConnectionLost, ProtocolError) as error:
            raise RunnerUnavailable(f"the runner box is gone: {error}") from None
        if isinstance(reply, Report):
            self.report = reply
        return self.report


def _drained(output: socket.socket) -> bytes:
    """What init has written there; it kept a bounded part, wrote it at once and closed its end."""
    output.settimeout(OUTPUT_PATIENCE_S)
    parts = []
    with contextlib.suppress(TimeoutError, ConnectionError):
        while part := output.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def _connect(path: str) -> Connection:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(LEASE_PATIENCE_S)
    try:
        sock.connect(path)
    except OSError as error:
        sock.close()
        raise RunnerUnavailable(f"the runner box cannot be reached: {error}") from None
    return Connection(sock, _LEASE_PAYLOAD_BYTES)


def out_of_memory(failure: Failure) -> bool:
    """Whether this exception is a memory limit met; the student's process names them alike."""
    return "MemoryError" in (failure.kind, *failure.bases)


def raised_words(failure: Failure) -> str:
    """Kind and message of an exception, printable, and what to do where the sandbox caused it."""
    words = f"{one_line(failure.kind)}: {printable(failure.message)}".removesuffix(": ")
    names = (failure.kind, *failure.bases)
    remedy = next((text for name, text in _REMEDIES.items() if name in names), None)
    return f"{words}\n{remedy}" if remedy else words


def load_words(stage: str, failure: Failure) -> tuple[Verdict, str]:
    """Verdict and words for what was refused by the compiler, or raised while being imported."""
    if stage == "compile":
        return Verdict.CE, _compile_message(failure)
    if out_of_memory(failure):
        return Verdict.MLE, "The code ran out of memory while being imported."
    return Verdict.CE, f"Importing the code raised {raised_words(failure)}"


def _compile_message(failure: Failure) -> str:
    """In a sentence; the line itself, with the place to mark in it, is in the detail's frame."""
    said = printable(failure.message) or printable(failure.kind)
    if failure.syntax_line is None:
        return f"The code does not compile: {said}"
    where = f"line {failure.syntax_line}"
    if failure.syntax_column is not None:
        where += f", column {failure.syntax_column}"
    return f"The code does not compile: {said} ({where})"


def _signal_name(number: int) -> str:
    try:
        known = signal.Signals(number)
    except ValueError:
        return f"signal {number}"
    words = signal.strsignal(number)
    return f"{known.name} ({words.lower()})" if words else known.name
