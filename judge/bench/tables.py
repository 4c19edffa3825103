"""The figures of a measurement as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from judge.bench.footprint import Footprint
from judge.bench.latency import LatencyReport
from judge.bench.memory import MemoryReport
from judge.bench.scale import ScaleReport
from judge.bench.soak import SoakReport
from judge.bench.start import StartReport
from judge.bench.targets import Target
from judge.bench.throughput import ThroughputReport

NONE = "-"


def latency_tables(report: LatencyReport) -> RenderableType:
    """Figures, targets, and where the time goes."""
    figures = _figures("median ms", "p95 ms", "to judge")
    judge_ms = report.judge_ms_p50
    rows = [
        ("judge: POST to finished", judge_ms, report.judge_ms_p95),
        ("judge: POST to first tier", report.first_tier_ms_p50, report.first_tier_ms_p95),
        ("judge: claimed to last tier", report.judging_ms_p50, report.judging_ms_p95),
        ("docker_run", report.docker_run_ms_p50, report.docker_run_ms_p95),
        ("cold_pytest", report.cold_pytest_ms_p50, report.cold_pytest_ms_p95),
        ("bare", report.bare_ms_p50, report.bare_ms_p95),
    ]
    for name, middle, high in rows:
        to_judge = None if middle is None else middle / judge_ms
        figures.add_row(name, _number(middle), _number(high), _number(to_judge, 2))
    spans = "  ".join(f"{name} {ms:.1f}" for name, ms in report.spans_ms_p50.items())
    about = (
        f"{report.problem}, {report.checks} checks, {report.submissions} submissions, sandbox "
        f"{report.sandbox}, {report.cores} cores"
    )
    return Group(
        Text(about), figures, target_table(report.targets), *_missed(report.targets),
        *_why(docker_run=report.docker_run_missing), Text(f"spans, median ms: {spans}"),
    )  # fmt: skip


def throughput_tables(report: ThroughputReport) -> RenderableType:
    """Figures and targets."""
    figures = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    figures.add_column("figure", no_wrap=True)
    figures.add_column("value", justify="right")
    for name, value in (
        ("submissions per second", report.per_s),
        ("containers per second, one per submission", report.docker_run_per_s),
        ("median ms under load", report.judge_ms_p50),
        ("p95 ms under load", report.judge_ms_p95),
        ("CPU ms per submission, everything included", report.cpu_ms_per_submission),
        ("CPU ms of the bare checks", report.bare_cpu_ms),
    ):
        figures.add_row(name, _number(value, 2))
    about = (
        f"{report.problem}, {report.submissions} submissions by {report.clients} clients in "
        f"{report.seconds:.1f} s, every verdict as known, sandbox {report.sandbox}, "
        f"{report.cores} cores"
    )
    return Group(
        Text(about), figures, target_table(report.targets), *_missed(report.targets),
        *_why(docker_run=report.docker_run_missing, CPU=report.cpu_missing),
    )  # fmt: skip


def soak_tables(report: SoakReport) -> RenderableType:
    """What was held before and after, and whether that is flat."""
    about = f"{report.problem}, {report.submissions} submissions, every verdict as known"
    looks = {"after a tenth": report.before, "after all": report.after}
    return Group(
        Text(about), _footprints(looks), target_table(report.targets), *_missed(report.targets)
    )


def memory_tables(report: MemoryReport) -> RenderableType:
    """What is held with few and with many slots."""
    few, many = report.slots
    looks = {f"{few} slots": report.few, f"{many} slots": report.many}
    return Group(_footprints(looks), target_table(report.targets), *_missed(report.targets))


def start_tables(report: StartReport) -> RenderableType:
    """From nothing to a verdict."""
    figures = _figures("seconds")
    for name, seconds in (
        ("a new service: start to first verdict", report.new_s),
        ("started again: until it answers", report.answers_s_p50),
        ("started again: to first verdict", report.verdict_s_p50),
        ("cold_pytest", report.cold_pytest_s_p50),
    ):
        figures.add_row(name, _number(seconds, 2))
    about = (
        f"{report.problem}, {report.rounds} starts, medians, sandbox {report.sandbox}, "
        f"{report.cores} cores"
    )
    return Group(Text(about), figures, target_table(report.targets), *_missed(report.targets))


def scale_tables(report: ScaleReport) -> RenderableType:
    """Rates by the number of workers."""
    figures = _figures("workers", "per second")
    for name, rates in (("waiting", report.waiting), (report.problem, report.computing)):
        for rate in rates:
            figures.add_row(name, str(rate.workers), _number(rate.per_s, 2))
    about = f"workers of one slot on one database, sandbox {report.sandbox}, {report.cores} cores"
    return Group(
        Text(about), figures, target_table(report.targets), *_missed(report.targets),
        *_why(**{"two computing workers": report.computing_missing}),
    )  # fmt: skip


def _footprints(looks: Mapping[str, Footprint]) -> Table:
    table = _figures(*looks)
    for name in Footprint.model_fields:
        table.add_row(name, *(_number(getattr(look, name)) for look in looks.values()))
    return table


def target_table(wanted: Sequence[Target]) -> Table:
    """One row per target: what it is, its bound, the figure, whether it is met."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("target", no_wrap=True)
    for name in ("bound", "figure", "met"):
        table.add_column(name, justify="right")
    for target in wanted:
        table.add_row(target.name, target.bound, _number(target.figure, 2), _met(target))
    return table


def _met(target: Target) -> Text:
    if target.met is None:
        return Text("not measured", "yellow")
    return Text("yes", "green") if target.met else Text("MISSED", "bold red")


def _missed(wanted: Sequence[Target]) -> Iterator[Text]:
    missed = [target for target in wanted if target.met is False]
    if missed:
        words = "; ".join(f"{each.name} is {each.figure:.2f}, not {each.bound}" for each in missed)
        yield Text(f"Missed: {words}.", "red")


def _why(**reasons: str) -> Iterator[Text]:
    for name, reason in reasons.items():
        if reason:
            yield Text(f"{name} was not measured: {reason}.", "yellow")


def _figures(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("figure", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    return table


def _number(value: float | None, digits: int = 1) -> str:
    return NONE if value is None else f"{value:.{digits}f}"
