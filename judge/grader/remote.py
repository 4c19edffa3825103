"""The submission as checks see it: calls run in the runner, results and gradients come back.

A check writes ``out, weights = submission.multi_head_attention(q, k, v, ...)`` and
``torch.autograd.grad(out, q, cotangent)`` as if the function were local. Behind that, arguments
travel with their strides and aliasing; returned tensors hang on one autograd node per call, whose
backward pass runs in the runner too. Second derivatives are not supported.

Every call is recorded with its answers, for the diagnosis after a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from msgspec import structs
from torch.autograd.function import FunctionCtx, once_differentiable

from judge.checks.failures import require_usable, submission_error
from judge.checks.submission import (
    ChangedArgument,
    Cost,
    Observation,
    Signature,
    Submission,
    element_bytes,
)
from judge.grader.runner import OUT_OF_TURN, Runner, out_of_memory
from judge.verdicts import Verdict
from sandbox.arrays import (
    TORCH_DTYPES,
    Array,
    DecodedArguments,
    EncodedArguments,
    Subject,
    build,
    decode_arrays,
    encode_arguments,
    referred_arrays,
)
from sandbox.protocol import (
    MAX_RESULT_BYTES,
    Backward,
    Call,
    Dense,
    Describe,
    Described,
    Failure,
    Gradients,
    ProtocolError,
    Raised,
    Ref,
    Reply,
    Returned,
    Usage,
    Value,
    View,
)
from sandbox.text import printable

R = TypeVar("R")
HIDDEN_BYTES = 1 << 20  # a peak that is that far above what is held hides what small calls take


@dataclass
class BackwardRecord:
    """One backward pass: which outputs, with which cotangents, and the gradients answered."""

    outputs: list[int]
    cotangents: list[torch.Tensor]
    inputs: list[int]
    gradients: list[torch.Tensor | None] | None = None


@dataclass
class CallRecord:
    """One call and everything the submission answered to it."""

    request: Call
    arguments: EncodedArguments
    failure: Failure | None = None
    value: Value = None
    arrays: list[Array | np.generic] = field(default_factory=list)
    dense: list[Dense] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    backwards: list[BackwardRecord] = field(default_factory=list)

    @property
    def answer_bytes(self) -> int:
        """The size of what was answered."""
        gradients = [g for back in self.backwards for g in back.gradients or () if g is not None]
        return sum(array.nbytes for array in (*self.arrays, *gradients))


class RemoteSubmission(Submission):
    """The submission that lives in a runner; `renew` loads it into a fresh child of that."""

    def __init__(self, runner: Runner, renew: Callable[[], None]) -> None:
        self._runner = runner
        self._renew = renew
        self._forget = True
        self._has_measured = False
        self._signatures: dict[str, Signature | None] = {}
        self.records: list[CallRecord] = []

    def start_check(self) -> list[CallRecord]:
        """Forget the graphs of earlier calls; returns this check's records, to be filled."""
        self._forget, self._has_measured = True, False
        self._runner.result_bytes_left = MAX_RESULT_BYTES
        self.records = []
        return self.records

    def names(self) -> Sequence[str]:
        """The public callables it defines."""
        return self._runner.names

    def call(
        self,
        name: str,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        subject: Subject | None,
    ) -> object:
        """Call its function `name`, which exists; or make an object of that class and use it."""
        return self.call_and_compare(name, args, kwargs, subject).value

    def signature(self, name: str, /) -> Signature | None:
        """The parameters of its callable `name`; None when there is no such callable."""
        if name not in self._signatures:
            self._signatures[name] = self._describe(name)
        return self._signatures[name]

    # --- calls -----------------------------------------------------------------------------

    def call_and_compare(
        self,
        name: str,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        subject: Subject | None,
    ) -> Observation:
        """The same, and compare array arguments afterwards."""
        encoded = encode_arguments(args, kwargs, subject)
        request = Call(
            id=self._runner.next_id(),
            function=name,
            args=encoded.args,
            kwargs=encoded.kwargs,
            views=encoded.views,
            buffers=[len(buffer) for buffer in encoded.buffers],
            forget=self._forget,
            instance=encoded.instance,
        )
        self._forget = False
        record = CallRecord(request, encoded)
        self.records.append(record)
        reply, payload = self._runner.ask(request, encoded.buffers)
        if isinstance(reply, Raised):
            record.failure = reply.failure
            raise _raised(self._runner, reply.failure)
        returned = _expect(self._runner, reply, Returned)
        rest = _trusting_nothing(self._runner, lambda: self._record(record, returned, payload))
        return Observation(
            value=self._value(request.id, record, returned),
            changed=_trusting_nothing(
                self._runner, lambda: _changed_arguments(record, rest, args, kwargs)
            ),
        )

    def call_and_measure(
        self,
        name: str,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        subject: Subject | None,
    ) -> Cost:
        """The same, and measure what it costs."""
        self._forget = True  # a graph that is kept would be part of the next peak
        before = self._usage_before()
        left_s = self._runner.budget_s
        value = self.call(name, args, kwargs, subject)
        wall_ms = (left_s - self._runner.budget_s) * 1000
        after = self._runner.usage(closely=False)
        return Cost(value, wall_ms, after.cpu_ms - before.cpu_ms, after.peak_memory_bytes)

    def _usage_before(self) -> Usage:
        """What is used before a call; of a fresh child, if the peak so far would hide the call's.

        Later measurements of the same check are made in the same child, whatever they leave.
        """
        usage = self._runner.usage(closely=True)
        hidden_bytes = usage.peak_memory_bytes - usage.memory_bytes
        if not self._has_measured and hidden_bytes > HIDDEN_BYTES:
            self._renew()
            usage = self._runner.usage(closely=True)
        self._has_measured = True
        return usage

    def _record(self, record: CallRecord, reply: Returned, payload: memoryview) -> memoryview:
        if referred_arrays(reply.value) != set(range(len(reply.arrays))):
            raise ProtocolError("there are arrays that belong to nothing")
        record.arrays, rest = decode_arrays(reply.arrays, payload)
        record.value, record.dense = reply.value, list(reply.arrays)
        record.changed = list(reply.changed)
        return rest

    def _value(self, call: int, record: CallRecord, reply: Returned) -> object:
        require_usable(reply.value)
        arrays = self._with_graph(call, record)
        return _trusting_nothing(
            self._runner, lambda: build(reply.value, lambda ref: _at(arrays, ref))
        )

    def _with_graph(self, call: int, record: CallRecord) -> list[object]:
        """The returned arrays, those that have gradients hung on the call's autograd node."""
        arrays: list[object] = [_copied(array) for array in record.arrays]
        inputs = [i for i, view in enumerate(record.arguments.views) if view.requires_grad]
        outputs = [i for i, dense in enumerate(record.dense) if dense.requires_grad]
        if not inputs or not outputs:
            return arrays
        graph = _Graph(self._runner, call, record, inputs, outputs)
        leaves = [record.arguments.arrays[index] for index in inputs]
        tensors = _RemoteNode.apply(  # type: ignore[no-untyped-call]  # torch's own
            graph, [arrays[index] for index in outputs], *leaves
        )
        for index, tensor in zip(outputs, tensors, strict=True):
            arrays[index] = tensor
        return arrays

    # --- signatures ------------------------------------------------------------------------

    def _describe(self, name: str) -> Signature | None:
        reply, _ = self._runner.ask(Describe(self._runner.next_id(), name))
        described = _expect(self._runner, reply, Described)
        if not described.found or not described.is_callable:
            return None
        if described.parameters is None:
            return Signature(None)
        return Signature(
            tuple(structs.replace(p, name=printable(p.name)) for p in described.parameters)
        )


