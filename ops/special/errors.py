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
    fma,
    inf,
    log,
    log1p,
    nan,
    polynomial,
    rint,
    scalar,
    sin,
    sqrt,
)

ROOT_HALF = 0.7071067811865476
ROOT_2 = 1.4142135623730951
PI = math.pi
LN2, LN2_LOW = 0.6931471805599453, 2.3190468138462996e-17
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
    """exp(x**2) erfc(x), within 8 ulp; infinite below -26.6."""
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
    """The normal distribution function, within 8 ulp."""
    a = fabs(x) * ROOT_HALF
    a = 1e10 if a > 1e10 else a
    t = (a - 3.0) / (a + 3.0)
    p = polynomial(ERFCX_SERIES, t)
    tail = half_gaussian(fabs(x)) * (p / (1.0 + 2.0 * a)) * 0.5
    return x if x != x else 1.0 - tail if x > 0.0 else tail


@scalar
def log_ndtr(x: float) -> float:
    """The logarithm of `ndtr`, within 8 ulp; below -1 by `erfcx`, without underflow."""
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


LOG_2PI = math.log(2 * math.pi)
TAIL_SERIES = (-1.0, 2.5, -12.333333333333334, 88.25, -816.2)
"""log(1 - s + 3 s**2 - 15 s**3 + ...) / s."""


@scalar
def ndtri_exp(y: float) -> float:
    """The inverse of `log_ndtr`, within 8 ulp; two of Newton's steps for the square of a far quantile."""
    b = y if y > -700.0 else -700.0
    below = b < -LN2
    p = exp(b)
    q = -expm1(b)
    # 1 - 2 exp(y), without cancellation at y = log(1 / 2)
    r = -expm1((b + LN2) + LN2_LOW)
    is_tail = p < 0.25 or q < 0.25
    part = log1p(-p if below and is_tail else -r * r)
    rest = (b + 2.0 * LN2) if below else b + log(4.0 * q)
    w = -rest - part if below and is_tail else -rest if is_tail else -part
    near = ROOT_2 * inverse_tail(w)
    near = 1.2533141373155003 * fabs(r) if fabs(r) < 1e-8 else near
    # x**2 + log(x**2) - 2 log(1 - x**-2 + 3 x**-4 - ...) = -2 y - log(2 pi), where the exponent leaves the tail's range
    t = -2.0 * (y if y < -700.0 else -700.0) - LOG_2PI
    t = t if t < 1e308 else 1e308
    z = t - log(t)
    near_0 = 1.0 / z
    rest_0 = polynomial(TAIL_SERIES, near_0)
    z = z - (z + log(z) - 2.0 * (near_0 * rest_0) - t) / (1.0 + near_0)
    near_1 = 1.0 / z
    rest_1 = polynomial(TAIL_SERIES, near_1)
    z = z - (z + log(z) - 2.0 * (near_1 * rest_1) - t) / (1.0 + near_1)
    found = -sqrt(z) if y < -700.0 else -near if below else near
    return nan if y != y or y > 0.0 else inf if y == 0.0 else y if y == -inf else found


