"""Helpers: named pieces of C that kernels call, instantiated from one template for several dtypes.

The pieces stand in `helpers_*.py`, one file a subject.  Names of functions start with `ag_`; prototypes of the C
library carry their own name.  preamble.py puts those that are used at the head of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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


@record
class Helper:
    """Piece of C: a type, a prototype or a static function."""

    name: str
    text: str


def instances(pattern: Helper, dtypes: Iterable[str], **more: Mapping[str, str]) -> list[Helper]:
    """Return the helper for each dtype.

    `{T}` is its C type, `{f}` the suffix of C library names, another `{word}` is `more[word][dtype]`.
    """
    made = []
    for dtype in dtypes:
        words = {"T": C_TYPES[dtype], "f": suffix(dtype)} | {word: values[dtype] for word, values in more.items()}
        made.append(Helper(_filled(pattern.name, words), _filled(pattern.text, words)))
    return made


def suffix(dtype: str) -> str:
    """Return the suffix of C library functions for this dtype."""
    return "f" if dtype in ("float32", "complex64") else ""


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return `text` with `{word}` replaced for each of `words`; other braces belong to C."""
    for word, value in words.items():
        field = "{" + word + "}"
        if field in text:
            text = text.replace(field, value)
    return text
