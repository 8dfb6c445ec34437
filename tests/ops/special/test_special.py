"""T.special against values of mpmath, C against the meaning, derivatives, special values, rules of NumPy."""

import pickle
from importlib import import_module

import numpy as np
import pytest
from special_values import VALUES, WIDE

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext import translated
from arignote.graph import FunctionGraph, NoGradient, parse
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.special.functions import SPECIAL
from arignote.ops.special.scalars import MODULES

S = T.special
ULP = 12


def columns(name):
    *operands, exact = (np.array(c) for c in zip(*VALUES[name]))
    return operands, exact


def ulps(got, exact):
    return np.abs(got - exact) / np.spacing(np.abs(exact))


@pytest.fixture(scope="module")
def compiled():
    """The values of all functions by their C, from one compiled function."""
    inputs, outputs, values = [], [], []
    for name in VALUES:
        operands, _ = columns(name)
        variables = [T.vector(f"{name}_{k}") for k in range(len(operands))]
        inputs += variables
        values += operands
        outputs.append(SPECIAL[name](*variables))
    f = ag.function(inputs, outputs)
    return dict(zip(VALUES, f(*values)))


@pytest.mark.long
def test_headers_are_what_the_functions_say():
    for name in MODULES:
        text = (translated.FOLDER / f"special_{name}.h").read_text()
        assert text == translated.header(import_module(f"arignote.ops.special.{name}")), "run the module translated.py"


def test_repeated_elements_have_the_values_of_single_ones():
    """Equal elements of a long array are computed once; zeros of two signs are not equal."""
    rng = np.random.default_rng(0)
    few = np.array([0.0, -0.0, np.nan, np.inf, -2.5, 3.0])
    x, y = (rng.choice(few, (4, 6)) for _ in range(2))
    for name, op in SPECIAL.items():
        operands = (x,) if op.arity == 1 else (x, y[0], y[1], y[2])[: op.arity]
        whole = op.evaluate(*operands)[0]
        single = [op.evaluate(*(a[..., k] for a in operands))[0] for k in range(6)]
        assert whole.tobytes() == np.stack(single, axis=-1).tobytes(), name


@pytest.mark.long
def test_values_are_those_of_mpmath(compiled):
    wrong = {}
    for name in VALUES:
        operands, exact = columns(name)
        for kind, got in (("C", compiled[name]), ("meaning", SPECIAL[name].evaluate(*operands)[0])):
            off = ulps(got, exact).max()
            if off > WIDE.get(name, ULP):
                wrong[name, kind] = off
    assert not wrong


def test_every_function_has_values():
    quantiles = {"poisson_quantile", "binomial_quantile", "hypergeometric_draw", "zipf_quantile"}
    assert set(SPECIAL) - set(VALUES) == quantiles
    assert all(op.meaning and len(op.derivative) == op.arity for op in SPECIAL.values())


ORDERS = {
    "gammainc_by_a": [1], "betainc_by_a": [2], "betainc_by_b": [2], "zeta": [1], "kv_by_order": [1],
    "kve_by_order": [1], "iv_by_order": [1], "jv": [1], "yv": [1], "struve": [1], "hyp1f1": [2], "hyp2f1": [3],
    "vonmises_cdf": [1], "vonmises_quantile": [1],
}  # fmt: skip
"""Operands by which there is a derivative, where it is not all of them."""


@pytest.mark.few(1)
@pytest.mark.parametrize("forward", [False, True], ids=["reverse", "forward"])
def test_derivatives_are_those_of_differences(forward):
    wrong = {}
    for name, op in SPECIAL.items():
        if name not in VALUES:
            continue
        operands, _ = columns(name)
        operands = [v[:3] for v in operands]
        for place in ORDERS.get(name, range(op.arity)):
            x = T.vector("x")
            constants = [T.constant(v) for v in operands]
            y = op(*constants[:place], x, *constants[place + 1 :])
            slope = ag.jvp(y, x, T.ones_like(x)) if forward else ag.grad(y.sum(), x)
            got = ag.function([x], slope, mode="NUMPY")(operands[place])
            step = 1e-5 * np.abs(operands[place])

            def shifted(h, op=op, place=place, step=step, operands=operands):
                moved = [v + h * step if k == place else v for k, v in enumerate(operands)]
                return op.evaluate(*moved)[0]

            expected = (8 * (shifted(1) - shifted(-1)) - (shifted(2) - shifted(-2))) / (12 * step)
            size = np.abs(expected) + 1e-6 * np.abs(op.evaluate(*operands)[0] / operands[place])
            error = np.abs(got - expected) / size
            if not (error < 1e-5).all():
                wrong[name, place] = (error.max(), got, expected)
    assert not wrong


