"""Functions of parts of arrays, applied to all parts at once: `apply_along_axis`, `apply_over_axes`, `vectorize`.

The function builds one expression, of one part; `ag.vmap`'s walk makes it one of all parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...graph import Variable
from ...record.spelling import counted
from ..core.checks import describe, normalize_axis, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from .batching import carried

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize"]


def mapped(function: Callable[..., Any], operands: Sequence[Any], ranks: Sequence[int]) -> list[TensorVariable]:
    """The results of `function` of the last `ranks` axes of each operand, whose leading axes broadcast.

    The function returns one expression or a tuple of them.
    """
    batches = [T.broadcast_to(0, T.lengths_of(x)[: x.ndim - r]) for x, r in zip(operands, ranks, strict=True)]
    batch = T.lengths_of(T.broadcast_arrays(*batches)[0]) if batches else ()
    leaves, rows = [], []
    for x, rank in zip(operands, ranks, strict=True):
        own = T.lengths_of(x)[x.ndim - rank :]
        rows.append(T.reshape(T.broadcast_to(x, (*batch, *own)), (T.prod(T.stack([1, *batch])), *own)))
        leaves.append(TensorVariable(x.type.with_shape(x.type.shape[x.ndim - rank :])))
    found = function(*leaves)
    outputs = [as_tensor(v) for v in (found if isinstance(found, (tuple, list)) else (found,))]
    stacked = carried(outputs, dict(zip(leaves, rows, strict=True))) if leaves else outputs
    return [T.reshape(v, (*batch, *T.lengths_of(v)[1:])) for v in stacked]


def apply_along_axis(
    func1d: Callable[..., TensorLike], axis: int, arr: TensorLike, *args: Any, **kwargs: Any
) -> TensorVariable:
    """`func1d` of each vector along `axis` of `arr`; the axes of its result stand in the place of that axis.

    `args` and `kwargs`: further arguments.  The function gets a vector variable and returns an expression.
    """
    x = as_tensor(arr)
    place = normalize_axis(axis, x.ndim, f"apply_along_axis of {describe(x)}")
    (found,) = mapped(lambda line: func1d(line, *args, **kwargs), [T.moveaxis(x, place, -1)], [1])
    own = found.ndim - (x.ndim - 1)
    return T.moveaxis(found, tuple(range(x.ndim - 1, found.ndim)), tuple(range(place, place + own)))


def apply_over_axes(func: Callable[[Any, int], Any], a: TensorLike, axes: Any) -> TensorVariable:
    """`func(x, axis)` of `a`, and of its result for the next of the `axes`; dropped axes become axes of length 1.

    Raises ValueError where the function changes the rank otherwise.
    """
    x = as_tensor(a)
    for axis in (axes,) if isinstance(axes, int) else tuple(axes):
        place = normalize_axis(axis, x.ndim, "apply_over_axes")
        found = as_tensor(func(x, place))
        if found.ndim == x.ndim - 1:
            found = T.expand_dims(found, place)
        if found.ndim != x.ndim:
            raise ValueError(
                f"apply_over_axes: function is not returning an array of the correct shape: {describe(found)}"
            )
        x = found
    return x


_NAME = r"[A-Za-z_]\w*"
_AXES = rf"\(\s*(?:{_NAME}(?:\s*,\s*{_NAME})*)?\s*\)"
_SIGNATURE = rf"\s*{_AXES}(?:\s*,\s*{_AXES})*\s*->\s*{_AXES}(?:\s*,\s*{_AXES})*\s*"


class vectorize:  # noqa: N801  (NumPy's name)
    """A function of scalars, or of the arrays that `signature` says, as one that broadcasts over further axes.

    Args:
        pyfunc: Builds an expression, or a tuple of them, of variables.
        otypes: The dtypes of the results: a string of letters or a list; None leaves them as they are.
        doc: The docstring; None for that of pyfunc.
        excluded: Positions and names of arguments that are passed as they are.
        cache: Without effect, as pyfunc is called once.
        signature: The axes of arguments and results, as "(m,n),(n)->(m)"; None for scalars.

    A call raises ValueError for a signature that is none, and for arguments of too few axes.
    """

    def __init__(
        self, pyfunc: Callable[..., Any], otypes: Any = None, doc: str | None = None,
        excluded: Collection[int | str] | None = None, cache: bool = False, signature: str | None = None,
    ) -> None:  # fmt: skip
        if not callable(pyfunc):
            raise TypeError(f"vectorize: expected a function, got {shown(pyfunc)}")
        if signature is not None and not re.fullmatch(_SIGNATURE, signature):
            raise ValueError(f"vectorize: not a valid gufunc signature: {signature}; expected such as '(m,n),(n)->(m)'")
        self.pyfunc, self.otypes, self.signature = pyfunc, otypes, signature
        self.excluded: frozenset[int | str] = frozenset(excluded or ())
        self.__doc__ = pyfunc.__doc__ if doc is None else doc
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        keys: list[int | str] = [k for k in range(len(args)) if k not in self.excluded]
        keys += [k for k in kwargs if k not in self.excluded]
        operands = [as_tensor(args[k] if isinstance(k, int) else kwargs[k]) for k in keys]
        sides = [] if self.signature is None else [_axes_of(side) for side in self.signature.split("->")]
        if sides and len(sides[0]) != len(operands):
            raise TypeError(f"{self.__name__}: wrong number of positional arguments: expected {len(sides[0])}, "
                            f"got {len(operands)}")  # fmt: skip
        ranks = [len(axes) for axes in sides[0]] if sides else [0] * len(operands)
        for x, rank in zip(operands, ranks, strict=True):
            if x.ndim < rank:
                raise ValueError(f"{self.__name__}: expected {counted(rank, 'axis')} or more, got {describe(x)}")
        if sides:
            _require_lengths(self.__name__, operands, sides[0])

        def function(*parts: Variable) -> Any:
            given = dict(zip(keys, parts, strict=True))
            named = {k: given.get(k, v) for k, v in kwargs.items()}
            return self.pyfunc(*(given.get(k, a) for k, a in enumerate(args)), **named)

        found = mapped(function, operands, ranks)
        if self.otypes is not None:
            found = [T.cast(v, d) for v, d in zip(found, self.otypes, strict=True)]
        for v, axes in zip(found, sides[1] if sides else (), strict=bool(sides)):
            if v.ndim < len(axes):
                raise ValueError(f"{self.__name__}: a result has fewer axes than the signature says: {describe(v)}")
        return found[0] if len(found) == 1 else tuple(found)


def _axes_of(side: str) -> list[list[str]]:
    """The names of the axes in each pair of parentheses."""
    return [re.findall(_NAME, axes) for axes in re.findall(_AXES, side)]


def _require_lengths(what: str, operands: Sequence[Any], sides: Sequence[Sequence[str]]) -> None:
    """Raises ValueError where axes of one name have different known lengths."""
    lengths: dict[str, int] = {}
    for x, axes in zip(operands, sides, strict=True):
        for name, n in zip(axes, x.type.shape[x.ndim - len(axes) :], strict=True):
            if n is not None and lengths.setdefault(name, n) != n:
                raise ValueError(f"{what}: inconsistent size for core dimension {name!r}: {n} vs {lengths[name]}")
