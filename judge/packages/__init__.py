"""Ways in and out: problem packages of programming contests.

Theory of operation
-------------------
A package, in the layout of Kattis and the ICPC, is a folder or a zip of one. It holds a statement,
settings, example submissions sorted by what is to become of them, and files that are fed to
programs. An exercise of ours calls functions and compares arrays, so the two share an outline and
differ in their heart. What fits is translated; what does not is named, never made up.

- `archive` reads a package without trusting it, and writes one without overwriting anything. It is
  the only module that touches zips, links and paths from elsewhere.
- `metadata` is `problem.yaml`: YAML in, records out, and back.
- `export` makes a package of an exercise. The exercise travels in it as it is, below `judge/`, and
  with it what it needs, so that nothing is lost between two judges of ours.
- `own` takes that exercise out again: the same files, hence the same version.
- `foreign` makes the beginning of a folder from any other package, and says what is left to do.

Written is version 2025-09 of the format, the first that knows Markdown, time limits in seconds and
solutions that fail for a reason nobody states. Read are that one, 2023-07-draft and legacy.
"""
