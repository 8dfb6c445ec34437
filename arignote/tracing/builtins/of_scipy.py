"""Functions of SciPy in a trace: ours in the place of those that read memory, with SciPy's arguments and results.

SciPy's Python code is rewritten as that of the user is; what it calls in C or Fortran is not there for variables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ... import ops as T
from ...control.scan import scan
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import python_number
from ...ops.linalg.scipys import finite
from ...record import lazy
from . import distributions

interpolates: Any = lazy.module("..of_interpolate", __name__)
ndimages: Any = lazy.module("..of_ndimage", __name__)
_SAME = {
    "linalg": frozenset((
        "block_diag", "cho_factor", "cho_solve", "circulant", "expm", "expm_frechet", "hankel", "logm", "lu",
        "lu_factor", "lu_solve", "null_space", "orth", "polar", "qz", "rsf2csf", "schur", "solve_banded",
        "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are", "solve_discrete_lyapunov",
        "solve_lyapunov", "solve_sylvester", "sqrtm", "toeplitz",
    )),
    "special": frozenset(("multigammaln", "polygamma", "zeta")),
}  # fmt: skip
"""Names of functions, by module, that take what ours of that name take."""


def of_scipy(f: Any) -> Callable[..., Any] | None:
    """Return our function in the place of one of SciPy; None for any other, and for those that are rewritten."""
    word, name = f.__module__.split(".")[1], getattr(f, "__name__", "")
    if word == "ndimage":
        return ndimages.FILTERS.get(name)  # type: ignore[no-any-return]
    if word == "sparse":
        return sparses.of_sparse(f, name)  # type: ignore[no-any-return]
    if word == "interpolate":
        return interpolates.of_interpolate(f, name)  # type: ignore[no-any-return]
    if word == "stats":
        return distributions.of_distribution(f, name)
    made = _FUNCTIONS.get((word, name))
    if word == "fftpack" and name in _OF_FFTPACK:
        return partial(_transform, getattr(T.fft, name))
    if made is None and (word == "fft" or name in _SAME.get(word, ())):
        made = getattr(getattr(T, word), name, None)
    return made


_OF_FFTPACK = frozenset(("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"))
"""Functions of `scipy.fftpack` that are those of NumPy; its `rfft` has another layout."""


def _transform(function: Callable[..., Any], x: Any, *args: Any, overwrite_x: bool = False, **options: Any) -> Any:
    """A Fourier transform of `scipy.fftpack`: (x, n, axis), or (x, shape, axes) of several axes."""
    given = {"s" if name == "shape" else name: value for name, value in options.items()}
    return function(x, *args[:2], **given)


def of_ufunc(f: np.ufunc) -> Callable[..., Any] | None:
    """Return our formula in the place of an elementwise function of `scipy.special` that we have under no name."""
    made = _UFUNCS.get(f.__name__)
    return made if made is not None and getattr(special_ufuncs, f.__name__, None) is f else None


sparses: Any = lazy.module("..of_sparse", __name__)
special_ufuncs: Any = lazy.module("scipy.special._ufuncs", __name__)

# --- scipy.linalg


def _checked(a: Any, name: str, check_finite: bool) -> Any:
    return finite(as_tensor(a), name, check_finite)


def _cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    return T.linalg.cholesky(a, lower, check_finite=check_finite)


def _solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: str | None = None, transposed: bool = False,
) -> Any:  # fmt: skip
    return T.linalg.solve(a, b, lower=lower, check_finite=check_finite, assume_a=assume_a, transposed=transposed)


def _eigh(a: Any, b: Any = None, *, lower: bool = True, check_finite: bool = True, **options: Any) -> Any:
    found = T.linalg.eigh(a, b=b, lower=lower, check_finite=check_finite, **options)
    return tuple(found) if isinstance(found, tuple) else found


def _eigvalsh(a: Any, b: Any = None, **options: Any) -> Any:
    return _eigh(a, b, eigvals_only=True, **options)


def _qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    decomposed: Any = T.linalg.qr  # of all its forms
    found = decomposed(a, mode, pivoting=pivoting, check_finite=check_finite)
    parts = tuple(found) if isinstance(found, tuple) else (found,)
    return (*parts[:-1], T.cast(parts[-1], "int32")) if pivoting else parts


def _svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    found = T.linalg.svd(_checked(a, "svd", check_finite), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def _pinv(
    a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: bool = True
) -> Any:
    if atol is not None or return_rank:
        raise TypeError("scipy.linalg.pinv: a compiled function takes neither atol= nor return_rank=; give rtol=")
    matrix = _checked(a, "pinv", check_finite)
    if rtol is None:
        rtol = T.cast(T.maximum(*T.lengths_of(matrix)[-2:]), "float64") * np.finfo(matrix.type.numpy).eps
    return T.linalg.pinv(matrix, rtol=rtol)


def _of_matrix(name: str) -> Callable[..., Any]:
    ours = getattr(T.linalg, name)

    def function(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
        return ours(_checked(a, name, check_finite))

    return function


def _norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    x = finite(as_tensor(a), "norm", check_finite, vectors=True)
    found = T.linalg.norm(x, ord, axis, keepdims)
    is_of_blas = x.ndim == 1 and ord in (None, 2) and axis is None and not keepdims
    return python_number(found) if is_of_blas else found


# --- other modules


def _logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    if b is not None or return_sign:
        raise TypeError("scipy.special.logsumexp: a compiled function takes neither b= nor return_sign=")
    return T.logsumexp(a, axis, keepdims)


def _wofz(z: Any) -> Any:
    """Faddeeva's function: by the real and imaginary part above the axis, and w(-z) = 2 exp(-z**2) - w(z) below."""
    z = T.cast(as_tensor(z), "complex128")
    x, y = T.real(z), T.imag(z)
    above = T.abs(y)
    safe = T.switch(T.eq(above, 0), 1, above)
    on_axis = T.exp(-T.square(x)) + 1j * (2 / np.sqrt(np.pi) * T.special.dawsn(x))
    side = T.switch(T.lt(y, 0), -x, x)
    found = T.special.voigt_real(side, safe) + 1j * T.special.voigt_imag(side, safe)
    found = T.switch(T.lt(y, 0), 2 * T.exp(-z * z) - found, found)
    return T.switch(T.eq(above, 0), on_axis, found)


