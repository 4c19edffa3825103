"""The mutants that a machine makes of a reference, and which of them its author calls equivalent.

Theory of operation
-------------------
Operators look at the reference and yield edits of its text: those of cosmic-ray for what all
programs have in common (arithmetic, comparisons, numbers, truth values, loops), and our own for
tensors (`judge.proof.operators`). cosmic-ray parses a source anew for each mutant; here its
operators change copies of single nodes of one tree instead, which takes a hundredth of the time.

Of all edits those remain that compile and mean something else than the reference and than each
other, compared as syntax trees. Nobody reads thousands of mutants: of more than `MOST`, lines and
operators take turns until so many are chosen.
"""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from judge.inspection import MUTANTS, stripped_lines
from judge.manifest import Equivalent, parse_file
from judge.problem import Problem
from judge.proof.edits import Edit, Operator, Source
from judge.proof.operators import axis_spans, own_edits

MOST = 250

ARITHMETIC = Operator("arith", "another arithmetic operator")
COMPARISON = Operator("compare", "another comparison")
UNARY = Operator("unary", "a sign, `~` or `not` dropped")
NUMBER = Operator("number", "a number off by one")
BOOLEAN = Operator("bool", "`True` and `False` exchanged")
LOGIC = Operator("logic", "`and` and `or` exchanged")
LOOP = Operator("loop", "a loop that is never entered")
JUMP = Operator("jump", "`break` and `continue` exchanged")

_BINARY = (
    "Add_Sub", "Sub_Add", "Mul_Div", "Mul_Add", "Div_Mul", "FloorDiv_Mul", "Mod_FloorDiv",
    "Pow_Mul", "RShift_LShift", "LShift_RShift", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitOr",
)  # fmt: skip
_COMPARED = (
    "Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt",
    "GtE_Lt", "Is_IsNot", "IsNot_Is",
)  # fmt: skip
# Which of cosmic-ray's operators say something about checks, and are not made better by our own.
FROM_COSMIC_RAY: dict[str, Operator] = {
    **{f"ReplaceBinaryOperator_{name}": ARITHMETIC for name in _BINARY},
    **{f"ReplaceComparisonOperator_{name}": COMPARISON for name in _COMPARED},
    **{f"ReplaceUnaryOperator_Delete_{name}": UNARY for name in ("USub", "Invert", "Not")},
    "NumberReplacer": NUMBER,
    "ReplaceTrueWithFalse": BOOLEAN,
    "ReplaceFalseWithTrue": BOOLEAN,
    "ReplaceAndWithOr": LOGIC,
    "ReplaceOrWithAnd": LOGIC,
    "ZeroIterationForLoop": LOOP,
    "ReplaceBreakWithContinue": JUMP,
    "ReplaceContinueWithBreak": JUMP,
}


class MutationUnavailable(Exception):
    """What makes mutants is not installed; the message says how to install it."""


@dataclass(frozen=True)
class Generated:
    """A mutant of a reference.

    `id` is made of line, operator and a number, so that a change of another line leaves it as it
    is while lines keep their numbers. `diff` is unified, without context and names of files;
    `before` and `after` are the changed lines alone, each stripped.
    """

    id: str
    operator: str
    line: int
    source: bytes
    diff: str
    before: str
    after: str


@dataclass(frozen=True)
class UnusedEquivalent:
    """An `[[equivalent]]` entry that no mutant answers to, and where it stands."""

    entry: Equivalent
    file: Path
    line: int


# --- making them ----------------------------------------------------------------------------------


def generate(problem: Problem) -> list[Generated]:
    """All mutants of the reference, `MOST` of them at most, from its first line to its last.

    Raises `MutationUnavailable` where cosmic-ray is not installed.
    """
    return generate_from(problem.reference)


def generate_from(reference: bytes) -> list[Generated]:
    """All mutants of a source, like `generate`."""
    source = Source(reference.decode())
    with warnings.catch_warnings(action="ignore", category=Warning):
        edits = [*_cosmic_edits(source), *own_edits(source)]
        edits.sort(key=lambda edit: (edit.start, edit.end, edit.operator.key, edit.text))
        return _chosen(_named(source, _distinct(source, edits)))


