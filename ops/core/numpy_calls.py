"""Calls of NumPy's functions on variables: `np.sum(x)`, `np.add.reduce(x)`, `x * array`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...graph import Variable
from ...graph.provenance import line
from ..shapes.array_members import sharing
from ..shapes.stored import base_of, copied, fitted, now, store, whole
from .checks import shown
from .keywords import with_options_by_name
from .namespace import T
from .traced import array_of, class_of, is_of_call, number_of, truth_value
from .tracing import current

_FOLDS = {
    "reduce": {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all",
               "logical_or": "any"},
    "accumulate": {"add": "cumsum", "multiply": "cumprod"},
}  # fmt: skip
"""Methods of NumPy's elementwise functions -> our functions; the axis is the first one by default."""
_OF_DTYPES = frozenset(("sum", "prod", "cumsum", "cumprod"))
"""Functions among them that take a dtype."""
_COMBINED = {"add", "subtract", "multiply", "maximum", "minimum"}
"""Functions whose `at` is one kernel; others are loops."""
_WRITERS = frozenset(("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"))


def call_ufunc(x: Variable, ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return `ufunc` or one of its methods on inputs among which is `x`.  Raises TypeError for what has no graph."""
    name = ufunc.__name__
    if is_of_call():
        written = _written_by(ufunc, method, inputs, options)
        if written is not None:
            return written
    elif options.get("out") is not None:
        raise TypeError(
            f"{_named(ufunc)}: the symbolic {x!r} cannot be written into an array; assign the result, as in y = y + x "
            f"in the place of y += x{line()}"
        )
    function: Any = getattr(T, name, None) or getattr(T.special, name, None)  # SciPy's are ufuncs too
    if method == "__call__" and not options and function is not None:
        return scalar_of_numpy(not_shared(function(*inputs), inputs))
    if method == "outer" and not options and len(inputs) == 2 and function is not None:
        a, b = map(T.as_tensor, inputs)
        return function(T.reshape(a, (*T.lengths_of(a), *[1] * b.ndim)), b)
    if method in _FOLDS and inputs and function is not None:
        return _folded(ufunc, method, function, *inputs, **options)
    call = _named(ufunc) + (f".{method}" if method != "__call__" else "")
    given = f" with {', '.join(options)}" if options else ""
    raise TypeError(f"{call}{given} does not take the symbolic {x!r}; {_absent(name, T, T.special)}")


def _folded(
    ufunc: np.ufunc, method: str, function: Any, x: Any, axis: Any = 0, dtype: Any = None, out: None = None,
    keepdims: bool = False, initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`ufunc.reduce` and `ufunc.accumulate`: our function if there is one, else a loop along the axis."""
    ours = _FOLDS[method].get(ufunc.__name__)
    options = {"initial": initial, "where": None if where is True else where}
    given = {k: v for k, v in options.items() if v is not None}
    if ours is not None and (initial is None or ours not in ("all", "any")):
        if dtype is not None and ours not in _OF_DTYPES:
            x, dtype = T.cast(x, np.dtype(dtype).name), None
        given |= {} if dtype is None else {"dtype": np.dtype(dtype).name}
        given |= {"keepdims": True} if keepdims else {}
        return getattr(T, ours)(x, axis=axis, **given)
    v = x if dtype is None else T.cast(x, np.dtype(dtype).name)
    if method == "accumulate":
        return T.accumulate(function, v, axis)
    if where is not True or axis is None or isinstance(axis, tuple):
        raise TypeError(f"{_named(ufunc)}.reduce of a symbolic array takes one axis, and no where=; got axis={axis}"
                        f"{line()}")  # fmt: skip
    identity = ufunc.identity if initial is None else initial
    return T.reduce_with(function, v, axis, keepdims, identity)


def _absent(name: str, *spaces: Any) -> str:
    """Return that we lack a function, and what one of our namespaces says to use in its place."""
    for space in spaces:
        try:
            getattr(space, name)
        except AttributeError as error:
            _, mark, advice = str(error).partition("; ")
            if mark:
                return f"arignote.ops has no such function{mark}{advice}"
    return "arignote.ops has no such function"


def _written_by(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return the result of a call that writes into an array, or has options of the call; None for other calls."""
    name = ufunc.__name__
    if method == "at":
        _write_at(name, *inputs)
        return _NOTHING
    outs, where, dtype = options.get("out"), options.get("where", True), options.get("dtype")
    if method == "reduceat" and outs is None:
        return _reduceat(ufunc, *inputs, **options)
    if outs is None and not (method == "__call__" and options.keys() & {"dtype", "where"}):
        return None
    rest = {k: v for k, v in options.items() if k not in ("out", "where", "dtype", "casting", "order", "subok")}
    if method != "__call__":
        rest |= {k: options[k] for k in ("where", "dtype") if k in options}
    elif dtype is not None:
        inputs = [T.cast(T.as_tensor(i), np.dtype(dtype).name) for i in inputs]
    found = getattr(ufunc, method if method != "__call__" else "__call__")(*inputs, **rest)
    if outs is None:
        return found if where is True else T.switch(where, found, T.zeros_like(found))
    several = found if isinstance(found, tuple) else (found,)
    for out, value in zip(outs, several, strict=True):
        if out is None:
            continue
        if not isinstance(out, Variable):
            raise TypeError(f"{_named(ufunc)}: out= is an array made outside of the traced function; pass it as an "
                            f"argument{line()}")  # fmt: skip
        if not np.can_cast(value.type.numpy, out.type.numpy, "same_kind"):
            raise TypeError(f"{_named(ufunc)}: the result is of {value.dtype}, which out= of {out.dtype} cannot hold"
                            f"{line()}")  # fmt: skip
        chosen = value if method != "__call__" or where is True else T.switch(where, value, out)
        whole(out, chosen, f"{_named(ufunc)}(out=)")
    return outs[0] if len(outs) == 1 else outs


class _Nothing:
    """The result of a call that only writes."""


_NOTHING = _Nothing()


def result_of(found: Any) -> Any:
    """Return what NumPy returns: None for a call that only writes."""
    return None if found is _NOTHING else found


def _write_at(name: str, x: Any, indices: Any, *values: Any) -> None:
    """`ufunc.at`: every index counts.  Raises ValueError for a function of two arguments without a value."""
    if not isinstance(x, Variable):
        raise TypeError(f"numpy.{name}.at: the array is made outside of the traced function; pass it as an argument"
                        f"{line()}")  # fmt: skip
    trace: Any = current()
    before = now(trace, x)
    if name not in _COMBINED:
        function = getattr(T, name, None)
        if function is None:
            raise TypeError(f"numpy.{name}.at: {_absent(name, T)}{line()}")
        store(x, T.apply_at(function, before, indices, *values), f"numpy.{name}.at")
        return
    if not values:
        raise ValueError(f"numpy.{name}.at: the second operand is missing{line()}")
    part = T.getitem(before, indices)
    given = fitted(part, values[0], f"numpy.{name}.at")
    if name in ("add", "subtract"):
        new = T.inc_subtensor(part, T.neg(given) if name == "subtract" else given)
    else:
        new = T.combine_subtensor(part, given, T.ELEMENTWISE["mul" if name == "multiply" else name])
    store(x, new, f"numpy.{name}.at")


def _reduceat(ufunc: np.ufunc, x: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """`ufunc.reduceat`: a reduction for each part."""
    found = T.reduce_parts(ufunc.reduce, x, indices, axis)
    return found if dtype is None else T.cast(found, np.dtype(dtype).name)


def not_shared(found: Any, operands: Sequence[Any]) -> Any:
    """Return a result with elements of its own, where NumPy makes a new array."""
    if not is_of_call() or not isinstance(found, Variable) or not found.ndim:
        return found
    base = base_of(found)
    return copied(found) if any(isinstance(o, Variable) and base_of(o) is base for o in operands) else found


def scalar_of_numpy(found: Any) -> Any:
    """Return a result without axes as a scalar of NumPy, where it is an argument: a Python number, or an array."""
    if not isinstance(found, Variable) or found.ndim or not is_of_call():
        return found
    is_scalar = number_of(found) is None and class_of(found) is not np.ndarray
    return found if is_scalar else T.ELEMENTWISE["identity"](found)


def _named(ufunc: np.ufunc) -> str:
    """The name of a ufunc with the module that has it: NumPy, or SciPy where it is loaded."""
    name = ufunc.__name__
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}.{name}"
    return name


def call_function(x: Variable, function: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return a function of NumPy on arguments among which is `x`.

    Raises TypeError for a function that we do not have, and for one that writes into an array.
    """
    name = f"{function.__module__}.{function.__name__}"
    namespace = _namespaces().get(function.__module__)
    ours = getattr(namespace, function.__name__, None)
    args, options = with_options_by_name(function, ours, args, options)
    writes = function is np.nan_to_num and not (*args[1:2], options.get("copy", True))[0]
    if writes or function.__name__ in _WRITERS:
        if is_of_call():
            return _written_into(name, function.__name__, args, options)
        returned = f"T.{function.__name__}(x, ...), which returns the result"
        raise TypeError(
            f"{name} writes into an array, and the symbolic {x!r} never changes; use "
            + ("np.where(np.isnan(x), value, x)" if writes else returned)
            + f", T.set_subtensor(x[index], value), or a copy{line()}"
        )
    out = options.get("out")
    if out is not None and is_of_call():
        rest = {k: v for k, v in options.items() if k != "out"}
        return _stored(name, out[0] if isinstance(out, tuple) else out, call_function(x, function, args, rest))
    if is_of_call() and function in _OF_SHAPES:
        return _OF_SHAPES[function](*args, **options)
    if is_of_call() and function.__name__ in _MEMBERS and isinstance(args[0] if args else None, Variable):
        member = getattr(args[0], function.__name__)
        return member(*args[1:], **options) if callable(member) else member
    if ours is None:
        raise TypeError(f"{name} does not take the symbolic {x!r}; {_absent(function.__name__, namespace or T)}")
    found = ours(*args, **options)
    if hasattr(found, "_fields"):
        return _class_of_results(function)(*found)
    is_view = function.__name__ in _VIEWS
    found = found if is_view else not_shared(found, args)
    if function is np.einsum and is_of_call() and _is_view(*args):
        sharing(args[1], found, "np.einsum gave a view of its elements")
    if function is np.meshgrid and is_of_call() and options.get("copy") is False:
        for v, part in zip(args, found, strict=True):
            sharing(v, part, "np.meshgrid(copy=False) gave views of its elements")
    if function is np.allclose:
        return truth_value(found)
    source = next((a for a in args[:1] if isinstance(a, Variable)), None)
    is_array = function.__name__ in _ARRAYS
    return array_of(found, None if is_array else source) if is_array or is_view else scalar_of_numpy(found)


def _stored(name: str, target: Any, found: Any) -> Any:
    """Return an array given as `out=`, whose elements are now the result of a function.

    Raises TypeError for what is no array of the trace, and for a dtype that cannot hold the result.
    """
    if not isinstance(target, Variable):
        made = isinstance(target, np.ndarray)
        what = "an array made outside of the traced function; pass it as an argument" if made else "no array"
        raise TypeError(f"{name}: out= is {what if made else f'{what}: {shown(target)}'}{line()}")
    if name in _SAFELY_STORED and not np.can_cast(found.type.numpy, target.type.numpy, "same_kind"):
        raise TypeError(f"{name}: the result is of {found.dtype}, which out= of {target.dtype} cannot hold{line()}")
    whole(target, found, f"{name}(out=)")
    return target


_SAFELY_STORED = frozenset(f"numpy.{name}" for name in (
    "around", "choose", "clip", "compress", "concat", "concatenate", "dot", "fix", "round", "stack", "take",
))  # fmt: skip
"""Functions whose results are not cast to another kind; reductions are."""


@cache
def _namespaces() -> dict[str, Any]:
    """Return our namespaces by NumPy's modules."""
    return {"numpy": T, "numpy.linalg": T.linalg, "numpy.fft": T.fft, "numpy.lib.stride_tricks": T}


def _is_view(subscripts: Any, *operands: Any) -> bool:
    """Whether NumPy's einsum gives a view of one operand, with no axis summed."""
    if not isinstance(subscripts, str) or len(operands) != 1:
        return False
    given, arrow, kept = subscripts.partition("->")
    return {*kept} == {*given} if arrow else len({*given}) == len(given)


@cache
def _class_of_results(function: Any) -> Any:
    """Return the class of named tuples that a function of NumPy returns; its module is private."""
    return type(function(np.eye(1)))


_MEMBERS = frozenset(("ravel", "real", "imag"))
"""Functions whose results depend on the memory of an array, as those of its members do."""
_VIEWS = frozenset((
    "transpose", "swapaxes", "moveaxis", "rollaxis", "reshape", "ravel", "squeeze", "expand_dims", "diagonal",
    "broadcast_to", "broadcast_arrays", "split", "array_split", "vsplit", "hsplit", "dsplit", "atleast_1d",
    "atleast_2d", "atleast_3d", "flip", "flipud", "fliplr", "rot90", "real", "imag", "matrix_transpose", "unstack",
    "permute_dims", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "diag",
    "sliding_window_view",
))  # fmt: skip
"""Functions whose results share the elements of an argument in NumPy."""


_ARRAYS = frozenset((
    "apply_along_axis", "asarray", "asanyarray", "asfortranarray", "block", "broadcast_to", "copy", "cov", "empty_like",
    "full_like", "i0", "isin", "ones_like", "piecewise", "real_if_close", "require", "roll", "select", "tensordot",
    "where", "zeros_like",
))  # fmt: skip
"""Functions whose results are arrays even without axes; most others give scalars."""


def _written_into(name: str, word: str, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A function of NumPy that writes into its first argument, as one that stores the result there."""
    if word == "nan_to_num":
        options = {k: v for k, v in options.items() if k != "copy"}
        args = (*args[:1], True, *args[2:]) if len(args) > 1 else args
    first = next(iter(options)) if not args else ""
    target = options[first] if first else args[0]
    if not isinstance(target, Variable):
        raise TypeError(f"{name}: the array is made outside of the traced function; pass it as an argument{line()}")
    whole(target, getattr(T, word)(*args, **options), name)
    return target if word == "nan_to_num" else _NOTHING


def _vary(*arrays: Any) -> bool:
    """Whether the call does not tell the length of an axis, which then no comparison in Python decides."""
    return any(isinstance(n, Variable) for a in arrays for n in a.shape)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a, b = T.as_tensor(a1), T.as_tensor(a2)
    if _vary(a, b):
        return truth_value(T.array_equal(a, b, equal_nan))
    if a.shape != b.shape:
        return False
    same = T.eq(a, b)
    same = T.logical_or(same, T.logical_and(T.isnan(a), T.isnan(b))) if equal_nan else same
    return truth_value(T.all(same))


def _array_equiv(a1: Any, a2: Any) -> Any:
    a, b = T.as_tensor(a1), T.as_tensor(a2)
    if _vary(a, b):
        return truth_value(T.array_equiv(a, b))
    ranks = range(1, 1 + min(a.ndim, b.ndim))
    fit = all(a.shape[-k] == b.shape[-k] or a.shape[-k] == 1 or b.shape[-k] == 1 for k in ranks)
    return truth_value(T.all(T.eq(a, b))) if fit else False


def _size(a: Any, axis: int | None = None) -> Any:
    return a.size if axis is None else a.shape[axis]


_OF_SHAPES: dict[Any, Any] = {
    np.shape: lambda a: a.shape, np.size: _size, np.array_equal: _array_equal, np.array_equiv: _array_equiv,
}  # fmt: skip
"""Functions that ask for lengths, which a traced call knows."""
