"""Incomplete gamma functions, their derivatives by the order, their inverses; Hurwitz' and Riemann's zeta functions.

Series and continued fractions of DLMF 8.7.1 and 8.9.2; N. M. Temme's uniform expansion where both arguments are large
and near each other ("The asymptotic expansion of the incomplete gamma functions", 1979; its coefficients by the
recurrence given there); W. Gautschi's form of the upper function for small x ("A computational procedure for incomplete
gamma functions", 1979).  Powers and exponentials have exponents in two parts (parts.py).
"""

from __future__ import annotations

import math

from .errors import erfcx, ndtri
from .parts import (
    digamma_parts,
    divided_parts,
    exp_parts,
    log1p_parts,
    log_gamma_parts,
    log_in_parts,
    plus_parts,
    stirling,
    times_parts,
    two_sum,
)
from .ratios import short_gamma_factor
from .scalars import (
    digamma_of,
    exp,
    expm1,
    fabs,
    floor,
    inf,
    log,
    log1p,
    log_gamma,
    nan,
    polynomial,
    power,
    scalar,
    sqrt,
)

TWO_PI = 2 * math.pi
ROOT_OF_TWO_PI = math.sqrt(TWO_PI)
TEMME_0 = (
    -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194,
    -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
    8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
    -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11, -5.830772132550426e-11,
    2.4361948020667415e-11, -5.0276692801141755e-12,
)  # fmt: skip
TEMME_1 = (
    -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
    0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,
    -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
    1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09, 4.162792991842583e-10,
    -8.56390702649298e-11,
)  # fmt: skip
TEMME_2 = (
    0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
    -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08,
    1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10,
    -1.409252991086752e-08, 6.228974084922022e-09, -1.3670488396617114e-09,
)  # fmt: skip
TEMME_3 = (
    0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885,
    -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06,
    1.4230900732435883e-06, -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08,
    -1.9111168485973655e-08,
)  # fmt: skip
TEMME_4 = (
    -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
    6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05, 2.507497226237533e-10,
    -1.6954149536558305e-06, 8.907507532205309e-07, -2.292934834000805e-07, 2.956794137544049e-11,
    2.8865829742708783e-08,
)  # fmt: skip
TEMME_5 = (
    -0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847,
    6.797780477937208e-05, 1.419062920643967e-07, -1.3594048189768693e-05, 8.018470256334202e-06,
    -2.291481176508095e-06, -3.252473551298454e-10, 3.4652846491085265e-07,
)  # fmt: skip
TEMME_6 = (
    0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07,
    -8.153969367561969e-05, 5.61168275310625e-05, -1.8329116582843375e-05, -3.0796134506033047e-09,
    3.465155368803609e-06, -2.0291327396058603e-06,
)  # fmt: skip
TEMME_7 = (
    0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234, 0.0002812695154763237,
    -0.00010976582244684731, -1.2741009095484485e-07, 2.7744451511563645e-05, -1.8263488805711332e-05,
)  # fmt: skip
TEMME_8 = (
    -0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721, -6.969091458420552e-07,
    0.00016644846642067547, -0.00012783517679769218,
)  # fmt: skip
TEMME_9 = (
    -0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328, -0.0006401475260262758,
)  # fmt: skip
TEMME_0_SLOPE, TEMME_1_SLOPE, TEMME_2_SLOPE = (
    tuple(k * c for k, c in enumerate(coefficients))[1:] for coefficients in (TEMME_0, TEMME_1, TEMME_2)
)
LOG_GAMMA_SERIES = (
    -0.5772156649015329, 0.8224670334241132, -0.4006856343865406, 0.2705808084277935, -0.2073855510262953,
    0.16955717699509998, -0.14404989701106719, 0.1255096697597847, -0.1113342530365414, 0.10009944506030896,
    -0.09095442301348973, 0.08335423437020126, -0.07692423568567124, 0.07142491150665906, -0.06678275881746833,
    0.0626116167474043, -0.057737256640806416, 0.054501409023364235, -0.059850048562680856, 0.057003000096539545,
    -0.014509338086091672, 0.01333577663873192, -0.14497971020532596, 0.14011729595820724, 0.1528715168258553,
    -0.14857260899606312, -0.22471180158915516, 0.21762817640022097,
)  # fmt: skip


@scalar
def log_gamma_near_1(a: float) -> float:
    """log(gamma(1 + a)), without cancellation near 0."""
    if fabs(a) > 0.5:
        return log_gamma(1.0 + a)
    p = polynomial(LOG_GAMMA_SERIES, a)
    return a * p


