"""Scatters on devices: items that write to one element are one segment, and a work item writes it in their order.

So a sum has NumPy's bits, without atomic operations.  Tables of offsets tell where elements lie:

    y[at[s] + yj[j]]        x[row[t] + xj[j]] for first[s] <= t < first[s + 1]
"""

from __future__ import annotations

from ...graph.types import numpy_dtype
from .device import Dialect, opening
from .helper import C_TYPES

GROUP = 128
"""Work items of a group."""


def scatter_name(dtype: str, adds: bool) -> str:
    """Return the name of the kernel."""
    return f"scatter_{'add' if adds else 'set'}_{dtype}"


def scatter_source(dtype: str, adds: bool, dialect: Dialect) -> str:
    """Return the text of the kernel that adds values of a dtype to an array, or writes them.

    Raises TypeError for a dtype that devices do not add.
    """
    if adds and (dtype == "float16" or dtype.startswith("complex")):
        raise TypeError(f"kernels on devices add no {dtype}")
    kind, size = numpy_dtype(dtype).kind, 8 * numpy_dtype(dtype).itemsize
    body = _ADD.replace("{PLUS}", "||" if kind == "b" else "+") if adds else _SET
    words = {
        "BODY": body, "KERNEL": dialect.kernel, "P": dialect.pointer, "PLACE": dialect.places[0],
        "NAME": scatter_name(dtype, adds),
        "T": C_TYPES[dtype] if kind == "b" or (kind == "f" and adds) else f"u{size}",
    }  # fmt: skip
    text = _TEXT
    for word, value in words.items():
        text = text.replace("{" + word + "}", value)
    return opening(dialect) + text


_ADD = """\
    {T} total = *y;
    for (i64 t = first[s]; t < first[s + 1]; t++) total = total {PLUS} x[row[t]];
    *y = total;"""
_SET = "    *y = x[row[first[s + 1] - 1]];"
_TEXT = """
{KERNEL} {NAME}(i64 segments, i64 n, {P}{T} *y, i64 y_start, {P}const {T} *x, i64 x_start, {P}const i64 *first,
    {P}const i64 *at, {P}const i64 *row, {P}const i64 *yj, {P}const i64 *xj)
{
    const i64 item = {PLACE};
    if (item >= segments * n) return;
    const i64 s = item / n, j = item % n;
    y += y_start + at[s] + yj[j];
    x += x_start + xj[j];
{BODY}
}
"""
