"""What a proof looks like: in a terminal, in JUnit's XML, on GitHub, and as a page.

Theory of operation
-------------------
Each report is a pure function of `Proof`s; it judges nothing and opens no file but those that
`judge.proof.reports.html.write_pages` is asked to write. What a number is called, and when it is
worth a reader's attention, is said once, in `judge.proof.reports.figures`.

Titles, messages and diffs are an author's, and may hold what a program printed. Each report
escapes them by the rules of what reads it: a terminal, XML, workflow commands, Markdown, HTML.
"""
