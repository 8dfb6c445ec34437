"""Cards of notebooks: a value with its facts and a preview; a formula with its text to copy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .markup import element, escaped
from .notebook import facts
from .tables import amount

_PREVIEW = "margin:4px 0 4px 12px;max-height:240px;overflow:auto"
_FORMULA = "overflow-x:auto;overflow-y:hidden;padding:6px 0;font-size:115%"
_NOTE = "opacity:.65;font-size:85%"
_COPY = "user-select:all;margin:2px 0 6px 12px;white-space:pre-wrap;overflow-wrap:anywhere"
_MOST = 1000
"""Elements from which a preview shows the ends of each axis alone, as NumPy does."""


def preview(array: np.ndarray) -> str:
    """The elements of an array as NumPy prints them, a large one by its ends."""
    return np.array2string(array, threshold=60, edgeitems=3, separator=", ", max_line_width=88, precision=6)


def memory_text(array: np.ndarray) -> str:
    return amount(array.nbytes)


def statistics(array: np.ndarray) -> str:
    """The least, the mean and the largest element, and the number of those that are not finite; empty for none."""
    if array.size < 2 or array.dtype.kind not in "iuf":
        return ""
    sample = array.reshape(-1) if array.flags.c_contiguous else array.ravel()
    if sample.size > 1 << 22:
        return ""
    with np.errstate(all="ignore"):
        finite = sample[np.isfinite(sample)] if sample.dtype.kind == "f" else sample
        if not finite.size:
            return "no finite element"
        text = f"min {finite.min():.4g}, mean {finite.mean(dtype=np.float64):.4g}, max {finite.max():.4g}"
    others = sample.size - finite.size
    return f"{text}; {others:,} not finite" if others else text


def value_form(title: str, rows: Iterable[tuple[str, str]], shown: str = "") -> str:
    """Facts of a value, and its elements as text."""
    body = element("pre", escaped(shown), style=_PREVIEW) if shown else ""
    return element("div", [facts(title, rows), body])


def expression_form(drawn: str, note: str, copies: Sequence[tuple[str, str]]) -> str:
    """A formula, a line about it, and its texts to copy: a click selects all of one."""
    texts = [element("div", escaped(name)) + element("pre", escaped(text), style=_COPY) for name, text in copies]
    folded = element("details", [element("summary", "copy as " + ", ".join(name for name, _ in copies)), *texts])
    return element("div", [
        element("div", drawn, style=_FORMULA), element("div", escaped(note), style=_NOTE), folded if copies else "",
    ])  # fmt: skip
