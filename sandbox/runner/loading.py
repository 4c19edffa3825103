"""Compiling and importing a submission from bytes.

Theory of operation
-------------------
A submission is a set of source files that never touch a disk: all of them are compiled first, so
that a mistake in any of them is found before anything runs, then the main one is executed as a
module named after its file (``solution.py`` is ``solution``, never ``__main__``). The others can
be imported by name. What stands around them comes in a `Setting`: the main file may have a dotted
name inside a package of its `library`; a `provided` source runs first as module ``provided`` and
the names it defines are put into the main module's globals; a `harness` runs last, and its
functions stand beside, and before, those of the main module. Sources of the submission are
registered with `linecache`, so tracebacks and `inspect.getsource` work.

`Submission` holds one such set and its module objects. Its modules appear in `sys.modules` only

- while they are being imported, and during later imports they make themselves (`load`); many
  submissions, for instance the reference and its mutants, live side by side in one process; or
- for good, after `install`, as in a process that belongs to one submission alone.

A file named like a module of the standard library, numpy or torch never shadows that module.

This module makes no system call of its own and imports nothing heavy: the grader uses it to run
reference and mutants in its own process.
"""

from __future__ import annotations
import __future__

import builtins
import importlib
import importlib.util
import linecache
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

from sandbox.protocol import Failure, Setting
from sandbox.runner.failures import describe_compile_error

PROVIDED_FILE = "provided.py"
HARNESS_FILE = "harness.py"
_PACKAGE_FILE = "/__init__.py"
_LIBRARIES = sys.stdlib_module_names | {"judge", "msgspec", "numpy", "sandbox", "torch"}
_NOT_DEFINED = (types.ModuleType, type(__future__.annotations))
_builtin_import = builtins.__import__
_KEPT_CODES = 512  # files of a problem: its reference, its pitfalls and what stands around them
ImportFunction = Callable[..., types.ModuleType]
COMPILER_ERRORS = (SyntaxError, ValueError, MemoryError, RecursionError, OverflowError)


class CompileRefused(Exception):
    """The compiler refused one of the files; `failure` says which line and why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


Names = dict[str, object]
Compiler = Callable[[str, bytes], types.CodeType]


def compile_file(file: str, source: bytes) -> types.CodeType:
    """Compile one file; raises `CompileRefused`. Warnings of the compiler never become errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            return compile(source, file, "exec", dont_inherit=True)
        except COMPILER_ERRORS as error:
            # Deep nesting raises MemoryError: this is a mistake in the source, not a full memory.
            raise CompileRefused(describe_compile_error(error, file, source)) from None


# Never where a student's code runs: it could ask for what has been compiled, the harness too.
_compile_once = lru_cache(_KEPT_CODES)(compile_file)


def load_submission(files: Mapping[str, bytes], setting: Setting) -> Names:
    """Compile all `files` and import the main one; the names that can be called, made anew.

    Raises `CompileRefused` when the compiler refuses a file; whatever the code raises while being
    imported is let through. `sys.modules` is as before afterwards.
    """
    return compile_submission(files, setting).load()


def compile_submission(files: Mapping[str, bytes], setting: Setting) -> Submission:
    """Compile all `files`, unless this process or the one it was forked from already did.

    For a problem's own files only. Raises `CompileRefused`.
    """
    return Submission(files, setting, _compile_once)


