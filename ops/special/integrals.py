"""Exponential, elliptic and Fresnel integrals, the dilogarithm, Lambert's W, Struve's and Owen's functions.

DLMF 6.2 and 6.12 (exponential integrals, with Chebyshev fits beyond the series), 19.12 (elliptic
integrals: fits of both factors), 7.3 (Fresnel), 25.12 (dilogarithm), 4.13 (W), 11.5
(Struve); D. B. Owen, "Tables for computing bivariate normal probabilities", 1956.
"""

from __future__ import annotations

import math

from .errors import half_gaussian, ndtr
from .oscillating import bessel_y
from .parts import (
    divided_parts,
    exp_times,
    log_gamma_parts,
    log_in_parts,
    plus_parts,
    times_parts,
    two_product,
    two_sum,
)
from .scalars import (
    EULER,
    copysign,
    cos,
    exp,
    fabs,
    floor,
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

PI, TWO_OVER_ROOT_PI = math.pi, 1.1283791670955126
HALF_PI_LOW = 6.123233995736766e-17
HALF_PI, PI_SQUARED_6 = math.pi / 2, math.pi**2 / 6
EIN_SERIES = (
    -0.24999999999999972, 0.0555555555555419, -0.010416666666411159, 0.0016666666641944308,
    -0.00023148146734802626, 2.834461988152292e-05, -3.100075392102485e-06, 3.059948236214403e-07,
    -2.734600022984367e-08, 2.1319070629865444e-09, -1.1414417031142626e-10,
)  # fmt: skip
E1_MIDDLE = (
    0.683980760479085, -0.10700998634737233, 0.024557244273138646, -0.006733165717187066, 0.0020553278214129208,
    -0.0006752252618737013, 0.00023418548386195239, -8.471118777111267e-05, 3.169699680763708e-05,
    -1.2196648575064006e-05, 4.8052666335680186e-06, -1.93218731956809e-06, 7.906760716256257e-07,
    -3.2786788013037613e-07, 1.381268315508876e-07, -6.055154995442085e-08, 2.618282619944007e-08,
    -9.032513026040907e-09, 3.9101926402767146e-09, -4.069731165527658e-09, 1.8638239309605976e-09,
    6.261406126480401e-10, -3.0125940679576195e-10, -3.9488211928613736e-10, 1.8428252852555367e-10,
)  # fmt: skip
E1_LARGE = (
    0.8982371140279944, -0.08413402625195043, 0.013618587371730224, -0.0029245277761998693, 0.0007530386319440904,
    -0.0002207091275440939, 7.138004419760482e-05, -2.496088248958477e-05, 9.30499400506316e-06,
    -3.6597314200453687e-06, 1.5068255109151614e-06, -6.456718965339343e-07, 2.864347726007514e-07,
    -1.3035292138806648e-07, 6.120309908654327e-08, -3.1707253971137024e-08, 1.5912376388207304e-08,
    -3.0619060289951994e-09, 1.0673043327858205e-09, -8.508775800934274e-09, 5.160219996201496e-09,
    6.2648518383578375e-09, -3.985403130668148e-09, -4.911079936860541e-09, 3.071594683606577e-09,
    1.9429455329331266e-09, -1.2198786334478237e-09, -4.222480172140486e-10, 2.626439490304101e-10,
)  # fmt: skip
EI_MIDDLE = (
    1.139236185366528, 0.11845871649128507, 0.029485745286768526, -0.0013032062941381532, -0.00846940168209381,
    -0.000234473505707078, 0.0025736467946030858, -0.0006776824438741107, -0.0005362373482252699,
    0.0004814028953491159, -9.777023925799667e-05, -9.676074820179463e-05, 9.709248572432358e-05,
    -3.682366357624342e-05, -4.9866844103689845e-06, 1.6120694455606984e-05, -1.1298707309056942e-05,
    4.198043549680405e-06, 4.235039136466177e-07, -2.4429141026422166e-06, 1.7185869889649662e-06,
    2.1525888816771056e-07, -3.4323732880457493e-07, -7.006749219430973e-07, 2.944333621468597e-07,
    6.421351504295277e-07, -3.561752142221621e-07, -2.0338633652862187e-07, 1.4372095001592731e-07,
    2.2294474310558337e-08, -1.9797731502316385e-08,
)  # fmt: skip
EI_LARGE = (
    1.0217607036601566, 0.022753072027361203, 0.0010637687855469507, 7.863790795929546e-05, 8.211967491388118e-06,
    1.1430194549158816e-06, 2.0531270010781703e-07, 4.68389469607205e-08, 1.3569966703857373e-08,
    5.068685889975313e-09, 2.450505025930036e-09, 1.5433693301190873e-09, 1.069727839977493e-09,
    1.4919915273103388e-10, -9.52255633070465e-10, -8.548955845121416e-10, 1.9799623786585113e-10,
    4.852413449606123e-10, 8.120599489698332e-12, -1.415893024985001e-10, -7.468941889016406e-12,
    1.8753708030502096e-11,
)  # fmt: skip
FRESNEL_F = (
    0.9895994512842753, -0.018910062436526265, -0.0063734698198719296, 0.002055427817110068, -0.00027030432855066494,
    -7.900696226642948e-05, 7.476102432077869e-05, -3.269764911668799e-05, 8.544054334316892e-06,
    3.3645961554327594e-07, -2.1488812645452754e-06, 1.691803165776052e-06, -9.126135298321021e-07,
    3.6075654697282647e-07, -7.03735647080812e-08, -4.18649305495444e-08, 5.363680712755387e-08,
    -4.069797204489372e-08, 4.8403473291758085e-08, -3.930142972808026e-08, -1.2568613254911314e-08,
    3.146023818925687e-08, 1.181654695373886e-08, -2.8705410422683648e-08, -4.417060029666564e-09,
    1.8722603315545807e-08, -3.601047968336738e-09, -4.213556584326335e-09, 1.571816385293702e-09,
)  # fmt: skip
FRESNEL_G = (
    0.9517793264112228, -0.08222406658906685, -0.019534782196707127, 0.012225560091462077, -0.003222808579109757,
    2.8055700890452893e-05, 0.0005141262161440117, -0.0003537597129593138, 0.00015130534253075288,
    -3.658697648848609e-05, -7.907733480219789e-06, 1.7025512091816943e-05, -1.3433163747236695e-05,
    7.68401074627504e-06, -3.2948241055224096e-06, 7.078439337408938e-07, 3.4659322651621214e-07,
    -3.1427942831034284e-07, 4.3445613348085837e-07, -1.2214702314163993e-06, 5.89475414929877e-07,
    1.5750169363467192e-06, -7.381984409812559e-07, -2.528431531707432e-06, 1.1931943358837344e-06,
    2.8412920214404635e-06, -1.4392305792203605e-06, -2.2241909443911776e-06, 1.1816800284454383e-06,
    1.207215579285309e-06, -6.799985933143517e-07, -3.8978212392570554e-07, 2.3563298998307545e-07,
    5.449361050404035e-08, -3.533276583193889e-08,
)  # fmt: skip


EI_SLOPE = (
    1.2117053830864597, 0.3216900454331978, 0.0736491178369258, 0.014058457874600975, 0.0022764039044718323,
    0.00031888587136831017, 3.9299458146496575e-05, 4.320007766390822e-06, 4.283877949222866e-07,
    3.868228477723948e-08, 3.2056971517296526e-09, 2.454516516119882e-10, 1.746345479752011e-11,
    1.1603046814195214e-12, 7.230669961672798e-14,
)  # fmt: skip
EI_ROOT, EI_ROOT_LOW = 0.3725074107813666, 1.3140183414386028e-17


@scalar
def exp1(x: float) -> float:
    """The integral of exp(-t) / t from x to infinity, within 6 ulp; NaN for x < 0."""
    z = 1.0 / (x if x > 1.0 else 1.0)
    small = x if x < 1.0 else 1.0
    u = (z - 0.625) / 0.375
    v = 8.0 * z - 1.0
    series = polynomial(EIN_SERIES, small)
    middle = polynomial(E1_MIDDLE, u)
    large = polynomial(E1_LARGE, v)
    near = (small - EULER) - log(small) + small * small * series
    far = exp(-x) * z * (middle if x < 4.0 else large)
    return x if x != x else nan if x < 0.0 else near if x <= 1.0 else 0.0 if x == inf else far


@scalar
def expi(x: float) -> float:
    """The principal value of the integral of exp(t) / t from -inf to x; within 8 ulp."""
    if x != x:
        return x
    if x < 0.0:
        return -exp1(-x)
    if x == 0.0:
        return -inf
    if x > 720.0:
        return inf
    z = 1.0 / x
    if x > 0.2 and x < 0.7:
        # log(x / root) plus the difference of the series from its value there
        d = (x - EI_ROOT) - EI_ROOT_LOW
        series = polynomial(EI_SLOPE, d)
        return log1p(d / EI_ROOT) + d * series
    if x < 6.0:
        term = 1.0
        total = 0.0
        for k in range(1, 60):
            n = float(k)
            term = term * (x / n)
            total = total + term / n
            if term < 1e-18 * total:
                break
        return total + (log(x) + EULER)
    half = exp(0.5 * x)
    if x < 24.0:
        u = (z - 0.10416666666666667) / 0.0625
        middle = polynomial(EI_MIDDLE, u)
        return exp(x) * (z * middle)
    v = 48.0 * z - 1.0
    large = polynomial(EI_LARGE, v)
    return half * (z * large) * half if x > 600.0 else exp(x) * (z * large)


K_REGULAR = (
    1.4126425650163983, 0.028876927342018126, 0.002912281267787132, 0.0004557101547048516, 8.751988228790086e-05,
    1.891487704973597e-05, 4.413518672310416e-06, 1.08664741496087e-06, 2.783759467633565e-07, 7.35243111653928e-08,
    1.9894780276022587e-08, 5.490343870433589e-09, 1.5399586484323872e-09, 4.3740076220761863e-10,
    1.258290752839908e-10, 3.7199487229590434e-11, 1.0912909836861736e-11, 2.7221986487703208e-12,
    8.065419139157916e-13, 4.644790441716973e-13, 1.4044752484574473e-13,
)  # fmt: skip
K_LOGARITHM = (
    0.5365910035746821, 0.04310965076855692, 0.007988074892759435, 0.0018384508381783684, 0.0004675931386830561,
    0.00012596737212419734, 3.5226582766655534e-05, 1.0112691245249148e-05, 2.959996663144218e-06,
    8.794391187023611e-07, 2.644077450624727e-07, 8.027311912677091e-08, 2.456423116973513e-08,
    7.553295948506194e-09, 2.340292803640313e-09, 7.473489000076973e-10, 2.338406620795768e-10,
    5.86561952294507e-11, 1.8427381854972387e-11, 1.2380447463074687e-11, 3.9324980997481435e-12,
)  # fmt: skip
K_NEAR_0 = (
    1.685750354812596, -0.13543296215332, 0.025095277399418116, -0.005775663647207161, 0.0014689871693556824,
    -0.00039573817085739006, 0.00011066757363079783, -3.176995652409654e-05, 9.299103771584177e-06,
    -2.76283947459482e-06, 8.306614294405071e-07, -2.521854413294018e-07, 7.71708081839213e-08,
    -2.3729379062216607e-08, 7.352246679165468e-09, -2.3478658139325947e-09, 7.346321060997718e-10,
    -1.84273872020371e-10, 5.7891327460475114e-11, -3.889432279814983e-11, 1.2354307140424591e-11,
)  # fmt: skip
E_REGULAR = (
    0.45892702241238265, 0.01761328282649296, 0.002137895359808056, 0.0003647773460061325, 7.36063468184949e-05,
    1.6421213200003686e-05, 3.917066365131119e-06, 9.801308740354525e-07, 2.542067886542138e-07,
    6.779688675994956e-08, 1.8489692571303758e-08, 5.135742567936318e-09, 1.4483399720580455e-09,
    4.132704915377082e-10, 1.1936076942102427e-10, 3.541879081632653e-11, 1.0421891381320494e-11,
    2.602034935475664e-12, 7.728654558649528e-13, 4.4749990988400937e-13, 1.3555451384079358e-13,
)  # fmt: skip
E_LOGARITHM = (
    0.2779330989633405, 0.0334720535925575, 0.006848259376619622, 0.001646920538858243, 0.0004293170832310752,
    0.00011748411370857867, 3.3212560169487835e-05, 9.6105293519121e-06, 2.830115369537988e-06,
    8.448761931344082e-07, 2.549986552407335e-07, 7.76635421375603e-08, 2.3829230285664504e-08,
    7.3437957402906935e-09, 2.2798415858172546e-09, 7.294265778538273e-10, 2.285708379637439e-10,
    5.734075075720336e-11, 1.8036896711216758e-11, 1.2154645137227453e-11, 3.8641284181035435e-12,
)  # fmt: skip
E_NEAR_0 = (
    1.4674622093394272, 0.10914407273658444, -0.00657222235418391, 0.000896435056144503, -0.00016168604580995348,
    3.3718484866264995e-05, -7.689317263139822e-06, 1.863220290601841e-06, -4.7175574412288204e-07,
    1.2348695748122652e-07, -3.317825644037616e-08, 9.10382869845164e-09, -2.5414288753946487e-09,
    7.190046334283335e-10, -2.061404019628444e-10, 6.075170550540198e-11, -1.77773048228501e-11,
    4.4310521830908566e-12, -1.3101384224423703e-12, 7.51175373985111e-13, -2.2680818981198795e-13,
)  # fmt: skip


@scalar
def ellipk(m: float) -> float:
    """The complete elliptic integral of the first kind of the parameter m, within 4 ulp; NaN for m > 1."""
    return ellipkm1(1.0 - m)


@scalar
def ellipkm1(p: float) -> float:
    """ellipk(1 - p), accurate for small p, within 4 ulp; NaN for p < 0."""
    # K(1 - p) = K(1 - 1 / p) / sqrt(p)
    q = 1.0 / p if p > 1.0 else p
    v = 4.0 * (q if q > 0.5 else 0.5) - 3.0
    u = 4.0 * (q if q < 0.5 else 0.5) - 1.0
    near = polynomial(K_NEAR_0, v)
    regular = polynomial(K_REGULAR, u)
    part = polynomial(K_LOGARITHM, u)
    unit = near if q > 0.5 else regular - log(q) * part
    return p if p != p else nan if p < 0.0 else unit / sqrt(p) if p > 1.0 else unit


@scalar
def ellipe(m: float) -> float:
    """The complete elliptic integral of the second kind of the parameter m, within 4 ulp; NaN for m > 1."""
    p = 1.0 - m
    q = 1.0 / p if p > 1.0 else p
    v = 4.0 * (q if q > 0.5 else 0.5) - 3.0
    u = 4.0 * (q if q < 0.5 else 0.5) - 1.0
    near = polynomial(E_NEAR_0, v)
    regular = polynomial(E_REGULAR, u)
    part = polynomial(E_LOGARITHM, u)
    unit = near if q > 0.5 else 1.0 + q * (regular - log(q if q > 0.0 else 1.0) * part)
    return m if m != m else nan if p < 0.0 else unit * sqrt(p) if p > 1.0 else unit


@scalar
def fresnel_auxiliary(x: float, is_s: int) -> float:
    """1/2 - S(x), or 1/2 - C(x), for x >= 1.6: the auxiliary functions, and the angle pi x**2 / 2 in two parts."""
    if x > 1e8:
        return 0.0
    square, low = two_product(x, x)
    z = 1.0 / square
    u = 5.12 * z - 1.0
    f = polynomial(FRESNEL_F, u)
    g = polynomial(FRESNEL_G, u)
    f = f / (PI * x)
    g = g * z / (PI * PI * x)
    turns = square - 4.0 * floor(0.25 * square)
    quarter = rint(turns)
    angle = HALF_PI * ((turns - quarter) + low)
    c = cos(angle)
    s = sin(angle)
    cosine = c if quarter == 0.0 or quarter == 4.0 else -s if quarter == 1.0 else -c if quarter == 2.0 else s
    sine = s if quarter == 0.0 or quarter == 4.0 else c if quarter == 1.0 else -s if quarter == 2.0 else -c
    return f * cosine + g * sine if is_s else g * cosine - f * sine


@scalar
def fresnel_series(x: float, is_s: int) -> float:
    """S(x), or C(x), for 0 <= x < 1.6: the power series, in two parts."""
    angle, angle_low = two_product(x, x)
    angle, angle_low = times_parts(angle, angle_low, HALF_PI, HALF_PI_LOW)
    q, q_low = times_parts(angle, angle_low, -angle, -angle_low)
    start = 3.0 if is_s else 1.0
    term = 1.0
    term_low = 0.0
    total = 1.0 / start
    total_low = 0.0
    if is_s:
        total, total_low = divided_parts(1.0, 0.0, start, 0.0)
    for k in range(1, 30):
        n = float(2 * k)
        f, f_low = divided_parts(q, q_low, n * (n + (1.0 if is_s else -1.0)), 0.0)
        term, term_low = times_parts(term, term_low, f, f_low)
        f, f_low = divided_parts(term, term_low, 4.0 * float(k) + start, 0.0)
        total, total_low = plus_parts(total, total_low, f, f_low)
        if fabs(term) < 1e-18 * fabs(total):
            break
    return x * angle * total if is_s else x * total


@scalar
def fresnel_s(x: float) -> float:
    """Fresnel's integral of sin(pi t**2 / 2) from 0 to x, within 8 ulp."""
    a = fabs(x)
    if a != a:
        return x
    return copysign(fresnel_series(a, 1) if a < 1.6 else 0.5 - fresnel_auxiliary(a, 1), x)


@scalar
def fresnel_c(x: float) -> float:
    """Fresnel's integral of cos(pi t**2 / 2) from 0 to x, within 8 ulp."""
    a = fabs(x)
    if a != a:
        return x
    return copysign(fresnel_series(a, 0) if a < 1.6 else 0.5 - fresnel_auxiliary(a, 0), x)


DILOGARITHM = (
    0.027777777777777776, -0.0002777777777777778, 4.72411186696901e-06, -9.185773074661964e-08, 1.8978869988971e-09,
    -4.0647616451442256e-11, 8.921691020456452e-13, -1.9939295860721074e-14, 4.518980029619918e-16,
    -1.0356517612182471e-17,
)  # fmt: skip
"""B(2k) / (2k + 1)!."""


@scalar
def spence(x: float) -> float:
    """The dilogarithm Li2(1 - x), within 8 ulp; NaN for x < 0."""
    if x != x or x < 0.0:
        return nan
    if x == 0.0:
        return PI_SQUARED_6
    if x == inf:
        return -inf
    if x < 0.5:
        return PI_SQUARED_6 - log(x) * log1p(-x) - spence_near_1(1.0 - x, -log1p(-x))
    if x > 2.0:
        logarithm = log(x)
        y = 1.0 / x
        inner = PI_SQUARED_6 + logarithm * log1p(-y) - spence_near_1(1.0 - y, -log1p(-y))
        return -inner - 0.5 * logarithm * logarithm
    return spence_near_1(x, -log1p(x - 1.0))


@scalar
def spence_near_1(x: float, w: float) -> float:
    """Li2(1 - x) for 1/2 <= x <= 2, w = -log(x)."""
    q = w * w
    p = polynomial(DILOGARITHM, q)
    return w + q * (w * p - 0.25) + 0.0 * x


BRANCH_SERIES = (
    1.0, -0.3333333333333333, 0.1527777777777778, -0.07962962962962963, 0.044502314814814814, -0.02598471487360376,
    0.01563563253233392, -0.009616892024299432, 0.006014543252956118, -0.0038112980348919993, 0.0024408779911439826,
    -0.0015769303446867841, 0.0010262633205076071, -0.0006720616311561362, 0.0004424730618146209,
    -0.00029267722472962746, 0.00019438727605453933, -0.00012957426685274883, 8.665035805208128e-05,
    -5.811360750441382e-05, 3.907668486743905e-05, -2.63380647472311e-05, 1.7790345805079586e-05,
    -1.2040352739559977e-05, 8.163531982496613e-06, -5.544203208567359e-06, 3.7710949611072535e-06,
)  # fmt: skip
BRANCH, BRANCH_LOW = 0.36787944117144233, -1.2428753672788363e-17


@scalar
def lambertw_0(x: float) -> float:
    """W >= -1 with W exp(W) = x, within 8 ulp; NaN for x < -1/e."""
    return lambert(x, 0)


@scalar
def lambertw_1(x: float) -> float:
    """W <= -1 with W exp(W) = x, the branch -1, within 8 ulp; NaN outside of -1/e <= x < 0."""
    return lambert(x, 1)


@scalar
def lambert(x: float, lower: int) -> float:
    """A real branch of Lambert's W: by its series at -1/e, or from logarithms by at most 8 steps of fourth order."""
    if x != x or x < -BRANCH or (lower and x > 0.0):
        return nan
    if x == 0.0:
        return -inf if lower else x
    if x == inf:
        return inf
    d = 2.718281828459045 * ((x + BRANCH) + BRANCH_LOW)
    d = d if d > 0.0 else 0.0
    p = sqrt(2.0 * d)
    p = -p if lower else p
    if fabs(p) < 0.3:
        # the series at the branch point (DLMF 4.13.6)
        series = polynomial(BRANCH_SERIES, p)
        return p * series - 1.0
    w = -1.0 + p * (1.0 + p * (-0.3333333333333333 + p * 0.1527777777777778))
    if lower and x > -0.25:
        logarithm = log(-x)
        w = logarithm - log(-logarithm)
    if not lower and x > 2.0:
        logarithm = log(x)
        w = logarithm - log(logarithm)
    if not lower and fabs(x) < 0.1:
        w = x * (1.0 - x)
    for _ in range(8):
        # Newton for w + log(w / x) (F. N. Fritsch, R. E. Shafer, W. P. Crowley, 1973), of fourth order
        z = log(x / w) - w
        q = 2.0 * (1.0 + w) * (1.0 + w + 0.6666666666666666 * z)
        step = z / (1.0 + w) * ((q - z) / (q - 2.0 * z))
        w = w + w * step
        if fabs(step) < 1e-5:
            break
    return w


@scalar
def struve(v: float, x: float) -> float:
    """Struve's function H of order v > -1, within 8 ulp for v <= 30, or of the envelope sqrt(2 / (pi x)).

    NaN for x < 0 unless v is an integer.  The power series for small x, else Y plus the integral of DLMF 11.5.2 by
    the double exponential rule.
    """
    if v != v or x != x or v <= -1.0 or v == inf:
        return nan
    if x < 0.0 and v != floor(v):
        return nan
    a = fabs(x)
    even = v - 2.0 * floor(0.5 * v) == 0.0
    sign = -1.0 if x < 0.0 and even else 1.0
    if a == 0.0:
        return 0.0
    if a == inf:
        return 0.0 if v < 1.0 else 0.6366197723675814 * sign if v == 1.0 else inf * sign
    if a < 25.0 + 0.5 * v:
        # the series alternates: its terms and their sum have two parts
        q, q_low = two_product(-0.5 * a, 0.5 * a)
        term = 1.0
        term_low = 0.0
        total = 1.0
        total_low = 0.0
        for k in range(1, 200):
            n = float(k) + 0.5
            d, d_low = two_sum(n, v)
            d, d_low = times_parts(d, d_low, n, 0.0)
            d, d_low = divided_parts(q, q_low, d, d_low)
            term, term_low = times_parts(term, term_low, d, d_low)
            total, total_low = plus_parts(total, total_low, term, term_low)
            if fabs(term) < 1e-17 * fabs(total):
                break
        return sign * struve_factor(v, 1.0, 1.5, a, TWO_OVER_ROOT_PI * total)
    total = 0.0
    for k in range(-50, 60):
        s = 0.08 * float(k)
        e = exp(-s)
        t = exp(s - e)
        value = exp((v - 0.5) * log1p(t * t) - a * t) * t * (1.0 + e)
        total = total + value
    size = 0.08 * TWO_OVER_ROOT_PI * total
    # 1 / gamma(v + 1/2) = (v + 1/2) / gamma(v + 3/2), which is 0 at its pole
    size = struve_factor(v, 0.0, 1.5, a, (v + 0.5) * size)
    y = bessel_y(v, a) if v >= 0.0 else struve_y(v, a)
    return sign * (y + size)


@scalar
def struve_factor(v: float, more: float, shift: float, x: float, size: float) -> float:
    """(x / 2)**(v + more) / gamma(v + shift) * size for v + shift > 0."""
    e, e_low = log_in_parts(0.5 * x, 0.0)
    p, p_low = two_sum(v, more)
    e, e_low = times_parts(e, e_low, p, p_low)
    p, p_low = two_sum(v, shift)
    p, p_low = log_gamma_parts(p, p_low)
    e, e_low = plus_parts(e, e_low, -p, -p_low)
    return exp_times(e, e_low, size)


@scalar
def struve_y(v: float, x: float) -> float:
    """Y_v(x) for -1 < v < 0 by the recurrence in the order."""
    return 2.0 * (v + 1.0) / x * bessel_y(v + 1.0, x) - bessel_y(v + 2.0, x)


LEGENDRE_NODES = (
    0.10805494870734367, 0.31911236892788974, 0.5152486363581541, 0.6872929048116855, 0.827201315069765,
    0.9284348836635735, 0.9862838086968123,
)  # fmt: skip
LEGENDRE_WEIGHTS = (
    0.2152638534631578, 0.2051984637212956, 0.18553839747793782, 0.15720316715819355, 0.12151857068790319,
    0.08015808715976021, 0.03511946033175186,
)  # fmt: skip


@scalar
def owens_t(h: float, a: float) -> float:
    """Owen's T: the integral of exp(-h**2 (1 + t**2) / 2) / (1 + t**2) / (2 pi) from 0 to a, within 8 ulp.

    Gauss and Legendre's rule of 14 nodes in panels up to where the integrand ends; |a| > 1 by Owen's identity (his
    equation 2.3).
    """
    if h != h or a != a:
        return nan
    b = fabs(a)
    k = fabs(h)
    if b > 1.0:
        p = ndtr(-k)
        if b == inf:
            return copysign(0.5 * p, a)
        # T(h, a) = (p + q) / 2 - p q - T(a h, 1 / a) in upper tails; both of a h fall with exp(-(a h)**2 / 2)
        s, s_low = two_product(k, b)
        rest = (0.5 - p) * ndtr(-s) - owens_inner(s, 1.0 / b)
        return copysign(0.5 * p + rest * (1.0 - s * s_low), a)
    return copysign(owens_inner(k, b), a)


@scalar
def owens_inner(h: float, a: float) -> float:
    """Owen's T for h >= 0 and 0 <= a <= 1."""
    size = half_gaussian(h) / (2.0 * PI)
    if size == 0.0:
        return 0.0
    end = a if a * h < 9.0 else 9.0 / h
    panels = floor(end * h / 3.0) + 1.0
    half = 0.5 * end / panels
    total = 0.0
    for panel in range(int(panels)):
        centre = half * (2.0 * float(panel) + 1.0)
        for k in range(7):
            s = half * LEGENDRE_NODES[k]
            t = centre - s
            total = total + LEGENDRE_WEIGHTS[k] * (exp(-0.5 * (h * t) * (h * t)) / (1.0 + t * t))
            t = centre + s
            total = total + LEGENDRE_WEIGHTS[k] * (exp(-0.5 * (h * t) * (h * t)) / (1.0 + t * t))
    return size * (half * total)
