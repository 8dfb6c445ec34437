"""Distributions of `scipy.stats` in a trace: the densities of SciPy's formulas at variables.

    norm.logpdf(x, m, s)   -->   norm._logpdf((x - m) / s) - log(s), -inf beside the support
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ... import ops as T
from ...ops.core.tensor import as_tensor
from ...ops.linalg.scipys import finite
from ...ops.shapes.conditions import checked
from ...record import lazy

calls: Any = lazy.module("...calls", __name__)

_OF_DENSITY = {"pdf": 0.0, "pmf": 0.0, "logpdf": -np.inf, "logpmf": -np.inf}
"""Functions of a distribution -> their values beside its support."""
_OF_TAIL = {"cdf": (0.0, 1.0), "logcdf": (-np.inf, 0.0), "sf": (1.0, 0.0), "logsf": (0.0, -np.inf)}
"""Functions of a distribution -> their values below and above its support."""
_OF_CHANCE = {"ppf": 1, "isf": -1}
"""Functions of a probability -> whether they grow with it."""


@cache
def _classes() -> tuple[Any, Any, Any]:
    from scipy.stats import distributions

    return distributions.rv_frozen, distributions.rv_continuous, distributions.rv_discrete


@cache
def _classes_of_vectors() -> tuple[Any, Any]:
    from scipy.stats import _multivariate

    return _multivariate.multivariate_normal_frozen, _multivariate.multivariate_normal_gen


def of_distribution(f: Any, name: str) -> Callable[..., Any] | None:
    """Return `distribution.pdf` and the like, by the formulas of the distribution; None for any other function."""
    if getattr(f, "__code__", None) is not None and f.__code__.co_name == "axis_nan_policy_wrapper":
        return _without_policy(f)
    owner = getattr(f, "__self__", None)
    if name not in _OF_DENSITY.keys() | _OF_TAIL.keys() | _OF_CHANCE.keys() or owner is None:
        return None
    if isinstance(owner, _classes_of_vectors()):
        return partial(_normal_vector, name, owner)
    frozen, continuous, discrete = _classes()
    if isinstance(owner, frozen):
        given = partial(_valued, owner.dist, name)
        return lambda x: given(x, *owner.args, **owner.kwds)
    return partial(_valued, owner, name) if isinstance(owner, (continuous, discrete)) else None


def _without_policy(f: Any) -> Callable[..., Any]:
    """Return a statistic without its wrapper, which tests all values for NaN; a NaN gives NaN, as by default."""

    def function(*args: Any, nan_policy: str = "propagate", keepdims: bool = False, **options: Any) -> Any:
        if nan_policy != "propagate" or keepdims:
            raise TypeError(f"scipy.stats.{f.__name__}: a compiled function takes neither nan_policy= nor keepdims=")
        return calls.call(f.__wrapped__, *args, **options)

    return function


def _valued(dist: Any, name: str, x: Any, *args: Any, **options: Any) -> Any:
    """Return a function of a distribution at `x`: 0, 1 and their logarithms outside, NaN for bad parameters."""
    given, loc, scale = calls.call(dist._parse_args, *args, **options)
    scale = 1 if scale is None else scale
    of_float = [T.cast(v, "float64") if v.type.kind in "iub" else v for v in map(as_tensor, (x, loc, scale, *given))]
    x, loc, scale, *given = of_float
    low, high = calls.call(dist._get_support, *given)
    is_discrete = isinstance(dist, _classes()[2])
    is_valid = T.gt(scale, 0)
    for test in (calls.call(dist._argcheck, *given),) if given else ():
        is_valid = T.logical_and(is_valid, test)
    if name in _OF_CHANCE:
        inside = T.logical_and(T.gt(x, 0), T.lt(x, 1))
        found = calls.call(getattr(dist, f"_{name}"), T.switch(inside, x, 0.5), *given)
        low = low - is_discrete  # as SciPy has it
        at_zero, at_one = (low, high) if _OF_CHANCE[name] > 0 else (high, low)
        found = T.switch(inside, found, T.switch(T.eq(x, 0), at_zero, T.switch(T.eq(x, 1), at_one, np.nan)))
        return T.switch(is_valid, found * scale + loc, np.nan)
    y = (x - loc) / scale
    found = calls.call(getattr(dist, f"_{name}"), y, *given)
    if name in _OF_DENSITY:
        whole = T.eq(T.floor(y), y) if name.endswith("pmf") else True
        found = found / scale if name == "pdf" else found - T.log(scale) if name == "logpdf" else found
        inside = T.logical_and(calls.call(dist._support_mask, y, *given), whole)
        found = T.switch(inside, found, _OF_DENSITY[name])
    else:
        below, above = (T.lt if is_discrete else T.le)(y, low), T.ge(y, high)
        found = T.switch(below, _OF_TAIL[name][0], T.switch(above, _OF_TAIL[name][1], found))
    return T.switch(T.logical_and(is_valid, T.logical_not(T.isnan(x))), found, np.nan)


def _normal_vector(
    name: str, owner: Any, x: Any, mean: Any = None, cov: Any = 1, allow_singular: bool = False
) -> Any:
    """Return the density of a normal vector, or its logarithm, at the rows of `x`.

    The eigenvalues of `cov` below SciPy's limit count as 0; a run raises LinAlgError if there are any, unless
    `allow_singular`.
    """
    if name not in ("pdf", "logpdf"):
        raise TypeError(f"scipy.stats.multivariate_normal.{name}: a compiled function takes pdf and logpdf only")
    if isinstance(owner, _classes_of_vectors()[0]):
        mean, cov, allow_singular = owner.mean, owner.cov_object.covariance, True
    x, cov = as_tensor(x), as_tensor(cov)
    cov = T.diag(cov) if cov.ndim == 1 else T.reshape(cov, (1, 1)) if not cov.ndim else cov
    values, vectors = T.linalg.eigh(finite(cov, "multivariate_normal", True))
    least = 1e6 * np.finfo(values.type.numpy).eps * T.max(T.abs(values))
    text = "The input matrix must be symmetric positive semidefinite."
    values = checked(values, T.all(T.ge(values, -least)), text, error=ValueError)
    is_kept = T.gt(values, least)
    if not allow_singular:
        text = "When `allow_singular is False`, the input matrix must be symmetric positive definite."
        values = checked(values, T.all(is_kept), text, error=np.linalg.LinAlgError)
    values = T.switch(is_kept, values, 1)
    difference = x if mean is None else x - mean
    if x.ndim == 0 or (x.ndim == 1 and mean is None and cov.type.shape[0] == 1):
        difference = difference[..., None]
    parts = T.switch(is_kept, T.dot(difference, vectors / T.sqrt(values)), 0)
    rank = T.sum(T.cast(is_kept, "float64"))
    found = -0.5 * (rank * np.log(2 * np.pi) + T.sum(T.log(values)) + T.sum(T.square(parts), -1))
    return T.exp(found) if name == "pdf" else found