def _distinct(source: Source, edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits that compile, and make something new."""
    seen = set()
    for edit in edits:
        unchanged = Edit(edit.start, edit.end, source.text[edit.start : edit.end], edit.operator)
        try:
            made = source.parse_edited(edit)
        except SyntaxError:
            continue
        if made not in seen and made != source.parse_edited(unchanged):
            seen.add(made)
            yield edit


def _named(source: Source, edits: Iterator[Edit]) -> Iterator[tuple[Operator, Generated]]:
    numbers: dict[tuple[int, str], int] = {}
    before = source.text.splitlines()
    for edit in edits:
        mutated = edit.apply(source.text)
        after = mutated.splitlines()
        line, old, new = _changed_lines(before, after)
        key = line, edit.operator.key
        numbers[key] = numbers.get(key, 0) + 1
        yield (
            edit.operator,
            Generated(
                id=f"{line}-{edit.operator.key}-{numbers[key]}",
                operator=edit.operator.words,
                line=line,
                source=mutated.encode(),
                diff=_diff(line, old, new),
                before=stripped_lines("\n".join(old)),
                after=stripped_lines("\n".join(new)),
            ),
        )


def _changed_lines(before: list[str], after: list[str]) -> tuple[int, list[str], list[str]]:
    """Number of the first line that differs, and all from there to the last: before, after."""
    first, end = 0, 0
    shorter = min(len(before), len(after))
    while first < shorter and before[first] == after[first]:
        first += 1
    while end < shorter - first and before[-1 - end] == after[-1 - end]:
        end += 1
    return first + 1, before[first : len(before) - end], after[first : len(after) - end]


def _diff(line: int, old: list[str], new: list[str]) -> str:
    where = f"@@ -{_range(line, old)} +{_range(line, new)} @@"
    return "\n".join([where, *(f"-{each}" for each in old), *(f"+{each}" for each in new)])


def _range(line: int, lines: list[str]) -> str:
    return f"{line}" if len(lines) == 1 else f"{line},{len(lines)}"


def _chosen(named: Iterator[tuple[Operator, Generated]]) -> list[Generated]:
    """At most `MOST`: from each line and operator one, then from each a second, and so on."""
    found = sorted(named, key=lambda pair: (pair[1].line, pair[0].key))
    groups = [list(group) for _, group in groupby(found, lambda pair: (pair[1].line, pair[0].key))]
    chosen: list[Generated] = []
    for turn in range(max(map(len, groups), default=0)):
        round_ = [group[turn][1] for group in groups if turn < len(group)]
        chosen += _evenly(round_, MOST - len(chosen))
    return sorted(chosen, key=lambda made: made.line)


def _evenly(made: list[Generated], most: int) -> list[Generated]:
    if len(made) <= most:
        return made
    return [made[index * len(made) // most] for index in range(most)]


# --- with cosmic-ray ------------------------------------------------------------------------------


def _cosmic_edits(source: Source) -> Iterator[Edit]:
    try:
        # Optional, and slow to import: only who makes mutants needs it.
        from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
        from cosmic_ray.plugins import get_operator  # noqa: PLC0415
    except ImportError:
        message = "mutants are made with cosmic-ray: pip install 'judge[authors]'"
        raise MutationUnavailable(message) from None
    operators = [(get_operator(f"core/{name}")(), made) for name, made in FROM_COSMIC_RAY.items()]
    left_alone = [*source.closed_spans, *axis_spans(source)]
    for node in ast_nodes(get_ast(source.text)):
        start, end = source.offset(*node.start_pos), source.offset(*node.end_pos)
        if any(first <= start and end <= last for first, last in left_alone):
            continue
        for operator, made in operators:
            for index, _ in enumerate(operator.mutation_positions(node)):
                # The copy keeps its parent, which operators look at, without copying all of it.
                twin = copy.deepcopy(node, {id(node.parent): node.parent})
                text = operator.mutate(twin, index).get_code(include_prefix=False).lstrip(" ")
                yield from _narrowed(source, Edit(start, end, text, made), left_alone)


def _narrowed(source: Source, edit: Edit, left_alone: Sequence[tuple[int, int]]) -> Iterator[Edit]:
    """`edit` without what it leaves as it is; none where that is inside of what is left alone."""
    old, new = source.text[edit.start : edit.end], edit.text
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    start, end = edit.start + head, edit.end - tail
    if not any(first <= start and end <= last for first, last in left_alone):
        yield Edit(start, end, new[head : len(new) - tail], edit.operator)


# --- equivalent ones ------------------------------------------------------------------------------


def equivalence(generated: Generated, problem: Problem) -> str:
    """The author's reason why no check can tell this mutant from the reference, or ""."""
    found = (entry.reason for entry in problem.equivalent if _answers(generated, entry))
    return next(found, "")


def unused_equivalents(problem: Problem, generated: Sequence[Generated]) -> list[UnusedEquivalent]:
    """The `[[equivalent]]` entries that none of `generated` answers to, in their order."""
    source = parse_file(problem.folder, problem.contents, MUTANTS)
    return [
        UnusedEquivalent(
            entry, problem.folder / MUTANTS, source.line_of(("equivalent", index, "line"))
        )
        for index, entry in enumerate(problem.equivalent)
        if not any(_answers(made, entry) for made in generated)
    ]


def equivalent_entry(generated: Generated) -> str:
    """The `[[equivalent]]` entry for a mutant, for an author to paste and to give its reason."""
    return (
        "[[equivalent]]\n"
        f"line = {_toml_text(generated.before)}\n"
        f"becomes = {_toml_text(generated.after)}\n"
        'reason = ""\n'
    )


def _answers(generated: Generated, entry: Equivalent) -> bool:
    return (generated.before, generated.after) == (
        stripped_lines(entry.line),
        stripped_lines(entry.becomes),
    )


def _toml_text(text: str) -> str:
    """As a literal where that is possible, as it is easier to read."""
    if "'''" in text or text.endswith("'"):
        return json.dumps(text, ensure_ascii=False)
    if "\n" in text:
        return f"'''\n{text}\n'''"
    return f"'{text}'" if "'" not in text else f"'''{text}'''"
