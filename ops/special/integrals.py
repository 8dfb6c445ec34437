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
    sqrt,
)

PI, TWO_OVER_ROOT_PI = math.pi, 1.1283791670955126
PI_SQUARED_6 = math.pi**2 / 6
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
    0.9956080276894921, -0.011497918833981676, -0.01081480707550567, -0.004974734855798744, -0.001612026595760255,
    -0.00044592799032933686, -0.00013164551128078898, -4.123688165327052e-05, -1.2218071367705708e-05,
    -3.8107341637175967e-06, -1.2444493457022202e-06, -3.7836502129024146e-07, -1.264145216134972e-07,
    -4.189179253780661e-08, -1.2712923058539423e-08, -4.704151074138614e-09, -1.4647895778727262e-09,
    -5.273707575869301e-10, -1.7289622392026833e-10, -9.241035403154991e-12, -3.303032476704996e-11,
    -1.8425395457480373e-11,
)  # fmt: skip
FRESNEL_G = (
    0.978816103061447, -0.053674503606680184, -0.04632459287381111, -0.016464250820168887, -0.0027534595782521733,
    -0.00017348315631050885, -7.753304101722974e-05, -2.3610343225212326e-05, 3.4355916352259033e-06,
    -8.277867483701025e-07, -2.775470975436869e-07, 2.8858437349210744e-07, -7.163851673915534e-08,
    1.4373843013004432e-08, 1.1554971108599695e-08, -6.758071409379313e-09, 5.215208205756187e-09,
    -1.6156931568600264e-09, -9.970873556823742e-10, 9.780004268025259e-10, -2.9818554241474884e-12,
    -1.0482165147057045e-10,
)  # fmt: skip
FRESNEL_S = (
    0.2889393626408461, -0.1761356501395447, 0.050132952592302285, -0.007629278744901795, 0.0007142320312441954,
    -4.5168950886221886e-05, 2.057811858438048e-06, -7.074441231946028e-08, 1.9005632610677367e-09,
    -4.1002408595059026e-11, 7.26426036093387e-13, -1.0746132833319156e-14,
)  # fmt: skip
FRESNEL_C = (
    0.4434581121445708, -0.3498350978515388, 0.16644305991154662, -0.0356266466499555, 0.004287818385200403,
    -0.0003307760776428032, 1.776427735528585e-05, -7.028320154789788e-07, 2.1346443259467077e-08,
    -5.135327076542383e-10, 1.003601907170353e-11, -1.6229472687215528e-13,
)  # fmt: skip
SINE_OF_QUARTERS = (
    1.5707963267948966, -0.6459640975062443, 0.07969262624604304, -0.004681754132341619, 0.00016044115074714992,
    -3.5986433706134926e-06, 5.633936132273839e-08,
)  # fmt: skip
COSINE_OF_QUARTERS = (
    1.0, -1.2337005501361697, 0.2536695079010467, -0.02086348076331122, 0.0009192602741832609, -2.520203677107732e-05,
    4.710609744708127e-07, -6.321258921032388e-09,
)  # fmt: skip
"""Fits of sin(pi w / 2) / w and cos(pi w / 2) in w**2, |w| <= 1/2."""


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
    far = 0.0 if q == 0.0 else unit / sqrt(p)
    return p if p != p else nan if p < 0.0 else far if p > 1.0 else unit


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
def fresnel_of(x: float, is_s: int) -> float:
    """S(|x|), or C(|x|): a fit in x**4 below 1.6; beyond, the auxiliary functions (DLMF 7.5.3, 7.5.4)."""
    size = fabs(x)
    b = size if size < 1.6 else 1.6
    square = b * b
    u = square * square / 3.2768 - 1.0
    near_s = polynomial(FRESNEL_S, u)
    near_c = polynomial(FRESNEL_C, u)
    near = b * square * near_s if is_s else b * near_c
    a = size if size > 1.6 else 1.6
    a = a if a < 1e17 else 1e17
    square, low = two_product(a, a)
    v = 11.12 / (square + 3.0) - 1.0
    f = polynomial(FRESNEL_F, v)
    g = polynomial(FRESNEL_G, v)
    per_angle = 1.0 / (PI * a)
    f = f * per_angle
    g = g * per_angle * per_angle / a
    # the angle pi a**2 / 2 in quarters of a turn: a whole number and the rest w, of which `low` has many for large a
    turns = square - 4.0 * floor(0.25 * square)
    low = low - 4.0 * rint(0.25 * low)
    quarter = rint(turns) + rint(low)
    w = (turns - rint(turns)) + (low - rint(low))
    quarter = quarter + rint(w)
    quarter = quarter - 4.0 * floor(0.25 * quarter)
    w = w - rint(w)
    q = w * w
    c = polynomial(COSINE_OF_QUARTERS, q)
    s = polynomial(SINE_OF_QUARTERS, q)
    s = s * w
    is_odd = quarter == 1.0 or quarter == 3.0
    cosine = s if is_odd else c
    cosine = -cosine if quarter == 1.0 or quarter == 2.0 else cosine
    sine = c if is_odd else s
    sine = -sine if quarter == 2.0 or quarter == 3.0 else sine
    rest = f * cosine + g * sine if is_s else g * cosine - f * sine
    return near if size < 1.6 else 0.5 if size > 1e17 else 0.5 - rest


@scalar
def fresnel_s(x: float) -> float:
    """Fresnel's integral of sin(pi t**2 / 2) from 0 to x, within 8 ulp."""
    return x if x != x else copysign(fresnel_of(x, 1), x)


@scalar
def fresnel_c(x: float) -> float:
    """Fresnel's integral of cos(pi t**2 / 2) from 0 to x, within 8 ulp."""
    return x if x != x else copysign(fresnel_of(x, 0), x)


