"""The error functions and the normal distribution: scaled, inverse, logarithmic; Owen's T, Dawson's and Voigt's.

`erfcx` is a Chebyshev fit in (x - 3) / (x + 3) over all x >= 0 (M. M. Shepherd and J. G. Laframboise, 1981); inverses
are fits in s = sqrt(-log(p (2 - p))), a function that is analytic at both ends of the inverse.
"""

from __future__ import annotations

import math

from .scalars import (
    copysign,
    cos,
    exp,
    expm1,
    fabs,
    floor,
    fma,
    inf,
    log,
    log1p,
    nan,
    polynomial,
    scalar,
    sin,
    sqrt,
)

ROOT_HALF, ROOT_HALF_LOW = 0.7071067811865476, -4.833646656726457e-17
ROOT_2 = 1.4142135623730951
PER_ROOT_PI = 0.5641895835477563
PI = math.pi
ERFCX_SERIES = (
    1.2530080582697296, -0.13562110612458117, -0.04756229435345087, 0.1296451587027606, -0.11927366341530699,
    0.06830802734397848, -0.023770514918645888, 0.002529391816066239, 0.0018886903591561553, -0.0007798322721083991,
    -0.00010515979981501177, 0.00012509935235563107, 4.949484992570595e-06, -2.0100567931289227e-05,
    -7.315105164159062e-07, 3.472414602875686e-06, 3.5683839153992204e-07, -6.166496077604353e-07,
    -1.4160064940265987e-07, 1.0187000600072885e-07, 4.180784698845582e-08, -1.3326364813003834e-08,
    -8.500397929772615e-09, 9.885798831139365e-10, 8.864219016427092e-10,
)  # fmt: skip
ERFINV_CENTRE = (
    0.9097673482608994, 0.020436219909986512, -0.003356058580377453, -1.874982037003016e-05, 0.00019928385428208252,
    -4.506983531642978e-05, -5.666191693537175e-06, 5.326179561934899e-06, -7.392763320156702e-07,
    -3.425302012700545e-07, 1.5742332284075135e-07, -2.769890033033865e-09, -1.6038358706701253e-08,
    4.23201078312335e-09, 7.292687538337829e-10, -6.327049230883372e-10, 6.265095074820117e-11, 4.576600048635472e-11,
    -1.206176287525037e-11,
)  # fmt: skip
ERFINV_MIDDLE = (
    0.9613700180766183, 0.02211315126107736, -0.009267668196016866, 0.003060727667693542, -0.0006381110112171819,
    -0.0001125833407902059, 0.00024350682879791064, -0.00019201818286594194, 0.00011320057801521078,
    -5.0950676387715014e-05, 1.1893793172790122e-05, 7.49161875047698e-06, -1.290720768966295e-05,
    1.0331752562293783e-05, -5.073049237113109e-06, 7.138179230633616e-07, 1.4234222262616558e-06,
    -1.6638649025731565e-06, 8.97888918143026e-07, -8.131129416666763e-08, -1.6151909679433282e-07,
    4.980821767896231e-08, -7.530688281384118e-08, 1.3598912679997052e-07, -2.4470559288129824e-08,
    -6.58978570551129e-08, 2.828947066240031e-08, 9.18237860399739e-09, -5.2824442691221624e-09,
)  # fmt: skip
ERFINV_FAR = (
    0.9951863075264468, 0.0052738809846299, -0.004513886944309516, 0.0035062378785713157, -0.0025841351203122523,
    0.001841581533918994, -0.0012812939008753803, 0.0008750618162734008, -0.0005885052289871308,
    0.0003904873289926559, -0.00025589208611824385, 0.0001656720136760992, -0.00010596721020474422,
    6.700807857963005e-05, -4.1723220175901884e-05, 2.4876461640477497e-05, -1.489944282071693e-05,
    1.23762351551613e-05, -7.391498631174009e-06, -1.065286521603614e-05, 7.66566245276823e-06, 4.153644891204032e-05,
    -2.7828053559707652e-05, -9.664519645704835e-05, 6.539156802490782e-05, 0.00017712863337794122,
    -0.00011963893667679247, -0.00025224028768636923, 0.00017051203471587972, 0.0002752637338823646,
    -0.00018610680294029003, -0.00022696679840711844, 0.00015352697454016557, 0.00013673880185834992,
    -9.253451659419409e-05, -5.709523703724207e-05, 3.866216993062334e-05, 1.4815090398373635e-05,
    -1.0039318757511434e-05, -1.8305477855075325e-06, 1.242023475119457e-06,
)  # fmt: skip


