"""What runs inside a runner box.

Theory of operation
-------------------
`zygote` is the first process of the box. It imports numpy and torch, runs the lazy parts of both
once (`warm`) and from then on only forks. For each submission there is a pair of processes,
prepared *before* it is asked for (`spare`): an init (`init`), the first process of new user, pid,
mount, net, ipc and uts namespaces, and its one child, the student (`student`), which loads the
submission and answers calls on descriptor 3. `confine` is the ordered list of what the pair gives
up on the way; `syscalls` wraps the system calls Python has no function for, `seccomp` turns the
rules of `sandbox.syscall_policy` into a filter, `counters` reads what the kernel counts, `dynamo`
keeps torch's compiler out until it is asked for, `heap` and `pages` make forks cheap. `probes` is
the hostile program that tries each defence in a real student before the box is used.

    grader --Lease--> zygote --fork--> init --fork--> student
       <--Granted + descriptor--'                        |
       <---------------- calls and answers --------------'

The grader uses some of it, too: what makes its own processes warm and their forks cheap, and
`loading` (import a submission from bytes), `calls` and `failures` (record what it raised) in its
in-process twin of a runner.
"""
