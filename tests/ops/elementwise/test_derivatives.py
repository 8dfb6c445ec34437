"""Derivatives of elementwise ops: against differences, in the tails, where a formula would give NaN, their types."""


import numpy as np
import pytest
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.graph import NoGradient
from arignote.ops import ELEMENTWISE

DOMAINS = {
    "sqrt": (0.2, 3), "log": (0.2, 3), "log2": (0.2, 3), "log10": (0.2, 3), "log1p": (-0.8, 3), "arcsin": (-0.9, 0.9),
    "arccos": (-0.9, 0.9), "arctanh": (-0.9, 0.9), "arccosh": (1.2, 3), "gamma": (0.3, 3), "gammaln": (0.3, 3),
    "digamma": (0.3, 3),
    "reciprocal": (0.3, 2), "cbrt": (0.3, 2), "log1mexp": (-3, -0.2), "pow": (0.3, 2.5), "tan": (-1.2, 1.2),
    "mod": (0.6, 0.95), "fmod": (0.6, 0.95), "xlogy": (0.3, 3),
}  # fmt: skip
NO_DERIVATIVE = {"polygamma", "stop_gradient", "isnan", "isinf", "isfinite", "signbit"}
NO_DERIVATIVE |= {"gcd", "lcm", "left_shift", "right_shift", "threefry", "from_bfloat16", "to_bfloat16"}
NO_DERIVATIVE |= {name for name, op in ELEMENTWISE.items() if op.compares or name.startswith(("logical", "bitwise"))}
SMOOTH = sorted(set(ELEMENTWISE) - NO_DERIVATIVE - {"switch", "clip"})
SHAPES = {
    1: [((2, 3),), ((),), ((0,),)],
    2: [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (4,)), ((1,), (5,))],
}


def points(rng, name, shape):
    low, high = DOMAINS.get(name, (-2.0, 2.0))
    return rng.uniform(low, high, shape)


@pytest.mark.parametrize("static", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", SMOOTH)
def test_derivative_is_that_of_differences(name, static):
    rng = np.random.default_rng(len(name))
    for shapes in SHAPES[ELEMENTWISE[name].arity or 2]:
        values = [points(rng, name, s) for s in shapes]
        if name in ("mod", "fmod"):  # a quotient that is no integer anywhere near
            values = [values[0] * 0 + 5.3, 2 + 0.2 * values[1]]
        if name == "ldexp":  # the exponents are integers
            values[1] = np.rint(values[1]).astype("int64")
        assert_gradient(ELEMENTWISE[name], *values, static=static)


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "minimum"])
def test_derivative_of_folds(name):
    rng = np.random.default_rng(3)
    values = [rng.uniform(1, 2, shape) for shape in ((2, 3), (3,), (2, 1), (1, 1))]
    for static in (True, False):
        assert_gradient(ELEMENTWISE[name], *values, static=static)


def test_derivative_of_selections():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 3, 4))
    condition = rng.random((3, 4)) > 0.5
    assert_gradient(lambda a, b: T.switch(condition, a, b), a, b[0])
    assert_gradient(T.clip, a * 3, np.array(-0.7), np.array(0.8))
    assert_gradient(T.clip, a, np.array([1.0, 0.2, -0.3, 0.4]), np.array([0.1, 0.3, 0.6, -2.0]))
    assert_gradient(T.relu, a)


COMPLEX = ["add", "mul", "sub", "true_div", "pow", "neg", "abs", "square", "sqrt", "reciprocal", "exp", "exp2", "expm1",
           "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
           "arcsinh", "arccosh", "arctanh", "conj", "real", "imag", "angle", "identity", "fill"]  # fmt: skip