@scalar
def exponent_of_gamma(a: float, x: float) -> tuple[float, float]:
    """log((x / a)**a exp(a - x)), never positive, in two parts, for a >= 15."""
    d, d_low = two_sum(x, -a)
    if fabs(d) < 0.3 * a:
        m = d / a
        r, r_low = times_parts(m, 0.0, a, 0.0)
        m_low = ((d - r) - r_low + d_low) / a
        logarithm, logarithm_low = log1p_parts(m, m_low)
    else:
        p, p_low = log_in_parts(x, 0.0)
        q, q_low = log_in_parts(a, 0.0)
        logarithm, logarithm_low = plus_parts(p, p_low, -q, -q_low)
    e, e_low = times_parts(logarithm, logarithm_low, a, 0.0)
    return plus_parts(e, e_low, -d, -d_low)


@scalar
def gamma_factor(a: float, x: float) -> float:
    """x**a exp(-x) / gamma(a + 1), within about 3 ulp where it is a normal number."""
    if x > 1e-300:
        quick = short_gamma_factor(a, x)
        if quick > 0.0:
            return quick
    if a >= 15.0:
        e, e_low = exponent_of_gamma(a, x)
        return exp_parts(e, e_low) * exp(-stirling(a)) / sqrt(TWO_PI * a)
    if x < 1e-300:
        return exp(a * log(x) - log_gamma(a + 1.0))
    e, e_low = log_in_parts(x, 0.0)
    e, e_low = times_parts(e, e_low, a, 0.0)
    e, e_low = plus_parts(e, e_low, -x, 0.0)
    g, g_low = log_gamma_parts(a, 0.0)
    e, e_low = plus_parts(e, e_low, -g, -g_low)
    return exp_parts(e, e_low) / a


@scalar
def temme_sum(a: float, eta: float) -> float:
    """The sum of C_k(eta) a**-k, k = 0 ... 9, for a >= 20 and |eta| < 0.47."""
    c0 = polynomial(TEMME_0, eta)
    c1 = polynomial(TEMME_1, eta)
    c2 = polynomial(TEMME_2, eta)
    c3 = polynomial(TEMME_3, eta)
    c4 = polynomial(TEMME_4, eta)
    c5 = polynomial(TEMME_5, eta)
    c6 = polynomial(TEMME_6, eta)
    c7 = polynomial(TEMME_7, eta)
    c8 = polynomial(TEMME_8, eta)
    c9 = polynomial(TEMME_9, eta)
    r = 1.0 / a
    high = c5 + r * (c6 + r * (c7 + r * (c8 + r * c9)))
    return c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * high))))


@scalar
def incomplete_gamma(a: float, x: float) -> tuple[float, float]:
    """(P(a, x), Q(a, x)): the smaller one is accurate, the other one is 1 less it.  a > 0, x > 0, both finite."""
    if a >= 20.0 and x > 0.62 * a and x < 1.5 * a:
        e, e_low = exponent_of_gamma(a, x)
        z = sqrt(-e - e_low)
        eta = z * sqrt(2.0 / a)
        eta = -eta if x < a else eta
        size = exp_parts(e, e_low)
        rest = temme_sum(a, eta) / sqrt(TWO_PI * a)
        if x < a:
            p = size * (0.5 * erfcx(z) - rest)
            return p, 1.0 - p
        q = size * (0.5 * erfcx(z) + rest)
        return 1.0 - q, q
    if x < 0.6 and (x >= a or a < 0.4):
        # Q = 1 - x**a / gamma(1 + a) * (1 + a sum (-x)**k / ((a + k) k!))
        e = a * log(x) - log_gamma_near_1(a)
        term = 1.0
        total = 0.0
        for k in range(1, 30):
            term = term * (-x / float(k))
            total = total + term / (a + float(k))
            if fabs(term) < 1e-18:
                break
        q = -expm1(e) - exp(e) * (a * total)
        if q < 0.5:
            return 1.0 - q, q
        p = exp(e) * (1.0 + a * total)
        return p, q
    if x > 1e5 and x > 4.0 * a:
        return 1.0, 0.0
    factor = gamma_factor(a, x)
    if x < a - 0.3 or (x < 0.7 and x < a and a >= 0.4):
        p = factor * lower_series(a, x)
        return p, 1.0 - p
    q = factor * a * upper_fraction(a, x)
    return 1.0 - q, q


