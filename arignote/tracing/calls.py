"""Calls in a rewritten function: builtins and NumPy's constructors on symbolic values, and functions of the user.

A function of the user is rewritten in turn.  Whatever else is called as it is.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import contextlib
import heapq
import linecache
import operator
import site
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, reduce
from itertools import islice
from types import FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np

from .. import ops as T
from ..graph import Variable
from ..graph.provenance import line
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import (
    PYTHONS,
    array_of,
    is_symbolic,
    keep_class,
    length_of,
    number_of,
    operated,
    truth_value,
)
from ..ops.core.tracing import Known, Number, current
from ..ops.shapes.stored import copied, now
from ..record import lazy
from ..record.frames import OWN
from ..tree import has_variable
from .branches import itself, truth
from .builtins.constructors import CONSTRUCTORS
from .builtins.of_math import OF_MATH
from .builtins.ordering import extreme, first_extreme, in_order, later_extreme
from .builtins.plain_values import hashes, in_python
from .catching import Suppress, watched
from .growing.lists import Grown, grown_of
from .growing.methods import as_items, columns, copy, of_list, sort
from .growing.tables import TABLE, Row
from .iterables import Elements, Enumerated, Indices, Listed, Range, Reversed, Steps, Zip, part_of
from .undefined import defined

folds: Any = lazy.module("..looping.folds", __name__)
sparses: Any = lazy.module("..builtins.of_sparse", __name__)
scipys: Any = lazy.module("..builtins.of_scipy", __name__)
generators: Any = lazy.module("..generators", __name__)
loops: Any = lazy.module("..looping.loops", __name__)

_ITERATORS = (GeneratorType, map, filter)
MOST_REPEATED = 2_000
"""Calls of functions by themselves in loops and branches of one trace.  Each level multiplies their number."""
MOST_LISTED = 1_000_000
"""Items of an iterable of Python beside symbolic ones."""


def call(f: Any, *args: Any, **options: Any) -> Any:
    """`f(*args, **options)`."""
    defined(f)
    trace = current()
    if trace is None:
        return f(*args, **options)
    for a in args:
        defined(a)
    if _is_of_sparse(f):
        return _call_sparse(trace, f, args, options)
    ours = _of_builtin(f)
    if (ours is not None and len(args) == 1) or hashes(f):
        args = tuple([list(a) if type(a) in _ITERATORS else a for a in args])
    method = of_list(f, args)
    if method is not None:
        return method(*args, **options)
    pure = _python_of(f)
    if pure is not None:
        return _run(trace, _users(pure), args, options)
    symbolic = _any_symbolic([*args, *options.values()]) or options.get("key") is not None  # whose keys may be
    if symbolic and trace.grows and not _takes_lists(f, ours):
        args = tuple(map(as_items, args))
    if ours is not None and (symbolic or f in _ALWAYS):
        return ours(*args, **options)
    if symbolic or _any_symbolic(_members_of(getattr(f, "__self__", None))):
        f, args = _of_scipy(f) or in_python(f) or _of_numba(f), _with_arrays(f, args)
    f = (generators.in_trace(f) or f) if _is_of_random(f) else f
    if isinstance(f, FunctionType):
        return _run(trace, _users(f, symbolic), args, options)
    if isinstance(f, MethodType) and isinstance(f.__func__, FunctionType):
        return _run(trace, _users(f.__func__, symbolic), (f.__self__, *args), options)
    if f is contextlib.suppress:
        return Suppress(*args)
    if isinstance(f, type) and f in _FRESH_TYPES:
        return _typed(f, *args, **options)
    return f(*args, **options)


def _takes_lists(f: Any, ours: Any) -> bool:
    """Whether a function takes lists that change by values as they are; `ours`: the function in its place."""
    if isinstance(f, (FunctionType, MethodType)) or type(getattr(f, "__self__", None)) in _CONTAINERS:
        return True
    return ours is not None and f in _OF_LISTS


def _call_sparse(trace: Any, f: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Call a function of `scipy.sparse`: SciPy's with constants, else ours."""
    args, options, symbolic = sparses.given(args, options, _any_symbolic([*args, *options.values()]))
    if not symbolic:
        return sparses.held(f(*args, **options))
    f = _of_scipy(f) or f
    return _run(trace, _users(f, True), args, options) if isinstance(f, FunctionType) else f(*args, **options)


