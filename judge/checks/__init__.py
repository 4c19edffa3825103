"""What the author of a problem needs to write checks, and nothing else.

Theory of operation
-------------------
A check is an ordinary pytest function. Its docstring is the sentence a student reads, its mark
says what kind of check it is and why it matters later::

    from judge.checks import Rng, Submission, assert_close, check

    @check(kind="oracle", why="Everything after this function adds to what it returns.")
    def test_double(submission: Submission, rng: Rng) -> None:
        \"\"\"Every number is doubled.\"\"\"
        x = rng.normal(3, 4)
        assert_close(submission.double(x), 2 * x, what="the result")

Three fixtures (`judge.checks.fixtures`, a pytest plugin) connect it to what is judged:

- `submission` (`Submission`) calls the functions, and uses the modules, of the judged code. It may
  live in another, confined process (the grader's proxy) or in this one (`LocalSubmission`); a check
  cannot tell. Results are plain arrays with a working autograd graph.
- `rng` (`Rng`) draws inputs from the submission's secret seed and the check's own name.
- `charts` (`Charts`) takes what an experiment wants to show.

Whoever runs the checks sets the `Judging` of the moment in the session's stash (`CURRENT`) before
each check; nothing here is global.

What a check may raise, and what it means::

    AssertionError            the submission is wrong; the message is shown to the student
    +-- CheckFailure          ... with numbers beside it (`judge.results.Detail`)
    SubmissionError           the submission raised; also matches the builtin it derives from
    UnusableResult            it returned something that is neither an array nor a plain value
    anything else             the check itself is broken, unless the reference passes it

Comparisons (`assert_close` and its neighbours) are made to be hard to fool: exact type, shape and
dtype first, nothing broadcasts, NaN and empty arrays never pass, and expected values that would
let anything pass are the author's error. All words are for students: short, plain, no blame.
"""

from __future__ import annotations

from judge.checks.charts import Charts, RecordedChart
from judge.checks.comparison import (
    assert_array,
    assert_close,
    assert_equal,
    assert_finite,
    assert_tuple,
    assert_unchanged,
    assert_zero_where,
    tolerance_for,
)
from judge.checks.current import CURRENT, Judging
from judge.checks.failures import (
    CheckFailure,
    SubmissionError,
    UnusableResult,
    fail,
    submission_error,
)
from judge.checks.gradients import gradients
from judge.checks.local import LocalSubmission
from judge.checks.marks import CheckDefinitionError, CheckInfo, CheckKind, check, describe
from judge.checks.rng import Rng
from judge.checks.submission import (
    ChangedArgument,
    Cost,
    Module,
    Observation,
    Signature,
    Submission,
)
from judge.tolerances import Tolerance

__all__ = [
    "CURRENT",
    "ChangedArgument",
    "Charts",
    "CheckDefinitionError",
    "CheckFailure",
    "CheckInfo",
    "CheckKind",
    "Cost",
    "Judging",
    "LocalSubmission",
    "Module",
    "Observation",
    "RecordedChart",
    "Rng",
    "Signature",
    "Submission",
    "SubmissionError",
    "Tolerance",
    "UnusableResult",
    "assert_array",
    "assert_close",
    "assert_equal",
    "assert_finite",
    "assert_tuple",
    "assert_unchanged",
    "assert_zero_where",
    "check",
    "describe",
    "fail",
    "gradients",
    "submission_error",
    "tolerance_for",
]
