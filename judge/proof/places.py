"""Where in a folder something stands: the file and line that a finding names."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from judge.inspection import MANIFEST, MUTANTS
from judge.manifest import Fault
from judge.problem import Problem
from judge.proof.outcomes import Finding
from judge.toml_source import Location, TomlSource


@dataclass(frozen=True)
class Place:
    """A line of a file, from which findings are made."""

    file: str
    line: int

    def finding(self, message: str, remedy: str, *, advice: bool = False) -> Finding:
        """What is wrong there, and what to do."""
        return Finding(
            file=self.file, line=self.line, message=message, remedy=remedy, advice=advice
        )


@dataclass(frozen=True)
class Places:
    """The places of one folder."""

    problem: Problem

    def file(self, name: str, line: int = 1) -> Place:
        """A line of the file `name` of the folder."""
        return Place(str(self.problem.folder / name), line)

    def manifest(self, *location: str | int) -> Place:
        """Where problem.toml says something, such as ``("limits", "wall_s")``."""
        return self._toml(MANIFEST, location)

    def mutant(self, mutant_id: str, key: str) -> Place:
        """Where mutants.toml says something of a named mutant."""
        ids = [mutant.id for mutant in self.problem.mutants]
        return self._toml(MUTANTS, ("mutants", ids.index(mutant_id), key))

    def check(self, check_id: str) -> Place:
        """Where the function of a check begins."""
        return self._checks.get(check_id.partition("[")[0], self.file(MANIFEST))

    def _toml(self, name: str, location: Location) -> Place:
        source = TomlSource.parse(self.problem.contents[name].decode())
        return self.file(name, source.line_of(location))

    @cached_property
    def _checks(self) -> dict[str, Place]:
        found: dict[str, Place] = {}
        for tier in self.problem.tiers:
            stem = PurePosixPath(tier.checks).stem
            for node in ast.parse(self.problem.contents[tier.checks]).body:
                if isinstance(node, ast.FunctionDef):
                    found[f"{stem}::{node.name}"] = self.file(tier.checks, node.lineno)
        return found


def finding_of(fault: Fault) -> Finding:
    """A fault of a folder that cannot be loaded."""
    return Finding(
        file=str(fault.file), line=fault.line, message=fault.message, remedy=fault.remedy
    )