@scalar
def lower_series(a: float, x: float) -> float:
    """P(a, x) gamma(a + 1) exp(x) x**-a, a sum of positive terms (DLMF 8.7.1)."""
    term = 1.0
    total = 1.0
    low = 0.0
    n = a
    while term > 1e-17 * total:
        n = n + 1.0
        term = term * (x / n)
        total, error = two_sum(total, term)
        low = low + error
    return total + low


@scalar
def upper_fraction(a: float, x: float) -> float:
    """Q(a, x) gamma(a) exp(x) x**-a for x >= 0.6, x >= 1.5 a beyond a = 60: the continued fraction of DLMF 8.9.2."""
    if a < 60.0:
        # the recurrence of 8.8.2 as a sum, then the fraction for an order below 1, of positive terms, from its end on
        term = 1.0
        total = 0.0
        low = 0.0
        order = a
        while order >= 1.0 and term > 1e-17 * total:
            total, error = two_sum(total, term)
            low = low + error
            order = order - 1.0
            term = term * (order / x)
        total = (total + low) / x
        if order >= 1.0 or order == 0.0:
            return total
        over = 1e-200 * x  # both grow like a factorial
        under = 1e-200
        for k in range(int(95.0 / x) + 12, 0, -1):
            n = float(k)
            under = over + n * under
            over = x * under + (n - order) * over
        return total + term * (under / over)
    # its even part, from its end on: 18 terms reach 1e-17 for x = 1.5 a and a = 60, and all are positive
    rest = x + 37.0 - a
    for k in range(18, 0, -1):
        n = float(k)
        rest = x + (2.0 * n - 1.0) - a + n * (a - n) / rest
    return 1.0 / rest


@scalar
def gammainc(a: float, x: float) -> float:
    """The lower incomplete gamma function, regularized, within 8 ulp for a <= 1e6; NaN for negative operands."""
    if a != a or x != x or a < 0.0 or x < 0.0:
        return nan
    if a == 0.0:
        return 1.0 if x > 0.0 else nan
    if x == 0.0:
        return 0.0
    if a == inf:
        return nan if x == inf else 0.0
    if x == inf:
        return 1.0
    if a < 12.0 and x < a + 2.0 and x > 1e-300:
        p = gamma_factor(a, x) * lower_series(a, x)
        return p if p < 1.0 else 1.0
    p, _q = incomplete_gamma(a, x)
    return p


@scalar
def gammaincc(a: float, x: float) -> float:
    """The upper incomplete gamma function, regularized, within 8 ulp for a <= 1e6; NaN for negative operands."""
    if a != a or x != x or a < 0.0 or x < 0.0:
        return nan
    if a == 0.0:
        return 0.0 if x > 0.0 else nan
    if x == 0.0:
        return 1.0
    if a == inf:
        return nan if x == inf else 1.0
    if x == inf:
        return 0.0
    _p, q = incomplete_gamma(a, x)
    return q


@scalar
def temme_by_a(a: float, x: float) -> float:
    """The derivative of P(a, x) by a for a >= 1000 and x in 0.62 a ... 1.5 a: that of the uniform expansion.

    The derivative of eta by a is -mu / (a eta), mu = x / a - 1, and that of a eta**2 / 2 is -log(1 + mu).
    """
    e, e_low = exponent_of_gamma(a, x)
    eta = sqrt(-e - e_low) * sqrt(2.0 / a)
    eta = -eta if x < a else eta
    c0 = polynomial(TEMME_0, eta)
    c1 = polynomial(TEMME_1, eta)
    c2 = polynomial(TEMME_2, eta)
    c3 = polynomial(TEMME_3, eta)
    c0_slope = polynomial(TEMME_0_SLOPE, eta)
    c1_slope = polynomial(TEMME_1_SLOPE, eta)
    c2_slope = polynomial(TEMME_2_SLOPE, eta)
    ratio = 1.0 / (1.0 + eta * c0)  # mu / eta, as C_0 is 1 / mu - 1 / eta
    logarithm = eta * ratio - 0.5 * eta * eta
    r = 1.0 / a
    total = c0 + r * (c1 + r * (c2 + r * c3))
    by_eta = c0_slope + r * (c1_slope + r * c2_slope)
    total_slope = -r * (ratio * by_eta + r * (c1 + r * (2.0 * c2 + r * (3.0 * c3))))
    size = exp_parts(e, e_low) / (ROOT_OF_TWO_PI * sqrt(a))
    return size * (0.5 * eta - ratio - (logarithm - 0.5 * r) * total - total_slope)


