"""Reading packages that may be hostile, and writing files where none are yet.

A package is listed first, and only what is asked for is read, up to a limit: what a zip says of
itself is not believed. A path that leads elsewhere condemns the whole package. A link or a device
is an error when it is asked for, since packages may hold links that nobody needs.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from judge.inspection import MANIFEST
from sandbox.text import one_line

METADATA = "problem.yaml"
ARCHIVE_SUFFIXES = (".zip", ".kpp")
MAX_ARCHIVE_BYTES = 256 << 20
MAX_MEMBERS = 20_000
MAX_FILE_BYTES = 8 << 20
MAX_LIST_BYTES = MAX_FILE_BYTES + 1  # of the list of members: more than `MAX_MEMBERS` need
MAX_READ_BYTES = 64 << 20  # of all files that are read of one package
MAX_NAME_BYTES = 255  # of one part of a path, as file systems have it
MAX_DEPTH = 32
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the time of every file in a zip of ours: same files, same bytes
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")
# A name that is not the UTF-8 it claims to be is a ValueError.
_UNREADABLE = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error, ValueError
)  # fmt: skip
# Of the others, zipfile unpacks some kilobytes at once: in memory they may be gigabytes.
_BOUNDED_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class PackageError(Exception):
    """A package cannot be read or written; the message says what is wrong and what to do."""


@dataclass(frozen=True)
class Member:
    """One file of a package; `refused` says why it cannot be read, if so."""

    name: str
    read: Callable[[int], bytes]
    refused: str = ""


class Package:
    """The files of a package, by their paths inside it.

    `label` is what the user calls it, `name` what it calls itself.
    """

    def __init__(self, label: str, name: str, members: Mapping[str, Member]) -> None:
        self.label = label
        self.name = name
        self._members = members
        self._room = MAX_READ_BYTES

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all files, sorted."""
        return tuple(sorted(self._members))

    def below(self, folder: str) -> tuple[str, ...]:
        """Paths of all files in a folder and the folders in it, sorted."""
        return tuple(name for name in self.names if name.startswith(f"{folder}/"))

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str, limit: int = MAX_FILE_BYTES) -> bytes:
        """The bytes of a file that is there. Raises `PackageError`, also above `limit` bytes."""
        member = self._members[name]
        if member.refused:
            remedy = "put the file itself there, and pack it as zip files are"
            raise self.error(f"{one_line(name)} is {member.refused}", remedy)
        try:
            data = member.read(limit + 1)
        except (*_UNREADABLE, OSError) as error:
            raise self.error(f"{one_line(name)} cannot be read ({error})", "pack it anew") from None
        if len(data) > limit:
            raise self.error(
                f"{one_line(name)} is larger than {limit >> 10} KiB", "make it smaller"
            )
        self._room -= len(data)
        if self._room < 0:
            raise self.error(
                f"its files are larger than {MAX_READ_BYTES >> 20} MiB together", "remove some"
            )
        return data

    def read_text(self, name: str, limit: int = MAX_FILE_BYTES) -> str:
        """A file that is UTF-8, with line feeds. Raises `PackageError`."""
        data = self.read(name, limit)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise self.error(
                f"{one_line(name)}:{line}: not UTF-8 text", "save it as UTF-8"
            ) from None
        return text.replace("\r\n", "\n")

    def error(self, problem: str, remedy: str) -> PackageError:
        """What is wrong with this package, to be raised."""
        return PackageError(f"{self.label}: {problem}.\n{remedy[:1].upper()}{remedy[1:]}.")


# --- reading --------------------------------------------------------------------------------------


@contextmanager
def open_package(path: Path) -> Iterator[Package]:
    """The package at `path`, a zip or a folder. Raises `PackageError`."""
    if path.is_dir():
        yield _package(path, path.resolve().name, _members_of_folder(path))
        return
    with ExitStack() as stack:
        try:
            if path.stat().st_size > MAX_ARCHIVE_BYTES:
                words = f"larger than {MAX_ARCHIVE_BYTES >> 20} MiB"
                raise PackageError(f"{path}: {words}.\nUnpack it.")
            file = stack.enter_context(_BoundedReads(path))
            archive = stack.enter_context(zipfile.ZipFile(file))
        except OSError as error:
            raise _no_package(path, error.strerror or str(error)) from None
        except _UNREADABLE:
            raise _no_package(path, "not a zip file") from None
        yield _package(path, path.stem, _members_of_zip(path, archive))


def _no_package(path: Path, words: str) -> PackageError:
    remedy = "Name a problem package: a zip, or a folder."
    return PackageError(f"{path}: {words.lower()}.\n{remedy}")


class _BoundedReads(io.FileIO):
    """A file of which nobody reads much at once.

    The list of members is read in one go and made into objects before any of them can be counted.
    """

    def read(self, size: int | None = -1, /) -> bytes:
        """So many bytes, fewer at the end; without a number as many as are ever given."""
        if size is not None and size > MAX_LIST_BYTES:
            raise OSError("its list of files is too large")
        return super().read(MAX_LIST_BYTES if size is None or size < 0 else size) or b""


