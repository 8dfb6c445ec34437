"""Bessel functions of orders 0 and 1: polynomials in x**2 below 5; beyond, the modulus and phase of Hankel's expansion
(DLMF 10.17.3), whose two sums are polynomials in (5 / x)**2.  All are fits in Chebyshev's nodes.
"""

from __future__ import annotations

import math

from .scalars import copysign, cos, fabs, fma, inf, log, nan, polynomial, scalar, sin, sqrt

TWO_OVER_PI, PER_PI = 2 / math.pi, 1 / math.pi
J0_TINY = (
    0.25, -0.015625, 0.00043402777777777775, -6.781684027777777e-06,
    6.781684027777778e-08, -4.709502797067901e-10, 2.4028075495244395e-12,
)  # fmt: skip
"""(1 - J0(x)) / x**2 for x < 1/2."""
J0_ROOT, J0_ROOT_LOW = 2.404825557695773, -1.176691651530894e-16
J0_SMALL = (
    0.009241738561444274, 0.027319599023808316, 0.015877553382017205, 0.004147891055517121,
    0.0006270771221308684, 6.230567197439766e-05, 4.397177102953175e-06, 2.3234861162735774e-07,
    9.550656765235197e-09, 3.144063277699174e-10, 8.480544397993586e-12, 1.9130567846398494e-13,
    3.56103500945819e-15, 7.288770764962117e-17,
)  # fmt: skip
"""J0(x) / ((root - x) (root + x)) in 2 - 0.08 x**2, accurate near the root: no number is negative, and none cancels."""
J1_ROOT, J1_ROOT_LOW = 3.8317059702075125, -1.5269184090088067e-16
J1_SMALL = (
    0.006349645387302815, 0.006564168982534153, 0.002427520956719515, 0.0004722951437021117,
    5.7256212780635656e-05, 4.763927264096386e-06, 2.8972697098458676e-07, 1.3464964361180335e-08,
    4.943277545467657e-10, 1.4709304024032123e-11, 3.6210597915235833e-13, 7.511420062433913e-15,
    1.2993428074210435e-16, 2.4376394655730374e-18,
)  # fmt: skip
"""J1(x) / (x (root - x) (root + x)): accurate near the root."""
Y0_SMALL = (
    0.4837248578102995, -0.4326558222855125, -0.47057636552972876, 0.38851639956570944, -0.11151682184328655,
    0.01763534538933876, -0.0018028096665503853, 0.0001299462909208217, -6.985504374077061e-06,
    2.9142206889637085e-07, -9.7209552080454e-09, 2.6539975248625817e-10, -6.04993694723965e-12,
    1.166603953074689e-13,
)  # fmt: skip
Y1_SMALL = (
    0.13974939033568806, 0.09108650838448443, -0.16312020358118715, 0.06634695354779145, -0.013433433740818165,
    0.0016688031328605528, -0.00014141835794484212, 8.733098315276175e-06, -4.1137780795312436e-07,
    1.528888444673751e-08, -4.6013010745475043e-10, 1.1462847037754036e-11, -2.397782341669183e-13,
)  # fmt: skip
P0_LARGE = (
    0.9986347659091991, -0.0013274931272004003, 3.4917305812543486e-05, -2.4599633214848925e-06,
    2.9759005474713287e-07, -5.086432308382258e-08, 1.1058787126362648e-08, -2.870543615031641e-09,
    8.537333906661686e-10, -2.8517945760395986e-10, 1.044608382453695e-10, -3.5386629939653827e-11,
    1.2588006322523595e-11, -1.3637307136703489e-11, 8.357587522430947e-12, 3.4153110918194824e-12,
    -2.839576558484915e-12, -2.2353910475114615e-12, 1.4342139740294355e-12,
)  # fmt: skip
Q0_LARGE = (
    -0.02472299270522373, 0.0002628427945821562, -1.267743088547866e-05, 1.2478226277673468e-06,
    -1.8819749133926998e-07, 3.774069895573567e-08, -9.27975483684983e-09, 2.658540550702486e-09,
    -8.578708649436783e-10, 3.08706377162459e-10, -1.2085876021358071e-10, 4.013333473270371e-11,
    -1.3714126837979896e-11, 2.0816012074671352e-11, -1.368314927104191e-11, -6.490289936030231e-12,
    5.3707209710753876e-12, 3.771948989767533e-12, -2.5016141110158617e-12,
)  # fmt: skip
P1_LARGE = (
    1.0022906462560661, 0.002241463213917191, -4.5782806531265707e-05, 2.9786211051441756e-06,
    -3.4667186514155213e-07, 5.7916678422122666e-08, -1.2403215218988347e-08, 3.1849577587866337e-09,
    -9.395751421706208e-10, 3.117737070269331e-10, -1.1357642973239599e-10, 3.845189392332176e-11,
    -1.3682032608032016e-11, 1.4551592044681228e-11, -8.878739110202515e-12, -3.590673371459724e-12,
    2.9881346932030145e-12, 2.368522416529621e-12, -1.516811359066949e-12,
)  # fmt: skip
Q1_LARGE = (
    0.07460948663481604, -0.000372969924368375, 1.5796188356370898e-05, -1.4739855830598578e-06,
    2.1597706285595532e-07, -4.253359083626924e-08, 1.032848917830296e-08, -2.9320290650032303e-09,
    9.394983433635254e-10, -3.3605321616787086e-10, 1.3090041015129154e-10, -4.353565558572446e-11,
    1.4924186651046193e-11, -2.2138165257481677e-11, 1.4495059575486866e-11, 6.82364780367109e-12,
    -5.647772869146084e-12, -3.989366179856594e-12, 2.641227389248795e-12,
)  # fmt: skip


