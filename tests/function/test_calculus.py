"""grad, vjp, jvp, hvp: against differences, on intermediates, at any depth, and what they say when they cannot."""

import sys
import time

import numpy as np
import pytest
from against_numpy import sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.calculus.calculus import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp
from arignote.graph import FunctionGraph, NoGradient, SourceLine, toposort

HERE = __file__


def evaluated(expression, values):
    return T.evaluate([expression], values)[0]


def network(x, w, b, v, t):
    """A network of one hidden layer, whose bias is broadcast along the batch, with its loss."""
    hidden = T.tanh(T.dot(x, w) + b)
    return T.mean(T.nn.softmax_crossentropy(T.dot(hidden, v), t)) + 0.01 * T.sum(w**2)


def test_a_network():
    x, w, b, v = (T.tensor(n, shape=s) for n, s in zip("xwbv", [(None, 3), (None, None), (None,), (5, 4)]))
    t = T.lvector("t")
    values = {x: sample((6, 3)), w: sample((3, 5)), b: sample(5), v: sample((5, 4)), t: [0, 3, 1, 1, 2, 0]}
    cost = network(x, w, b, v, t)
    wrt = [w, b, v, x]
    for variable, gradient in zip(wrt, grad(cost, wrt)):
        found = evaluated(gradient, values)
        assert gradient.dtype == variable.dtype
        assert found.shape == values[variable].shape
        np.testing.assert_allclose(found, differences(cost, values, variable), rtol=1e-6, atol=1e-9)


def differences(cost, values, variable, step=1e-5):
    """d cost / d variable, by two-sided differences."""
    value = np.asarray(values[variable])
    found = np.zeros_like(value)
    for index in np.ndindex(value.shape):
        ends = []
        for h in (step, -step):
            moved = value.copy()
            moved[index] += h
            ends.append(float(evaluated(cost, {**values, variable: moved})))
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((1,), (3,)), ((2, 1), (3,)), ((1, 1), (2, 3)), ((), (2, 3)), ((0,), (1,))]
)
def test_lengths_of_1_are_found_at_run_time(shapes):
    a, b = (T.tensor(n, shape=(None,) * len(s)) for n, s in zip("ab", shapes))
    values = {a: sample(shapes[0]) + 3, b: sample(shapes[1], seed=9)}
    cost = T.sum((a * b + T.exp(b) / a) ** 2)
    for variable, gradient in zip((a, b), grad(cost, [a, b])):
        found = evaluated(gradient, values)
        assert found.shape == values[variable].shape
        np.testing.assert_allclose(found, differences(cost, values, variable), rtol=1e-6, atol=1e-8)


def test_the_result_is_as_wrt_is():
    x, y = T.scalar("x"), T.scalar("y")
    cost = x * y
    assert evaluated(grad(cost, x), {x: 2, y: 3}) == 3
    assert [evaluated(g, {x: 2, y: 3}) for g in grad(cost, [x, y])] == [3, 2]
    assert isinstance(grad(cost, (x, y)), tuple)
    assert isinstance(grad(cost, [x]), list)
    value, (gx, gy) = value_and_grad(cost, [x, y])
    assert value is cost
    assert T.evaluate([gx, gy], {x: 2, y: 3}) == [3, 2]


# --- which variables, what is held constant


def test_equal_expressions_are_different_variables():
    x = T.scalar("x")
    a, b = x * 2, x * 2
    assert evaluated(grad(a * b, a), {x: 5}) == 10
    assert evaluated(grad(a * b, x), {x: 5}) == 40


def test_intermediate_values_and_what_they_are_made_of():
    x = T.vector("x")
    h = T.sin(x)
    cost = T.sum(h * x)
    gh, gx = grad(cost, [h, x])
    value = sample(4)
    np.testing.assert_allclose(evaluated(gh, {x: value}), value)
    np.testing.assert_allclose(evaluated(gx, {x: value}), np.sin(value) + value * np.cos(value))


def test_consider_constant():
    x = T.vector("x")
    h = T.exp(x)
    value = sample(3)
    g = grad(T.sum(h * x), x, consider_constant=[h])
    np.testing.assert_allclose(evaluated(g, {x: value}), np.exp(value))
    np.testing.assert_allclose(evaluated(grad(T.sum(T.stop_gradient(h) * x), x), {x: value}), np.exp(value))
    np.testing.assert_array_equal(evaluated(grad(T.sum(h), x, consider_constant=[h]), {x: value}), 0 * value)
    np.testing.assert_array_equal(evaluated(grad(T.sum(x), x, consider_constant=[x]), {x: value}), 0 * value)


