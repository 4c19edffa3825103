"""The service: submissions over HTTP, a queue that loses nothing, any number of workers.

Theory of operation
-------------------
PostgreSQL is the only thing the parts share, and the only truth:

    browser, CLI ── api ──┬── store ── PostgreSQL ── queue ── worker ── judging.Judge
                          └── stream ◄── doorbell ◄── NOTIFY ◄──┘ events, verdict

A submission and the job for it are committed in one transaction before it is answered with 202
(`store.accept`). A worker takes the job (`queue`), claims the judging, which counts the attempt
(`store.claim`), and writes events as they come (`store.append`). The verdict is one transaction
(`store.finish`) that only the first complete one wins; the job is done after that, not before.
So whatever dies, and whenever, either the verdict is there or the job still is. `caretaker` gives
jobs of silent workers back, finds rows without a job, and ends what was lost three times as JE.

A *submission* is what a student sent; a *judging* is one pass over it. A rejudge is another
judging of the same submission, and the earlier ones stay.

What each submission needs of the database goes over plain connections (`pool`), in few statements
(`queries`); the rest goes through SQLAlchemy.

NOTIFY is a doorbell: it makes a reader look now rather than in a second. Nothing depends on it.

This package is not sent into any box.
"""
