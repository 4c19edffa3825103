"""Cases of a proof that come from code rehearsed beside the checks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from judge.grader.messages import CheckCard, Rehearsed, Stand
from judge.inspection import REFERENCE
from judge.manifest import Mutant, Tier
from judge.proof.generated import Generated, equivalence, equivalent_entry, unused_equivalents
from judge.proof.outcomes import (
    KILL_RATE,
    Case,
    CaseKind,
    Finding,
    Headroom,
    KillMatrix,
    KillRow,
    MadeMutant,
)
from judge.proof.places import Place, Places
from judge.results import CheckResult
from judge.tolerances import EXACT, TOLERANCES
from judge.verdicts import Verdict

ROOM = 0.5  # of a comparison's limit: what the reference may use at most
CLOSE = 0.1  # of it: what the reference may use before it is said
A_THOUSANDTH = 1e-3  # what `Stand.SLIGHTLY_OFF` is off by
LATE = "no answer in time"  # what killed a made mutant that no check found wrong before
# What no check lets pass, whatever it looks for: these are wrong in their form, not in values.
_FORMLESS = (Stand.NAN, Stand.EMPTY, Stand.NONE, Stand.EXTRA_AXIS)
_WORDS = {
    Stand.ZEROS: "zeros",
    Stand.ONES: "ones",
    Stand.CONSTANTS: "a constant",
    Stand.NAN: "NaN",
    Stand.INFINITE: "infinity",
    Stand.EMPTY: "an empty array",
    Stand.BROADCASTABLE: "a single zero that would broadcast",
    Stand.RANDOM: "random numbers",
    Stand.PASSED_THROUGH: "its first argument",
    Stand.NONE: "None",
    Stand.EXTRA_AXIS: "the right numbers with an axis too many",
    Stand.SLIGHTLY_OFF: "numbers that are off by a thousandth",
}
# Kinds of checks that look at the numbers a solution returns, and nothing but them.
_OF_NUMBERS = frozenset({"oracle", "golden", "differential"})


def _claiming_tiers(tiers: Sequence[Tier]) -> list[Tier]:
    """The tiers that claim correctness: all that count, but the first, which asks for the form."""
    return [tier for tier in tiers[1:] if not tier.advisory]


# --- answers that take no work ----------------------------------------------------------------


def null_case(places: Places, kinds: Mapping[str, str], stand: Stand, rehearsed: Rehearsed) -> Case:
    """Every tier that claims correctness rejects the answer; `kinds` are those of the checks."""
    words = _WORDS[stand]
    findings = list(_accepting_tiers(places, f"an answer of {words}", rehearsed))
    if rehearsed.refused:
        findings.append(_refusal(places, rehearsed))
    if not findings and stand in _FORMLESS:
        findings += _accepting_checks(places, kinds, words, rehearsed)
    if not findings and stand is Stand.SLIGHTLY_OFF:
        findings += _loose_comparisons(places, kinds, words, rehearsed)
    return Case(
        kind=CaseKind.NULL,
        id=stand.value,
        title=f"An answer of {words} is rejected.",
        findings=findings,
        wall_ms=_wall_ms(rehearsed),
    )


def starter_case(places: Places, name: str, rehearsed: Rehearsed) -> Case:
    """What the editor opens with fails in every tier that claims correctness."""
    return Case(
        kind=CaseKind.STARTER,
        id="tiers",
        title="The starter is rejected by every tier that claims correctness.",
        findings=list(_accepting_tiers(places, name, rehearsed)),
        wall_ms=_wall_ms(rehearsed),
    )


def _accepting_tiers(places: Places, who: str, rehearsed: Rehearsed) -> Iterator[Finding]:
    """Tiers whose checks all pass; none for code that cannot be imported."""
    failing = {check.tier for check in rehearsed.checks if check.error is not None}
    for tier in () if rehearsed.refused else _claiming_tiers(places.problem.tiers):
        if tier.id not in failing:
            yield places.file(tier.checks).finding(
                f"{who} passes every check of {tier.id}",
                "add a check to this file that compares the numbers with what they have to be",
            )


def _accepting_checks(
    places: Places, kinds: Mapping[str, str], words: str, rehearsed: Rehearsed
) -> Iterator[Finding]:
    for check in rehearsed.checks:
        if check.error is None and kinds[check.id] in _OF_NUMBERS:
            yield places.check(check.id).finding(
                f"{check.id} accepts {words}",
                "compare with `assert_close`, which looks at type, shape, dtype and NaN first "
                "and broadcasts nothing",
            )


def _loose_comparisons(
    places: Places, kinds: Mapping[str, str], words: str, rehearsed: Rehearsed
) -> Iterator[Finding]:
    """Comparisons that see the error and let it pass, but for dtypes that are no more exact."""
    for check in rehearsed.checks:
        loose = [
            margin
            for margin in check.margins
            if 0 < margin.share <= 1 and TOLERANCES.get(margin.dtype, EXACT).rtol < A_THOUSANDTH
        ]
        if check.error is None and loose and kinds[check.id] in _OF_NUMBERS:
            yield places.check(check.id).finding(
                f"{check.id} accepts {words}: the limit for {loose[0].what} is "
                f"{1 / loose[0].share:.3g} times that",
                "leave out `rtol` and `atol`, so that the dtype's own are in force, or choose "
                "closer ones",
            )


# --- named mutants ----------------------------------------------------------------------------


def kill_matrix(
    checks: Sequence[CheckCard], mutants: Sequence[Mutant], rehearsed: Sequence[Rehearsed]
) -> KillMatrix:
    """Which of `checks` each named mutant of their tiers fails.

    One that cannot be imported fails all of them.
    """
    ids, tiers = [card.id for card in checks], {card.tier for card in checks}
    return KillMatrix(
        checks=ids,
        rows=[
            KillRow(
                mutant=mutant.id,
                title=mutant.title,
                tier=mutant.tier,
                pitfall=mutant.pitfall,
                failed=ids if each.refused else list(each.failures),
            )
            for mutant, each in zip(mutants, rehearsed, strict=True)
            if mutant.tier in tiers
        ],
    )


def disagreements(
    places: Places,
    mutant: Mutant,
    in_box: Sequence[CheckResult],
    rehearsed: Sequence[Rehearsed],
) -> Iterator[Finding]:
    """What differs when a mutant is run again: beside the checks, and with another seed.

    `in_box` is what the checks came to in a box; the first of `rehearsed` had the same seed, the
    others have other ones.
    """
    place = places.mutant(mutant.id, "id")
    same_seed, *others = rehearsed
    unknown = {check.id for check in in_box if check.verdict is Verdict.SK}
    unknown |= {check.id for check in same_seed.checks if check.late}
    failed = {check.id for check in in_box if check.verdict is not Verdict.AC}
    otherwise = (failed ^ set(same_seed.failures)) - unknown
    if otherwise and not same_seed.refused:
        yield place.finding(
            f"{mutant.id}: {', '.join(sorted(otherwise))} came out otherwise in a box than beside "
            "the checks, with the same seed",
            "whatever is random has to come from `rng`, and no check may leave anything behind",
        )
    expected = None if mutant.tier in places.problem.advisory else mutant.tier
    for other in others:
        first = _first_failing_tier(other)
        if not other.refused and first != expected:
            yield place.finding(
                f"{mutant.id} fails in {mutant.tier} with one seed, and "
                + (f"first in {first} with another" if first else "nowhere with another"),
                f"add a check of {mutant.tier} that notices it whatever is drawn",
            )


def _first_failing_tier(rehearsed: Rehearsed) -> str | None:
    return next((check.tier for check in rehearsed.checks if check.error is not None), None)


# --- made mutants -----------------------------------------------------------------------------


def made_mutants(
    places: Places, mutants: Sequence[Generated], rehearsed: Sequence[Rehearsed]
) -> list[MadeMutant]:
    """What became of each."""
    return [
        MadeMutant(
            id=mutant.id,
            operator=mutant.operator,
            line=mutant.line,
            diff=mutant.diff,
            killed_by=_killed_by(each),
            equivalent=equivalence(mutant, places.problem),
        )
        for mutant, each in zip(mutants, rehearsed, strict=True)
    ]


def _killed_by(rehearsed: Rehearsed) -> str:
    if rehearsed.refused:
        return rehearsed.refused
    killing = next((check for check in rehearsed.checks if check.error is not None), None)
    if killing is None:
        return ""
    return LATE if killing.late else killing.id


def made_case(places: Places, made: Sequence[MadeMutant], mutants: Sequence[Generated]) -> Case:
    """The checks kill enough of what a machine makes of the reference."""
    counted = [each for each in made if not each.equivalent]
    killed = sum(bool(each.killed_by) for each in counted)
    enough = not counted or killed >= KILL_RATE * len(counted)
    by_id = {mutant.id: mutant for mutant in mutants}
    findings = [_survival(places, by_id[each.id], advice=enough) for each in made if each.survived]
    findings += [
        places.file(REFERENCE, each.line).finding(
            f"the change {each.id} is marked equivalent, but {each.killed_by} notices it",
            "remove its [[equivalent]] entry from mutants.toml",
        )
        for each in made
        if each.equivalent and each.killed_by
    ]
    findings += [
        Place(str(unused.file), unused.line).finding(
            f"no change made to the reference is this one: {unused.entry.line!r}",
            "copy the entry from the report anew, or remove it",
            advice=True,
        )
        for unused in unused_equivalents(places.problem, mutants)
    ]
    return Case(
        kind=CaseKind.GENERATED,
        id="kill-rate",
        title=f"{killed} of {len(counted)} changes that a machine made to the reference are "
        f"noticed; {KILL_RATE:.0%} have to be.",
        findings=findings,
    )


def _survival(places: Places, mutant: Generated, *, advice: bool) -> Finding:
    return places.file(REFERENCE, mutant.line).finding(
        f"no check notices the change {mutant.id} ({mutant.operator}):\n{mutant.diff}",
        "add a check that does; where none can, say why in mutants.toml:\n"
        + equivalent_entry(mutant),
        advice=advice,
    )


# --- headroom ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Comparison:
    """One comparison of a check, by what it names."""

    check: str
    what: str
    dtype: str


def headroom(
    references: Sequence[Rehearsed],
    named: Sequence[tuple[str, Rehearsed]],
    machine: Iterable[tuple[str, Rehearsed]] = (),
) -> list[Headroom]:
    """How near right and wrong answers come to each limit; both kinds of mutants are by name."""
    largest: dict[_Comparison, float] = {}
    for place, share in _shares(references):
        largest[place] = max(share, largest.get(place, 0.0))
    nearest: dict[_Comparison, tuple[float, str]] = {}
    for name, rehearsed in (*named, *machine):
        for place, share in _shares([rehearsed]):
            if share > 1 and place in largest:
                nearest[place] = min((share, name), nearest.get(place, (share, name)))
    barely = _barely_noticed(named)
    return [
        _row(place, share, nearest.get(place, (None, "")), barely)
        for place, share in largest.items()
    ]


def _row(
    place: _Comparison,
    reference: float,
    mistake: tuple[float | None, str],
    barely: Container[str],
) -> Headroom:
    nearest, mutant = mistake
    close = f"{mutant} is noticed by a hair" if mutant in barely else ""
    return Headroom(
        check=place.check,
        what=place.what,
        dtype=place.dtype,
        reference=reference,
        nearest=nearest,
        nearest_mutant=mutant,
        close="the reference is close to the limit" if reference > CLOSE else close,
    )


def _shares(several: Sequence[Rehearsed]) -> Iterator[tuple[_Comparison, float]]:
    for rehearsed in several:
        for check in rehearsed.checks:
            for margin in check.margins:
                yield _Comparison(check.id, margin.what, margin.dtype), margin.share


def headroom_case(
    places: Places, rows: Sequence[Headroom], mutants: Sequence[tuple[str, Rehearsed]]
) -> Case:
    """The reference stays well inside every limit; no named mutant is noticed by a hair."""
    findings = [
        places.check(row.check).finding(
            f"{row.check}: the reference uses {row.reference:.0%} of the limit for "
            f"{row.what}; another machine might break it",
            "compute the expected value in float64, make the numbers smaller, or give this "
            "comparison a wider limit",
        )
        for row in rows
        if row.reference > ROOM
    ]
    findings += [
        places.mutant(name, "id").finding(
            f"{name} is noticed only because it is {distance:.2f} times as far off as a limit "
            f"allows; another seed might let it pass",
            "draw inputs on which the mistake has more effect, or take a closer limit",
            advice=True,
        )
        for name, distance in _barely_noticed(mutants).items()
    ]
    return Case(
        kind=CaseKind.HEADROOM,
        id="limits",
        title=f"The reference uses at most {ROOM:.0%} of every limit of a comparison.",
        findings=findings,
    )


def _barely_noticed(mutants: Sequence[tuple[str, Rehearsed]]) -> dict[str, float]:
    """The mutants that another seed might let pass, each with how far off it is, in limits."""
    distances = {name: _distance(rehearsed) for name, rehearsed in mutants}
    return {name: distance for name, distance in distances.items() if distance < 1 / ROOM}


def _distance(rehearsed: Rehearsed) -> float:
    """The most that any check is off, in limits; infinity where something else is wrong, too."""
    failed = [check for check in rehearsed.checks if check.error is not None]
    shares = [max((each.share for each in check.margins), default=0.0) for check in failed]
    return max(shares, default=inf) if all(share > 1 for share in shares) else inf


def dtypes_case(places: Places, rows: Sequence[Headroom]) -> Case:
    """Numbers of every dtype that the exercise promises are compared somewhere."""
    compared = {row.dtype for row in rows}
    promised = places.problem.manifest.dtypes
    return Case(
        kind=CaseKind.HEADROOM,
        id="dtypes",
        title="Every promised dtype is compared: " + ", ".join(promised or sorted(compared)) + ".",
        findings=[
            places.manifest("dtypes").finding(
                f"{dtype} is promised, but no check compares numbers of it",
                "run a check of a tier that claims correctness in this dtype, or do not promise it",
            )
            for dtype in promised
            if dtype not in compared
        ],
    )


# --- stability --------------------------------------------------------------------------------


def beside_case(places: Places, references: Sequence[Rehearsed]) -> Case:
    """The reference passes beside the checks, too, with all seeds.

    Else nothing that is found out there says anything: what fails anyway notices every mistake.
    """
    refused = [each for each in references if each.refused]
    findings = [_refusal(places, refused[0])] if refused else []
    failures = {
        check.id: check.error
        for each in reversed(references)
        for check in each.checks
        if check.error is not None
    }
    findings += [
        places.check(check_id).finding(
            f"beside the checks, {check_id} does not accept the reference: {error}",
            "make it independent of where it runs, or its inputs smaller if it takes too long; "
            "until then it notices everything that is tried there",
        )
        for check_id, error in failures.items()
    ]
    return Case(
        kind=CaseKind.STABILITY,
        id="beside-the-checks",
        title="The reference is accepted beside the checks, as it is in a box.",
        findings=findings,
        wall_ms=sum(map(_wall_ms, references)),
    )


def _refusal(places: Places, reference: Rehearsed) -> Finding:
    return places.file(REFERENCE).finding(
        f"beside the checks the reference ends with: {reference.refused}",
        "make it so that it can be imported, and called, in the process of the checks",
    )


def stability_case(
    places: Places,
    how: str,
    first: Rehearsed,
    others: Sequence[Rehearsed],
    *,
    to_the_bit: bool = True,
) -> Case:
    """Running the reference `how` changes nothing of what passes and, `to_the_bit`, no number."""
    findings = [
        places.check(check_id).finding(
            f"{check_id} comes out otherwise when the checks run {how}",
            "draw from `rng`, which is the check's own; keep nothing between checks; and do not "
            "use time, the order of sets, or the generators of torch, numpy and random",
        )
        for check_id in _unstable(first, others, to_the_bit=to_the_bit)
    ]
    return Case(
        kind=CaseKind.STABILITY,
        id=how.replace(" ", "-"),
        title=f"The checks come out the same when they run {how}.",
        findings=findings,
    )


def _unstable(first: Rehearsed, others: Sequence[Rehearsed], *, to_the_bit: bool) -> Iterator[str]:
    """Ids of the checks that are not the same in all of them, in the order they are written."""
    runs = [{check.id: check for check in other.checks} for other in others]
    for expected in first.checks:
        seen = [run.get(expected.id) for run in runs]
        if any(
            check is None
            or check.error != expected.error
            or (to_the_bit and check.margins != expected.margins)
            for check in seen
        ):
            yield expected.id


def _wall_ms(rehearsed: Rehearsed) -> float:
    return sum(check.wall_ms for check in rehearsed.checks)