def _is_of_sparse(f: Any) -> bool:
    """Whether a function or class is one of `scipy.sparse`."""
    return str(getattr(f, "__module__", None)).startswith("scipy.sparse.") and hasattr(f, "__name__")


def _of_numba(f: Any) -> Any:
    """Return the Python function that numba compiles; anything else as it is."""
    return getattr(getattr(f, "_dispatcher", f), "py_func", f) if type(f).__module__.startswith("numba.") else f


def _members_of(owner: Any) -> Sequence[Any]:
    """Return what a list or tuple holds whose method is called."""
    return owner if type(owner) in (list, tuple) else ()


def _is_of_random(f: Any) -> bool:
    """Whether a function or class belongs to a random module of Python or NumPy."""
    owner = getattr(f, "__self__", None)
    modules = getattr(f, "__module__", None), None if isinstance(owner, ModuleType) else type(owner).__module__
    return any(m is not None and (m == "random" or m.startswith("numpy.random")) for m in modules)


def call_writing(f: Any, *args: Any, **options: Any) -> Any:
    """`call` in a function that writes to arrays: constant arrays that it makes are arrays of the trace."""
    found = call(f, *args, **options)
    if type(found) is np.ndarray and found.dtype.kind in "biufc" and _makes(f) and current() is not None:
        return array_of(copied(as_tensor(found)))
    return found


def joined(space: Any, key: Any) -> Any:
    """`np.r_[key]`, and the other arrays that NumPy makes of an index."""
    name = next((n for n in ("r_", "c_", "mgrid", "ogrid") if space is getattr(np, n)), "")
    parts = [v for k in (key if type(key) is tuple else (key,)) for v in _bounds(k)]
    if not name or current() is None or not _any_symbolic(parts):
        return space[key]
    return getattr(T, name)[key]


def _bounds(key: Any) -> tuple[Any, ...]:
    return (key.start, key.stop, key.step) if type(key) is slice else (key,)


def _makes(f: Any) -> bool:
    return getattr(f, "__module__", None) in ("numpy", None) and getattr(f, "__name__", "") in _MAKERS


_MAKERS = frozenset((
    "array", "arange", "linspace", "copy", "zeros_like", "ones_like", "empty_like", "full_like", "asarray", "diag",
    "tile", "repeat", "concatenate", "stack", "tri", "logspace", "indices", "fromfunction", "meshgrid",
))  # fmt: skip


def _any_symbolic(values: Sequence[Any]) -> bool:
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if is_symbolic(one) or isinstance(one, (Steps, Grown, Row)):
            return True
        if type(one) in (list, tuple, deque):
            waiting += one
    return False


_OF_SEQUENCES = frozenset((
    "broadcast_arrays", "choose", "column_stack", "concatenate", "concat", "dstack", "hstack", "lexsort",
    "multi_dot", "piecewise", "ravel_multi_index", "select", "stack", "vstack",
))  # fmt: skip
"""Functions of NumPy that take a sequence of arrays, which may have different shapes."""