def test_known_grads():
    x = T.vector("x")
    h = x**2
    value, given = sample(3), sample(3, seed=8)
    seen = grad(None, x, known_grads={h: T.constant(given)})
    np.testing.assert_allclose(evaluated(seen, {x: value}), 2 * value * given)
    instead = grad(T.sum(T.exp(h)) + T.sum(x), x, known_grads={h: given})
    np.testing.assert_allclose(evaluated(instead, {x: value}), 2 * value * given + 1)
    np.testing.assert_allclose(evaluated(grad(T.sum(h), h, known_grads={h: given}), {}), given)
    with pytest.raises(TypeError, match=r"grad: known_grads: .*float32\[\?\].* dtype and rank of"):
        grad(None, x, known_grads={h: T.fvector()})


def test_disconnected_variables():
    x, y = T.vector("x"), T.vector("y")
    with pytest.raises(ValueError, match=r"grad: y \(float64\[\?\]\) is disconnected.*\n?.*disconnected=\"zero\""):
        grad(T.sum(x), [x, y])
    zeros = grad(T.sum(x), [x, y], disconnected="zero")[1]
    np.testing.assert_array_equal(evaluated(zeros, {y: np.ones(3)}), np.zeros(3))
    with pytest.raises(ValueError, match='"raise" or "zero", got \'ignore\''):
        grad(T.sum(x), x, disconnected="ignore")


def test_zero_is_not_disconnected():
    x = T.vector("x")
    value = sample(4)
    for count in (x > 0, x.shape[0], T.argmax(x), T.floor(x)):
        cost = T.sum(T.cast(count, "float64"))
        np.testing.assert_array_equal(evaluated(grad(cost, x), {x: value}), np.zeros(4))
    g = grad(T.sum(T.floor(x)) + T.sum(x), x)
    np.testing.assert_array_equal(evaluated(g, {x: value}), np.ones(4))


def test_only_what_is_asked_for_is_differentiated():
    x, y = T.vector("x"), T.vector("y")
    g = grad(T.sum(x * T.polygamma(y, 1.5)), x)  # the order has no derivative, and none is needed
    assert "polygamma" in str(FunctionGraph([x, y], [g]))
    assert "sin" not in str(FunctionGraph([x, y], [grad(T.sum(x) + T.sum(T.sin(y)), x)]))


# --- complaints


def test_what_is_no_cost():
    x, n = T.vector("x"), T.lvector("n")
    loss = x * 2
    loss.name = "loss"
    with pytest.raises(TypeError, match=r"the cost must be a scalar, got loss \(float64\[\?\]\); reduce it, as in"):
        grad(loss, x)
    with pytest.raises(TypeError, match=r"real floating-point scalar, got .*int64"):
        grad(T.sum(n), n.astype("float64"))
    with pytest.raises(TypeError, match=r"real floating-point scalar, got .*complex128"):
        grad(T.sum(T.zvector()), x)
    for wrong in (None, 1.0, "cost"):
        with pytest.raises(TypeError, match="the cost must be a scalar variable, got"):
            grad(wrong, x)


def test_what_is_not_differentiable():
    x, n = T.vector("x"), T.lvector("n")
    with pytest.raises(TypeError, match=r"hvp: wrt: n \(int64\[\?\]\) is not differentiable"):
        hvp(T.sum(x * n), n, n)
    with pytest.raises(TypeError, match="wrt must be a variable, or a list, tuple or dict of them, got 3"):
        grad(T.sum(x), [x, 3])
    c = T.constant([1.0, 2.0], name="c")
    with pytest.raises(TypeError, match=r"c \(float64\[2\]\) is a constant; make it an input"):
        grad(T.sum(x * c), c)


def test_derivatives_by_integers_are_zeros_of_the_dtype_of_the_result():
    x, n, flags = T.fvector("x"), T.lvector("n"), T.tensor("flags", "bool", (None,))
    cost = T.sum((x * T.cast(n, "float32"))[flags])
    by_n, by_flags = grad(cost, [n, flags])
    values = {x: np.ones(2, "float32"), n: [3, 4], flags: [True, False]}
    for found in (by_n, by_flags, vjp(cost, n, np.float32(1))):
        assert found.dtype == "float32"
        np.testing.assert_array_equal(found.eval(values), [0, 0])
    rows = jacobian(x * T.cast(n, "float32"), n)
    np.testing.assert_array_equal(rows.eval(values), np.zeros((2, 2)))
    np.testing.assert_array_equal(hessian(cost, n).eval(values), np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"n .* is disconnected"):
        grad(T.sum(x), n)


