"""`judge bench`: what judging takes, beside other ways to run the same checks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import typer

from judge.bench.baselines import Bare, BaselineFailed, DockerRun
from judge.bench.groups import Uncountable
from judge.bench.latency import Latency, LatencyReport
from judge.bench.memory import MemoryReport, measure_memory
from judge.bench.scale import Scale, ScaleReport
from judge.bench.scale import submissions as scaling_submissions
from judge.bench.server import Service, own_place, own_service
from judge.bench.soak import Soak, SoakReport
from judge.bench.start import StartReport, measure_start
from judge.bench.steps import stepping
from judge.bench.submitting import WrongVerdict
from judge.bench.tables import (
    latency_tables,
    memory_tables,
    scale_tables,
    soak_tables,
    start_tables,
    throughput_tables,
)
from judge.bench.throughput import Throughput, ThroughputReport
from judge.bench.work import Work, laid_out
from judge.client import Client, ClientError
from judge.commands.terminal import SandboxChoice, Status, announce, console, fail
from judge.problem import find_folder, load_problem
from judge.render import show
from judge.settings import Settings, load_settings
from sandbox.boxes import SandboxError
from sandbox.choose import SandboxName

PROBLEM = "multi-head-attention"
Report = LatencyReport | ThroughputReport | MemoryReport | SoakReport | StartReport | ScaleReport

app = typer.Typer(
    help="Measure what judging takes, beside other ways of running the same checks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]
Sandbox = Annotated[
    SandboxChoice | None,
    typer.Option(help="Sandbox of the judge that is started.", show_default="JUDGE_SANDBOX"),
]
Server = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Measure this judge instead of starting one."),
]
Slug = Annotated[str, typer.Option("--problem", metavar="SLUG", help="Whose checks to run.")]


@app.command()
def latency(
    rounds: Annotated[
        int, typer.Option(min=1, help="Containers and processes to run, five submissions each.")
    ] = 10,
    json: Json = False,
    sandbox: Sandbox = None,
    server: Server = None,
    problem: Slug = PROBLEM,
) -> None:
    """Measure one submission at a time, from POST to verdict."""
    settings = load_settings()
    with (
        _judging_faults(),
        _ready(settings, problem, sandbox, server) as parts,
        Client(parts.service.url, settings.token) as client,
        stepping(console(stderr=True), "latency", rounds) as steps,
    ):
        measurement = Latency(parts.work, client, parts.bare, parts.container)
        report = measurement.measure(rounds, steps.done)
    _print(report, json=json)


@app.command()
def throughput(
    submissions: Annotated[int, typer.Option(min=1, help="Submissions in all.")] = 200,
    clients: Annotated[int, typer.Option(min=1, max=64, help="Clients at once.")] = 8,
    json: Json = False,
    sandbox: Sandbox = None,
    server: Server = None,
    problem: Slug = PROBLEM,
) -> None:
    """Measure the rate under load, with right and wrong answers in turns."""
    settings = load_settings()
    with (
        _judging_faults(),
        _ready(settings, problem, sandbox, server) as parts,
        stepping(console(stderr=True), "throughput", submissions) as steps,
    ):
        measurement = Throughput(
            parts.work, parts.service, parts.bare, parts.container, settings.docker_host
        )
        report = measurement.measure(submissions, clients, steps.done)
    _print(report, json=json)


@app.command()
def memory(json: Json = False, sandbox: Sandbox = None, problem: Slug = PROBLEM) -> None:
    """Measure what one more slot holds in memory while nothing is judged."""
    settings = load_settings()
    with (
        _judging_faults(),
        _work(settings, problem) as work,
        stepping(console(stderr=True), "memory", 2) as steps,
    ):
        start = partial(own_service, _chosen(settings, sandbox))
        report = measure_memory(start, work, settings.docker_host, steps.done)
    _print(report, json=json)


@app.command()
def soak(
    submissions: Annotated[int, typer.Option(min=10, help="Submissions in all.")] = 2000,
    json: Json = False,
    sandbox: Sandbox = None,
    problem: Slug = PROBLEM,
) -> None:
    """Measure whether what the judge holds stays flat over many submissions."""
    settings = load_settings()
    with (
        _judging_faults(),
        _work(settings, problem) as work,
        _service(settings, sandbox, None) as service,
        Client(service.url) as client,
        stepping(console(stderr=True), "soak", submissions) as steps,
    ):
        measurement = Soak(work, service, client, settings.docker_host)
        report = measurement.measure(submissions, steps.done)
    _print(report, json=json)


@app.command()
def start(
    rounds: Annotated[int, typer.Option(min=1, help="Starts with the data there.")] = 5,
    json: Json = False,
    sandbox: Sandbox = None,
    problem: Slug = PROBLEM,
) -> None:
    """Measure how long a judge takes from its start to the first verdict."""
    settings = load_settings()
    with (
        _judging_faults(),
        _work(settings, problem) as work,
        own_place(_chosen(settings, sandbox)) as place,
        stepping(console(stderr=True), "start", rounds) as steps,
    ):
        report = measure_start(place, work, rounds, steps.done)
    _print(report, json=json)


@app.command()
def scale(
    workers: Annotated[
        int, typer.Option(min=2, max=64, help="How many are compared with one.")
    ] = 8,
    json: Json = False,
    sandbox: Sandbox = None,
    problem: Slug = PROBLEM,
) -> None:
    """Measure how the rate grows with the workers of one database."""
    settings, cores = load_settings(), os.cpu_count() or 1
    with (
        _judging_faults(),
        _work(settings, problem) as work,
        own_place(_chosen(settings, sandbox)) as place,
        stepping(console(stderr=True), "scale", scaling_submissions(workers, cores)) as steps,
    ):
        report = Scale(work, place, cores).measure(workers, steps.done)
    _print(report, json=json)


@dataclass(frozen=True)
class _Parts:
    """What every measurement needs."""

    work: Work
    service: Service
    bare: Bare
    container: DockerRun | str


@contextmanager
def _ready(
    settings: Settings, slug: str, sandbox: SandboxChoice | None, server: str | None
) -> Iterator[_Parts]:
    """The service, started unless there is one, and what it is compared with."""
    with _work(settings, slug) as work:
        container = _container(settings, work)
        try:
            with Bare(work) as bare, _service(settings, sandbox, server) as service:
                yield _Parts(work, service, bare, container)
        finally:
            if isinstance(container, DockerRun):
                container.close()


def _work(settings: Settings, slug: str) -> AbstractContextManager[Work]:
    return laid_out(load_problem(find_folder(settings.problems, slug)))


def _chosen(settings: Settings, sandbox: SandboxChoice | None) -> SandboxName:
    return sandbox.value if sandbox else settings.sandbox


@contextmanager
def _service(
    settings: Settings, sandbox: SandboxChoice | None, server: str | None
) -> Iterator[Service]:
    if server is not None:
        yield Service(server)
        return
    announce("starting a judge of its own")
    with own_service(_chosen(settings, sandbox)) as service:
        yield service


def _container(settings: Settings, work: Work) -> DockerRun | str:
    try:
        image = settings.for_sandbox().builder.current()
    except SandboxError as error:
        return error.problem
    return DockerRun.available(settings.docker_host, image, work)


@contextmanager
def _judging_faults() -> Iterator[None]:
    """What keeps a measurement from being one is the judge's fault. Others are told by `main`."""
    try:
        yield
    except (BaselineFailed, WrongVerdict, ClientError, Uncountable) as error:
        fail(str(error), Status.JUDGE_FAILURE)


def _print(report: Report, *, json: bool) -> None:
    if json:
        sys.stdout.write(report.model_dump_json(indent=2) + "\n")
        return
    match report:
        case LatencyReport():
            tables = latency_tables(report)
        case ThroughputReport():
            tables = throughput_tables(report)
        case MemoryReport():
            tables = memory_tables(report)
        case SoakReport():
            tables = soak_tables(report)
        case StartReport():
            tables = start_tables(report)
        case ScaleReport():
            tables = scale_tables(report)
    show(console(stderr=False), tables)