@pytest.mark.parametrize("name", COMPLEX)
def test_derivative_for_complex_operands(name):
    rng = np.random.default_rng(7)
    count = ELEMENTWISE[name].arity or 2
    values = [rng.uniform(0.3, 0.9, 3) + 1j * rng.uniform(0.3, 0.9, 3) for _ in range(count)]
    assert_gradient(ELEMENTWISE[name], *values)
    if count == 2:
        assert_gradient(ELEMENTWISE[name], values[0], values[1].real.copy())
        assert_gradient(ELEMENTWISE[name], values[0].real.copy(), values[1])


def vjp(op, *inputs):
    """The cotangents of the inputs for a cotangent of ones."""
    node = op(*inputs).owner
    return node.op.vjp(node, [T.fill(node.out, T.constant(1, node.out.dtype))])


def derivative_at(op, *values):
    inputs = [T.scalar("x") for _ in values]
    return [float(g.eval(dict(zip(inputs, values)))) for g in vjp(op, *inputs)]


def test_derivatives_are_stable_in_the_tails():
    assert derivative_at(T.sigmoid, 40.0) == pytest.approx([np.exp(-40)], rel=1e-14)
    assert derivative_at(T.sigmoid, -700.0) == pytest.approx([np.exp(-700)], rel=1e-14)
    assert derivative_at(T.softplus, -700.0) == pytest.approx([np.exp(-700)], rel=1e-14)
    assert derivative_at(T.softplus, 800.0) == [1.0]
    assert derivative_at(T.expm1, -40.0) == pytest.approx([np.exp(-40)], rel=1e-14)
    assert derivative_at(T.log1mexp, -700.0) == pytest.approx([-np.exp(-700)], rel=1e-14)
    assert derivative_at(T.logaddexp, 1000.0, -1000.0) == [1.0, 0.0]
    assert derivative_at(T.logaddexp, -np.inf, -np.inf) == [0.5, 0.5]
    assert derivative_at(T.arcsinh, 1e200) == pytest.approx([1e-200])
    assert derivative_at(T.erf, 30.0) == [0.0]
    assert derivative_at(T.arctan2, 1e200, 1e200) == pytest.approx([5e-201, -5e-201])


def test_derivatives_where_a_formula_would_give_nan():
    assert derivative_at(T.pow, 0.0, 2.0) == [0.0, 0.0]
    assert derivative_at(T.pow, 0.0, 0.0) == [0.0, 0.0]
    assert derivative_at(T.pow, 0.0, 1.0) == [1.0, 0.0]
    assert derivative_at(T.hypot, 0.0, 0.0) == [0.0, 0.0]
    assert derivative_at(T.maximum, 2.0, 2.0) == [0.5, 0.5]
    assert derivative_at(T.abs, 0.0) == [0.0]
    x = T.scalar("x")
    assert vjp(T.pow, x, T.constant(2.0))[0].eval({x: 0.0}) == 0


def second_at(op, *values):
    """The second derivatives by both operands of an elementwise op: (aa, ab, bb)."""
    inputs = [T.scalar("a") for _ in values]
    first = ag.grad(op(*inputs), inputs)
    rows = [ag.grad(d, inputs, disconnected="zero") for d in first]
    found = [rows[i][j] for i in range(len(inputs)) for j in range(i, len(inputs))]
    return [float(d.eval(dict(zip(inputs, values)))) for d in found]


def test_second_derivatives_at_special_values():
    assert second_at(T.logaddexp, 2.0, 2.0) == [0.25, -0.25, 0.25]
    assert second_at(T.pow, 2.0, 0.0) == pytest.approx([0, 0.5, np.log(2) ** 2])
    assert second_at(T.log1mexp, 0.0) == second_at(T.log1mexp, -0.0) == [-np.inf]
    assert derivative_at(T.log1mexp, 0.0) == derivative_at(T.log1mexp, -0.0) == [-np.inf]
    assert second_at(T.arcsin, 1.0) == second_at(T.arccos, -1.0) == second_at(T.arctanh, 1.0) == [np.inf]
    assert second_at(T.cbrt, 0.0) == [-np.inf]
    assert second_at(T.cbrt, -0.0) == second_at(T.digamma, -0.0) == second_at(T.gamma, np.inf) == [np.inf]
    for op in (T.arctan, T.arcsinh, T.erf, T.erfc, T.cbrt):
        assert second_at(op, np.inf) == second_at(op, -np.inf) == [0]
    assert derivative_at(T.arctan2, 2.0, np.inf) == derivative_at(T.arctan2, np.inf, np.inf) == [0, 0]
    assert derivative_at(T.hypot, -np.inf, 2.0) == [-1, 0]


