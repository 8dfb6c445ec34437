"""Loops on OpenCL: the steps run on the device, and nothing is copied between them."""

import numpy as np
import pytest
from draws import mostly_long
from opencl_devices import WAYS, calls, device_of, lacking

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.tape import Tape

RNG = np.random.default_rng(5)


@pytest.fixture(params=mostly_long(WAYS, ("parts",)))
def opencl(request, monkeypatch):
    """The mode of the engine, on one device in three ways; skips the test where no device compiles kernels."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of(request.param))
    return ag.Mode("fast_run", backend="opencl")


@pytest.fixture
def played(monkeypatch):
    """The number of times that a tape was played."""
    found = []
    play = Tape.play
    monkeypatch.setattr(Tape, "play", lambda tape, *given: (found.append(tape), play(tape, *given))[1])
    return found


def check(inputs, outputs, values, mode, rtol=1e-6):
    """The function on the device; its values are NumPy's."""
    f = ag.function(inputs, outputs, mode=mode)
    for got, expected in calls(f, ag.function(inputs, outputs, mode="NUMPY"), values):
        assert got.dtype == expected.dtype and got.flags.c_contiguous
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-7)
    return f


def recurrent(steps):
    """A recurrent network of two states: a trace, a last state, and a value of each step."""
    x, h, c, w = T.matrix("x"), T.vector("h"), T.vector("c"), T.matrix("w")

    def step(x, h, c, w):
        made = T.tanh(x + h @ w + c)
        return made, 0.5 * c + made.sum(), made.max()

    (hs, cs, tops), _ = ag.scan(step, x, [h, c, None], [w])
    values = [RNG.normal(size=s) / 2 for s in ((steps, 4), (4,), (4,), (4, 4))]
    return [x, h, c, w], [hs, cs[-1], tops], values


@pytest.mark.few(1)
@pytest.mark.parametrize("steps", mostly_long([1, 2, 3, 4, 20], (1, 3)))
def test_a_recurrent_network(opencl, played, steps):
    f = check(*recurrent(steps), opencl)
    once = steps - 2 if steps > 3 else 0  # a call that is recorded as a whole plays no tape of a loop
    assert len(played) == once + 3  # and three calls replay it
    assert not f._run.hosted and "loop: " in str(f.c_source())


def test_nothing_is_copied_between_steps(opencl):
    """Copies are as many bytes for 4 steps as the sequence, the states and the results have, and so for 40."""
    for steps in (4, 40):
        inputs, outputs, values = recurrent(steps)
        f = ag.function(inputs, outputs, mode=opencl)
        f(*values)
        before = f._run.traffic.to_device
        results = f(*values)
        shared = devices.device().shares
        assert f._run.traffic.to_device - before == (0 if shared else sum(v.nbytes for v in values))
        assert f._run.traffic.to_host == (0 if shared else 2 * sum(r.nbytes for r in results))


def test_taps_of_states_and_sequences(opencl, played):
    x = T.matrix("x")
    found, _ = ag.scan(
        lambda past, now, two_ago, last: past - 2 * now + two_ago - last / 2,
        {"input": x, "taps": [-1, 0]}, {"initial": T.constant(np.ones((2, 3))), "taps": [-2, -1]},
    )  # fmt: skip
    check([x], [found], [RNG.normal(size=(9, 3))], opencl)
    assert played


def test_sequences_backwards_and_by_columns(opencl):
    x, y = T.matrix("x"), T.matrix("y")
    found, _ = ag.scan(lambda a, b, s: [s + a * b, a - b], [x[::-1], y.T], [T.zeros((5,)), None])
    check([x, y], list(found), [RNG.normal(size=(6, 5)), RNG.normal(size=(5, 6))], opencl)
    check([x, y], list(found), [RNG.normal(size=(12, 5))[::2], RNG.normal(size=(6, 5)).T], opencl)


def test_a_sequence_that_overlaps_its_transpose(opencl):
    x = T.matrix("x")
    found, _ = ag.scan(lambda a, b, s: s * 0.5 + a - b * b, [x, x.T], T.zeros((7,)))
    check([x], [found], [RNG.normal(size=(7, 7))], opencl)


@pytest.mark.long
def test_loops_that_their_condition_ends(opencl, played):
    x, most = T.vector("x"), T.lscalar("most")
    rows, _ = ag.scan(lambda s: (s * 1.5 + 1, ag.until(s.sum() > 1e4)), outputs_info=x, n_steps=most)
    f = check([x, most], [rows], [np.ones(3), 100], opencl)
    assert 16 < len(f(np.ones(3), 100)[0]) < 100 and played
    assert f(np.ones(3), 5)[0].shape == (5, 3) and f(np.ones(3), 0)[0].shape == (0, 3)
    last = ag.while_loop(lambda s: s.sum() < 1e5, lambda s: s * 1.1 + 1, x)
    check([x], [last], [np.ones(3)], opencl)


