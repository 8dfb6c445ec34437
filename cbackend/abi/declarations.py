"""The binary interface between Python and every library that we generate: structs and entry, from the headers beside.

    types.h       i32, i64        forward.h: what the calls of kernels share
    ../kernels    the arguments of kernels and their tables, written from the specs
    runtime.h     kernels, buffers, the table of the runtime
    call.h        one call of a function; it includes all above
    native.h      the native entry        library.h: the exports of the runtime

The text of call.h stands at the head of each generated C file.  Parsed once by cffi, all of them are in `_abi.py`: an
out-of-line module in ABI mode that needs no parser at run time (importing it takes 0.7 ms; `FFI().cdef` of the same
text 18-40 ms).  Run

    python -m arignote.cbackend.abi.generate

after a change here; `tests/cbackend/test_runtime.py` holds the two together.  Each generated library exports `ag_entry`
alone.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .amalgamation import self_contained

VERSION = 1
"""Part of every cache key: raise it when a layout changes its meaning without changing its text."""

HEADERS = Path(__file__).parent


@cache
def declarations(header: str = "call.h", *, types: bool = True, tables: bool = True) -> str:
    """Return the text of a header beside this file with all that it includes; by default the head of a program.

    `types`: with those of types.h.  `tables`: with the kernels of the runtime, two thirds of the text.
    """
    macros = () if tables else ("AG_NO_TABLES",)
    text = self_contained(HEADERS / header, () if types else (HEADERS / "types.h",), macros)
    return "".join(f"#define {macro}\n" for macro in macros) + text
