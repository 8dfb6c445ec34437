"""The softmax family at inf, -inf and NaN: what x - max(x) gives, in every form that is computed."""

from __future__ import annotations

import numpy as np
import pytest
from draws import mostly_long
from softmax_rows import INF, NAN, reference, rows_of

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import exp
from arignote.ops.lowered.row_passes import opened


def assert_equal(found, wanted, dtype, message):
    close = 2e-2 if dtype == "float16" else 1e-5
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=close, atol=close, err_msg=str(message))


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["NUMPY", "FAST_RUN"])
@pytest.mark.parametrize("dtype", mostly_long(["float16", "float32", "float64"], ("float32",)))
def test_rows_and_columns(dtype, mode):
    """Together and each alone, between other elementwise work, rows that are short, long and parts of a stack."""
    x = T.matrix("x", dtype=dtype)
    for axis in (0, 1):
        outputs = [T.softmax(x, axis), T.log_softmax(x, axis), T.logsumexp(x, axis)]
        inside = [f(2 * x, axis) * 3 for f in (T.softmax, T.log_softmax, T.logsumexp)]
        forms = [([x], outputs, 1, 1), ([x], inside, 0.5, 3), *(([x], [o], 1, 1) for o in outputs)]
        for k, (inputs, wanted, scale, factor) in enumerate(forms):
            f = ag.function(inputs, wanted, mode=mode)
            for n in (1, 3, 8, 200):
                rows = rows_of(n, dtype) if axis == 1 else np.ascontiguousarray(rows_of(n, dtype).T)
                wide = rows.astype("float32") if dtype == "float16" else rows
                expected = [np.asarray(factor * v).astype(dtype) for v in reference(wide, axis)]
                expected = expected if k < 2 else expected[k - 2 : k - 1]
                found = f((rows * np.array(scale, dtype)).astype(dtype))
                assert_equal(found if isinstance(found, list) else [found], expected, dtype, (axis, k, n))


@pytest.mark.few(1)
@pytest.mark.parametrize("normalizing", [T.softmax, T.log_softmax])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ops_of_the_same_rows_share_their_exponentials(dtype, normalizing):
    """The bits are those of each op alone, also of rows with infinities."""
    x = T.matrix("x", dtype=dtype)
    outputs = [T.logsumexp(x, 1), normalizing(x, 1)]
    together = ag.function([x], outputs)
    (node,) = together.graph.order
    assert sum(n.op is exp for n in opened(node.op.graph).order) == 1
    alone = [ag.function([x], output) for output in outputs]
    for n in (1, 8, 40, 200):
        rows = rows_of(n, dtype)
        for found, f in zip(together(rows), alone, strict=True):
            np.testing.assert_array_equal(found, f(rows))


def test_the_input_of_a_report():
    x = T.vector("x")
    for mode in ("NUMPY", "FAST_RUN"):
        assert np.isnan(ag.function([x], T.softmax(x), mode=mode)(np.array([INF, 0]))).all()


@pytest.mark.long
def test_losses_of_rows_with_infinities():
    """A picked element of a log_softmax, without and with its gradient."""
    x, labels = T.matrix("x", dtype="float32"), T.ivector("labels")
    loss = T.nn.softmax_crossentropy(x, labels)
    rows = rows_of(8, "float32")
    chosen = (np.arange(len(rows)) % 8).astype("int32")
    want = -reference(rows, 1)[1][np.arange(len(rows)), chosen]
    for outputs in ([loss], [loss, ag.grad(T.sum(loss), x)]):
        np.testing.assert_allclose(ag.function([x, labels], outputs)(rows, chosen)[0], want, rtol=1e-5)


@pytest.mark.parametrize("width", [40, 300])
def test_attention_with_infinite_scores(width):
    """Scores of inf in the first and in a later block, and rows that a mask hides whole."""
    q, k, v = (T.matrix(n, dtype="float32") for n in "qkv")
    added = T.matrix("added", dtype="float32")
    y = T.dot(T.softmax(T.dot(q, k) + added), v)
    f, plain = ag.function([q, k, v, added], y), ag.function([q, k, v, added], y, mode="NUMPY")
    assert any(node.op.name == "attention" for node in f.graph.order)
    rng = np.random.default_rng(1)
    mask = np.zeros((70, width), "float32")
    mask[3, 5], mask[4, width - 1], mask[5, :], mask[6, :] = INF, INF, -INF, INF
    mask[7, 0], mask[7, 1], mask[8, :-1] = NAN, INF, -INF
    given = [rng.normal(size=s).astype("float32") for s in ((70, 8), (8, width), (width, 5))]
    got, want = f(*given, mask), plain(*given, mask)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    assert np.isnan(got[3:8]).all() and not np.isnan(got[8:]).any()


def test_formulas_that_users_write_keep_their_values():
    """Rules that make ops of the family of them keep the numbers beside inf."""
    x = T.matrix("x")
    e, total = T.exp(x), T.sum(T.exp(x), axis=1, keepdims=True)
    shares, logs = e / total, x - T.log(total)
    f = ag.function([x], [shares, T.log(shares), logs])
    assert {node.op.name for node in f.unoptimized_graph.order} != {node.op.name for node in f.graph.order}
    wanted = [NAN, 0, 0], [NAN, -INF, -INF], [NAN, -INF, -INF]
    for got, want in zip(f(np.array([[INF, 0.0, 1.0]])), wanted, strict=True):
        np.testing.assert_array_equal(got, [want])
