"""Tensor variables: NumPy's operators and methods on graph variables, and how Python values become constants."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

import numpy as np

from ...graph import DTYPES, Constant, Kind, Lacks, Op, TensorType, Variable, dtype_name
from ...graph.provenance import asked, asked_by_us, line
from ...graph.types import NAMED, aligned, numpy_dtype
from ...record import lazy
from ..shapes.array_members import ArrayMembers
from ..shapes.stored import flat_view, set_item, whole
from ..writing import code as written
from ..writing.latex import Written, called
from .at import At
from .call_lengths import Length
from .checks import is_masked, named, one_or_several, shown
from .compared import compared
from .foreign import as_array
from .interpret import evaluate_and_update
from .namespace import T
from .numpy_calls import call_function, call_ufunc, result_of
from .operators import Operators
from .promotion import typed_scalar
from .traced import (
    BitMethods,
    applied,
    array_of,
    class_of,
    first_length,
    in_text,
    indexed,
    is_of_call,
    lengths,
    own_array,
    python_number,
)
from .tracing import current
from .typing import Axis, DTypeLike, TensorLike

views: Any = lazy.module("...writing.views", __name__)

STANDARD_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""Versions of the array API standard; each holds the one before it."""


class TensorVariable(Operators, Variable):
    """A symbolic array.  It has NumPy's operators, methods and attributes; its value exists only when a function runs.

    Comparisons are elementwise and give bool variables, which have no truth value.  The exception is `==` and `!=` of
    two variables, which compare identity, so that variables can be members of lists, as in Theano; elementwise they
    are `T.eq(a, b)` and `T.ne(a, b)`.  In a function that `ag.jit` traces, and in the body of a loop, these are
    elementwise as well.
    """

    __slots__ = ()

    # --- operators other than those of `Operators`
    def __eq__(self, other: object) -> Any: return compared("==", self, other)
    def __ne__(self, other: object) -> Any: return compared("!=", self, other)
    __hash__: Callable[[TensorVariable], int] = Variable.__hash__  # type: ignore[assignment]
    def __getitem__(self, key: Any) -> TensorVariable: return indexed(T.getitem(self, key), key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_of_call():
            set_item(self, key, value)
            return
        raise TypeError(
            f"{self!r} is symbolic and never changes; use x = T.set_subtensor(x[index], value), "
            "or T.inc_subtensor for +="
        )

    # --- attributes
    @property
    def shape(self) -> TensorVariable:
        """The lengths as an int64 vector variable of known length; `x.type.shape` has the lengths known now.

        In a function that `ag.jit` traces: a tuple, as in NumPy, of the lengths of the call.
        """
        trace = current()
        return T.shape(self) if trace is None or not trace.of_call else lengths(self, trace)  # type: ignore[return-value]

    @shape.setter
    def shape(self, lengths: Any) -> None:
        raise TypeError(f"x.shape = {lengths!r}: {self!r} keeps its shape; write x = x.reshape(...){line()}")

    @property
    def size(self) -> TensorVariable:
        """The number of elements as an int64 scalar; the number of the call in a function that `ag.jit` traces."""
        trace = current()
        return math.prod(lengths(self, trace)) if trace is not None and trace.of_call else T.size(self)

    @property
    def device(self) -> str:
        """The device of its values as the array API standard asks for it; engines copy to others by themselves."""
        return "cpu"
    @property
    def flat(self) -> TensorVariable:
        """The elements in C order, which can be assigned in a function that `ag.jit` traces."""
        return flat_view(self)  # type: ignore[no-any-return]
    @flat.setter
    def flat(self, value: TensorLike) -> None:
        if not is_of_call():
            raise TypeError(f"{self!r} is symbolic and never changes; use T.full_like(x, value)")
        set_item(flat_view(self), slice(None), value)
    @property
    def T(self) -> TensorVariable: return T.transpose(self)
    @property
    def mT(self) -> TensorVariable: return T.swapaxes(self, -1, -2)
    @property
    def real(self) -> TensorVariable: return T.real(self)
    @property
    def imag(self) -> TensorVariable: return T.imag(self)

    # --- methods, with the meanings they have in the namespace
    def sum(
        self, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> TensorVariable:
        return T.sum(self, axis, dtype, keepdims, where=where)
    def prod(
        self, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> TensorVariable:
        return T.prod(self, axis, dtype, keepdims, where=where)
    def mean(
        self, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *, where: TensorLike | None = None
    ) -> TensorVariable:
        return T.mean(self, axis, dtype, keepdims, where=where)
    def var(
        self, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False
    ) -> TensorVariable:
        return T.var(self, axis, dtype, ddof, keepdims)
    def std(
        self, axis: Axis = None, dtype: DTypeLike = None, ddof: float = 0, keepdims: bool = False
    ) -> TensorVariable:
        return T.std(self, axis, dtype, ddof, keepdims)
    def max(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.max(self, axis, keepdims)
    def min(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.min(self, axis, keepdims)
    def any(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.any(self, axis, keepdims)
    def all(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.all(self, axis, keepdims)
    def ptp(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.ptp(self, axis, keepdims)
    def argmax(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.argmax(self, axis, keepdims)
    def argmin(self, axis: Axis = None, keepdims: bool = False) -> TensorVariable: return T.argmin(self, axis, keepdims)
    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
        return T.cumsum(self, axis, dtype)
    def cumprod(self, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
        return T.cumprod(self, axis, dtype)
    def dot(self, other: TensorLike) -> TensorVariable: return T.dot(self, other)
    def clip(self, min: TensorLike | None = None, max: TensorLike | None = None) -> TensorVariable:
        return T.clip(self, min, max)
    def round(self, decimals: int = 0) -> TensorVariable: return T.round(self, decimals)
    def conj(self) -> TensorVariable: return T.conj(self)
    def conjugate(self) -> TensorVariable: return T.conj(self)
    def norm(self, L: Any, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
        """The vector norm of order `L`, of all elements for an `axis` of None; see `T.linalg.vector_norm`."""
        return T.linalg.vector_norm(self, axis=axis, ord=L, keepdims=keepdims)
    def copy(self, name: str | None = None) -> TensorVariable:
        """Another variable of the same value, called `name`."""
        return named(array_of(T.ELEMENTWISE["identity"](self), self), name)
    def zeros_like(self, dtype: DTypeLike = None) -> TensorVariable: return T.zeros_like(self, dtype)
    def ones_like(self, dtype: DTypeLike = None) -> TensorVariable: return T.ones_like(self, dtype)
    def fill(self, value: TensorLike) -> TensorVariable:
        """A tensor of this shape and dtype filled with `value`, as Theano has it; in a trace written."""
        if is_of_call():
            return whole(self, value, "x.fill(v)")  # type: ignore[return-value,func-returns-value]
        return T.full_like(self, value)
    def reshape(self, *shape: Any, ndim: int | None = None, order: str | None = "C") -> TensorVariable:
        return array_of(T.reshape(self, *shape, ndim=ndim, order=order), self)
    def transpose(self, *axes: Any) -> TensorVariable: return T.transpose(self, one_or_several(axes) if axes else None)
    def dimshuffle(self, *order: Any) -> TensorVariable: return T.dimshuffle(self, *order)
    def swapaxes(self, axis1: int, axis2: int) -> TensorVariable: return T.swapaxes(self, axis1, axis2)
    def flatten(self, ndim: int = 1) -> TensorVariable: return own_array(T.flatten(self, ndim))
    def ravel(self, order: str | None = "C") -> TensorVariable: return T.ravel(self, order)
    def squeeze(self, axis: Axis = None) -> TensorVariable: return array_of(T.squeeze(self, axis), self)
    def repeat(self, repeats: TensorLike, axis: int | None = None) -> TensorVariable:
        return T.repeat(self, repeats, axis)
    def take(self, indices: TensorLike, axis: int | None = None, mode: str = "raise") -> TensorVariable:
        return T.take(self, indices, axis, mode)
    def compress(self, condition: TensorLike, axis: int | None = None) -> TensorVariable:
        return T.compress(condition, self, axis)
    def searchsorted(self, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> TensorVariable:
        return T.searchsorted(self, v, side, sorter)
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        return T.diagonal(self, offset, axis1, axis2)
    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
        return T.trace(self, offset, axis1, axis2)
    def sort(self, axis: int | None = -1) -> TensorVariable:
        """The sorted elements, as Theano has it; in a function that `ag.jit` traces it writes them, as NumPy does."""
        if is_of_call():
            return whole(self, T.sort(self, axis), "x.sort()")  # type: ignore[return-value,func-returns-value]
        return T.sort(self, axis)
    def argsort(self, axis: int | None = -1) -> TensorVariable: return T.argsort(self, axis)
    def nonzero(self) -> tuple[TensorVariable, ...]: return T.nonzero(self)
    def nonzero_values(self) -> TensorVariable:
        """The elements that are not zero, in C order: `x[x.nonzero()]`."""
        return self[T.nonzero(self)]

    def to_device(self, device: Any, /, *, stream: Any = None) -> TensorVariable:
        """Itself, for the only device.  Raises ValueError for another device or a stream."""
        if device != "cpu" or stream is not None:
            raise ValueError(f'to_device: expected "cpu" and no stream, got {shown(device)} and {shown(stream)}')
        return self
    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The namespace of the array API standard: `arignote.ops`.  Raises ValueError for a version it has not."""
        if api_version not in (None, *STANDARD_VERSIONS):
            raise ValueError(f"api_version: expected one of {', '.join(STANDARD_VERSIONS)}, got {shown(api_version)}")
        return sys.modules[__package__.removesuffix(".core")]

    # --- elementwise functions as methods, as Theano's variables have them
    def arccos(self) -> TensorVariable: return T.arccos(self)
    def arccosh(self) -> TensorVariable: return T.arccosh(self)
    def arcsin(self) -> TensorVariable: return T.arcsin(self)
    def arcsinh(self) -> TensorVariable: return T.arcsinh(self)
    def arctan(self) -> TensorVariable: return T.arctan(self)
    def arctanh(self) -> TensorVariable: return T.arctanh(self)
    def ceil(self) -> TensorVariable: return T.ceil(self)
    def cos(self) -> TensorVariable: return T.cos(self)
    def cosh(self) -> TensorVariable: return T.cosh(self)
    def deg2rad(self) -> TensorVariable: return T.deg2rad(self)
    def exp(self) -> TensorVariable: return T.exp(self)
    def exp2(self) -> TensorVariable: return T.exp2(self)
    def expm1(self) -> TensorVariable: return T.expm1(self)
    def floor(self) -> TensorVariable: return T.floor(self)
    def log(self) -> TensorVariable: return T.log(self)
    def log10(self) -> TensorVariable: return T.log10(self)
    def log1p(self) -> TensorVariable: return T.log1p(self)
    def log2(self) -> TensorVariable: return T.log2(self)
    def rad2deg(self) -> TensorVariable: return T.rad2deg(self)
    def sin(self) -> TensorVariable: return T.sin(self)
    def sinh(self) -> TensorVariable: return T.sinh(self)
    def sqrt(self) -> TensorVariable: return T.sqrt(self)
    def tan(self) -> TensorVariable: return T.tan(self)
    def tanh(self) -> TensorVariable: return T.tanh(self)
    def trunc(self) -> TensorVariable: return T.trunc(self)

    def set(self, value: TensorLike) -> TensorVariable:
        """For a part `x[...]`: `x` with `value` there, as PyTensor writes it; see `T.set_subtensor`."""
        return T.set_subtensor(self, value)

    def inc(self, value: TensorLike) -> TensorVariable:
        """For a part `x[...]`: `x` with `value` added there; see `T.inc_subtensor`."""
        return T.inc_subtensor(self, value)

    @property
    def at(self) -> At:
        """`x.at[i].set(v)` and `x.at[i].add(v)`, as JAX writes them: `x` with v there, or v added there."""
        return At(self)

    def eval(self, values: Mapping[Variable, Any] | None = None) -> np.ndarray:
        """The array that this variable is for `values` of the inputs it depends on, computed by NumPy.

        Shared variables with a default update, as of random draws, move on as after a call of a function.  Raises
        ValueError if a value is missing, TypeError or ValueError if one does not fit its variable.
        """
        return evaluate_and_update(self, {} if values is None else values)

    # --- what a symbolic array cannot do
    def __bool__(self) -> bool:
        raise self._without("truth value", "T.switch(condition, a, b) to choose, T.logical_and(a, b) for `and`")

    def __float__(self) -> float:
        raise self._without("Python float", "T.exp(x) in place of math.exp(x), and x.eval({...}) for its value")

    def __int__(self) -> int: raise self._without("Python int", "x.eval({...}) or x.astype('int64')")
    def __index__(self) -> int:
        raise self._without("Python index", "x[i], T.arange(i), T.zeros((i,)); loop n times by ag.scan(..., n_steps=n)")

    def __complex__(self) -> complex: raise self._without("Python complex", "x.eval({...})")
    def __format__(self, form: str) -> str:
        if form: raise self._without(f"digits to print as {form!r}", "x.eval({...})")
        return str(self)
    def __contains__(self, value: TensorLike) -> bool:
        raise self._without("members to search", "T.any(T.eq(x, value))")
    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        fix = "T.as_tensor(x), np.stack([x, y]), T.full, T.arange" if is_of_call() else "x.eval({...})"
        raise self._without("array", fix)
    def __len__(self) -> int: return self._known_length("x.shape[0]")

    def __iter__(self) -> Iterator[TensorVariable]:
        return iter([self[n] for n in range(self._known_length("x.shape[0] and x[i], or give the length: shape=(3,)"))])

    def _known_length(self, fix: str) -> int:
        if not self.type.shape:
            raise TypeError(f"{self!r} is a scalar: it has no length")
        known = first_length(self)
        if known is None:
            raise self._without("length before a function runs", fix)
        return known

    def _without(self, what: str, fix: str) -> TypeError:
        trace = current()
        more = ""
        if trace is not None and trace.of_call:
            name = trace.sourceless()
            more = "; a number among the arguments can be static: ag.jit(f, static_argnames=...)"
            if name:
                more = f"; {name} has no source to read, so its loops and branches are Python's: define it in a file"
        return TypeError(f"{self!r} is symbolic and has no {what}; use {fix}{more}{line()}")

    # --- NumPy functions called on variables
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return result_of(call_ufunc(self, ufunc, method, inputs, kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return result_of(call_function(self, function, args, kwargs))

    def __repr__(self) -> str:
        if self.name:
            return f"{self.name}: {self.type}"
        text = "unnamed variable" if self.owner is None else views.expressions.brief(self)
        return f"{text}: {self.type}"

    def _repr_latex_(self) -> str | None:
        """The expression as a formula; None if it is large (then it has a picture) or no expression at all."""
        formula = views.latex(self)
        return None if formula is None else rf"$\displaystyle {formula}$"

    def _repr_html_(self) -> str:
        """An expression as a formula in MathML, which needs no network, or as a picture; a leaf with its value."""
        shown: str = views.html(self)
        return shown

    def _shown_form(self) -> tuple[Sequence[Variable], Mapping[Variable, str]]:
        """The expression as it is shown, and names of its parts; the layer that has the rules puts its own in place."""
        return [self], {}

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(views.text(self))


class TracedVariable(BitMethods, ArrayMembers, TensorVariable):  # type: ignore[misc]  # NumPy's sort and flatten
    """A variable while `ag.jit` traces the function that made it: to `isinstance` it is NumPy's value in its place."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """NumPy's dtype to the functions that are traced; its name to this library."""
        return NAMED[self.type.dtype] if asked_by_us() or not is_of_call() else self.type.numpy

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return TracedVariable if asked_by_us() else class_of(self)

    @__class__.setter
    def __class__(self, kind: type) -> None:
        object.__dict__["__class__"].__set__(self, kind)

    def item(self, *place: Any) -> Any:
        """The element at a place, a flat index or one for each axis, as a Python number; of one element without."""
        if not place:
            return python_number(T.reshape(self, ()))
        (at,) = place if len(place) == 1 else (place,)
        return python_number(T.ravel(self)[at] if not isinstance(at, tuple) and self.ndim != 1 else self[at])

    def __format__(self, form: str) -> str:
        return super().__format__(form) if asked_by_us() else in_text(self, form)

    def __str__(self) -> str:
        return repr(self) if asked_by_us() else in_text(self)

    def tolist(self) -> Any:
        """The elements as Python numbers in nested lists; the lengths are those of the call."""
        rows: Any = self
        return [row.tolist() for row in rows] if self.ndim else python_number(self)


class TensorConstant(TensorVariable, Constant):
    """A constant array."""

    __slots__ = ()

    def __repr__(self) -> str:
        value = np.array2string(self.data, threshold=10, edgeitems=2, separator=", ")
        return f"{self.name + ' = ' if self.name else ''}{value}: {self.type}"


_LONGEST_BRIEF = 48
"""Most characters of an operand in a line of a message."""


class _OfFarther(dict[Variable, "written.Code"]):
    """The codes of operands in a message; other values are named or left out."""

    def __missing__(self, variable: Variable) -> written.Code:
        return variable.name or "...", written.ATOM


class TensorOp(Op):
    """The base of the ops of this vocabulary: calls accept variables, numbers and arrays."""

    variable_class: ClassVar[type[Variable]] = TensorVariable
    sign: str = ""
    """The operator of Python that it is written with."""
    folds: ClassVar[bool] = True
    """Whether a node of constants may be computed when a function is compiled, and not in its calls."""

    spelling: ClassVar[str] = ""
    """The function of the vocabulary that applies it, such as "linalg.inv"; its fields are options of that name."""

    def formula(self, output: Variable, operands: Sequence[Written], /) -> Written:
        """Return an output in LaTeX, with its precedence, from those of the operands."""
        return called(self, output, operands)

    def code(self, output: Variable, speaker: written.Speaker, /) -> written.Code:
        """Return an output in Python, with its precedence; the operands have their codes in `speaker`.

        Raises Unwritten if the language has no word for it.
        """
        how = written.spelled if self.spelling else written.of_class
        return how(self, output, speaker)

    def written(self, output: Variable, speaker: written.Speaker) -> written.Code:
        """Return an output in Python, by the class if the language has no other word for it."""
        try:
            return self.code(output, speaker)
        except written.Unwritten:
            return written.of_class(self, output, speaker)

    def brief(self, output: Variable, operands: Sequence[str]) -> str:
        """Return a call or an index as Python, such as `zeros((3, 4))` and `x[:, 1:]`; other ops by their names."""
        plain = super().brief(output, operands)
        if not self.spelling and type(self).code is TensorOp.code:
            return plain
        speaker = written.Speaker()
        speaker.codes = _OfFarther()  # an op may be written with the operands of its operands
        assert output.owner is not None
        speaker.codes.update((i, (t, written.ATOM)) for i, t in zip(output.owner.inputs, operands, strict=True))
        text, level = self.written(output, speaker)
        is_readable = level == written.ATOM and len(text) <= _LONGEST_BRIEF and "...." not in text
        return text if is_readable else plain

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        """Return the outputs over `inputs` in simpler ops, if the op is made of them."""
        return None

    def __call__(self, *inputs: Any) -> TensorVariable:  # most ops have one output; `outputs_of` is for the others
        trace = current()
        if trace is None:
            return super().__call__(*inputs)  # type: ignore[no-any-return]
        return applied(trace, self, super().__call__, inputs)  # type: ignore[no-any-return]

    def convert(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        return tuple(i if isinstance(i, Variable) else as_tensor(i) for i in inputs)


class Lowered(TensorOp):
    """Base of the ops that only rewrites make."""

    lacks: ClassVar[Lacks] = Lacks(
        derivative="rewrites make it, after derivatives are taken",
        batching="rewrites make it, after examples are batched",
    )


class HostOp(TensorOp):
    """Base of the ops that NumPy computes under every engine."""

    lacks: ClassVar[Lacks] = Lacks(
        planner="NumPy computes it, as a host step", work="NumPy computes it, as a host step"
    )


class ForeignOp(HostOp):
    """Op that code of a user or of another package computes, as a host step.

    It may fail, and has no parameters that a cache or a text could know it by.  Two are equal if their `identity` is;
    by default each is equal to itself alone.
    """

    fallible = True
    fingerprint = None
    picture: ClassVar[Kind] = Kind.OTHER

    @property
    def identity(self) -> Any:
        """The key that equal ops have in common."""
        return id(self)

    def parameters(self) -> dict[str, Any]:
        return {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.identity == self.identity

    def __hash__(self) -> int:
        return hash(self.identity)


def outputs_of(op: Op, *inputs: Any) -> tuple[TensorVariable, ...]:
    """The outputs of an op applied, one or several."""
    outputs: Any = op(*inputs)
    return outputs if type(outputs) is tuple else (outputs,)


def constant(value: TensorLike, dtype: DTypeLike = None, name: str | None = None) -> TensorConstant:
    """The constant with NumPy's reading of `value` (a number, a nested list, an array), as `dtype` if given.

    Raises TypeError for what no tensor can hold (objects, strings, dates, masked arrays), ValueError for nested lists
    of ragged lengths and OverflowError for a Python integer that `dtype` cannot hold.
    """
    if isinstance(value, Variable):
        raise TypeError(f"expected a value, got the symbolic {value!r}; T.stop_gradient(x) holds x constant in grad")
    if is_masked(value):
        raise TypeError("no tensor has a mask; use value.filled(...) or two tensors, the data and the mask")
    if dtype is not None and type(value) in _NUMBERS_OF_PYTHON:
        return _frozen(np.array(value, dtype=dtype_name(dtype)), name)
    value = as_array(value)
    try:
        data = np.array(value, order="C", subok=False)
    except ValueError:
        raise ValueError(f"not a rectangular array of numbers: {shown(value)}") from None
    native = _native(data.dtype)
    if native is None:
        raise TypeError(
            f"expected a number or an array of numbers, got {shown(value)}; no tensor has dtype {_plain(data.dtype)}"
        )
    if dtype is not None and type(value) is not np.ndarray:  # Python integers must fit
        data = np.array(value, dtype=dtype_name(dtype), order="C", subok=False)
    return _frozen(data.astype(native if dtype is None else numpy_dtype(dtype_name(dtype)), copy=False), name)


_NUMBERS_OF_PYTHON = frozenset((bool, int, float, complex))


_numbers: dict[tuple[str, bytes], TensorConstant] = {}
MOST_NUMBERS = 10_000
"""Most constants that are cached."""


def scalar_constant(value: complex, dtype: str) -> TensorConstant:
    """Return the constant of a Python number as `dtype`: the same object for equal numbers, which need no merging.

    Raises OverflowError for an integer that the dtype cannot hold.
    """
    typed = typed_scalar(value, dtype)
    key = (dtype, typed.tobytes())
    found = _numbers.get(key)
    if found is None:
        if len(_numbers) >= MOST_NUMBERS:
            _numbers.clear()
        found = _numbers[key] = constant(typed)
    return found


def own_constant(data: np.ndarray) -> TensorConstant:
    """The constant of an array that nothing else writes to, which is not copied if it begins with a cache line."""
    return _frozen(aligned(data), None)


def _frozen(data: np.ndarray, name: str | None) -> TensorConstant:
    data.flags.writeable = False
    return TensorConstant(data, name=name)


@cache
def _native(dtype: np.dtype) -> np.dtype | None:
    """The dtype in the machine's byte order; None for a dtype that no tensor can have."""
    return numpy_dtype(dtype.name) if dtype.name in DTYPES else None


def _plain(dtype: np.dtype) -> str:
    """The name of a dtype, of text without its length."""
    return dtype.name.rstrip("0123456789") if dtype.kind in "SU" else dtype.name


def as_tensor(value: TensorLike, dtype: DTypeLike = None, name: str | None = None) -> TensorVariable:
    """`value` itself if it is a variable, else the constant made of it; a list with variables in it is stacked.

    Raises TypeError for what no tensor can hold, and for a variable of another dtype than the one asked for.
    """
    if isinstance(value, Variable):
        if dtype is not None and value.type.dtype != dtype_name(dtype):
            raise TypeError(f"expected {dtype_name(dtype)}, got {value!r}; use T.cast(x, {dtype_name(dtype)!r})")
        return value  # type: ignore[return-value]  # all variables of this vocabulary are TensorVariables
    if type(value) is Length:
        return as_tensor(value.variable, dtype)
    if isinstance(value, (list, tuple)) and not hasattr(value, "__array__") and holds_variables(value):
        return T.stack([as_tensor(v, dtype) for v in value])
    try:
        return constant(value, dtype, name)
    except TypeError as error:
        asker = asked(value)
        raise TypeError(f"{asker}: {error}" if asker else str(error)) from None


def holds_variables(value: Sequence[Any]) -> bool:
    return any(
        isinstance(v, Variable) or type(v) is Length or (isinstance(v, (list, tuple)) and holds_variables(v))
        for v in value
    )


__all__ = ["TensorConstant", "TensorOp", "TensorType", "TensorVariable", "TracedVariable", "as_tensor", "constant"]
