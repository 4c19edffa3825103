"""What an installed judge needs beside its modules is in the wheel; the page comes by a hook."""

from __future__ import annotations

from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def packed() -> set[str]:
    """Paths in a wheel of these sources."""
    return {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}


@pytest.mark.parametrize(
    "pattern",
    [
        "judge/templates/**/*.tmpl",
        "judge/proof/reports/page.css",
        "judge/schema.json",
        "judge/service/openapi.json",
        "judge/service/migrations/*",
        "sandbox/image/*",
    ],
)
def test_files_that_are_read_travel_with_the_code(packed: set[str], pattern: str) -> None:
    wanted = {path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern) if path.is_file()}
    wanted = {path for path in wanted if not path.endswith(".pyc")}
    assert wanted
    assert wanted <= packed


def test_exercises_are_beside_the_package_and_not_in_it(packed: set[str]) -> None:
    assert "judge_problems/multi-head-attention/problem.toml" in packed
    assert not [path for path in packed if path.startswith("problems/")]