@scalar
def gammainc_by_a(a: float, x: float) -> float:
    """The derivative of `gammainc` by a, within 8 ulp for a <= 300, and 32 ulp in the far upper tail.

    The series, term by term, whose slopes change their sign, in two parts; in that tail the continued fraction; near
    a large a the uniform expansion.
    """
    if a != a or x != x or a <= 0.0 or x < 0.0:
        return nan
    if x == 0.0 or x == inf or a == inf:
        return 0.0
    if a >= 1000.0 and x > 0.62 * a and x < 1.5 * a:
        return temme_by_a(a, x)
    factor = gamma_factor(a, x)
    if x < a + 6.0 + 4.5 * sqrt(a):
        n, n_low = two_sum(a, 1.0)
        slope, slope_low = log_in_parts(x, 0.0)
        p, p_low = digamma_parts(n, n_low)
        slope, slope_low = plus_parts(slope, slope_low, -p, -p_low)
        term = 1.0
        term_low = 0.0
        total = slope
        total_low = slope_low
        while fabs(term * slope) > 1e-18 * fabs(total) or n < x:
            p, p_low = divided_parts(1.0, 0.0, n, n_low)
            slope, slope_low = plus_parts(slope, slope_low, -p, -p_low)
            p, p_low = times_parts(p, p_low, x, 0.0)
            term, term_low = times_parts(term, term_low, p, p_low)
            p, p_low = times_parts(term, term_low, slope, slope_low)
            total, total_low = plus_parts(total, total_low, p, p_low)
            n, n_low = plus_parts(n, n_low, 1.0, 0.0)
        return factor * (total + total_low)
    # d/da of c = x**a exp(-x) / gamma(a) times the fraction h, and of h by its recurrences
    b = x + 1.0 - a
    c = 1e300
    c_slope = 0.0
    d = 1.0 / b
    d_slope = d * d
    h = d
    h_slope = d_slope
    for k in range(1, 20000):
        n = float(k)
        t = n * (a - n)
        b = b + 2.0
        d_slope = -(n * d + t * d_slope - 1.0)
        d = 1.0 / (t * d + b)
        d_slope = d_slope * d * d
        c_slope = -1.0 + n / c - t / c * (c_slope / c)
        c = b + t / c
        step = c * d
        h_slope = h_slope * step + h * (c_slope * d + c * d_slope)
        h = h * step
        if fabs(step - 1.0) < 1.2e-16:
            break
    return -factor * a * ((log(x) - digamma_of(a)) * h + h_slope)


@scalar
def gamma_quantile(a: float, p: float, p_low: float, q: float) -> float:
    """x with P(a, x) = p + p_low and Q(a, x) = q = 1 - p - p_low, by at most 40 of Halley's steps, kept between bounds.

    The equation is solved for the logarithm of the smaller of both, in log(x).  The start is by E. B. Wilson and
    M. M. Hilferty (1931), or by the first term of the series.
    """
    small = p if p <= q else q
    lower = p <= q
    x = 0.0
    if a >= 1.0:
        z = ndtri(p) if lower else -ndtri(q)
        r = 1.0 / (9.0 * a)
        t = 1.0 - r + z * sqrt(r)
        x = a * t * t * t
    if a < 1.0 or x < 0.1 * a:
        x = exp((log(p) + log_gamma_near_1(a)) / a) if p > 0.0 else 0.0
        if a < 1.0 and p > 0.75:
            x = -log(q) - log_gamma(a)
            x = x + (a - 1.0) * log(x) if x > 1.0 else 1.0
    if x < 1e-17 * (a + 1.0):
        return small_quantile(a, p, p_low, x)
    low = 0.0
    high = inf
    for _ in range(40):
        got_p, got_q = incomplete_gamma(a, x)
        got = got_p if lower else got_q
        above = got > small if lower else got < small
        if above:
            high = x
        else:
            low = x
        density = gamma_factor(a, x) * (a / x)
        if got <= 0.0 or density <= 0.0:
            x = 0.5 * (low + high) if high < inf else 2.0 * x
            continue
        ratio = got / small
        # in t = log(got): t' = density / got, Newton with the curvature of the density
        step = got / density * (log(ratio) if ratio < 0.5 or ratio > 2.0 else log1p((got - small) / small))
        step = step if lower else -step
        bend = 0.5 * step * ((a - 1.0) / x - 1.0 + (-density / got if lower else density / got))
        better = x - step / (1.0 - (0.5 if bend > 0.5 else -0.5 if bend < -0.5 else bend))
        if fabs(better - x) <= 4e-16 * x:
            x = better
            break
        if not (better > low and better < high):
            better = 0.5 * (low + high) if high < inf else 2.0 * x
        moved = fabs(better - x)
        x = better
        if moved <= 2e-16 * x or high - low <= 2.3e-16 * x or (fabs(bend) < 3e-6 and moved < 1e-6 * x):
            break
    return small_quantile(a, p, p_low, x) if a < 0.7 and x < 0.7 and (lower or a > 1e-9) else x


