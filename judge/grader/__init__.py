"""The grader: what runs in the box that holds checks, reference and oracle.

Theory of operation
-------------------
`main` is the box's only long-lived process; it multiplexes. For every problem version it forks a
`session`, which collects the checks with pytest and pauses. For every submission the session forks
a process that does the `grading`: it leases a confined child of a `runner` box, lets the checks
call into it through `remote`, decides every verdict here, and asks `diagnosis` for the known
mistake behind a failure. Only `judge.events` leave the box.

The submission never runs in any of these processes, and what it answers is decoded without trust.
"""
