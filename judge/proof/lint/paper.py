"""What the rules look at: a problem's texts, and where each of them stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from judge.grader.messages import CheckCard
from judge.inspection import EDITORIAL, MANIFEST, MUTANTS, STATEMENT
from judge.problem import Problem
from judge.proof.lint.document import Document
from judge.proof.outcomes import Finding
from judge.toml_source import Location, TomlSource

_BEGINNING = 24  # characters that a text is found again by


@dataclass(frozen=True)
class Sentence:
    """A text of TOML or of a check that students read; `called` says which one it is."""

    file: str
    line: int
    called: str
    text: str


@dataclass(frozen=True)
class Paper:
    """A problem and what is known of its checks."""

    problem: Problem
    checks: Sequence[CheckCard]

    def finding(
        self, file: str, line: int, message: str, remedy: str, *, advice: bool = False
    ) -> Finding:
        """A finding in the file of that name in the folder."""
        path = str(self.problem.folder / file)
        return Finding(file=path, line=line, message=message, remedy=remedy, advice=advice)

    def text(self, file: str) -> str:
        """A file of the folder; empty when there is none."""
        return self.problem.contents.get(file, b"").decode(errors="replace")

    @cached_property
    def statement(self) -> Document:
        """The statement."""
        return Document.parse(STATEMENT, self.text(STATEMENT))

    @cached_property
    def editorial(self) -> Document | None:
        """The editorial, if there is one."""
        text = self.text(EDITORIAL)
        return Document.parse(EDITORIAL, text) if text.strip() else None

    @cached_property
    def documents(self) -> list[Document]:
        """All that is Markdown: statement, editorial, and the reasoning of examples."""
        found = [self.statement, *([self.editorial] if self.editorial else [])]
        for index, example in enumerate(self.problem.manifest.examples):
            line = self.manifest_text_line(("examples", index, "reasoning"))
            found.append(Document.parse(MANIFEST, example.reasoning, line))
        return found

    @cached_property
    def check_sentences(self) -> list[Sentence]:
        """Title and reason of every check, at its function."""
        return [
            Sentence(self.check_file(card), self.check_line(card), f"{what} of {card.id}", text)
            for card in self.checks
            for what, text in (("the title", card.title), ("`why`", card.why))
        ]

    @cached_property
    def manifest_sentences(self) -> list[Sentence]:
        """Hints, and what is said of the problem, its tiers and what stays of it."""
        manifest = self.problem.manifest
        found: list[tuple[Location, str, str]] = [(("summary",), "the summary", manifest.summary)]
        found += [
            (("hints", index), f"hint {index + 1}", hint)
            for index, hint in enumerate(manifest.hints)
        ]
        found += [
            (("tiers", index, "about"), f"`about` of tier {tier.id}", tier.about)
            for index, tier in enumerate(manifest.tiers)
        ]
        found += [
            (("takeaways", index, "text"), f"takeaway {index + 1}", takeaway.text)
            for index, takeaway in enumerate(manifest.takeaways)
        ]
        return [
            Sentence(MANIFEST, self._line_of_text(self._manifest, location, text), called, text)
            for location, called, text in found
        ]

    def mutant_sentences(self, index: int) -> list[Sentence]:
        """Symptom and hint of a named mutant, as far as they are written."""
        mutant = self.problem.mutants[index]
        return [
            Sentence(MUTANTS, self.mutant_line(index, key), f"the {key} of {mutant.id}", text)
            for key, text in (("symptom", mutant.symptom), ("hint", mutant.hint))
            if text
        ]

    def manifest_line(self, location: Location) -> int:
        """The line of `problem.toml` that says what is at `location`."""
        return self._manifest.line_of(location)

    def manifest_text_line(self, location: Location) -> int:
        """The line of `problem.toml` on which the text at `location` itself begins."""
        line = self.manifest_line(location)
        opens = self.text(MANIFEST).splitlines()[line - 1].rstrip().endswith(('"""', "'''"))
        return line + 1 if opens else line

    def source_line(self, index: int) -> int:
        """The line of one of the sources."""
        text = self.problem.manifest.sources[index]
        return self._line_of_text(self._manifest, ("sources", index), text)

    def mutant_line(self, index: int, key: str) -> int:
        """The line of a key of a named mutant."""
        return self._mutants.line_of(("mutants", index, key))

    def check_file(self, card: CheckCard) -> str:
        """Name of the file a check is in."""
        stem = card.id.partition("::")[0]
        files = [tier.checks for tier in self.problem.tiers]
        return next((file for file in files if PurePosixPath(file).stem == stem), files[0])

    def check_line(self, card: CheckCard) -> int:
        """The line on which the function of a check begins."""
        name = re.split(r"::|\[", card.id)[1]
        return self._check_lines.get((self.check_file(card), name), 1)

    @cached_property
    def _check_lines(self) -> dict[tuple[str, str], int]:
        return {
            (tier.checks, node.name): node.lineno
            for tier in self.problem.tiers
            for node in ast.parse(self.text(tier.checks)).body
            if isinstance(node, ast.FunctionDef)
        }

    @cached_property
    def _manifest(self) -> TomlSource:
        return TomlSource.parse(self.text(MANIFEST))

    @cached_property
    def _mutants(self) -> TomlSource:
        return TomlSource.parse(self.text(MUTANTS))

    @staticmethod
    def _line_of_text(source: TomlSource, location: Location, text: str) -> int:
        """The line of one text among several of a list, which begins before it."""
        first = source.line_of(location)
        beginning = text.strip().replace('"', "").split("\n")[0][:_BEGINNING]
        lines = source.text.splitlines()[first - 1 :]
        plain = (line.replace("\\", "").replace('"', "") for line in lines)
        wanted = beginning.replace("\\", "")
        return next((first + at for at, line in enumerate(plain) if wanted in line), first)


def is_sentence(text: str) -> bool:
    """Whether it ends as sentences do."""
    return text.rstrip().endswith((".", "?", '."', ".)"))


def ends_of_sentences(paper: Paper, sentences: Sequence[Sentence]) -> Iterator[Finding]:
    """Findings about those that are none."""
    for sentence in sentences:
        if not is_sentence(sentence.text):
            yield paper.finding(
                sentence.file, sentence.line,
                f"{sentence.called} is no sentence: it does not end with a full stop",
                "write a whole sentence, with a full stop at its end",
            )  # fmt: skip
