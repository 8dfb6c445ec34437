"""Filters of `scipy.ndimage` in a trace: sums and extrema of shifted parts of a padded array.

    out[i] = sum over k of weights[k] * padded[i + k]

SciPy computes in float64 and rounds each pass to the dtype of the result.  The sums here add in SciPy's order, so
results of integers are SciPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ... import ops as T
from ...control.scan import scan
from ...graph import Constant
from ...ops.core.call_lengths import Length
from ...ops.core.checks import shown
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import held, held_length, is_symbolic, known_of

_MODES = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "constant": "constant", "grid-constant": "constant",
    "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap",
}  # fmt: skip
"""Modes of SciPy -> those of `T.pad`."""
_WRITTEN_OUT = 64
"""Most weights along an axis whose products are written out; more are a loop."""
_NEGLIGIBLE = float(np.finfo("float64").eps)
"""Weights up to this size are left out of filters along several axes, as SciPy does."""


# --- arguments


def _input(name: str, x: Any, output: Any, weights: Any = None) -> tuple[Any, str]:
    """Return the input of a filter as a variable, and the dtype of its result."""
    x = as_tensor(x)
    if weights is not None and weights.dtype in ("complex64", "complex128") and x.type.kind != "c":
        x = T.cast(x, np.promote_types(x.dtype, "complex64").name)
    if x.type.kind == "b" or x.dtype in ("float16", "bfloat16"):
        raise TypeError(f"scipy.ndimage.{name}: a compiled function takes no {x.dtype}; cast the input")
    if is_symbolic(output) or isinstance(output, np.ndarray):
        raise TypeError(f"scipy.ndimage.{name}: a compiled function takes no array as output=; use the result")
    dtype = x.dtype if output is None else np.dtype(output).name
    if x.type.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError(f"scipy.ndimage.{name}: the output of complex numbers is complex, got {dtype}")
    return x, dtype


def _number(name: str, what: str, value: Any) -> Any:
    """Return the value of a number, for which the trace then holds."""
    known = known_of(value)
    if known is not None:
        return held(known)
    if isinstance(value, Constant) and not value.ndim:
        return value.data.item()
    if is_symbolic(value) and type(value) is not Length:
        raise TypeError(f"scipy.ndimage.{name}: {what} depends on values; a compiled function takes a number of the "
                        "call, or a constant")  # fmt: skip
    return value


def _each(values: Any, count: int, name: str, what: str) -> list[Any]:
    """Return one value for each axis, of one for all or a sequence."""
    found = list(values) if isinstance(values, (list, tuple)) else [values] * count
    if len(found) != count:
        raise RuntimeError(f"scipy.ndimage.{name}: {what} is {shown(values)}; expected {count} of them")
    return found


def _axes(axes: Any, ndim: int) -> list[int]:
    """Return axes as numbers from 0 on."""
    given = range(ndim) if axes is None else axes if isinstance(axes, (list, tuple)) else (axes,)
    found = [int(a) for a in given]
    if any(not -ndim <= a < ndim for a in found) or len({a % ndim for a in found}) < len(found):
        raise ValueError(f"scipy.ndimage: invalid axes {axes} of an array of {ndim} axes")
    return [a % ndim for a in found]


# --- sums of shifted parts


def _padded(x: Any, axis: int, size: int, origin: int, mode: str, cval: Any) -> Any:
    """Return an array with the elements around it that a filter of `size` along an axis reads."""
    before, after = size // 2 + origin, size - size // 2 - 1 - origin
    if before < 0 or after < 0:
        raise ValueError(f"scipy.ndimage: invalid origin {origin} of a filter of length {size}")
    if mode not in _MODES:
        raise RuntimeError(f"scipy.ndimage: boundary mode not supported: {shown(mode)}")
    widths = [(before, after) if k == axis else (0, 0) for k in range(x.ndim)]
    return T.pad(x, widths, _MODES[mode], **({"constant_values": cval} if _MODES[mode] == "constant" else {}))


def _parts(padded: Any, axis: int, size: int, length: Any) -> Callable[[Any], Any]:
    """Return the function of the part of a padded array that begins at a position of an axis."""
    before = (slice(None),) * axis
    return lambda k: padded[(*before, slice(k, k + length))]


def _wide(x: Any) -> Any:
    return T.cast(x, "complex128" if x.type.kind == "c" else "float64")


def _rounded(x: Any, dtype: str) -> Any:
    """Return a result in its dtype, as C casts it."""
    kind = np.dtype(dtype).kind
    return T.cast(T.cast(x, "int64"), dtype) if kind == "u" and dtype != "uint64" else T.cast(x, dtype)


def _folded(part: Callable[[Any], Any], size: int, term: Callable[[Any, Any], Any], join: Any) -> Any:
    """Return the joined terms of all positions, in order; `term(k, part)`."""
    found = term(0, part(0))
    if size <= _WRITTEN_OUT:
        for k in range(1, size):
            found = join(found, term(k, part(k)))
        return found
    states, _updates = scan(lambda k, total: join(total, term(k, part(k))), [T.arange(1, size)], [found])
    return states[-1]


def _line(x: Any, weights: Any, size: int, axis: int, dtype: str, mode: str, cval: Any, origin: int) -> Any:
    """Return the correlation of lines along an axis with weights: an array of NumPy, or a vector of this length."""
    if not size:
        raise RuntimeError("scipy.ndimage: no filter weights given")
    wide = _wide(x)
    part = _parts(_padded(wide, axis, size, origin, mode, cval), axis, size, T.lengths_of(x)[axis])
    if size > _WRITTEN_OUT:
        vector = as_tensor(weights)
        return _rounded(_folded(part, size, lambda k, p: p * vector[k], T.add), dtype)
    parity = _parity(weights) if isinstance(weights, np.ndarray) else 0
    middle = size // 2 if parity else size - 1
    found = part(middle) * weights[middle]
    for k in range(middle):
        term = part(k) if not parity else (T.add if parity > 0 else T.sub)(part(k), part(size - 1 - k))
        found = found + term * weights[k]
    return _rounded(found, dtype)


def _parity(weights: Any) -> int:
    """Return 1 for weights of odd length that are symmetric, -1 for antisymmetric ones, else 0."""
    half = len(weights) // 2
    if len(weights) % 2 == 0:
        return 0
    pairs = [(weights[half + k], weights[half - k]) for k in range(1, half + 1)]
    if all(abs(a - b) <= _NEGLIGIBLE for a, b in pairs):
        return 1
    return -1 if all(abs(a + b) <= _NEGLIGIBLE for a, b in pairs) else 0


# --- filters along lines


def _weights(weights: Any, name: str, ndim: int) -> Any:
    """Return weights as an array of NumPy if they are constant, else as a variable."""
    found = as_tensor(weights)
    if found.ndim != ndim:
        raise RuntimeError(f"scipy.ndimage.{name}: weights have {found.ndim} axes; expected {ndim}")
    dtype = "complex128" if found.type.kind == "c" else "float64"
    return np.asarray(found.data, dtype) if isinstance(found, Constant) else T.cast(found, dtype)


def _size(weights: Any, axis: int) -> int:
    """Return a length of weights; the trace then holds for it."""
    if isinstance(weights, np.ndarray):
        return int(weights.shape[axis])
    refusal = "scipy.ndimage: the number of weights depends on values; take a part of constant length"
    return held_length(weights, axis, refusal)


def _correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    given = _weights(weights, "correlate1d", 1)
    return _filtered1d(input, given.conj() if given.dtype == "complex128" else given, axis, output, mode, cval, origin)


def _convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    given = _weights(weights, "convolve1d", 1)
    return _filtered1d(input, given[::-1], axis, output, mode, cval, -origin - (_size(given, 0) % 2 == 0))


def _filtered1d(input: Any, weights: Any, axis: int, output: Any, mode: str, cval: Any, origin: int) -> Any:
    x, dtype = _input("correlate1d", input, output, weights)
    (axis,) = _axes(axis, x.ndim)
    return _line(x, weights, _size(weights, 0), axis, dtype, mode, cval, origin)


def _uniform_filter1d(
    input: Any, size: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Any:
    x, dtype = _input("uniform_filter1d", input, output)
    (axis,), size, wide = _axes(axis, x.ndim), _number("uniform_filter1d", "size", size), _wide(x)
    if size < 1:
        raise RuntimeError("scipy.ndimage.uniform_filter1d: incorrect filter size")
    part = _parts(_padded(wide, axis, size, origin, mode, cval), axis, size, T.lengths_of(x)[axis])
    return _rounded(_folded(part, size, lambda k, p: p, T.add) / float(size), dtype)


def _extreme1d(
    join: Any, input: Any, size: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    origin: int = 0,
) -> Any:  # fmt: skip
    x, dtype = _input("minimum_filter1d", input, output)
    if x.type.kind == "c":
        raise TypeError("scipy.ndimage: extrema of complex numbers are not supported")
    (axis,), size = _axes(axis, x.ndim), _number("minimum_filter1d", "size", size)
    if size < 1:
        raise RuntimeError("scipy.ndimage.minimum_filter1d: incorrect filter size")
    part = _parts(_padded(_wide(x), axis, size, origin, mode, cval), axis, size, T.lengths_of(x)[axis])
    return _rounded(_folded(part, size, lambda k, p: p, join), dtype)


def _gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    sigma = float(_number("gaussian_filter1d", "sigma", sigma))
    reach = int(truncate * sigma + 0.5) if radius is None else _number("gaussian_filter1d", "radius", radius)
    if not isinstance(reach, (int, np.integer)) or reach < 0:
        raise ValueError("scipy.ndimage.gaussian_filter1d: the radius must be a nonnegative integer")
    return _filtered1d(input, _gaussian(sigma, order, int(reach))[::-1], axis, output, mode, cval, 0)


def _gaussian(sigma: float, order: int, radius: int) -> np.ndarray:
    """Return the weights of a derivative of the Gaussian: those of order 0 times a polynomial."""
    if order < 0:
        raise ValueError("scipy.ndimage.gaussian_filter1d: order must be non-negative")
    x: Any = np.arange(-radius, radius + 1)
    phi: Any = np.exp(-0.5 / (sigma * sigma) * x**2)
    phi = phi / phi.sum()
    if order == 0:
        return np.asarray(phi)
    powers = np.arange(order + 1)
    step = np.diag(powers[1:], 1) + np.diag(np.ones(order) / -(sigma * sigma), -1)
    q = np.zeros(order + 1)
    q[0] = 1
    for _ in range(order):
        q = step.dot(q)
    found: np.ndarray = (x[:, None] ** powers).dot(q) * phi
    return found


# --- filters along several axes


def _separable(name: str, one: Callable[..., Any], skips: Callable[[Any], bool]) -> Callable[..., Any]:
    """Return the filter that applies one along lines to each axis with a size; those that `skips` are left out."""

    def function(
        input: Any, size: Any = None if name != "uniform_filter" else 3, footprint: Any = None, output: Any = None,
        mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        if footprint is not None or size is None:
            raise TypeError(f"scipy.ndimage.{name}: a compiled function takes size=, no footprint=")
        x, dtype = _input(name, input, output)
        numbers = _axes(axes, x.ndim)
        sizes, modes, origins = (_each(v, len(numbers), name, w) for v, w in (
            (size, "size"), (mode, "mode"), (origin, "origin")))  # fmt: skip
        for axis, n, m, o in zip(numbers, [_number(name, "size", n) for n in sizes], modes, origins, strict=True):
            if not skips(n):
                x = one(x, int(n), axis, dtype, m, cval, o)
        return T.cast(x, dtype)

    return function


_uniform: Callable[..., Any] = _separable("uniform_filter", _uniform_filter1d, lambda n: n <= 1)


def _uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _uniform(input, size, None, output, mode, cval, origin, axes=axes)


def _gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    x, dtype = _input("gaussian_filter", input, output)
    numbers = _axes(axes, x.ndim)
    each = [_each(v, len(numbers), "gaussian_filter", w) for v, w in (
        (sigma, "sigma"), (order, "order"), (mode, "mode"), (radius, "radius"))]  # fmt: skip
    for axis, s, o, m, r in zip(numbers, *each, strict=True):
        s = _number("gaussian_filter", "sigma", s)
        if s > 1e-15:
            x = _gaussian_filter1d(x, s, axis, o, dtype, m, cval, truncate, radius=r)
    return T.cast(x, dtype)


def _correlated(
    input: Any, weights: Any, output: Any, mode: str, cval: Any, origin: Any, axes: Any, flips: bool
) -> Any:
    """Return the correlation, or for `flips` the convolution, with weights along several axes."""
    x, dtype = _input("correlate", input, output, as_tensor(weights))
    numbers = _axes(axes, x.ndim)
    given = _weights(weights, "correlate", len(numbers))
    sizes = [_size(given, k) for k in range(len(numbers))]
    origins = _each(origin, len(numbers), "correlate", "origin")
    if flips:
        given = given[(slice(None, None, -1),) * len(numbers)]
        origins = [-o - (n % 2 == 0) for o, n in zip(origins, sizes, strict=True)]
    elif given.dtype == "complex128":
        given = given.conj()
    padded, wide = _wide(x), T.lengths_of(x)
    for axis, n, o in zip(numbers, sizes, origins, strict=True):
        padded = _padded(padded, axis, n, o, mode, cval)
    count = math.prod(sizes)
    if count > _WRITTEN_OUT * 4:
        raise TypeError(f"scipy.ndimage.correlate: a compiled function takes up to {_WRITTEN_OUT * 4} weights, got "
                        f"{count}; use scipy.signal.fftconvolve, or filters along lines")  # fmt: skip
    found: Any = None
    for place in product(*map(range, sizes)):
        weight: Any = given[place]
        is_known = isinstance(given, np.ndarray)
        if is_known and abs(weight) <= _NEGLIGIBLE:
            continue
        starts = dict(zip(numbers, place, strict=True))
        part = padded[tuple(slice(starts[k], starts[k] + wide[k]) if k in starts else slice(None)
                            for k in range(x.ndim))]  # fmt: skip
        term = part * weight
        if not is_known:
            term = T.switch(T.gt(T.abs(weight), _NEGLIGIBLE), term, 0.0)
        found = term if found is None else found + term
    return _rounded(T.zeros_like(_wide(x)) if found is None else found, dtype)


def _correlate(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _correlated(input, weights, output, mode, cval, origin, axes, False)


def _convolve(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _correlated(input, weights, output, mode, cval, origin, axes, True)


# --- derivatives


def _summed(name: str, input: Any, output: Any, mode: Any, axes: Any, one: Callable[[Any, int, str, str], Any]) -> Any:
    """Return the sum over axes of `one(x, axis, dtype, mode)`."""
    x, dtype = _input(name, input, output)
    numbers = _axes(axes, x.ndim)
    modes = _each(mode, len(numbers), name, "mode")
    found = None
    for axis, m in zip(numbers, modes, strict=True):
        term = one(x, axis, dtype, m)
        found = term if found is None else T.cast(found + term, dtype)
    return T.cast(x, dtype) if found is None else found


def _laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    return _summed("laplace", input, output, mode, axes,
                   lambda x, axis, dtype, m: _correlate1d(x, [1, -2, 1], axis, dtype, m, cval))  # fmt: skip


def _gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    def one(x: Any, axis: int, dtype: str, m: str) -> Any:
        numbers = _axes(axes, x.ndim)
        orders = [2 * (a == axis) for a in numbers]
        return _gaussian_filter(x, sigma, orders, dtype, m, cval, axes=tuple(numbers), **options)

    return _summed("gaussian_laplace", input, output, mode, axes, one)


def _gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    **options: Any,
) -> Any:  # fmt: skip
    def one(x: Any, axis: int, dtype: str, m: str) -> Any:
        numbers = _axes(axes, x.ndim)
        orders = [int(a == axis) for a in numbers]
        slope = _gaussian_filter(x, sigma, orders, dtype, m, cval, axes=tuple(numbers), **options)
        return slope * slope

    found = _summed("gaussian_gradient_magnitude", input, output, mode, axes, one)
    return T.cast(T.sqrt(found), found.dtype)


def _edges(smoothing: Sequence[int]) -> Callable[..., Any]:
    """Return the filter that takes the difference along an axis and smooths along all others."""

    def function(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
        x, dtype = _input("sobel", input, output)
        (axis,), modes = _axes(axis, x.ndim), _each(mode, x.ndim, "sobel", "mode")
        x = _correlate1d(x, [-1, 0, 1], axis, dtype, modes[axis], cval)
        for k in range(x.ndim):
            if k != axis:
                x = _correlate1d(x, smoothing, k, dtype, modes[k], cval)
        return x

    return function


FILTERS: dict[str, Callable[..., Any]] = {
    "correlate1d": _correlate1d, "convolve1d": _convolve1d, "uniform_filter1d": _uniform_filter1d,
    "gaussian_filter1d": _gaussian_filter1d, "uniform_filter": _uniform_filter, "gaussian_filter": _gaussian_filter,
    "minimum_filter1d": partial(_extreme1d, T.minimum), "maximum_filter1d": partial(_extreme1d, T.maximum),
    "minimum_filter": _separable("minimum_filter", partial(_extreme1d, T.minimum), lambda n: n <= 1),
    "maximum_filter": _separable("maximum_filter", partial(_extreme1d, T.maximum), lambda n: n <= 1),
    "correlate": _correlate, "convolve": _convolve, "laplace": _laplace, "gaussian_laplace": _gaussian_laplace,
    "gaussian_gradient_magnitude": _gaussian_gradient_magnitude, "sobel": _edges((1, 2, 1)),
    "prewitt": _edges((1, 1, 1)),
}  # fmt: skip
"""Names of functions of `scipy.ndimage` -> ours for symbolic arrays."""
