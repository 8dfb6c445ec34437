"""Copies of a tensor with parts put in, left out or repeated, and tensors made of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...graph import Variable
from ..core.checks import describe, normalize_axis, require_rank, shown, unpacked
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import ShapeLike, TensorLike
from .conditions import between
from .joining import concatenate, split
from .lengths import as_lengths, lengths_of
from .shape import expand_dims, moveaxis, ravel, reshape

__all__ = ["array_split", "block", "delete", "dsplit", "insert", "resize"]


def insert(arr: TensorLike, obj: Any, values: TensorLike, axis: int | None = None) -> TensorVariable:
    """`arr` with `values` put in before the positions `obj` along `axis`, of the flattened arr for None.

    `obj`: an integer, a slice, or a vector of integers or bools, which count in `arr` as it was.  `values`: what
    broadcasts to the parts that are put in, in the dtype of arr.  A run raises IndexError for a position out of range.
    """
    x, place = _array_and_axis("insert", arr, axis)
    new, length = T.cast(values, x.dtype), lengths_of(x)[place]
    positions = _positions("insert", obj, length)
    rank = x.ndim
    new = new if new.ndim >= rank else reshape(new, (*(1,) * (rank - new.ndim), *lengths_of(new)))
    if positions.ndim == 0:
        new = moveaxis(new, 0, place)
    if positions.ndim == 0 or positions.type.shape == (1,):
        count = lengths_of(new)[place]
        targets = _counted("insert", reshape(positions, ()), length, length) + T.arange(count)
    else:
        count = lengths_of(positions)[0]
        counted = _counted("insert", positions, length, length)
        order = T.argsort(counted)
        targets = T.set_subtensor(counted[order], counted[order] + T.arange(count))
    front, whole = (slice(None),) * place, length + count
    kept = T.set_subtensor(T.ones((whole,), "bool")[targets], False)
    result = T.zeros([whole if k == place else n for k, n in enumerate(lengths_of(x))], x.dtype)
    result = T.set_subtensor(result[(*front, targets)], new)
    return T.set_subtensor(result[(*front, T.nonzero(kept)[0])], x)


def delete(arr: TensorLike, obj: Any, axis: int | None = None) -> TensorVariable:
    """`arr` without its parts at the positions `obj` along `axis`, of the flattened arr for None.

    `obj`: an integer, a slice, or a vector of integers or bools.  A run raises IndexError for a position out of range.
    """
    x, place = _array_and_axis("delete", arr, axis)
    length = lengths_of(x)[place]
    positions = _positions("delete", obj, length)
    kept = T.set_subtensor(T.ones((length,), "bool")[_counted("delete", positions, length, length - 1)], False)
    return T.compress(kept, x, place)


def _array_and_axis(what: str, x: TensorLike, axis: int | None) -> tuple[Any, int]:
    x = as_tensor(x)
    if axis is None:
        return ravel(x), 0
    return x, normalize_axis(axis, x.ndim, f"{what} of {describe(x)}")


def _positions(what: str, obj: Any, length: Variable) -> Any:
    """The positions that an integer, a slice, integers or bools name: int64, a scalar or a vector."""
    if isinstance(obj, slice):
        return T.arange(length)[obj]
    found = as_tensor(np.asarray(obj, "int64") if isinstance(obj, (list, tuple)) and not len(obj) else obj)
    if found.ndim > 1 or found.type.kind not in "biu" or (found.dtype == "bool" and found.ndim == 0):
        raise TypeError(f"{what}: obj is an integer, a slice, or a vector of integers or bools, got {shown(obj)}")
    return T.nonzero(found)[0] if found.dtype == "bool" else T.cast(found, "int64")


def _counted(what: str, positions: Any, length: Any, last: Any) -> Any:
    """Positions from the front: `length` is added to negative ones.  A run raises IndexError for one above `last`."""
    named = between(positions, T.neg(length), last, f"{what}: a position", error=IndexError)
    return T.switch(T.lt(named, 0), named + length, named)


def resize(a: TensorLike, new_shape: ShapeLike) -> TensorVariable:
    """The elements of `a` in order, repeated or cut to fill `new_shape`; zeros if `a` has none."""
    x, lengths = ravel(as_tensor(a)), as_lengths(new_shape, "resize")
    count: Any = T.prod(T.stack(lengths), dtype="int64") if lengths else 1
    size = lengths_of(x)[0]
    filled = T.concatenate([x, T.zeros((1,), x.dtype)])  # so that there is an element 0
    return reshape(filled[T.arange(count) % T.maximum(size, 1)], lengths)


def block(arrays: Any) -> TensorVariable:
    """A tensor of blocks: lists nested in lists; the innermost ones lie along the last axis, the next along the one
    before, and so on.
    """
    depth = _depth(arrays)
    rank = max(depth, *(leaf.ndim for leaf in _leaves(arrays)))
    return _joined(arrays, depth, rank, depth)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("block: a list is empty")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ValueError(f"block: all blocks are nested equally deep, got lists {sorted(depths)} deep side by side")
    return 1 + depths.pop()


def _leaves(arrays: Any) -> Sequence[TensorVariable]:
    return [v for part in arrays for v in _leaves(part)] if isinstance(arrays, list) else [as_tensor(arrays)]


def _joined(arrays: Any, level: int, rank: int, depth: int) -> TensorVariable:
    if level == 0:
        x = as_tensor(arrays)
        return expand_dims(x, tuple(range(rank - x.ndim))) if x.ndim < rank else x
    return concatenate([_joined(part, level - 1, rank, depth) for part in arrays], axis=rank - level)


def array_split(x: TensorLike, indices_or_sections: Any, axis: int = 0) -> list[TensorVariable]:
    """`split` that allows parts of unequal length: the first ones are longer by one."""
    x = as_tensor(x)
    place = normalize_axis(axis, x.ndim, f"array_split of {describe(x)}")
    count = unpacked(indices_or_sections)
    if not isinstance(count, int):
        return split(x, indices_or_sections, axis=place)
    if count < 1:
        raise ValueError(f"array_split: the number of parts is 1 or more, got {count}")
    length: Any = lengths_of(x)[place]
    known = x.type.shape[place]
    each, more = divmod(known, count) if known is not None else (T.floor_div(length, count), T.mod(length, count))
    least = min if known is not None else T.minimum
    ends = [k * each + least(k, more) for k in range(count + 1)]
    front = (slice(None),) * place
    return [x[(*front, slice(a, b))] for a, b in pairwise(ends)]


def dsplit(x: TensorLike, indices_or_sections: Any) -> list[TensorVariable]:
    """`split` along the third axis."""
    require_rank("dsplit", as_tensor(x), 3)
    return split(x, indices_or_sections, axis=2)
