"""The longer commands, one module each; `judge.cli` puts them together.

`terminal` holds what they share. A command reads its arguments, calls what does the work, and
prints; nothing else imports it.
"""
