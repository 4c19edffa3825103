"""`judge bench`: what judging takes, beside other ways of running the same checks.

Theory of operation
-------------------
Times differ between machines and from one minute to the next. So figures are taken in one run
together with what they are compared to, in turns: what disturbs the machine disturbs all alike.
Only what somebody waits for, a start, has its target in seconds, and `scale` compares many workers
with one.

    judge        a submission over HTTP to a running service, from POST to its `finished` event
    docker_run   a new container for the submission, removed afterwards
    cold_pytest  `python -m pytest` on this machine, a new process
    bare         the same checks, called in a process where everything is warm: the floor

All of them run the same checks on the same source, and each has to pass all of them, or there is
no figure. `local_checks` is the pytest plugin of the second and third, `bare` the program of the
fourth, `baselines` starts them. `server` starts a service of our own, and workers, `groups` finds
what belongs to it, `cpu` and `footprint` read what that used and holds. `latency`, `throughput`,
`memory`, `soak`, `start` and `scale` measure, `targets` compares, `tables` shows.
"""