def test_derivatives_that_do_not_exist_say_why():
    a, x = T.vector("a"), T.vector("x")
    with pytest.raises(NoGradient, match=r"jv has no derivative by a .*: .*no closed form.*; make it a constant"):
        ag.grad(S.jv(a, x).sum(), a)
    ag.grad(S.jv(2.0, x).sum(), x)
    first = ag.grad(S.gammainc(a, x).sum(), a)
    with pytest.raises(NoGradient, match="gammainc_by_a has no derivative by a"):
        ag.grad(first.sum(), a)


NAN, INF = np.nan, np.inf
POINTS = [
    ("gammainc", (0.0, 1.0), 1.0), ("gammainc", (1.0, 0.0), 0.0), ("gammainc", (-1.0, 1.0), NAN),
    ("gammainc", (2.0, INF), 1.0), ("gammaincc", (2.0, INF), 0.0), ("gammaincc", (INF, 2.0), 1.0),
    ("gammaincc", (1.0, -1.0), NAN), ("gammaincinv", (2.0, 0.0), 0.0), ("gammaincinv", (2.0, 1.0), INF),
    ("gammaincinv", (2.0, 1.5), NAN), ("gammainccinv", (2.0, 0.0), INF), ("betainc", (2.0, 3.0, 0.0), 0.0),
    ("betainc", (2.0, 3.0, 1.0), 1.0), ("betainc", (2.0, 3.0, 1.5), NAN), ("betainc", (-2.0, 3.0, 0.5), NAN),
    ("betaincc", (2.0, 3.0, 1.0), 0.0), ("betaincinv", (2.0, 3.0, 1.0), 1.0), ("betaln", (0.0, 1.0), INF),
    ("betaln", (NAN, 1.0), NAN), ("zeta", (1.0, 2.0), INF), ("zeta", (0.5, 2.0), NAN), ("zeta", (2.0, 0.0), INF),
    ("erfinv", (1.0,), INF), ("erfinv", (-1.0,), -INF), ("erfinv", (1.5,), NAN), ("erfinv", (0.0,), 0.0),
    ("erfcinv", (0.0,), INF), ("erfcinv", (2.0,), -INF), ("ndtri", (0.0,), -INF), ("ndtri", (1.0,), INF),
    ("ndtri", (0.5,), 0.0), ("ndtr", (INF,), 1.0), ("ndtr", (-INF,), 0.0), ("log_ndtr", (-INF,), -INF),
    ("log_ndtr", (INF,), 0.0), ("erfcx", (INF,), 0.0), ("erfcx", (-INF,), INF), ("erfcx", (NAN,), NAN),
    ("logit", (0.0,), -INF), ("logit", (1.0,), INF), ("logit", (0.5,), 0.0), ("logit", (2.0,), NAN),
    ("entr", (0.0,), 0.0), ("entr", (-1.0,), -INF), ("rel_entr", (0.0, 1.0), 0.0), ("rel_entr", (1.0, 0.0), INF),
    ("kl_div", (0.0, 2.0), 2.0), ("kl_div", (-1.0, 2.0), INF), ("huber", (-1.0, 2.0), INF), ("exprel", (0.0,), 1.0),
    ("xlog1py", (0.0, -1.0), 0.0), ("xlog1py", (0.0, NAN), NAN), ("i0", (0.0,), 1.0), ("i1", (0.0,), 0.0),
    ("i0e", (0.0,), 1.0), ("k0", (0.0,), INF), ("k0", (-1.0,), NAN), ("k1", (INF,), 0.0), ("kv", (2.0, 0.0), INF),
    ("kv", (2.0, -1.0), NAN), ("iv", (0.0, 0.0), 1.0), ("iv", (2.0, 0.0), 0.0), ("iv", (2.5, -1.0), NAN),
    ("j0", (0.0,), 1.0), ("y0", (0.0,), -INF), ("jv", (2.5, -1.0), NAN), ("yv", (1.0, 0.0), -INF),
    ("exp1", (0.0,), INF), ("exp1", (-1.0,), NAN), ("expi", (0.0,), -INF), ("ellipk", (1.0,), INF),
    ("ellipk", (-INF,), 0.0), ("ellipkm1", (0.0,), INF), ("ellipk", (2.0,), NAN),
    ("ellipe", (1.0,), 1.0), ("spence", (1.0,), 0.0), ("spence", (-1.0,), NAN),
    ("fresnel_s", (INF,), 0.5), ("fresnel_c", (-INF,), -0.5), ("lambertw_0", (0.0,), 0.0), ("lambertw_1", (1.0,), NAN),
    ("airyai", (INF,), 0.0), ("airybi", (INF,), INF), ("airyaip", (-INF,), NAN), ("airybip", (-1e9,), NAN),
    ("fresnel_c", (1e300,), 0.5), ("fresnel_s", (NAN,), NAN), ("owens_t", (NAN, 1.0), NAN),
    ("owens_t", (0.0, INF), 0.25), ("hyp1f1", (1.0, 0.0, 1.0), INF),
    ("hyp2f1", (1.0, 1.0, 2.0, 0.0), 1.0), ("struve", (1.0, 0.0), 0.0),
    ("i0", (INF,), NAN), ("i1", (-INF,), NAN), ("iv", (1.5, INF), NAN), ("iv", (INF, 2.0), 0.0),
    ("iv", (1e300, 2.0), 0.0),
    ("j0", (-INF,), NAN), ("j1", (INF,), NAN), ("y0", (INF,), NAN), ("y1", (INF,), NAN), ("jv", (2.0, INF), NAN),
    ("yv", (2.0, INF), NAN), ("jv", (INF, 2.0), 0.0), ("yv", (INF, 0.0), -INF), ("kv", (INF, 0.0), INF),
    ("ive", (1.0, INF), 0.0), ("kve", (1.0, INF), 0.0), ("spence", (INF,), NAN), ("spence", (-INF,), NAN),
    ("struve", (0.0, INF), NAN), ("struve", (INF, 1.0), 0.0), ("pseudo_huber", (1.0, INF), INF),
    ("pseudo_huber", (2.0, 1e300), 2e300), ("pseudo_huber", (1e300, 2.0), 2.0), ("voigt_real", (INF, 1.0), 0.0),
    ("voigt_real", (1.0, INF), 0.0), ("gammainc", (0.5, 1e300), 1.0), ("gammaincc", (0.5, 1e300), 0.0),
    ("gammaincinv", (0.0, 1.0), INF), ("gammaincinv", (0.0, 0.0), 0.0), ("gammaincinv", (INF, 0.5), NAN),
    ("gammainccinv", (0.0, 1.0), 0.0), ("gammainccinv", (INF, 0.5), NAN), ("betaln", (1.0, 1.0), 0.0),
    ("betaln", (-1.0, 1.0), 0.0), ("betaln", (-1.0, -1.0), INF), ("betaln", (INF, -0.5), INF),
    ("beta", (-1.0, 1.0), -1.0), ("beta", (INF, -0.5), -INF), ("beta", (-1.0, 2.0), INF), ("beta", (-1.0, -1.0), -INF),
    ("betaincinv", (INF, 2.0, 0.0), 0.0), ("betaincinv", (INF, 2.0, 0.5), NAN), ("betainccinv", (2.0, INF, 0.0), 1.0),
]  # fmt: skip