def _loggamma(x: Any) -> Any:
    x = as_tensor(x)
    if x.type.kind == "c":
        raise TypeError(f"scipy.special.loggamma: a compiled function takes real numbers, got {x!r}")
    return T.switch(T.gt(x, 0), T.gammaln(x), T.switch(T.eq(x, 0), np.inf, np.nan))


def _beta_pdf(x: Any, a: Any, b: Any) -> Any:
    own = T.special
    return T.exp(own.xlog1py(b - 1, -as_tensor(x)) + own.xlogy(a - 1, x) - own.betaln(a, b))


def _fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    return T.special.betainc(dfn / 2, dfd / 2, dfn * x / (dfn * x + dfd))


def _fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    return T.special.betainc(dfd / 2, dfn / 2, dfd / (dfn * x + dfd))


def _fdtri(dfn: Any, dfd: Any, p: Any) -> Any:
    a, b = as_tensor(dfn) / 2, as_tensor(dfd) / 2
    return dfd * T.special.betaincinv(a, b, p) / (dfn * T.special.betainccinv(b, a, p))


def _beta_ppf(p: Any, a: Any, b: Any) -> Any:
    return T.special.betaincinv(a, b, p)


def _cauchy_ppf(q: Any, loc: Any, scale: Any) -> Any:
    return loc - scale * _cotangent(q)


def _cauchy_isf(q: Any, loc: Any, scale: Any) -> Any:
    return loc + scale * _cotangent(q)


def _cotangent(q: Any) -> Any:
    """Return 1 / tan(pi q) for 0 < q < 1, with full relative accuracy at both ends and at a half."""
    end = T.minimum(q, 1 - q)
    near_ends = T.where(q < 0.5, 1, -1) / T.tan(math.pi * end)
    return T.where(end < 0.25, near_ends, -T.tan(math.pi * (q - 0.5)))


