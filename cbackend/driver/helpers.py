"""C functions of the driver: lengths, slices, memory, copies, failure.  A file gets those that its driver uses.

Most are compiled with the runtime already (abi/driver.h, looped.h), once and with more care than a driver.  A file has
their text, so it is whole for any compiler; ours gets `-DAG_PREBUILT`, skips it, and calls them by the table of the
runtime, as `rt->fail` for `ag_fail`.  The tables of loops (loops.h) stand before them, the others (functions.h) behind,
with outcomes by the names of outcomes.h, which become numbers.  What runs once a call is not worth a compiler's time:
gcc optimizes neither it nor the driver (that of a perceptron's step takes a third of the time so; a call of 30 steps
takes 0.3 us longer, of 7).  Bodies of loops are optimized all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from ...record import record
from ...record.package_files import package_text
from ..abi.declarations import HEADERS
from ..abi.pieces import Piece, named

_NO_EFFORT = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
"""
_EFFORT = """\
/* Bodies of loops run once a step. */
#if defined(__GNUC__) && !defined(__clang__)
#define AG_EFFORT __attribute__((optimize("O1")))
#else
#define AG_EFFORT
#endif
"""

_AHEAD = """\
#ifdef AG_PREBUILT /* a compiler with it leaves to the runtime what is in its table */
{calls}
#else
{functions}#endif
"""

_INTERNAL = (
    "ag_slice_bound", "ag_bytes", "ag_bytes_of", "ag_grow", "ag_aim", "ag_collect", "ag_step", "ag_timed",
    "ag_timed_end",
)  # fmt: skip
"""Functions that only other functions of the runtime call; all others are in its table."""
_HERE = Path(__file__).parent
_WORD = re.compile(r"\b(?:ag|AG)_\w+")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_NUMBER = re.compile(r"\b(OUTCOME_\w+) = (\d+)")


def driver_helpers(names: Iterable[str]) -> str:
    """Return the text of the helpers `names` and of those that they use, each once and in order.

    Text behind them is compiled without effort.
    """
    known = _sections()
    sections = (known.tables, known.ahead, known.late)
    wanted = _with_dependencies(names, sections)
    tables, ahead, late = ([p for p in _each(section) if p.name in wanted] for section in sections)
    effort = [_EFFORT] if "ag_looped" in wanted else []
    return "\n".join([*(p.text for p in tables), _ahead(ahead), *effort, _NO_EFFORT, *(p.text for p in late)])


def _ahead(pieces: Sequence[Piece]) -> str:
    """Return the functions that the runtime has, or macros that call them through its table."""
    calls = [f"#define {p.name} rt->{p.name.removeprefix('ag_')}" for p in pieces if p.name not in _INTERNAL]
    functions = "\n".join(piece.text for piece in pieces)
    return _AHEAD.format(calls="\n".join(calls), functions=functions) if pieces else ""


@record
class _Sections:
    """The pieces of the headers by what they define: the tables of loops, functions of the runtime, all others."""

    tables: Mapping[str, Piece]
    ahead: Mapping[str, Piece]
    late: Mapping[str, Piece]


@cache
def _sections() -> _Sections:
    numbers = dict(_NUMBER.findall(package_text(_HERE / "outcomes.h")))

    def read(header: str) -> dict[str, Piece]:
        text = package_text(_HERE / header)
        return named(re.sub(r"\bOUTCOME_\w+", lambda word: numbers[word[0]], text))

    ahead = {**named(package_text(HEADERS / "driver.h")), **read("looped.h")}
    return _Sections(read("loops.h"), ahead, read("functions.h"))


def _each(section: Mapping[str, Piece]) -> Iterator[Piece]:
    """Yield the pieces of a section once and in order."""
    return (piece for name, piece in section.items() if name == piece.name)


def _with_dependencies(names: Iterable[str], sections: Sequence[Mapping[str, Piece]]) -> set[str]:
    """Return the names of the pieces that define `names`, and of those that they use."""
    wanted: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        piece = next((section[name] for section in sections if name in section), None)
        if piece is not None and piece.name not in wanted:
            wanted.add(piece.name)
            stack.extend(_words_in(piece.text))
    return wanted


@cache
def _words_in(text: str) -> tuple[str, ...]:
    """Return what a piece of C names."""
    return tuple(dict.fromkeys(_WORD.findall(_COMMENT.sub("", text))))
