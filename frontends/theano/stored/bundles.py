"""Values stored as several tensors: sparse matrices, lists of tensors.

A `BundleVariable` is a bundle of tensor variables, its parts, and a `BundleType` packs a value into arrays for them and
back.  Expressions are built of the parts by the core's ops; `theano.function` spreads bundles over its inputs,
outputs, updates and givens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ....graph import Variable as CoreVariable
from ....graph import leaves
from ..running.shared_values import SharedVariable
from ..tensors.types import TensorType, Type
from ..tensors.variables import Variable


class BundleType(Type):
    """The base of types whose values are bundles of arrays."""

    dtype: str
    labels: tuple[str, ...] = ()
    """The name of each part."""

    def kinds(self) -> Sequence[TensorType]:
        """The type of each part."""
        raise NotImplementedError

    def pack(self, value: Any) -> list[np.ndarray]:
        """The arrays of a value.  Raises TypeError for one that this type does not hold."""
        raise NotImplementedError

    def unpack(self, arrays: Sequence[np.ndarray]) -> Any:
        """The value of arrays."""
        raise NotImplementedError

    def make_variable(self, name: str | None = None) -> Any:
        """A new variable, of new parts."""
        named = [None if name is None else f"{name}.{label}" for label in self.labels]
        return self.Variable(self, [kind(label) for kind, label in zip(self.kinds(), named, strict=True)], name)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """The value.  Raises TypeError for one that this type does not hold."""
        self.pack(data)
        return data


class BundleVariable(Variable):
    """A value of several tensors."""

    def __init__(self, type: BundleType, parts: Sequence[Any], name: str | None = None) -> None:
        super().__init__(type, parts[0].owner, name=name)
        self.parts: tuple[Any, ...] = tuple(parts)

    def eval(self, inputs_to_values: Mapping[Any, Any] | None = None) -> Any:
        """The value for values of the inputs."""
        return self.type.unpack([p.eval(inputs_to_values) for p in self.parts])

    @property
    def dtype(self) -> str:
        return self.type.dtype  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return self.name or f"<{self.type}>"

    __repr__ = __str__

    def _given(self, value: Any) -> dict[Any, Any]:
        return {p.core: array for p, array in zip(self.parts, self.type.pack(value), strict=True)}

    def clone(self) -> Any:
        """A leaf of the same type and name."""
        return self.type(self.name)


BundleType.Variable = BundleVariable


class SharedBundle(SharedVariable, BundleVariable):
    """A value of several shared tensors."""

    __init__ = BundleVariable.__init__

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """A copy of the value, or one that shares its arrays."""
        return self.type.unpack([p.get_value(borrow=borrow) for p in self.parts])

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Another value of its type."""
        for part, array in zip(self.parts, self.type.pack(new_value), strict=True):
            part.set_value(array, borrow=borrow)


def parts_of(variable: Any) -> tuple[Any, ...]:
    """The tensors of a variable: its parts, or itself."""
    return variable.parts if isinstance(variable, BundleVariable) else (variable,)


def spread(pairs: Iterable[tuple[Any, Any]], what: str) -> Iterator[tuple[Any, Any]]:
    """The pairs (old, new) of tensors for pairs of variables.  Raises TypeError where the kinds differ."""
    for old, new in pairs:
        if not isinstance(old, BundleVariable):
            yield old, new
        elif isinstance(new, BundleVariable) and new.type == old.type:
            yield from zip(old.parts, new.parts, strict=True)
        elif isinstance(new, Variable):
            raise TypeError(f"theano.function: {what} {old} is {old.type}, and gets {new} of type {new.type}")
        else:
            yield from zip(old.parts, old.type.pack(new), strict=True)


def spread_outputs(outputs: Any) -> tuple[Any, Callable[[Any], Any] | None]:
    """Outputs as tensors, and the way back to values of bundles; None if there are no bundles."""
    several = outputs if isinstance(outputs, (list, tuple, Mapping)) else [outputs]
    keys = list(several) if isinstance(several, Mapping) else list(range(len(several)))
    values = [getattr(several[k], "variable", several[k]) for k in keys]
    if not any(isinstance(v, BundleVariable) for v in values):
        return outputs, None
    kinds = [v.type if isinstance(v, BundleVariable) else None for v in values]
    form = "dict" if isinstance(outputs, Mapping) else "list" if isinstance(outputs, (list, tuple)) else "value"
    return [p for v in values for p in parts_of(v)], Regrouping(form, keys, kinds)


class Regrouping:
    """The way from arrays to outputs where some are bundles: a list, a dict of the keys, or one value."""

    def __init__(self, form: str, keys: Sequence[Any], kinds: Sequence[Any]) -> None:
        self.form: str = form
        self.keys: list[Any] = list(keys)
        self.kinds: list[Any] = list(kinds)

    def __call__(self, found: Sequence[Any]) -> Any:
        arrays = iter(found)
        made = []
        for kind in self.kinds:
            own = [next(arrays) for _ in (kind.labels if kind else "x")]
            made.append(kind.unpack(own) if kind else own[0])
        if self.form == "dict":
            return dict(zip(self.keys, made, strict=True))
        return made if self.form == "list" else made[0]


class Spreading:
    """The way from arguments to arrays where inputs are bundles; parts that nothing reads are left out."""

    def __init__(self, inputs: Sequence[Any], values: Sequence[Any]) -> None:
        read = set(leaves([v for v in values if isinstance(v, CoreVariable)]))
        self.variables: list[Any] = []
        self._plans: list[tuple[Any, list[int]]] = []
        for v in inputs:
            parts = parts_of(v)
            kept = [k for k, p in enumerate(parts) if p.core in read] or [0]
            self.variables += [parts[k].core for k in kept]
            self._plans.append((v.type if isinstance(v, BundleVariable) else None, kept))

    def __call__(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        found: list[Any] = []
        for (kind, kept), value in zip(self._plans, arguments, strict=False):
            arrays = [value] if kind is None else kind.pack(value)
            found += [arrays[k] for k in kept]
        return (*found, *arguments[len(self._plans) :])