def _with_arrays(f: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments of a function of NumPy with an array in the place of a list of symbolic numbers.

    NumPy asks arrays for another implementation, but no lists: `np.sum([x[0], x[1]])`.
    """
    if type(f) is np.ufunc:
        return tuple([_as_array(a) for a in args])
    if not hasattr(f, "_implementation") or not args or isinstance(args[0], Variable) or f is np.block:
        return args  # in np.block the depth of lists has a meaning
    of_arrays = (list, tuple), (list,)  # further tuples are shapes and axes
    place = next((k for k, a in enumerate(args) if type(a) in of_arrays[k > 0] and has_variable(a)), None)
    if place is None:
        return args
    given = args[place]
    made = type(given)(map(_as_array, given)) if f.__name__ in _OF_SEQUENCES else _as_array(given)
    return (*args[:place], made, *args[place + 1 :])


def _as_array(value: Any) -> Any:
    """Return a list with a symbolic number as an array; anything else as it is."""
    return as_tensor(value) if type(value) in (list, tuple) and has_variable(value) else value


def _of_scipy(f: Any) -> Any:
    """Return our function in the place of one of SciPy; None for any other."""
    if type(f) is np.ufunc:
        return scipys.of_ufunc(f) if "scipy.special" in sys.modules else None
    return scipys.of_scipy(f) if str(getattr(f, "__module__", None)).startswith("scipy.") else None


_IN_C = {"_heapq": heapq, "_bisect": bisect}
"""Modules in C, and those that have the same functions in Python."""


def _python_of(f: Any) -> Any:
    """Return the function of Python that one in C has replaced; None for any other."""
    module = _IN_C.get(getattr(f, "__module__", None) or "")
    return None if module is None else _functions_of(module).get(f.__name__)


@cache
def _functions_of(module: ModuleType) -> dict[str, Any]:
    file: Any = module.__file__
    tree = ast.parse("".join(linecache.getlines(file)))
    tree.body = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    space: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(tree, file, "exec"), space)
    return {name: f for name, f in space.items() if isinstance(f, FunctionType)}


def _of_builtin(f: Any) -> Callable[..., Any] | None:
    try:
        return _FUNCTIONS.get(f)
    except TypeError:  # what cannot be hashed
        return None


# --- functions of the user


def _run(trace: Any, f: Any, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return a call of a function; in one that calls itself, numbers of the call decide branches."""
    running = trace.running
    depth = running.get(f, 0)
    if depth and trace.open:
        trace.repeated += 1
        if trace.repeated > MOST_REPEATED:
            raise TypeError(
                f"{f.__name__} calls itself more than {MOST_REPEATED:,} times in loops and branches that depend on "
                f"values, where each call is traced by itself; ag.jit(f, strict=False) runs it in Python{line()}"
            )
    running[f] = depth + 1
    trace.recursion += depth > 0
    try:
        found = f(*args, **options)
        return watched(found, f.__name__) if type(found) is GeneratorType else found
    except RecursionError:
        if depth != 1:
            raise
        raise RecursionError(
            f"{f.__name__} calls itself without an end, since the trace does not know the values that decide; write a "
            f"loop, or make the number that ends it static: ag.jit(f, static_argnames=...){line()}"
        ) from None
    finally:
        running[f] = depth
        trace.recursion -= depth > 0


def _users(f: Any, symbolic: bool = False) -> Any:
    """Return a function of the user in rewritten form, and one of a library that gets symbolic arguments.

    Any other as it is.
    """
    trace: Any = current()
    if "_ag" in f.__globals__ or trace.inlined is None:
        return f
    file = f.__code__.co_filename
    return trace.inlined(f) if _is_users(file) or (symbolic and _is_of_library(file)) else f


@cache
def _is_users(file: str) -> bool:
    if any(file == module.__file__ for module in _IN_C.values()):
        return True
    libraries = [*_of_python(), *site.getsitepackages()]
    return not OWN[file] and not any(file.startswith(p) for p in (*libraries, "<frozen"))


@cache
def _is_of_library(file: str) -> bool:
    """Whether a function is of an installed library other than NumPy, whose functions ask our variables."""
    return not OWN[file] and "site-packages" in file and _package_of(file) not in _ASKING


def _package_of(file: str) -> str:
    return file.replace("\\", "/").rpartition("site-packages/")[2].partition("/")[0]


_ASKING = frozenset(("numpy", "jax", "torch", "pytensor", "numba", "pandas", "xarray"))
"""Libraries whose functions ask arrays for another implementation, or take arrays of their own only."""


def _of_python() -> list[str]:
    """Return the folders of Python's own library, and those of installed ones."""
    return [sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")]


# --- builtins


def _range(*bounds: Any) -> Any:
    return Range(*bounds)


def _zip(*parts: Any, strict: bool = False) -> Any:
    if len(parts) == 1 and type(parts[0]) is Grown:
        return columns(parts[0])
    steps = [part_of(p) for p in parts]
    return Zip([s if s is not None else _listed(p) for s, p in zip(steps, parts, strict=True)])


def _listed(values: Iterable[Any]) -> Listed:
    """Return the items of an iterable of Python.  Raises TypeError for one without an end, such as a cycle."""
    found = [*islice(values, MOST_LISTED + 1)]
    if len(found) > MOST_LISTED:
        raise TypeError(f"zip: {type(values).__name__} has more than {MOST_LISTED:,} items, or no end; a trace lists "
                        f"them: take some by itertools.islice{line()}")  # fmt: skip
    return Listed(found)


def _enumerate(part: Any, start: Any = 0) -> Any:
    steps = part_of(part)
    return enumerate(part, start) if steps is None else Enumerated(steps, start)


def _reversed(part: Any) -> Any:
    steps = part_of(part)
    return reversed(part) if steps is None else Reversed(steps)


def _ndindex(*shape: Any) -> Any:
    lengths = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    return Indices([_whole(n) for n in lengths])


def _len(x: Any) -> Any:
    grown = grown_of(x)
    return length_of(x) if grown is None else grown.length()


def _list(x: Any = ()) -> Any:
    grown = grown_of(x)
    return list(x) if grown is None else copy(grown)


def _whole(n: Any) -> Any:
    return n if is_symbolic(n) else operator.index(n)


def _ndenumerate(x: Any) -> Any:
    return Elements(as_tensor(x), numbered=True)


def _nditer(x: Any, *args: Any, **options: Any) -> Any:
    if args or options or not isinstance(x, Variable):
        raise TypeError(f"np.nditer of a symbolic array takes no flags; loop over indices{line()}")
    return Elements(x)


def _numbered(found: Any, operands: Sequence[Any]) -> Any:
    """Mark a result as a Python number if the operands are."""
    trace: Any = current()
    kinds = [number_of(o) for o in operands]
    if None not in kinds and isinstance(found, Variable):
        trace.numbers[found] = Number(max((k.kind for k in kinds if k is not None), key=PYTHONS.index))
    return found


_NOTHING = object()


def _extreme(name: str, ours: Any) -> Any:
    def function(*args: Any, key: Any = None, default: Any = _NOTHING) -> Any:
        if key is not None:
            steps = part_of(args[0]) if len(args) == 1 else None
            if steps is not None and steps.known(loops.UNROLLED) is None:
                return folds.extreme_of(name, steps, partial(call, key), *(() if default is _NOTHING else (default,)))
            items = _items(f"{name}(key=)", args[0]) if len(args) == 1 else args
            return default if not items and default is not _NOTHING else extreme(name, items, partial(call, key))
        if len(args) == 1:
            (one,) = args
            if type(one) is Row or grown_of(one) is not None:
                return _folded(name, one)
            if isinstance(one, Variable):
                return first_extreme(name, one) if one.ndim < 2 else _ambiguous(one)
            args = tuple(one)
            if not args and default is not _NOTHING:
                return default
        return reduce(lambda a, b: _numbered(later_extreme(ours, a, b), (a, b)), args)

    return function


def _ambiguous(x: Any) -> Any:
    raise ValueError(f"The truth value of an array with more than one element is ambiguous: {x!r}{line()}")


def _folded(name: str, values: Any) -> Any:
    """Return the sum or an extremum of a list that changes by values, of the type of its items."""
    if type(values) is Row:
        return values.folded(name)
    grown, trace = grown_of(values), current()
    if grown.form == TABLE:
        raise TypeError(f"{name}() of {grown!r}: its items are lists{line()}")
    array = grown.array()
    found = T.sum(array, 0) if name == "sum" else first_extreme(name, array)
    keep_class(trace, found, grown.kinds[0].cls)  # type: ignore[arg-type]
    return found


def _sum(values: Any, start: Any = 0) -> Any:
    if type(values) is Row or grown_of(values) is not None:
        return operated("add", _folded("sum", values), start)
    if isinstance(values, Variable):
        return T.sum(values, 0) + start
    return builtins.sum(values, start)


def _all_of(name: str) -> Any:
    def function(values: Any) -> Any:
        if isinstance(values, Variable):
            return truth_value(getattr(T, name)(values)) if values.ndim == 1 else _ambiguous(values)
        return truth_value(getattr(T, name)(T.stack([T.ne(as_tensor(v), 0) for v in values])))

    return function


def _bool(x: Any = False) -> Any:
    return truth_value(truth(x))


def _as_number(kind: type, dtype: str) -> Any:
    def function(x: Any, *rest: Any) -> Any:
        if rest and kind is complex and _any_symbolic((x, *rest)):
            return operated("add", function(x), operated("mul", function(*rest), 1j))
        if not isinstance(x, Variable):
            return kind(x, *rest)
        trace: Any = current()
        v = as_tensor(now(trace, x))
        if v.ndim:
            v = T.reshape(v, ())
        if kind is int and v.type.kind == "f":
            v = T.trunc(v)
        old = number_of(x)
        made = T.ELEMENTWISE["identity"](v) if v.dtype == dtype else T.cast(v, dtype)
        known = None if old is None else old.known
        if old is not None and known is not None and old.kind is not kind:
            known = Known(int(known.value), f"int({known.text})") if kind is int and old.kind is float else None
        trace.numbers[made] = Number(kind, known)
        if kind is int and (v.type.kind == "f" or v.dtype == "uint64") and trace.exact is not None:
            trace.exact("int", [v], made)
        return made

    return function


def _sorted(values: Any, *, key: Any = None, reverse: bool = False) -> Any:
    if (grown := grown_of(values)) is not None:
        made = copy(grown)
        sort(grown_of(made), key=key, reverse=reverse)
        return made
    if isinstance(values, Variable) and key is None:
        found = T.sort(values)
        return list(found[::-1] if reverse else found)
    return in_order(_items("sorted", values), None if key is None else partial(call, key), reverse)


def _filter(test: Any, values: Any) -> list[Any]:
    return loops.listed(values, itself if test is None else partial(call, test), itself)  # type: ignore[no-any-return]


def _items(what: str, values: Any) -> list[Any]:
    """Return the items of an iterable.  Raises TypeError if their number is symbolic."""
    steps = part_of(values)
    try:
        return list(values if steps is None else steps)
    except TypeError:
        raise TypeError(f"{what} of a number of items that is symbolic; order an array of keys by np.argsort, "
                        f"np.argmax or np.argmin, and index by what they return{line()}") from None


# --- functions and types of NumPy


def _vectorize(f: Any, *args: Any, **options: Any) -> Any:
    return T.vectorize(lambda *a, **k: call(f, *a, **k), *args, **options)


def _typed(kind: Any, *args: Any, **options: Any) -> Any:
    """`np.float32(x)` and the like: a cast."""
    if len(args) != 1 or not isinstance(args[0], Variable):
        return kind(*args, **options)
    return copied(T.cast(args[0], np.dtype(kind).name))


_FRESH_TYPES = frozenset((
    np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16,
    np.uint8, np.bool_, np.complex128, np.complex64,
))  # fmt: skip
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    len: _len, length_of: _len, list: _list, range: _range, zip: _zip, enumerate: _enumerate, reversed: _reversed,
    max: _extreme("max", "maximum"), min: _extreme("min", "minimum"), sum: _sum,
    any: _all_of("any"), all: _all_of("all"),
    float: _as_number(float, "float64"), int: _as_number(int, "int64"), complex: _as_number(complex, "complex128"),
    bool: _bool, sorted: _sorted, filter: _filter, np.vectorize: _vectorize,
    np.ndindex: _ndindex, np.ndenumerate: _ndenumerate, np.nditer: _nditer, **CONSTRUCTORS,
    **OF_MATH,
}  # fmt: skip
for _named, _ours in _FUNCTIONS.items():  # Python's errors about arguments name the function that the user called
    if isinstance(_ours, FunctionType) and _ours is not CONSTRUCTORS[np.asarray]:
        _ours.__qualname__ = _named.__name__

_CONTAINERS = frozenset((list, dict, deque))
"""Types whose methods take a list as an item."""
_OF_LISTS = frozenset((sum, max, min, len, length_of, list, sorted, range, zip, enumerate, reversed))
"""Functions that take a list which changes by values as it is; others take an array."""
_ALWAYS = frozenset((np.ndindex, np.ndarray, np.zeros, np.ones, np.empty, np.full, np.eye, np.identity, np.vectorize))
"""Constructors whose arrays the function may write to."""
