"""Links lead somewhere, and sources are named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from judge.inspection import EDITORIAL, MANIFEST
from judge.proof.lint.document import Document
from judge.proof.lint.paper import Paper
from judge.proof.outcomes import Finding

_YEAR_OR_ADDRESS = re.compile(r"\b(1[5-9]|20)\d\d\b|https?://\S+")
_STEP = 2  # level of an editorial's headings that become buttons, which have no name


def links(paper: Paper) -> Iterator[Finding]:
    """Of all Markdown, without a look at the network; and the sources of the problem."""
    for document in paper.documents:
        names = _names(paper, document)
        for link in document.all("link"):
            problem, remedy = _problem_of(link.text, names)
            if problem:
                yield paper.finding(document.file, link.line, problem, remedy)
        for image in document.all("image"):
            yield paper.finding(
                document.file, image.line, f"the page leaves pictures out: {image.text}",
                "say it in words, or have a check record a chart",
            )  # fmt: skip
    yield from _sources(paper)


def _names(paper: Paper, document: Document) -> set[str]:
    """Names of the headings that a document can link to."""
    names = {heading.name for heading in paper.statement.headings}
    if document.file == EDITORIAL:
        names |= {each.name for each in document.headings if each.level != _STEP}
    return names


def _problem_of(address: str, names: set[str]) -> tuple[str, str]:
    """What is wrong with an address, and what to do; both empty when nothing is."""
    if address.startswith("#"):
        if address[1:] in names:
            return "", ""
        known = ", ".join(f"#{name}" for name in sorted(names)) or "none"
        return f"no heading is called {address}", f"link to one of: {known}"
    return _problem_on_the_web(address)


def _problem_on_the_web(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:
        return f"{address} is no address", "correct it"
    if parts.scheme not in ("https", "http"):
        problem = f"{address or 'an empty address'} leads nowhere on the page"
        return problem, "write a whole https:// address, or # and the name of a heading"
    if not re.fullmatch(r"[\w-]+(\.[\w-]+)+", parts.hostname or ""):
        return f"{address} names no site", "write https://, the site and the page"
    if parts.scheme == "http":
        return f"{address} is not encrypted", "write https://"
    return "", ""


def _sources(paper: Paper) -> Iterator[Finding]:
    sources = paper.problem.manifest.sources
    if not any(_YEAR_OR_ADDRESS.search(source) for source in sources):
        line = paper.manifest_line(("sources",)) if sources else 1
        yield paper.finding(
            MANIFEST, line, "no source says where the exercise comes from",
            "write `sources`, with author and year, or with an address",
        )  # fmt: skip
    for index, source in enumerate(sources):
        if len(source.split()) < 3 and not _YEAR_OR_ADDRESS.search(source):
            yield paper.finding(
                MANIFEST, paper.source_line(index), f"nobody finds the source {source!r} by that",
                "name author, title and year, or an address",
            )  # fmt: skip