def test_special_points():
    wrong = []
    for name, operands, expected in POINTS:
        got = SPECIAL[name].evaluate(*map(np.array, operands))[0]
        if not (got == expected or (np.isnan(got) and np.isnan(expected))):
            wrong.append((name, operands, float(got)))
    assert not wrong


FAR = [
    ("jv", (1e6, 2e6), -0.0003374721626), ("jv", (3e5, 9e5), -0.0004623688359),
    ("yv", (0.5, 1e-300), -7.978845608028654e149), ("yv", (0.005, 1e-295), -1899.5635981624805),
    ("struve", (1.0, 9e8), 0.6366343455051989), ("beta", (1e-300, 1e-300), 2e300),
    ("struve", (3.0, 1e7), 4244131815784.088), ("beta", (-0.5, 1e300), -3.5449077018110322e150),
    ("betaln", (1e300, 1e-300), 690.7755278982137), ("gammainccinv", (1e-20, 1e-20), 0.26473701045154513),
    ("fresnel_s", (1e9 + 0.3,), 0.4999999998656333), ("fresnel_c", (1e9 + 0.3,), 0.5000000002885598),
    ("fresnel_s", (1e8 + 0.3,), 0.4999999977706878), ("fresnel_c", (1e8 + 0.3,), 0.49999999772793363),
]  # fmt: skip
"""Values far out, where a series or a number of steps once ended early: of mpmath, of SciPy (gammainccinv), by Debye's
expansion to ten digits (jv), and gamma(-1/2) 1e150 (beta)."""


