from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from judge.bench import targets
from judge.bench.baselines import Bare, BaselineFailed, ColdPytest, DockerRun, passed_checks
from judge.bench.cpu import Used, used
from judge.bench.footprint import Footprint, footprint, held_by
from judge.bench.groups import Uncountable, own_group
from judge.bench.latency import Latency, LatencyReport
from judge.bench.measuring import median, p95, percentile
from judge.bench.scale import ScaleReport, why_not_computing
from judge.bench.scale import submissions as scaling_submissions
from judge.bench.server import Service
from judge.bench.soak import soak_report
from judge.bench.start import StartReport
from judge.bench.steps import stepping
from judge.bench.submitting import WrongVerdict, judging_ms, submit
from judge.bench.tables import (
    latency_tables,
    scale_tables,
    soak_tables,
    start_tables,
    throughput_tables,
)
from judge.bench.throughput import Throughput, ThroughputReport
from judge.bench.work import Answer, Work, laid_out
from judge.client import Client
from judge.problem import load_problem
from judge.results import Timing
from judge.settings import Settings
from judge.verdicts import Verdict
from sandbox.boxes import Launcher, SandboxError
from tests.service.fake_service import Answer as ServiceAnswer
from tests.service.fake_service import FakeService, Seen, fake_service, result
from tests.small_problem import MANIFEST, write_problem

CONTRACT = {
    *("judge_ms_p50", "judge_ms_p95", "docker_run_ms_p50", "cold_pytest_ms_p50", "bare_ms_p50"),
    *("ratio_docker_run_to_judge", "ratio_judge_to_bare", "cores", "sandbox", "checks"),
}
CHECKS = 2  # of the small problem


@pytest.fixture(scope="session")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    folder = write_problem(tmp_path_factory.mktemp("bench"))
    with laid_out(load_problem(folder)) as made:
        yield made


@pytest.fixture(scope="session")
def bare(work: Work) -> Iterator[Bare]:
    with Bare(work) as made:
        yield made


@pytest.fixture(scope="session")
def report(work: Work, bare: Bare) -> LatencyReport:
    """Of a real measurement, but for a service that is not and an engine that is not there."""
    with answering() as service:
        return latency_of(service, work, bare)


@pytest.fixture
def service() -> Iterator[FakeService]:
    with answering() as made:
        yield made


@contextmanager
def answering() -> Iterator[FakeService]:
    """Accepts everything but what the small problem keeps as wrong."""

    def verdict_of(request: Seen) -> str:
        (source,) = json.loads(request.body)["files"].values()
        return "wrong" if "return x\n" in source else "right"

    with fake_service() as made:
        made.knows({"right": Verdict.AC, "wrong": Verdict.WA}, verdict_of)
        yield made


# --- numbers ------------------------------------------------------------------------------------


def test_a_median_lies_between_the_two_in_the_middle() -> None:
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 3, 2]) == 2.5
    assert median([7]) == 7


def test_a_percentile_is_a_sample_that_so_many_do_not_exceed() -> None:
    samples = list(range(100, 0, -1))
    assert percentile(samples, 50) == 50
    assert p95(samples) == 95
    assert percentile(samples, 100) == 100
    assert percentile(samples, 0) == 1
    assert p95([5, 1]) == 5
    assert p95(list(range(20))) == 18


def test_a_target_is_met_up_to_its_bound_and_unknown_without_a_ratio() -> None:
    assert targets.at_most("t", 5, 5.0).met is True
    assert targets.at_most("t", 5, 5.1).met is False
    assert targets.at_least("t", 25, 25.0).met is True
    assert targets.at_least("t", 25, 24.9).met is False
    unknown = targets.at_least("t", 25, None, "no engine")
    assert (unknown.met, unknown.missing) == (None, "no engine")
    assert targets.ratio(None, 2) is None
    assert targets.ratio(6, 2) == 3


def test_judging_alone_leaves_out_what_comes_after_the_last_tier() -> None:
    spans = {"open": 1.0, "T0": 5.0, "T1": 7.0, "diagnosis": 2.0, "released": 3.0}
    timing = Timing(queued_ms=50, judged_ms=20, spans=spans)
    assert judging_ms(result().model_copy(update={"timing": timing})) == 15


# --- baselines ----------------------------------------------------------------------------------


def test_the_floor_runs_all_checks_again_and_again(bare: Bare) -> None:
    rounds = [bare.round() for _ in range(3)]
    assert {each.passed for each in rounds} == {CHECKS}
    assert all(each.wall_ms > 0 and each.cpu_ms > 0 for each in rounds)


