"""`judge start|tests|check|mutate|diff`: a course in a folder of one's own.

Judged is on this machine, or with `--server` by a judge that runs somewhere. Exit status 1 also
means that a chapter cannot be judged yet, because one it builds on is not passed.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from judge.client import Client, ClientError, NotSendable, Refused
from judge.commands.submit import token_for
from judge.commands.terminal import (
    SandboxChoice,
    Status,
    announce,
    console,
    fail,
    print_json,
    progress_on,
)
from judge.course.passes import Grades, Passes
from judge.course.workspace import NothingStarted, Workspace
from judge.judging import Judge
from judge.own_tests import OWN_TESTS, is_lasting
from judge.problem import Problem, content_hash, find_folder, load_problem
from judge.progress import Listener, Progress
from judge.render import note, report, safe, show
from judge.results import Kind, Result
from judge.settings import Settings, load_settings
from judge.sources import UnreadableSources
from judge.startup import choose_launcher, open_judge
from judge.verdicts import Verdict

Slug = Annotated[str, typer.Argument(help="The exercise, e.g. l5-3-mha.")]
Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="The folder of the course.",
        show_default="the one you are in",
        file_okay=False,
    ),
]
RefDeps = Annotated[
    bool,
    typer.Option(
        "--ref-deps",
        help="Build on the reference solutions of earlier chapters, not on your own.",
    ),
]
Server = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Have this judge do it; JUDGE_TOKEN says who you are."),
]
Sandbox = Annotated[
    SandboxChoice | None,
    typer.Option(help="Sandbox to use on this machine.", show_default="auto"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one result per line, as JSON.")]


def start(slug: Slug, folder: Folder = None) -> None:
    """Write what an exercise begins with: stub, contract, and a folder for your own tests."""
    desk = _Desk.at(slug, folder)
    out = console(stderr=False)
    out.print(_heading(desk.problem))
    try:
        placed = desk.workspace.start(desk.problem)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", Status.USAGE)
    for each in placed:
        words = "wrote" if each.is_new else "kept "
        out.print(Text(safe(f"  {words}  {each.path}")), soft_wrap=True)
    show(out, note("next", list(_next_steps(desk.problem))), soft_wrap=True)


def course_tests(
    slug: Slug,
    folder: Folder = None,
    ref_deps: RefDeps = False,
    server: Server = None,
    sandbox: Sandbox = None,
    json: Json = False,
) -> None:
    """Judge your solution by the tests of the course."""
    desk = _Desk.at(slug, folder)
    with desk.bench(server, sandbox, json=json) as bench:
        raise typer.Exit(bench.judge_solution(ref_deps=ref_deps))


def mutate(
    slug: Slug,
    folder: Folder = None,
    server: Server = None,
    sandbox: Sandbox = None,
    json: Json = False,
) -> None:
    """Grade your own tests by the mistakes they notice."""
    desk = _Desk.at(slug, folder)
    desk.require_tests()
    with desk.bench(server, sandbox, json=json) as bench:
        raise typer.Exit(bench.grade_tests())


def check(
    slug: Slug,
    folder: Folder = None,
    ref_deps: RefDeps = False,
    server: Server = None,
    sandbox: Sandbox = None,
    json: Json = False,
) -> None:
    """Judge your solution, then grade your own tests where the exercise takes them."""
    desk = _Desk.at(slug, folder)
    with desk.bench(server, sandbox, json=json) as bench:
        status = bench.judge_solution(ref_deps=ref_deps)
        if desk.problem.takes_tests:
            status = max(status, bench.grade_tests())
    if desk.passes.is_passed(desk.problem) and status is Status.ACCEPTED and not json:
        announce(f"{desk.problem.label} is passed; `judge diff {slug}` shows the reference")
    raise typer.Exit(status)


def diff(slug: Slug, folder: Folder = None) -> None:
    """Show how your solution differs from the reference, once you have passed."""
    desk = _Desk.at(slug, folder)
    if not desk.passes.is_passed(desk.problem):
        words = f"{desk.problem.label} is not passed yet: `judge check {slug}` first."
        fail(f"{words} The reference is shown afterwards.", Status.NOT_ACCEPTED)
    own = desk.solution()[desk.problem.main_file]
    out = console(stderr=False)
    lines = _diff_lines(own, desk.problem.reference, str(desk.workspace.solution(desk.problem)))
    for line in lines:
        out.print(line, soft_wrap=True)


# --- what the commands share ----------------------------------------------------------------------


@dataclass(frozen=True)
class _Desk:
    """An exercise, the folder it is worked on in, and what is remembered there."""

    settings: Settings
    problem: Problem
    workspace: Workspace
    passes: Passes

    @classmethod
    def at(cls, slug: str, folder: Path | None) -> _Desk:
        settings = load_settings()
        problem = load_problem(find_folder(settings.problems, slug))
        workspace = Workspace.around((folder or Path()).absolute())
        return cls(settings, problem, workspace, Passes(workspace.state))

    def solution(self) -> dict[str, bytes]:
        """The student's files; ends the command when there are none."""
        return _read(partial(self.workspace.read_solution, self.problem))

    def own_tests(self) -> dict[str, bytes]:
        """The student's tests; ends the command when there are none."""
        return _read(partial(self.workspace.read_tests, self.problem))

    def require_tests(self) -> None:
        """End the command when the exercise takes no tests."""
        if not self.problem.takes_tests:
            fail(f"{self.problem.slug} takes no tests of your own.", Status.USAGE)

    def needed(self) -> dict[str, bytes]:
        """The student's own solutions of what the exercise builds on, by their path.

        Ends the command when one is not passed.
        """
        found: dict[str, bytes] = {}
        for slug in self.problem.manifest.needs:
            path = self.problem.module_of_need(slug)
            if path is None:
                continue
            need = load_problem(find_folder(self.settings.problems, slug))
            if not self.passes.is_passed(need):
                fail(f"{need.label} is not passed yet; {_WAYS}", Status.NOT_ACCEPTED)
            files = _read(partial(self.workspace.read_solution, need))
            if content_hash(files) != self.passes.of(slug).solution:
                words = f"{need.label} has changed since it was passed"
                fail(f"{words}; {_WAYS}", Status.NOT_ACCEPTED)
            found[path] = files[need.main_file]
        return found

    @contextmanager
    def bench(
        self, server: str | None, sandbox: SandboxChoice | None, *, json: bool
    ) -> Iterator[_Bench]:
        """Where it is judged: on this machine, started when first needed, or on a server."""
        with ExitStack() as stack:
            yield _Bench(self, server, sandbox, json, stack)


