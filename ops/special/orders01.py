"""Modified Bessel functions of orders 0 and 1, by Chebyshev fits and the power series (DLMF 10.25.2)."""

from __future__ import annotations

from .scalars import exp, fabs, inf, log, nan, polynomial, scalar, sqrt

I0_SMALL = (
    1.0, 0.25, 0.015625, 0.00043402777777777775, 6.781684027777777e-06, 6.781684027777778e-08, 4.709502797067901e-10,
    2.4028075495244395e-12, 9.385966990329842e-15, 2.896903392077112e-17, 7.242258480192779e-20,
    1.4963343967340453e-22, 2.5978027721077174e-25, 3.842903509035085e-28, 4.9016626390753635e-31,
    5.4462918211948485e-34, 5.318644356635594e-37, 4.60090342269515e-40, 3.5500798014623073e-43,
    2.458504017633177e-46, 1.5365650110207356e-49, 8.71068600351891e-53, 4.499321282809354e-56,
    2.1263333094562166e-59, 9.228877211181495e-63, 3.691550884472598e-66,
)  # fmt: skip
I1_SMALL = (
    0.5, 0.0625, 0.0026041666666666665, 5.425347222222222e-05, 6.781684027777778e-07, 5.651403356481481e-09,
    3.363930569334215e-11, 1.5017547184527747e-13, 5.214426105738801e-16, 1.4484516960385557e-18,
    3.2919356728148996e-21, 6.234726653058522e-24, 9.991549123491221e-27, 1.3724655389411017e-29,
    1.6338875463584545e-32, 1.7019661941233902e-35, 1.564307163716351e-38, 1.2780287285264307e-41,
    9.342315267006072e-45, 6.146260044082942e-48, 3.658488121477942e-51, 1.9797013644361157e-54,
    9.781133223498595e-58, 4.4298610613671176e-61, 1.845775442236299e-64, 7.099136316293458e-68,
)  # fmt: skip
I0_LARGE = (
    0.4021765094450081, 0.003360551983667854, 0.00013621607439232746, 1.1143033791556743e-05, 1.4838475473607391e-06,
    2.973598432479169e-07, 8.87225351128584e-08, 3.932602459703109e-08, 2.1545177650836e-08, 7.553516470355897e-09,
    -6.729724111923533e-09, -1.3404241991980871e-08, -5.468597449586652e-09, 7.540601378890835e-09,
    7.58022133915284e-09, -3.4857887470034963e-09, -6.18826509049755e-09, 1.49788083018709e-09, 3.881151253996262e-09,
    -5.562201990080374e-10, -1.7789375042918455e-09, 1.4672236659214272e-10, 5.181936971288769e-10,
    -1.921676372493321e-11, -7.068938511819583e-11,
)  # fmt: skip
I1_LARGE = (
    0.38939845902587233, -0.009749577193235728, -0.00021923576383430274, -1.5038547201176271e-05,
    -1.8349101134666435e-06, -3.483855609009937e-07, -1.0001323461066435e-07, -4.312935369971356e-08,
    -2.3370596271118572e-08, -8.426622829598154e-09, 6.715795128085032e-09, 1.4029693589852716e-08,
    6.040877342160937e-09, -7.630751970065577e-09, -8.044231276166389e-09, 3.4066361301967938e-09,
    6.487019571981502e-09, -1.417169801866461e-09, -4.047785403711665e-09, 5.146498826087163e-10,
    1.8513716745510714e-09, -1.3422663200822352e-10, -5.388285995923042e-10, 1.750249777870161e-11,
    7.347992441733867e-11,
)  # fmt: skip
K0_SMALL = (
    -0.5772156649015329, 0.10569608377461678, 0.014418505235913549, 0.0005451899602568561, 1.0214014135961433e-05,
    1.1570350941095384e-07, 8.819883094824484e-10, 4.8431971437706104e-12, 2.009241432611255e-14,
    6.515238891874871e-17, 1.785441437125559e-19,
)  # fmt: skip
K1_SMALL = (
    0.03860783245076643, -0.042049020943654196, -0.002837111983763369, -7.493042905988493e-05, -1.089218253873714e-06,
    -1.0112909397458008e-08, -6.54019724239452e-11, -3.1208581714929136e-13, -1.1452086384884125e-15,
    -3.3306498162274285e-18, -8.239352467816068e-21,
)  # fmt: skip
I0_TINY = (
    1.5660829297563506, 0.6358617281560686, 0.07358986836105334, 0.0039285651056368085, 0.0001198206858163441,
    2.357578987893687e-06, 3.2362273523765516e-08, 3.273247845333528e-10, 2.5398791969620098e-12,
    1.5591642386234185e-14,
)  # fmt: skip
I1_TINY = (
    0.6358617281560686, 0.14717973672210669, 0.011785695316910426, 0.00047928274326549763, 1.1787894939468833e-05,
    1.9417364085156952e-07, 2.2912734906951697e-09, 2.031922759155545e-11, 1.4032550029959829e-13,
)  # fmt: skip
K0_LARGE = (
    1.2185953385133905, -0.031071461824889863, 0.003032891810274143, -0.00047976905673534966, 9.95605474680701e-05,
    -2.4735205374482363e-05, 7.002244891192467e-06, -2.191167925216506e-06, 7.427862249156294e-07,
    -2.6897300718519323e-07, 1.0292557328065748e-07, -4.106658027115221e-08, 1.7131856006789036e-08,
    -8.00485151596186e-09, 3.6497041967458467e-09, -6.909445532095304e-10, 2.3928247577457486e-10,
    -1.2154646925329187e-09, 6.696909677352932e-10, 4.2978228319359795e-10, -2.51158362375069e-10,
    -1.7415792636713528e-10, 9.815402008859319e-11,
)  # fmt: skip
K1_LARGE = (
    1.363151890371342, 0.1033497377538656, -0.005566729880073309, 0.0007357241548745106, -0.0001395902196146278,
    3.2843866443823695e-05, -8.961206568008175e-06, 2.7300306911646126e-06, -9.067153917791994e-07,
    3.230534911986308e-07, -1.2200063909110853e-07, 4.8165011477502914e-08, -1.9909169125421374e-08,
    9.191838293612965e-09, -4.15956404449569e-09, 8.25400261129893e-10, -2.915889725458319e-10,
    1.3385849977465337e-09, -7.347807544195079e-10, -4.671582670762352e-10, 2.726040099521524e-10,
    1.907689965057657e-10, -1.072439157270545e-10,
)  # fmt: skip