@scalar
def erfcx(x: float) -> float:
    """exp(x**2) erfc(x), within 3 ulp; infinite below -26.6."""
    a = fabs(x)
    a = 8e307 if a > 8e307 else a
    t = (a - 3.0) / (a + 3.0)
    p = polynomial(ERFCX_SERIES, t)
    positive = p / (1.0 + 2.0 * a)
    square = x * x
    low = fma(x, x, -square)
    e = exp(square)
    negative = inf if square > 709.8 else 2.0 * (e + e * low) - positive
    return x if x != x else negative if x < 0.0 else 0.0 if x == inf else positive


@scalar
def gaussian(x: float) -> float:
    """exp(-x**2), the square of which is not rounded."""
    square = x * x
    low = fma(x, x, -square)
    e = exp(-square)
    return 0.0 if square > 750.0 else e - e * low


@scalar
def half_gaussian(x: float) -> float:
    """exp(-x**2 / 2), the square of which is not rounded."""
    square = x * x
    low = fma(x, x, -square)
    e = exp(-0.5 * square)
    return 0.0 if square > 1500.0 else e - e * (0.5 * low)


@scalar
def ndtr(x: float) -> float:
    """The normal distribution function, within 4 ulp."""
    a = fabs(x) * ROOT_HALF
    a = 1e10 if a > 1e10 else a
    t = (a - 3.0) / (a + 3.0)
    p = polynomial(ERFCX_SERIES, t)
    tail = half_gaussian(fabs(x)) * (p / (1.0 + 2.0 * a)) * 0.5
    return x if x != x else 1.0 - tail if x > 0.0 else tail


@scalar
def log_ndtr(x: float) -> float:
    """The logarithm of `ndtr`, within 4 ulp; below -1 by `erfcx`, without underflow."""
    a = fabs(x) * ROOT_HALF
    a = 8e307 if a > 8e307 else a
    t = (a - 3.0) / (a + 3.0)
    p = polynomial(ERFCX_SERIES, t)
    scaled_tail = p / (1.0 + 2.0 * a) * 0.5
    tail = half_gaussian(fabs(x)) * scaled_tail
    near = log1p(-tail) if x > 0.0 else log(tail)
    far = log(scaled_tail) - 0.5 * x * x
    return x if x != x else far if x < -1.0 else near


@scalar
def inverse_tail(w: float) -> float:
    """y >= 0 where erfc(y) (2 - erfc(y)) is exp(-w)."""
    w = 760.0 if w > 760.0 else w
    s = sqrt(w)
    u = 0.4 * w - 1.0
    v = (s - MIDDLE_CENTRE) * PER_MIDDLE
    z = (s - FAR_CENTRE) * PER_FAR
    near = polynomial(ERFINV_CENTRE, u)
    middle = polynomial(ERFINV_MIDDLE, v)
    far = polynomial(ERFINV_FAR, z)
    return s * (near if w <= 5.0 else middle if s <= 6.0 else far)


MIDDLE_CENTRE = (math.sqrt(5) + 6) / 2
PER_MIDDLE = 2 / (6 - math.sqrt(5))
FAR_CENTRE = 16.75
PER_FAR = 1 / 11.25


@scalar
def erfinv(x: float) -> float:
    """The inverse of the error function, within 4 ulp; NaN outside [-1, 1]."""
    a = fabs(x)
    w = -log1p(-a * a) if a < 0.5 else -log((1.0 - a) * (1.0 + a))
    y = inverse_tail(w)
    y = 0.886226925452758 * a if a < 1e-8 else y
    return x if x != x else nan if a > 1.0 else copysign(inf if a == 1.0 else y, x)


@scalar
def erfcinv(p: float) -> float:
    """The inverse of erfc, within 4 ulp; NaN outside [0, 2]."""
    q = p if p < 1.0 else 2.0 - p
    r = 1.0 - p
    w = -log1p(-r * r) if q > 0.5 else -log(q) - log(2.0 - q) if q < 1e-300 else -log(q * (2.0 - q))
    y = inverse_tail(w)
    y = 0.886226925452758 * fabs(r) if fabs(r) < 1e-8 else y
    y = inf if q == 0.0 else y
    return p if p != p else nan if q < 0.0 else y if p < 1.0 else -y