_WAYS = "pass it, or use --ref-deps"


@dataclass
class _Bench:
    """Judges what is on a desk and prints the results."""

    desk: _Desk
    server: str | None
    sandbox: SandboxChoice | None
    json: bool
    stack: ExitStack
    out: Console = field(default_factory=lambda: console(stderr=False))
    err: Console = field(default_factory=lambda: console(stderr=True))
    _judge: Judge | None = None

    def judge_solution(self, *, ref_deps: bool) -> Status:
        """Judge the solution by all tiers; remembered when accepted."""
        desk = self.desk
        files = desk.solution()
        needed = {} if ref_deps or self.server else desk.needed()
        result = self._result("submit", files, needed, ref_deps=ref_deps)
        if result.outcome is Verdict.AC:
            desk.passes.note(desk.problem.slug, "solution", files)
        return self._tell(result, str(desk.workspace.solution(desk.problem)))

    def grade_tests(self) -> Status:
        """Grade the student's tests, or find the grade they already have."""
        desk = self.desk
        files, grades = desk.own_tests(), Grades(desk.workspace.state)
        result = None if self.server else grades.find(desk.problem, files)
        if result is None:
            result = self._result("tests", files, {}, ref_deps=False)
            if is_lasting(result.outcome) and not self.server:
                grades.keep(desk.problem, files, result)
        elif not self.json:
            announce("nothing has changed since these tests were graded: this is that grade")
        if result.outcome is Verdict.AC:
            desk.passes.note(desk.problem.slug, "tests", files)
        return self._tell(result, str(desk.workspace.tests_folder(desk.problem)))

    def _result(
        self,
        kind: Kind,
        files: Mapping[str, bytes],
        needed: Mapping[str, bytes],
        *,
        ref_deps: bool,
    ) -> Result:
        if self.server is not None:
            return self._from_server(self.server, kind, files, ref_deps=ref_deps)
        judge = self._judge or self._start()
        problem = self.desk.problem
        with self._following(kind) as listen:
            return judge.judge(problem, {**files, **needed}, kind=kind, on_event=listen)

    def _start(self) -> Judge:
        launcher = choose_launcher(
            self.desk.settings, self.sandbox.value if self.sandbox else None, announce
        )
        with self._progress().starting():
            self._judge = self.stack.enter_context(open_judge(launcher))
        return self._judge

    def _from_server(
        self, server: str, kind: Kind, files: Mapping[str, bytes], *, ref_deps: bool
    ) -> Result:
        problem = self.desk.problem
        try:
            with Client(server, token_for(self.desk.settings, server)) as client:
                submission = client.submit(problem.slug, files, kind, ref_deps=ref_deps)
                with self._following(kind) as listen:
                    for event in client.follow(submission):
                        listen(event)
                return client.result(submission)
        except Refused as refused:
            status = Status.NOT_ACCEPTED if refused.is_unmet else Status.USAGE
            fail(str(refused), Status.JUDGE_FAILURE if refused.is_theirs else status)
        except NotSendable as error:
            fail(str(error), Status.USAGE)
        except ClientError as error:
            fail(str(error), Status.JUDGE_FAILURE)

    def _following(self, kind: Kind) -> AbstractContextManager[Listener]:
        problem = self.desk.problem
        shown = OWN_TESTS if kind == "tests" else problem
        return self._progress().following(shown, problem.slug)

    def _progress(self) -> Progress:
        return progress_on(self.err, json=self.json)

    def _tell(self, result: Result, label: str) -> Status:
        if self.json:
            print_json(result)
        else:
            show(self.out, report(result, label))
            self.out.print()
        return Status.of(result.outcome)