def test_values_far_out():
    for name, operands, expected in FAR:
        got = SPECIAL[name].evaluate(*map(np.array, operands))[0]
        np.testing.assert_allclose(got, expected, rtol=1e-9 if name == "jv" else 1e-14, err_msg=name)


def test_order_range_and_inverses():
    x = np.sort(np.concatenate([np.linspace(-8, 8, 401), np.nextafter(np.linspace(-4, 4, 41), 9)]))
    p = S.ndtr.evaluate(x)[0]
    assert (np.diff(p) >= 0).all() and ((p >= 0) & (p <= 1)).all()
    assert (np.diff(S.log_ndtr.evaluate(x)[0]) >= 0).all()
    grid = np.linspace(0.05, 20, 150)
    for a in (0.3, 2.0, 40.0):
        got = S.gammainc.evaluate(np.array(a), grid)[0]
        assert (np.diff(got) >= -2e-16).all() and ((got >= 0) & (got <= 1)).all()
        there = S.gammaincinv.evaluate(np.array(a), got)[0]
        inner = (got > 1e-10) & (got < 0.9)
        np.testing.assert_allclose(there[inner], grid[inner], rtol=1e-12)
    u = np.linspace(0.01, 0.99, 25)
    a, b = np.array(2.5), np.array(0.7)
    back = S.betainc.evaluate(a, b, S.betaincinv.evaluate(a, b, u)[0])[0]
    np.testing.assert_allclose(back, u, rtol=1e-13)


def test_dtypes_and_names_of_operands():
    for dtype, expected in (("float16", "float16"), ("float32", "float32"), ("int64", "float64")):
        x = T.vector("x", dtype)
        assert S.i0(x).dtype == S.gammainc(x, x).dtype == S.betainc(x, x, x).dtype == expected
    got = S.gammainc(2.0, T.constant([1.5], "float32")).eval()
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, [0.4421746], rtol=3e-7)
    with pytest.raises(TypeError, match="gammainc takes 2 operands, got 1"):
        S.gammainc(1.0)
    with pytest.raises(TypeError, match="gammainc does not take"):
        S.gammainc(T.vector("z", "complex128"), 1.0)
    assert S.gammainc(a=2.0, x=T.scalar("s")).owner.op is S.gammainc


def test_compositions():
    x = np.array([0.3, 2.5, 7.0])
    got = {
        "multigammaln": S.multigammaln(x, 3), "log_expit": S.log_expit(-x), "zeta": S.zeta(x + 1),
        "voigt": S.voigt_profile(x, 0.7, 0.2), "sharp": S.voigt_profile(x, 0.0, 0.5), "branch": S.lambertw(-x / 20, -1),
        "airy": S.airy(x)[3], "fresnel": S.fresnel(x)[1],
    }  # fmt: skip
    values = ag.function([], list(got.values()), mode="NUMPY")()
    scipy = pytest.importorskip("scipy.special")
    named = dict(zip(got, values))
    np.testing.assert_allclose(named["multigammaln"][1:], scipy.multigammaln(x[1:], 3), rtol=1e-13)
    assert np.isnan(named["multigammaln"][0])
    np.testing.assert_allclose(named["log_expit"], scipy.log_expit(-x), rtol=1e-13)
    np.testing.assert_allclose(named["zeta"], scipy.zeta(x + 1), rtol=1e-13)
    np.testing.assert_allclose(named["voigt"], scipy.voigt_profile(x, 0.7, 0.2), rtol=1e-13)
    np.testing.assert_allclose(named["sharp"], scipy.voigt_profile(x, 0.0, 0.5), rtol=1e-13)
    np.testing.assert_allclose(named["airy"], scipy.airy(x)[3], rtol=1e-13)
    np.testing.assert_allclose(named["fresnel"], scipy.fresnel(x)[1], rtol=1e-13)
    np.testing.assert_allclose(named["branch"][:2], scipy.lambertw(-x / 20, -1).real[:2], rtol=1e-13)
    with pytest.raises(ValueError, match="multigammaln: d must be an integer of at least 1, got 0"):
        S.multigammaln(x, 0)
    with pytest.raises(TypeError, match=r"lambertw: the branch k is a Python integer, got 2\.5"):
        S.lambertw(x, 2.5)


