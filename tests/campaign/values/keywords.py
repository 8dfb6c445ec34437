"""NumPy's signatures as NumPy's users call them: every function of its name, by keyword, with every documented default.

Calls are generated from NumPy's signatures: required arguments by name, each option with its default, with None and
with values for options of its name, and all defaults at once.  Both give the same values, dtypes and shapes, or both
refuse.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from ..scorecard import Row, Trials

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Those given by position, and those by keyword."""

M, V = np.array([[3.0, -1.5, 0.25, 2.0], [0.5, 7.0, -2.0, 1.0], [1.0, 1.0, 4.5, 0.0]]), np.array([2.0, -0.5, 3.0, 1.25])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
EDGES = np.array([-1.0, 0.5, 2.0])
COUNTS, MASK = np.array([3, 1, 0, 2]), np.array([True, False, True, True])

REQUIRED: dict[str, Any] = {
    "a": M, "m": M, "arr": M, "array": M, "ary": M, "x": M, "x1": M, "x2": V, "y": V, "v": V, "b": V, "A": M, "ar": M,
    "prototype": M, "tup": [V, V], "arrays": [M, M], "arys": (V,), "args": (V, M), "xi": (V, V), "f": M, "p": V,
    "condition": MASK, "obj": 1, "axis": 0, "q": 0.5, "dtype": "float32", "shape": (2, 3), "fill_value": 7,
    "N": 3, "n": 3, "val": M, "z": M, "start": 1.0, "stop": 9.0, "start_or_stop": 5, "indices": np.array([0, 2]),
    "repeats": 2, "reps": (2, 1), "shift": 1, "source": 0, "destination": -1, "axis1": 0, "axis2": 1, "pad_width": 1,
    "indices_or_sections": 2, "bins": EDGES, "xp": np.array([0.0, 1.0, 2.0, 3.0]), "fp": V,
    "element": M, "test_elements": V, "condlist": [M > 1], "choicelist": [M], "values": V, "weights": None,
    "axes": (0, 1),
}  # fmt: skip
"""A value for each required argument, by its name."""
OF = {
    "bincount": {"x": COUNTS}, "compress": {"condition": MASK[:2]}, "extract": {"condition": M > 1},
    "cross": {"a": S, "b": S[0]}, "linalg.cross": {"x1": S, "x2": S[0]}, "diag": {"v": M}, "moveaxis": {"a": M},
    "digitize": {"x": M}, "full_like": {"a": M}, "dot": {"a": M, "b": V}, "vecdot": {}, "matvec": {"x1": M, "x2": V},
    "vecmat": {"x1": V[:3], "x2": M}, "matmul": {"x1": M, "x2": V}, "inner": {"a": M, "b": V}, "kron": {"a": V, "b": V},
    "vdot": {"a": V, "b": V}, "tensordot": {"a": M, "b": M}, "convolve": {"a": V, "v": V[:2]}, "vander": {"x": V},
    "correlate": {"a": V, "v": V[:2]}, "interp": {"x": M}, "trapezoid": {"y": M}, "rot90": {"m": M}, "cov": {"m": M},
    "searchsorted": {"a": np.sort(V), "v": M}, "take_along_axis": {"arr": M, "indices": np.array([[0], [2], [1]])},
    "append": {"arr": M, "values": V}, "permute_dims": {"a": M}, "unravel_index": {"indices": COUNTS, "shape": (2, 3)},
    "broadcast_to": {"array": V, "shape": (2, 4)}, "reshape": {"a": M, "shape": (4, 3)}, "astype": {"x": M},
    "einsum": {"operands": ("ij,j->i", M, V)}, "linalg.multi_dot": {"arrays": [M, M.T, M]}, "gradient": {"varargs": ()},
    "linalg.matmul": {"x1": M, "x2": V}, "linalg.outer": {"x1": V, "x2": V}, "linalg.tensordot": {"x1": M, "x2": M},
    "linalg.matrix_power": {"a": S, "n": 3}, "linalg.lstsq": {"a": M.T, "b": V}, "linalg.solve": {"a": S, "b": S},
    "linalg.diagonal": {"x": M}, "isin": {"element": M, "test_elements": V}, "split": {"indices_or_sections": 3},
    "hsplit": {"indices_or_sections": 2}, "vsplit": {"indices_or_sections": 3}, "select": {}, "dstack": {"tup": [M, M]},
    "array": {"object": M}, "array_equal": {"a1": M, "a2": M}, "array_equiv": {"a1": M, "a2": M},
    "poly": {"seq_of_zeros": V}, "trim_zeros": {"filt": V}, "fill_diagonal": {"a": S, "val": V},
    "put": {"a": M, "ind": [0, 2], "v": V},
    "place": {"arr": M, "mask": M > 1, "vals": V}, "putmask": {"a": M, "mask": M > 1, "values": V},
    "copyto": {"dst": M, "src": V}, "put_along_axis": {"arr": M, "indices": np.array([[0], [2], [1]]), "values": 2.0},
    "polydiv": {"u": V, "v": V[:2]}, "polymul": {"a1": V, "a2": V[:2]},
    "ldexp": {"x2": COUNTS}, "size": {}, "outer": {"a": V, "b": V}, "linalg.cond": {"x": S}, "linalg.pinv": {"a": M},
    "expand_dims": {"axis": 1}, "where": {"x": M, "y": V}, "percentile": {"q": [10, 50]}, "identity": {"n": 3},
    "trace": {"a": M}, "tile": {"A": M}, "geomspace": {}, "logspace": {"stop": 3.0},
    "clip": {"a": M, "a_min": 0.5, "a_max": 2.0},
    "unique": {"ar": np.round(M)}, "nan_to_num": {"x": M}, "diff": {"a": M}, "swapaxes": {}, "ptp": {"a": M},
    "concat": {}, "arange": {"start_or_stop": 5}, "linalg.matrix_rank": {"A": S}, "linalg.svd": {"a": M},
    **{f"linalg.{name}": {"a": S} for name in (
        "cholesky", "inv", "det", "slogdet", "eigh", "eigvalsh", "qr")},
    "linalg.tensorinv": {"a": np.eye(6).reshape(2, 3, 6)},
    "linalg.tensorsolve": {"a": np.eye(6).reshape(2, 3, 6), "b": np.ones((2, 3))},
    **{name: {"x1": np.arange(12).reshape(3, 4), "x2": COUNTS} for name in ("gcd", "lcm")},
    "choose": {"a": COUNTS % 2, "choices": [V, V + 10]}, "piecewise": {"condlist": [M > 1], "funclist": [1.0, -1.0]},
    "unpackbits": {"a": np.arange(12, dtype="uint8").reshape(3, 4)}, "packbits": {"a": M > 1},
    "polyfit": {"x": V, "y": V, "deg": 1},
    "ravel_multi_index": {"multi_index": (COUNTS, COUNTS), "dims": (4, 5)}, "indices": {"dimensions": (2, 3)},
    "histogram2d": {"x": V, "y": V}, "histogramdd": {"sample": M.T}, "lexsort": {"keys": (V, COUNTS)},
    "block": {"arrays": [[M, M]]}, "insert": {"arr": M, "values": 2.0}, "delete": {"arr": M},
    "resize": {"a": M, "new_shape": (2, 7)}, "array_split": {"indices_or_sections": 3},
    "dsplit": {"ary": M[..., None], "indices_or_sections": 1},
    **{name: {"p": V} for name in ("polyder", "polyint")},
    **{name: {"a1": V, "a2": V[1:]} for name in ("polyadd", "polysub")},
    **{name: {"ar1": np.round(M), "ar2": V} for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d")},
    **{name: {"M": 5} for name in ("bartlett", "blackman", "hamming", "hanning")}, "kaiser": {"M": 5, "beta": 2.0},
    **{name: {"x": np.arange(12).reshape(3, 4)} for name in ("bitwise_not", "invert", "bitwise_invert")},
    **{name: {"x1": np.arange(12).reshape(3, 4), "x2": COUNTS} for name in (
        "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "bitwise_left_shift",
        "bitwise_right_shift")},
    **{name: {"x": np.array([0.25, -0.5])} for name in ("arcsin", "asin", "arccos", "acos", "arctanh", "atanh")},
}  # fmt: skip
"""Required arguments of single functions."""
VALUES: dict[str, Sequence[Any]] = {
    "axis": (0, -1, np.int64(0), np.array(1), (0, 1), 7), "axes": (1, (1, 0), [1, 0], np.array([1, 0])),
    "keepdims": (True, False), "dtype": ("float32", np.float32, float, "int8", bool), "ddof": (1,),
    "correction": (1,), "initial": (2, -1.5), "where": (np.array([[True], [False], [True]]), True),
    "mean": (np.array([[0.5]]),), "decimals": (1, -1), "k": (1, np.array(-1)), "offset": (1, np.int32(-1)),
    "shape": ((2, 3), [2, 3], 5, np.array(5), np.array([2, 3])), "deg": (True,), "returned": (True,),
    "return_index": (True,), "return_inverse": (True,), "return_counts": (True,), "rowvar": (False,), "bias": (True,),
    "density": (True, False), "right": (True,), "increasing": (True,), "indexing": ("ij", "xy"), "sparse": (True,),
    "num": (5, np.int64(3), np.array(4)), "endpoint": (False,), "base": (2.0,), "M": (4, np.array(2)), "n": (2,),
    "minlength": (6,), "side": ("right",), "full_matrices": (False,), "compute_uv": (False,), "UPLO": ("U",),
    "ord": (1, 2, np.inf), "rcond": (0.5, 1, 0.0), "rtol": (0.5,), "tol": (0.5,), "upper": (True,), "p": (1, "fro"),
    "equal_nan": (True,), "atol": (0.5,), "prepend": (1.0,), "append": (1.0,), "dx": (0.5,), "left": (9.0,),
    "rowvars": (), "axisa": (0, -1), "axisb": (0, -1), "axisc": (0, -1), "invert": (True,), "period": (3.0,),
    "nan": (1.0,), "posinf": (1.0,), "neginf": (1.0,), "copy": (True, False), "stable": (True, False), "q": (0.25,),
    "min": (0.0,), "max": (1.0,), "a_max": (1.0,), "device": ("cpu",), "subok": (True, False),
    "overwrite_input": (True,), "optimize": (True, False, "greedy"), "assume_unique": (True,), "sorted": (True,),
    "bins": (5, np.int64(4), [0.0, 1.0, 2.0]), "range": ((-1.0, 2.0),), "step": (2,), "stop": (9,), "N": (3,),
    "method": (
        "lower", "higher", "nearest", "midpoint", "linear", "inverted_cdf", "averaged_inverted_cdf",
        "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased",
    ),
    "kind": ("stable", None), "hermitian": (False, True), "edge_order": (2, 3), "return_indices": (True,),
    "fweights": (np.arange(4),), "aweights": (np.array([0.5, 1.0, 0.0, 2.0]),),
    "full": (True,), "cov": (True, "unscaled"),
}  # fmt: skip
"""Values of an option, by its name, beside its default and None."""

OTHER_MEANINGS = {
    "matrix", "random", "test", "dtype", "shape", "partition", "argpartition", "eig", "eigvals", "roots", "can_cast",
    "common_type", "isdtype", "min_scalar_type", "result_type", "promote_types", "issubdtype",
}  # fmt: skip
"""Names of NumPy for something else; `x.shape` is a vector, not a tuple.  Partitions are sorted and eigenvalues and
roots complex here; dtypes are no arrays to compare.
"""
WRITERS = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
"""Functions of NumPy that write into their first argument; ours return the array."""
REFUSED: dict[str, set[str]] = {
    "*": {"out", "order", "casting", "like", "device"},
    "array": {"copy", "ndmax"}, "asarray": {"copy"}, "asanyarray": {"copy"}, "from_dlpack": {"copy"},
    "astype": {"dtype"}, "unique": {"axis", "equal_nan"}, "linspace": {"axis", "retstep"},
    "geomspace": {"axis"}, "logspace": {"axis", "base"}, "argmax": {"axis"},
    "argmin": {"axis"}, "nanargmax": {"axis"}, "nanargmin": {"axis"}, "indices": {"dtype"},
    "std": {"dtype"}, "var": {"dtype"}, "linalg.eigh": {"UPLO"},
    "concat": {"axis"}, "concatenate": {"axis"}, "linalg.cross": {"axis"}, "quantile": {"weights"},
    "percentile": {"weights"},
}  # fmt: skip
"""Options for which a graph takes the default and refuses the rest; `argmax` and `nanargmax` take more than in NumPy.
NumPy makes what nobody asks for of variances in integers; the signs of eigenvectors are nobody's promise.
"""
ABSENT = {
    "where", "mean", "correction", "prepend", "append", "default", "bias", "keepdims", "min", "max", "subok", "initial",
    "sorted",
}  # fmt: skip
"""Options for which None means to us that there is none; NumPy takes it for False here, or refuses."""
DTYPES = ("int8", "float32", "bool", "uint8", "int64", "float16")
"""Further dtypes of the arrays in the plainest calls; the first two at any size."""
OF_BOOLS = {"std", "var", "nanstd", "nanvar"}
"""Functions that take bools for numbers here."""
LENGTHS_KNOWN = {"histogramdd", "unstack"}
"""Functions that need to know lengths when the graph is built."""
TOLERANCE = {"float16": 2e-3, "float32": 2e-6, "complex64": 2e-6}


def functions() -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    """(name, ours, NumPy's) of each function that both have."""
    for prefix, ours, numpys in (("", T, np), ("linalg.", T.linalg, np.linalg)):
        for name in sorted(set(ours.__all__) & set(dir(numpys)) - OTHER_MEANINGS):
            f, g = getattr(ours, name), getattr(numpys, name)
            if callable(f) and callable(g) and not isinstance(g, type):
                yield prefix + name, f, written(g) if name in WRITERS else g


def written(numpys: Callable[..., Any]) -> Callable[..., Any]:
    """The function of NumPy, returning its first argument after the write."""

    @functools.wraps(numpys)
    def function(*positional: Any, **given: Any) -> Any:
        target = positional[0] if positional else next(iter(given.values()))
        numpys(*positional, **given)
        return target

    return function


def calls(name: str, numpys: Callable[..., Any], full: bool) -> Iterator[Arguments]:
    """Calls by NumPy's names; of pairs of options some at random where there is time."""
    if isinstance(numpys, np.ufunc):
        operands = ["x"] if numpys.nin == 1 else ["x1", "x2"]
        given = {operand: OF.get(name, {}).get(operand, REQUIRED[operand]) for operand in operands}
        yield (), given
        yield (), {**given, "out": None, "where": True, "casting": "same_kind", "order": "K", "dtype": None}
        return
    positional, given, options = arguments_of(name, numpys)
    yield positional, given
    yield positional, {**given, **{key: values[0] for key, values in options.items() if values[0] is not NONE}}
    single = [(key, value) for key, values in options.items() for value in values if value is not NONE]
    yield from ((positional, {**given, key: value}) for key, value in single)
    if full:
        pairs = [(a, b) for a, b in itertools.combinations(single, 2) if a[0] != b[0]]
        random.Random(name).shuffle(pairs)
        yield from ((positional, {**given, **dict(pair)}) for pair in pairs[:200])


NONE = object()
"""Stands for no default."""


def arguments_of(name: str, numpys: Callable[..., Any]) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, list[Any]]]:
    """Required arguments by position and by keyword, and the values of each option, the default first."""
    positional: list[Any] = []
    given: dict[str, Any] = {}
    options: dict[str, list[Any]] = {}
    of, refused = OF.get(name, {}), REFUSED["*"] | REFUSED.get(name, set())
    for p in inspect.signature(numpys).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            positional += of.get(p.name, REQUIRED.get(p.name, ()))
        elif p.kind is p.VAR_KEYWORD:
            continue
        elif p.default is p.empty or p.name in of:
            value = of.get(p.name, REQUIRED.get(p.name))
            if p.kind is p.POSITIONAL_ONLY or any(q.kind is q.VAR_POSITIONAL for q in _parameters(numpys)):
                positional.append(value)
            else:
                given[p.name] = value
        else:
            default = NONE if "no value" in repr(p.default) else p.default
            more = () if p.name in refused else VALUES.get(p.name, ())
            nothing = () if p.name in refused | ABSENT else (None,)
            options[p.name] = [default, *nothing, *more]
    return tuple(positional), given, options