def _read(read: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
    try:
        return read()
    except (NothingStarted, UnreadableSources) as error:
        fail(str(error), Status.USAGE)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", Status.USAGE)


def _named(problem: Problem) -> str:
    """Label and title, where the title does not begin with the label anyway."""
    label, title = problem.label, problem.manifest.title
    return title if title.startswith(label) else f"{label} · {title}"


def _heading(problem: Problem) -> Text:
    course = problem.manifest.course
    facts = [problem.manifest.title]
    if course is not None:
        facts = [_named(problem), f"rung {course.rung}", course.hours]
    return Text(safe(" · ".join(facts)), "bold")


def _next_steps(problem: Problem) -> Iterator[str]:
    yield f"judge tests {problem.slug}"
    if problem.takes_tests:
        yield f"judge mutate {problem.slug}"
    yield f"judge check {problem.slug}"


def _diff_lines(own: bytes, reference: bytes, label: str) -> Iterator[Text]:
    mine, theirs = (text.decode("utf-8", "replace").splitlines() for text in (own, reference))
    styles = {"+": "green", "-": "red", "@": "cyan"}
    lines = list(difflib.unified_diff(mine, theirs, label, "the reference", lineterm=""))
    for line in lines or ["Your solution is the reference, word for word."]:
        yield Text(safe(line), styles.get(line[:1], ""))
