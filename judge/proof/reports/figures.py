"""The numbers of a proof in words, the same in every report, and which of them deserve a look."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.proof.outcomes import Case, CaseKind, CheckTime, Finding, MadeMutant, Proof
from sandbox.text import one_line

MAX_FINDINGS = 20  # of one case: of survivors there may be hundreds
SLOW_MS = 250.0  # of one check on the reference, as a rule: then a student waits for it
# Singular and plural, by what a case claims.
_NOUNS = {
    CaseKind.FOLDER: ("folder", "folder"),
    CaseKind.REFERENCE: ("reference", "reference cases"),
    CaseKind.ALTERNATIVE: ("other right way", "other right ways"),
    CaseKind.STARTER: ("starter", "starter cases"),
    CaseKind.NULL: ("null answer", "null answers"),
    CaseKind.MUTANT: ("named mutant", "named mutants"),
    CaseKind.REJECTED: ("kept wrong solution", "kept wrong solutions"),
    CaseKind.SUITE: ("suite of tests", "suites of tests"),
    CaseKind.GENERATED: ("made mutants", "made mutants"),
    CaseKind.HEADROOM: ("headroom", "headroom cases"),
    CaseKind.STABILITY: ("stability case", "stability cases"),
    CaseKind.TIME: ("time limit", "time limits"),
    CaseKind.LINT: ("text", "texts"),
}


@dataclass(frozen=True)
class Counts:
    """How many cases of a proof hold, do not, and could not be tried."""

    held: int
    failed: int
    skipped: int

    @classmethod
    def of(cls, cases: Sequence[Case]) -> Counts:
        """Count them."""
        held, failed = sum(case.holds for case in cases), sum(case.failed for case in cases)
        return cls(held, failed, len(cases) - held - failed)

    def __str__(self) -> str:
        parts = [f"{self.held} held"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        return ", ".join(parts)


def state(proof: Proof) -> str:
    """Proven or not, and whether there is advice."""
    if not proof.proven:
        return "not proven"
    return "proven, with advice" if any(proof.findings) else "proven"


@dataclass(frozen=True)
class Kills:
    """How many of the made mutants that count are killed, and how many do not count."""

    killed: int
    counted: int
    equivalent: int

    @classmethod
    def of(cls, proof: Proof) -> Kills:
        """Count them."""
        equivalent = sum(bool(mutant.equivalent) for mutant in proof.made)
        counted = len(proof.made) - equivalent
        return cls(counted - len(proof.survivors), counted, equivalent)

    @property
    def rate(self) -> str:
        """Of those that count, of which there must be one: "97.1 %"."""
        return percent(self.killed, self.counted)

    def __str__(self) -> str:
        aside = f", {self.equivalent} equivalent" if self.equivalent else ""
        return f"{self.killed} of {self.counted}{aside}"


def kill_rate(proof: Proof) -> str:
    """How many of the made mutants are killed: "97.1 % (104 of 107, 3 equivalent)"."""
    kills = Kills.of(proof)
    if kills.counted:
        return f"{kills.rate} ({kills})"
    return f"none counts ({kills.equivalent} equivalent)" if proof.made else "none made"


def percent(part: int, whole: int) -> str:
    """Rounded down to a tenth, so that what is not enough never looks like it."""
    tenths = 1000 * part // whole
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def named_mutants(proof: Proof) -> str:
    """How many of the named mutants behave as their author says: "12 of 12"."""
    cases = [case for case in proof.cases if case.kind is CaseKind.MUTANT]
    return f"{sum(case.holds for case in cases)} of {len(cases)}" if cases else "none"


def held_in_words(proof: Proof) -> str:
    """What holds, by kind: "reference, 3 other right ways, 12 named mutants"."""
    held = Counter(case.kind for case in proof.cases if case.holds)
    return ", ".join(noun(kind, held[kind]) for kind in CaseKind if held[kind])


def noun(kind: CaseKind, count: int) -> str:
    """So many cases of a kind, in words; of a single one that needs no number, without it."""
    one, many = _NOUNS[kind]
    return one if count == 1 else f"{count} {many}"


def kind_title(kind: CaseKind) -> str:
    """A kind as a heading."""
    return _NOUNS[kind][1].removesuffix(" cases").capitalize()


def name(case: Case) -> str:
    """Kind, id and title of a case on one line, without what its title only repeats."""
    words = f"{case.kind.value} {case.id}" if case.id != case.kind.value else case.id
    title = case.title if case.title not in (case.id, words) else ""
    return one_line(f"{words}: {title}" if title else words)


def check_name(check: str) -> str:
    """A check without its file, which its tier stands for: "test_heads[3]"."""
    return check.partition("::")[2] or check


def findings_of(case: Case, *, advice: bool) -> Iterator[Finding]:
    """The findings of a case that are advice, or those that are not."""
    return (finding for finding in case.findings if finding.advice is advice)


# --- what deserves a look -------------------------------------------------------------------------


def slow(time: CheckTime) -> bool:
    """Whether a student waits for a check."""
    return time.median_ms > SLOW_MS


def killers(made: Sequence[MadeMutant]) -> list[tuple[str, int]]:
    """What killed made mutants, and how many each, the most first."""
    return Counter(mutant.killed_by for mutant in made if mutant.killed_by).most_common()


# --- numbers --------------------------------------------------------------------------------------


def share(value: float) -> str:
    """A share of a limit: as a percentage below it, as a multiple above."""
    if not math.isfinite(value):
        return "without bound" if value > 0 else "not a number"
    if value == 0:
        return "0 %"
    if value < 1e-4:
        return "< 0.01 %"
    if value <= 1:
        return f"{100 * value:.2g} %" if value < 0.995 else f"{100 * value:.4g} %"
    return f"{value:.3g} times" if value < 1000 else f"{value:,.0f} times"


def milliseconds(value: float) -> str:
    """A time: "0.4 ms", "12 ms", "1.2 s"."""
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def seconds(value: float) -> str:
    """A time: "0.4 s", "12 s", "2 min 5 s"."""
    if value >= 60:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest} s"
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"