def test_ufuncs_of_scipy_take_variables():
    scipy = pytest.importorskip("scipy.special")
    x = np.array([0.3, 2.5])
    f = ag.jit(lambda x: scipy.gammainc(2.0, x) + scipy.ndtr(x) * scipy.jv(1.0, x) + scipy.expit(x), mode="NUMPY")
    expected = scipy.gammainc(2.0, x) + scipy.ndtr(x) * scipy.jv(1.0, x) + scipy.expit(x)
    np.testing.assert_allclose(f(x), expected, rtol=1e-13)


def test_vmap_is_a_loop():
    a, x = np.array([0.7, 2.0, 30.0]), np.array([[0.5, 1.0], [2.0, 3.0], [20.0, 40.0]])
    for one in (S.gammainc, S.kv, S.ive):
        mapped = ag.function([A := T.vector("a"), X := T.matrix("x")], ag.vmap(one)(A, X), mode="NUMPY")(a, x)
        loop = np.stack([one.evaluate(np.array(k), row)[0] for k, row in zip(a, x)])
        np.testing.assert_array_equal(mapped, loop)


def test_ops_are_printed_parsed_and_pickled():
    a, x = T.vector("a"), T.vector("x")
    graph = FunctionGraph([a, x], [S.gammainc(a, S.erfinv(x)) + S.betainc(a, a, x)])
    assert parse(str(graph), vocabulary()) == graph
    assert pickle.loads(pickle.dumps(S.gammainc)) is S.gammainc


NEGATIVE = {
    "jv": [
        (-71.99999999994745, 0.0021593246701674053, -1.7927429849930485e305),
        (-83.99999999999, 0.01, -7.635145387982669e306),
        (-84.5, 84.0, 0.19539574991309216),
        (-84.0, -84.0, 0.10213246435955375),
        (-3.25, 0.7, -18.400111995935447),
    ],
    "yv": [
        (-94.5, 0.00010063063386714239, 0.0),
        (-84.25, 80.0, -0.2815485793452168),
        (-0.5, 2.0, 0.5130161365618278),
        (-7.75, 3.0, -41.9262820309476),
    ],
    "iv": [
        (-41.000000000220126, 7.199967264663817e-07, -2.7925124145111284e302),
        (-162.5, 1.5081935030260987, 2.535867705998998e307),
        (-2.5, 40.0, 1.3761967080749734e16),
    ],
    "iv_by_order": [
        (0.25, 31.0, -17118663173.420158),
        (5.0, 35.0, -10797736763369.83),
        (98.0, 47.5, -2.620622325762857e-17),
        (60.0, 300.0, -2.2299606275395676e125),
        (3.0, 700.0, -6.5180030744795075e299),
        (-2.25, 3.0, 1.3427193516026616),
        (-20.5, 12.0, -4.2287015057972805),
        (2.5, 0.75, -0.05651003808669769),
    ],
}
"""Order, argument, value (mpmath, 50 digits) of Bessel functions of negative orders, and derivatives by the order."""


@pytest.mark.long
def test_bessel_functions_of_negative_orders_and_derivatives_by_the_order():
    v, x = T.vectors("vx")
    f = ag.function([v, x], [getattr(S, name)(v, x) for name in NEGATIVE])
    for k, (name, rows) in enumerate(NEGATIVE.items()):
        orders, arguments, exact = np.array(rows).T
        for got in (f(orders, arguments)[k], SPECIAL[name].evaluate(orders, arguments)[0]):
            envelope = np.sqrt(2 / np.pi / np.abs(arguments)) if name in ("jv", "yv") else 0
            scale = np.maximum(np.abs(exact), np.where(np.abs(exact) < 1e10, envelope, 0))
            assert (np.abs(got - exact) <= 64 * np.spacing(scale)).all(), (name, got, exact)