def _gamma_of_half(name: str) -> Callable[..., Any]:
    return lambda v, x: getattr(T.special, name)(as_tensor(v) / 2, as_tensor(x) / 2)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "wofz": _wofz, "loggamma": _loggamma, "_beta_pdf": _beta_pdf, "fdtr": _fdtr, "fdtrc": _fdtrc,
    "fdtri": _fdtri, "_beta_ppf": _beta_ppf, "_cauchy_ppf": _cauchy_ppf, "_cauchy_isf": _cauchy_isf,
    "chdtr": _gamma_of_half("gammainc"), "chdtrc": _gamma_of_half("gammaincc"),
}  # fmt: skip


def _convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    a, b = as_tensor(in1), as_tensor(in2)
    if a.ndim != 1 or b.ndim != 1:
        raise TypeError(f"scipy.signal.convolve: a compiled function takes vectors, got {a!r} and {b!r}")
    if mode != "same":
        return T.convolve(a, b, mode)
    start = (T.size(b) - 1) // 2
    return T.convolve(a, b)[start : start + T.size(a)]


def _correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    return _convolve(in1, T.conj(as_tensor(in2)[::-1]), mode)


def _lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: None = None) -> Any:
    """The direct form II, transposed: a scan over the samples, whose states are as many as the longer polynomial."""
    if zi is not None:
        raise TypeError("scipy.signal.lfilter: a compiled function takes no zi=; prepend zeros to x")
    b, a, x = (v if v.type.kind in "fc" else T.cast(v, "float64") for v in map(as_tensor, (b, a, x)))
    b, a = b / a[0], a / a[0]
    length = T.maximum(T.size(a), T.size(b))
    b, a = (T.pad(v, (0, length - T.size(v))) for v in (b, a))
    first = T.moveaxis(x, axis, 0)
    shape = T.lengths_of(first)[1:]
    ends = (slice(1, None), *[None] * len(shape))
    states = T.zeros((length, *shape), dtype=(b + a + T.zeros((1,), dtype=x.dtype)).dtype)

    def step(value: Any, state: Any) -> Any:
        found = b[0] * value + state[0]
        later = state[1:] + b[ends] * value - a[ends] * found
        return T.concatenate([later, T.zeros_like(state[:1])]), found

    (_, found), _updates = scan(step, [first], [states, None])
    return T.moveaxis(found, 0, axis)


_METRICS: dict[str, Callable[[Any], Any]] = {
    "euclidean": lambda d: T.sqrt(T.sum(T.square(d), -1)), "sqeuclidean": lambda d: T.sum(T.square(d), -1),
    "cityblock": lambda d: T.sum(T.abs(d), -1), "chebyshev": lambda d: T.max(T.abs(d), -1),
}  # fmt: skip
"""Distances by the differences along the last axis."""


def _cdist(XA: Any, XB: Any, metric: Any = "euclidean", *, out: None = None, **options: Any) -> Any:
    if metric not in _METRICS or options or out is not None:
        raise TypeError(f"scipy.spatial.distance.cdist: a compiled function takes the metrics {', '.join(_METRICS)}, "
                        f"without out=; got {metric!r}")  # fmt: skip
    a, b = (T.cast(as_tensor(x), "float64") for x in (XA, XB))
    return _METRICS[metric](a[:, None] - b[None])


_FUNCTIONS: dict[tuple[str, str], Callable[..., Any]] = {
    **{("linalg", n): _of_matrix(n) for n in ("det", "eigvals", "inv", "svdvals")},
    ("linalg", "cholesky"): _cholesky, ("linalg", "solve"): _solve, ("linalg", "eigh"): _eigh,
    ("linalg", "eigvalsh"): _eigvalsh, ("linalg", "qr"): _qr, ("linalg", "svd"): _svd, ("linalg", "pinv"): _pinv,
    ("linalg", "norm"): _norm, ("linalg", "solve_triangular"): partial(T.linalg.solve_triangular, check_finite=True),
    ("special", "logsumexp"): _logsumexp, ("special", "softmax"): lambda x, axis=None: T.softmax(x, axis),
    ("special", "log_softmax"): lambda x, axis=None: T.log_softmax(x, axis),
    ("integrate", "trapezoid"): T.trapezoid, ("spatial", "cdist"): _cdist,
    ("signal", "convolve"): _convolve, ("signal", "correlate"): _correlate, ("signal", "lfilter"): _lfilter,
}  # fmt: skip
