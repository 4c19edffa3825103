"""The stack of docker-compose.yml, brought up for real beside whatever else runs here.

One stack serves all tests of this file, in their order: the last one stops it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from judge.problem import find_folder, load_problem
from judge.settings import Settings
from sandbox import survey
from sandbox.boxes import SandboxError
from sandbox.image import Base

ROOT = Path(__file__).parents[2]
SLUG = "multi-head-attention"
WORKERS = 2
ENGINE_SOCKET = "/var/run/docker.sock"
WARM_S = 300.0  # two workers on two busy processors import torch six times
VERDICT_S = 240.0
NAP = b"\n\nimport time\n\ntime.sleep(2)\n"  # of a submission, when it is imported


# --- the stack ------------------------------------------------------------------------------------


def run(*command: str, **environment: str) -> str:
    """Standard output of a program that succeeds."""
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (
        f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    return done.stdout.strip()


def wait_until(condition: Callable[[], bool], limit_s: float, what: str) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"after {limit_s:g} s: {what}"
        time.sleep(0.25)


@dataclass(frozen=True)
class Stack:
    """The services under a project name of their own."""

    tool: tuple[str, ...]
    env_file: Path
    port: int
    name: str = field(default_factory=lambda: f"judge-test-{secrets.token_hex(4)}")
    student: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def compose(self, *words: str) -> str:
        """Run the compose tool on this stack."""
        options = ("--env-file", str(self.env_file), "--project-name", self.name)
        return run(
            *self.tool, *options, *words, JUDGE_LISTEN=f"127.0.0.1:{self.port}", JUDGE_SLOTS="1",
            JUDGE_IMAGE="judge-service-test",
        )  # fmt: skip

    def up(self) -> None:
        """Start what does not run."""
        self.compose("up", "--detach", "--no-recreate", "--scale", f"worker={WORKERS}")

    def containers(self, service: str) -> list[str]:
        """Ids of a service's containers, ended ones included."""
        return labelled(
            "ps", f"com.docker.compose.project={self.name}", f"com.docker.compose.service={service}"
        )

    def healthy(self, service: str) -> bool:
        """Whether all containers of a service are."""
        ids = self.containers(service)
        return {inspect(each, "{{.State.Health.Status}}") for each in ids} == {"healthy"}

    def ask(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, object]:
        """GET, or POST of a body; the answer as JSON."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.student}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found = json.load(answer)
        assert isinstance(found, dict)
        return found

    def submit(self, source: bytes) -> str:
        """Hand in; returns the submission's id."""
        body = {"problem": SLUG, "kind": "submit", "files": {"solution.py": source.decode()}}
        return str(self.ask("/api/submissions", body)["id"])

    def state(self, submission: str) -> str:
        """What has become of it so far."""
        return str(self.ask(f"/api/submissions/{submission}")["state"])

    def finished(self, submission: str) -> bool:
        """Whether it has its verdict."""
        return self.state(submission) == "finished"

    def verdicts(self, submissions: list[str]) -> list[object]:
        """The verdicts, waited for."""
        deadline = time.monotonic() + VERDICT_S
        for each in submissions:
            left_s = max(deadline - time.monotonic(), 0.1)
            wait_until(partial(self.finished, each), left_s, f"{each} is not judged")
        return [self.ask(f"/api/submissions/{each}")["verdict"] for each in submissions]


def labelled(kind: str, *labels: str) -> list[str]:
    """Ids of containers ("ps") or names of volumes ("volume") with these labels."""
    listing = ["ps", "--all", "--no-trunc"] if kind == "ps" else ["volume", "ls"]
    filters = [word for label in labels for word in ("--filter", f"label={label}")]
    return run("docker", *listing, "--quiet", *filters).split()


def inspect(container: str, template: str) -> str:
    return run("docker", "inspect", "--format", template, container)


