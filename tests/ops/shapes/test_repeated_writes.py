"""Writes to positions that an index names several times: NumPy keeps the last value, the others have no derivative."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import toposort
from arignote.ops.shapes.advanced_indexing import AdvancedIncSubtensor, pointers_of
from arignote.ops.shapes.distinct import names_each_once

MODES = ["NUMPY", "FAST_RUN"]


def sources(shape, key, source_shape):
    """The number of the source of each element after `x[key] = y`: elements of x first, then those of y."""
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    x[key] = x.size + np.arange(np.prod(source_shape, dtype=int)).reshape(source_shape)
    return x


def expected(shape, key, source_shape, weights):
    """The derivatives of `sum(weights * written)` by x and by y."""
    count = int(np.prod(shape, dtype=int))
    sums = np.bincount(
        sources(shape, key, source_shape).ravel(), weights.ravel(), count + int(np.prod(source_shape, dtype=int))
    )
    return sums[:count].reshape(shape), sums[count:].reshape(source_shape)


def draw(rng):
    """A shape, an index with arrays that repeat positions, and the shape of a value that broadcasts to the part."""
    shape = tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(1, 4))))
    joint = tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 3))))
    key, arrays = [], 0
    for n in shape[: int(rng.integers(1, len(shape) + 1))]:
        kind = rng.choice(["array", "array", "integer", "slice"])
        if kind == "slice":
            key.append(slice(int(rng.integers(0, n)), None, int(rng.choice([1, -1, 2]))))
        elif kind == "integer":
            key.append(int(rng.integers(-n, n)))
        else:
            own = [m if rng.random() < 0.7 else 1 for m in joint[int(rng.integers(0, len(joint))) :]]
            array = rng.integers(-n, n, own)
            key.append(np.asfortranarray(array) if rng.random() < 0.3 else array)
            arrays += 1
    if not arrays:
        key[0] = rng.integers(-shape[0], shape[0], joint)
    part = np.zeros(shape)[tuple(key)].shape
    first = int(rng.integers(0, len(part) + 1)) if rng.random() < 0.3 else 0
    source = [n if rng.random() < 0.8 else 1 for n in part[first:]]
    return shape, tuple(key), tuple(source)


def written(x, y, key, form):
    """`x` with `y` at `key`, spelled in one of the forms."""
    return x.at[key].set(y) if form == "at" else T.set_subtensor(x[key], y)


def as_variables(key, known):
    """The index with arrays as variables, if not `known`, and the values of these."""
    values, entries = {}, []
    for k in key:
        if isinstance(k, np.ndarray) and not known:
            variable = T.tensor(dtype="int64", shape=(None,) * k.ndim)
            values[variable] = np.ascontiguousarray(k)
            k = variable
        entries.append(k)
    return tuple(entries), values


def cost_of(shape, key, source, known, rng, form="set"):
    """A weighted sum of `x` with `y` at `key`, (x, y), the derivatives that it has, and the values of all inputs."""
    static = shape if known else (None,) * len(shape)
    x = T.tensor("x", "float64", static)
    y = T.tensor("y", "float64", source if known else (None,) * len(source))
    entries, values = as_variables(key, known)
    weights = rng.normal(size=shape)
    cost = T.sum(written(x, y, entries, form) * weights)
    values |= {x: rng.normal(size=shape), y: rng.normal(size=source)}
    ordered = tuple(np.ascontiguousarray(k) if isinstance(k, np.ndarray) else k for k in key)
    return cost, (x, y), expected(shape, ordered, source, weights), values


def check_drawn(seed, trials):
    rng = np.random.default_rng(seed)
    for trial in range(trials):
        shape, key, source = draw(rng)
        cost, by, derivatives, values = cost_of(shape, key, source, trial % 2, rng, ["set", "at"][trial // 2 % 2])
        found = T.evaluate(ag.grad(cost, list(by)), values)
        for got, wanted in zip(found, derivatives, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12, err_msg=f"{shape} {key} {source}")


def test_drawn_writes():
    check_drawn(7, 60)


@pytest.mark.long
def test_many_drawn_writes():
    check_drawn(8, 2000)


KEYS = {
    "rows": ((4, 3), ([0, 2, 2, -2],), (4, 3)),
    "a row for all": ((4, 3), ([0, 2, 2],), (3,)),
    "a number for all": ((4,), ([1, 3, 1, -1],), ()),
    "columns": ((2, 3), (slice(None), [2, 0, 2]), (2, 3)),
    "between slices": ((2, 3, 2), (slice(None), [[2, 0], [0, 1]], slice(1, None)), (2, 2, 2, 1)),
    "pairs": ((3, 3), ([[0], [1]], [2, 2, 0]), (2, 3)),
    "pairs in front": ((2, 3, 2), ([0, 1, 0], slice(None), [1, 1, 1]), (3, 3)),
    "an integer and an array": ((2, 3), (1, [2, -1, 0]), (3,)),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_derivatives_in_compiled_functions(mode, known):
    rng = np.random.default_rng(3)
    outputs, derivatives, values = [], [], {}
    for shape, key, source in KEYS.values():
        key = tuple(np.array(k) if isinstance(k, list) else k for k in key)
        cost, by, wanted, given = cost_of(shape, key, source, known, rng)
        outputs += ag.grad(cost, list(by))
        derivatives += wanted
        values |= given
    found = ag.function(list(values), outputs, mode=mode)(*values.values())
    for got, wanted in zip(found, derivatives, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_the_last_value_alone_has_derivatives_of_any_order(mode):
    x, y, t, i = T.dvector("x"), T.dvector("y"), T.dvector("t"), T.lvector("i")
    result = T.set_subtensor(x[i], y) ** 3
    cost = T.sum(result)
    f = ag.function(
        [x, y, t, i],
        [ag.jvp(result, y, t), ag.hessian(cost, y), ag.jacobian(result, y), ag.hvp(cost, y, t), ag.grad(cost, x)],
        mode=mode,
    )
    y0 = np.array([2.0, 3.0, 5.0])
    tangent, hessian, jacobian, product, by_x = f([1.0, 7.0, 1.0], y0, [1.0, 10.0, 100.0], [0, 2, 2])
    np.testing.assert_allclose(tangent, [12, 0, 7500])
    np.testing.assert_allclose(hessian, np.diag([12.0, 0, 30]))
    np.testing.assert_allclose(jacobian, [[12, 0, 0], [0, 0, 0], [0, 0, 75]])
    np.testing.assert_allclose(product, [12, 0, 3000])
    np.testing.assert_allclose(by_x, [0, 147, 0])


def test_a_cotangent_that_is_not_finite_does_not_reach_an_overwritten_value():
    x, y = T.dvector("x"), T.dvector("y")
    by_y = ag.grad(T.sum(T.log(T.set_subtensor(x[[0, 0]], y))), y)
    np.testing.assert_array_equal(by_y.eval({x: np.ones(2), y: [5.0, 0.0]}), [0, np.inf])


@pytest.mark.parametrize("mode", MODES)
def test_writes_in_loops_and_for_many_examples(mode):
    x, ys, indices = T.dvector("x"), T.dmatrix("ys"), T.lmatrix("indices")
    weights = np.array([1.0, 9.0, 4.0])

    def step(index, y, state):
        return T.set_subtensor(state[index], y) * 2

    states, _ = ag.scan(step, sequences=[indices, ys], outputs_info=x)
    looped = ag.grad(T.sum(states[-1] * weights), ys)
    each = ag.vmap(lambda y, i: T.sum(T.set_subtensor(x[i], y) * weights))(ys, indices)
    mapped = ag.grad(T.sum(each), ys)
    inner = ag.vmap(lambda y, i: ag.grad(T.sum(T.set_subtensor(x[i], y) * weights), y))(ys, indices)
    f = ag.function([x, ys, indices], [looped, mapped, inner], mode=mode)
    loop, *maps = f(np.zeros(3), np.zeros((2, 3)), [[1, 0, 1], [0, 2, 2]])
    np.testing.assert_allclose(loop, [[0, 0, 36], [2, 0, 8]])
    for found in maps:
        np.testing.assert_allclose(found, [[0, 1, 9], [1, 0, 4]])


def test_writes_through_take_and_scatters_of_other_systems():
    x, y = T.dmatrix("x"), T.dmatrix("y")
    weights = np.arange(1.0, 7).reshape(2, 3)
    part = T.take(x, [2, 0, 2], axis=1)
    by_y = ag.grad(T.sum(T.set_subtensor(part, y) * weights), y)
    np.testing.assert_array_equal(by_y.eval({x: np.zeros((2, 3)), y: np.zeros((2, 3))}), [[0, 1, 3], [0, 4, 6]])
    along = T.take_along_axis(x, T.constant([[1, 1, 0], [2, 2, 2]]), 1)
    by_y = ag.grad(T.sum(T.set_subtensor(along, y) * weights), y)
    np.testing.assert_array_equal(by_y.eval({x: np.zeros((2, 3)), y: np.zeros((2, 3))}), [[0, 2, 1], [0, 0, 6]])


# --- positions that are known to be distinct need no other derivative


def _distinct(build, shape=(4, 3)):
    x = T.tensor("x", "float64", shape)
    part = build(x)
    return names_each_once(part.owner.inputs[0], pointers_of(part.owner.op.spec, part.owner.inputs[1:]))


N = T.lscalar("n")
I = T.lvector("i")
M = T.tensor("m", "bool", (None, None))
S = T.dmatrix("s")


@pytest.mark.parametrize(
    "build, expected",
    [
        (lambda x: x[[2, 0, 1]], True),
        (lambda x: x[[2, 0, 2]], False),
        (lambda x: x[[-1, 0]], True),
        (lambda x: x[[-1, 3]], False),
        (lambda x: x[[0, 1], [2, 2]], True),
        (lambda x: x[[1, 1], [2, 0]], True),
        (lambda x: x[[1, 1, 0], [2, 0, 2]], False),  # a proof by two arrays together is not looked for
        (lambda x: x[np.ix_([2, 0], [0, 1])], True),
        (lambda x: x[np.ix_([2, 0], [1, 1])], False),
        (lambda x: x[[[0], [1]], [[0, 2], [1, 0]]], True),
        (lambda x: x[[[0, 1], [1, 0]], [[0, 0], [1, 1]]], False),
        (lambda x: x[1, [2, 0]], True),
        (lambda x: x[N, [2, 0]], True),
        (lambda x: x[:, [2, 0]], True),
        (lambda x: x[I], False),
        (lambda x: x[I, 0], False),
        (lambda x: x[I, T.arange(3)], True),
        (lambda x: x[I, T.arange(N)], False),  # one number may stand beside several of i
        (lambda x: x[T.arange(I.shape[0]), I], True),
        (lambda x: x[T.arange(N)], True),
        (lambda x: x[T.arange(N)[::-1]], True),
        (lambda x: x[T.arange(N, 7)], False),  # n may be negative, and -1 is the last
        (lambda x: x[T.arange(2, 9, 3)], True),
        (lambda x: x[T.arange(3, -1, -1)], True),
        (lambda x: x[T.cast(T.arange(N), "uint32")], False),  # 2**32 becomes 0
        (lambda x: x[T.constant(np.zeros((0,), "int64"))], True),
        (lambda x: x[M], True),
        (lambda x: x[T.nonzero(M)[0]], False),
        (lambda x: x[T.nonzero(x[:, 0])[0], 1], True),
        (lambda x: x[T.argsort(S[:, 0])], True),
        (lambda x: x[T.argsort(S[:, 0])[:2]], True),
        (lambda x: T.take_along_axis(x, T.argsort(x, 1), 1), True),
        (lambda x: T.take_along_axis(x, T.argsort(x, 1)[:, ::-1], 1), True),
        (lambda x: T.take_along_axis(x, T.argsort(x, 0), 1), False),
        (lambda x: x[T.unique(I, return_index=True)[1]], True),
        (lambda x: x[T.unique(I, return_inverse=True)[1]], False),
    ],
)
def test_positions_that_are_known_to_be_distinct(build, expected):
    assert _distinct(build) == expected


def test_the_derivative_of_a_write_to_distinct_positions_is_a_gather():
    x, y = T.tensor("x", "float64", (4, 3)), T.dmatrix("y")
    for part in (x[[2, 0]], x[T.arange(2)], x[:, [0, 2]], x[1:3], x[M]):
        source = y if part.ndim == 2 else T.dvector("v")
        cost = T.sum(T.set_subtensor(part, source) ** 2)
        nodes = toposort([ag.grad(cost, source)])
        assert sum(isinstance(n.op, AdvancedIncSubtensor) for n in nodes) <= 1
