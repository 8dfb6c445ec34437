"""`x.at[i].multiply(y)` and its kind: elements combined with values at positions that may repeat, as `ufunc.at`."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import toposort
from arignote.ops.shapes.combining import AdvancedCombine

UFUNCS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip
PLACES = np.array([0, 2, 2, -1, 4, 0])
LAYOUTS = {
    "rows": ((5, 3), (PLACES,), (6, 3)),
    "pairs": ((5, 3), (PLACES, np.array([0, 1, 1, 2, -1, 0])), (6,)),
    "a row to each": ((5, 3), (PLACES,), (3,)),
    "columns": ((3, 5), (slice(1, None), PLACES), (2, 6)),
    "no position": ((5, 3), (np.zeros(0, int),), (0, 3)),
    "a slice": ((5, 3), (slice(None, None, -2),), (3, 3)),
    "a mask": ((5,), (np.array([True, False, True, True, False]),), ()),
}


def combined(x, y, key, name):
    """NumPy's meaning."""
    result = x.copy()
    with np.errstate(all="ignore"):
        UFUNCS[name].at(result, key, y)
    return result


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "uint64", "bool", "complex64"])
def test_values_are_those_of_ufunc_at(dtype):
    rng = np.random.default_rng(3)
    variables, results, values, wanted = [], [], [], []
    for shape, key, part in LAYOUTS.values():
        x, y = (T.tensor(dtype, (None,) * len(own)) for own in (shape, part))
        arrays = [(rng.normal(size=own) * 3).astype(dtype) for own in (shape, part)]
        if dtype in ("float64", "float16"):
            arrays[0].flat[0], arrays[0].flat[1] = np.nan, -0.0
        variables, values = [*variables, x, y], [*values, *arrays]
        for name in UFUNCS:
            if (dtype, name) == ("bool", "subtract"):
                continue
            results.append(getattr(x.at[key], name)(y))
            wanted.append(combined(*arrays, key, name))
    for mode in ("FAST_RUN", "NUMPY"):
        for got, want in zip(ag.function(variables, results, mode=mode)(*values), wanted, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_divide_and_power_take_the_product_of_the_values():
    x, y = T.dvector("x"), T.dvector("y")
    at = x.at[np.array([1, 1, 2])]
    f = ag.function([x, y], [at.divide(y), at.power(y)])
    divided, powers = f(np.array([3.0, 24.0, 9.0]), np.array([2.0, 3.0, 0.5]))
    assert divided.tolist() == [3.0, 4.0, 18.0]
    assert powers.tolist() == [3.0, 24.0**6, 3.0]
    assert ag.function([], T.constant([7, 8]).at[0].divide(2))().tolist() == [3.5, 8.0]


@pytest.mark.long
def test_derivatives_agree_with_differences():
    x, y = T.dvector("x"), T.dmatrix("y")
    names = ["subtract", "multiply", "max", "min", "divide", "power"]
    at = x.at[np.array([[0, 2, 2], [3, 3, 3]])]
    costs = [T.sum(getattr(at, name)(y) * np.arange(1.0, 6.0)) for name in names]
    f = ag.function([x, y], T.stack(costs), mode="NUMPY")
    g = ag.function([x, y], [ag.grad(cost, [x, y]) for cost in costs])
    points = [(6, np.array([1.5, 2, 3, 4, 5]), np.array([[0.5, 2.5, 1.2], [0.7, 4.5, 0.9]])),
              (4, np.array([1.0, 2, 0, 4, 5]), np.array([[0.0, 3, -1], [0, 0, 2]]))]  # fmt: skip
    for count, *point in points:
        with np.errstate(all="ignore"):
            slopes = g(*point)[:count]
            for k in range(2):
                for place in np.ndindex(point[k].shape):
                    up, down = ([v.copy() for v in point] for _ in range(2))
                    up[k][place] += 1e-6
                    down[k][place] -= 1e-6
                    expected = ((f(*up) - f(*down)) / 2e-6)[:count]
                    found = [of[k][place] for of in slopes]
                    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6, err_msg=f"{names}, {k}, {place}")


def test_elements_that_reach_an_extremum_together_share_its_derivative():
    x, y = T.dvector("x"), T.dvector("y")
    cost = T.sum(x.at[np.array([0, 0, 1])].max(y))
    of_x, of_y = ag.function([x, y], ag.grad(cost, [x, y]))(np.array([2.0, 5.0, 1.0]), np.array([2.0, 2.0, 3.0]))
    np.testing.assert_allclose(of_x, [1 / 3, 1, 1])
    np.testing.assert_allclose(of_y, [1 / 3, 1 / 3, 0])


def test_second_derivative_of_a_product_with_a_zero():
    y = T.dvector("y")
    cost = T.sum(T.ones((2,)).at[np.array([0, 0, 1])].multiply(y))
    hessian = ag.function([y], ag.hessian(cost, y), mode="NUMPY")(np.array([0.0, 3.0, 2.0]))
    np.testing.assert_allclose(hessian, [[0, 1, 0], [1, 0, 0], [0, 0, 0]], atol=1e-15)


def test_many_examples_at_once():
    rng = np.random.default_rng(5)
    x, y, i = rng.normal(size=(3, 5)), rng.normal(size=(3, 6)), rng.integers(0, 5, (3, 6))
    each = ag.jit(ag.vmap(lambda x, y, i: x.at[i].max(y)))
    np.testing.assert_array_equal(each(x, y, i), [combined(*row, "max") for row in zip(x, y, i, strict=True)])
    shared = ag.jit(ag.vmap(lambda x, y: x.at[PLACES].multiply(y)))
    np.testing.assert_array_equal(shared(x, y), [combined(*row, PLACES, "multiply") for row in zip(x, y, strict=True)])


def test_positions_that_differ_are_written_as_a_part():
    x, y = T.dvector("x"), T.dvector("y")
    graph = ag.function([x, y], [x.at[1:].max(y), x.at[np.array([2, 0])].multiply(2.0)]).graph
    assert not any(isinstance(node.op, AdvancedCombine) for node in toposort(graph.outputs))


def test_bad_input():
    x, i = T.dvector("x"), T.lvector("i")
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 of x with size 3"):
        ag.function([x, i], x.at[i].max(1.0))(np.zeros(3), [5])
    with pytest.raises(TypeError, match=r"x.at\[...\].multiply: .* cannot be put into"):
        T.lvector("n").at[i].multiply(x)
    with pytest.raises(ValueError, match="does not broadcast"):
        x.at[np.array([1, 1])].min(np.zeros(3))
    with pytest.raises(AttributeError, match="an index comes first"):
        _ = x.at.max
