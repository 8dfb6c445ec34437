"""`ag.scan`: values against loops of Python in every mode, taps, conditions, closures, updates, errors."""

import pickle
import sys
import threading
from functools import partial

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

MODES = ["FAST_RUN", "FAST_COMPILE", "NUMPY"]
RNG = np.random.default_rng(3)


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


def test_powers(mode):
    x, k = T.vector("x"), T.lscalar("k")
    powers, updates = ag.scan(lambda before, x: before * x, outputs_info=T.ones_like(x), non_sequences=x, n_steps=k)
    f = ag.function([x, k], powers, mode=mode)
    assert updates == {}
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], 3), [[1, 2, 3], [1, 4, 9], [1, 8, 27]])
    assert f([1.0, 2.0, 3.0], 0).shape == (0, 3)
    assert f([], 5).shape == (5, 0)


def test_a_sequence_and_no_recurrence(mode):
    x = T.matrix("x")
    squares, _ = ag.scan(lambda row: [row**2, row.sum()], x)
    f = ag.function([x], squares, mode=mode)
    value = RNG.normal(size=(5, 3))
    rows, sums = f(value)
    np.testing.assert_allclose(rows, value**2)
    np.testing.assert_allclose(sums, value.sum(1))
    assert [o.shape for o in f(np.zeros((0, 3)))] == [(0, 3), (0,)]
    np.testing.assert_allclose(f(value.T.copy().T)[0], value**2)
    np.testing.assert_allclose(f(value[::2])[1], value[::2].sum(1))


def test_a_recurrent_network(mode):
    x, h, w, u = T.matrix("x"), T.vector("h"), T.matrix("w"), T.matrix("u")
    states, _ = ag.scan(lambda x, h, w, u: T.tanh(x @ w + h @ u), x, h, [w, u])
    f = ag.function([x, h, w, u], states, mode=mode)
    values = [RNG.normal(size=s) for s in ((50, 4), (3,), (4, 3), (3, 3))]
    expected, state = [], values[1]
    for row in values[0]:
        state = np.tanh(row @ values[2] + state @ values[3])
        expected.append(state)
    np.testing.assert_allclose(f(*values), expected, rtol=1e-10)


def test_taps_of_outputs_and_of_sequences(mode):
    s = T.vector("s")
    found, _ = ag.scan(
        lambda past, now, ahead, two_ago, last: past + 2 * now + 3 * ahead + two_ago - last / 2,
        {"input": s, "taps": [-1, 0, 2]}, {"initial": T.constant([0.5, 1.0]), "taps": [-2, -1]},
    )  # fmt: skip
    f = ag.function([s], found, mode=mode)
    value = RNG.normal(size=9)
    two, one, expected = 0.5, 1.0, []
    for t in range(1, 7):
        two, one = one, value[t - 1] + 2 * value[t] + 3 * value[t + 2] + two - one / 2
        expected.append(one)
    np.testing.assert_allclose(f(value), expected)
    assert f(value[:2]).shape == (0,)


def test_a_tap_far_back(mode):
    first = T.matrix("first")
    found, _ = ag.scan(lambda old: old + 1, outputs_info={"initial": first, "taps": [-3]}, n_steps=7)
    value = RNG.normal(size=(3, 2))
    expected = [value[t % 3] + t // 3 + 1 for t in range(7)]
    np.testing.assert_allclose(ag.function([first], found, mode=mode)(value), expected)


def test_going_backwards(mode):
    x, k = T.vector("x"), T.lscalar("k")
    found, _ = ag.scan(lambda x, s: s + x, x, np.float64(0), n_steps=k, go_backwards=True)
    f = ag.function([x, k], found, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0, 4.0, 8.0], 3), [8, 12, 14])


def test_the_shortest_sequence_counts(mode):
    x, y = T.vector("x"), T.vector("y")
    found, _ = ag.scan(lambda x, y: x * y, [x, y])
    f = ag.function([x, y], found, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0], [5.0, 6.0]), [5, 12])
    np.testing.assert_array_equal(f([1.0], [5.0, 6.0]), [5])