def test_counters_stay_on_the_host_and_other_states_do_not(opencl):
    x = T.matrix("x")
    (count, rows), _ = ag.scan(lambda k, s: (k + 1, s + x[k]), outputs_info=[T.constant(0, "int64"), x[0]], n_steps=5)
    check([x], [count, rows], [RNG.normal(size=(6, 4))], opencl)


def test_loops_inside_of_loops(opencl):
    x = T.tensor3("x")

    def outer(rows, s):
        found, _ = ag.scan(lambda row, t: T.tanh(row + t), rows, s)
        return found[-1]

    found, _ = ag.scan(outer, x, T.zeros((3,)))
    check([x], [found], [RNG.normal(size=(5, 4, 3))], opencl)


@pytest.mark.long
def test_a_gradient_through_time(opencl):
    x, h, w = T.matrix("x"), T.vector("h"), T.matrix("w")
    hs, _ = ag.scan(lambda x, h, w: T.tanh(x + h @ w), x, h, [w])
    values = [RNG.normal(size=s) / 2 for s in ((8, 4), (4,), (4, 4))]
    check([x, h, w], ag.grad((hs**2).sum(), [x, h, w]), values, opencl, rtol=1e-5)


def test_a_step_with_a_node_of_the_host(opencl):
    x = T.matrix("x")
    found, _ = ag.scan(lambda row, s: T.sort(s + row) * 2, x, T.zeros((4,)))
    f = check([x], [found], [RNG.normal(size=(6, 4))], opencl)
    assert [node.op.name for node, _ in f._run.hosted] == ["sort"]
    assert "sort" in str(f.remarks.of("in Python")) or "scan" in str(f.remarks.of("in Python"))


def test_errors_are_numpys(opencl):
    x, i = T.matrix("x"), T.lmatrix("i")
    grows, _ = ag.scan(lambda s: T.concatenate([s, s]), outputs_info=x[0], n_steps=6)
    with pytest.raises(ValueError, match=r"the state .* of shape \(3,\) becomes one of shape \(6,\) in step 0"):
        ag.function([x], grows, mode=opencl)(np.ones((2, 3)))
    rows, _ = ag.scan(lambda k, s: s + x[k].sum(), i, T.constant(0.0))
    with pytest.raises(IndexError, match=r"index 9 .* size 2"):
        ag.function([x, i], rows, mode=opencl)(np.ones((2, 3)), np.array([[0], [1], [0], [1], [9]]))
    short, _ = ag.scan(lambda row: row * 2, x, n_steps=5)
    with pytest.raises(ValueError, match="has 2 elements for 5 steps"):
        ag.function([x], short, mode=opencl)(np.ones((2, 3)))


def test_kernels_of_a_body_are_in_the_text(opencl):
    inputs, outputs, _ = recurrent(5)
    f = ag.function(inputs, outputs, mode=opencl)
    kernels = {p.kernel.text for p in f._run.placements if p.kernel is not None}
    assert len(kernels) >= 2 and all(text in str(f.c_source()) for text in kernels)


def test_a_product_of_the_trace_of_a_loop_is_computed_in_every_call(opencl):
    """A replayed call repeats launches whose operands change; the trace is one of them."""
    x, h, w = T.matrix("x"), T.vector("h"), RNG.normal(size=(8, 8))
    hs, _ = ag.scan(lambda x, h: T.tanh(x + h), x, h, n_steps=3)
    found = T.dot(T.exp(T.dot(hs, T.constant(w))), T.constant(w))
    check([x, h], [found], [RNG.normal(size=(3, 8)), RNG.normal(size=8)], opencl)


@pytest.mark.long
def test_launches_of_an_inner_loop_outlive_its_tape(opencl):
    """The arrays of recorded launches were free while the device still wrote to them."""
    start, w = T.matrix("start"), T.matrix("w")
    states, _ = ag.scan(lambda h, w: h @ w, outputs_info=start, non_sequences=[w], n_steps=1000, checkpoint_every=25)
    slopes = ag.grad((states[-1] ** 2).sum(), [start, w])
    values = np.random.default_rng(0).normal(size=(8, 4)), np.eye(4)
    expected = ag.function([start, w], slopes)(*values)
    f = ag.function([start, w], slopes, mode=opencl)
    for _ in range(3):
        for found, wanted in zip(f(*values), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-9)
