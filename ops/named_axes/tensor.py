"""`NamedTensor`: a variable and a name for each of its axes.

    x = T.named(T.matrix("x"), "batch", "feature")
    w = T.named(T.matrix("w"), "feature", "class")
    scores = x.dot(w, "feature").softmax("class").max("class")        # axes: batch

Operands are aligned by name: an axis that one of them lacks is broadcast.  The axes of a result are those of the first
operand, then those that only later operands have.  A result without axes is an ordinary variable.
Source of the conventions: xarray's DataArray.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Variable
from ...record import lazy
from ...record.spelling import counted, meant
from ..core.checks import describe, shown
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from .aligning import aligned

__all__ = ["NamedTensor"]

_indexing, _products = lazy.module(".indexing", __package__), lazy.module(".products", __package__)


class NamedTensor:
    """A variable whose axes have names; see `T.named`.

    Operators and `apply` work element by element and align by name; reductions take names of axes.  `variable` is the
    value by position, for everything else.
    """

    __slots__ = ("axes", "variable")

    def __init__(self, variable: TensorVariable, axes: tuple[str, ...]) -> None:
        self.variable: TensorVariable = variable
        """The value as an ordinary variable, its axes in the order of `axes`."""
        self.axes: tuple[str, ...] = axes
        """The names of the axes, in order."""

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.variable.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def lengths(self) -> dict[str, Any]:
        """The length of each axis by its name: int64 scalars."""
        return dict(zip(self.axes, T.lengths_of(self.variable), strict=True))

    def __getattr__(self, name: str) -> Any:
        by_position = not name.startswith("_") and hasattr(TensorVariable, name)
        instead = f"; x.variable.{name} goes by position" if by_position else meant(name, dir(NamedTensor))
        raise AttributeError(f"NamedTensor has no attribute {name!r}{instead}")

    def astype(self, dtype: Any) -> NamedTensor:
        """Return the elements in another dtype."""
        return NamedTensor(self.variable.astype(dtype), self.axes)

    def __repr__(self) -> str:
        lengths = ("?" if n is None else str(n) for n in self.variable.type.shape)
        axes = ", ".join(f"{a}={n}" for a, n in zip(self.axes, lengths, strict=True))
        name = f"{self.variable.name}: " if self.variable.name else ""
        return f"named({name}{self.variable.dtype}[{axes}])"

    # --- axes
    def place(self, axis: str, where: str) -> int:
        """Return the position of an axis.  Raises ValueError, with the names there are, for an unknown one."""
        if axis in self.axes:
            return self.axes.index(axis)
        if not isinstance(axis, str):
            raise TypeError(f"{where}: an axis is {shown(axis)}; expected one of the names {', '.join(self.axes)}")
        known = ", ".join(self.axes)
        raise ValueError(f"{where}: {self!r} has no axis {axis!r}; expected one of {known}{meant(axis, self.axes)}")

    def rename(self, names: Mapping[str, str] | None = None, **keywords: str) -> NamedTensor:
        """Return the tensor with other names for some axes: `x.rename(batch="row")`.

        Raises ValueError for an unknown axis, and for two axes of one name.
        """
        changed = {**(names or {}), **keywords}
        for old in changed:
            self.place(old, "rename")
        return NamedTensor(self.variable, checked([changed.get(a, a) for a in self.axes], self.variable, "rename"))

    def order(self, *axes: Any) -> NamedTensor:
        """Return the tensor with its axes in this order; `...` stands for all others.

        Raises ValueError for an unknown axis, one that is given twice, and one that is left out.
        """
        others = [a for a in self.axes if a not in axes]
        wanted = [a for given in axes for a in (others if given is Ellipsis else [given])]
        places: Any = [self.place(a, "order") for a in wanted]
        if len(set(wanted)) < len(wanted) or len(wanted) < self.ndim:
            fix = "name each axis once, or write ... for the others"
            raise ValueError(f"order: got {', '.join(map(str, axes))} for the axes {', '.join(self.axes)}; {fix}")
        if places == list(range(self.ndim)):
            return self
        return NamedTensor(T.dimshuffle(self.variable, places), tuple(wanted))

    def expand(self, **lengths: Any) -> NamedTensor:
        """Return the tensor with new axes in front, along which it is the same: `x.expand(time=10)`."""
        for axis in lengths:
            if axis in self.axes:
                raise ValueError(f"expand: {self!r} has an axis {axis!r} already")
        value = T.broadcast_to(self.variable, (*lengths.values(), *T.lengths_of(self.variable)))
        return NamedTensor(value, (*lengths, *self.axes))

    def squeeze(self, *axes: str) -> Any:
        """Return the tensor without these axes, which have length 1."""
        return self._without(T.squeeze(self.variable, tuple(self.place(a, "squeeze") for a in axes)), axes)

    def merge(self, axes: Sequence[str], name: str) -> NamedTensor:
        """Return the tensor with several axes as one, in their order: `x.merge(("height", "width"), "pixel")`.

        The new axis stands last.
        """
        rest = [a for a in self.axes if a not in axes]
        value = self.order(*rest, *axes).variable
        lengths = T.lengths_of(value)[: len(rest)]
        return named_tensor(T.reshape(value, (*lengths, -1)), (*rest, name), "merge")

    def split(self, axis: str, **lengths: Any) -> NamedTensor:
        """Return the tensor with an axis divided into several: `x.split("pixel", height=28, width=28)`.

        A length of -1 is computed from the others.
        """
        at, own = self.place(axis, "split"), T.lengths_of(self.variable)
        value = T.reshape(self.variable, (*own[:at], *lengths.values(), *own[at + 1 :]))
        return named_tensor(value, (*self.axes[:at], *lengths, *self.axes[at + 1 :]), "split")

    # --- parts
    def __getitem__(self, index: Any) -> Any:
        """Return a part: `x[{"batch": 0, "time": slice(1, None)}]`; see `at`."""
        if not isinstance(index, Mapping):
            raise TypeError(
                f"index: got {shown(index)} for {self!r}; name the axes, as in x[{{{self.axes[0]!r}: 0}}], or index "
                "x.variable by position"
            )
        return self.at(index)

    def at(self, index: Mapping[str, Any] | None = None, **keywords: Any) -> Any:
        """Return the part at an index for each of some axes: numbers drop the axis, slices and arrays keep it.

        An index that is a NamedTensor of integers replaces the axis by its own axes.  An axis that both have is gone
        along together: `scores.at(class_=labels)` with the axes batch, class_ and batch gives one score for each batch.

        Raises ValueError for an unknown axis, TypeError for an index of two axes or more without names.
        """
        found: Any = self
        chosen = {**(index or {}), **keywords}
        for axis in chosen:
            self.place(axis, "index")
        for axis, one in chosen.items():
            found = _indexing.part_at(found, axis, one)
        return found

    def flip(self, *axes: str) -> NamedTensor:
        """Return the tensor with these axes reversed."""
        return NamedTensor(T.flip(self.variable, tuple(self.place(a, "flip") for a in axes)), self.axes)

    def roll(self, **shifts: Any) -> NamedTensor:
        """Return the tensor with elements shifted along axes, around the end: `x.roll(time=1)`."""
        value = self.variable
        for axis, shift in shifts.items():
            value = T.roll(value, shift, self.place(axis, "roll"))
        return NamedTensor(value, self.axes)

    # --- element by element
    def apply(self, function: Callable[..., Any], *others: Any, **options: Any) -> Any:
        """Return `function`, of `T` and element by element, of this tensor and others, aligned by name.

            x.apply(T.exp); x.apply(T.where, a, b); x.apply(T.maximum, 0.0)
        """
        values, axes = aligned((self, *others), getattr(function, "__name__", "apply"))
        return _named_or_plain(function(*values, **options), axes)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            call = f"numpy.{ufunc.__name__}.{method}"
            raise TypeError(f"{call} does not take {self!r}; use its methods, as in x.sum(axis)")
        values, axes = aligned(inputs, ufunc.__name__)
        return _named_or_plain(ufunc(*values), axes)

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{self!r} is symbolic, and its axes have names; use x.apply(function), or x.variable")

    __hash__: Callable[..., int] = object.__hash__  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} is symbolic and has no truth value; use x.apply(T.where, a, b)")

    def __iter__(self) -> Any:
        raise TypeError(f"{self!r} is not iterated over; take parts by x[{{{self.axes[0]!r}: k}}]")

    # --- products
    def dot(self, other: Any, *axes: str) -> Any:
        """Return the sums of products over these axes, by default all that both have.

        Other axes that both have are gone along together, as those of a batch.

        Raises TypeError for an operand without names, ValueError for an axis that both operands lack, and where
        nothing is summed over.
        """
        if not isinstance(other, NamedTensor):
            raise TypeError(f"dot: got {_shown(other)}; give its axes names, as in T.named(y, 'feature')")
        over = axes or tuple(a for a in self.axes if a in other.axes)
        for axis in over:
            self.place(axis, "dot")
            other.place(axis, "dot")
        if not over:
            raise ValueError(f"dot: {self!r} and {other!r} have no axis in common; multiply them by *")
        require_lengths((self, other), "dot")
        return _products.contracted(self, other, over)

    # --- operators, by the names of functions of `T`
    def __add__(self, other: Any) -> Any: return _elementwise("add", self, other)
    def __radd__(self, other: Any) -> Any: return _elementwise("add", other, self)
    def __sub__(self, other: Any) -> Any: return _elementwise("sub", self, other)
    def __rsub__(self, other: Any) -> Any: return _elementwise("sub", other, self)
    def __mul__(self, other: Any) -> Any: return _elementwise("mul", self, other)
    def __rmul__(self, other: Any) -> Any: return _elementwise("mul", other, self)
    def __truediv__(self, other: Any) -> Any: return _elementwise("true_div", self, other)
    def __rtruediv__(self, other: Any) -> Any: return _elementwise("true_div", other, self)
    def __floordiv__(self, other: Any) -> Any: return _elementwise("floor_div", self, other)
    def __rfloordiv__(self, other: Any) -> Any: return _elementwise("floor_div", other, self)
    def __mod__(self, other: Any) -> Any: return _elementwise("mod", self, other)
    def __rmod__(self, other: Any) -> Any: return _elementwise("mod", other, self)
    def __pow__(self, other: Any) -> Any: return _elementwise("pow", self, other)
    def __rpow__(self, other: Any) -> Any: return _elementwise("pow", other, self)
    def __and__(self, other: Any) -> Any: return _elementwise("bitwise_and", self, other)
    def __rand__(self, other: Any) -> Any: return _elementwise("bitwise_and", other, self)
    def __or__(self, other: Any) -> Any: return _elementwise("bitwise_or", self, other)
    def __ror__(self, other: Any) -> Any: return _elementwise("bitwise_or", other, self)
    def __xor__(self, other: Any) -> Any: return _elementwise("bitwise_xor", self, other)
    def __rxor__(self, other: Any) -> Any: return _elementwise("bitwise_xor", other, self)
    def __lt__(self, other: Any) -> Any: return _elementwise("lt", self, other)
    def __le__(self, other: Any) -> Any: return _elementwise("le", self, other)
    def __gt__(self, other: Any) -> Any: return _elementwise("gt", self, other)
    def __ge__(self, other: Any) -> Any: return _elementwise("ge", self, other)
    def __eq__(self, other: Any) -> Any: return _elementwise("eq", self, other)
    def __ne__(self, other: Any) -> Any: return _elementwise("ne", self, other)
    def __neg__(self) -> NamedTensor: return self._each("neg")
    def __abs__(self) -> NamedTensor: return self._each("abs")
    def __invert__(self) -> NamedTensor: return self._each("bitwise_not")
    def __pos__(self) -> NamedTensor: return self
    def __matmul__(self, other: Any) -> Any: return self.dot(other)

    # --- functions of each element
    def exp(self) -> NamedTensor: return self._each("exp")
    def log(self) -> NamedTensor: return self._each("log")
    def log1p(self) -> NamedTensor: return self._each("log1p")
    def expm1(self) -> NamedTensor: return self._each("expm1")
    def sqrt(self) -> NamedTensor: return self._each("sqrt")
    def square(self) -> NamedTensor: return self._each("square")
    def sin(self) -> NamedTensor: return self._each("sin")
    def cos(self) -> NamedTensor: return self._each("cos")
    def tanh(self) -> NamedTensor: return self._each("tanh")
    def sigmoid(self) -> NamedTensor: return self._each("sigmoid")
    def relu(self) -> NamedTensor: return self._each("relu")
    def conj(self) -> NamedTensor: return self._each("conj")
    def sign(self) -> NamedTensor: return self._each("sign")

    # --- reductions over these axes, by default all; `options` are the keywords of the function of `T`
    def sum(self, *axes: str, **options: Any) -> Any: return self._reduced("sum", axes, options)
    def prod(self, *axes: str, **options: Any) -> Any: return self._reduced("prod", axes, options)
    def mean(self, *axes: str, **options: Any) -> Any: return self._reduced("mean", axes, options)
    def var(self, *axes: str, **options: Any) -> Any: return self._reduced("var", axes, options)
    def std(self, *axes: str, **options: Any) -> Any: return self._reduced("std", axes, options)
    def max(self, *axes: str, **options: Any) -> Any: return self._reduced("max", axes, options)
    def min(self, *axes: str, **options: Any) -> Any: return self._reduced("min", axes, options)
    def argmax(self, *axes: str, **options: Any) -> Any: return self._reduced("argmax", axes, options)
    def argmin(self, *axes: str, **options: Any) -> Any: return self._reduced("argmin", axes, options)
    def any(self, *axes: str, **options: Any) -> Any: return self._reduced("any", axes, options)
    def all(self, *axes: str, **options: Any) -> Any: return self._reduced("all", axes, options)
    def logsumexp(self, *axes: str, **options: Any) -> Any: return self._reduced("logsumexp", axes, options)
    def median(self, *axes: str, **options: Any) -> Any: return self._reduced("median", axes, options)

    # --- along one axis; `options` are the keywords of the function of `T`
    def cumsum(self, axis: str, **options: Any) -> NamedTensor: return self._along("cumsum", axis, options)
    def cumprod(self, axis: str, **options: Any) -> NamedTensor: return self._along("cumprod", axis, options)
    def sort(self, axis: str, **options: Any) -> NamedTensor: return self._along("sort", axis, options)
    def argsort(self, axis: str, **options: Any) -> NamedTensor: return self._along("argsort", axis, options)
    def softmax(self, axis: str, **options: Any) -> NamedTensor: return self._along("softmax", axis, options)
    def log_softmax(self, axis: str, **options: Any) -> NamedTensor: return self._along("log_softmax", axis, options)

    # --- inside
    def _without(self, value: Any, axes: Iterable[str]) -> Any:
        dropped = set(axes)
        return _named_or_plain(value, tuple(a for a in self.axes if a not in dropped))

    def _each(self, word: str) -> NamedTensor:
        return NamedTensor(_function(word)(self.variable), self.axes)

    def _reduced(self, what: str, axes: Sequence[str], options: Mapping[str, Any]) -> Any:
        by_word = {"axis", "dim"} & options.keys()
        if by_word:
            word = min(by_word)
            fix = f"name axes by position, as in x.{what}({self.axes[0]!r})"
            raise TypeError(f"{what}: got {word}={shown(options[word])}; {fix}")
        if len(set(axes)) < len(axes):
            raise ValueError(f"{what}: an axis is given twice in {', '.join(axes)}")
        places = tuple(self.place(a, what) for a in axes) or tuple(range(self.ndim))
        value = _function(what)(self.variable, axis=places[0] if len(places) == 1 else places, **options)
        return self._without(value, axes or self.axes)

    def _along(self, word: str, axis: str, options: Mapping[str, Any]) -> NamedTensor:
        return NamedTensor(_function(word)(self.variable, axis=self.place(axis, word), **options), self.axes)


def checked(axes: Sequence[Any], variable: Variable, what: str) -> tuple[str, ...]:
    """Return names of axes.  Raises TypeError for one that is no text, ValueError for a wrong count and for doubles."""
    strange = next((a for a in axes if not isinstance(a, str) or not a), None)
    if strange is not None:
        raise TypeError(f"{what}: the name of an axis is {shown(strange)}; expected a text such as 'batch'")
    if len(axes) != variable.ndim:
        has, given = counted(variable.ndim, "axis"), ", ".join(axes) or "none"
        raise ValueError(f"{what}: {describe(variable)} has {has}, got the names {given}; name each axis")
    twice = next((a for k, a in enumerate(axes) if a in axes[:k]), None)
    if twice is not None:
        raise ValueError(f"{what}: two axes of {describe(variable)} are named {twice!r}; expected distinct names")
    return tuple(axes)


def named_tensor(x: Any, axes: Sequence[str], what: str = "named") -> NamedTensor:
    """Return `x` with these names; a DataArray has them already."""
    if isinstance(x, NamedTensor):
        return x.order(*axes) if axes else x
    if not axes and not isinstance(x, Variable) and hasattr(x, "dims"):
        axes = tuple(map(str, x.dims))
    variable = as_tensor(x)
    return NamedTensor(variable, checked(axes, variable, what))


def require_lengths(tensors: Sequence[NamedTensor], what: str) -> None:
    """Raise ValueError, with the name, for an axis that has two known lengths."""
    known: dict[str, tuple[int, NamedTensor]] = {}
    for tensor in tensors:
        for axis, length in zip(tensor.axes, tensor.variable.type.shape, strict=True):
            first = known.setdefault(axis, (length, tensor)) if length is not None else None
            if first is not None and first[0] != length:
                raise ValueError(
                    f"{what}: axis {axis!r} has the lengths {first[0]} and {length}: {first[1]!r} and {tensor!r}"
                )


def _named_or_plain(value: Any, axes: tuple[str, ...]) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(_named_or_plain(v, axes) for v in value)
    if value.ndim != len(axes):
        raise ValueError(
            f"apply: the function gives {describe(value)} for the axes {', '.join(axes)}; expected one that works "
            "element by element"
        )
    return NamedTensor(value, axes) if axes else value


def _shown(value: Any) -> str:
    return describe(value) if isinstance(value, Variable) else shown(value)


def _elementwise(word: str, a: Any, b: Any) -> Any:
    """Return a function of `T` of two operands, aligned by name."""
    values, axes = aligned((a, b), word)
    return _named_or_plain(_function(word)(*values), axes)


def _function(word: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(T, word, None) or getattr(T.nn, word)
    return found