def _parameters(function: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def attempted(function: Callable[..., Any], arguments: Arguments) -> Any:
    """The results of a call as a list, or the exception that it raises."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = function(*arguments[0], **arguments[1])
    except Exception as error:
        return error
    return list(found) if isinstance(found, tuple | list) else [found]


def plain_calls_of(name: str, numpys: Callable[..., Any], dtype: str) -> Iterator[Arguments]:
    """The first two calls, by the required arguments and by all defaults, with arrays of another dtype."""
    if dtype == "bool" and name in OF_BOOLS:
        return
    for positional, given in itertools.islice(calls(name, numpys, False), 2):
        yield as_dtype(positional, dtype), {key: as_dtype(value, dtype) for key, value in given.items()}


def as_dtype(value: Any, dtype: str) -> Any:
    """The arrays of floats in a value as arrays of another dtype."""
    if isinstance(value, list | tuple):
        return type(value)(as_dtype(v, dtype) for v in value)
    if not isinstance(value, np.ndarray) or value.dtype != float or value is EDGES:
        return value
    return value > 1 if dtype == "bool" else (abs(value) if dtype == "uint8" else value).astype(dtype)


def numpys_own(numpys: Callable[..., Any], arguments: Arguments) -> Arguments:
    """Copies, since NumPy may overwrite them; operands of ufuncs by position, since they have no names in Python."""
    positional, given = copy.deepcopy(arguments)
    if isinstance(numpys, np.ufunc):
        return tuple(v for k, v in given.items() if k.startswith("x")), {}
    return positional, given


def evaluated(results: Any) -> Any:
    """The values of variables."""
    if isinstance(results, Exception):
        return results
    return attempted(lambda: [T.as_tensor(r).eval() for r in results], ((), {}))


def difference(name: str, found: Any, expected: Any) -> str:
    """The first difference between the results; "" if there is none."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        both = isinstance(expected, Exception) and isinstance(found, Exception)
        return "" if both else f"ours {found!r}, NumPy's {expected!r}"[:300]
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for ours, wanted in zip(found, map(np.asarray, expected), strict=True):
        if ours.dtype != wanted.dtype or ours.shape != wanted.shape:
            return f"{ours.dtype}{ours.shape}, not {wanted.dtype}{wanted.shape}"
        tolerance = TOLERANCE.get(wanted.dtype.name, 1e-12)
        if not name.endswith(("empty", "empty_like")) and not np.allclose(
            ours, wanted, rtol=tolerance, atol=tolerance, equal_nan=True
        ):
            return f"{ours}, not {wanted}"
    return ""


def compiled(function: Callable[..., Any], arguments: Arguments) -> Any:
    """The results where the first argument is an input whose lengths are not known, in the default mode."""
    positional, given = arguments
    array = next((v for v in (*positional, *given.values()) if isinstance(v, np.ndarray) and v.dtype == float), None)
    if array is None:
        return evaluated(attempted(function, arguments))
    x = T.tensor("x", array.dtype, (None,) * array.ndim)
    symbolic = tuple(x if v is array else v for v in positional), {k: x if v is array else v for k, v in given.items()}
    results = attempted(function, symbolic)
    if isinstance(results, Exception):
        return results
    return attempted(ag.function([x], list(map(T.as_tensor, results)), on_unused_input="ignore"), ((array,), {}))


def run(full: bool) -> list[Row]:
    """All functions that both have; at full size pairs of options, too, and the first calls of each compiled."""
    trials = Trials("G36", "functions by NumPy's keywords, defaults and None: as NumPy, or both refuse")
    for name, ours, numpys in functions():
        in_other_dtypes = (plain_calls_of(name, numpys, dtype) for dtype in DTYPES[: None if full else 2])
        for number, arguments in enumerate(itertools.chain(calls(name, numpys, full), *in_other_dtypes)):
            expected = attempted(numpys, numpys_own(numpys, arguments))
            forms = [evaluated(attempted(ours, arguments))]
            if full and number < 6 and name not in LENGTHS_KNOWN:
                forms.append(compiled(ours, arguments))
            for found in forms:
                wrong = difference(name, found, expected)
                message = ", ".join(f"{k}={v!r}" for k, v in arguments[1].items() if not isinstance(v, np.ndarray))
                trials.check(not wrong, f"{name}({message}): {wrong}".replace("\n", " "))
    return [trials.row()]
