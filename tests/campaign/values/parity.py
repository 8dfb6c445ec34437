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
    "array": {"copy=False": "`copy=False` for an array, which becomes a constant", "ndmax must be": "`ndmax`"},
    "asarray": {"copy=False": "`copy=False` for an array, which becomes a constant"},
    "asanyarray": {"copy=False": "`copy=False` for an array, which becomes a constant"},
    "from_dlpack": {"copy=False": "`copy=False`, since a constant is a copy"},
    "bincount": {"weights must": "weights of any shape beside no elements"},
    "choose": {"mode is": "a number for `mode`"},
    "corrcoef": {"join along": "no observations beside others"},
    "convolve": {"mode must be": "a number for `mode`"},
    "correlate": {"mode must be": "a number for `mode`"},
    "cross": {"expected length 3": "vectors of length 2, known at run time only", "not 3": "vectors of length 2"},
    "diff": {"out of bounds": "an axis out of range for n = 0"},
    "cov": {"join along": "no observations beside others"},
    "gradient": {"edge_order must be 1 or 2": "an `edge_order` that is not positive"},
    "histogram": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogram_bin_edges": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogram2d": {"no elements": "no elements without `range`", "take": "complex elements"},
    "histogramdd": {
        "no elements": "no elements without `range`", "take": "complex elements",
        "a matrix whose number of columns is known": "a scalar, or points of an unknown number of coordinates",
    },
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
    "polymul": {"the coefficients": "coefficients that are no vector"},
    "polydiv": {"the coefficients": "coefficients that are no vector", "Singular": "a divisor that begins with 0"},
    "polyder": {"the coefficients": "coefficients that are no vector"},
    "polyint": {"the coefficients": "coefficients that are no vector"},
    "polyval": {"the coefficients": "coefficients that are no vector"},
    "repeat": {"must not be negative": "negative counts of no elements"},
    "take": {"mode must be": "a number for `mode`"},
    "tensordot": {"cannot be summed over": "a negative number of axes"},
    "linalg.tensordot": {"cannot be summed over": "a negative number of axes"},
    "unpackbits": {"bitorder is": "an abbreviation of `bitorder`"},
    "linalg.qr": {"the mode": "the mode raw"},
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
    "polymul": ("NaN or infinities: zeros beyond the ends are multiplied by them", lambda c: _beyond(c, "a1", "a2")),
    "cov": ("one row, known at run time only: a matrix, for NumPy a scalar", lambda c: _single(c, "m")),
    "corrcoef": ("one row, known at run time only: a matrix, for NumPy a scalar", lambda c: _single(c, "x")),
    "interp": ("`xp` that descends: NumPy's values depend on its search", _descends),
    "polyfit": ("NaN or infinities: LAPACK defines nothing for them", lambda c: _beyond(c, "x", "y")),
    "geomspace": ("NaN or infinities at an end", lambda c: True),
    "percentile": ("integers whose difference leaves 64 bits", lambda c: _large(c, "a")),
    "quantile": ("integers whose difference leaves 64 bits", lambda c: _large(c, "a")),
    "linalg.matrix_power": ("NaN or infinities: products are taken in another order", lambda c: True),
    "linalg.qr": ("the modes full and economic, which are SciPy's here", lambda c: True),
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
_TEXT = "text, dates and objects: no tensor holds them"
_FILES = "files: read them by NumPy and pass the arrays"
_SHOWN = "printing: values exist when a function has run"
_STATE = "the state of NumPy: errors, buffers, its build"
_CLASSES = "classes and iterators of arrays with values"
_MEMORY = "memory: no program sees that of a tensor"
_WIDE = "long doubles: C and GPUs have no such vectors"
LEFT_OUT: dict[str, str] = {
    _TEXT: """bytes_ char character datetime64 datetime_as_string datetime_data busday_count busday_offset
        busdaycalendar is_busday isnat flexible generic mintypecode object_ str_ strings timedelta64 typename void
        typecodes sctypeDict ScalarType""",
    _FILES: """fromfile fromregex fromstring frombuffer genfromtxt load loadtxt memmap save savetxt savez
        savez_compressed""",
    _SHOWN: """array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        get_printoptions printoptions set_printoptions""",
    _STATE: """errstate getbufsize geterr geterrcall get_include info little_endian setbufsize seterr seterrcall
        show_config show_runtime test""",
    _CLASSES: """asmatrix bmat broadcast flatiter frompyfunc ma ndarray ndenumerate ndindex nditer nested_iters poly1d
        polynomial rec recarray record ufunc""",
    _MEMORY: "may_share_memory shares_memory",
    _WIDE: "clongdouble complex256 float128 longdouble float96 complex192",
    "modules of NumPy itself": "core ctypeslib dtypes emath exceptions f2py lib testing typing",
    "values of Python: True and False": "False_ True_",
}
"""Names of NumPy's main namespace that `T` has not, by the reason."""
COMPUTED_HERE = {
    "ptp": "an axis given as an array",
    "array": "`ndmax=None`",
    "poly": "one root as a scalar",
    "linalg.pinv": "`rtol=None` for integers",
    "linalg.tensorinv": "no elements",
}
"""Calls that NumPy refuses and we compute."""
DRAWS = [
    "## Draws", "",
    "`T.random.RandomStream` raises the errors of `numpy.random.Generator`, for inputs of a function too.",
    "Bounds of `integers` must be integers; NumPy rounds floats. Draws of floats are float32 or float64.",
]  # fmt: skip

