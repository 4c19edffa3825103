"""The hostile programs, each with what must come of it: files in folders, and a table of builders.

Built ones are too large for a file, or bytes that no editor would keep.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from judge.verdicts import Verdict

FOLDER = Path(__file__).parent
GROUPS = (
    "time", "memory", "processes", "files", "network", "output", "wire", "values", "cheating",
    "source",
)  # fmt: skip
SOURCE_BYTES = 64 << 10  # what an exercise accepts
HONEST = """\
def multi_head_attention(query, key, value, w_q, w_k, w_v, w_o, num_heads, mask=None):
    def split(x):
        return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)

    heads = split(query @ w_q), split(key @ w_k), split(value @ w_v)
    mixed, weights = attention_kernel(*heads, mask)
    return mixed.transpose(1, 2).flatten(2) @ w_o, weights
"""
# Wrong in few checks only, which makes it cheap to judge: each failure is tried on the reference.
WRONG = HONEST.replace("@ w_o, weights", "@ w_o * (2 if num_heads == 1 else 1), weights")


class BadStatement(ValueError):
    """A program's first line does not state what must come of it."""


@dataclass(frozen=True)
class Expectation:
    """What a program's first line states; see the package."""

    verdicts: frozenset[Verdict]
    message: str = ""
    tier: str = ""
    output: str = ""
    runs: int = 1
    needs: str = ""


@dataclass(frozen=True)
class Case:
    """One hostile program. `source` makes its bytes when they are needed."""

    group: str
    name: str
    expected: Expectation
    source: Callable[[], bytes]

    @property
    def id(self) -> str:
        """Its name in test reports."""
        return f"{self.group}/{self.name}"


def parse_statement(line: str) -> Expectation:
    """Read a program's first line; raises `BadStatement`."""
    head, _, rest = line.partition(":")
    if head != "# verdict":
        raise BadStatement(f"not a statement: {line!r}")
    verdicts, *extras = (part.strip() for part in rest.split(";"))
    keys = {}
    for extra in extras:
        key, _, value = extra.partition(": ")
        keys[key] = value
    try:
        return Expectation(
            verdicts=frozenset(Verdict(name.strip()) for name in verdicts.split(",")),
            runs=int(keys.pop("runs", "1")),
            **keys,
        )
    except (TypeError, ValueError) as error:
        raise BadStatement(f"{line!r}: {error}") from None


def all_cases() -> list[Case]:
    """Every hostile program, in a fixed order."""
    return [*_files(), *_built()]


def named(case_id: str) -> Case:
    """The program called `case_id`, e.g. ``time/sleep``."""
    return next(case for case in all_cases() if case.id == case_id)


def _files() -> Iterator[Case]:
    for group in GROUPS:
        for path in sorted((FOLDER / group).glob("*.py")):
            line = path.read_bytes().split(b"\n", 1)[0].decode("ascii")
            yield Case(group, path.stem, parse_statement(line), path.read_bytes)


def _built() -> Iterator[Case]:
    for (name, statement), build in BUILT.items():
        yield Case("source", name, parse_statement(f"# verdict: {statement}"), build)


def _padded(size: int) -> bytes:
    """A right answer followed by a comment, `size` bytes in all."""
    text = HONEST.encode() + b"#"
    return text + b"x" * (size - len(text))


def _after(line: str, tail: str = "") -> bytes:
    """A right answer with `line` before it."""
    return f"{line}\n\n{HONEST}{tail}".encode()