def test_a_derivative_is_a_function_of_the_variables_of_the_cost():
    s, t, x = T.scalar("s"), T.scalar("t"), T.vector("x", shape=(2,))
    assert grad(3 * s, s).eval() == 3
    assert ag.function([], grad(3 * s, s), mode="NUMPY")() == 3
    for inputs, derivative, expected in [
        ([s], grad(3 * s, s), 3), ([s], grad(s, s), 1), ([s], 2 * grad(3 * s, s) + 1, 7),
        ([s], hessian(3 * s * s, s), 6), ([s], hessian(3 * s, s), 0), ([s, t], grad(s * t, s), 5),
        ([s, t], grad(s * s + T.exp(t), s), 4), ([s, t], jvp(s + t, t, 7.0), 7), ([s, t], vjp(s + t, t, 7.0), 7),
    ]:  # fmt: skip
        assert ag.function(inputs, derivative, mode="NUMPY")(*(2.0, 5.0)[: len(inputs)]) == expected
    np.testing.assert_array_equal(ag.function([x], jacobian(3 * x, x), mode="NUMPY")([1.0, 2.0]), 3 * np.eye(2))
    with pytest.raises(ValueError, match="nothing depends on t"):
        ag.function([s, t], grad(s * s, s))


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "NUMPY"])
def test_second_derivatives_do_not_read_values_that_do_not_count(mode):
    x = T.vector("x")
    second = hessian(T.sum(T.square(x)), x)
    f = ag.function([x], second, mode=mode)
    np.testing.assert_array_equal(f([1.0, np.inf, np.nan]), 2 * np.eye(3))


def test_second_derivatives_leave_no_dead_work():
    x = T.vector("x")
    f = ag.function([x], grad(T.sum(grad(T.sum(T.square(x)), x)), x))
    assert not any(node.op.name in ("mul", "square") for node in f.graph.order)


def test_no_gradient_names_op_line_and_way_out():
    x = T.vector("x")
    y = T.polygamma(x, 1.5)
    line = sys._getframe().f_lineno - 1
    with pytest.raises(NoGradient) as caught:
        grad(T.sum(y), x)
    message = str(caught.value)
    assert "polygamma(x" in message
    assert str(SourceLine(HERE, line)) in message
    assert "by its order" in message
    assert "stop_gradient" in message
    assert len(message.splitlines()) <= 3


# --- provenance


def test_nodes_of_a_derivative_carry_the_lines_of_what_they_derive():
    x = T.vector("x")
    y = T.sin(x)
    first = sys._getframe().f_lineno - 1
    cost = T.sum(T.exp(y))
    second = sys._getframe().f_lineno - 1
    g = grad(cost, x)
    made = [n for n in toposort([g]) if n not in toposort([cost])]
    assert {n.op.name for n in made} >= {"cos", "mul"}
    assert all(n.origin and n.origin[0].file == HERE for n in made)
    assert {n.origin[0].line for n in made if n.op.name == "cos"} == {first}
    assert {n.origin[0].line for n in made} == {first, second}


# --- other products


