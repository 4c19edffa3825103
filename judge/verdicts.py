"""The verdicts of the judge, and how those of checks combine into a tier's and a submission's."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """One code per outcome; `words` is the same in words."""

    AC = "AC"
    WA = "WA"
    RE = "RE"
    CE = "CE"
    TLE = "TLE"
    MLE = "MLE"
    OLE = "OLE"
    RV = "RV"
    SK = "SK"
    JE = "JE"

    @property
    def words(self) -> str:
        """The verdict in words, as the page and the terminal print it."""
        return _WORDS[self]

    @property
    def ends_judging(self) -> bool:
        """True when the tiers after this verdict are skipped: a limit of the run was broken."""
        return self in (Verdict.TLE, Verdict.MLE, Verdict.OLE)


_WORDS = {
    Verdict.AC: "Accepted",
    Verdict.WA: "Wrong answer",
    Verdict.RE: "Runtime error",
    Verdict.CE: "Not compiled or imported",
    Verdict.TLE: "Time limit exceeded",
    Verdict.MLE: "Memory limit exceeded",
    Verdict.OLE: "Output limit exceeded",
    Verdict.RV: "Rule violated",
    Verdict.SK: "Not run",
    Verdict.JE: "Judge error",
}


def first_failing(verdicts: Iterable[Verdict]) -> Verdict:
    """The first verdict that is neither AC nor SK; else AC, or SK when nothing at all ran."""
    seen = list(verdicts)
    for verdict in seen:
        if verdict not in (Verdict.AC, Verdict.SK):
            return verdict
    return Verdict.AC if Verdict.AC in seen else Verdict.SK
