"""The cross-entropy of a softmax and its gradient: one kernel for the rows, whatever shapes of labels are given."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.fused import Fused
from arignote.ops.lowered.row_passes import is_row_graph
from arignote.ops.nn import LogSoftmax

X, LABELS = T.matrix("x", dtype="float32"), T.lvector("labels")
LOSS = -T.log_softmax(X)[T.arange(X.shape[0]), LABELS].mean()


def expected(x, labels):
    z = x.astype("float64") - x.max(1, keepdims=True)
    logs = z - np.log(np.exp(z).sum(1, keepdims=True))
    rows = np.broadcast_to(np.arange(len(x)), np.broadcast_shapes((len(x),), labels.shape))
    picked = logs[rows, labels]
    written = np.zeros_like(logs)
    np.add.at(written, (rows, labels), -1 / len(picked))
    return -picked.mean(), written - np.exp(logs) * written.sum(1, keepdims=True)


@pytest.fixture(scope="module")
def f():
    return ag.function([X, LABELS], [LOSS, ag.grad(LOSS, X)])


@pytest.mark.long
def test_rows_are_read_by_one_kernel_and_no_logarithms_are_written(f):
    ops = [n.op for n in f.graph.order]
    assert sum(isinstance(op, Fused) and is_row_graph(op.graph) for op in ops) == 1
    assert not any(isinstance(op, LogSoftmax) for op in ops)


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 10), (50, 300), (1, 40)])
def test_values(f, shape):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype("float32") * 5
    for labels in (rng.integers(-shape[1], shape[1], shape[0]), rng.integers(0, shape[1], 1)):
        loss, gradient = f(x, labels)
        want = expected(x, labels)
        np.testing.assert_allclose(loss, want[0], rtol=2e-6)
        np.testing.assert_allclose(gradient, want[1], rtol=1e-5, atol=1e-7)


def test_one_row_for_many_labels(f):
    x, labels = np.random.default_rng(1).normal(size=(1, 5)).astype("float32"), np.array([0, 4, 4, -1])
    loss, gradient = f(x, labels)
    want = expected(x, labels)
    np.testing.assert_allclose(loss, want[0], rtol=1e-6)
    np.testing.assert_allclose(gradient, want[1], rtol=1e-5, atol=1e-7)


def test_large_logits_lose_nothing(f):
    x = np.array([[1e6, 1e6 + 1, -1e6], [-3e38, 0, 3e38]], "float32")
    loss, _ = f(x, np.array([0, 2]))
    assert loss == pytest.approx(np.log1p(np.e) / 2, rel=1e-6)


def test_labels_out_of_range_are_refused(f):
    x = np.zeros((4, 3), "float32")
    for labels in ([0, 1, 2, 3], [0, -4, 1, 1]):
        with pytest.raises(IndexError):
            f(x, np.array(labels))
    with pytest.raises(IndexError):  # as NumPy: the arrays of indices do not broadcast
        f(x, np.array([0, 1, 2]))


def test_logarithms_that_are_asked_for_are_kept():
    logs = T.log_softmax(X)
    picked = logs[T.arange(X.shape[0]), LABELS]
    x, labels = np.random.default_rng(2).normal(size=(6, 40)).astype("float32"), np.arange(6)
    both = ag.function([X, LABELS], [logs, picked])(x, labels)
    np.testing.assert_array_equal(both[0][np.arange(6), labels], both[1])


@pytest.mark.long
def test_a_batch_of_sequences():
    x, labels = T.tensor3("x"), T.lmatrix("labels")
    loss = T.nn.softmax_crossentropy(x, labels).mean()
    rng = np.random.default_rng(3)
    values, targets = rng.normal(size=(4, 5, 20)), rng.integers(0, 20, (4, 5))
    found = ag.function([x, labels], [loss, ag.grad(loss, x)])(values, targets)
    want = expected(values.reshape(20, 20), targets.ravel())
    np.testing.assert_allclose(found[0], want[0], rtol=1e-12)
    np.testing.assert_allclose(found[1].reshape(20, 20), want[1], rtol=1e-9, atol=1e-14)
