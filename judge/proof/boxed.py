"""Cases of a proof that were judged in boxes, exactly as a student's submission is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from statistics import median

from judge.inspection import ACCEPTED_SUITES, REFERENCE
from judge.manifest import Mutant
from judge.problem import KeptSubmission
from judge.proof.outcomes import LIMIT_FACTOR, Case, CaseKind, CheckTime, Finding
from judge.proof.places import Place, Places
from judge.results import CheckResult, Result
from judge.verdicts import Verdict

_FINE = (Verdict.AC, Verdict.SK)
_SHOWN_SEEDS = 5

BySeed = Mapping[int, Result]


@dataclass(frozen=True)
class Solution:
    """A right solution of the folder: its file there, and what becomes of it seed by seed."""

    name: str
    results: BySeed

    @property
    def called(self) -> str:
        """What to call it in a message."""
        return "the reference" if self.name == REFERENCE else self.name


def reference_case(places: Places, reference: Solution) -> Case:
    """The reference is accepted, whatever the seed."""
    count = len(reference.results)
    return Case(
        kind=CaseKind.REFERENCE,
        id="seeds",
        title=f"The reference is accepted with {count} seeds.",
        findings=list(_rejections(places, reference)),
        wall_ms=_wall_ms(reference.results.values()),
    )


def alternative_case(places: Places, solution: Solution) -> Case:
    """Another right way is accepted."""
    name = PurePosixPath(solution.name).stem
    return Case(
        kind=CaseKind.ALTERNATIVE,
        id=name,
        title=f"The other right way {name} is accepted.",
        findings=list(_rejections(places, solution)),
        wall_ms=_wall_ms(solution.results.values()),
    )


def _rejections(places: Places, solution: Solution) -> Iterator[Finding]:
    """Each check that does not accept a right solution, once, with the seeds it does so with.

    A check of an advisory tier may be a measurement, wrong now and then: a single failure of it
    says nothing, and more of them are worth knowing.
    """
    failures: dict[str, dict[int, CheckResult]] = {}
    for seed, result in solution.results.items():
        for check in _failing(result):
            failures.setdefault(check.id, {})[seed] = check
    for check_id, by_seed in failures.items():
        advice = _is_measurement(places, check_id, by_seed)
        if not advice or len(by_seed) > 1:
            yield _rejection(places, solution, by_seed, advice=advice)
    unexplained = (
        result
        for result in solution.results.values()
        if result.verdict != Verdict.AC and not any(_failing(result))
    )
    for result in islice(unexplained, 1):
        yield places.file(solution.name).finding(
            f"{solution.called} gets {result.verdict} with seed {result.seed}",
            "run it by itself, and look",
        )


def _is_measurement(places: Places, check_id: str, failures: Mapping[int, CheckResult]) -> bool:
    """Whether a failing check is advisory, and not broken itself."""
    advisory = {PurePosixPath(tier.checks).stem for tier in places.problem.tiers if tier.advisory}
    verdicts = {check.verdict for check in failures.values()}
    return check_id.partition("::")[0] in advisory and Verdict.JE not in verdicts


def _rejection(
    places: Places, solution: Solution, by_seed: Mapping[int, CheckResult], *, advice: bool
) -> Finding:
    seeds, check = list(by_seed), next(iter(by_seed.values()))
    shown = ", ".join(map(str, seeds[:_SHOWN_SEEDS]))
    shown += ", ..." if len(seeds) > _SHOWN_SEEDS else ""
    of = f"{len(seeds)} of {len(solution.results)} seeds ({shown})"
    path = f"{places.problem.folder}/{solution.name}"
    return places.check(check.id).finding(
        f"{check.id} does not accept {solution.called} with {of}: {check.verdict}. {check.message}",
        f"replay it with `judge run {places.problem.slug} {path} --seed {seeds[0]}`, then "
        "correct the check or the solution; whatever is random has to come from `rng`",
        advice=advice,
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
            "in all calls of the tier that fails, up to the first failure of each check, either "
            "another pitfall answers the same (tell them apart by a check, or join them), or the "
            "reference does within 1e-6 (1e-3 in float32: let the check fail by more than that), "
            "or the answers are not the same twice",
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
    failing = [
        tier
        for tier in result.tiers
        if tier.verdict not in _FINE and (tier.id == wanted or not tier.advisory)
    ]
    broken = _broken(place, name, result)
    if broken is not None:
        yield broken
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
    place = places.file(name)
    broken = _broken(place, "the starter", result)
    findings = [] if broken is None else [broken]
    if result.outcome is Verdict.AC:
        findings.append(place.finding("the starter is accepted", "leave the work to the student"))
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
    accepted = str(path.parent) == ACCEPTED_SUITES
    mutation = result.mutation
    score = f", {mutation.score:.2f} of the mutants" if mutation else ""
    findings = []
    if (result.outcome is Verdict.AC) != accepted or result.outcome is Verdict.JE:
        said = " ".join(check.message for check in _failing(result))
        findings.append(
            places.file(name).finding(
                f"these tests get {result.outcome}{score}: {said}".rstrip(": "),
                f"they are in {path.parent}: correct them, or move them",
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


def _broken(place: Place, name: str, result: Result) -> Finding | None:
    """That checks are broken, if `name` shows it: in any tier, whatever came of the whole."""
    said = [check.message for check in _failing(result) if check.verdict is Verdict.JE]
    if not said and result.outcome is not Verdict.JE:
        return None
    words = said[0] if said else "nothing could be judged"
    return place.finding(
        f"{name} shows that the checks are broken: {words}", "mend them, at the place it names"
    )


def _failing(result: Result) -> Iterator[CheckResult]:
    for tier in result.tiers:
        yield from (check for check in tier.checks if check.verdict not in _FINE)


def _wall_ms(results: Iterable[Result]) -> float:
    return sum(result.timing.judged_ms for result in results)