DILOGARITHM = (
    0.027777777777777776, -0.0002777777777777778, 4.72411186696901e-06, -9.185773074661964e-08, 1.8978869988971e-09,
    -4.0647616451442256e-11, 8.921691020456452e-13, -1.9939295860721074e-14, 4.518980029619918e-16,
    -1.0356517612182471e-17,
)  # fmt: skip
"""B(2k) / (2k + 1)!."""


@scalar
def spence(x: float) -> float:
    """The dilogarithm Li2(1 - x), within 8 ulp; NaN for x < 0, and at infinity."""
    if x != x or x < 0.0 or x == inf:
        return nan
    if x == 0.0:
        return PI_SQUARED_6
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
    if v != v or x != x or v <= -1.0 or (x < 0.0 and v != floor(v)):
        return nan
    a = fabs(x)
    even = v - 2.0 * floor(0.5 * v) == 0.0
    sign = -1.0 if x < 0.0 and even else 1.0
    if a == inf:
        return nan if v < 1.0 or v == inf else 0.6366197723675814 * sign if v == 1.0 else inf * sign
    if a == 0.0 or v == inf:
        return 0.0
    if a < 30.0 + v:
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
    size = TWO_OVER_ROOT_PI * (struve_far(v, a) if a > 60.0 and a > 2.0 * v else struve_integral(v, a))
    # 1 / gamma(v + 1/2) = (v + 1/2) / gamma(v + 3/2), which is 0 at its pole
    size = struve_factor(v, 0.0, 1.5, a, (v + 0.5) * size)
    y = bessel_y(v, a) if v >= 0.0 else struve_y(v, a)
    return sign * (y + size)


@scalar
def struve_integral(v: float, x: float) -> float:
    """The integral of (1 + t**2)**(v - 1/2) exp(-x t) over t > 0, by the double exponential rule, for x up to 60."""
    total = 0.0
    for k in range(-50, 60):
        s = 0.08 * float(k)
        e = exp(-s)
        t = exp(s - e)
        total = total + exp((v - 0.5) * log1p(t * t) - x * t) * t * (1.0 + e)
    return 0.08 * total


@scalar
def struve_far(v: float, x: float) -> float:
    """The same integral for a large x, by its expansion in 1 / x (DLMF 11.6.1)."""
    term = 1.0 / x
    total = term
    for k in range(30):
        n = float(k)
        term = term * ((v - 0.5 - n) * (4.0 * n + 2.0) / x / x)
        total = total + term
        if fabs(term) < 1e-17 * fabs(total):
            break
    return total


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


LEGENDRE_SQUARES = (
    0.9970825322877294, 0.9846918221068007, 0.9626589195521508, 0.9314173352456184, 0.8915882505797682,
    0.843964233306993, 0.789493092606559, 0.729258945383939, 0.664460620513279, 0.5963877923314767, 0.5263953098260302,
    0.45587623002155797, 0.38623409147135285, 0.31885497938649765, 0.25507993826050746, 0.19617828100162096,
    0.14332232577187554, 0.09756406333037393, 0.059814219262155285, 0.03082412781221608, 0.01117077808679162,
    0.0012453302455108974,
)  # fmt: skip
LEGENDRE_WEIGHTS = (
    0.0037454048031127776, 0.008700481367524843, 0.013619586755579985, 0.01847148173681475, 0.02323148190201921,
    0.02787578282128101, 0.03238122281206982, 0.03672534781380887, 0.04088651231034622, 0.04484398408197003,
    0.048578046448352036, 0.05207009609170446, 0.055302735563728056, 0.05825985987759549, 0.06092673670156197,
    0.06329007973320386, 0.06533811487918144, 0.06706063890629366, 0.06844907026936665, 0.06949649186157258,
    0.07019768547355822, 0.07054915778935407,
)  # fmt: skip
"""The squares of the positive nodes of the rule of 44 nodes on [-1, 1], and their weights."""


@scalar
def owens_inner(h: float, a: float) -> float:
    """Owen's T for h >= 0 and 0 <= a <= 1.25, by the rule for an even integrand, up to where it ends."""
    r = a * h
    end = a if r < 8.5 else a * (8.5 / r)
    r = r if r < 8.5 else 8.5
    c = 0.5 * r * r
    b = end * end
    total = 0.0
    for square, weight in zip(LEGENDRE_SQUARES, LEGENDRE_WEIGHTS, strict=True):
        total = total + weight * (exp(-c * square) / (1.0 + b * square))
    return half_gaussian(h) / (2.0 * PI) * (end * total)


@scalar
def owens_t(h: float, a: float) -> float:
    """Owen's T: the integral of exp(-h**2 (1 + t**2) / 2) / (1 + t**2) / (2 pi) from 0 to a, within 8 ulp.

    By Gauss and Legendre's rule; |a| > 1.25 by Owen's identity (his equation 2.3), which cancels near 1.
    """
    b = fabs(a)
    k = fabs(h)
    k = k if k < 100.0 else 100.0
    # T(h, a) = (p + q) / 2 - p q - T(a h, 1 / a) in upper tails; both of a h fall with exp(-(a h)**2 / 2)
    is_wide = b > 1.25
    p = ndtr(-k)
    s, s_low = two_product(k, b if b < 1e6 else 1e6)
    inner = owens_inner(s if is_wide else k, 1.0 / b if is_wide else b)
    rest = (0.5 - p) * ndtr(-s) - inner
    wide = 0.5 * p + rest * (1.0 - s * s_low)
    return h if h != h else a if a != a else copysign(wide if is_wide else inner, a)
