"""Where functions of NumPy's names differ from NumPy on purpose: the tables of docs/numpy_parity.md.

The campaign of refusals accepts these differences and no others; `tests/ops/numpy/test_parity.py` compares the page.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).resolve().parents[3] / "docs" / "numpy_parity.md"
_VARIANCE = {"broadcast": "a `mean` that does not broadcast to x", "dtype must be": "`dtype` of integers"}
REFUSED: dict[str, dict[str, str]] = {
    "every function": {
        "an axis must be an integer known": "an axis that is no integer",
        "must be True or False or None": "a number for an option that is True or False",
        "copy must be None or True": "a number for an option that is True or False",
        "expected an integer that is": "a negative length (NumPy: 0, or none at all)",
        "expected an integer or an integer scalar": "a float for an integer",
        "a scalar has no axes": "an axis of a scalar",
    },
    "arange": {"real scalars of one dtype (bool": "dtype bool"},
    "bincount": {"weights must": "weights of any shape beside no elements"},
    "choose": {"mode is": "a number for `mode`"},
    "corrcoef": {"join along": "no observations beside others"},
    "convolve": {"mode must be": "a number for `mode`"},
    "correlate": {"mode must be": "a number for `mode`"},
    "cross": {"expected length 3": "vectors of length 2, known at run time only", "not 3": "vectors of length 2"},
    "diff": {"out of bounds": "an axis out of range for n = 0"},
    "cov": {
        "fweights must be None": "`fweights` and `aweights`", "aweights must be None": "`fweights` and `aweights`",
        "join along": "no observations beside others",
    },
    "gradient": {"edge_order must be 1": "`edge_order=2`"},
    "histogram": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogram_bin_edges": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogram2d": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogramdd": {
        "no elements": "no elements without `range`", "take": "complex elements",
        "a matrix whose number of columns is known": "a scalar, or points of an unknown number of coordinates",
    },
    "interp": {"period must be None": "`period`"},
    "intersect1d": {"return_indices must be False": "`return_indices`"},
    "nan_to_num": {"takes real numbers": "complex numbers"},
    "nanmedian": {"out of bounds": "no elements"},
    "nanmax": {"not defined": "a NaN for `initial`", "needs an initial": "a NaN for `initial`"},
    "nanmin": {"not defined": "a NaN for `initial`", "needs an initial": "a NaN for `initial`"},
    "nanpercentile": {"out of": "no elements", "method must be": "a method beside no elements"},
    "nanquantile": {"out of": "no elements"},
    "std": _VARIANCE, "var": _VARIANCE, "nanstd": _VARIANCE, "nanvar": _VARIANCE,
    "piecewise": {"a condition: expected length": "an empty condition beside elements"},
    "polyadd": {"the coefficients": "coefficients that are no vector"},
    "polysub": {"the coefficients": "coefficients that are no vector"},
    "polyder": {"the coefficients": "coefficients that are no vector"},
    "polyint": {"the coefficients": "coefficients that are no vector"},
    "polyval": {"the coefficients": "coefficients that are no vector"},
    "polyfit": {"cov must be False": "`cov` and `full`", "full must be False": "`cov` and `full`"},
    "ravel_multi_index": {"mode must be": "`mode` other than raise"},
    "repeat": {"must not be negative": "negative counts of no elements"},
    "take": {"mode must be": "a number for `mode`"},
    "tensordot": {"cannot be summed over": "a negative number of axes"},
    "linalg.tensordot": {"cannot be summed over": "a negative number of axes"},
    "unpackbits": {"bitorder is": "an abbreviation of `bitorder`"},
    "linalg.pinv": {"hermitian must be": "`hermitian`"},
    "linalg.svd": {"hermitian must be": "`hermitian`"},
    "linalg.qr": {"the mode must be": "the deprecated modes full and economic"},
    "linalg.cond": {"Singular matrix": "a singular matrix for norms other than 2"},
    "linalg.norm": {"no elements": "no elements"},
    "linalg.matrix_norm": {"no elements": "no elements"},
    "linalg.vector_norm": {"no elements": "no elements"},
    "linalg.tensorinv": {"ind is from": "`ind` beyond the axes"},
    "linalg.tensorsolve": {"more axes than b": "scalars"},
}
"""Calls that NumPy computes and we refuse: by name, a part of our message and what is refused."""


def _beyond(call: Any, *names: str) -> bool:
    """Whether one of the arguments has an element that is not finite."""
    positional, given = call
    return not all(np.isfinite(v).all() for v in (*positional, *map(given.get, names)) if isinstance(v, np.ndarray))


def _large(call: Any, name: str) -> bool:
    x = call[1][name]
    return bool(x.dtype.kind in "iu" and x.size and (abs(x.astype(float)) > 1e18).any())


def _descends(call: Any) -> bool:
    return bool(np.any(np.diff(call[1]["xp"]) < 0))


def _single(call: Any, name: str) -> bool:
    x = np.atleast_2d(call[1][name])
    return min(x.shape) < 2


COMPUTED_OTHERWISE: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "convolve": ("NaN or infinities: zeros beyond the ends are multiplied by them", lambda c: _beyond(c, "a", "v")),
    "correlate": ("NaN or infinities: zeros beyond the ends are multiplied by them", lambda c: _beyond(c, "a", "v")),
    "cov": ("one row, known at run time only: a matrix, for NumPy a scalar", lambda c: _single(c, "m")),
    "corrcoef": ("one row, known at run time only: a matrix, for NumPy a scalar", lambda c: _single(c, "x")),
    "interp": ("`xp` that descends: NumPy's values depend on its search", _descends),
    "polyfit": ("NaN or infinities: LAPACK defines nothing for them", lambda c: _beyond(c, "x", "y")),
    "geomspace": ("NaN or infinities at an end", lambda c: True),
    "percentile": ("integers whose difference leaves 64 bits", lambda c: _large(c, "a")),
    "quantile": ("integers whose difference leaves 64 bits", lambda c: _large(c, "a")),
    "linalg.matrix_power": ("NaN or infinities: products are taken in another order", lambda c: True),
    "linalg.pinv": ("integers without elements: floats", lambda c: True),
    "linalg.lstsq": ("NaN or infinities: LAPACK defines nothing for them", lambda c: _beyond(c, "a", "b")),
    "linalg.multi_dot": ("NaN or infinities: products are taken in another order", lambda c: True),
    "squeeze": ("a length of 1 that only the run knows: the axis stays", lambda c: True),
}
"""Calls that have another value here: by name, what they are, and whether a call is one."""


HEAD = """# NumPy parity