@scalar
def i_of_01(x: float, is_1: int, is_scaled: int) -> float:
    """The modified Bessel function of the first kind and order 0 or 1, or that times exp(-|x|)."""
    a = fabs(x)
    y = a * a
    u = 16.0 / (a if a > 8.0 else 8.0) - 1.0
    small0 = polynomial(I0_SMALL, y)
    small1 = polynomial(I1_SMALL, y)
    large0 = polynomial(I0_LARGE, u)
    large1 = polynomial(I1_LARGE, u)
    small = a * small1 if is_1 else small0
    large = (large1 if is_1 else large0) / sqrt(a)
    half = exp(0.5 * a)
    near = exp(a if a < 100.0 else 100.0)
    grown = near * large if a < 100.0 else half * large * half
    scaled_size = 0.0 if a == inf else small * exp(-a) if a <= 8.0 else large
    size = scaled_size if is_scaled else inf if a > 800.0 else small if a <= 8.0 else grown
    return x if x != x else -size if is_1 and x < 0.0 else size


@scalar
def k_of_01(x: float, is_1: int, is_scaled: int) -> float:
    """The modified Bessel function of the second kind and order 0 or 1, or that times exp(x)."""
    a = x if x < 2.0 else 2.0
    y = a * a
    u = 4.0 / (x if x > 2.0 else 2.0) - 1.0
    w = 0.5 * y - 1.0
    i0_ = polynomial(I0_TINY, w)
    i1_ = polynomial(I1_TINY, w)
    rest0 = polynomial(K0_SMALL, y)
    rest1 = polynomial(K1_SMALL, y)
    large0 = polynomial(K0_LARGE, u)
    large1 = polynomial(K1_LARGE, u)
    logarithm = log(0.5 * a)
    small = 1.0 / a + a * (logarithm * i1_ + rest1) if is_1 else rest0 - logarithm * i0_
    large = (large1 if is_1 else large0) / sqrt(x)
    small = small * exp(a) if is_scaled else small
    large = large if is_scaled else exp(-x) * large
    return x if x != x else nan if x < 0.0 else inf if x == 0.0 else small if x <= 2.0 else large


@scalar
def i0e(x: float) -> float:
    """exp(-|x|) times the modified Bessel function of the first kind and order 0, within 8 ulp."""
    return i_of_01(x, 0, 1)


@scalar
def i1e(x: float) -> float:
    """exp(-|x|) times the modified Bessel function of the first kind and order 1, within 8 ulp."""
    return i_of_01(x, 1, 1)


@scalar
def i0(x: float) -> float:
    """The modified Bessel function of the first kind and order 0, within 8 ulp."""
    return i_of_01(x, 0, 0)


@scalar
def i1(x: float) -> float:
    """The modified Bessel function of the first kind and order 1, within 8 ulp."""
    return i_of_01(x, 1, 0)


@scalar
def k0e(x: float) -> float:
    """exp(x) times the modified Bessel function of the second kind and order 0, within 8 ulp; NaN for x < 0."""
    return k_of_01(x, 0, 1)


@scalar
def k1e(x: float) -> float:
    """exp(x) times the modified Bessel function of the second kind and order 1, within 8 ulp; NaN for x < 0."""
    return k_of_01(x, 1, 1)


@scalar
def k0(x: float) -> float:
    """The modified Bessel function of the second kind and order 0, within 8 ulp; NaN for x < 0."""
    return k_of_01(x, 0, 0)


@scalar
def k1(x: float) -> float:
    """The modified Bessel function of the second kind and order 1, within 8 ulp; NaN for x < 0."""
    return k_of_01(x, 1, 0)
