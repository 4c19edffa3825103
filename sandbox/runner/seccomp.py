"""Turns a `Policy` into a filter program of the kernel (classic BPF) and puts it on a process.

A filter is a list of 8-byte instructions that reads the call's number, its architecture and its
arguments, and returns what shall happen. Numbers are tested as ranges, since most allowed numbers
are neighbours; the kernel remembers the outcome per number, so the order costs nothing.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator

from sandbox.runner import syscalls
from sandbox.syscall_policy import MISSING_SYSCALLS, Policy, Rule, box_policy, student_policy

ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

# BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|BPF_J..|BPF_K, BPF_RET|BPF_K
_LOAD, _AND, _EQUAL, _GREATER, _GREATER_OR_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x25, 0x35, 0x06
_INSTRUCTION = struct.Struct("=HBBI")  # code, jump if true, jump if false, operand

# Offsets in `struct seccomp_data`; arguments are 64 bits wide, little-endian.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16


def refuse(code: int) -> int:
    """The filter's answer that makes a call fail with an error number."""
    return _ERRNO | code


def assemble(policy: Policy) -> bytes:
    """The program that enforces `policy`."""
    return b"".join(
        [
            _op(_LOAD, _ARCHITECTURE),
            _op(_EQUAL, ARCH_X86_64, if_true=1),
            _op(_RETURN, KILL_PROCESS),
            _op(_LOAD, _NUMBER),
            *_answer_range(X32_BIT, (1 << 32) - 1, refuse(errno.EPERM)),
            *_answer_numbers(policy.allowed.values(), ALLOW),
            *_answer_numbers(MISSING_SYSCALLS.values(), refuse(errno.ENOSYS)),
            *(part for number, rule in policy.numbered_rules() for part in _rule(number, rule)),
            _op(_RETURN, refuse(errno.EPERM)),
        ]
    )


def confine_box() -> None:
    """Put the filter of the outer ring on this process and all it will start; not to be undone."""
    syscalls.set_filter(assemble(box_policy()))


def confine_student(own_pid: int) -> None:
    """Put the filter of the inner ring on this process, whose id it must be told."""
    syscalls.set_filter(assemble(student_policy(own_pid)))


def ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The numbers as (first, last) of each unbroken run, ascending."""
    run: list[int] = []
    for number in sorted(numbers):
        if run and number != run[-1] + 1:
            yield run[0], run[-1]
            run = []
        run.append(number)
    if run:
        yield run[0], run[-1]


def _op(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return _INSTRUCTION.pack(code, if_true, if_false, operand)


def _answer_numbers(numbers: Iterable[int], answer: int) -> Iterator[bytes]:
    for first, last in ranges(numbers):
        yield from _answer_range(first, last, answer)


def _answer_range(first: int, last: int, answer: int) -> Iterator[bytes]:
    yield _op(_GREATER_OR_EQUAL, first, if_false=2)
    yield _op(_GREATER, last, if_true=1)
    yield _op(_RETURN, answer)


def _rule(number: int, rule: Rule) -> Iterator[bytes]:
    """Always answers for its number; for others it leaves the number loaded and goes on."""
    tests = len(rule.values)
    yield _op(_EQUAL, number, if_false=tests + 4)
    yield _op(_LOAD, _ARGUMENTS + 8 * rule.argument)
    yield _op(_AND, rule.mask)
    for index, value in enumerate(rule.values):
        yield _op(_EQUAL, value, if_true=tests - index)
    yield _op(_RETURN, refuse(errno.EPERM))
    yield _op(_RETURN, ALLOW)