class _Graph:
    """What the autograd node of one call needs to run its backward pass in the runner."""

    def __init__(
        self, runner: Runner, call: int, record: CallRecord, inputs: list[int], outputs: list[int]
    ) -> None:
        self._runner = runner
        self._call = call
        self._record = record
        self._inputs = inputs
        self._outputs = outputs

    def backward(
        self, cotangents: tuple[torch.Tensor | None, ...], needed: tuple[bool, ...]
    ) -> list[torch.Tensor | None]:
        """Vector-Jacobian products for all inputs, None where not needed or not connected."""
        given = [(o, c) for o, c in zip(self._outputs, cotangents, strict=True) if c is not None]
        inputs = [index for index, need in zip(self._inputs, needed, strict=True) if need]
        outputs = [output for output, _ in given]
        encoded = encode_arguments([cotangent.contiguous() for _, cotangent in given])
        past = BackwardRecord(outputs, [c.detach().clone() for _, c in given], inputs)
        self._record.backwards.append(past)
        request = Backward(
            id=self._runner.next_id(),
            call=self._call,
            outputs=outputs,
            cotangents=[encoded.views[ref.index] for ref in encoded.args if isinstance(ref, Ref)],
            inputs=inputs,
            buffers=[len(buffer) for buffer in encoded.buffers],
        )
        reply, payload = self._runner.ask(request, encoded.buffers)
        if isinstance(reply, Raised):
            raise _raised(self._runner, reply.failure)
        gradients = _expect(self._runner, reply, Gradients)
        past.gradients = _trusting_nothing(
            self._runner, lambda: self._decode(gradients, payload, inputs)
        )
        by_input = dict(zip(inputs, past.gradients, strict=True))
        return [by_input.get(index) for index in self._inputs]

    def _decode(
        self, reply: Gradients, payload: memoryview, inputs: list[int]
    ) -> list[torch.Tensor | None]:
        arrays, rest = decode_arrays(reply.arrays, payload)
        if len(rest):
            raise ProtocolError("there are more bytes than were announced")
        if len(reply.present) != len(inputs) or sum(reply.present) != len(arrays):
            raise ProtocolError("the number of gradients is wrong")
        remaining = iter(arrays)
        gradients: list[torch.Tensor | None] = []
        for index, present in zip(inputs, reply.present, strict=True):
            gradient = next(remaining) if present else None
            view = self._record.arguments.views[index]
            if gradient is None:
                gradients.append(None)
            elif isinstance(gradient, torch.Tensor) and _fits(gradient, view):
                gradients.append(gradient)
            else:
                raise ProtocolError("a gradient has another shape or dtype than its input")
        return gradients


