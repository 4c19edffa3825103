"""The proof of an exercise: that its checks accept what is right and reject what is wrong.

Theory of operation
-------------------
A proof of a folder is a list of cases, each a claim that was put to the test:

- *in boxes*, as a student's submission is judged: the reference on many seeds, the other right
  ways, named mistakes, kept wrong solutions, the starter (`judge.proof.boxed`);
- *beside the checks*, in the grader box and without a runner, which is ten times cheaper and good
  enough for code of the folder's own: null answers, the mutants that a machine makes of the
  reference, orders and threads, and how close comparisons come to their limits
  (`judge.proof.rehearsed`);
- *on paper*: statement, contract, sources, hints (`judge.proof.lint`).

`judge.proof.prover` puts them together, as many at a time as there are slots. Whatever was judged
or rehearsed is kept by everything that it depends on (`judge.proof.cache`), so that a second proof
takes seconds, and one after a change only what the change can have an effect on.

What comes of it is a `Proof` (`judge.proof.outcomes`), which `judge.proof.reports` turns into a
table, JUnit's XML, annotations and a page.
"""
