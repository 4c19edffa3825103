"""Recognising a known mistake: which pitfall gives exactly the answers that the submission gave.

The recorded calls of the failing tier are run again on every pitfall's mutant, here in the grader,
on the very bytes that the submission received. A pitfall is named only if it alone reproduces
every answer (values, gradients, exceptions, changed inputs; NaN equal to NaN) and the reference
does not. Two that fit mean silence: a wrong hint is worse than none.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import torch

from judge.grader.messages import Pitfall, ProblemPack
from judge.grader.patience import OutOfPatience, interrupted_after
from judge.grader.remote import BackwardRecord, CallRecord
from judge.results import Diagnosis
from sandbox.arrays import Array, DecodedArguments, encode_result
from sandbox.runner.calls import make_call
from sandbox.runner.generators import seed_generators
from sandbox.runner.loading import CompileRefused, Names, compile_submission, load_submission

# Wider than any check's tolerance, far below the effect of any mistake worth a hint: the same
# mistake, written in another order of operations, must still be recognised.
_RTOL = {"float64": 1e-6, "complex128": 1e-6}
_ATOL = {"float64": 1e-9, "complex128": 1e-9}
_LOW_PRECISION_RTOL = 1e-3
_LOW_PRECISION_ATOL = 1e-5
_PATIENCE_S = 3.0  # per source; all recorded calls of a tier take some milliseconds


def compile_ahead(pack: ProblemPack) -> None:
    """Compile the pitfalls, so that no fork of this process has to.

    They are not imported: what that changes in a process would stay for every job's checks.
    """
    for pitfall in pack.pitfalls:
        with suppress(CompileRefused):  # one that does not compile fits no submission
            compile_submission({pack.setting.main: pitfall.source}, pack.setting)


def diagnose(pack: ProblemPack, records: Sequence[CallRecord], seed: int) -> list[Diagnosis]:
    """The one pitfall that explains all `records`, as a list of one; else an empty list.

    `seed` is that of the generators in the submission's process.
    """
    if not any(record.failure is None for record in records):
        return []
    if _reproduces(pack.reference, pack, records, seed):
        return []
    fitting: list[Pitfall] = []
    for pitfall in pack.pitfalls:
        if _reproduces(pitfall.source, pack, records, seed):
            fitting.append(pitfall)
            if len(fitting) > 1:
                return []
    return [Diagnosis(pitfall=pitfall.id, hint=pitfall.hint) for pitfall in fitting]


def _reproduces(source: bytes, pack: ProblemPack, records: Sequence[CallRecord], seed: int) -> bool:
    """Whether this source gives every recorded answer; no when it breaks or takes too long."""
    seed_generators(seed)
    try:
        with interrupted_after(_PATIENCE_S, "a pitfall"):
            names = load_submission({pack.setting.main: source}, pack.setting)
            return all(_same_answer(names, each) for each in records)
    except (Exception, SystemExit, OutOfPatience):  # noqa: BLE001  # an author's wrong code may do anything
        return False


def _same_answer(names: Names, record: CallRecord) -> bool:
    arguments = record.arguments
    sizes = [len(buffer) for buffer in arguments.buffers]
    decoded = DecodedArguments(arguments.views, sizes, memoryview(b"".join(arguments.buffers)))
    try:
        called = make_call(names, record.request, decoded)
        encoded = encode_result(called.value)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # a mutant may raise what it likes
        return record.failure is not None and record.failure.kind == type(error).__name__
    if record.failure is not None or encoded.value != record.value:
        return False
    return (
        list(encoded.arrays) == record.dense
        and decoded.changed_buffers() == record.changed
        and all(_close(live, got) for live, got in zip(encoded.tensors, record.arrays, strict=True))
        and all(
            _same_gradients(encoded.tensors, called.leaves, backward)
            for backward in record.backwards
        )
    )


def _same_gradients(
    outputs: Sequence[object], leaves: Sequence[Array], record: BackwardRecord
) -> bool:
    if record.gradients is None:
        return False
    gradients: Sequence[torch.Tensor | None] = torch.autograd.grad(
        [_tensor(outputs[index]) for index in record.outputs],
        [_tensor(leaves[index]) for index in record.inputs],
        record.cotangents,
        retain_graph=True,
        allow_unused=True,
    )
    return all(
        (mine is None) == (theirs is None) and (mine is None or _close(mine, theirs))
        for mine, theirs in zip(gradients, record.gradients, strict=True)
    )


def _tensor(value: object) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise TypeError("a backward pass needs tensors")
    return value


def _close(mine: object, theirs: object) -> bool:
    a, b = _plain(mine), _plain(theirs)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    rtol = _RTOL.get(a.dtype.name, _LOW_PRECISION_RTOL)
    atol = _ATOL.get(a.dtype.name, _LOW_PRECISION_ATOL)
    return bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def _plain(value: object) -> np.ndarray:
    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    return (value.float() if value.dtype is torch.bfloat16 else value).numpy(force=True)
