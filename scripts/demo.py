"""`make demo`: judge five submissions of one exercise, right ones and known mistakes.

The mistakes are made from the problem's own list of mutants and written to `demo/`, where they can
be read and changed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from judge.problem import Problem, find_folder, load_problem
from judge.settings import Settings

SLUG = "multi-head-attention"
MISTAKES = ("merge-without-transpose", "mask-inverted", "dead-rows-nan-gradient")
FOLDER = Path("demo")
NOT_ALL_ACCEPTED = 1
JUDGED = (0, NOT_ALL_ACCEPTED)


def main() -> int:
    """Run the demo; 0 when the right submissions and only those were accepted."""
    problem = load_problem(find_folder(Settings().problems, SLUG))
    charts = FOLDER / "charts"
    submissions = [*right_ones(problem), *mistakes(problem)]
    for path, source in submissions:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(source)
    paths = [str(path) for path, _source in submissions]
    command = [sys.executable, "-m", "judge", "run", SLUG, *paths, "--charts", str(charts)]
    print("$ judge", *command[3:], flush=True)
    status = subprocess.run(command, check=False).returncode
    where = f", their charts in {charts}, as SVG and PNG" if status in JUDGED else ""
    print(f"\nThe submissions are in {FOLDER}{where}.")
    return 0 if status == NOT_ALL_ACCEPTED else status or 1


def right_ones(problem: Problem) -> list[tuple[Path, bytes]]:
    """The reference and one alternative."""
    alternative = problem.accepted[0]
    return [
        (FOLDER / "reference.py", problem.reference),
        (FOLDER / Path(alternative.name).name, alternative.source),
    ]


def mistakes(problem: Problem) -> list[tuple[Path, bytes]]:
    """The known mistakes, in the order they are named above."""
    mutants = {mutant.id: mutant for mutant in problem.mutants}
    return [
        (FOLDER / f"{name.replace('-', '_')}.py", problem.mutate(mutants[name]))
        for name in MISTAKES
    ]


if __name__ == "__main__":
    sys.exit(main())
