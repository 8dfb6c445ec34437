"""Helpers: named pieces of C that kernels call, and the C types of dtypes.

The pieces stand in functions/*.h, one file a subject; helpers.py reads them.  Names of functions start with `ag_`;
prototypes of the C library carry their own name.  preamble.py puts those that are used at the head of a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...record import record

C_TYPES: Mapping[str, str] = {
    "bool": "b8",
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
}  # fmt: skip
"""The C name of a scalar of each dtype."""


def storage_type(dtype: str) -> str:
    """Return the C type of an array element: a bool is a byte, true if it is not 0."""
    return "u8" if dtype == "bool" else C_TYPES[dtype]


INLINE = "static inline __attribute__((always_inline))"
"""Attribute that forces inlining: otherwise gcc calls long functions, and loops are not vectorized."""


@record
class Helper:
    """Piece of C: a type, a prototype or a static function."""

    name: str
    text: str


def suffix(dtype: str) -> str:
    """Return the suffix of C library functions for this dtype."""
    return "f" if dtype in ("float32", "complex64") else ""
