"""Proofs as JUnit's XML, which every CI shows: a suite for each problem, a case for each claim."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from xml.etree import ElementTree as ET

from judge.proof.outcomes import Case, Finding, Proof
from judge.proof.reports.figures import Counts, findings_of, kill_rate, named_mutants, state
from sandbox.text import one_line, printable


def junit_xml(proofs: Sequence[Proof]) -> bytes:
    """The document, in UTF-8. Advice is a case's output; it fails nothing."""
    counts = Counts.of([case for proof in proofs for case in proof.cases])
    root = ET.Element("testsuites", _totals("proofs", counts, sum(each.wall_s for each in proofs)))
    for proof in proofs:
        _add_suite(root, proof)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_suite(root: ET.Element, proof: Proof) -> None:
    counts = Counts.of(proof.cases)
    suite = ET.SubElement(root, "testsuite", _totals(proof.problem, counts, proof.wall_s))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(proof):
        ET.SubElement(properties, "property", {"name": name, "value": one_line(value)})
    for case in proof.cases:
        _add_case(suite, proof.problem, case)


def _totals(name: str, counts: Counts, wall_s: float) -> dict[str, str]:
    return {
        "name": one_line(name),
        "tests": str(counts.held + counts.failed + counts.skipped),
        "failures": str(counts.failed),
        "errors": "0",
        "skipped": str(counts.skipped),
        "time": f"{wall_s:.3f}",
    }


def _properties(proof: Proof) -> list[tuple[str, str]]:
    rate = "" if proof.kill_rate is None else f"{proof.kill_rate:.4f}"
    return [
        ("state", state(proof)),
        ("version", proof.version),
        ("seeds", str(proof.seeds)),
        ("kill_rate", rate),
        ("made_mutants", kill_rate(proof)),
        ("named_mutants", named_mutants(proof)),
        ("sandboxes", ", ".join(proof.sandboxes)),
    ]


def _add_case(suite: ET.Element, problem: str, case: Case) -> None:
    attributes = {
        "classname": one_line(f"{problem}.{case.kind.value}"),
        "name": one_line(case.id if case.title == case.id else f"{case.id}: {case.title}"),
        "time": f"{case.wall_ms / 1000:.3f}",
    }
    faults = list(findings_of(case, advice=False))
    for finding in chain(faults, findings_of(case, advice=True)):
        # The first place names the case's own, for what jumps there.
        attributes.setdefault("file", one_line(finding.file))
        attributes.setdefault("line", str(finding.line))
    element = ET.SubElement(suite, "testcase", attributes)
    if case.skipped:
        ET.SubElement(element, "skipped", {"message": one_line(case.skipped)})
    elif faults:
        message = one_line(faults[0].message)
        failure = ET.SubElement(element, "failure", {"message": message, "type": case.kind.value})
        failure.text = _text(faults)
    advice = list(findings_of(case, advice=True))
    if advice:
        ET.SubElement(element, "system-out").text = _text(advice)


def _text(findings: Sequence[Finding]) -> str:
    """Findings as a terminal shows them, of characters that XML can hold."""
    return printable("\n".join(map(str, findings)))
