"""C of elementwise ops from outside the package: each becomes a helper, a function that kernels call inline.

The user's text stands behind a `#line` directive that names the op, so that the compiler's messages do.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from itertools import starmap

from ...ops.elementwise.c_forms import Form, call
from ...ops.elementwise.pointwise import ElementwiseRecord
from .helper import C_TYPES, INLINE, Helper, suffix
from .preamble import add_helper

HEAD = """\
#include <math.h>
#pragma GCC diagnostic error "-Wimplicit-function-declaration"
"""
END = '#line 1 "arignote"\n'
"""The directive that ends the user's lines; the lines after it are ours."""


def user_form(op: ElementwiseRecord, result: str, dtypes: tuple[str, ...]) -> Form:
    """Return the call of the helper of an op, for operands of these dtypes."""
    assert op.source is not None
    name = "_".join(["ag", op.symbol, *map(C_TYPES.__getitem__, dtypes)])
    add_helper(Helper(name, _text(op, name, result, dtypes)))
    return call(name, len(dtypes))


def _text(op: ElementwiseRecord, name: str, result: str, dtypes: tuple[str, ...]) -> str:
    source = op.source
    assert source is not None
    words = {"T": C_TYPES[dtypes[0]], "R": C_TYPES[result], "f": suffix(dtypes[0])}
    operands = zip(map(C_TYPES.__getitem__, dtypes), source.operands, strict=True)
    given = ", ".join(starmap("{} {}".format, operands))
    body = filled(source.text(dtypes[0]), words).strip("\n")
    start = "" if re.search(r"\breturn\b", body) else "return\n"
    end = "" if start == "" else ";"
    function = f"{INLINE} {words['R']} {name}({given})\n{{\n{start}#line 1 \"c of {op.symbol}\"\n{body}{end}\n}}\n"
    return f"{HEAD}{functions(op.symbol, filled(source.functions, words))}{function}{END}"


def functions(symbol: str, text: str) -> str:
    """Return the functions that a user's C calls, each once per file."""
    if not text.strip():
        return ""
    guard = f"AG_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return f'#ifndef {guard}\n#define {guard}\n#line 1 "c_functions of {symbol}"\n{text.strip(chr(10))}\n#endif\n'


def filled(text: str, words: Mapping[str, str]) -> str:
    """Return a user's text with values in the place of `{words}`."""
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return text