def test_a_container_passes_all_checks_and_is_removed(work: Work) -> None:
    container = docker_run(work)
    try:
        assert container.run_ms() > 100
        assert container.checks == CHECKS
        client = container._client
        assert not client.containers.list(all=True, filters={"label": "judge.bench"})
    finally:
        container.close()


def test_a_baseline_that_fails_a_check_is_no_baseline(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    with laid_out(load_problem(folder)) as wrong:
        wrong.solution.write_text("def double(x):\n    return x\n")
        with pytest.raises(BaselineFailed, match="cold_pytest did not pass"):
            ColdPytest(wrong).run_ms()
        with Bare(wrong) as bare, pytest.raises(BaselineFailed, match="bare did not pass"):
            bare.round()


def advisory_oracle(root: Path) -> Path:
    """The small problem, whose checks of numbers are advisory."""
    about = 'about = "The numbers are right."\n'
    return write_problem(root, problem_toml=MANIFEST.replace(about, f"{about}advisory = true\n"))


def test_what_fails_in_an_advisory_tier_is_run_and_counts_for_nothing(tmp_path: Path) -> None:
    with laid_out(load_problem(advisory_oracle(tmp_path))) as made:
        made.solution.write_text("def double(x):\n    return x\n")
        cold = ColdPytest(made)
        assert cold.run_ms() > 0
        assert cold.checks == CHECKS
        with Bare(made) as bare:
            assert bare.round().passed == CHECKS


@pytest.mark.parametrize(
    "output", ["1 failed, 27 passed in 1.0s", "27 passed, 1 skipped in 2s", "no tests ran", ""]
)
def test_only_a_run_in_which_everything_passed_counts(output: str) -> None:
    assert passed_checks("....\n28 passed in 1.23s\n", "x") == 28
    with pytest.raises(BaselineFailed):
        passed_checks(f"..\n{output}\n", "x")


def test_without_an_engine_there_is_a_reason_instead(work: Work, tmp_path: Path) -> None:
    remote = DockerRun.available("tcp://engine:2375", None, work)
    assert isinstance(remote, str)
    assert "another machine" in remote
    unbuilt = DockerRun.available(f"unix://{tmp_path}/none.sock", None, work)
    assert isinstance(unbuilt, str)
    assert "judge sandbox build" in unbuilt


def docker_run(work: Work) -> DockerRun:
    settings = Settings()
    try:
        image = settings.for_sandbox().builder.ensure(None, lambda _words: None)
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")
    container = DockerRun.available(settings.docker_host, image, work)
    if isinstance(container, str):
        pytest.skip(f"needs docker: {container}")
    return container


# --- submissions with known verdicts ------------------------------------------------------------


def test_right_and_wrong_answers_take_turns(work: Work) -> None:
    answers = work.answers()
    assert [each.rejected_at for each in answers] == [None, "T1"]
    assert answers[0].files == {"solution.py": work.problem.reference}


def test_what_only_an_advisory_tier_finds_wrong_is_not_among_them(tmp_path: Path) -> None:
    with laid_out(load_problem(advisory_oracle(tmp_path))) as made:
        assert [each.name for each in made.answers()] == ["reference"]


def test_a_failure_in_an_advisory_tier_is_no_verdict(work: Work, service: FakeService) -> None:
    right, wrong = work.answers()
    with Client(service.url) as client:
        for files, known in ((right.files, None), (wrong.files, "T1")):
            submit(client, "double", Answer("a", files, known, frozenset({"T9"})))
        with pytest.raises(WrongVerdict, match=r"^a should be rejected at T1"):
            submit(client, "double", Answer("a", wrong.files, "T1", frozenset({"T1"})))


def test_a_verdict_other_than_the_known_one_ends_the_measurement(
    work: Work, service: FakeService
) -> None:
    right, wrong = work.answers()
    with Client(service.url) as client:
        for answer in (right, wrong):
            done = submit(client, "double", answer)
            assert 0 < done.first_tier_ms <= done.finished_ms
        for answer in (
            Answer("a", right.files, "T1"), Answer("b", wrong.files, None),
            Answer("c", wrong.files, "T0"),
        ):  # fmt: skip
            with pytest.raises(WrongVerdict, match=f"^{answer.name} should be"):
                submit(client, "double", answer)


# --- whole measurements, of a service that is not real --------------------------------------------


def latency_of(service: FakeService, work: Work, bare: Bare) -> LatencyReport:
    steps: list[None] = []
    with Client(service.url) as client:
        measurement = Latency(work, client, bare, "no Docker engine answers")
        report = measurement.measure(1, lambda: steps.append(None))
    assert len(steps) == 1
    return report


def test_latency_has_the_fields_that_others_rely_on_and_compares_like_with_like(
    report: LatencyReport,
) -> None:
    assert set(json.loads(report.model_dump_json())) >= CONTRACT
    assert (report.checks, report.sandbox, report.submissions) == (CHECKS, "fake", 5)
    assert report.docker_run_ms_p50 is None
    assert report.ratio_docker_run_to_judge is None
    assert report.bare_ms_p50 < report.cold_pytest_ms_p50 > 100  # it imports everything
    assert report.first_tier_ms_p50 <= report.judge_ms_p50 <= report.judge_ms_p95
    shown = text_of(latency_tables(report))
    assert "docker_run was not measured: no Docker engine answers." in shown
    assert shown.count("not measured") == 3


def test_latency_is_not_told_of_different_checks(
    work: Work, bare: Bare, service: FakeService
) -> None:
    one_short = result().model_copy(update={"tiers": result().tiers[:1]})
    body = one_short.model_dump_json().encode()
    service.on("GET", "/api/submissions/right", ServiceAnswer(200, body))
    with pytest.raises(BaselineFailed, match=r"not the same checks ran everywhere: \[1, 2\]"):
        latency_of(service, work, bare)


def test_throughput_counts_verified_verdicts_of_many_clients(
    work: Work, bare: Bare, service: FakeService
) -> None:
    steps: list[None] = []
    measurement = Throughput(work, Service(service.url), bare, "no engine", "unix:///none")
    report = measurement.measure(12, 3, lambda: steps.append(None))
    assert (report.submissions, report.clients, len(steps)) == (12, 3, 12)
    posts = service.requests("POST", "/api/submissions")
    assert len(posts) == 12 + 3  # the first of each client is not counted
    assert len({request.headers["authorization"] for request in posts}) == 3
    assert sum(b"return x\\n" in request.body for request in posts) == 6
    assert report.per_s == pytest.approx(12 / report.seconds)
    assert report.cpu_ms_per_submission is None
    shown = text_of(throughput_tables(report))
    assert "docker_run was not measured: no engine." in shown
    assert "CPU was not measured: the service is not in a group of its own" in shown


def text_of(shown: RenderableType) -> str:
    file = io.StringIO()
    Console(file=file, width=200, color_system=None).print(shown)
    return file.getvalue()


def test_a_missed_target_is_said_plainly(report: LatencyReport) -> None:
    missed = targets.at_most("judging alone / bare", 5, 7.25)
    met = targets.at_least("docker_run / judge", 25, 30.5)
    shown = text_of(latency_tables(report.model_copy(update={"targets": [missed, met]})))
    assert "Missed: judging alone / bare is 7.25, not ≤ 5." in shown
    assert "MISSED" in shown
    assert "30.50" in shown


def test_in_a_pipe_progress_is_a_few_lines() -> None:
    file = io.StringIO()
    with stepping(Console(file=file, width=80), "throughput", 200) as steps:
        for _ in range(200):
            steps.done()
    lines = file.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[-1] == "throughput: 200/200"


# --- processor time -----------------------------------------------------------------------------


LEAVES_A_CHILD_ALONE = """
import os, signal, time
time.sleep(0.3)  # until it is in the group
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork():
    time.sleep(1.5)
else:
    while time.process_time() < 0.5: pass
"""


def test_a_group_counts_children_that_nobody_waits_for() -> None:
    with own_group() as group:
        if group is None:  # who may not make one is told so instead
            with pytest.raises(Uncountable, match="group of its own"):
                used(group, "unix:///none")
            return
        with subprocess.Popen([sys.executable, "-c", LEAVES_A_CHILD_ALONE]) as process:
            group.add(process.pid)
            assert process.pid in group.members()
        assert group.used_ms() > 400
        folder = group.folder
    assert not folder.exists()


def test_a_box_that_came_in_between_leaves_no_figure() -> None:
    before = Used(service_ms=10, boxes_ms={"a": 5}, engine_ms=1)
    assert Used(service_ms=30, boxes_ms={"a": 8}, engine_ms=2).since(before) == 24
    with pytest.raises(Uncountable, match="a box was replaced"):
        Used(service_ms=30, boxes_ms={"b": 8}, engine_ms=2).since(before)


# --- what is held -------------------------------------------------------------------------------


def test_only_what_grew_is_called_not_flat() -> None:
    before = Footprint(memory_mib=1000, descriptors=100, processes=20, boxes=4, tmpfs_mib=50)
    after = before.model_copy(update={"memory_mib": 1049.0, "descriptors": 103})
    report = soak_report(2000, before, after, "double")
    grown = [each.name for each in report.targets if not each.met]
    assert grown == ["descriptors, after / before"]
    shown = text_of(soak_tables(report))
    assert "descriptors, after / before is 1.03, not ≤ 1.02" in shown
    assert "1049.0" in shown


def test_a_service_that_is_not_in_a_group_has_no_footprint() -> None:
    with pytest.raises(Uncountable, match="group of its own"):
        footprint(None, "unix:///none")


HOLDS = """
import sys, time
memory = bytearray(64 << 20)
memory[::4096] = b"1" * len(memory[::4096])
files = [open(sys.argv[1], "w") for _ in range(50)]
print("ready", flush=True)
time.sleep(60)
"""


def test_a_footprint_counts_what_processes_hold(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path / "file")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        alone = held_by({process.pid}, [])
        twice = held_by({process.pid}, [{process.pid}, {2**30}])  # the last one has ended
        process.kill()
    assert (alone.processes, alone.boxes) == (1, 0)
    assert 64 < alone.memory_mib < 100
    assert 50 <= alone.descriptors < 60
    assert (twice.boxes, twice.descriptors) == (2, alone.descriptors)


# --- one worker and many --------------------------------------------------------------------------


@pytest.mark.parametrize(("cores", "counted"), [(2, 36), (4, 36 + 60)])
def test_two_workers_compute_only_where_each_has_cores(cores: int, counted: int) -> None:
    assert scaling_submissions(8, cores) == counted
    assert ("cores of their own" in why_not_computing(cores)) == (cores == 2)


# --- the command, with a service of its own -------------------------------------------------------


def test_the_command_measures_a_judge_that_it_starts(
    launcher: Launcher, work: Work, tmp_path: Path
) -> None:
    arguments = ["bench", "throughput", "--submissions", "4", "--clients", "2", "--json"]
    arguments += ["--problem", "double", "--sandbox", launcher.name]
    # As on a machine with one core: a slot and a container at a time.
    (tmp_path / "sitecustomize.py").write_text("import os\n\nos.cpu_count = lambda: 1\n")
    settings = {"JUDGE_PROBLEMS": str(work.folder.parent), "PYTHONPATH": str(tmp_path)}
    if launcher.name == "bwrap":  # as where there is no Docker, and no container to run beside it
        settings["JUDGE_DOCKER_HOST"] = f"unix://{tmp_path}/none.sock"
    ended = subprocess.run(
        [sys.executable, "-m", "judge", *arguments], env=os.environ | settings,
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    report = ThroughputReport.model_validate_json(ended.stdout)
    assert (report.submissions, report.cores) == (4, 1)
    assert report.sandbox.startswith(launcher.name)
    assert report.cpu_missing or report.cpu_ms_per_submission
    assert bool(report.docker_run_missing) == (launcher.name == "bwrap")
    assert bool(report.docker_run_per_s) == (launcher.name == "docker")


def test_a_start_is_measured_with_its_data_there_and_without(work: Work) -> None:
    report = StartReport.model_validate_json(_measured(work, "start", "--rounds", "1"))
    assert 0 < report.answers_s_p50 < report.verdict_s_p50
    assert report.new_s > report.answers_s_p50
    (target,) = report.targets
    assert target.met == (report.verdict_s_p50 <= targets.START_S)
    assert "started again: to first verdict" in text_of(start_tables(report))


def test_workers_that_wait_are_compared_with_one(work: Work) -> None:
    report = ScaleReport.model_validate_json(_measured(work, "scale", "--workers", "2"))
    assert [rate.workers for rate in report.waiting] == [1, 2]
    assert [rate.submissions for rate in report.waiting] == [4, 8]
    one, two = (rate.per_s for rate in report.waiting)
    assert 0 < one < 0.25  # each takes four seconds
    assert report.targets[0].figure == pytest.approx(two / one)
    assert bool(report.computing_missing) == (report.cores < 4) == (not report.computing)
    assert "waiting workers / one" in text_of(scale_tables(report))


def _measured(work: Work, *words: str) -> str:
    """What `judge bench` says of the small problem, as JSON."""
    options = ["--json", "--problem", "double", "--sandbox", "bwrap"]
    ended = subprocess.run(
        [sys.executable, "-m", "judge", "bench", *words, *options],
        env=os.environ | {"JUDGE_PROBLEMS": str(work.folder.parent)},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
