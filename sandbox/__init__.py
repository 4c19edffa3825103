"""Boxes: warm processes in which code that nobody trusts can run. Mechanism, no policy.

Theory of operation
-------------------
A *box* is a process under confinement, started by a *launcher* and talked to over a control
channel. It has no network, a read-only root, no capabilities, an unprivileged user, and bounds on
memory, processes, CPU and on everything it can write to. Two launchers make boxes that look the
same from inside: Docker, from an image of Python and libraries, and bubblewrap, from the Python
that runs the judge. Neither image nor box contains this package: the code a box runs travels
over its stdin when it starts.

There are two kinds of boxes, which differ in the code they are sent and in their bounds. A *runner*
holds a zygote and, one at a time, submissions, each of them a fork of the zygote under a second,
tighter confinement of its own (`sandbox.runner`). A *grader* holds what is trusted. They meet over
sockets in a small folder of their launcher's; arrays cross as plain bytes.

This package knows no problem and never says "correct". It imports nothing of `judge`.

Where to look
-------------
======================  ==========================================================================
`boxes`                 what a box and a launcher are, whoever makes them; `SandboxError`
`choose`                which launcher to use here, and why: the door for callers
`survey`                what this machine offers, what is missing, how to get it
`docker_boxes`          boxes made by a Docker engine; `engine` is how it is reached
`image`                 the image they are made from, and how it is built
`bwrap_boxes`           boxes made by bubblewrap; `cgroups` and `watchdog` bound their memory
`start`, `boot`         the first command of every box, and the first code to run inside
`archive`               the code that travels
`channel`               the launcher's end of a control channel
`owner`                 whose a box is, so that those of the dead can be removed
`protocol`              frames and messages, between boxes and between a box and its launcher
`arrays`, `text`        values and text at that border
`syscall_policy`        which system calls exist for whom
`runner`                what runs inside a runner box
======================  ==========================================================================

Failures of ours are `SandboxError`s, which say what to do. Failures of a peer are
`protocol.ChannelError`s. What submitted code does is a value, never an exception.
"""
