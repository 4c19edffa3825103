"""Hints: sentences that help, and leave the last step to the student."""

from __future__ import annotations

from collections.abc import Iterator

from judge.inspection import MUTANTS
from judge.proof.lint.leaks import edited_lines, secret_lines, told
from judge.proof.lint.paper import Paper, ends_of_sentences
from judge.proof.outcomes import Finding


def hints(paper: Paper) -> Iterator[Finding]:
    """Of the problem and of its named mutants."""
    yield from ends_of_sentences(paper, paper.manifest_sentences)
    secrets, reference = secret_lines(paper), paper.problem.reference.decode()
    for index, mutant in enumerate(paper.problem.mutants):
        sentences = paper.mutant_sentences(index)
        yield from ends_of_sentences(paper, sentences)
        for sentence in sentences:
            yield from told(paper, sentence, [*edited_lines(mutant, reference), *secrets])
        if mutant.pitfall and not mutant.hint.strip():
            yield paper.finding(
                MUTANTS, paper.mutant_line(index, "id"), f"the pitfall {mutant.id} has no hint",
                "write `hint`: what a student with exactly this mistake is told",
            )  # fmt: skip