DAWSON_1 = (
    0.7247784590070764, -0.22477845900707633, 0.04358384425530725, -0.00612076775412786, 0.0006727872222144541,
    -6.0710446801669284e-05, 4.644844950463622e-06, -3.08384464624492e-07, 1.8081655226005746e-08,
    -9.491849827776196e-10, 4.510220805617863e-11, -1.957418221039298e-12, 7.817712237507154e-14,
    -2.903717373324874e-15, 9.996325284538942e-17,
)  # fmt: skip
DAWSON_2 = (
    0.4282490710853986, -0.14237360662809795, -0.00028206280027620384, 0.02386996583815442, -0.008915979339273346,
    0.00028779721796670107, 0.0006710489737806545, -0.0001643531528095005, -1.1124344706637944e-05,
    1.0984788173889324e-05, -1.0915010013186237e-06, -3.5046754894455967e-07, 8.928767572056731e-08,
    3.1771900549965922e-09, -3.5292917668202534e-09, 2.468925923151385e-10, 8.717194666580677e-11,
    -1.484291076826387e-11, -1.1974808954397203e-12, 4.3340928985507687e-13,
)  # fmt: skip
DAWSON_3 = (
    0.212165124242499, -0.061955187636596895, 0.02027064798579151, -0.006212228872439972, 0.0011968218830606763,
    0.00014774410260267343, -0.00022044555932032873, 8.30591987319614e-05, -1.2552987168514983e-05,
    -2.2930336165396967e-06, 1.6192415697900615e-06, -3.091865257592105e-07, -1.6766004069297784e-08,
    2.11484447302002e-08, -3.850832569391502e-09, -2.1470515597752527e-10, 2.1517313409465844e-10,
    -2.99580765099262e-11, -3.4380301378110455e-12, 1.5046491639992398e-12, -9.70184873639516e-14,
)  # fmt: skip
DAWSON_4 = (
    0.12276081600652292, -0.03119085445479255, 0.008240772703605787, -0.0022802606002343844, 0.0006681609086894359,
    -0.00021040608650757747, 7.184821821304928e-05, -2.6101837101694402e-05, 9.444874404042052e-06,
    -3.014808118965854e-06, 6.434639854148545e-07, 5.677547614042147e-08, -1.4698715467157756e-07,
    8.623887127820457e-08, -3.074405811409795e-08, 5.722920348612261e-09, 8.362636693558772e-10,
    -1.091862146243599e-09, 4.1937076195317577e-10, -6.668300510253526e-11, -1.6021175609469722e-11,
    1.1233989290481833e-11, -1.944485632395449e-12,
)  # fmt: skip
DAWSON_FAR = (
    1.0095146965729236, 0.00979744237724139, 0.00029736476582447376, 1.5727174571400396e-05, 1.2217628907108018e-06,
    1.2856832007477402e-07, 1.751234122340627e-08, 3.0052566234124148e-09, 6.401082302030969e-10,
    1.688948235545508e-10, 5.5330341510267106e-11, 2.1493051836471245e-11, 1.1881369683252813e-11,
    1.1238189648854625e-11, 5.6015190401618765e-12, -4.763684391217591e-12, -6.075459891556067e-12,
    -8.873819424766056e-15, 1.790634924961737e-12, 1.629539051181788e-13, -2.1059803539476035e-13,
)  # fmt: skip
VOIGT_HALVES = (
    0.9394130628134758, 0.569782824730923, 0.2096113871510978, 0.04677062238395898, 0.006329715427485747,
    0.0005195746821548384, 2.586810022265412e-05, 7.811489408304491e-07, 1.4307241918567688e-08,
    1.5893910094516368e-10, 1.0709232382508077e-12, 4.37661850287085e-15, 1.0848552640429378e-17,
    1.6310139226701858e-20,
)  # fmt: skip
VOIGT_WHOLES = (
    0.7788007830714049, 0.36787944117144233, 0.10539922456186433, 0.01831563888873418, 0.0019304541362277093,
    0.00012340980408667956, 4.785117392129009e-06, 1.1253517471925912e-07, 1.6052280551856116e-09,
    1.3887943864964021e-11, 7.287724095819692e-14, 2.3195228302435696e-16, 4.4777324417183015e-19,
    5.242885663363464e-22,
)  # fmt: skip


@scalar
def dawsn(x: float) -> float:
    """Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x, within 8 ulp: Chebyshev fits."""
    a = fabs(x)
    if a < 1.0:
        u = 2.0 * (a * a) - 1.0
        near = polynomial(DAWSON_1, u)
        return x * near
    if a < 2.0:
        v = 2.0 * a - 3.0
        first = polynomial(DAWSON_2, v)
        return copysign(first, x)
    if a < 3.2:
        w = (a - 2.6) / 0.6
        second = polynomial(DAWSON_3, w)
        return copysign(second, x)
    if a < 5.2:
        y = a - 4.2
        third = polynomial(DAWSON_4, y)
        return copysign(third, x)
    inverse = 1.0 / a
    z = 54.08 * (inverse * inverse) - 1.0
    p = polynomial(DAWSON_FAR, z)
    return x if x != x else copysign(0.5 * inverse * p, x)


