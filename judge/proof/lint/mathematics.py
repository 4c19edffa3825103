"""Formulas: each is one to the page, and can be drawn.

They are parsed by latex2mathml, which is optional (`judge[authors]`), and close to KaTeX, which
draws them on the page. What it lets pass and KaTeX does not is looked for here: braces without
partners, and environments, alignment signs and commands that do not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape

from judge.proof.lint.document import Document, Piece
from judge.proof.lint.paper import Paper
from judge.proof.outcomes import Finding

Parse = Callable[[str], str]
_ENVIRONMENTS = {
    "align", "aligned", "alignat", "alignedat", "array", "Bmatrix", "bmatrix", "cases", "CD",
    "darray", "dcases", "drcases", "equation", "gather", "gathered", "matrix", "pmatrix", "rcases",
    "smallmatrix", "split", "subarray", "Vmatrix", "vmatrix",
}  # fmt: skip
_PROBLEMS = {
    "DenominatorNotFoundError": "a fraction has no denominator",
    "DoubleSubscriptsError": "two subscripts follow each other",
    "DoubleSuperscriptsError": "two superscripts follow each other",
    "ExtraLeftOrMissingRightError": r"\left and \right do not come in pairs",
    "LimitsMustFollowMathOperatorError": r"\limits does not follow an operator",
    "MissingEndError": r"a \begin has no \end",
    "MissingSuperScriptOrSubscriptError": "nothing follows a _ or ^",
    "NoAvailableTokensError": "the last command lacks what it is applied to",
    "NumeratorNotFoundError": "a fraction has no numerator",
}
# What KaTeX draws although the parser does not know it.
_ALSO_DRAWN = frozenset(
    re.findall(
        r"\\[A-Za-z]+",
        r"""
        \AA \Alpha \Beta \Bra \Braket \Chi \Colonapprox \Colonsim \Complex \Dagger \Darr
        \Epsilon \Eqcolon \Eqqcolon \Eta \Harr \Iota \Ket \Larr \Lrarr \Mu \N \Nu \Omicron
        \Overrightarrow \P \R \Rarr \Reals \Rho \Set \Tau \Uarr \Z \Zeta \aa \alef \alefsym
        \allowbreak \angl \angln \approxcolon \approxcoloncolon \arg \bull \clubs \cnums
        \colonapprox \coloncolon \coloncolonapprox \coloncolonequals \coloncolonminus
        \coloncolonsim \colonequals \colonminus \colonsim \copyright \dArr \dag \darr \dblcolon
        \ddag \diamonds \doublecap \doublecup \empty \enskip \equalscolon \equalscoloncolon
        \exist \hArr \harr \hearts \image \infin \isin \lArr \larr \lq \lrArr \lrarr \minuscolon
        \minuscoloncolon \natnums \newline \nleqq \nobreak \nonumber \notag \nsupseteqq
        \ordinarycolon \overgroup \overleftharpoon \overlinesegment \overrightharpoon \phase
        \plusmn \rArr \rarr \ratio \real \reals \reflectbox \relax \rq \sdot \sect \set
        \shortparallel \simcolon \simcoloncolon \spades \sub \sube \supe \textcircled
        \textcopyright \textregistered \thetasym \uArr \uarr \undergroup \underlinesegment
        \varvdots \vcentcolon \weierp \xleftequilibrium \xrightequilibrium \xrightleftarrows
        """,
    )
)
_COMMAND_LEFT = re.compile(r"<m\w+[^>]*>\s*(\\[A-Za-z]+)")


class NoParser(Exception):
    """The parser of formulas is not installed; the message says how to get it."""


def mathematics(paper: Paper) -> Iterator[Finding]:
    """Every formula of statement, editorial and examples; raises `NoParser`."""
    parse = _load_parser()
    for document in paper.documents:
        yield from _dollars(paper, document)
        for formula in document.all("formula"):
            problem = _problem_of(formula, parse)
            if problem:
                yield paper.finding(
                    document.file, formula.line,
                    f"the formula {_short(formula.text)} cannot be drawn: {problem}",
                    "correct the LaTeX; the page draws it with KaTeX",
                )  # fmt: skip


def _load_parser() -> Parse:
    """The parser; imported on demand, since it is optional."""
    try:
        from latex2mathml.converter import convert  # noqa: PLC0415 - see above
    except ImportError:
        raise NoParser(
            "formulas are parsed by an optional part: pip install 'judge[authors]'"
        ) from None
    return convert


def _dollars(paper: Paper, document: Document) -> Iterator[Finding]:
    for piece in document.all("text"):
        if "$" in piece.text:
            at = piece.text.index("$")
            yield paper.finding(
                document.file, piece.line,
                f"a dollar sign begins no formula: {_short(piece.text[at:])}",
                "close the formula in the same paragraph, without a digit after it; $$ stands on "
                r"lines of its own; write \$ for money",
            )  # fmt: skip


def _problem_of(formula: Piece, parse: Parse) -> str:
    """What is wrong with a formula, or ""."""
    tex = formula.text
    unknown = sorted(set(re.findall(r"\\begin\{(\w+)\*?\}", tex)) - _ENVIRONMENTS)
    if not tex.strip():
        return "it is empty"
    if unknown:
        return f"there is no environment `{unknown[0]}`"
    if not _is_balanced(tex):
        return "its braces do not come in pairs"
    if "&" in tex.replace(r"\&", "") and r"\begin" not in tex:
        return "there is a & outside of a matrix or an alignment"
    try:
        drawn = parse(tex)
    except Exception as error:  # noqa: BLE001 - its errors have no base class, and it raises others
        return _PROBLEMS.get(type(error).__name__, "it is not complete")
    left = (name for name in _COMMAND_LEFT.findall(unescape(drawn)) if name not in _ALSO_DRAWN)
    return next((f"there is no command {name}" for name in left), "")


def _is_balanced(tex: str) -> bool:
    depth = 0
    for sign in re.findall(r"\\.|[{}]", tex, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return f"`{line if len(line) <= 60 else f'{line[:57]}...'}`"