def test_third_derivative_of_digamma():
    x = T.scalar("x")
    y = T.digamma(x)
    for _ in range(3):
        y = ag.grad(y, x)
    np.testing.assert_allclose(y.eval({x: 1.0}), np.pi**4 / 15, rtol=1e-14)


def test_integers_and_bools_have_no_cotangent():
    x, n, flag = T.vector("x"), T.lvector("n"), T.vector("flag", "bool")
    (for_x, for_n) = vjp(T.mul, x, n)
    assert for_n is None
    assert for_x.eval({x: [1.0], n: [3]}) == [3]
    assert vjp(T.switch, flag, x, x)[0] is None
    assert T.lt(x, x).owner.op.vjp(T.lt(x, x).owner, [T.constant([True])]) == [None, None]
    assert T.stop_gradient(x).owner.op.vjp(T.stop_gradient(x).owner, [x]) == [None]


def test_piecewise_constant_functions_have_zero_derivatives():
    x = T.vector("x")
    for op in (T.floor, T.ceil, T.trunc, T.rint, T.sign):
        assert vjp(op, x) == [None]
        np.testing.assert_array_equal(ag.grad(op(x).sum(), x).eval({x: [0.3, 2.0]}), [0, 0])


def test_cotangents_have_the_type_of_their_operand():
    x, y, z = T.tensor("x", "float32", (2, None)), T.matrix("y"), T.tensor("z", "complex64", (None,))
    for op in (T.add, T.mul, T.sub, T.true_div):
        for operands in ((x, y), (y, z), (x, z)):
            for operand, cotangent in zip(operands, vjp(op, *operands)):
                assert cotangent.dtype == operand.dtype
                assert cotangent.ndim == operand.ndim
                assert cotangent.type.refines(operand.type)


def test_a_power_of_small_integers_is_differentiated_in_the_dtype_of_the_result():
    base, exponent = T.tensor("base", "int8", ()), T.scalar("exponent")
    (_, cotangent) = vjp(T.pow, base, exponent)
    assert float(cotangent.eval({base: 3, exponent: 2.0})) == pytest.approx(9 * np.log(3), rel=1e-14)


def test_no_gradient_gives_a_reason():
    x, z = T.vector("x"), T.zvector("z")
    with pytest.raises(NoGradient, match="by its order"):
        vjp(T.polygamma, x, x)
    with pytest.raises(NoGradient, match="not holomorphic"):
        vjp(T.sign, z)


@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_hessians_of_products_with_zeros_are_symmetric(name):
    x = T.vector("x")
    f = ag.function([x], ag.hessian(T.sum(getattr(T, name)(x)), x), mode="NUMPY")
    if name == "prod":
        np.testing.assert_allclose(f([0.0, 2.0, 3.0]), [[0, 3, 2], [3, 0, 0], [2, 0, 0]])
        np.testing.assert_allclose(f([0.0, 2.0, 0.0]), [[0, 0, 2], [0, 0, 0], [2, 0, 0]])
    else:
        np.testing.assert_allclose(f([2.0, 0.0, 3.0]), [[0, 4, 0], [4, 0, 2], [0, 2, 0]])
        np.testing.assert_allclose(f([0.0, 0.0, 3.0]), [[0, 4, 0], [4, 0, 0], [0, 0, 0]])
