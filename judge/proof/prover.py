"""Proving folders: all questions are asked at once, the cases are made of the answers.

The questions of several folders are asked one folder after another, so that the first is proven
while those of the next are already being answered and no slot is ever idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from judge.faults import BrokenChecks
from judge.grader.messages import CheckCard, Rehearsal, Rehearsed, Stand
from judge.inspection import REFERENCE
from judge.judging import Judge
from judge.manifest import ProblemError
from judge.problem import Problem
from judge.proof import boxed, rehearsed
from judge.proof.cache import Cache, NoCache
from judge.proof.drawn import charts_case
from judge.proof.evidence import Evidence, Tally
from judge.proof.generated import generate
from judge.proof.lint import lint
from judge.proof.outcomes import Case, CaseKind, Finding, Proof
from judge.proof.places import Places, finding_of
from judge.results import Result

SEEDS = 40
SEED = 20_261_129  # where one is enough
OTHER_SEED = 20_261_130
FEW_SEEDS = (0, 1, 2**47, 2**63 - 1)
ORDERS = (1, 2, 3)
PATIENCE_S = 2.0  # for one check, beside the checks, where all of them take some tens of ms
BUDGET_S = 20.0

Answer = TypeVar("Answer")
OnProgress = Callable[[int, int], None]  # questions that are answered, and that were asked


@dataclass(frozen=True)
class Elsewhere:
    """The other sandbox: a judge in it, or why there is none."""

    judge: Judge | None = None
    reason: str = "only one sandbox was asked for"


class Prover:
    """Proves problems with `judge`, in as many threads as it has slots. Serves once."""

    def __init__(
        self,
        judge: Judge,
        *,
        threads: int = 1,
        seeds: int = SEEDS,
        cache: Cache | None = None,
        elsewhere: Elsewhere | None = None,
        on_progress: OnProgress = lambda _answered, _asked: None,
    ) -> None:
        self._judge = judge
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="proof")
        self._seeds = seeds
        self._cache = cache or NoCache()
        self._elsewhere = elsewhere or Elsewhere()
        self._tally = Tally(on_progress)

    def prove(self, problem: Problem) -> Proof:
        """The proof of one problem. Raises `JudgeFault` and `MutationUnavailable`."""
        [proof] = self.prove_all([problem])
        return proof

    def prove_all(self, problems: Sequence[Problem]) -> Generator[Proof, None, None]:
        """The proofs of several, in their order. Raises `JudgeFault` and `MutationUnavailable`.

        Whoever stops before the last one has to close it: that ends what is being asked.
        """
        started = time.monotonic()
        try:
            asked = [self._ask(problem) for problem in problems]
            for one in asked:
                proof = one if isinstance(one, Proof) else one.conclude()
                now = time.monotonic()
                yield proof.model_copy(update={"wall_s": round(now - started, 3)})
                started = now
        finally:
            self._threads.shutdown(wait=True, cancel_futures=True)

    def _ask(self, problem: Problem) -> _Asked | Proof:
        try:
            checks = self._judge.checks(problem)
        except BrokenChecks as broken:
            return _unusable(problem, [_broken_checks(problem, broken)])
        evidence = self._evidence(problem, self._judge)
        other = self._elsewhere.judge
        return _Asked(
            evidence,
            checks,
            self._seeds,
            self._elsewhere.reason,
            None if other is None else self._evidence(problem, other),
        )

    def _evidence(self, problem: Problem, judge: Judge) -> Evidence:
        return Evidence(problem, judge, self._threads, self._cache, self._tally)


@dataclass
class _Asked:
    """One problem: everything that was asked, as futures, and what to make of the answers."""

    evidence: Evidence
    checks: Sequence[CheckCard]
    seeds: int
    no_other: str
    other: Evidence | None

    def __post_init__(self) -> None:
        problem, about = self.problem, self.evidence
        self.places = Places(problem)
        self.few_seeds = FEW_SEEDS[: self.seeds]
        self.counting = tuple(tier.id for tier in problem.tiers if not tier.advisory)
        self.references = {
            seed: self._judged(problem.reference, seed) for seed in range(self.seeds)
        }
        self.alternatives = [
            (kept, {seed: self._judged(kept.source, seed) for seed in self.few_seeds})
            for kept in problem.accepted
        ]
        starter = problem.starter(problem.files[0])
        self.starter = self._judged(starter, SEED)
        self.mutants = [
            self._judged(problem.mutate(each), SEED, hinted=each.pitfall)
            for each in problem.mutants
        ]
        self.rejected = [self._judged(kept.source, SEED) for kept in problem.rejected]
        self.suites = [
            (name, about.judged({problem.tests_file: problem.contents[name]}, SEED, "tests"))
            for name in problem.suites
        ]
        if self.other is not None:
            main = problem.main_file
            self.elsewhere = {
                seed: self.other.judged({main: problem.reference}, seed) for seed in self.few_seeds
            }
        self._ask_beside(starter)

    def _ask_beside(self, starter: bytes) -> None:
        problem = self.problem
        own = problem.reference
        self.beside = [self._rehearsed(own, seed) for seed in range(self.seeds)]
        self.again = [self._rehearsed(own, 0, noise=1)]
        self.shuffled = [self._rehearsed(own, 0, order=order) for order in ORDERS]
        self.threaded = [self._rehearsed(own, 0, threads=2)]
        self.starter_beside = self._rehearsed(starter, SEED)
        self.stands = {stand: self._rehearsed(own, SEED, stand=stand) for stand in Stand}
        self.mutants_beside = [
            [self._rehearsed(problem.mutate(each), seed) for seed in (SEED, OTHER_SEED)]
            for each in problem.mutants
        ]
        self.made = generate(problem)
        self.made_beside = [
            self._rehearsed(each.source, SEED, first_failure_only=True) for each in self.made
        ]

    @property
    def problem(self) -> Problem:
        return self.evidence.problem

    def _judged(self, source: bytes, seed: int, *, hinted: bool = False) -> Future[Result]:
        return self.evidence.judged({self.problem.main_file: source}, seed, hinted=hinted)

    def _rehearsed(
        self,
        source: bytes,
        seed: int,
        *,
        stand: Stand | None = None,
        first_failure_only: bool = False,
        order: int | None = None,
        threads: int = 1,
        noise: int = 0,
    ) -> Future[Rehearsed]:
        rehearsal = Rehearsal(
            source=source,
            patience_s=PATIENCE_S,
            budget_s=BUDGET_S,
            stand=stand,
            tiers=self.counting,
            first_failure_only=first_failure_only,
            order=order,
            threads=threads,
            noise=noise,
        )
        return self.evidence.rehearsed(rehearsal, seed)

    # --- the answers -------------------------------------------------------------------------

    def conclude(self) -> Proof:
        """Wait for the answers, and say what they prove."""
        problem, places = self.problem, self.places
        solutions = list(self._solution_cases())
        references = _results(list(self.references.values()))
        mutants = [_results(each)[0] for each in self.mutants_beside]
        named = list(zip((each.id for each in problem.mutants), mutants, strict=True))
        made_beside = _results(self.made_beside)
        made = rehearsed.made_mutants(places, self.made, made_beside)
        machine = zip((each.id for each in self.made), made_beside, strict=True)
        rows = rehearsed.headroom(_results(self.beside), named, machine)
        return Proof(
            problem=problem.slug,
            title=problem.manifest.title,
            folder=str(problem.folder),
            version=problem.version,
            seeds=self.seeds,
            sandboxes=[each.judge.environment.sandbox for each in self._all_evidence],
            cases=[
                _folder_case([]),
                *solutions,
                rehearsed.made_case(places, made, self.made),
                rehearsed.headroom_case(places, rows, named),
                rehearsed.dtypes_case(places, rows),
                *self._stability_cases(),
                boxed.time_case(places, references),
                *lint(problem, self.checks),
                charts_case(places, references[0].charts),
            ],
            matrix=rehearsed.kill_matrix(self._counting_checks, problem.mutants, mutants),
            made=made,
            headroom=rows,
            times=boxed.check_times(references),
            charts=references[0].charts,
            environment=references[0].environment,
        )

    def _solution_cases(self) -> Iterator[Case]:
        """Of the reference, and of all that is kept or written in the folder beside it."""
        results = {seed: each.result() for seed, each in self.references.items()}
        yield boxed.reference_case(self.places, boxed.Solution(REFERENCE, results))
        yield from self._alternative_cases()
        yield from self._starter_cases()
        yield from self._null_cases()
        yield from self._mutant_cases()
        yield from self._rejected_cases()
        yield from self._suite_cases()

    @property
    def _counting_checks(self) -> list[CheckCard]:
        return [card for card in self.checks if card.tier in self.counting]

    @property
    def _all_evidence(self) -> list[Evidence]:
        return [each for each in (self.evidence, self.other) if each is not None]

    def _alternative_cases(self) -> Iterator[Case]:
        for kept, asked in self.alternatives:
            results = {seed: each.result() for seed, each in asked.items()}
            yield boxed.alternative_case(self.places, boxed.Solution(kept.name, results))

    def _starter_cases(self) -> Iterator[Case]:
        name = self.problem.files[0].starter
        yield boxed.starter_case(self.places, name, self.starter.result())
        yield rehearsed.starter_case(self.places, name, self.starter_beside.result())

    def _null_cases(self) -> Iterator[Case]:
        kinds = {card.id: card.kind for card in self.checks}
        for stand, asked in self.stands.items():
            yield rehearsed.null_case(self.places, kinds, stand, asked.result())

    def _mutant_cases(self) -> Iterator[Case]:
        for mutant, asked, beside in zip(
            self.problem.mutants, self.mutants, self.mutants_beside, strict=True
        ):
            result = asked.result()
            case = boxed.mutant_case(self.places, mutant, result)
            in_box = boxed.checks_of(result, self.counting)
            others = rehearsed.disagreements(self.places, mutant, in_box, _results(beside))
            yield case.model_copy(update={"findings": [*case.findings, *others]})

    def _rejected_cases(self) -> Iterator[Case]:
        for kept, asked in zip(self.problem.rejected, self.rejected, strict=True):
            yield boxed.rejected_case(self.places, kept, asked.result())

    def _suite_cases(self) -> Iterator[Case]:
        for name, asked in self.suites:
            yield boxed.suite_case(self.places, name, asked.result())

    def _stability_cases(self) -> Iterator[Case]:
        first = self.beside[0].result()
        yield rehearsed.beside_case(self.places, _results(self.beside))
        for how, asked, to_the_bit in (
            ("a second time", self.again, True),
            ("in another order", self.shuffled, True),
            ("in two threads", self.threaded, False),
        ):
            yield rehearsed.stability_case(
                self.places, how, first, _results(asked), to_the_bit=to_the_bit
            )
        yield self._other_sandbox()

    def _other_sandbox(self) -> Case:
        if self.other is None:
            return Case(
                kind=CaseKind.STABILITY,
                id="other-sandbox",
                title="The reference is accepted in the other sandbox.",
                skipped=self.no_other,
            )
        results = {seed: each.result() for seed, each in self.elsewhere.items()}
        case = boxed.reference_case(self.places, boxed.Solution(REFERENCE, results))
        name = self.other.judge.environment.sandbox
        changed = {
            "kind": CaseKind.STABILITY,
            "id": "other-sandbox",
            "title": f"The reference is accepted in {name}, too.",
        }
        return case.model_copy(update=changed)


def _results(asked: Sequence[Future[Answer]]) -> list[Answer]:
    return [each.result() for each in asked]


# --- folders that cannot be judged ------------------------------------------------------------


def invalid_folder(slug: str, folder: str, error: ProblemError) -> Proof:
    """The proof of a folder that cannot be loaded: everything found wrong with it."""
    return _only_folder(slug, slug, folder, "", [finding_of(fault) for fault in error.faults])


def _unusable(problem: Problem, findings: list[Finding]) -> Proof:
    title, folder = problem.manifest.title, str(problem.folder)
    return _only_folder(problem.slug, title, folder, problem.version, findings)


def _only_folder(
    slug: str, title: str, folder: str, version: str, findings: list[Finding]
) -> Proof:
    cases = [_folder_case(findings)]
    return Proof(problem=slug, title=title, folder=folder, version=version, seeds=0, cases=cases)


def _folder_case(findings: list[Finding]) -> Case:
    return Case(kind=CaseKind.FOLDER, id="valid", title="The folder is valid.", findings=findings)


def _broken_checks(problem: Problem, broken: BrokenChecks) -> Finding:
    return (
        Places(problem)
        .file(broken.file, broken.line)
        .finding(broken.message, "mend it: until then nothing can be judged")
    )
