"""NumPy's arrays over the memory of another one in a trace: `np.lib.stride_tricks.as_strided`, `np.frombuffer`."""

from __future__ import annotations

from typing import Any

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.tensor import as_tensor
from ...ops.shapes.array_members import sharing
from ...ops.shapes.conditions import checked
from ...ops.shapes.lengths import as_length, as_lengths
from ...ops.shapes.sliding import long_axis_last
from ...ops.shapes.stored import is_in_c_order, source_of

_WAY = "use np.lib.stride_tricks.sliding_window_view, or slices"


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True,
) -> Any:  # fmt: skip
    """`np.lib.stride_tricks.as_strided` of an array in C order, which can be read but not written.

    Raises TypeError for other arrays, ValueError for strides that are negative or no multiples of the element size,
    and IndexError, when the function runs, for elements after the end of the array.
    """
    v: Any = as_tensor(x)
    if source_of(v) is not None or not is_in_c_order(v, always=True):
        raise TypeError(f"as_strided of {v!r}, which is a view or not in C order: its memory is not known; take "
                        f"np.ascontiguousarray(x) first, or {_WAY}{line()}")  # fmt: skip
    lengths = tuple(v.shape if shape is None else shape if isinstance(shape, (tuple, list)) else (shape,))
    steps = tuple(v.strides if strides is None else strides if isinstance(strides, (tuple, list)) else (strides,))
    if len(lengths) != len(steps):
        raise ValueError(f"mismatch in length of strides and shape: {len(steps)} and {len(lengths)}{line()}")
    size = v.type.numpy.itemsize
    for axis, step in enumerate(steps):
        if not isinstance(step, Variable) and (step < 0 or step % size != 0):
            raise ValueError(f"as_strided: stride {step} of axis {axis} must be a multiple of {size}, the bytes of "
                             f"an element, and not negative; {_WAY}{line()}")  # fmt: skip
    if not lengths:
        return sharing(v, T.ravel(v)[0], "its elements are in an array of given strides as well")
    along = [as_length(_elements(step, size), "as_strided") for step in steps]
    found = long_axis_last(T.ravel(v), as_lengths(lengths, "as_strided"), along)
    return sharing(v, found, "its elements are in an array of given strides as well")


def _elements(step: Any, size: int) -> Any:
    """Return a stride as a number of elements."""
    if not isinstance(step, Variable):
        return step // size
    is_whole = T.logical_and(T.eq(T.mod(step, size), 0), T.ge(step, 0))
    text = f"as_strided: a stride must be a multiple of {size}, and not negative"
    return checked(T.floor_div(step, size), is_whole, text)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Any:
    """`np.frombuffer` of an array: a view of its elements in C order.

    Raises TypeError for elements of another size, ValueError for an offset between two elements.
    """
    x: Any = as_tensor(buffer)
    found = x.ravel().view(dtype)
    start, rest = divmod(offset, found.itemsize)
    if rest or offset < 0:
        raise ValueError(f"np.frombuffer: offset must be a multiple of {found.itemsize}, the bytes of an element, got "
                         f"{offset}{line()}")  # fmt: skip
    return found[start:] if count < 0 else found[start : start + count]
