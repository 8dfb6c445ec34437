"""The head of a generated C file: the scalar types, and the helpers that its kernels use, each once and in order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from .helper import Helper
from .helpers_arcs import ARCS
from .helpers_complex import COMPLEX
from .helpers_error import ERROR
from .helpers_exponential import EXPONENTIAL
from .helpers_float import FLOAT, PROTOTYPES
from .helpers_float16 import FLOAT16
from .helpers_integer import INTEGER
from .helpers_logarithm import LOGARITHM
from .helpers_power import POWER
from .helpers_random import RANDOM
from .helpers_reduce import REDUCE
from .helpers_roots import ROOTS
from .helpers_tile import TILE
from .helpers_trigonometric import TRIGONOMETRIC

TYPES = """\
#pragma GCC diagnostic ignored "-Wunknown-pragmas" /* omp simd, for compilers that were not told -fopenmp-simd */
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef _Bool b8;
typedef u16 f16; /* the bits of an IEEE binary16; arithmetic is done in f32 */
typedef float f32;
typedef double f64;
typedef float _Complex c64;
typedef double _Complex c128;
"""

HELPERS: dict[str, Helper] = {
    h.name: h
    for h in (
        *PROTOTYPES, *FLOAT16, *INTEGER, *EXPONENTIAL, *LOGARITHM, *TRIGONOMETRIC, *ARCS, *ROOTS, *ERROR, *POWER,
        *FLOAT, *COMPLEX, *RANDOM, *REDUCE, *TILE,
    )
}  # fmt: skip
"""Every helper by name, ordered so that each uses earlier ones only."""

_WORD = re.compile(r"\b[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)


_added: dict[str, Helper] = {}
"""The helpers of users' ops, which use those of `HELPERS` only."""


def add_helper(helper: Helper) -> None:
    """Add the helper of a user's op."""
    _added[helper.name] = helper


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Return the helpers `names` in order of definition."""
    return tuple(name for name in (*HELPERS, *_added) if name in names)


def used(text: str) -> tuple[str, ...]:
    """Return the names of the helpers that a C text uses, directly or through others, in order of definition."""
    wanted: set[str] = set()
    stack = [text]
    while stack:
        for word in _WORD.findall(stack.pop()):
            helper = HELPERS.get(word) or _added.get(word)
            if helper is not None and word not in wanted:
                wanted.add(word)
                stack.append(_COMMENT.sub("", helper.text))
    return in_order(wanted)


def preamble(names: Iterable[str]) -> str:
    """Return the C text of the types and of the helpers `names`.  Raises ValueError for an unknown helper."""
    wanted = set(names)
    known = HELPERS | _added
    unknown = wanted - set(known)
    if unknown:
        raise ValueError(f"no helper is called {min(unknown)!r}")
    return TYPES + "".join("\n" + known[name].text for name in in_order(wanted))