class Submission:
    """The compiled files of one submission and the modules made from them.

    Raises `CompileRefused`. `sources` maps each file name, as it stands in tracebacks, to its
    bytes (of the submission's own files only). Not thread-safe while importing.
    """

    def __init__(
        self, files: Mapping[str, bytes], setting: Setting, compiler: Compiler = compile_file
    ) -> None:
        self.sources = dict(files)
        self._setting = setting
        self._main = setting.module or _module_name(setting.main)
        own = {self._main if file == setting.main else _module_name(file): file for file in files}
        around = dict(setting.library)
        if setting.provided is not None:
            around[PROVIDED_FILE] = setting.provided
        main = {self._main: (setting.main, files[setting.main])} if setting.main in files else {}
        sources = {name: (file, files[file]) for name, file in own.items()}
        sources |= {_module_name(path): (path, source) for path, source in around.items()}
        sources |= main  # nothing takes the place of what is judged
        for file, source in self.sources.items():
            _remember_lines(file, source)
        codes = {name: compiler(*source) for name, source in sources.items()}
        packages = {_module_name(path) for path in setting.library if path.endswith(_PACKAGE_FILE)}
        harness = setting.harness
        self._harness = None if harness is None else compiler(HARNESS_FILE, harness)
        self._finder = _Finder(codes, packages, self._import)
        self._importable = {name for name in codes if _top(name) not in _LIBRARIES}
        self._tops = {_top(name) for name in self._importable}
        self._main_module = types.ModuleType(self._main)
        self._modules: dict[str, types.ModuleType] = {}
        self._depth = 0

    def load(self) -> Names:
        """Import the main file, leaving `sys.modules` as it was; for many in one process."""
        with self._visible():
            return self._import_all()

    def install(self) -> Names:
        """Import the main file as an ordinary program does: its modules stay in `sys.modules`."""
        self._finder.hide_imports = False
        for name in self._importable:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, self._finder)
        return self._import_all()

    def execute(self, file: str, source: bytes) -> None:
        """Run one more file after `install`, as a module that begins with the main one's names.

        Raises `CompileRefused`, and what the file raises.
        """
        code, name = compile_file(file, source), _module_name(file)
        _remember_lines(file, source)
        self._finder.add(name, code)
        module = importlib.util.module_from_spec(self._finder.spec_of(name))
        module.__dict__.update(
            (key, value) for key, value in vars(self._main_module).items() if not _is_special(key)
        )
        if name not in _LIBRARIES:
            sys.modules[name] = module
        self._finder.exec_module(module)

    def uninstall(self) -> None:
        """Undo `install`."""
        sys.meta_path.remove(self._finder)
        for name in self._importable:
            sys.modules.pop(name, None)

    def _import_all(self) -> Names:
        harness, self._harness = self._harness, None  # out of reach before anything runs
        names = dict(vars(self._import_main()))
        if harness is not None:  # nor imported by name: a submission might have taken the name
            module = types.ModuleType(_module_name(HARNESS_FILE))
            self._finder.execute(harness, module)
            names |= _functions_of(module)
        return names

    def _import_main(self) -> types.ModuleType:
        parent, _, own_name = self._main.rpartition(".")
        package = importlib.import_module(parent) if parent else None
        module = importlib.util.module_from_spec(self._finder.spec_of(self._main))
        if self._setting.provided is not None:
            provided = importlib.import_module(_module_name(PROVIDED_FILE))
            module.__dict__.update(_defined_names(provided))
        if self._main in self._importable:
            sys.modules[self._main] = module
        self._main_module = module
        self._finder.exec_module(module)
        if package is not None:
            setattr(package, own_name, module)
        return module

    @contextmanager
    def _visible(self) -> Iterator[None]:
        """Show this submission's modules in `sys.modules`; put back what was there before."""
        if self._depth:
            yield
            return
        hidden = {name: sys.modules.pop(name) for name in self._importable & sys.modules.keys()}
        sys.modules.update(self._modules)
        sys.meta_path.insert(0, self._finder)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            sys.meta_path.remove(self._finder)
            shown = self._importable & sys.modules.keys()
            self._modules = {name: sys.modules.pop(name) for name in shown}
            sys.modules.update(hidden)

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002  # the name Python calls it by
        locals: Mapping[str, object] | None = None,  # noqa: A002  # the same
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> types.ModuleType:
        """`__import__` for code that was loaded, so that imports inside functions work later."""
        package = (globals or {}).get("__package__") if level else None
        if _top(str(package) if package else name) not in self._tops:
            return _builtin_import(name, globals, locals, fromlist, level)
        with self._visible():
            return _builtin_import(name, globals, locals, fromlist, level)


class _Finder(MetaPathFinder, Loader):
    """Finds and runs the modules of one submission."""

    def __init__(
        self, codes: dict[str, types.CodeType], packages: set[str], imports: ImportFunction
    ) -> None:
        self._codes = codes
        self._packages = packages
        self._imports = imports
        self.hide_imports = True

    def add(self, name: str, code: types.CodeType) -> None:
        """Know one more module."""
        self._codes[name] = code

    def spec_of(self, name: str) -> ModuleSpec:
        """The spec of a file's module, also when a library of that name hides it."""
        is_package = name in self._packages
        origin = self._codes[name].co_filename
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package)
        spec.has_location = True
        return spec

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the protocol's signature
        target: types.ModuleType | None = None,  # noqa: ARG002  # the same
    ) -> ModuleSpec | None:
        """Part of the import protocol."""
        known = fullname in self._codes and _top(fullname) not in _LIBRARIES
        return self.spec_of(fullname) if known else None

    def create_module(
        self,
        spec: ModuleSpec,  # noqa: ARG002  # the protocol's signature
    ) -> types.ModuleType | None:
        """Part of the import protocol; None asks for an ordinary module."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Run a file in its module."""
        self.execute(self._codes[module.__name__], module)

    def execute(self, code: types.CodeType, module: types.ModuleType) -> None:
        """Run code in a module."""
        if self.hide_imports:
            module.__dict__["__builtins__"] = vars(builtins) | {"__import__": self._imports}
        exec(code, module.__dict__)  # noqa: S102  # what this file is for


def _module_name(file: str) -> str:
    """The dotted name of a file: ``a/b.py`` is ``a.b``, ``a/__init__.py`` is ``a``."""
    return file.removesuffix(_PACKAGE_FILE).removesuffix(".py").replace("/", ".")


def _top(module: str) -> str:
    return module.partition(".")[0]


def _is_special(name: object) -> bool:
    """Whether a name is Python's own, or none at all: a module's globals may hold anything."""
    return type(name) is not str or (name.startswith("__") and name.endswith("__"))


def _defined_names(module: types.ModuleType) -> dict[str, object]:
    """What a provided file defines: its public names without the modules it imports."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and not isinstance(value, _NOT_DEFINED)
    }


def _functions_of(harness: types.ModuleType) -> dict[str, object]:
    """The public functions that a harness defines: not what it imports to do so."""
    return {
        name: value
        for name, value in vars(harness).items()
        if isinstance(value, types.FunctionType)
        and value.__module__ == harness.__name__
        and not name.startswith("_")
    }


def _remember_lines(file: str, source: bytes) -> None:
    try:
        lines = importlib.util.decode_source(source).splitlines(keepends=True)
    except (SyntaxError, UnicodeDecodeError, LookupError):  # LookupError: rot13 is no text encoding
        lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[file] = (len(source), None, lines, file)
