"""Leaks: the reference's code is nowhere a student reads it before the exercise is solved.

Lines of the reference are compared without white space, quotes and comments. Only those count that
are long enough to be the answer to something, and that the student is not given anyway: what the
starter, what is provided and what packages hold is no secret. Neither is a value that does a single
thing, or that is made of nothing the function has: such are names of tools, and conventions.
Editorial and examples may show code.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from judge.inspection import CONTRACT, PROVIDED, REFERENCE, STATEMENT
from judge.manifest import Mutant
from judge.proof.lint.paper import Paper, Sentence
from judge.proof.outcomes import Finding

MIN_LINE = 25  # characters of a line that is worth hiding, without white space
_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare)
_NOT_SAID = (ast.Raise, ast.Assert, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_HIDE = "say what to do in words, or show a part of it: the student is to find this line"


@dataclass(frozen=True)
class SecretLine:
    """A line of the reference: its number, what is there, and the same without white space."""

    line: int
    code: str
    squeezed: str


@dataclass(frozen=True)
class _Squeezed:
    """A text without white space, and the line of each character that is left."""

    text: str
    lines: tuple[int, ...]

    @classmethod
    def of(cls, text: str, first_line: int) -> _Squeezed:
        kept, lines = [], []
        for line, content in enumerate(text.splitlines(), first_line):
            squeezed = squeeze(content)
            kept.append(squeezed)
            lines += [line] * len(squeezed)
        return cls("".join(kept), tuple(lines))


def leaks(paper: Paper) -> Iterator[Finding]:
    """Of the reference in statement, contract, starters, and what is said of tiers and checks."""
    secrets = secret_lines(paper)
    whole = [Sentence(STATEMENT, 1, "the statement", paper.statement.text)]
    whole += [
        Sentence(file, 1, called, _uncommented(paper.text(file)))
        for file, called in [(CONTRACT, "the contract"), *_starters(paper).items()]
    ]
    for sentence in [*whole, *paper.manifest_sentences, *paper.check_sentences]:
        yield from told(paper, sentence, secrets)


def told(paper: Paper, sentence: Sentence, secrets: list[SecretLine]) -> Iterator[Finding]:
    """Findings about the secrets that a text tells, each line of the reference once."""
    text, seen = _Squeezed.of(sentence.text, sentence.line), set[int]()
    for secret in secrets:
        at = text.text.find(secret.squeezed)
        if at >= 0 and secret.line not in seen:
            seen.add(secret.line)
            message = f"{sentence.called} has code of {REFERENCE}:{secret.line}: `{secret.code}`"
            yield paper.finding(sentence.file, text.lines[at], message, _HIDE)


def secret_lines(paper: Paper) -> list[SecretLine]:
    """What is worth hiding of the reference."""
    given = _given(paper)
    return [
        secret
        for function in _functions(ast.parse(paper.problem.reference))
        for secret in _lines_of(function)
        if secret.squeezed not in given
    ]


def edited_lines(mutant: Mutant, reference: str) -> list[SecretLine]:
    """The lines of the reference that a named mutant changes, as far as they say something."""
    first = reference.count("\n", 0, reference.find(mutant.find)) + 1
    kept = {squeeze(line) for line in mutant.replace.splitlines()}
    return [
        SecretLine(line, code.strip(), squeeze(code))
        for line, code in enumerate(mutant.find.splitlines(), first)
        if squeeze(code) not in kept and len(squeeze(code)) >= MIN_LINE
    ]


def squeeze(code: str) -> str:
    """Code of one line or more without what may differ in the same code: spaces, quotes, commas."""
    text = re.sub(r"\s+#\s.*$", "", code, flags=re.MULTILINE)
    text = re.sub(r"[\s\\]+", "", text).replace("'", '"')
    return re.sub(r",(?=[)\]}])", "", text)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _lines_of(function: ast.FunctionDef) -> Iterator[SecretLine]:
    """Statements of a function's body, and the values in them, that are worth hiding."""
    local = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}
    local |= {each.id for each in ast.walk(function) if _is_assigned(each)}
    for node in (each for part in function.body for each in ast.walk(part)):
        if not isinstance(node, ast.stmt) or isinstance(node, _NOT_SAID):
            continue
        parts = [part for part in _values_of(node) if _computes(part, local)]
        parts += [] if hasattr(node, "body") or not _operations(node) else [node]
        for code in (ast.unparse(part) for part in parts):
            if len(squeeze(code)) >= MIN_LINE:
                yield SecretLine(node.lineno, code.splitlines()[0], squeeze(code))


def _values_of(node: ast.stmt) -> Iterator[ast.AST]:
    """What a statement is about: what it assigns, returns, asks, or goes through."""
    parts = (getattr(node, name, None) for name in ("value", "test", "iter"))
    return (part for part in parts if isinstance(part, ast.AST))


def _computes(part: ast.AST, local: set[str]) -> bool:
    """Whether a value does more than one thing, to what the function has."""
    names = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
    return _operations(part) > 1 and bool(names & local)


def _operations(part: ast.AST) -> int:
    return sum(isinstance(node, _OPERATIONS) for node in ast.walk(part))


def _is_assigned(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


# --- what is given ------------------------------------------------------------------------------


def _given(paper: Paper) -> set[str]:
    """Lines a student has: of functions that the starter holds whole, and of what is provided."""
    problem = paper.problem
    mine = [each for file in _starters(paper) for each in _functions(ast.parse(paper.text(file)))]
    reference = {_body(function) for function in _functions(ast.parse(problem.reference))}
    given = [each for each in mine if _body(each) in reference]
    names = [PROVIDED, *(name for name in problem.contents if name.startswith("packages/"))]
    for name in names:
        given += _functions(ast.parse(paper.text(name)))
    return {secret.squeezed for function in given for secret in _lines_of(function)}


def _starters(paper: Paper) -> dict[str, str]:
    """What to call each file that the editor opens with."""
    return {file.starter: "the starter" for file in paper.problem.files}


def _body(function: ast.FunctionDef) -> str:
    """A function's name and what it does, to be compared: without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return f"{function.name}: {[ast.dump(node) for node in body]}"


def _uncommented(source: str) -> str:
    """With comments read as code: what they hide is as easily read."""
    lines = source.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):  # said elsewhere
        return source
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]} {line[column:].lstrip('#')}"
    return "\n".join(lines)