def test_vjp():
    x, y = T.vector("x"), T.vector("y")
    outputs = [x * y, T.sum(T.exp(x))]
    given = sample(3, seed=3)
    gx, gy = vjp(outputs, [x, y], [T.constant(given), 2.0])
    values = {x: sample(3), y: sample(3, seed=6)}
    np.testing.assert_allclose(evaluated(gx, values), given * values[y] + 2 * np.exp(values[x]))
    np.testing.assert_allclose(evaluated(gy, values), given * values[x])
    np.testing.assert_array_equal(evaluated(vjp(x * 2, y, given), values), np.zeros(3))
    with pytest.raises(ValueError, match="expected 2 values, got 1"):
        vjp(outputs, x, [1.0])
    with pytest.raises(TypeError, match="dtype and rank"):
        vjp(outputs[1], x, given)
    with pytest.raises(ValueError, match="does not have the shape"):
        vjp(T.tensor("z", shape=(2,)) * 1, x, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_jvp_is_the_slope_along_a_tangent(dtype):
    x, w = T.tensor("x", dtype, (None, None)), T.tensor("w", dtype, (None, None))
    values = {x: sample((2, 3), dtype), w: sample((3, 4), dtype, seed=6)}
    tangents = [sample((2, 3), dtype, seed=7), sample((3, 4), dtype, seed=8)]
    functions = {
        "float64": lambda: [T.tanh(T.dot(x, w)), T.sum(x[1:] ** 2), T.logsumexp(w, 0)],
        "complex128": lambda: [T.exp(T.dot(x, w)), T.real(T.sum(x[:, 0])), T.conj(x) * x],
    }
    outputs = functions[dtype]()
    h = 1e-6
    ends = [
        T.evaluate(outputs, {v: values[v] + sign * h * t for v, t in zip((x, w), tangents)}) for sign in (1, -1)
    ]
    for found, above, below in zip(T.evaluate(jvp(outputs, [x, w], tangents), values), *ends):
        np.testing.assert_allclose(found, (above - below) / (2 * h), rtol=1e-7, atol=1e-8)


def test_jvp_needs_no_values_but_those_of_its_inputs():
    x, y = T.vector("x"), T.vector("y")
    along_x, other = jvp([x * 2, y * 2], x, T.constant([1.0, 2.0]))
    assert evaluated(along_x, {x: [5.0, 6.0]}).tolist() == [2, 4]
    assert evaluated(other, {y: [1.0]}).tolist() == [0]


def test_hvp_and_second_derivatives():
    x = T.vector("x")
    cost = T.sum(T.sin(x[1:]) * x[:-1] ** 2)
    value, direction = sample(4), sample(4, seed=2)
    product = evaluated(hvp(cost, x, direction), {x: value})
    first = grad(cost, x)
    h = 1e-6
    slope = (evaluated(first, {x: value + h * direction}) - evaluated(first, {x: value - h * direction})) / (2 * h)
    np.testing.assert_allclose(product, slope, rtol=1e-7, atol=1e-9)
    z = T.scalar("z")
    third = grad(grad(grad(z**4, z), z), z)
    assert np.isclose(evaluated(third, {z: 2.0}), 48)


SECOND = {
    "softmax": lambda x: T.softmax(x, 0),
    "log_softmax": T.log_softmax,
    "logsumexp": lambda x: T.logsumexp(x, 1),
    "dot": lambda x: T.dot(x, T.dot(x.T, x)),
    "matmul": lambda x: T.matmul(x[None] * T.constant([[[1.0]], [[2.0]]]), x.T),
    "parts": lambda x: T.inc_subtensor(x[1:, ::-1], x[:-1] ** 2),
    "set": lambda x: T.set_subtensor(x[0], x[1] * x[1]),
    "gathered": lambda x: x[[0, 1, 1], [2, 0, 0]] * x[1, 1],
    "scattered": lambda x: T.inc_subtensor(x[[1, 1]], x[[0, 0]] ** 2),
    "joined": lambda x: T.concatenate([x, x * x], 1) ** 2,
    "broadcast": lambda x: T.broadcast_to(x[:1], x.shape) * x,
    "reshaped": lambda x: T.dot(x.reshape((3, 2)), x.reshape((-1, 3))),
    "gemm": lambda x: T.Gemm()(x, x[0, 0], x, T.dot(x.T, x), x[0, 1]),
    "loss": lambda x: T.nn.softmax_crossentropy(x, T.constant([0, 2])),
}


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("name", SECOND)
def test_derivatives_of_derivatives(name, static):
    assert_gradient(lambda x: grad(T.sum(SECOND[name](x) ** 2), x), sample((2, 3)), static=static)


# --- groups of ops


def test_a_group_is_differentiated_as_what_is_in_it():
    x, y = T.matrix("x"), T.vector("y")
    inner = [T.exp(x) * y, T.sum(T.exp(x) * y, axis=1)]
    group = T.Fused(FunctionGraph([x, y], inner))
    values = {x: sample((2, 3)), y: sample(3, seed=4)}

    def cost(a, b):
        return T.sum(a**2) + T.sum(T.tanh(b))

    for plain, fused in zip(grad(cost(*inner), [x, y]), grad(cost(*group(x, y)), [x, y])):
        np.testing.assert_allclose(evaluated(fused, values), evaluated(plain, values))
    squared = T.InPlace(T.square, ((0, 0),))(x)
    np.testing.assert_allclose(evaluated(grad(T.sum(squared), x), values), 2 * values[x])


def test_a_group_reads_one_input_twice_or_what_is_made_of_it():
    x, y = T.vector("x"), T.vector("y")
    product = T.Fused(FunctionGraph([x, y], [T.exp(x) * y]))
    value = sample(3)
    np.testing.assert_allclose(evaluated(grad(T.sum(product(x, x)), x), {x: value}), (1 + value) * np.exp(value))
    made = grad(T.sum(product(x, T.sin(x))), x)
    np.testing.assert_allclose(evaluated(made, {x: value}), np.exp(value) * (np.sin(value) + np.cos(value)))


def test_a_blas_op_reads_one_input_twice_or_what_is_made_of_it():
    x = T.matrix("x")
    values = {x: sample((3, 3))}
    for z, left in [(x, x), (T.sin(x), T.cos(x)), (x, x.T)]:
        gemm = T.Gemm()(z, T.constant(0.7), left, x, T.constant(1.3))
        plain = 1.3 * z + 0.7 * T.dot(left, x)
        found, expected = (evaluated(grad(T.sum(r**2), x), values) for r in (gemm, plain))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


# --- depth and width


@pytest.mark.long
def test_a_deep_chain_needs_no_recursion():
    limit = sys.getrecursionlimit()
    x = T.vector("x")
    y = x
    sys.setrecursionlimit(300)
    try:
        for _ in range(5_000):
            y = T.sin(y) + 1
        g = grad(T.sum(y), x)
        assert len(toposort([g])) > 10_000
        assert np.isfinite(evaluated(g, {x: sample(2)})).all()
        del g, y
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.long  # it compares times
def test_time_grows_with_the_graph():
    def seconds(n):
        x = T.vector("x")
        layer = [T.sin(x) for _ in range(n)]  # one variable read n times
        cost = T.sum(layer[0])
        for part in layer[1:]:
            cost = cost + T.sum(part)
        start = time.process_time()
        grad(cost, x)
        return time.process_time() - start

    small, large = min(seconds(500) for _ in range(3)), seconds(4000)
    assert large < 8 * 4 * small


def test_derivatives_by_a_dict_are_a_dict():
    x, y = T.vector("x"), T.vector("y")
    cost, wrt = T.sum(x * x * y), {"a": x, ("b", 1): y}
    values = {x: np.array([1.0, 2.0]), y: np.array([3.0, 5.0])}
    for found in (grad(cost, wrt), value_and_grad(cost, wrt)[1], jacobian(cost, wrt), vjp(cost, wrt, 1.0)):
        assert list(found) == list(wrt)
        np.testing.assert_allclose(found["a"].eval(values), [6, 20])
        np.testing.assert_allclose(found["b", 1].eval(values), [1, 4])
    second = hvp(cost, wrt, {"a": np.ones(2), ("b", 1): np.zeros(2)})
    np.testing.assert_allclose(second["a"].eval(values), [6, 10])
    np.testing.assert_allclose(second["b", 1].eval(values), [2, 4])
    with pytest.raises(ValueError, match="a dict with the keys 'a'"):
        hvp(cost, wrt, {"a": np.ones(2)})
    with pytest.raises(TypeError, match="list, tuple or dict"):
        grad(cost, {"a": 1.0})


def test_mixed_second_derivatives():
    x, y = T.vector("x"), T.matrix("y")
    cost = T.sum(T.dot(y, x) ** 2)
    a, b = np.array([1.0, 2.0]), np.array([[1.0, 3.0], [0.5, -1.0], [2.0, 2.0]])
    blocks = hessian(cost, [x, y])
    flat = T.vector("flat")
    whole = hessian(T.sum(T.dot(flat[2:].reshape((3, 2)), flat[:2]) ** 2), flat)
    expected = whole.eval({flat: np.concatenate([a, b.ravel()])})
    xx, xy, yx, yy = ag.function([x, y], [block for row in blocks for block in row])(a, b)
    assert xy.shape == (2, 3, 2) and yx.shape == (3, 2, 2)
    found = np.block([[xx, xy.reshape(2, 6)], [yx.reshape(6, 2), yy.reshape(6, 6)]])
    np.testing.assert_allclose(found, expected)
    by_name = hessian(cost, {"x": x, "y": y})
    np.testing.assert_allclose(by_name["x"]["y"].eval({x: a, y: b}), xy)
