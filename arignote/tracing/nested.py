"""Nested lists, tuples and dicts: their structure, and their leaves in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

Structure = Any
"""None for a leaf, else the type of a container (list, tuple, dict, named tuple) and its structures; hashable.

`ag.jit` has further parts, see arguments.py: the type of a leaf, and values with a method `value_of`.
"""


_LEAVES = frozenset((np.ndarray, bool, int, float, complex, str, type(None)))
"""Types that are no containers, which spares a slower check."""


def _leaf(value: Any, leaves: list[Any]) -> Structure:
    leaves.append(value)


def flatten(value: Any, leaves: list[Any], leaf: Callable[[Any, list[Any]], Structure] = _leaf) -> Structure:
    """Return the structure of nested lists, tuples and dicts; append their leaves to `leaves` in order.

    `leaf`: what makes a structure of anything else.
    """
    if type(value) in _LEAVES:
        return leaf(value, leaves)
    if isinstance(value, (list, tuple)):
        return type(value), tuple([flatten(v, leaves, leaf) for v in value])
    if isinstance(value, Mapping):
        return dict, tuple([(k, flatten(v, leaves, leaf)) for k, v in value.items()])
    return leaf(value, leaves)


def unflatten(structure: Structure, leaves: Iterator[Any]) -> Any:
    """Return the nested value of that structure with the next leaves."""
    if structure is None or isinstance(structure, type):
        return next(leaves)
    if type(structure) is not tuple:
        return structure.value_of(leaves)
    kind, parts = structure
    if kind is dict:
        return {k: unflatten(v, leaves) for k, v in parts}
    values = [unflatten(p, leaves) for p in parts]
    return kind(values) if kind in (list, tuple) else kind(*values)  # a named tuple takes its fields one by one


def in_form(value: Any, structure: Structure) -> list[Any]:
    """Return the leaves of a value with this structure, keys of dicts in its order.

    Raises TypeError or KeyError for a value of another structure.
    """
    if structure is None:
        if isinstance(value, (list, tuple, Mapping)):
            raise TypeError("expected a value")
        return [value]
    kind, parts = structure
    if kind is dict:
        if not isinstance(value, Mapping) or len(value) != len(parts):
            raise TypeError("expected a dict with other keys")
        return [leaf for key, part in parts for leaf in in_form(value[key], part)]
    if not isinstance(value, kind) or len(value) != len(parts):
        raise TypeError("expected another sequence")
    return [leaf for v, part in zip(value, parts, strict=True) for leaf in in_form(v, part)]
