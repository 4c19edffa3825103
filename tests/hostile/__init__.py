"""Hostile submissions, and the proof that each gets the verdict it states.

Theory of operation
-------------------
Every program is a submission to `multi-head-attention`, in a folder named after what it attacks.
Its first line states what must come of it:

    # verdict: RE, MLE; message: SIGSEGV; tier: T2

- `verdict`: the verdicts it may get. More than one only where machines differ for good reasons.
- `message`: what the message or the details of the first failing check must contain.
- `tier`: the first tier that must not be accepted.
- `output`: what the submission's output, as the student sees it, must contain.
- `runs: 2`: judged so often in a row, for programs that leave something for the next run.
- `needs: nested`: only where submissions have namespaces of their own.

The docstring says what is attempted and why it must fail. Many attacks are meant to be refused
without harm: such a program raises, or never answers, if one succeeded, and gives right answers
otherwise, so that AC proves the refusal. `cases` reads the programs and builds those that are too
large or too odd for a file; `exercise` is what they are submitted to; `test_hostile` judges them
all, in an `arena`; `test_defences_bite` shows that they succeed once a defence is left out
(`weakened`).
"""