@pytest.mark.parametrize("mode", ["fast_run", "NUMPY"])
def test_bessel_functions_of_large_orders_end_at_once(mode):
    """A recurrence of as many steps as the order exceeds the argument would not end; J is 0 and Y is -inf."""
    v, x = T.vector("v"), T.vector("x")
    f = ag.function([v, x], [T.special.jv(v, x), T.special.yv(v, x)], mode=mode)
    j, y = f(np.array([3e7, 1e18, 1e300, 2e5]), np.array([1e5, 1e12, 1e160, 1.8e5]))
    np.testing.assert_array_equal(j, np.zeros(4))
    np.testing.assert_array_equal(y, np.full(4, -np.inf))
    near = f(np.array([1.01e5]), np.array([1e5]))
    np.testing.assert_allclose(near, [[3.977006140338e-44], [-5.64545869143e38]], 1e-10)


@pytest.mark.parametrize("mode", ["fast_run", "NUMPY"])
def test_a_zeta_function_without_terms_ends_at_once(mode):
    """Each term is smaller than all numbers."""
    s, q = T.vector("s"), T.vector("q")
    f = ag.function([s, q], T.special.zeta(s, q), mode=mode)
    np.testing.assert_array_equal(f(np.array([1e7, 1e15, 1e300]), np.array([5e5, 3.0, 1.5])), np.zeros(3))
    np.testing.assert_array_equal(f(np.array([1e300]), np.array([1.0])), [1.0])


POLYNOMIALS = {
    "hyp2f1": [
        # a, b, c, x, 2F1 by mpmath with 60 digits; NaN for a degree that is out of reach
        (-128.0, 2.0, 2.0, 2.0, 1.0), (709.0, -1.0, -1.5, -99.9, -47218.4), (-5.0, 3.5, 2.25, 7.5, -54281.31523378582),
        (-20.0, 0.5, 1.5, 3.0, 16908.165071644908), (-3.0, -7.0, 2.0, 100.0, 8961051.0), (-2.0, 3.0, -2.0, 0.5, 4.0),
        (7.0, 7.0, 7.0, 0.9999999, 1.0000000036844909e49), (-4.0, 1.5, 2.0, 1.0, 0.0546875),
        (-1e15, 1.0, 1e15, 1.0, np.nan),
    ],
    "hyp1f1": [
        (-2.0, -2.0, 0.5, 1.625), (-7.0, -7.0, -3.0, -1 / 14), (-2.5, -2.5, 1.5, 4.481689070338065),
        (-3.0, -2.0, 0.5, np.inf),
    ],
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["fast_run", "NUMPY"])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_hypergeometric_polynomials_end(name, mode):
    """Beyond 1 no term is small before the last one."""
    *operands, exact = (np.array(column) for column in zip(*POLYNOMIALS[name]))
    variables = [T.vector(f"v{k}") for k in range(len(operands))]
    got = ag.function(variables, SPECIAL[name](*variables), mode=mode)(*operands)
    np.testing.assert_allclose(got, exact, 1e-14)


