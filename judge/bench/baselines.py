"""The other ways to run the same checks on the same source, and what each of them takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import docker
from docker.errors import APIError

from judge.bench.measuring import Round
from judge.bench.work import Work
from sandbox import engine
from sandbox.boxes import SandboxError
from sandbox.image import ImageRef

PACKAGES = Path(__file__).parents[2]  # the folder that holds `judge` and `sandbox`
PLUGIN = "judge.bench.local_checks"
RUN_S = 300
ENGINE_SILENCE_S = RUN_S
PIDS = 256
NOBODY = "65534:65534"
INSIDE = "/bench"
LABEL = "judge.bench"
LAST_CHARS = 2000


class BaselineFailed(Exception):
    """A baseline did not pass all checks, so there is nothing to compare with."""


def pytest_arguments(checks: str, folder: str, solution: str) -> list[str]:
    """How pytest runs the checks on a file in its own process."""
    arguments = ["-m", "pytest", "-q", "--disable-plugin-autoload", "-p", "no:cacheprovider"]
    arguments += ["-p", PLUGIN, "-c", os.devnull, "--rootdir", folder, checks]
    return [*arguments, "--solution", solution]


def passed_checks(output: str, name: str) -> int:
    """The number of checks that a run of pytest says passed; raises unless all of them did."""
    summary = re.search(r"^(\d+) passed in ", output, re.MULTILINE)
    if summary is None:
        raise BaselineFailed(f"{name} did not pass all checks:\n{output[-LAST_CHARS:]}")
    return int(summary[1])


class ColdPytest:
    """`python -m pytest` on this machine: a new process that imports everything."""

    name = "cold_pytest"

    def __init__(self, work: Work) -> None:
        self._command = [
            sys.executable,
            *pytest_arguments(str(work.checks), str(work.folder), str(work.solution)),
        ]
        self.checks = 0

    def run_ms(self) -> float:
        """One run; raises `BaselineFailed`."""
        started = time.perf_counter()
        ended = subprocess.run(
            self._command, cwd=PACKAGES, capture_output=True, text=True, timeout=RUN_S, check=False
        )
        taken_ms = (time.perf_counter() - started) * 1000
        self.checks = passed_checks(ended.stdout + ended.stderr, self.name)
        return taken_ms


class DockerRun:
    """One container per submission, from the image of the boxes, with the limits of a grader.

    What the engine shows of this machine is the problem and our packages, read-only. The time ends
    with the output; that the container is removed afterwards is not counted, but in a rate.
    """

    name = "docker_run"

    def __init__(self, client: docker.DockerClient, image: ImageRef, work: Work) -> None:
        self._client = client
        self._image = image
        self._memory_bytes = work.problem.limits.memory_bytes
        problem = f"{INSIDE}/{work.problem.slug}"  # a problem is in a folder of its name
        files = {
            work.folder: problem,
            work.solution: f"{INSIDE}/{work.solution.name}",
            PACKAGES / "judge": f"{INSIDE}/packages/judge",
            PACKAGES / "sandbox": f"{INSIDE}/packages/sandbox",
        }
        self._volumes = {str(path): {"bind": at, "mode": "ro"} for path, at in files.items()}
        self._command = [
            "python3",
            *pytest_arguments(
                f"{problem}/checks", problem, f"{INSIDE}/{work.solution.name}"
            ),
        ]  # fmt: skip
        self.checks = 0

    def run_ms(self) -> float:
        """One run; raises `BaselineFailed`, or `SandboxError` when the engine fails."""
        started = time.perf_counter()
        with engine.errors("run a container of the bench"):
            container = self._client.containers.create(
                self._image.digest, self._command, user=NOBODY, network_mode="none",
                read_only=True, cap_drop=["ALL"], security_opt=["no-new-privileges:true"],
                mem_limit=self._memory_bytes, memswap_limit=self._memory_bytes, pids_limit=PIDS,
                tmpfs={"/tmp": "rw,nosuid,nodev,size=64m,mode=1777"},  # noqa: S108  # its own
                environment={"PYTHONPATH": f"{INSIDE}/packages:/env/site-packages"},
                volumes=self._volumes, working_dir="/tmp", labels={LABEL: "1"},  # noqa: S108
            )  # fmt: skip
            try:
                container.start()
                container.wait(timeout=RUN_S)
                output = container.logs().decode("utf-8", "replace")
                taken_ms = (time.perf_counter() - started) * 1000
            finally:
                with suppress(APIError):
                    container.remove(force=True, v=True)
        self.checks = passed_checks(output, self.name)
        return taken_ms

    @classmethod
    def available(cls, engine_url: str, image: ImageRef | None, work: Work) -> Self | str:
        """The baseline, or the reason why there is none."""
        if not engine_url.startswith("unix:"):
            return "the engine is another machine's, which does not see this one's files"
        if image is None:
            return "the image is not built (judge sandbox build)"
        try:
            return cls(engine.connect(engine_url, ENGINE_SILENCE_S), image, work)
        except SandboxError as error:
            return str(error)

    def close(self) -> None:
        """Disconnect."""
        self._client.close()


class Bare:
    """The floor: see `judge.bench.bare`."""

    name = "bare"

    def __init__(self, work: Work) -> None:
        command = [sys.executable, "-m", "judge.bench.bare", str(work.checks)]
        command += ["--rootdir", str(work.folder), "--solution", str(work.solution)]
        self._process = subprocess.Popen(
            command, cwd=PACKAGES, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def round(self) -> Round:
        """One run of all checks; raises `BaselineFailed`."""
        assert self._process.stdin
        assert self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write("\n")
        said = ""
        for line in self._process.stdout:
            if line.startswith("{"):
                return Round.model_validate_json(line)
            said += line
        raise BaselineFailed(f"bare did not pass all checks:\n{said[-LAST_CHARS:]}")

    def close(self) -> None:
        """End the process."""
        with suppress(BrokenPipeError):
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
