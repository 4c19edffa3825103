"""The result of one submission: the one schema of the API, `judge run --json` and the page.

`schema.json` beside this file is generated from it (`python -m judge.results`); a test keeps it
current. Non-finite numbers travel as the strings "NaN", "Infinity" and "-Infinity".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from judge.verdicts import Verdict

Number = float | Literal["NaN", "Infinity", "-Infinity"]
Kind = Literal["submit", "run", "tests"]
ChartSource = Literal["submission", "reference"]  # whose numbers a chart shows
State = Literal["queued", "judging", "finished"]
SEED_BITS = 48  # of a seed that nobody chose
SCHEMA_FILE = Path(__file__).with_name("schema.json")


class Record(BaseModel):
    """Base of all parts: immutable, and unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Frame(Record):
    """One line of the submission's own code in a traceback; lines and columns count from 1."""

    file: str
    line: int
    function: str
    text: str = ""
    column: int | None = None


class Table(Record):
    """A small window of an array around the largest error.

    `rows` are numbers in their printed form; `row_labels` and `column_labels` are indices into
    the full array; `differs` marks the entries that break the limit.
    """

    shape: list[int]
    dtype: str
    prefix: list[int] = Field(default=[], description="indices of the leading axes of this window")
    row_labels: list[int]
    column_labels: list[int]
    rows: list[list[str]]
    differs: list[list[bool]]


class Detail(Record):
    """What was measured when a check failed."""

    expected: str | Table | None = None
    got: str | Table | None = None
    max_abs: Number | None = None
    max_rel: Number | None = None
    at: list[int] | None = None
    limit: str | None = Field(default=None, description='e.g. "rtol 1e-07, atol 1e-09"')
    frames: list[Frame] = []


class CheckResult(Record):
    """One check: `title` is the sentence that should hold, `message` what was found."""

    id: str
    title: str
    kind: str
    why: str
    verdict: Verdict
    message: str = ""
    detail: Detail | None = None
    wall_ms: float = 0.0


class TierResult(Record):
    """One tier and its checks, in the order they are written; no verdict until it is finished.

    What an `advisory` tier finds counts neither for the submission's verdict nor for its score.
    """

    id: str
    title: str
    verdict: Verdict | None
    passed: int
    total: int
    checks: list[CheckResult]
    advisory: bool = False


class Chart(Record):
    """A chart: a Vega-Lite specification with inline data, and the same numbers as rows."""

    id: str
    tier: str
    title: str
    source: ChartSource
    spec: dict[str, JsonValue]
    table: list[dict[str, JsonValue]]


class Diagnosis(Record):
    """A known mistake that reproduces the submission's answers exactly."""

    pitfall: str
    hint: str


class Mutation(Record):
    """Grade of a student's own tests: which of them notice which mistake.

    `matrix` has a row for each of `tests` and a column for each of `mutants`: whether the test
    failed on it. `survivors` are the mutants that no test noticed, `must_kill` those that may not
    survive. `symptoms` and `titles` are by mutant; a title names the mistake, and is told of killed
    ones only. `flaky` tests do not always come to the same result on the same code.
    """

    score: float = Field(ge=0, le=1)
    threshold: float
    tests: list[str]
    mutants: list[str]
    matrix: list[list[bool]]
    survivors: list[str]
    must_kill: list[str] = []
    symptoms: dict[str, str] = {}
    titles: dict[str, str] = {}
    flaky: list[str] = []


class Output(Record):
    """What the submission printed, made safe to show."""

    text: str = ""
    truncated: bool = False


class Limits(Record):
    """The limits in force.

    `wall_s` is per tier. `cpu_s`, `memory_bytes` and `output_bytes` are per process of the
    submission: one serves all tiers, and a tier that it did not survive is followed by a fresh one.
    `source_bytes` counts all files.
    """

    wall_s: float = Field(gt=0, le=600)
    cpu_s: float = Field(gt=0, le=600)
    memory_bytes: int = Field(ge=64 << 20, le=64 << 30)
    output_bytes: int = Field(ge=1024, le=64 << 20)
    source_bytes: int = Field(ge=1024, le=64 << 10)


class Timing(Record):
    """Milliseconds. `spans` are the parts of `judged_ms`, by name, in the order they ran.

    A service has more around them: `accepted` and `claimed` before, `stored` after.
    """

    queued_ms: float = 0.0
    judged_ms: float = 0.0
    spans: dict[str, float] = {}


class Environment(Record):
    """Where it ran: sandbox with its mode, image digest, library versions inside the box."""

    sandbox: str
    image: str
    torch: str
    numpy: str


class Result(Record):
    """One submission, judged or on its way; no verdict until it is finished."""

    id: str
    problem: str
    problem_version: str
    kind: Kind
    state: State
    verdict: Verdict | None
    score: float = Field(ge=0, le=1)
    tiers: list[TierResult]
    charts: list[Chart] = []
    diagnosis: list[Diagnosis] = []
    mutation: Mutation | None = None
    output: Output = Output()
    seed: int
    limits: Limits
    timing: Timing = Timing()
    environment: Environment

    @property
    def outcome(self) -> Verdict:
        """The verdict of a finished submission; ValueError when it is not."""
        if self.verdict is None:
            raise ValueError("the submission is not finished")
        return self.verdict

    @property
    def failed_tier(self) -> str | None:
        """The first tier that counts and did not accept it."""
        passed = (Verdict.AC, Verdict.SK, None)
        counting = (tier for tier in self.tiers if not tier.advisory)
        return next((tier.id for tier in counting if tier.verdict not in passed), None)


def schema_text() -> str:
    """The JSON schema of `Result`, as it is committed."""
    return json.dumps(Result.model_json_schema(), indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
