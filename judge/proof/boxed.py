"""Cases of a proof that were judged in boxes, exactly as a student's submission is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from statistics import median

from judge.inspection import SUITES
from judge.manifest import Mutant
from judge.problem import KeptSubmission
from judge.proof.outcomes import Case, CaseKind, CheckTime, Finding
from judge.proof.places import Place, Places
from judge.results import CheckResult, Result
from judge.verdicts import Verdict

LIMIT_FACTOR = 5.0  # of what the reference needs: what a tier's limit is at least
_FINE = (Verdict.AC, Verdict.SK)
_SHOWN_SEEDS = 5

BySeed = Mapping[int, Result]


@dataclass(frozen=True)
class Solution:
    """A right solution of the folder: its file there, and what becomes of it seed by seed."""

    name: str
    results: BySeed


def reference_case(places: Places, reference: Solution) -> Case:
    """The reference is accepted, whatever the seed."""
    count = len(reference.results)
    return Case(
        kind=CaseKind.REFERENCE,
        id="seeds",
        title=f"The reference is accepted with {count} seeds.",
        findings=list(_rejections(places, reference, "the reference")),
        wall_ms=_wall_ms(reference.results.values()),
    )


def alternative_case(places: Places, solution: Solution) -> Case:
    """Another right way is accepted."""
    name = PurePosixPath(solution.name).stem
    return Case(
        kind=CaseKind.ALTERNATIVE,
        id=name,
        title=f"The other right way {name} is accepted.",
        findings=list(_rejections(places, solution, solution.name)),
        wall_ms=_wall_ms(solution.results.values()),
    )


def _rejections(places: Places, solution: Solution, who: str) -> Iterator[Finding]:
    """Each check that does not accept a right solution, once, with the seeds it does so with."""
    seeds: dict[str, list[int]] = {}
    first: dict[str, CheckResult] = {}
    for seed, result in solution.results.items():
        for check in _failing(result):
            seeds.setdefault(check.id, []).append(seed)
            first.setdefault(check.id, check)
    for check_id, failing in seeds.items():
        check = first[check_id]
        shown = ", ".join(map(str, failing[:_SHOWN_SEEDS]))
        shown += ", ..." if len(failing) > _SHOWN_SEEDS else ""
        of = f"{len(failing)} of {len(solution.results)} seeds ({shown})"
        path = f"{places.problem.folder}/{solution.name}"
        yield places.check(check_id).finding(
            f"{check_id} does not accept {who} with {of}: {check.verdict}. {check.message}",
            f"replay it with `judge run {places.problem.slug} {path} --seed {failing[0]}`, then "
            "correct the check or the solution; whatever is random has to come from `rng`",
        )
    if not seeds:
        wrong = [result for result in solution.results.values() if result.verdict != Verdict.AC]
        for result in wrong[:1]:
            yield places.file(solution.name).finding(
                f"{who} gets {result.verdict} with seed {result.seed}", "run it by itself, and look"
            )


def mutant_case(places: Places, mutant: Mutant, result: Result) -> Case:
    """A named mistake fails first in its tier; a pitfall, and nothing else, gets its own hint."""
    return Case(
        kind=CaseKind.MUTANT,
        id=mutant.id,
        title=f"{mutant.title}: fails in {mutant.tier}"
        + (", with its own hint." if mutant.pitfall else "."),
        findings=[
            *_tier_findings(places.mutant(mutant.id, "tier"), mutant.id, mutant.tier, result),
            *_hint_findings(places, mutant, result),
        ],
        wall_ms=result.timing.judged_ms,
    )


def _hint_findings(places: Places, mutant: Mutant, result: Result) -> Iterator[Finding]:
    found = [each.pitfall for each in result.diagnosis]
    if not mutant.pitfall and found:
        yield places.mutant(mutant.id, "pitfall").finding(
            f"{mutant.id} is no pitfall, but gets the hint of {found[0]}",
            "one of the two is the other in other words: make this one a pitfall, or remove one",
        )
    if mutant.pitfall and not found:
        yield places.mutant(mutant.id, "hint").finding(
            f"{mutant.id} is not recognised: its hint is never shown",
            "another pitfall answers the same in every check of the tier that fails, or the "
            "answers are not the same twice: tell them apart by a check, or join them",
        )
    if mutant.pitfall and found and found != [mutant.id]:
        yield places.mutant(mutant.id, "hint").finding(
            f"{mutant.id} gets the hint of {found[0]}",
            "the checks of its tier cannot tell them apart: add one that does, or join them",
        )


def rejected_case(places: Places, kept: KeptSubmission, result: Result) -> Case:
    """A kept wrong solution fails first in the tier whose folder it is in."""
    path = PurePosixPath(kept.name)
    return Case(
        kind=CaseKind.REJECTED,
        id=f"{kept.tier}/{path.stem}",
        title=f"The wrong solution {path.stem} fails in {kept.tier}.",
        findings=list(_tier_findings(places.file(kept.name), path.stem, kept.tier or "", result)),
        wall_ms=result.timing.judged_ms,
    )


def _tier_findings(place: Place, name: str, wanted: str, result: Result) -> Iterator[Finding]:
    failing = [tier for tier in result.tiers if tier.verdict not in _FINE]
    if result.outcome is Verdict.JE:
        said = next((check.message for check in _failing(result)), "")
        yield place.finding(
            f"{name} shows that the checks are broken: {said}", "mend them, at the place it names"
        )
    elif not failing:
        yield place.finding(
            f"{name} is accepted: no check notices it, with seed {result.seed}",
            f"add or sharpen a check of {wanted}",
        )
    elif failing[0].id != wanted:
        check = next(each for each in failing[0].checks if each.verdict not in _FINE)
        yield place.finding(
            f"{name} is to fail in {wanted}, but fails first in {failing[0].id}: "
            f"{check.id}: {check.message}",
            f"name {failing[0].id} instead, or move the check",
        )


def starter_case(places: Places, name: str, result: Result) -> Case:
    """What the editor opens with is not accepted."""
    findings = []
    if result.outcome in (Verdict.AC, Verdict.JE):
        findings.append(
            places.file(name).finding(
                f"the starter gets {result.outcome}", "leave the work to the student"
            )
        )
    return Case(
        kind=CaseKind.STARTER,
        id="boxed",
        title="The starter is rejected.",
        findings=findings,
        wall_ms=result.timing.judged_ms,
    )


def suite_case(places: Places, name: str, result: Result) -> Case:
    """Kept tests are graded as their folder says: `suites/accepted` or `suites/rejected`."""
    path = PurePosixPath(name)
    accepted = path.parent.name == "accepted"
    mutation = result.mutation
    score = f", {mutation.score:.2f} of the mutants" if mutation else ""
    findings = []
    if (result.outcome is Verdict.AC) != accepted or result.outcome is Verdict.JE:
        said = " ".join(check.message for check in _failing(result))
        findings.append(
            places.file(name).finding(
                f"these tests get {result.outcome}{score}: {said}".rstrip(": "),
                f"they are in {SUITES}/{path.parent.name}: correct them, or move them",
            )
        )
    return Case(
        kind=CaseKind.SUITE,
        id=f"{path.parent.name}/{path.stem}",
        title=f"The tests {path.stem} are {path.parent.name}{score}.",
        findings=findings,
        wall_ms=result.timing.judged_ms,
    )


# --- time ---------------------------------------------------------------------------------------


def check_times(results: Sequence[Result]) -> list[CheckTime]:
    """What each check takes on the reference, over all its results."""
    taken: dict[tuple[str, str], list[float]] = {}
    for result in results:
        for tier in result.tiers:
            for check in tier.checks:
                taken.setdefault((tier.id, check.id), []).append(check.wall_ms)
    return [
        CheckTime(
            tier=tier, check=check, median_ms=round(median(ms), 3), longest_ms=round(max(ms), 3)
        )
        for (tier, check), ms in taken.items()
    ]


def time_case(places: Places, results: Sequence[Result]) -> Case:
    """Every tier's limit is several times what the reference needs for it."""
    wall_s = places.problem.limits.wall_s
    findings = []
    for tier in places.problem.tiers:
        needed_s = median(_tier_ms(result, tier.id) for result in results) / 1000
        if needed_s * LIMIT_FACTOR > wall_s:
            findings.append(
                places.manifest("limits", "wall_s").finding(
                    f"the reference needs {needed_s:.2f} s for {tier.id}, and the limit is "
                    f"{wall_s:g} s: slower machines would reject it",
                    f"make it at least {LIMIT_FACTOR * needed_s:.1f}, or the checks smaller",
                )
            )
    return Case(
        kind=CaseKind.TIME,
        id="limits",
        title=f"The limit is {LIMIT_FACTOR:g} times what the reference needs, or more.",
        findings=findings,
    )


def _tier_ms(result: Result, tier_id: str) -> float:
    return sum(
        check.wall_ms for tier in result.tiers if tier.id == tier_id for check in tier.checks
    )


# --- what results say ---------------------------------------------------------------------------


def checks_of(result: Result, tiers: Sequence[str]) -> list[CheckResult]:
    """What came of the checks of these tiers."""
    return [check for tier in result.tiers if tier.id in tiers for check in tier.checks]


def _failing(result: Result) -> Iterator[CheckResult]:
    for tier in result.tiers:
        yield from (check for check in tier.checks if check.verdict not in _FINE)


def _wall_ms(results: Iterable[Result]) -> float:
    return sum(result.timing.judged_ms for result in results)
