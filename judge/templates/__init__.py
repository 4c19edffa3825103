"""Exercises to begin with: one of each kind, complete and proven.

Theory of operation
-------------------
A folder here is an exercise, file by file. Each file's name ends in `.tmpl`, so that nothing takes
it for code of ours: it is not imported, collected or checked where it stands, and does not travel
into boxes, as our modules do. `judge.templates.writing` writes a copy without that ending. The
places of slug, title and track are marked as ``{{slug}}`` in `problem.toml`, and nowhere else.

The exercises are meant to be read: an author replaces their idea and keeps their form.
"""