def test_until(mode):
    x, most = T.scalar("x"), T.lscalar("most")
    found, _ = ag.scan(lambda s: (s * 2, ag.until(s * 2 > 100)), outputs_info=x, n_steps=most)
    f = ag.function([x, most], [found, found[-1]], mode=mode)
    np.testing.assert_array_equal(f(10.0, 1000)[0], [20, 40, 80, 160])
    np.testing.assert_array_equal(f(10.0, 2)[0], [20, 40])
    assert f(3.0, 1000)[1] == 192


def test_several_outputs_and_dtypes(mode):
    x = T.vector("x", dtype="float32")
    outputs, _ = ag.scan(
        lambda x, n, flag: [n + 1, T.logical_xor(flag, x > 0), x.astype("complex128") * 1j],
        x, [T.constant(0, "int8"), T.constant(False), None],
    )  # fmt: skip
    value = np.array([1, -2, 3, 4], np.float32)
    counts, flags, rotated = ag.function([x], outputs, mode=mode)(value)
    np.testing.assert_array_equal(counts, [1, 2, 3, 4])
    assert counts.dtype == np.int8
    np.testing.assert_array_equal(flags, [True, True, False, True])
    np.testing.assert_array_equal(rotated, value * 1j)


def test_variables_that_are_not_given(mode):
    x, w = T.vector("x"), T.vector("w")
    bias = ag.shared(np.float64(3.0), "bias")
    scaled = T.exp(w)
    found, _ = ag.scan(lambda x, s: s + (x * scaled).sum() + bias, x, T.constant(0.0))
    f = ag.function([x, w], found, mode=mode)
    expected = np.cumsum([v * np.exp([0.5, 1.5]).sum() + 3 for v in (1.0, 2.0)])
    np.testing.assert_allclose(f([1.0, 2.0], [0.5, 1.5]), expected)
    gradient = ag.function([x, w], ag.grad(found[-1], scaled), mode=mode)
    np.testing.assert_allclose(gradient([1.0, 2.0], [0.5, 1.5]), [3, 3])


def test_updates_of_shared_variables(mode):
    total = ag.shared(np.float64(1.0), "total")
    x = T.vector("x")
    found, updates = ag.scan(lambda x: (total * x, {total: total + x}), x)
    f = ag.function([x], found, updates=updates, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0, 3.0]), [1, 4, 12])
    assert total.get_value() == 7
    np.testing.assert_array_equal(f([1.0]), [7])


def test_draws_differ_from_step_to_step_and_call_to_call(mode):
    stream = T.random.RandomStream(5)
    found, _ = ag.scan(lambda: stream.uniform(size=(2,)), n_steps=4)
    f = ag.function([], found, mode=mode)
    numbers = np.concatenate([f(), f(), f()])
    assert len(np.unique(numbers)) == numbers.size


def test_a_draw_from_outside_is_the_same_in_every_step(mode):
    noise = T.random.RandomStream(5).uniform()
    found, _ = ag.scan(lambda s: s + noise, outputs_info=T.constant(0.0), n_steps=3)
    value = ag.function([], found, mode=mode)()
    np.testing.assert_allclose(np.diff(value), value[0])


def test_a_loop_in_a_loop(mode):
    x = T.matrix("x")
    found, _ = ag.scan(lambda row: ag.scan(lambda v, s: s * v, row, T.constant(1.0))[0][-1], x)
    value = RNG.uniform(0.5, 2, size=(4, 5))
    np.testing.assert_allclose(ag.function([x], found, mode=mode)(value), value.prod(1))


def test_operations_without_c_in_the_body(mode):
    x = T.matrix("x")
    found, _ = ag.scan(lambda row, best: [T.sort(row), T.maximum(best, T.sort(row)[0])], x, [None, T.constant(-9.0)])
    rows, best = ag.function([x], found, mode=mode)(value := RNG.normal(size=(6, 4)))
    np.testing.assert_array_equal(rows, np.sort(value, 1))
    np.testing.assert_array_equal(best, np.maximum.accumulate(value.min(1)))


def test_a_thousand_steps(mode):
    x = T.vector("x")
    found, _ = ag.scan(lambda s, x: T.cos(s) + x, outputs_info=T.zeros_like(x), non_sequences=x, n_steps=1000)
    value, state = RNG.normal(size=3), np.zeros(3)
    expected = []
    for _ in range(1000):
        state = np.cos(state) + value
        expected.append(state)
    np.testing.assert_allclose(ag.function([x], found, mode=mode)(value), expected, rtol=1e-9)