@scalar
def voigt_residue(a: float, y: float, is_halves: int) -> tuple[float, float]:
    """The residue of both functions below: 2 exp(-z**2) / (1 - exp(-2 pi i (z / h - shift))), z = a + i y, h = 1/2."""
    angle = -2.0 * PI * (2.0 * a - rint(2.0 * a))
    growth = exp(4.0 * PI * y)
    growth = -growth if is_halves else growth
    re = 1.0 - growth * cos(angle)
    im = -growth * sin(angle)
    size = 2.0 * exp((y - a) * (y + a)) / (re * re + im * im)
    phase = 2.0 * a * y
    c = cos(phase)
    s = sin(phase)
    return size * (c * re - s * im), -size * (s * re + c * im)


@scalar
def is_near_node(a: float) -> bool:
    """Whether 2 a is within 1/4 of a whole number: nodes of the rule are whole numbers and a half then."""
    return fabs(2.0 * a - rint(2.0 * a)) < 0.25


FADDEEVA_SERIES = (
    1.0, 1.1283791670955126, 1.0, 0.7522527780636751, 0.5, 0.30090111122547003, 0.16666666666666666,
    0.08597174606442, 0.041666666666666664, 0.01910483245876, 0.008333333333333333, 0.0034736059015927274,
    0.001388888888888889, 0.0005344009079373427, 0.0001984126984126984, 7.125345439164569e-05, 2.48015873015873e-05,
    8.38275934019361e-06, 2.7557319223985893e-06, 8.823957200203801e-07, 2.755731922398589e-07,
    8.403768762098858e-08, 2.505210838544172e-08, 7.307625010520746e-09, 2.08767569878681e-09,
    5.846100008416597e-10, 1.6059043836821613e-10, 4.330444450678961e-11, 1.1470745597729725e-11,
    2.986513414261352e-12,
)  # fmt: skip


@scalar
def faddeeva_series(x: float, y: float) -> tuple[float, float]:
    """Faddeeva's function at x + i y by its power series, of i z / gamma (DLMF 7.6.3), for |z| <= 0.6."""
    re = 0.0
    im = 0.0
    for k in range(29, -1, -1):
        t = FADDEEVA_SERIES[k] - re * y - im * x
        im = re * x - im * y
        re = t
    return re, im


@scalar
def voigt_real(x: float, y: float) -> float:
    """The real part of Faddeeva's function at x + i y, y > 0, within 8 ulp.

    The trapezoidal rule for (y / pi) integral exp(-t**2) / ((x - t)**2 + y**2) with the residue of its pole: F. Matta
    and A. Reichel, "Uniform computation of the error function and other related functions", 1971.
    """
    a = fabs(x)
    square = a * a + y * y
    if a == inf or y == inf:
        return nan if x != x or y != y else 0.0
    if square < 0.36:
        re, _im = faddeeva_series(a, y)
        return re
    halves = is_near_node(a)
    total = 0.0
    for k in range(13, -1, -1):  # the least terms first
        t = 0.5 * float(k) + (0.25 if halves else 0.5)
        weight = VOIGT_HALVES[k] if halves else VOIGT_WHOLES[k]
        near = (a - t) * (a - t) + y * y
        far = (a + t) * (a + t) + y * y
        total = total + weight * ((square + t * t) / (near * far))
    total = total if halves else total + 0.5 / square
    result = y / PI * total
    if y >= 2.0 * PI:
        return result
    residue, _imaginary = voigt_residue(a, y, halves)
    return result + residue


@scalar
def voigt_imag(x: float, y: float) -> float:
    """The imaginary part of Faddeeva's function at x + i y, y > 0, by the same rule, within 8 ulp."""
    a = fabs(x)
    square = a * a + y * y
    if square < 0.36:
        _re, im = faddeeva_series(x, y)
        return im
    halves = is_near_node(a)
    total = 0.0
    for k in range(13, -1, -1):  # the least terms first
        t = 0.5 * float(k) + (0.25 if halves else 0.5)
        weight = VOIGT_HALVES[k] if halves else VOIGT_WHOLES[k]
        near = (a - t) * (a - t) + y * y
        far = (a + t) * (a + t) + y * y
        total = total + weight * (((a - t) * (a + t) + y * y) / (near * far))
    total = total if halves else total + 0.5 / square
    result = a / PI * total
    if y < 2.0 * PI:
        _real, residue = voigt_residue(a, y, halves)
        result = result + residue
    return -result if x < 0.0 else result