BEYOND_SERIES = {
    "hyp2f1": [
        # a, b, c, x, 2F1 by mpmath with 60 digits: near 1 and far below 0, where c - a - b or a - b is an integer
        (1.0, 1.0, 2.0, 0.999999999, 20.72326588595161), (0.5, 0.5, 1.0, 0.9999999999990905, 9.707966406718732),
        (2.0, 3.0, 7.0, 0.9999, 4.997012237828707), (1.5, 2.5, 4.0000001, 0.999999999999, 131.07711805740922),
        (5.5, 4.5, 8.0, 0.999, 8208095.544656498), (1.0, 1.0, 3.3, -1e18, 9.261933509584283e-17),
        (0.5, 0.75, 3.0, -1e9, 1.398957343382949e-4), (2.5, 1.5, 0.5, -4.5e23, -2.94461626666639e-59),
        (7.0, 10.0, 3.0, -9e13, 6.691934645180876e-140), (0.5, 0.5, 1.0, -1e6, 5.280154833003756e-3),
    ],
    "gammainc_by_a": [
        (1500.0, 1500.0, -0.01030121767395167), (12345.0, 12000.5, -2.7167966769390894e-05),
        (98765.5, 99876.5, -2.556006521313248e-06), (1e6, 1000003.0, -0.0003989399200042627),
        (2.0**63, 2.0**63, -((2 * np.pi * 2.0**63) ** -0.5)), (1e300, 1e300, -((2 * np.pi * 1e300) ** -0.5)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("mode", ["fast_run", "NUMPY"])
@pytest.mark.parametrize("name", BEYOND_SERIES)
def test_functions_at_points_that_series_do_not_reach(name, mode):
    """Where the terms of a series fall too slowly, a function is computed in another way, and not NaN."""
    *operands, exact = (np.array(column) for column in zip(*BEYOND_SERIES[name]))
    variables = [T.vector(f"v{k}") for k in range(len(operands))]
    got = ag.function(variables, SPECIAL[name](*variables), mode=mode)(*operands)
    np.testing.assert_allclose(got, exact, 1e-14, 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["fast_run", "NUMPY"])
def test_searches_among_numbers_beyond_all_whole_ones_end(mode):
    """From 2**53 on there is no number between two neighbours, and no probability moves a sum of them."""
    n, p, q, u = T.vectors("npqu")
    names = {"poisson_quantile": [n, p], "binomial_quantile": [n, p, u], "hypergeometric_draw": [n, q, q / 4, u]}
    f = ag.function([n, p, q, u], [SPECIAL[name](*given) for name, given in names.items()], mode=mode)
    poisson, binomial, drawn = f([1e18, 3e300], [0.1, 0.5], [1e18, 1e300], [0.3, 0.999999])
    assert abs(poisson[0] - 1e18) < 2e9 and abs(binomial[0] - 1e17) < 2e8
    assert (drawn <= [0.25e18, 0.25e300]).all() and (drawn >= 0).all()
    assert np.isnan(f([1.0], [5.0], [5.0], [2.0])[2])  # no probability


LARGE = (
    # a, b, x, I_x(a, b) by mpmath with 60 digits
    (1.0, 1e8, 0.1, 1.0), (1e8, 0.5, 0.9, 0.0), (0.5, 1e15, 0.1, 1.0), (1e8, 1e8, 0.5, 0.5), (1e15, 1e15, 0.5, 0.5),
    (1e17, 1e17, 0.5, 0.5), (1e50, 1e50, 0.5, 0.5), (1e-5, 1e-100, 0.9, 1.0000219720920982e-95),
    (1.0, 1e-100, 0.9, 2.302585092994046e-100), (1e3, 1e-100, 0.999999999, 1.323879600367772e-99),
    (5e-324, 5e-324, 0.5, 0.5),
    (2000000.0, 3000000.0, 0.3986854658619876, 9.736567322415706e-10),
    (2000000.0, 3000000.0, 0.3999342732930994, 0.382109704808698),
    (2000000.0, 3000000.0, 0.4, 0.5000242788547864),
    (2000000.0, 3000000.0, 0.40065726706900623, 0.9986479487682984),
    (1000000000.0, 40000000.0, 0.9615026822880993, 9.97187485815786e-10),
    (1000000000.0, 40000000.0, 0.9615366725759434, 0.3820713588372745),
    (1000000000.0, 40000000.0, 0.9615384615384616, 0.4999802069217623),
    (1000000000.0, 40000000.0, 0.9615563511636427, 0.998651860503906),
    (3000000000000.0, 1000000000000000.0, 0.0029910165735280415, 9.865469050061795e-10),
    (3000000000000.0, 1000000000000000.0, 0.0029910264019565617, 0.3820886443328647),
    (3000000000000.0, 1000000000000000.0, 0.0029910269192422734, 0.5000000764764042),
    (3000000000000.0, 1000000000000000.0, 0.0029910320920993896, 0.9986500951766623),
)  # fmt: skip


@pytest.mark.long
def test_incomplete_beta_of_extreme_parameters_is_a_probability():
    a, b, x, expected = np.array(LARGE).T
    variables = T.dvector("a"), T.dvector("b"), T.dvector("x")
    lower, upper = ag.function(variables, [T.special.betainc(*variables), T.special.betaincc(*variables)])(a, b, x)
    np.testing.assert_allclose(lower, expected, rtol=1e-12)
    np.testing.assert_allclose(lower + upper, 1, rtol=1e-15)


BELOW_0 = [
    ("beta", -20.3, 2.25, 0.0002689832514825438), ("beta", -3.75, -2.5, 65.84939994301801),
    ("beta", -7.25, 7.5, 0.2737495254373572), ("beta", -0.5, 1e300, -3.544907701811032e150),
    ("betaln", -20.3, 2.25, -8.22086144244748),
    ("betaln", -2.347304336197599, 2.776417104309022, -1.6082123469694893e-05),
    ("betaln", -18.133496880666783, 0.47758213745625155, 0.00020664126919142466),
]  # fmt: skip
"""Values of mpmath, where an operand is below 0; two logarithms are near their zeros."""


@pytest.mark.parametrize("name, a, b, exact", BELOW_0)
def test_beta_functions_below_0(name, a, b, exact):
    assert ulps(SPECIAL[name].evaluate(np.array(a), np.array(b))[0], exact) <= 12
    assert ulps(SPECIAL[name].evaluate(np.array(b), np.array(a))[0], exact) <= 12


def test_bessel_functions_are_exact_near_zeros():
    """J is summed in two parts from x = 2 to 18, so its absolute error is far below 1e-16 at floats next to zeros."""
    x = np.array([2.404825557695773, 5.520078110286311, 11.791534439014281])
    exact = np.array([-6.10876525973673e-17, -2.7522649432621832e-17, -6.538994895807815e-17])
    got = SPECIAL["jv"].evaluate(np.zeros(3), x)[0]
    assert (np.abs(got - exact) < 1e-28).all()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint64", "float32"])
def test_integers_promote_as_scipys(dtype):
    scipys = pytest.importorskip("scipy.special")
    for name in dir(T.special):
        theirs = getattr(scipys, name, None)
        if not isinstance(theirs, np.ufunc) or name in ("log1p", "expm1", "lambertw"):  # NumPy's; complex
            continue
        wanted = theirs(*[np.ones(2, dtype)] * theirs.nin)
        found = getattr(T.special, name)(*[T.vector(dtype=dtype)] * theirs.nin)
        for own, other in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
            assert own.dtype == other.dtype.name, name


def test_log_expit_of_unsigned_integers():
    x = T.vector("x", dtype="uint8")
    np.testing.assert_allclose(ag.function([x], T.special.log_expit(x))(np.uint8([3])), [-np.log1p(np.exp(-3))])


@pytest.mark.few(1)
@pytest.mark.parametrize("branch", [0, -1, 1, 2, -3])
def test_lambertw_of_complex_numbers(branch):
    scipys = pytest.importorskip("scipy.special")
    rng = np.random.default_rng(3)
    near = -np.exp(-1) + rng.uniform(0.01, 0.5, 50) * np.exp(2j * np.pi * rng.random(50))
    far = np.exp(rng.uniform(-9, 9, 100)) * np.exp(2j * np.pi * rng.random(100))
    line = rng.uniform(-2, 2, 50)
    special = [1, -0.1, complex(-0.1, -0.0), -3, complex(-3, -0.0), 0, np.inf, -np.inf, np.nan]
    values = np.concatenate([near, far, line + 0j, np.conj(line + 0j), special])
    z, x = T.vector("z", dtype="complex128"), T.vector("x")
    found = ag.function([z], T.special.lambertw(z, branch))(values)
    np.testing.assert_allclose(found, scipys.lambertw(values, branch), rtol=1e-9, atol=1e-15)
    if branch not in (0, -1):
        real = ag.function([x], T.special.lambertw(x, branch))(line)
        np.testing.assert_allclose(real, scipys.lambertw(line, branch), rtol=1e-9)
    w = T.special.lambertw(z, branch)
    f, slope = (ag.function([z], v) for v in (T.sum(T.real(w * w)), ag.grad(T.sum(T.real(w * w)), z)))
    away = far[:20]
    for k, way in enumerate((1e-6, 1e-6j)):
        step = np.eye(20) * way
        numeric = [(f(away + d) - f(away - d)) / 2e-6 for d in step]
        own = slope(away)
        np.testing.assert_allclose((own.real, own.imag)[k], numeric, rtol=1e-4, atol=1e-6)
