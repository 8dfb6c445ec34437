"""`ag.vmap`, Jacobians and Hessians over loops and choices: one loop for all examples."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.control.batching import NoBatch

RNG = np.random.default_rng(4)
MODES = ["FAST_RUN", "NUMPY"]


def uniform(*shape):
    return RNG.uniform(0.5, 1.5, shape)


def product(x, s):
    return ag.scan(lambda x, s: s * x, x, s)[0]


def pairs(x, s):
    value, sums = ag.scan(lambda x, t, s: [s * x + t, x + s], x, [s, None], s)[0]
    return value + sums


def chosen(x, s):
    return ag.cond(s > 1, lambda: x * s, lambda: x - s)


@pytest.mark.few(4)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)], ids=str)
@pytest.mark.parametrize("function", [product, pairs, chosen], ids=lambda f: f.__name__)
def test_many_examples(function, axes, mode):
    shapes = [(4, 3) if axes[0] == 0 else (3,), (4,) if axes[1] == 0 else ()]
    values = [uniform(*shape) for shape in shapes]
    inputs = [T.tensor(dtype="float64", shape=(None,) * v.ndim) for v in values]
    one = [T.vector(), T.scalar()]
    single = ag.function(one, function(*one), mode="NUMPY")
    many = ag.function(inputs, ag.vmap(function, in_axes=axes)(*inputs), mode=mode)
    expected = [single(*(v[k] if axis == 0 else v for v, axis in zip(values, axes))) for k in range(4)]
    np.testing.assert_allclose(many(*values), expected)


@pytest.mark.parametrize("mode", MODES)
def test_jacobian_and_hessian(mode):
    x = T.vector("x")
    last = product(x, T.constant(1.0))
    value = uniform(4)
    jacobian, hessian = ag.jacobian(last, x), ag.hessian(last[-1], x)
    found, second = ag.function([x], [jacobian, hessian], mode=mode)(value)
    steps = np.cumprod(value)
    np.testing.assert_allclose(found, [[steps[i] / value[j] if j <= i else 0 for j in range(4)] for i in range(4)])
    whole = value.prod() / np.outer(value, value)
    np.testing.assert_allclose(second, whole - np.diag(np.diag(whole)), atol=1e-12)


def test_the_same_condition_for_all():
    x = T.vector("x")
    many = ag.vmap(lambda s: ag.while_loop(lambda p: p[1] < 5, lambda p: (p[0] * 2, p[1] + 1), (s, 0))[0])(x)
    np.testing.assert_array_equal(ag.function([x], many)([1.0, 3.0]), [32, 96])


def test_another_number_of_steps_for_each():
    x = T.vector("x")
    many = ag.vmap(lambda s: ag.while_loop(lambda s: s < 9, lambda s: s * 2, s))(x)
    np.testing.assert_array_equal(ag.function([x], many)([1.0, 8.0, 30.0]), [16, 16, 30])
    with pytest.raises(NoBatch, match="the number of steps would differ"):
        ag.vmap(lambda n: ag.scan(lambda s: s * 2, outputs_info=T.constant(1.0), n_steps=n)[0][-1])(T.lvector("n"))