class _RemoteNode(torch.autograd.Function):
    """One node a call: forward hands out what was returned, backward asks the runner."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        graph: _Graph,
        outputs: list[torch.Tensor],
        *inputs: torch.Tensor,  # noqa: ARG004  # autograd must see what the outputs depend on
    ) -> tuple[torch.Tensor, ...]:
        ctx.graph = graph  # type: ignore[attr-defined]  # the place torch offers for state
        ctx.set_materialize_grads(False)
        return tuple(outputs)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: FunctionCtx, *cotangents: torch.Tensor | None
    ) -> tuple[torch.Tensor | None, ...]:
        needed = ctx.needs_input_grad[2:]  # type: ignore[attr-defined]
        gradients = ctx.graph.backward(cotangents, needed)  # type: ignore[attr-defined]
        return (None, None, *gradients)


def _fits(gradient: torch.Tensor, view: View) -> bool:
    return tuple(gradient.shape) == view.shape and gradient.dtype is TORCH_DTYPES[view.dtype]


def _raised(runner: Runner, failure: Failure) -> BaseException:
    """The exception to raise in the check: memory exhaustion is a limit, not an error."""
    if out_of_memory(failure):
        return runner.fail(Verdict.MLE, "The code ran out of memory.", failure)
    return submission_error(failure)


def _expect(runner: Runner, reply: Reply, kind: type[R]) -> R:
    if not isinstance(reply, kind):
        raise runner.fail(Verdict.RE, OUT_OF_TURN)
    return reply


def _trusting_nothing(runner: Runner, decode: Callable[[], R]) -> R:
    """Run a decoder of untrusted frames; what it refuses is the submission's fault."""
    try:
        return decode()
    except ProtocolError as error:
        raise runner.fail(Verdict.RE, f"The result was malformed: {error}.") from None


def _at(arrays: list[object], ref: Ref) -> object:
    if ref.index >= len(arrays):
        raise ProtocolError("a value names an array that was not sent")
    return arrays[ref.index]


def _copied(array: Array | np.generic) -> object:
    """A copy for the check, which may change it; the record keeps the original."""
    if isinstance(array, torch.Tensor):
        return array.clone()
    return array.copy()


def _changed_arguments(
    record: CallRecord,
    rest: memoryview,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> tuple[ChangedArgument, ...]:
    """The arguments whose elements are no longer those that were sent."""
    if not record.changed and not len(rest):
        return ()
    after = _arguments_after(record, rest)
    changed = []
    named: list[tuple[str | int, object]] = [*enumerate(args), *kwargs.items()]
    for key, value in named:
        index = next((i for i, a in enumerate(record.arguments.arrays) if a is value), None)
        if index is None:
            continue
        before = record.arguments.arrays[index]
        if element_bytes(before) != element_bytes(after.leaves[index]):
            changed.append(ChangedArgument(key, before, after.leaves[index]))
    return tuple(changed)


def _arguments_after(record: CallRecord, rest: memoryview) -> DecodedArguments:
    """The arguments as the call left them: what was sent, with the changed buffers replaced."""
    buffers: list[bytes | memoryview] = list(record.arguments.buffers)
    if record.changed != sorted(set(record.changed)):
        raise ProtocolError("the changed inputs are not in order")
    for index in record.changed:
        if not 0 <= index < len(buffers) or len(rest) < len(buffers[index]):
            raise ProtocolError("a changed input is not one that was sent")
        size = len(buffers[index])
        buffers[index], rest = rest[:size], rest[size:]
    if len(rest):
        raise ProtocolError("there are more bytes than were announced")
    sizes = [len(buffer) for buffer in buffers]
    return DecodedArguments(record.arguments.views, sizes, memoryview(b"".join(buffers)))