_PERMITTED = "NumPy's and Python's value, which the standard allows in a note beside this case"
_CASES = (
    "(isfinite(x1_i) and x1_i < 0 and x2_i is +infinity) -> -0",
    "(isfinite(x1_i) and x1_i > 0 and x2_i is -infinity) -> -0",
    "(x1_i is +infinity and isfinite(x2_i) and x2_i < 0) -> -infinity",
    "(x1_i is +infinity and isfinite(x2_i) and x2_i > 0) -> +infinity",
    "(x1_i is -infinity and isfinite(x2_i) and x2_i < 0) -> +infinity",
    "(x1_i is -infinity and isfinite(x2_i) and x2_i > 0) -> -infinity",
)
"""Quotients rounded down in which an operand is infinite: the standard names a limit, Python pairs // with %."""
_OPERATORS = {"__floordiv__": "test_binary", "__ifloordiv__": "test_iop"}

FAILURES: dict[str, str] = {
    f"test_special_cases.py::{test}[{name}{case}]": _PERMITTED for name, test in _OPERATORS.items() for case in _CASES
}
_TANH = (
    "test_special_cases.py::test_unary"
    "[tanh(real(x_i) is +infinity and isfinite(imag(x_i)) and imag(x_i) > 0) -> 1 + 0j]"
)
_CAN_CAST = "test_data_type_functions.py::test_can_cast"
FAILURES[_CAN_CAST] = (
    "the suite has None where no dtype is promoted to another, and `None == np.dtype('float64')` holds: it asks for "
    "complex numbers as floats; most draws pass"
)
FAILURES[_TANH] = "NumPy's and C99's sign of the imaginary zero, that of sin(2 y); most draws pass"
"""Tests of the public suite that fail, with the reason; the last two do for some draws."""
STANDARD = [
    "## The array API standard", "",
    "`x.__array_namespace__()` is `arignote.ops`, which conforms to version 2025.12 with `linalg` and `fft`.",
    "`T.array_api` has the names of the standard alone; its `floor_divide` has the standard's preferred value where an",
    "operand is infinite, while `//` pairs with `%`, as Python's does.",
    "`python -m tests.array_api PATH` runs the [public suite](https://github.com/data-apis/array-api-tests) in a",
    "checkout PATH. Its tests ask for values, so a wrapper builds, compiles and runs a function for each call.",
    "These tests fail, all others pass:",
]  # fmt: skip