def left_from(container: str) -> list[str]:
    """When the container was started that made a box or volume, for each that is there."""
    shown = ("--filter", "label=judge.box", "--format", '{{.Label "judge.home"}}')
    homes = run("docker", "ps", "--all", *shown) + "\n" + run("docker", "volume", "ls", *shown)
    return [home.partition("@")[2] for home in homes.split() if home.startswith(container)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    try:
        survey.require_engine(Settings().docker_host)
    except SandboxError as error:
        pytest.skip(f"needs docker: {error}")
    tool = compose_tool()
    if not tool:
        pytest.skip("needs docker: no compose tool (apt-get install docker-compose)")
    env_file = tmp_path_factory.mktemp("compose") / "env"
    prepare(env_file)
    stack = Stack(tool, env_file, free_port())
    stack.compose("build", "postgres")  # the image is the same for all
    try:
        stack.up()
        wait_until(lambda: is_ready(stack), WARM_S, "the service is not ready")
        yield stack
    finally:
        stack.compose("down", "--volumes", "--timeout", "20")


def compose_tool() -> tuple[str, ...]:
    plugin = ("docker", "compose")
    if subprocess.run([*plugin, "version"], capture_output=True, check=False).returncode == 0:
        return plugin
    return ("docker-compose",) if shutil.which("docker-compose") else ()


def prepare(env_file: Path) -> None:
    """Name the images' base; where it was made here, everything else is had from here too."""
    settings = Settings()
    image = settings.for_sandbox().builder.ensure(None, print)
    if image.base is Base.DEBIAN:
        run("scripts/prepare-compose.sh", str(env_file), PYTHON=sys.executable)
    else:
        env_file.touch()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_ready(stack: Stack) -> bool:
    try:
        stack.ask("/readyz")
    except OSError:  # among them every answer that is an error
        return False
    return True


# --- what it does ---------------------------------------------------------------------------------


def test_every_service_becomes_healthy(stack: Stack) -> None:
    for service, count in {"postgres": 1, "api": 1, "worker": WORKERS}.items():
        assert len(stack.containers(service)) == count
        wait_until(partial(stack.healthy, service), WARM_S, f"{service} is not healthy")


def test_only_workers_reach_the_engine(stack: Stack) -> None:
    mounts = "{{range .Mounts}}{{.Source}} {{end}}{{.HostConfig.Binds}}"
    (api,) = stack.containers("api")
    (postgres,) = stack.containers("postgres")
    for container in (api, postgres):
        assert "docker.sock" not in inspect(container, mounts)
        assert "docker.sock" not in run("docker", "exec", container, "ls", "/var/run")
        assert run("docker", "exec", container, "id", "-u") != "0"
    for container in stack.containers("worker"):
        assert ENGINE_SOCKET in inspect(container, mounts)


def test_no_service_can_gain_privileges(stack: Stack) -> None:
    template = "{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}"
    for service in ("postgres", "api", "boxes", "worker"):
        for container in stack.containers(service):
            assert inspect(container, template) == "true [ALL] [no-new-privileges:true]"


def test_what_runs_in_boxes_only_is_not_in_the_image(stack: Stack) -> None:
    (worker, *_others) = stack.containers("worker")
    found = "import importlib.util as u; print([n for n in ('torch', 'numpy') if u.find_spec(n)])"
    assert run("docker", "exec", worker, "python", "-c", found) == "[]"


def test_the_page_is_in_the_image(stack: Stack) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{stack.port}/", timeout=30) as answer:
        assert b'<div id="page">' in answer.read()


def test_right_and_wrong_answers_get_their_verdicts(stack: Stack) -> None:
    right, wrong = answers()
    assert stack.verdicts([stack.submit(right), stack.submit(wrong)]) == ["AC", "WA"]


def test_a_worker_killed_while_it_judges_costs_no_verdict_and_its_boxes_are_removed(
    stack: Stack,
) -> None:
    right, wrong = answers()
    victim = stack.containers("worker")[0]
    (earlier,) = set(left_from(victim))
    # More of them than workers, and slow ones first: so all workers are judging for seconds.
    submissions = [stack.submit(source + NAP) for source in (right, wrong) * WORKERS]
    running = submissions[:WORKERS]
    wait_until(
        lambda: all(stack.state(each) != "queued" for each in running), 60, "not all are judging"
    )
    run("docker", "kill", "--signal", "KILL", victim)
    assert not stack.finished(submissions[-1]), "it was killed too late to tell"
    assert stack.verdicts(submissions) == ["AC", "WA"] * WORKERS
    stack.up()
    wait_until(lambda: earlier not in left_from(victim), WARM_S, "boxes of the killed are left")
    wait_until(lambda: bool(left_from(victim)), WARM_S, "the worker did not come back")


def test_a_stop_is_graceful_and_leaves_nothing(stack: Stack) -> None:
    workers = stack.containers("worker")
    ended = [*workers, *stack.containers("api"), *stack.containers("postgres")]
    stack.compose("stop")
    assert [inspect(each, "{{.State.ExitCode}}") for each in ended] == ["0"] * len(ended)
    assert [left for each in workers for left in left_from(each)] == []
    stack.compose("down", "--volumes")
    project = f"com.docker.compose.project={stack.name}"
    assert labelled("ps", project) == labelled("volume", project) == []


def answers() -> tuple[bytes, bytes]:
    """The reference, and a known mistake."""
    problem = load_problem(find_folder(Settings().problems, SLUG))
    mistake = next(m for m in problem.mutants if m.id == "merge-without-transpose")
    return problem.reference, problem.mutate(mistake)
