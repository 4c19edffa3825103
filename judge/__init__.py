"""The judge: problems, grading, results and the command line. Policy; `sandbox` is mechanism.

Theory of operation
-------------------
Verdicts cannot be forged because the code that decides never shares a process with the code
that is judged. Two boxes, both warm and both confined, hold one each:

    judge run ── judging.Judge ──┬── grader box   problem, checks, oracle, seed (`judge.grader`)
                                 │        │ arrays, over a socket the two boxes share
                                 └── runner box   the submission              (`sandbox.runner`)

A submission's life, by module: `problem` reads and validates the problem folder. `judging` sends
folder and submission to the grader box, which forks its paused pytest session for them. Checks
call the submission through a proxy; each call is a frame to the runner box and a frame back. The
grader says what happened as `events`; `judging` folds them into one `results.Result`; `render`
and `charts` show it.

Three kinds of fault stay apart. The student's is a value, a verdict. The problem's is the verdict
JE with the author's file and line. Ours is an exception. Only the first can cost a student
anything.

This package is also sent into the grader box, so importing it must stay cheap: no imports here.
"""
