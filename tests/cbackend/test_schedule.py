"""Schedules change how kernels go about their loops, never what they compute; those that do not fit are refused."""

import itertools
import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ir.schedule import DEFAULT, Schedule, ScheduleError
from arignote.cbackend.lowering.lower import lower

X, Y, Z = T.matrix("X"), T.matrix("Y"), T.tensor3("Z")
SIZES = [(0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (5, 6), (33, 70), (130, 17)]

ELEMENTWISE = [
    {"order": (1, 0)}, {"tiles": {0: 8, 1: 16}}, {"tiles": {1: 5}}, {"unroll": 4},
    {"order": (1, 0), "unroll": 2, "tiles": {0: 3, 1: 4}}, {"vector": 1}, {"vector": 4},
    {"parallel": False}, {"grain": 1, "unroll": 8}, {"grain": 1000},
]  # fmt: skip
REDUCED = [{"tiles": {1: 8}}, {"unroll": 8}, {"order": (1, 0), "unroll": 4}, {"block": 4, "unroll": 2, "grain": 1},
           {"vector": 2, "parallel": False}]  # fmt: skip


def forms(inputs, outputs, choices, **how):
    """The function by default, and under a choice for each of its kernels."""
    plain = ag.function(inputs, outputs, **how)
    schedules = plain.schedule()
    assert schedules
    for name in schedules:
        schedules = schedules.changed(name, **choices)
    return plain, ag.function(inputs, outputs, schedule=schedules, **how)


def arrays(*shapes, dtype="float64"):
    rng = np.random.default_rng(0)
    found = [(9 * rng.standard_normal(shape)).astype(dtype) for shape in shapes]
    for array in found:
        if array.size > 4 and array.dtype.kind == "f":
            array.flat[1], array.flat[3] = -0.0, np.inf
    return found


def layouts(shape):
    x, y = arrays(shape, shape)
    yield x, y
    yield np.asfortranarray(x), y
    yield x[::-1], np.repeat(y, 2, 1)[:, ::2]
    yield np.broadcast_to(x[:, :1], shape), y.T.copy().T


@pytest.mark.parametrize("choices", ELEMENTWISE, ids=str)
def test_elementwise_kernels(choices):
    plain, other = forms([X, Y], [X + Y * 2, T.maximum(X, Y)], choices)
    for shape in SIZES:
        for x, y in layouts(shape):
            for one, two in zip(plain(x, y), other(x, y), strict=True):
                np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("choices", ELEMENTWISE[3::2], ids=str)
def test_elementwise_functions_that_cost(choices):
    plain, other = forms([X, Y], T.exp(X) * Y, choices)
    for shape in SIZES[2:]:
        for x, y in layouts(shape):
            np.testing.assert_allclose(other(x, y), plain(x, y), rtol=1e-14)


@pytest.mark.few(1)
@pytest.mark.parametrize(("choices", "axis", "dtype"), [
    *itertools.product(REDUCED, (0, 1), ["float64"]), *itertools.product(REDUCED[1:3], (0,), ["float32", "int16"]),
], ids=str)  # fmt: skip
def test_reductions(choices, axis, dtype):
    if axis == 1 and "tiles" in choices:
        choices = {**choices, "tiles": {0: 8}}
    x = T.matrix("x", dtype=dtype)
    plain, other = forms([x], [(x * x).sum(axis), x.max(axis)], choices)
    for shape in SIZES[2:]:
        (a,) = arrays(shape, dtype=dtype)
        for given in (a, np.asfortranarray(a), a[::-1, ::-1]):
            for one, two in zip(plain(given), other(given), strict=True):
                np.testing.assert_allclose(two, one, rtol=1e-5 if dtype == "float32" else 1e-13)


def test_kernels_with_fixed_loops_have_no_schedule():
    at = T.lvector("at")
    plain, other = forms([X, at], T.exp(X[at]) + 1, {"unroll": 4})
    x = arrays((5, 6))[0]
    np.testing.assert_array_equal(other(x, [3, 0, 3]), plain(x, [3, 0, 3]))


@pytest.mark.parametrize("choices", [{"unroll": 8}, {"tiles": {1: 8}}], ids=str)
def test_sums_have_the_same_bits_where_the_order_of_additions_is_the_same(choices):
    plain, other = forms([X], (X * X).sum(0), choices)
    schedule = next(iter(other.schedule().values()))
    (a,) = arrays((300, 70))
    assert schedule.exact_as(DEFAULT)
    np.testing.assert_array_equal(plain(a), other(a))
    for other in ({"block": 3}, {"parallel": False}, {"grain": 80}):  # parts of sums have other lengths
        assert not Schedule(**other).exact_as(DEFAULT)


ORDERS = list(itertools.permutations(range(3)))
TILES = [{}, {0: 8, 2: 32}, {0: 16, 2: 16}]


@pytest.mark.few(2)
@pytest.mark.parametrize(("order", "tiles", "dtype"), [
    *itertools.product(ORDERS, TILES, ["float32"]), *itertools.product(ORDERS[1::2], TILES[1:2], ["int64"]),
], ids=str)  # fmt: skip
def test_all_orders_of_a_product_of_matrices(order, tiles, dtype):
    a, b = T.matrix("a", dtype=dtype), T.matrix("b", dtype=dtype)
    f = ag.function([a, b], (a[:, :, None] * b[None, :, :]).sum(1))
    name = next(k for k, kernel in zip(f.schedule(), f.program.kernels, strict=True) if kernel.rank == 3)
    g = ag.function(
        [a, b], (a[:, :, None] * b[None, :, :]).sum(1),
        schedule=f.schedule().changed(name, order=order, tiles=tiles, unroll=2),
    )  # fmt: skip
    for m, k, n in [(1, 1, 1), (5, 7, 3), (33, 130, 40), (0, 2, 3), (2, 0, 3)]:
        x = np.arange(m * k).reshape(m, k).astype(dtype) % 11
        y = np.arange(k * n).reshape(k, n).astype(dtype) % 7
        np.testing.assert_array_equal(g(x, y), x @ y)
        np.testing.assert_array_equal(f(x, y), x @ y)


def test_products_in_the_dtype_of_sums():
    f = ag.function([X, Y], (X[:, :, None] * Y[None, :, :]).sum(1))
    g = ag.function([X, Y], (X[:, :, None] * Y[None, :, :]).sum(1),
                    schedule=f.schedule().changed(order=(1, 0, 2), block=8))  # fmt: skip
    x, y = np.random.default_rng(0).standard_normal((2, 40, 40))
    np.testing.assert_allclose(g(x, y), x @ y, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("choices", "message"), [
    ({"order": (0,)}, "expected the loops 0 to 1"), ({"order": (0, 0)}, "expected the loops 0 to 1"),
    ({"tiles": {2: 8}}, "loop 2"), ({"block": 8}, "no blocked sums"),
])  # fmt: skip
def test_what_does_not_fit_a_kernel_is_refused(choices, message):
    with pytest.raises(ScheduleError, match=f"k_.*{message}"):
        forms([X, Y], X + Y, choices)


def test_what_does_not_fit_a_reduction_is_refused():
    with pytest.raises(ScheduleError, match="is reduced"):
        forms([X], X.sum(1), {"tiles": {1: 8}})
    with pytest.raises(ScheduleError, match="no kept loop may stand between"):
        forms([Z], Z.sum((0, 2)), {"order": (0, 1, 2)})
    with pytest.raises(ScheduleError, match="reduced"):
        forms([Z], Z.sum((1, 2)), {"unroll": 2})
    with pytest.raises(ScheduleError, match="accumulators"):
        forms([Z], Z.sum(0), {"order": (0, 1, 2), "tiles": {1: 1000, 2: 1000}})


@pytest.mark.few(1)
@pytest.mark.parametrize("outputs", [T.nn.softmax(X), T.nn.softmax(X, 0), T.cumsum(X, 0), X.argmax(0)], ids=str)
def test_loops_that_run_as_they_must(outputs):
    with pytest.raises(ScheduleError, match="fixed loops"):
        forms([X], outputs, {"unroll": 4})
    plain, other = forms([X], outputs, {"parallel": False, "vector": 1})
    (x,) = arrays((20, 30))
    np.testing.assert_allclose(other(x), plain(x), rtol=1e-12)


@pytest.mark.parametrize(("choices", "message"), [
    ({"unroll": 3}, "unroll"), ({"vector": 3}, "vector"), ({"grain": 0}, "grain"), ({"tiles": {0: 0}}, "tiles"),
    ({"tiles": {0: 2.5}}, "tiles"), ({"order": (-1, 0)}, "order"), ({"parallel": 1}, "parallel"),
    ({"block": 0}, "block"), ({"colour": 1}, "colour"), ({"tiles": ((0, 1), (0, 2))}, "at most once"),
])  # fmt: skip
def test_what_is_no_schedule_is_refused(choices, message):
    with pytest.raises(ScheduleError, match=message):
        DEFAULT.changed(**choices)


def test_kernels_are_called_by_name():
    f = ag.function([X, Y], [(X + Y).sum(), X.max(0)])
    s = f.schedule()
    assert len(s) >= 2
    with pytest.raises(LookupError, match="kernels"):
        s.changed(unroll=2)
    with pytest.raises(LookupError, match="k_nothing"):
        s.changed("k_nothing", unroll=2)
    name = next(iter(s))
    assert s.changed(name[:6], grain=80)[name] == Schedule(grain=80)
    with pytest.raises(ScheduleError, match=r"no kernel is called 'k_12'.*k_"):
        ag.function([X], X + 1, schedule={"k_12": Schedule()})
    with pytest.raises(TypeError, match="expected a Schedule"):
        ag.function([X], X + 1, schedule={"k_12": 3})
    with pytest.raises(TypeError, match=r"f\.schedule"):
        ag.function([X], X + 1, schedule=Schedule())


def test_schedules_are_read_and_given_back():
    f = ag.function([X, Y], X + Y)
    s = f.schedule().changed(tiles={0: 8}, unroll=2)
    g = ag.function([X, Y], X + Y, schedule=s)
    assert dict(g.schedule()) == dict(s) and "tiles={0: 8}, unroll=2" in str(g.schedule())
    assert "tiles={0: 8}, unroll=2" in g.c_source() and "x0 + x1" in str(s)
    assert "unroll" in s._repr_html_() and repr(s) == "<schedules of 1 kernel, 1 changed>"
    assert dict(pickle.loads(pickle.dumps(g)).schedule()) == dict(s)
    assert ag.function([X, Y], X + Y, schedule=g.schedule()).c_source() == g.c_source()


def test_the_default_schedule_changes_no_text():
    f = ag.function([X, Y], [X + Y, (X * Y).sum(0)])
    assert ag.function([X, Y], [X + Y, (X * Y).sum(0)], schedule=f.schedule()).c_source() == f.c_source()
    node = (X + Y).owner
    assert lower(node) == lower(node, schedule=Schedule())


def test_in_place_updates_keep_their_schedule():
    w = ag.shared(np.ones((20, 30)), shape=(20, 30), name="w")
    f = ag.function([X], updates=[(w, w + X * 2)], outputs=None)
    g = ag.function([X], updates=[(w, w + X * 2)], outputs=None, schedule=f.schedule().changed(unroll=4, tiles={1: 8}))
    x = np.ones((20, 30))
    f(x)
    g(x)
    assert (w.get_value() == 5).all()