def _package(path: Path, name: str, members: Iterable[Member]) -> Package:
    found: dict[str, Member] = {}
    for number, member in enumerate(members):
        if number >= MAX_MEMBERS:
            raise PackageError(f"{path}: more than {MAX_MEMBERS} files.\nRemove what is no part.")
        if member.name in found:
            words = f"{one_line(member.name)} is in it twice"
            raise PackageError(f"{path}: {words}.\nPack it anew.")
        if _counts(member.name):
            found[member.name] = member
    if METADATA not in found:
        tops = {each.partition("/")[0] for each in found}
        if len(tops) != 1 or f"{(name := tops.pop())}/{METADATA}" not in found:
            words = f"no {METADATA} in it, so it is no problem package"
            raise PackageError(f"{path}: {words}.\nName the folder that holds {METADATA}.")
        found = {each.removeprefix(f"{name}/"): member for each, member in found.items()}
    return Package(str(path), name, found)


def _counts(name: str) -> bool:
    """Whether a file is part of a package: hidden files and what tools leave behind are not."""
    parts = PurePosixPath(name).parts
    return not any(part.startswith(".") or part in ("__pycache__", "__MACOSX") for part in parts)


def _members_of_zip(path: Path, archive: zipfile.ZipFile) -> Iterator[Member]:
    for info in archive.infolist():
        name = _safe_name(path, info.filename)
        if info.is_dir():
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        refused = "encrypted" if info.flag_bits & 1 else _refusal(kind)
        if info.compress_type not in _BOUNDED_METHODS:
            refused = refused or "packed in a way other than deflate, which is not taken"

        def read(limit: int, info: zipfile.ZipInfo = info) -> bytes:
            with archive.open(info) as file:
                return file.read(limit)

        yield Member(name, read, refused)


def _members_of_folder(folder: Path) -> Iterator[Member]:
    for parent, folders, files in os.walk(folder):  # which does not follow links
        for each in [*files, *(each for each in folders if (Path(parent) / each).is_symlink())]:
            path = Path(parent) / each
            name = _safe_name(folder, path.relative_to(folder).as_posix())

            def read(limit: int, path: Path = path) -> bytes:
                with path.open("rb") as file:
                    return file.read(limit)

            yield Member(name, read, _refusal(stat.S_IFMT(path.lstat().st_mode)))


def _refusal(kind: int) -> str:
    """Why a file of that kind is not read; zips made on other systems say no kind at all."""
    if kind == stat.S_IFLNK:
        return "a link"
    return "" if kind in (0, stat.S_IFREG) else "no regular file"


def _safe_name(path: Path, name: str) -> str:
    """The path of a member, which leads nowhere but into the package. Raises `PackageError`."""
    parts = PurePosixPath(name).parts
    leads_out = not parts or name.startswith("/") or ".." in parts or re.match(r"[A-Za-z]:", name)
    too_long = len(parts) > MAX_DEPTH or any(len(os.fsencode(p)) > MAX_NAME_BYTES for p in parts)
    if leads_out or too_long or _CONTROL.search(name):
        words = "the path of a file in it is not allowed"
        shown = one_line(name, 100)
        raise PackageError(f"{path}: {words}: {shown!r}.\nDo not trust it; ask who made it.")
    return "/".join(parts)


# --- writing --------------------------------------------------------------------------------------


def write_package(target: Path, name: str, files: Mapping[str, bytes]) -> None:
    """Write a package to a new zip, or to a new folder, by what `target` is called.

    `name` is the folder inside a zip. Raises `PackageError`; then nothing is left of it.
    """
    if target.suffix not in ARCHIVE_SUFFIXES:
        write_folders(target.parent, {target.name: files})
        return
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            info = zipfile.ZipInfo(f"{name}/{path}", _EARLIEST)
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, files[path])
    made = False
    try:
        with target.open("xb") as file:
            made = True
            file.write(data.getvalue())
    except BaseException as error:
        if made:
            target.unlink()
        _explain(error, target)
        raise


def write_folders(root: Path, folders: Mapping[str, Mapping[str, bytes]]) -> None:
    """Write new folders, by their paths in `root`, which is made where it is missing.

    Raises `PackageError`; then nothing is left of any of them.
    """
    made: list[Path] = []
    try:
        for folder in [root, *(root / path for path in folders)]:
            made += _make(folder, may_exist=folder == root)
        for path, files in folders.items():
            # The manifest comes last: whoever looks for exercises sees whole ones only.
            for name in sorted(files, key=lambda name: (name == MANIFEST, name)):
                file = root / path / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(files[name])
    except BaseException as error:
        for folder in reversed(made):
            shutil.rmtree(folder, ignore_errors=True)
        _explain(error, root)
        raise


def _make(folder: Path, *, may_exist: bool) -> list[Path]:
    """Make a folder and those it is in; gives what was made, from the outside in."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    if not missing and not may_exist:
        raise FileExistsError(0, "is there already", str(folder))
    for each in reversed(missing):
        each.mkdir()
    return missing[::-1]


def _explain(error: BaseException, target: Path) -> None:
    """Raise a `PackageError` in place of an error of the file system."""
    if isinstance(error, OSError):
        named = error.filename or target
        words = "is there already" if isinstance(error, FileExistsError) else error.strerror
        remedy = "Nothing was written. Name another place, or move what is there."
        raise PackageError(f"{named}: {words}.\n{remedy}") from None