def test_a_state_whose_length_is_known_only_at_first(mode):
    k = T.lscalar("k")
    found, _ = ag.scan(lambda s, k: (s[:k] + 1), outputs_info=T.zeros((3,)), non_sequences=k, n_steps=2)
    f = ag.function([k], found, mode=mode)
    np.testing.assert_array_equal(f(3), [[1, 1, 1], [2, 2, 2]])
    with pytest.raises(ValueError, match=r"scan: the state .*\(3,\) becomes one of shape \(2,\)"):
        f(2)


def test_errors_at_run_time(mode):
    x, k = T.vector("x"), T.lscalar("k")
    found, _ = ag.scan(lambda x, s: s + x, x, T.constant(0.0), n_steps=k)
    f = ag.function([x, k], found, mode=mode)
    with pytest.raises(ValueError, match="scan: sequence 0 has 2 elements for 3 steps"):
        f([1.0, 2.0], 3)
    with pytest.raises(ValueError, match="scan: the number of steps is -1; expected 0 or more"):
        f([1.0, 2.0], -1)
    np.testing.assert_array_equal(f([1.0, 2.0], 2), [1, 3])


def test_an_error_inside_of_a_step(mode):
    x, i = T.vector("x"), T.lvector("i")
    found, _ = ag.scan(lambda i: x[i], i)
    f = ag.function([x, i], found, mode=mode)
    np.testing.assert_array_equal(f([1.0, 2.0], [1, 0, -1]), [2, 1, 2])
    with pytest.raises(IndexError, match="out of bounds"):
        f([1.0, 2.0], [0, 2])
    y = T.vector("y")
    found, _ = ag.scan(lambda v, s: s + v * y, x, T.zeros_like(y[:3]))
    f = ag.function([x, y], found, mode=mode)
    with pytest.raises(ValueError, match=r"becomes one of shape \(4,\)|4"):
        f([1.0], np.ones(4))


def test_wrong_arguments():
    x = T.vector("x")
    with pytest.raises(TypeError, match="scan: fn must be a function of variables, got 3"):
        ag.scan(3, x)
    with pytest.raises(TypeError, match=r"scan: sequence 0, 2.0 \(float64\), has no axis"):
        ag.scan(lambda x: x, 2.0)
    with pytest.raises(ValueError, match="the number of steps is unknown"):
        ag.scan(lambda s: s, outputs_info=x)
    with pytest.raises(ValueError, match="n_steps is -2; expected 0 or more"):
        ag.scan(lambda s: s, outputs_info=x, n_steps=-2)
    with pytest.raises(ValueError, match="outputs_info has 2 entries, and fn returns 1"):
        ag.scan(lambda a, b: a, outputs_info=[x, x], n_steps=2)
    with pytest.raises(ValueError, match=r"outputs_info\[0\]: taps of outputs must be negative"):
        ag.scan(lambda a: a, outputs_info={"initial": x, "taps": [0]}, n_steps=2)
    with pytest.raises(ValueError, match="take 2 values before the first step"):
        ag.scan(lambda a: a, outputs_info={"initial": T.scalar("s"), "taps": [-2]}, n_steps=2)
    with pytest.raises(ValueError, match="expected dict"):
        ag.scan(lambda a: a, {"inputs": x})
    with pytest.raises(TypeError, match=r"scan: the state n \(?.*int64, and becomes float64 in a step; cast"):
        ag.scan(lambda n: n + 0.5, outputs_info=T.lscalar("n"), n_steps=2)
    with pytest.raises(TypeError, match="until: expected a scalar"):
        ag.scan(lambda s: (s, ag.until(s > 0)), outputs_info=x, n_steps=2)


def test_lists_of_outputs():
    x = T.vector("x")
    assert isinstance(ag.scan(lambda x: [x], x)[0], T.TensorVariable)
    assert isinstance(ag.scan(lambda x: x, x, return_list=True)[0], list)
    assert len(ag.scan(lambda x: (x, x + 1), x)[0]) == 2