@scalar
def small_quantile(a: float, p: float, p_low: float, x: float) -> float:
    """One of Newton's steps from x for the logarithm of P(a, x), by its series, with a sum in two parts for log(x)."""
    if p < 1e-300 or x < 1e-300:
        return x
    e, e_low = log_in_parts(p, p_low)
    g, g_low = log_gamma_parts(a, 0.0)
    e, e_low = plus_parts(e, e_low, g, g_low)
    g, g_low = log_in_parts(a, 0.0)
    e, e_low = plus_parts(e, e_low, g, g_low)
    term = a
    rest = 0.0
    for k in range(1, 30):
        term = term * (-x / float(k))
        rest = rest + term / (a + float(k))
        if fabs(term) < 1e-18 * a:
            break
    e, e_low = plus_parts(e, e_low, -log1p(rest), 0.0)
    e, e_low = divided_parts(e, e_low, a, 0.0)
    g, g_low = log_in_parts(x, 0.0)
    e, e_low = plus_parts(e, e_low, -g, -g_low)
    return x + x * (expm1(e * (1.0 + rest) * exp(x)))


@scalar
def gammaincinv(a: float, p: float) -> float:
    """The inverse of `gammainc` by x, in at most 40 steps; as accurate as p lets it be, and within 8 ulp of that."""
    if a != a or p != p or a < 0.0 or p < 0.0 or p > 1.0:
        return nan
    if p == 0.0 or p == 1.0:
        return inf if p == 1.0 else 0.0
    if a == 0.0 or a == inf:
        return nan
    return gamma_quantile(a, p, 0.0, 1.0 - p)


@scalar
def gammainccinv(a: float, q: float) -> float:
    """The inverse of `gammaincc` by x, in at most 40 steps; as accurate as q lets it be, and within 8 ulp of that."""
    if a != a or q != q or a < 0.0 or q < 0.0 or q > 1.0:
        return nan
    if q == 0.0 or q == 1.0:
        return inf if q == 0.0 else 0.0
    if a == 0.0 or a == inf:
        return nan
    p, p_low = two_sum(1.0, -q)
    return gamma_quantile(a, p, p_low, q)


ZETA_TAIL = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07, 2.08767569878681e-08,
    -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
    -2.174868698558062e-16,
)  # fmt: skip


@scalar
def hurwitz_zeta(s: float, q: float) -> float:
    """The sum of (q + k)**-s for k = 0, 1, ..., s > 1, by Euler and Maclaurin's formula (DLMF 25.11.5)."""
    total = 0.0
    end = q
    while end < 9.0 + s:
        term = power(end, -s)
        total = total + term
        end = end + 1.0
        if term <= 1e-18 * total:  # all terms may be 0
            return total
    last = power(end, -s)
    if last <= 1e-18 * total:
        return total
    series = 0.5
    factor = s / end
    for k in range(10):
        series = series + ZETA_TAIL[k] * factor
        factor = factor * ((s + float(2 * k + 1)) / end * ((s + float(2 * k + 2)) / end))
    return total + last * (end / (s - 1.0) + series)


@scalar
def zeta(s: float, q: float) -> float:
    """Hurwitz' zeta function, within 8 ulp for q > 0; infinite at s = 1 and at the poles q = 0, -1, ...; NaN for s < 1.

    For a negative q that is no integer, s must be an integer.
    """
    if s != s or q != q or s < 1.0:
        return nan
    if s == 1.0:
        return inf
    if q == inf:
        return 0.0
    if q <= 0.0:
        if q == floor(q):
            return inf
        if s != floor(s):
            return nan
        total = 0.0
        while q < 0.0 and q > -1e6:
            total = total + power(q, -s)
            q = q + 1.0
        return nan if q < 0.0 else total + hurwitz_zeta(s, q)
    if s == inf:
        return inf if q < 1.0 else 1.0 if q == 1.0 else 0.0
    if q > 1e8:
        return (1.0 / (s - 1.0) + 1.0 / (2.0 * q)) * power(q, 1.0 - s)
    return hurwitz_zeta(s, q)