BUILT: dict[tuple[str, str], Callable[[], bytes]] = {
    # By size, unparsed.
    ("ten_megabytes", "CE; message: was not read"): lambda: _padded(10 << 20),
    ("one_byte_too_many", "CE; message: was not read"): lambda: _padded(SOURCE_BYTES + 1),
    ("as_large_as_allowed", "AC"): lambda: _padded(SOURCE_BYTES),
    ("100000_parentheses", "CE; message: was not read"): lambda: b"x = " + b"(" * 100_000,
    ("100000_unary_operators", "CE; message: was not read"): lambda: b"x = " + b"-" * 100_000 + b"1",
    ("100000_elifs", "CE; message: was not read"): (
        lambda: b"if x: pass\n" + b"elif x: pass\n" * 100_000
    ),
    # Within the size: the compiler, in the box, has to cope.
    ("many_parentheses", "CE; message: compile"): lambda: b"x = " + b"(" * 30_000 + b")" * 30_000,
    ("many_brackets", "CE; message: compile"): lambda: b"x = " + b"[" * 150 + b"0," * 20_000,
    ("many_unary_operators", "CE; message: compile"): lambda: b"x = " + b"-" * 60_000 + b"1",
    ("many_elifs", "CE; message: compile"): lambda: b"if x: pass\n" + b"elif x: pass\n" * 5_000,
    ("many_attributes", "CE"): lambda: b"x = 0\nx" + b".a" * 30_000,
    ("many_calls", "CE"): lambda: b"x = int\nx" + b"()" * 30_000,
    ("many_comparisons", "CE, AC"): lambda: _after("x = 0" + "<1" * 20_000),
    ("many_lambdas", "CE; message: compile"): lambda: b"x = " + b"lambda:" * 9_000 + b"0",
    ("many_nested_blocks", "CE; message: compile"): lambda: b"".join(
        b" " * depth + b"if 1:\n" for depth in range(200)
    ),
    ("many_nested_functions", "CE; message: compile"): lambda: b"".join(
        b" " * depth + b"def f():\n" for depth in range(99)
    ),
    ("many_decorators", "CE, AC"): lambda: _after("@int\n" * 10_000 + "def f(): pass"),
    ("many_walrus_operators", "CE; message: compile"): lambda: b"(x:=" * 15_000,
    ("many_names", "AC"): lambda: _after("\n".join(f"a{n} = {n}" for n in range(4_000))),
    ("many_format_braces", "CE; message: compile"): lambda: b"f'" + b"{" * 60_001 + b"'",
    ("a_number_of_60000_digits", "CE; message: compile"): lambda: _after("x = " + "9" * 60_000),
    ("a_constant_folded_for_ever", "TLE, CE, AC"): lambda: _after("x = 2 ** 200_000_000 % 7"),
    ("nine_to_the_nine_to_the_nine", "TLE"): lambda: _after("x = 9 ** 9 ** 9"),
    ("a_text_of_100_gigabytes", "MLE"): lambda: _after('x = "a" * 10**11'),
    # Bytes.
    ("null_bytes", "CE; message: null bytes"): lambda: _after("x = '\0'"),
    ("null_bytes_at_the_end", "CE; message: null bytes"): lambda: _after("", "\0" * 1000),
    ("not_utf8", "CE; message: compile"): lambda: b"x = '\xff\xfe'\n" + HONEST.encode(),
    ("utf16", "CE; message: compile"): lambda: codecs.BOM_UTF16_LE + HONEST.encode("utf-16-le"),
    ("utf8_mark", "AC"): lambda: codecs.BOM_UTF8 + HONEST.encode(),
    ("latin1_declared", "AC"): lambda: b"# coding: latin-1\nx = '\xe9'\n" + HONEST.encode(),
    ("utf7_declared", "AC"): lambda: b"# coding: utf-7\n" + HONEST.encode(),
    ("rot13_declared", "CE; message: compile"): lambda: b"# coding: rot13\n" + HONEST.encode(),
    ("unknown_encoding", "CE; message: compile"): lambda: b"# coding: klingon\n" + HONEST.encode(),
    ("mark_against_declaration", "CE; message: compile"): (
        lambda: codecs.BOM_UTF8 + b"# coding: latin-1\n" + HONEST.encode()
    ),
    ("carriage_returns", "AC"): lambda: HONEST.replace("\n", "\r\n").encode(),
    ("old_carriage_returns", "AC"): lambda: HONEST.replace("\n", "\r").encode(),
    ("form_feeds", "AC"): lambda: HONEST.replace("\n\n", "\n\f\n").encode(),
    ("lone_surrogates", "CE; message: compile"): (
        lambda: "x = '\ud800'\n".encode("utf-8", "surrogatepass") + HONEST.encode()
    ),
    ("names_that_look_alike", "AC"): lambda: _after("\u0430ttention_kernel = None  # Cyrillic"),
    ("text_that_reads_backwards", "AC"): lambda: _after("# \u202e\u2066 return zeros \u2069"),
    ("nothing_at_all", "WA"): lambda: b"",
    ("only_a_comment", "WA"): lambda: b"# done\n",
    ("only_spaces", "WA"): lambda: b"    \n\t\n" * 1000,
    ("a_pickle", "CE; message: compile"): lambda: b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00N.",
    ("a_program", "CE; message: compile"): lambda: b"\x7fELF\x02\x01\x01" + bytes(100),
    # While it is imported.
    ("endless_import", "TLE"): lambda: b"while True:\n    pass\n",
    ("sleeping_import", "TLE"): lambda: b"import time\ntime.sleep(3600)\n",
    ("exit_at_import", "CE; message: SystemExit"): lambda: _after("raise SystemExit(0)"),
    ("interrupt_at_import", "CE; message: KeyboardInterrupt"): (
        lambda: _after("raise KeyboardInterrupt")
    ),
    ("raise_at_import", "CE; message: ZeroDivisionError"): lambda: _after("1 / 0"),
    ("missing_import", "CE; message: no_such_module"): lambda: _after("import no_such_module"),
    ("import_of_itself", "AC"): lambda: _after("import solution"),
    ("no_builtins", "AC"): lambda: _after("__builtins__ = {}"),
    ("builtins_emptied", "RE"): (
        lambda: _after("import builtins\nbuiltins.__dict__.clear()")
    ),
    ("another_name", "AC"): lambda: _after("__name__ = '__main__'\n__file__ = '/etc/passwd'"),
    ("names_deleted", "WA"): lambda: _after("", "\ndel multi_head_attention\n"),
    ("kernel_deleted", "RE"): lambda: _after("", "\ndel attention_kernel\n"),
    ("warnings_as_errors", "AC"): lambda: _after("import warnings\nwarnings.simplefilter('error')"),
    ("odd_escapes", "AC"): lambda: _after(r"x = '\d\w\q'"),
    ("imports_by_star", "AC"): lambda: _after("from torch import *\nfrom numpy import *"),
}  # fmt: skip