def test_forms_of_what_a_step_returns():
    w = ag.shared(1.0, name="w")
    for fn, outputs in [
        (lambda: [(w, w + 1)], None), (lambda: ((w, w + 1),), None), (lambda: {w: w + 1}, None),
        (lambda: (w * 2, [(w, w + 1)]), [2, 4, 6]), (lambda: ([w * 2], {w: w + 1}), [2, 4, 6]),
        (lambda: ([(w, w + 1)], w * 2), [2, 4, 6]), (lambda: [w * 2, {w: w + 1}], [2, 4, 6]),
        (lambda: ([w * 2], [(w, w + 1)], ag.until(w > 9)), [2, 4, 6]),
        (lambda: ([(w, w + 1)], ag.until(w > 9)), None),
    ]:  # fmt: skip
        found = ag.scan(fn, n_steps=3)
        f = ag.function([], found.outputs, updates=found.updates, mode="NUMPY")
        np.testing.assert_array_equal(f(), [] if outputs is None else outputs)
        assert w.get_value() == 4
        w.set_value(1.0)
    outputs, updates = ag.scan(lambda: (w * 2, []), n_steps=2)
    assert not updates
    np.testing.assert_array_equal(outputs.eval(), [2, 2])
    assert len(ag.scan(lambda: (w, w + 1), n_steps=2)[0]) == 2  # a pair is two outputs


def test_arguments_without_lists():
    x, s = T.vector("x"), T.scalar("s")
    values = {x: [1.0, 2.0], s: 3.0}
    for other in (s, 3.0, np.array(3.0), [s]):
        found, _ = ag.scan(lambda a, b: a * b, sequences=x, outputs_info=[], non_sequences=other)
        np.testing.assert_array_equal(found.eval(values), [3, 6])


def test_the_result_is_a_named_tuple():
    found = ag.scan(lambda z: z * 2, T.vector("x"))
    assert isinstance(found, tuple)
    outputs, updates = found
    assert (found[0], found[-1], found.outputs) == (outputs, updates, outputs)
    assert updates == {} and isinstance(updates, dict)
    assert pickle.loads(pickle.dumps(found)).updates == {}
    assert found + found == (outputs, updates, outputs, updates)


def test_equal_loops_are_one(mode):
    x = T.vector("x")
    a, b = (ag.scan(lambda x, s: s + x, x, T.constant(0.0))[0] for _ in range(2))
    f = ag.function([x], [a, b], mode=mode)
    if mode != "NUMPY":
        assert sum(isinstance(n.op, T.Scan) for n in f.graph.order) == 1
    np.testing.assert_array_equal(f([1.0, 2.0])[1], [1, 3])


def test_pickled_and_called_from_threads(mode):
    x = T.vector("x")
    f = ag.function([x], ag.scan(lambda x, s: s * 0.5 + x, x, T.constant(0.0))[0], mode=mode)
    g = pickle.loads(pickle.dumps(f))
    value = RNG.normal(size=200)
    expected = f(value)
    np.testing.assert_array_equal(g(value), expected)
    found = []
    threads = [threading.Thread(target=lambda: found.extend(f(value) for _ in range(20))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80
    for one in found:
        np.testing.assert_array_equal(one, expected)


def test_a_scan_is_printed_and_read_back():
    x = T.vector("x")
    graph = ag.FunctionGraph([x], [ag.scan(lambda x, s: s + x, x, T.constant(0.0))[0]])
    assert ag.parse(str(graph)) == graph


def calls_of(f):
    """Calls of Python and C functions that `f()` makes."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        f()
    finally:
        sys.setprofile(None)
    return count


def chain_of(kind, links):
    """A chain of bodies that read the value before them, which is outside of each."""
    x = T.vector("x")
    y, stream = x, T.random.RandomStream(1)
    links_of = {
        "scan": lambda y: ag.scan(lambda a: a * 2 + y, outputs_info=x, n_steps=2)[0][-1],
        "draws": lambda y: ag.scan(lambda a: a + y + stream.normal(), outputs_info=x, n_steps=2)[0][-1],
        "while": lambda y: ag.while_loop(lambda a: a.sum() < 3, lambda a: a + y, x),
        "vmap": lambda y: ag.vmap(lambda a: a + y.sum())(x),
        "cond": lambda y: ag.cond(y[0] > 0, lambda: y + 1, lambda: y * 2),
    }
    for _ in range(links):
        y = links_of[kind](y)


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["scan", "draws", "while", "vmap", "cond"])
def test_bodies_are_traced_without_a_walk_over_all_that_is_above_them(kind):
    chain_of(kind, 2)
    few, many = (calls_of(partial(chain_of, kind, links)) for links in (20, 80))
    assert many < 4.2 * few
