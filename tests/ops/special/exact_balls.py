"""Exact values of special functions by Arb's balls (python-flint), at thousands of points a second.

Each function gets balls and gives one.  `value_of` raises the precision until the ball is narrow enough, so a value is
proved to its last bit.  `test_special_campaign.py` holds them against mpmath's.
"""

from flint import acb, arb, ctx

ENOUGH, MOST = 80, 6000
"""Bits of relative accuracy, and the highest precision."""


def by(place, function):
    """The derivative by the operand of this place, by central differences with twice the precision's bits."""

    def slope(*point):
        working = ctx.prec
        step = arb(2) ** -(working // 2)
        ctx.prec = 3 * working
        ends = []
        for sign in (1, -1):
            moved = list(point)
            moved[place] += sign * step
            ends.append(function(*moved))
        difference = (ends[0] - ends[1]) / (2 * step)
        ctx.prec = working
        return difference

    return slope


def real(function):
    """The real part of a function of complex balls."""
    return lambda *point: function(*map(acb, point)).real


def faddeeva(x, y):
    z = acb(x, y)
    return (-z * z).exp() * acb(y, -x).erfc()


def ndtr(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def beta(a, b):
    if (a + b).is_integer() and a + b <= 0:
        return arb(0)
    return a.gamma() * b.gamma() * (a + b).rgamma()


def lower_gamma(a, x):
    return x.gamma_lower(a, 1)


def upper_gamma(a, x):
    return x.gamma_upper(a, 1)


def lower_beta(a, b, x):
    return x.beta_lower(a, b, 1)


def upper_beta(a, b, x):
    return (1 - x).beta_lower(b, a, 1)


def owens_t(h, a):
    found = acb.integral(lambda t, _: (-h * h * (1 + t * t) / 2).exp() / (1 + t * t), 0, a)
    return found.real / (2 * arb.pi())


def vonmises_cdf(k, x):
    found = acb.integral(lambda t, _: (k * (t.cos() - 1)).exp(), -arb.pi(), x)
    return found.real / (2 * arb.pi() * k.bessel_i(0) * (-k).exp())


def struve(v, x):
    half = arb("1.5")
    series = (-x * x / 4).hypgeom([arb(1)], [half, v + half])
    return (x / 2) ** (v + 1) / (half.gamma() * (v + half).gamma()) * series


def digamma(x):
    return x.digamma()


EXACT = {
    "xlogy": lambda x, y: x * y.log(), "xlog1py": lambda x, y: x * (1 + y).log(),
    "logit": lambda p: (p / (1 - p)).log(),
    "expit": lambda x: 1 / (1 + (-x).exp()), "log_expit": lambda x: -(1 + (-x).exp()).log(),
    "exprel": lambda x: x.expm1() / x, "entr": lambda x: -x * x.log(), "rel_entr": lambda x, y: x * (x / y).log(),
    "kl_div": lambda x, y: x * (x / y).log() - x + y,
    "huber": lambda d, x: x * x / 2 if x <= d else d * (x - d / 2),
    "pseudo_huber": lambda d, x: d * d * ((1 + (x / d) ** 2).sqrt() - 1),
    "erf": lambda x: x.erf(), "erfc": lambda x: x.erfc(), "erfcx": lambda x: (x * x).exp() * x.erfc(), "ndtr": ndtr,
    "log_ndtr": lambda x: ndtr(x).log(), "erfinv": lambda p: p.erfinv(), "erfcinv": lambda p: (1 - p).erfinv(),
    "ndtri": lambda p: arb(2).sqrt() * (2 * p - 1).erfinv(),
    "ndtri_exp": lambda y: arb(2).sqrt() * (2 * y.exp() - 1).erfinv(),
    "dawsn": lambda x: (-x * x).exp() * x.erfi() * arb.pi().sqrt() / 2,
    "voigt_real": lambda x, y: faddeeva(x, y).real, "voigt_imag": lambda x, y: faddeeva(x, y).imag,
    "gamma": lambda x: x.gamma(), "gammaln": lambda x: x.lgamma(), "digamma": digamma,
    "gammainc": lower_gamma, "gammaincc": upper_gamma, "gammaincinv": lower_gamma, "gammainccinv": upper_gamma,
    "gammainc_by_a": by(0, lower_gamma), "zeta": lambda s, a: s.zeta(a),
    "betaln": lambda a, b: abs(beta(a, b)).log(), "beta": beta, "betainc": lower_beta, "betaincc": upper_beta,
    "betaincinv": lower_beta, "betainccinv": upper_beta, "betainc_by_a": by(0, lower_beta),
    "betainc_by_b": by(1, lower_beta),
    "i0": lambda x: x.bessel_i(0), "i1": lambda x: x.bessel_i(1), "i0e": lambda x: x.bessel_i(0) * (-abs(x)).exp(),
    "i1e": lambda x: x.bessel_i(1) * (-abs(x)).exp(), "k0": lambda x: x.bessel_k(0), "k1": lambda x: x.bessel_k(1),
    "k0e": lambda x: x.bessel_k(0, True), "k1e": lambda x: x.bessel_k(1, True),
    "kv": lambda v, x: x.bessel_k(v), "kve": lambda v, x: x.bessel_k(v, True),
    "kv_by_order": by(0, lambda v, x: x.bessel_k(v)), "kve_by_order": by(0, lambda v, x: x.bessel_k(v, True)),
    "iv": lambda v, x: x.bessel_i(v), "ive": lambda v, x: x.bessel_i(v) * (-x).exp(),
    "iv_by_order": by(0, lambda v, x: x.bessel_i(v)),
    "j0": lambda x: x.bessel_j(0), "j1": lambda x: x.bessel_j(1), "y0": lambda x: x.bessel_y(0),
    "y1": lambda x: x.bessel_y(1), "jv": lambda v, x: x.bessel_j(v), "yv": lambda v, x: x.bessel_y(v),
    "airyai": lambda x: x.airy()[0], "airyaip": lambda x: x.airy()[1], "airybi": lambda x: x.airy()[2],
    "airybip": lambda x: x.airy()[3], "exp1": lambda x: x.expint(1), "expi": lambda x: x.ei(),
    "ellipk": real(lambda m: m.elliptic_k()), "ellipkm1": real(lambda p: (1 - p).elliptic_k()),
    "ellipe": real(lambda m: m.elliptic_e()), "fresnel_s": lambda x: x.fresnel_s(),
    "fresnel_c": lambda x: x.fresnel_c(),
    "spence": real(lambda x: (1 - x).polylog(2)), "lambertw_0": lambda x: x.lambertw(),
    "lambertw_1": lambda x: x.lambertw(-1), "struve": struve, "owens_t": owens_t,
    "hyp1f1": lambda a, b, x: x.hypgeom_1f1(a, b), "hyp2f1": lambda a, b, c, x: x.hypgeom_2f1(a, b, c),
    "vonmises_cdf": vonmises_cdf, "vonmises_quantile": vonmises_cdf,
}  # fmt: skip
"""The function of each name; of an inverse, the function that it inverts."""


def value_of(function, point):
    """Return the ball of a value, narrow to ENOUGH bits; None where no precision up to MOST gives that."""
    ctx.prec = 120
    while ctx.prec <= MOST:
        found = function(*map(arb, point))
        if found.rel_accuracy_bits() >= ENOUGH or found.is_exact():
            return found
        ctx.prec *= 2
    return None


def inverse_error(function, point, got):
    """Return got less the exact quantile, as a number: point ends by the probability."""
    *others, target = map(arb, point)
    ctx.prec = 240
    step = abs(arb(got)) * arb(2) ** -60
    slope = (function(*others, got + step) - function(*others, got - step)) / (2 * step)
    return float(((function(*others, arb(got)) - target) / slope).mid())
