"""The order of items by a key, where keys are symbolic.  The items may hold anything; their number is known.

    max(items, key=f)    min(items, key=f)    sorted(items, key=f)    items.sort(key=f)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import PYTHONS, as_variable, class_to_keep, is_symbolic, keep_class
from ...ops.core.tracing import current
from ...tree import flat, unflat
from ..branches import choice, itself
from .comparisons import compared, holds_symbolic


def extreme(name: str, items: Sequence[Any], key: Callable[[Any], Any]) -> Any:
    """`max(items, key=key)` or `min`: the first of the items whose keys are equal."""
    best: tuple[Any, Any] | None = None
    for item in items:
        one = item, key(item)
        if best is None:
            best = one
            continue
        better = compared("gt" if name == "max" else "lt", one[1], best[1])
        best = choice(better, partial(itself, one), partial(itself, best))
    if best is None:
        raise ValueError(f"{name}() iterable argument is empty")
    return best[0]


def first_extreme(name: str, x: Any) -> Any:
    """`max(x)` or `min(x)` of a vector, by Python's comparisons: of equal elements the first; NaN only in front."""
    if x.type.kind != "f" or not x.ndim:
        return getattr(T, name)(x, 0)
    place = T.argmax if name == "max" else T.argmin
    compared_with = T.switch(T.isnan(x), -np.inf if name == "max" else np.inf, x)
    return x[T.switch(T.isnan(x[0]), T.constant(0, "int64"), place(compared_with))]


def later_extreme(name: str, a: Any, b: Any) -> Any:
    """`max(a, b)` or `min(a, b)`: Python takes b only if it is larger, or smaller, so not if one is NaN."""
    kinds = [as_tensor(v).type.kind for v in map(as_variable, (a, b))]
    if "f" not in kinds:
        return getattr(T, name)(a, b)
    test = (T.gt if name == "maximum" else T.lt)(b, a)
    return T.switch(test, b, a)


def in_order(items: Sequence[Any], key: Callable[[Any], Any] | None, reverse: bool) -> list[Any]:
    """`sorted(items, key=key, reverse=reverse)`.  Raises TypeError for items of different forms and symbolic keys."""
    items = list(items)
    keys = [v if key is None else key(v) for v in items]
    if not holds_symbolic(keys):
        return [items[k] for k in sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)]
    places: Any = np.arange(len(items))
    columns = list(zip(*keys, strict=True)) if all(type(k) is tuple for k in keys) else [keys]
    for column in reversed(columns):  # stable, so the first column decides last
        values = _stacked(column)[places]
        order = T.argsort(T.flip(values, 0) if reverse else values, stable=True)
        places = as_tensor(places)[len(items) - 1 - T.flip(order, 0) if reverse else order]
    leaves: list[list[Any]] = [[] for _ in items]
    forms = [flat(v, into, records=None) for v, into in zip(items, leaves, strict=True)]
    if any(form != forms[0] for form in forms):
        raise TypeError(f"sorted: items in the order of symbolic keys must be alike{line()}")
    columns = [_in_places(column, places) for column in zip(*leaves, strict=True)]
    return [unflat(forms[0], iter([c[k] for c in columns])) for k in range(len(items))]


def _in_places(column: Sequence[Any], places: Any) -> list[Any]:
    """Return one leaf of each item, in the order of the places."""
    taken = _stacked(column)[places]
    trace: Any = current()
    found = [taken[k] for k in range(len(column))]
    kinds = {class_to_keep(v) if is_symbolic(v) else type(v) if type(v) in (bool, *PYTHONS) else None for v in column}
    if len(kinds) == 1:
        for v in found:
            keep_class(trace, v, *kinds)
    return found


def _stacked(values: Sequence[Any]) -> Any:
    """Return values as one array.  Raises TypeError for texts and the like."""
    for v in values:
        if not isinstance(v, (Variable, bool, int, float, complex, np.generic, np.ndarray)) and not is_symbolic(v):
            raise TypeError(f"sorted: the place of {v!r} depends on symbolic keys; number such objects{line()}")
    return T.stack([as_tensor(v) for v in values])