@scalar
def near_or_wave_of_01(x: float, near: float, is_1: int, is_y: int) -> float:
    """`near`, or J or Y of order 0 or 1 for x from 5 to below infinity.

    Both sides read the sine and the cosine: a call for one side alone would become a branch, and no loop of vectors.
    """
    is_far = 5.0 <= x < inf
    b = x if is_far else 5.0
    z = 5.0 / b
    u = 2.0 * z * z - 1.0
    p0 = polynomial(P0_LARGE, u)
    q0 = polynomial(Q0_LARGE, u)
    p1 = polynomial(P1_LARGE, u)
    q1 = polynomial(Q1_LARGE, u)
    p = p1 if is_1 else p0
    q = z * (q1 if is_1 else q0)
    angle = x if is_far else 0.0
    c = cos(angle)
    s = sin(angle)
    # cosine and sine of x - pi / 4, or of x - 3 pi / 4, times sqrt(2); each is 1 or -1 for an angle of 0
    cosine = s - c if is_1 else c + s
    sine = -(c + s) if is_1 else s - c
    kept = -near if is_1 else near
    of_sine = (p if is_far else 0.0) if is_y else -(q if is_far else 0.0)
    of_cosine = (q if is_far else kept) if is_y else p if is_far else kept
    return (sqrt(PER_PI / b) if is_far else 1.0) * (of_sine * sine + of_cosine * cosine)


@scalar
def j_of_01(x: float, is_1: int) -> float:
    """J of order 0 or 1, for x >= 0."""
    a = x if x < 5.0 else 5.0
    t = a * a
    v = fma(-0.08, t, 2.0)  # a rounded product would cost 10 ulp near 5
    rest0 = polynomial(J0_SMALL, v)
    rest1 = polynomial(J1_SMALL, v)
    half = ((J1_ROOT - a) + J1_ROOT_LOW) * (J1_ROOT + a) * rest1  # J1(a) / a
    first_terms = polynomial(J0_TINY, t)
    root_part = ((J0_ROOT - a) + J0_ROOT_LOW) * (J0_ROOT + a) * rest0
    whole = 1.0 - t * first_terms if a < 0.5 else root_part
    near = a * half if is_1 else whole
    return near_or_wave_of_01(x, near if x < 5.0 else nan, is_1, 0)


@scalar
def y_of_01(x: float, is_1: int) -> float:
    """Y of order 0 or 1."""
    a = x if x < 5.0 else 5.0
    t = a * a
    v = fma(-0.08, t, 2.0)  # a rounded product would cost 10 ulp near 5
    u = fma(0.08, t, -1.0)
    rest0 = polynomial(J0_SMALL, v)
    rest1 = polynomial(J1_SMALL, v)
    more0 = polynomial(Y0_SMALL, u)
    more1 = polynomial(Y1_SMALL, u)
    logarithm = TWO_OVER_PI * log(a)
    half = ((J1_ROOT - a) + J1_ROOT_LOW) * (J1_ROOT + a) * rest1  # J1(a) / a
    first = a * (logarithm * half + more1) - TWO_OVER_PI / a
    first_terms = polynomial(J0_TINY, t)
    root_part = ((J0_ROOT - a) + J0_ROOT_LOW) * (J0_ROOT + a) * rest0
    whole = 1.0 - t * first_terms if a < 0.5 else root_part
    near = first if is_1 else logarithm * whole + more0
    return near_or_wave_of_01(x, -inf if x == 0.0 else near if 0.0 < x < 5.0 else nan, is_1, 1)


@scalar
def j0(x: float) -> float:
    """The Bessel function of the first kind and order 0, within 8 ulp of the envelope sqrt(2 / (pi x))."""
    return j_of_01(fabs(x), 0)


@scalar
def j1(x: float) -> float:
    """The Bessel function of the first kind and order 1, within 8 ulp of the envelope."""
    return copysign(1.0, x) * j_of_01(fabs(x), 1)


@scalar
def y0(x: float) -> float:
    """The Bessel function of the second kind and order 0, within 8 ulp of the envelope; NaN for x < 0.

    Near its zero below 1 the absolute error is at most 4e-16.
    """
    return y_of_01(x, 0)


@scalar
def y1(x: float) -> float:
    """The Bessel function of the second kind and order 1, within 8 ulp of the envelope; NaN for x < 0."""
    return y_of_01(x, 1)
