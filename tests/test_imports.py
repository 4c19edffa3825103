"""Which module may import which, read from the source: also imports inside functions count."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
OURS = ("judge", "sandbox")
IN_THE_BOXES = {"torch", "numpy", "msgspec", "pytest", "_pytest", "pydantic", "pydantic_core"}
IN_A_RUNNER = {"torch", "numpy", "msgspec", "pytest", "_pytest"}  # students write tests, too


@cache
def modules() -> dict[str, Path]:
    """Our modules by dotted name."""
    paths = [path for package in OURS for path in (ROOT / package).rglob("*.py")]
    return {dotted_name(path): path for path in paths}


def dotted_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Dotted names that a file imports; of ours, the modules themselves."""
    return frozenset(_imports(ast.parse(path.read_bytes())))


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            assert node.module is not None
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            found = submodules & set(modules())
            yield from found
            if len(found) < len(node.names):
                yield node.module


def graph() -> dict[str, set[str]]:
    return {name: set(imports_of(path)) & set(modules()) for name, path in modules().items()}


def reachable(start: str) -> set[str]:
    """Modules that are imported, sooner or later, by `start`, and it."""
    edges, seen, waiting = graph(), set[str](), [start]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(edges[name])
    return seen


def third_party(names: set[str]) -> set[str]:
    imported = {each for name in names for each in imports_of(modules()[name])}
    roots = {each.partition(".")[0] for each in imported}
    return roots - set(sys.stdlib_module_names) - set(OURS)


def test_the_sandbox_knows_no_judge() -> None:
    offenders = {
        name: imported
        for name, path in modules().items()
        for imported in imports_of(path)
        if name.startswith("sandbox") and imported.partition(".")[0] == "judge"
    }
    assert not offenders


def test_only_commands_know_the_service() -> None:
    offenders = {
        f"{name}: {imported}"
        for name, path in modules().items()
        for imported in imports_of(path)
        if imported.startswith("judge.service")
        and not name.startswith(("judge.service", "judge.commands"))
    }
    assert not offenders


def test_what_answers_requests_has_no_hands() -> None:
    for name in ("judge.service.api", "judge.client"):
        assert not reachable(name) & {"judge.judging", "judge.slots"}
    assert not {each for each in reachable("judge.client") if each.startswith("judge.service")}


def test_no_module_imports_itself_in_the_end() -> None:
    TopologicalSorter(graph()).prepare()  # raises CycleError, which names the cycle


def test_no_import_is_for_typing_only() -> None:
    offenders = [
        str(path)
        for path in modules().values()
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Name | ast.Attribute)
        and "TYPE_CHECKING" in (getattr(node, "id", ""), getattr(node, "attr", ""))
    ]
    assert not offenders


def test_the_runner_box_needs_only_what_its_image_has() -> None:
    inside = reachable("sandbox.runner.zygote")
    assert {name for name in inside if not name.startswith("sandbox")} == set()
    assert third_party(inside) <= IN_A_RUNNER


def test_the_grader_box_needs_only_what_its_image_has() -> None:
    assert third_party(reachable("judge.grader.main")) <= IN_THE_BOXES


def test_problems_import_the_author_api_and_ordinary_libraries_only() -> None:
    packages = {path.name for path in (ROOT / "problems/packages").iterdir()}
    libraries = set(sys.stdlib_module_names) | {"torch", "numpy", "pytest"} | packages
    offenders = {
        f"{path}: {imported}"
        for path in (ROOT / "problems").rglob("*.py")
        if "rejected" not in path.parts
        for imported in imports_of(path)
        if imported.partition(".")[0] not in libraries | own_modules(path)
        and not f"{imported}.".startswith("judge.checks.")
    }
    assert not offenders


def own_modules(path: Path) -> set[str]:
    """What a problem's file may import of the problem: files beside it, and what is provided.

    A harness imports the solution that it stands beside.
    """
    around = {"provided", "solution"} if path.name == "harness.py" else {"provided"}
    return {beside.stem for beside in path.parent.glob("*.py")} | around


def test_only_the_settings_read_the_environment() -> None:
    # The runner reads what our own launcher set for it, in a box without any other environment.
    allowed = {"judge.settings", "sandbox.runner.zygote"}
    offenders = {
        f"{name}:{node.lineno}"
        for name, path in modules().items()
        if name not in allowed
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    assert not offenders


def test_importing_the_package_imports_nothing() -> None:
    assert imports_of(ROOT / "judge" / "__init__.py") <= {"__future__"}
