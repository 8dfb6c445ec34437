"""Helpers on complex numbers, with NumPy's formulas: C's own `*` and `/` treat infinities differently (C11 annex G).

Formulas of division, order and signs are those of numpy/_core/src/umath/loops.c.src and funcs.inc.src.
"""

from __future__ import annotations

from .helper import Helper, instances

COMPLEXES = ("complex64", "complex128")
_PART = {"complex64": "f32", "complex128": "f64"}

LIBRARY_UNARY = (
    "cexp", "clog", "csqrt", "csin", "ccos", "ctan", "casin", "cacos", "catan",
    "csinh", "ccosh", "ctanh", "casinh", "cacosh", "catanh",
)  # fmt: skip
"""Functions of one complex argument in the C library."""


def _function(name: str, arguments: str, body: str, result: str = "{T}") -> Helper:
    """Return the function `ag_<name>_{T}`; in its body `xr` and `xi` are the parts of argument `x`, and so on."""
    names = [a.split()[-1] for a in arguments.split(", ")]
    parts = "".join(
        f"    const {{R}} {n}r = __real__ {n}, {n}i = __imag__ {n};\n"
        for n in names
        if f"{n}r" in body or f"{n}i" in body
    )
    text = f"static inline {result} ag_{name}_{{T}}({arguments})\n{{\n{parts}{body}}}\n"
    return Helper(f"ag_{name}_{{T}}", text)


_X, _XY = "{T} x", "{T} x, {T} y"

_PATTERNS = (
    Helper("ag_make_{T}", """\
static inline {T} ag_make_{T}({R} re, {R} im)
{
    return __builtin_complex(re, im);
}
"""),
    *(Helper(f"{name}{{f}}", f"{{T}} {name}{{f}}({{T}});\n") for name in LIBRARY_UNARY),
    Helper("cpow{f}", "{T} cpow{f}({T}, {T});\n"),
    _function("mul", _XY, "    return ag_make_{T}(xr * yr - xi * yi, xr * yi + xi * yr);\n"),
    # Smith's division: no overflow of the divisor's square.
    _function("div", _XY, """\
    if (fabs{f}(yr) >= fabs{f}(yi)) {
        if (yr == 0 && yi == 0)
            return ag_make_{T}(xr / fabs{f}(yr), xi / fabs{f}(yr));
        const {R} ratio = yi / yr, scale = 1 / (yr + yi * ratio);
        return ag_make_{T}((xr + xi * ratio) * scale, (xi - xr * ratio) * scale);
    }
    const {R} ratio = yr / yi, scale = 1 / (yi + yr * ratio);
    return ag_make_{T}((xr * ratio + xi) * scale, (xi * ratio - xr) * scale);
"""),
    _function("reciprocal", _X, """\
    if (fabs{f}(xi) <= fabs{f}(xr)) {
        const {R} ratio = xi / xr, scale = xr + xi * ratio;
        return ag_make_{T}(1 / scale, -ratio / scale);
    }
    const {R} ratio = xr / xi, scale = xr * ratio + xi;
    return ag_make_{T}(ratio / scale, -1 / scale);
"""),
    _function("conj", _X, "    return ag_make_{T}(xr, -xi);\n"),
    _function("abs", _X, "    return ag_hypot_{R}(xr, xi);\n", result="{R}"),
    _function("angle", _X, "    return ag_atan2_{R}(xi, xr);\n", result="{R}"),
    _function("isnan", _X, "    return xr != xr || xi != xi;\n", result="b8"),
    _function("isinf", _X, """\
    return fabs{f}(xr) == __builtin_inf() || fabs{f}(xi) == __builtin_inf();
""", result="b8"),
    _function("isfinite", _X, """\
    return fabs{f}(xr) < __builtin_inf() && fabs{f}(xi) < __builtin_inf();
""", result="b8"),
    # The order is lexicographic; nothing with a NaN is before or after anything.
    *(
        _function(name, _XY, f"""\
    return (xr {strict} yr && xi == xi && yi == yi) || (xr == yr && xi {sign} yi);
""", result="b8")
        for name, strict, sign in (("lt", "<", "<"), ("le", "<", "<="), ("gt", ">", ">"), ("ge", ">", ">="))
    ),
    _function("maximum", _XY, "    return ag_isnan_{T}(x) || ag_ge_{T}(x, y) ? x : y;\n"),
    _function("minimum", _XY, "    return ag_isnan_{T}(x) || ag_le_{T}(x, y) ? x : y;\n"),
    # clip has an order of its own: the real parts decide unless they are equal.
    _function("clip", "{T} x, {T} y, {T} z", """\
    const {T} m = ag_isnan_{T}(x) || (xr == yr ? xi > yi : xr > yr) ? x : y;
    const {R} mr = __real__ m, mi = __imag__ m;
    return ag_isnan_{T}(m) || (mr == zr ? mi < zi : mr < zr) ? m : z;
"""),
    _function("sign", _X, """\
    const {R} size = ag_hypot_{R}(xr, xi), inf = __builtin_inf(), nan = __builtin_nan("");
    if (size != size || (fabs{f}(xr) == inf && fabs{f}(xi) == inf))
        return ag_make_{T}(nan, nan);
    if (size == inf)
        return fabs{f}(xr) == inf ? ag_make_{T}(xr > 0 ? 1 : -1, 0) : ag_make_{T}(0, xi > 0 ? 1 : -1);
    return size == 0 ? ag_make_{T}(0, 0) : ag_make_{T}(xr / size, xi / size);
"""),
    _function("rint", _X, "    return ag_make_{T}(rint{f}(xr), rint{f}(xi));\n"),
    _function("scale", "{T} x, {R} factor", "    return ag_make_{T}(xr * factor, xi * factor);\n"),
    _function("log1p", _X, "    return ag_make_{T}(ag_log_{R}(ag_hypot_{R}(xr + 1, xi)), ag_atan2_{R}(xi, xr + 1));\n"),
    _function("expm1", _X, """\
    const {R} half = ag_sin_{R}(xi / 2);
    return ag_make_{T}(ag_expm1_{R}(xr) * ag_cos_{R}(xi) - 2 * half * half, ag_exp_{R}(xr) * ag_sin_{R}(xi));
"""),
    # Small whole exponents by multiplication (npy_cpow); the rest is the C library's.
    _function("pow", _XY, """\
    if (yr == 0 && yi == 0)
        return ag_make_{T}(1, 0);
    if (xr == 0 && xi == 0)
        return yr > 0 ? ag_make_{T}(0, 0) : ag_make_{T}(__builtin_nan(""), __builtin_nan(""));
    if (yi != 0 || !(fabs{f}(yr) < 100) || yr != rint{f}(yr))
        return cpow{f}(x, y);
    u32 n = (u32)fabs{f}(yr);
    if (yr > 0 && n <= 3)
        return n == 1 ? x : n == 2 ? ag_mul_{T}(x, x) : ag_mul_{T}(x, ag_mul_{T}(x, x));
    {T} square = x, result = ag_make_{T}(1, 0);
    for (; n != 0; n >>= 1) {
        result = n & 1 ? ag_mul_{T}(result, square) : result;
        square = ag_mul_{T}(square, square);
    }
    return yr < 0 ? ag_reciprocal_{T}(result) : result;
"""),
)  # fmt: skip

COMPLEX = [h for pattern in _PATTERNS for h in instances(pattern, COMPLEXES, R=_PART)]
