"""A student's own folder, for people who work in an editor of their own.

Theory of operation
-------------------
`Workspace` says where the files of an exercise stand in the folder and reads and writes them; what
is there is never overwritten. `Passes` remembers, in a file of the folder, which source of which
exercise was accepted, so that a chapter can be judged on top of the student's own solution of an
earlier one. `Grades` keeps results on tests, by what they are results of.

Nothing here judges anything: the commands (`judge.commands.course`) do, on this machine or on a
server.
"""