@scalar
def ndtri(p: float) -> float:
    """The inverse of `ndtr`, within 5 ulp; NaN outside [0, 1]."""
    q = p if p < 0.5 else 1.0 - p
    r = 1.0 - 2.0 * p
    w = -log1p(-r * r) if q > 0.25 else -log(4.0 * q) - log1p(-q)
    y = inverse_tail(w)
    y = 0.886226925452758 * fabs(r) if fabs(r) < 1e-8 else y
    y = inf if q == 0.0 else ROOT_2 * y
    return p if p != p else nan if q < 0.0 else -y if p < 0.5 else y


@scalar
def ndtri_exp(y: float) -> float:
    """The inverse of `log_ndtr`; two of Newton's steps from `ndtri` or the tail's expansion."""
    if y != y or y > 0.0:
        return nan
    if y == 0.0:
        return inf
    if y == -inf:
        return -inf
    if y > -1e-2:
        return -ndtri(-expm1(y))
    if y > -700.0:
        return ndtri(exp(y))
    x = -sqrt(-2.0 * (y + 0.5 * log(-4.0 * PI * y)))
    for _ in range(4):
        ratio = ROOT_HALF * 2.0 * PER_ROOT_PI / erfcx(-x * ROOT_HALF)
        x = x - (log_ndtr(x) - y) / ratio
    return x


@scalar
def dawsn(x: float) -> float:
    """Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x, within 16 ulp.

    Near 0 by its series, in the tails by the asymptotic one (DLMF 7.6.2, 7.12.1).
    """
    a = fabs(x)
    if a != a:
        return x
    square = a * a
    if a > 7.0:
        term = 1.0
        total = 1.0
        for k in range(1, 25):
            term = term * (float(2 * k - 1) / (2.0 * square))
            total = total + term
            if term < 1e-17:
                break
        return copysign(total / (2.0 * a), x)
    return copysign(dawson_fraction(a), x)


@scalar
def dawson_fraction(a: float) -> float:
    """Dawson's integral for a <= 7: the series exp(-a**2) sum a**(2k + 1) / (k! (2k + 1)), of positive terms."""
    square = a * a
    power = a
    total = a
    for k in range(1, 160):
        power = power * (square / float(k))
        total = total + power / float(2 * k + 1)
        if power < 1e-17 * total:
            break
    return total * gaussian(a)


@scalar
def voigt_real(x: float, y: float) -> float:
    """The real part of Faddeeva's function at x + i y, y > 0, within about 4 ulp.

    The trapezoidal rule for (y / pi) integral exp(-t**2) / ((x - t)**2 + y**2) with the residue of its pole: F. Matta
    and A. Reichel, "Uniform computation of the error function and other related functions", 1971.
    """
    h = 0.5
    a = fabs(x)
    fraction = a / h - floor(a / h)
    shift = 0.0 if fraction >= 0.25 and fraction <= 0.75 else 0.5
    total = 0.0
    for k in range(-14, 15):
        t = h * (float(k) + shift)
        total = total + exp(-t * t) / ((a - t) * (a - t) + y * y)
    result = h * y / PI * total
    if y >= PI / h:
        return result
    # 2 exp(-z**2) / (1 - exp(-2 pi i (z / h - shift))), z = a + i y
    angle = -2.0 * PI * (fraction - shift)
    growth = exp(2.0 * PI * y / h)
    re = 1.0 - growth * cos(angle)
    im = -growth * sin(angle)
    size = 2.0 * exp((y - a) * (y + a)) / (re * re + im * im)
    phase = -2.0 * a * y
    return result + size * (cos(phase) * re + sin(phase) * im)


@scalar
def voigt_imag(x: float, y: float) -> float:
    """The imaginary part of Faddeeva's function at x + i y, y > 0, by the same rule."""
    h = 0.5
    a = fabs(x)
    fraction = a / h - floor(a / h)
    shift = 0.0 if fraction >= 0.25 and fraction <= 0.75 else 0.5
    total = 0.0
    for k in range(-14, 15):
        t = h * (float(k) + shift)
        total = total + exp(-t * t) * (a - t) / ((a - t) * (a - t) + y * y)
    result = h / PI * total
    if y < PI / h:
        angle = -2.0 * PI * (fraction - shift)
        growth = exp(2.0 * PI * y / h)
        re = 1.0 - growth * cos(angle)
        im = -growth * sin(angle)
        size = 2.0 * exp((y - a) * (y + a)) / (re * re + im * im)
        phase = -2.0 * a * y
        result = result + size * (sin(phase) * re - cos(phase) * im)
    return -result if x < 0.0 else result
