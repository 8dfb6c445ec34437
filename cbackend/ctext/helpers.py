"""The helpers: functions in C that kernels call, read from functions/*.h when the first one is asked for.

The headers are C that compiles as it stands; element.h says which letters stand for types.  A helper whose name ends in
such a letter is filled for each of its types: `ag_exp_F` is `ag_exp_f32` and `ag_exp_f64`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from ...record import record
from ...record.package_files import package_text
from ..abi.pieces import pieces
from .half_forms import half_forms
from .helper import C_TYPES, INLINE, Helper, storage_type, suffix
from .polynomials import spelled_out
from .vector_forms import remainder_forms, vector_forms

FOLDER = Path(__file__).parent / "functions"
_FILES = (
    "library", "float16", "integer", "exponential", "logarithm", "trigonometric", "arcs", "roots", "error", "coarse",
    "power", "remainder", "float", "representation", "gamma", "special_parts", "special_errors", "special_entropies",
    "special_ratios", "special_gammas", "special_complete_betas", "special_betas", "special_beta_quantiles",
    "special_orders01", "special_second_kind", "special_bessel", "special_by_order", "special_waves01",
    "special_oscillating", "special_airys", "special_integrals", "special_hypergeometric", "special_quantiles",
    "complex", "random", "reduce", "tile", "copies",
)  # fmt: skip
"""The headers, ordered so that each helper uses earlier ones only."""
_PROTOTYPES = ("library", "complex")
"""Those that declare functions of the C library."""
_FORMS = {"float16": half_forms, "trigonometric": vector_forms, "remainder": remainder_forms}
"""Makers of the helpers that belong behind a header's."""
_FLOATS = ("float32", "float64")
_SIGNED = tuple(f"int{n}" for n in (8, 16, 32, 64))
_UNSIGNED = tuple(f"u{name}" for name in _SIGNED)
_DTYPES = {
    "F": _FLOATS, "I": _SIGNED, "N": _UNSIGNED, "Z": _SIGNED + _UNSIGNED, "E": tuple(C_TYPES),
    "C": ("complex64", "complex128"),
}  # fmt: skip
"""The dtypes of each letter."""
_OWN_DTYPE = {"f32": "float32", "f64": "float64"}
_DEFINED = r"(?m)^#define ([A-Z]\w+) +((?:[^\\\n]|\\\n)+)"  # compiled with the first helper, not at import
_WORD = r"\b[A-Z][A-Z0-9_]+\b"
_LIBRARY = r"\b(?!ag_)([a-z][a-z0-9]*)_[FC]\b"
_LETTER = r"(?<![A-Za-z0-9])([FINZECSU])(?![A-Za-z0-9_])"


@record
class _Source:
    """Place of a helper: its piece of a header, the words of that header, its dtype (empty: it has none)."""

    name: str
    text: str
    words: Mapping[str, str]
    dtype: str

    def helper(self) -> Helper:
        """Return the helper, filled for its dtype."""
        words = {**_words(self.dtype), **self.words}
        text = self.text
        if self.dtype:
            text = spelled_out(text, words.__getitem__, C_TYPES[self.dtype])
        text = re.sub(_WORD, lambda found: words.get(found[0], found[0]), text)
        return Helper(self.name, _typed(text, self.dtype) if self.dtype else text)


class _Helpers(Mapping[str, Helper]):
    """Every helper by name, ordered so that each uses earlier ones only; headers without a wanted one stay unparsed."""

    def __init__(self) -> None:
        self._found: dict[str, Helper] = {}

    def __getitem__(self, name: str) -> Helper:
        if name not in self._found:
            file, _ = place(name)
            source = _sources(file)[name]
            self._found[name] = source if isinstance(source, Helper) else source.helper()
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _file_of(name) >= 0

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(map(_sources, range(len(_FILES))))

    def __len__(self) -> int:
        return sum(1 for _ in self)


HELPERS: Mapping[str, Helper] = _Helpers()


@cache
def library() -> frozenset[str]:
    """Return the names of the helpers that are prototypes of the C library."""
    return frozenset(_sources(0))


@cache
def place(name: str) -> tuple[int, int]:
    """Return the place of a helper in the order of definition: its header, and its number there.

    Raises:
        KeyError: there is none.
    """
    file = _file_of(name)
    if file < 0:
        raise KeyError(name)
    return file, list(_sources(file)).index(name)


@cache
def _file_of(name: str) -> int:
    """Return the number of the header that has a helper; -1 if none has it."""
    if name.startswith("ag_"):
        stem, _, own = name.rpartition("_")
        marks = [name, *(f"{stem}_{key}" for key, dtypes in _DTYPES.items() if own in map(C_TYPES.get, dtypes))]
        files = sorted(_FILES, key=_is_special)  # most of the text is that of functions that few kernels call
    else:
        bare = name.removesuffix("f")
        marks, files = [f"{bare}_F(", f"{bare}_C(", f" {name}("], list(_PROTOTYPES)
    likely = (file for file in files if file in _FORMS or any(mark in _text(file) for mark in marks))
    return next((k for k in map(_FILES.index, likely) if name in _sources(k)), -1)


def _is_special(file: str) -> bool:
    return file.startswith("special_")


@cache
def _sources(file: int) -> dict[str, _Source | Helper]:
    """Return the helpers of a header."""
    name = _FILES[file]
    found: dict[str, _Source | Helper] = {source.name: source for source in _read(name)}
    forms = _FORMS.get(name)
    return found | {helper.name: helper for helper in forms()} if forms is not None else found


@cache
def _text(file: str) -> str:
    return package_text(FOLDER / f"{file}.h")


def _read(file: str) -> Iterator[_Source]:
    """Yield the helpers of a header: of each piece one for each dtype."""
    text = _text(file)
    words = dict(re.findall(_DEFINED, text))
    for piece in pieces(text):
        stem, _, own = piece.name.rpartition("_")
        for dtype in _DTYPES.get(own, ()):
            name = f"{stem}_{C_TYPES[dtype]}" if stem.startswith("ag_") else stem + suffix(dtype)
            yield _Source(name, piece.text, words, dtype)
        if own not in _DTYPES:
            yield _Source(piece.name, piece.text, words, _OWN_DTYPE.get(own, ""))


@cache
def _words(dtype: str) -> Mapping[str, str]:
    """Return the constants of a dtype, and what every helper may use."""
    words = {"INLINE": INLINE}
    own = {"complex64": "f32", "complex128": "f64"}.get(dtype) or (C_TYPES[dtype] if dtype else "")
    if own in _OWN_DTYPE:
        words |= dict(re.findall(_DEFINED, _text(own)))
    elif dtype:
        words["WIDTH"] = own[1:]
    return words


def _typed(text: str, dtype: str) -> str:
    """Return a text with the letters of types in it replaced, and names of the C library for that type."""
    own = C_TYPES[dtype]
    types = dict.fromkeys("INZEC", own) | {"F": own, "S": storage_type(dtype), "U": f"u{own[1:]}"}
    if dtype.startswith("complex"):
        types["F"] = "f32" if dtype == "complex64" else "f64"
    text = re.sub(_LIBRARY, rf"\1{suffix(dtype)}", text)
    return re.sub(_LETTER, lambda found: types[found[1]], text)