def standard_summary(outcomes: dict[str, str]) -> int:
    """Print how many tests passed and which surprise; return 1 if one does."""
    named = [(name.removeprefix("array_api_tests/"), outcome) for name, outcome in outcomes.items()]
    failed = {name for name, outcome in named if outcome in ("failed", "error")}
    passed = {name for name, outcome in named if outcome == "passed"}
    new, repaired = sorted(failed - FAILURES.keys()), sorted((passed & FAILURES.keys()) - {_TANH, _CAN_CAST})
    share = len(passed) / max(len(passed) + len(failed), 1)
    print(f"{len(passed)} passed, {len(failed)} failed: {share:.2%}")
    for title, names in (("not listed as failures", new), ("listed as failures, but passed", repaired)):
        if names:
            print(f"{title}:", *names, sep="\n    ")
    return int(bool(new or repaired))


SPECIAL = {
    "beta betaln huber kv kve pseudo_huber struve yv zeta": "NaN for NaN (SciPy: at some points a number or infinity)",
    "airy": "the limits beyond 800 and at infinity (SciPy: NaN)",
    "ive kve": "0 at infinity, as `i0e` and `k0e` of SciPy, and numbers where x is large (SciPy: NaN)",
    "beta betaln": "limits for two large operands, 0 and minus infinity (SciPy: NaN)",
    "zeta": "0 for a large or infinite power of 2 (SciPy: NaN)",
    "pseudo_huber": "numbers where the squares of the operands leave the range (SciPy: NaN, or infinity)",
    "fresnel": "the limits where the square leaves the range, beyond 1e154 (SciPy: NaN)",
    "iv jv kv yv": "numbers or infinities of the right sign for large orders and tiny x (SciPy: NaN, or 0)",
    "j0 j1 y0 y1 jv yv struve": "the value of large x (SciPy: of 1e10 with 6 digits, of 1e300 with none)",
    "struve": "NaN for orders of -1 and below (SciPy: values)",
    "gammaincinv gammainccinv": "NaN outside of the domain (SciPy: 0 for some orders next to 0)",
    "voigt_profile": "NaN or 0 for an infinite negative width (SciPy: infinities)",
    "gamma": "subnormal numbers (SciPy: 0)",
}
"""Where SciPy's value is left on purpose; at all other special points it is SciPy's."""


def page() -> str:
    """The text of docs/numpy_parity.md."""
    lines = ["## Calls that NumPy computes and Arignote refuses", "", "| function | refused |", "|---|---|"]
    lines += [f"| {_named(name)} | {'; '.join(dict.fromkeys(parts.values()))} |" for name, parts in REFUSED.items()]
    lines += ["", "## Calls with another value", "", "| function | difference |", "|---|---|"]
    lines += [f"| {_named(name)} | {reason} |" for name, (reason, _) in COMPUTED_OTHERWISE.items()]
    lines += ["", "## Values of `T.special` that differ from SciPy's", "", "| function | difference |", "|---|---|"]
    lines += [f"| {', '.join(f'`{name}`' for name in names.split())} | {reason} |" for names, reason in SPECIAL.items()]
    lines += ["", "## Calls that NumPy refuses and Arignote computes", "", "| function | call |", "|---|---|"]
    lines += [f"| {_named(name)} | {call} |" for name, call in COMPUTED_HERE.items()]
    lines += ["", "## Names of NumPy's main namespace that `T` lacks", "", "All others are there.", ""]
    lines += ["| names | reason |", "|---|---|"]
    left_out = {why: [f"`{name}`" for name in sorted(names.split())] for why, names in LEFT_OUT.items()}
    lines += [f"| {', '.join(names)} | {why} |" for why, names in left_out.items()]
    lines += ["", *STANDARD, "", "| test | reason |", "|---|---|"]
    lines += [f"| `{test}` | {reason} |" for test, reason in FAILURES.items()]
    return HEAD + "\n".join([*lines, "", *DRAWS]) + "\n"


def _named(name: str) -> str:
    return name if " " in name else f"`{name}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
