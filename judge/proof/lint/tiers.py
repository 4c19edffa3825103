"""Tiers and checks: each has its words for the student."""

from __future__ import annotations

import re
from collections.abc import Iterator

from judge.inspection import MANIFEST, STATEMENT
from judge.proof.lint.paper import Paper, ends_of_sentences
from judge.proof.outcomes import Finding

HOW = "How it is checked"
LONGEST_SENTENCE = 160


def tiers(paper: Paper) -> Iterator[Finding]:
    """Every tier is in the statement, every check has a title and a reason."""
    yield from _in_the_statement(paper)
    if paper.checks:
        yield from _with_checks(paper)
    yield from ends_of_sentences(paper, [each for each in paper.check_sentences if each.text])
    for sentence in paper.check_sentences:
        problem, remedy = _problem_of(sentence.text)
        if problem:
            message = f"{sentence.called} {problem}"
            yield paper.finding(sentence.file, sentence.line, message, remedy)
    yield from _distinct(paper)


def _in_the_statement(paper: Paper) -> Iterator[Finding]:
    section = paper.statement.section(HOW)
    if section is None:
        yield paper.finding(
            STATEMENT, 1, f"there is no heading `## {HOW}`",
            "write it, and say under it what each tier looks at",
        )  # fmt: skip
        return
    for tier in paper.problem.tiers:
        named = re.search(rf"\b{tier.id}\b", section.text)
        if not named and tier.title.lower() not in section.text.lower():
            yield paper.finding(
                STATEMENT, section.line, f"`## {HOW}` does not name tier {tier.id} ({tier.title})",
                "say there what the tier looks at",
            )  # fmt: skip


def _with_checks(paper: Paper) -> Iterator[Finding]:
    full = {card.tier for card in paper.checks}
    for index, tier in enumerate(paper.problem.tiers):
        if tier.id not in full:
            yield paper.finding(
                MANIFEST, paper.manifest_line(("tiers", index, "checks")),
                f"tier {tier.id} has no check", f"write one in {tier.checks}",
            )  # fmt: skip


def _problem_of(text: str) -> tuple[str, str]:
    """What is wrong with the words of a check, and what to do; both empty when nothing is."""
    if not text.strip():
        return "is empty", "write one sentence for the student"
    if "!" in text:
        return "has an exclamation mark", "say it calmly: it is read when something failed"
    if len(text) > LONGEST_SENTENCE:
        found = f"has {len(text)} characters, more than {LONGEST_SENTENCE}"
        return found, "make it shorter; what is left over may stand in the message of the failure"
    return "", ""


def _distinct(paper: Paper) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for card in paper.checks:
        if card.title in seen:
            yield paper.finding(
                paper.check_file(card), paper.check_line(card),
                f"{card.id} has the title of {seen[card.title]}",
                "say in each title what only this check looks at",
            )  # fmt: skip
        seen.setdefault(card.title, card.id)