Written by `python -m tests.campaign.values.parity`. A function with the name of a NumPy function takes its arguments
and gives its values, dtypes and shapes, or both refuse the call. `python -m tests.campaign refusals keywords` tries
that for all names, with arguments drawn at random. Calls with constants are refused when the graph is built. Others are
refused by the compiled function, with the user's line. The tables list all known differences; the campaign accepts no
others.

A run-time check costs one comparison for each call, besides the reduction of its condition. Optimized code may drop a
check together with a value that nothing reads; see
[the tour](tutorials/tour.md#errors-that-optimized-code-may-drop).

"""
COMPUTED_HERE = {
    "ptp": "an axis given as an array",
    "linalg.pinv": "`rtol=None` for integers",
    "linalg.tensorinv": "no elements",
}
"""Calls that NumPy refuses and we compute."""
DRAWS = [
    "## Draws", "",
    "`T.random.RandomStream` raises the errors of `numpy.random.Generator`, for inputs of a function too.",
    "Bounds of `integers` must be integers; NumPy rounds floats. Draws of floats are float32 or float64.",
]  # fmt: skip


def page() -> str:
    """The text of docs/numpy_parity.md."""
    lines = ["## Calls that NumPy computes and Arignote refuses", "", "| function | refused |", "|---|---|"]
    lines += [f"| {_named(name)} | {'; '.join(dict.fromkeys(parts.values()))} |" for name, parts in REFUSED.items()]
    lines += ["", "## Calls with another value", "", "| function | difference |", "|---|---|"]
    lines += [f"| {_named(name)} | {reason} |" for name, (reason, _) in COMPUTED_OTHERWISE.items()]
    lines += ["", "## Calls that NumPy refuses and Arignote computes", "", "| function | call |", "|---|---|"]
    lines += [f"| {_named(name)} | {call} |" for name, call in COMPUTED_HERE.items()]
    return HEAD + "\n".join([*lines, "", *DRAWS]) + "\n"


def _named(name: str) -> str:
    return name if " " in name else f"`{name}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
