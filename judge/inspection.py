"""What no schema can say about a problem folder: how its files fit together."""

from __future__ import annotations

import ast
import re
import symtable
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge.manifest import Fault, Manifest, Mutant, MutantList
from judge.toml_source import Location, TomlSource

MANIFEST = "problem.toml"
MUTANTS = "mutants.toml"
REFERENCE = "reference.py"
PROVIDED = "provided.py"
STATEMENT = "statement.md"
EDITORIAL = "editorial.md"
CONTRACT = "contract.pyi"
HARNESS = "harness.py"
PACKAGES = "packages"
NEEDS = "needs"
ACCEPTED = "submissions/accepted"
REJECTED = "submissions/rejected"
SUITES = "suites"
ACCEPTED_SUITES = "suites/accepted"
REJECTED_SUITES = "suites/rejected"
MIN_ACCEPTED = 3
MAX_LIBRARY_BYTES = 512 << 10  # a submission and its library are sent in one header of 1 MiB
_MODULE_PATH = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*/)+[A-Za-z_][A-Za-z0-9_]*\.py")


@dataclass(frozen=True)
class Inspection:
    """How the parts of a folder fit together. `contents` maps relative paths to bytes."""

    folder: Path
    contents: Mapping[str, bytes]
    manifest: Manifest
    manifest_source: TomlSource
    known: MutantList
    mutants_source: TomlSource

    def faults(self) -> Iterator[Fault]:
        """Everything found wrong, in the order an author would look."""
        yield from self._names()
        yield from self._tiers()
        yield from self._files()
        yield from self._packages()
        yield from self._own_tests()
        yield from self._takeaways()
        yield from self._required_files()
        yield from self._python()
        yield from self._checks()
        yield from self._mutants()
        yield from self._equivalent()
        yield from self._submissions()
        yield from self._suites()

    def _names(self) -> Iterator[Fault]:
        if self.manifest.id != self.folder.resolve().name:
            yield self._manifest_fault(
                ("id",),
                f"the id {self.manifest.id!r} is not the folder's name {self.folder.name!r}",
                "rename one of them: addresses and commands use both",
            )
        if self.manifest.provided_names and PROVIDED not in self.contents:
            yield self._manifest_fault(
                ("provided_names",), f"names are provided but {PROVIDED} is missing",
                f"write {PROVIDED}, or remove `provided_names`",
            )  # fmt: skip
        yield from self._defines(REFERENCE, "entry_points", self.manifest.entry_points)
        yield from self._defines(PROVIDED, "provided_names", self.manifest.provided_names)

    def _defines(self, file: str, key: str, names: Iterable[str]) -> Iterator[Fault]:
        defined = _defined_names(self.contents.get(file, b""))
        for name in names if defined else ():
            if name.partition(".")[0] not in defined:
                yield self._manifest_fault(
                    (key,),
                    f"{file} does not define {name!r}",
                    "define it there, or correct the name",
                )

    def _tiers(self) -> Iterator[Fault]:
        seen: list[str] = []
        first = self.manifest.tiers[0].id
        behind_first = {first}
        yield from self._advisory_tiers()
        for index, tier in enumerate(self.manifest.tiers):
            if tier.id in seen:
                yield self._manifest_fault(
                    ("tiers", index, "id"), f"two tiers have the id {tier.id!r}", "rename one"
                )
            unknown = sorted(set(tier.requires) - set(seen))
            for name in unknown:
                yield self._manifest_fault(
                    ("tiers", index, "requires"),
                    f"tier {tier.id} requires {name!r}, which is no earlier tier",
                    f"name one of: {', '.join(seen) or '(this is the first tier)'}",
                )
            if behind_first.intersection(tier.requires):
                behind_first.add(tier.id)
            elif index > 0 and not unknown:
                yield self._manifest_fault(
                    ("tiers", index, "requires"),
                    f"tier {tier.id} would run although {first} failed",
                    f'write requires = ["{first}"], or name a tier that requires {first}',
                )
            yield from self._exists(tier.checks, ("tiers", index, "checks"))
            seen.append(tier.id)

    def _advisory_tiers(self) -> Iterator[Fault]:
        """What counts for nothing decides nothing either."""
        advisory = {tier.id for tier in self.manifest.tiers if tier.advisory}
        if self.manifest.tiers[0].advisory:
            yield self._manifest_fault(
                ("tiers", 0, "advisory"), "the first tier is advisory",
                "remove `advisory`: all other tiers stand on the first one",
            )  # fmt: skip
        for index, tier in enumerate(self.manifest.tiers):
            for name in () if tier.advisory else sorted(advisory.intersection(tier.requires)):
                yield self._manifest_fault(
                    ("tiers", index, "requires"),
                    f"tier {tier.id} counts, but requires {name}, which is advisory",
                    f"require a tier that counts, or write `advisory = true` for {tier.id} too",
                )

    def _files(self) -> Iterator[Fault]:
        for name in _repeated(file.name for file in self.manifest.files):
            yield self._manifest_fault(
                ("files",), f"two files are called {name!r}", "rename one of them"
            )
        if self.manifest.files[0].role != "solution":
            yield self._manifest_fault(
                ("files", 0, "role"), "the first file is not a solution", "put the solution first"
            )
        for index, file in enumerate(self.manifest.files):
            yield from self._exists(file.starter, ("files", index, "starter"))
            if (file.role == "tests") != file.name.startswith("tests/"):
                yield self._manifest_fault(
                    ("files", index, "name"), f"{file.name} has the role {file.role}",
                    "tests are called tests/test_....py, and nothing else is",
                )  # fmt: skip
            if file.module is not None and index > 0:
                yield self._manifest_fault(
                    ("files", index, "module"), "only the first file can have a `module`",
                    "remove it: the others are imported by their own names",
                )  # fmt: skip

    def _packages(self) -> Iterator[Fault]:
        """Packages are there, and hold the place where the solution is to be a module."""
        modules = {name.removeprefix(f"{PACKAGES}/") for name in self.contents}
        for name in self.manifest.packages:
            if f"{name}/__init__.py" not in modules:
                yield self._manifest_fault(
                    ("packages",), f"there is no package {name!r} beside the exercises",
                    f"write {PACKAGES}/{name}/__init__.py in the folder of all exercises",
                )  # fmt: skip
        library = {name for name in self.contents if name.startswith(f"{PACKAGES}/")}
        for name in sorted(library):
            if not _MODULE_PATH.fullmatch(name):
                path = self.folder.parent / name
                yield Fault(
                    path, 1, "no import leads to a file of this name",
                    "use letters, digits and underscores, also in the names of folders",
                )  # fmt: skip
        if sum(len(self.contents[name]) for name in library) > MAX_LIBRARY_BYTES:
            yield self._manifest_fault(
                ("packages",), f"the packages have more than {MAX_LIBRARY_BYTES >> 10} KiB",
                "make them smaller: they travel with every submission",
            )  # fmt: skip
        module = self.manifest.files[0].module or ""
        if module and f"{module.replace('.', '/')}.py" in modules:
            yield self._manifest_fault(
                ("files", 0, "module"), f"{module} is in the package already",
                "remove it there: it is what the student writes",
            )  # fmt: skip
        solutions = [file for file in self.manifest.files if file.role == "solution"]
        if module and len(solutions) > 1:
            yield self._manifest_fault(
                ("files", 0, "module"), "a solution that others build on is one file",
                "join the files, or leave `module` out",
            )  # fmt: skip
        parent = module.rpartition(".")[0].replace(".", "/")
        if parent and f"{parent}/__init__.py" not in modules:
            yield self._manifest_fault(
                ("files", 0, "module"), f"{module} has no package to be in",
                "name its package in `packages`, or leave `module` out",
            )  # fmt: skip

    def _own_tests(self) -> Iterator[Fault]:
        """What grades students' tests is there when they may hand some in, and only then."""
        own = self.manifest.tests
        graded = [mutant.id for mutant in self.known.mutants if mutant.graded]
        takes = any(file.role == "tests" for file in self.manifest.files)
        if takes != (own is not None):
            yield self._manifest_fault(
                ("tests",) if own else ("files",),
                "a file of role tests and a table [tests] belong together",
                "write both, or none of them",
            )
        if own is None:
            return
        if not graded:
            yield self._manifest_fault(
                ("tests",), "no mutant grades the tests", f"write `graded = true` in {MUTANTS}"
            )
        for name in own.must_kill or ():
            if name not in graded:
                yield self._manifest_fault(
                    ("tests", "must_kill"), f"{name!r} is no graded mutant", "correct the name"
                )

    def _takeaways(self) -> Iterator[Fault]:
        known = {
            f"{PurePosixPath(tier.checks).stem}::{function.name}"
            for tier in self.manifest.tiers
            for function in _check_functions(self.contents.get(tier.checks, b""))
        }
        for index, takeaway in enumerate(self.manifest.takeaways):
            for name in takeaway.checks:
                if name not in known:
                    yield self._manifest_fault(
                        ("takeaways", index, "checks"), f"there is no check {name!r}",
                        "correct the name",
                    )  # fmt: skip

    def _required_files(self) -> Iterator[Fault]:
        for name in (STATEMENT, REFERENCE, CONTRACT):
            if name not in self.contents:
                path = self.folder / name
                yield Fault(path, 1, "the file is missing", f"write {name}")

    def _python(self) -> Iterator[Fault]:
        """The problem's own code compiles, and nothing a student may submit is above the limit."""
        own = {REFERENCE, PROVIDED, HARNESS, *(file.starter for file in self.manifest.files)}
        own.update(name for name in self.contents if _is_check(name))
        for name in sorted(own & set(self.contents)):
            yield from self._compiles(name, self.contents[name])
        for name in [REFERENCE, *sources_under(self.contents, "submissions")]:
            size = len(self.contents.get(name, b""))
            if size > self.manifest.limits.source_bytes:
                limit = self.manifest.limits.source_bytes
                yield Fault(
                    self.folder / name, 1, f"{size} bytes, but the limit is {limit}",
                    "shorten it, or raise limits.source_bytes",
                )  # fmt: skip

    def _checks(self) -> Iterator[Fault]:
        """Each check has its sentence and a name of its own (a second one would hide the first)."""
        for index, tier in enumerate(self.manifest.tiers):
            path, source = self.folder / tier.checks, self.contents.get(tier.checks)
            functions = _check_functions(source or b"")
            if source is not None and not functions:
                yield Fault(path, 1, "no checks in this file", "write a function `test_...`")
            for function in functions:
                if not ast.get_docstring(function):
                    yield Fault(
                        path, function.lineno, f"{function.name} has no docstring",
                        "write the sentence that the student reads as its docstring",
                    )  # fmt: skip
            names = [function.name for function in functions]
            for name in () if isinstance(tier.visible, bool) else tier.visible:
                if name not in names:
                    yield self._manifest_fault(
                        ("tiers", index, "visible"), f"{tier.checks} has no check {name!r}",
                        "correct the name",
                    )  # fmt: skip
            for name in _repeated(names):
                line = [function.lineno for function in functions if function.name == name][-1]
                yield Fault(path, line, f"two checks are called {name}", "rename one of them")

    def _mutants(self) -> Iterator[Fault]:
        ids = [mutant.id for mutant in self.known.mutants]
        for name in _repeated(ids):
            index = len(ids) - 1 - ids[::-1].index(name)
            yield self._mutant_fault(index, "id", f"two mutants are called {name!r}", "rename one")
        reference = self.contents.get(REFERENCE)
        sound = reference is not None and not any(self._compiles(REFERENCE, reference))
        for index, mutant in enumerate(self.known.mutants):
            yield from self._mutant(index, mutant)
            if sound:  # else its own fault is said already, once
                yield from self._edit(index, mutant)

    def _mutant(self, index: int, mutant: Mutant) -> Iterator[Fault]:
        tiers = [tier.id for tier in self.manifest.tiers]
        if mutant.tier not in tiers:
            yield self._mutant_fault(
                index, "tier", f"{mutant.id}: there is no tier {mutant.tier!r}",
                f"name one of: {', '.join(tiers)}",
            )  # fmt: skip
        if mutant.pitfall and not mutant.hint:
            yield self._mutant_fault(
                index, "pitfall", f"{mutant.id} is a pitfall without a hint", "add `hint = ...`"
            )

    def _edit(self, index: int, mutant: Mutant) -> Iterator[Fault]:
        reference = self.contents[REFERENCE].decode(errors="replace")
        count = reference.count(mutant.find)
        if count != 1:
            yield self._mutant_fault(
                index, "find", f"{mutant.id}: the text to find is {count} times in {REFERENCE}",
                "copy it exactly, and with enough around it to be there once",
            )  # fmt: skip
            return
        if mutant.find == mutant.replace:
            yield self._mutant_fault(index, "replace", "the edit changes nothing", "change it")
        for fault in self._compiles(REFERENCE, mutant.apply(self.contents[REFERENCE])):
            message = f"{mutant.id}: the edited reference does not compile: {fault.message}"
            yield self._mutant_fault(index, "replace", message, "correct the replacement")

    def _equivalent(self) -> Iterator[Fault]:
        reference = stripped_lines(self.contents.get(REFERENCE, b"").decode(errors="replace"))
        for index, entry in enumerate(self.known.equivalent):
            line, becomes = stripped_lines(entry.line), stripped_lines(entry.becomes)
            if reference and f"\n{line}\n" not in f"\n{reference}\n":
                yield self._equivalent_fault(
                    index, "line", f"{REFERENCE} has no such line: {entry.line.strip()}",
                    "copy whole lines, or remove the entry when the reference has changed",
                )  # fmt: skip
            if line == becomes:
                yield self._equivalent_fault(
                    index, "becomes", "`line` and `becomes` are the same",
                    "write in `becomes` what the machine made of the line",
                )  # fmt: skip

    def _submissions(self) -> Iterator[Fault]:
        accepted = len(sources_under(self.contents, ACCEPTED))
        if accepted < MIN_ACCEPTED:
            yield Fault(
                self.folder / ACCEPTED, 1, f"{accepted} accepted submissions",
                f"write at least {MIN_ACCEPTED} right solutions in different styles: they prove "
                "that the checks do not insist on one",
            )  # fmt: skip
        tiers = [tier.id for tier in self.manifest.tiers]
        for name in sources_under(self.contents, REJECTED):
            tier = PurePosixPath(name).parent.name
            if tier not in tiers:
                yield Fault(
                    self.folder / name, 1, f"its folder {tier!r} is no tier of this problem",
                    f"move it to the tier that must reject it: {', '.join(tiers)}",
                )  # fmt: skip

    def _suites(self) -> Iterator[Fault]:
        for name in sources_under(self.contents, SUITES):
            if str(PurePosixPath(name).parent) not in (ACCEPTED_SUITES, REJECTED_SUITES):
                yield Fault(
                    self.folder / name, 1, "its folder does not say how these tests are graded",
                    f"move it to {ACCEPTED_SUITES} or {REJECTED_SUITES}",
                )  # fmt: skip

    def _exists(self, name: str, location: Location) -> Iterator[Fault]:
        if name not in self.contents:
            yield self._manifest_fault(
                location, f"there is no file {name!r}", "write the file, or correct the name"
            )

    def _compiles(self, name: str, source: bytes) -> Iterator[Fault]:
        try:
            compile(source, name, "exec", dont_inherit=True)
        except SyntaxError as error:
            path, line = self.folder / name, error.lineno or 1
            yield Fault(path, line, error.msg, "correct the Python syntax on this line")
        except ValueError as error:  # a NUL byte
            yield Fault(self.folder / name, 1, str(error), "save it as plain text")

    def _manifest_fault(self, location: Location, message: str, remedy: str) -> Fault:
        line = self.manifest_source.line_of(location)
        return Fault(self.folder / MANIFEST, line, message, remedy)

    def _mutant_fault(self, index: int, key: str, message: str, remedy: str) -> Fault:
        line = self.mutants_source.line_of(("mutants", index, key))
        return Fault(self.folder / MUTANTS, line, message, remedy)

    def _equivalent_fault(self, index: int, key: str, message: str, remedy: str) -> Fault:
        line = self.mutants_source.line_of(("equivalent", index, key))
        return Fault(self.folder / MUTANTS, line, message, remedy)


def stripped_lines(text: str) -> str:
    """`text` with no white space around it, nor around any of its lines."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def sources_under(contents: Mapping[str, bytes], folder: str) -> list[str]:
    """Paths of the Python files under `folder`, sorted."""
    return sorted(
        name for name in contents if name.startswith(f"{folder}/") and name.endswith(".py")
    )


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def _is_check(name: str) -> bool:
    return re.fullmatch(r"checks/.*\.py", name) is not None


def _defined_names(source: bytes) -> set[str]:
    """What a module binds at its top level; none when it does not compile (said elsewhere)."""
    try:
        table = symtable.symtable(source.decode(errors="replace"), "module", "exec")
    except (SyntaxError, ValueError):
        return set()
    symbols = table.get_symbols()
    return {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}


def _check_functions(source: bytes) -> list[ast.FunctionDef]:
    """The test functions of a file of checks; none when it does not compile (said elsewhere)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return [function for function in functions if function.name.startswith("test_")]
