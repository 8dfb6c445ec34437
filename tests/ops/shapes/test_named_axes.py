"""Named axes: values against NumPy, optimized graphs against those without names, errors that show the names."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(3)
LENGTHS = {"batch": 4, "time": 3, "feature": 5, "class": 2, "head": 2}


def tensor(name, *axes):
    """A named tensor and its value; a letter of einsum stands for each axis."""
    variable = T.tensor(name, shape=(None,) * len(axes))
    return T.named(variable, *axes), RNG.normal(size=[LENGTHS[a] for a in axes])


X, x = tensor("x", "batch", "feature")
W, w = tensor("w", "feature", "class")
B, b = tensor("b", "class")
Q, q = tensor("q", "batch", "time", "head", "feature")
K, k = tensor("k", "head", "feature", "batch")
P, p = tensor("p", "time", "class", "feature")
LABELS = T.named(T.lvector("labels"), "batch")
labels = np.array([1, 0, 0, 1])
MIXED = T.named(T.lmatrix("mixed"), "batch", "new")
mixed = np.array([[4, 0, 1], [1, 1, 2], [3, 3, 0], [0, 2, 4]])

VALUES = [
    (X + B, (x[:, :, None] + b), "batch feature class"),
    (B - X, (b[:, None, None] - x), "class batch feature"),
    (2.0 - X, 2.0 - x, "batch feature"),
    (X * X.variable.sum(), x * x.sum(), "batch feature"),
    (X / X.rename(feature="other"), x[:, :, None] / x[:, None, :], "batch feature other"),
    (-abs(X) ** 2, -abs(x) ** 2, "batch feature"),
    (W.max("class") < X, (x > w.max(1)).T, "feature batch"),
    ((X > 0) & ~(X < 1), (x > 0) & ~(x < 1), "batch feature"),
    (X.order("feature", "batch") == X, np.ones_like(x.T, bool), "feature batch"),
    (np.exp(X) + np.maximum(X, B), np.exp(x)[:, :, None] + np.maximum(x[:, :, None], b), "batch feature class"),
    (X.apply(T.where, 1.0, B), np.where(x[:, :, None] != 0, 1.0, b), "batch feature class"),
    (X.apply(T.clip, -0.5, 0.5), np.clip(x, -0.5, 0.5), "batch feature"),
    (Q.sum("time", "head"), q.sum((1, 2)), "batch feature"),
    (Q.mean(), q.mean(), ""),
    (Q.var("batch", ddof=1), q.var(0, ddof=1), "time head feature"),
    (Q.argmax("head"), q.argmax(2), "batch time feature"),
    (Q.logsumexp("feature"), np.log(np.exp(q).sum(-1)), "batch time head"),
    (Q.softmax("head"), np.exp(q) / np.exp(q).sum(2, keepdims=True), "batch time head feature"),
    (Q.cumsum("time").flip("batch"), q.cumsum(1)[::-1], "batch time head feature"),
    (Q.roll(time=1, head=-1), np.roll(q, (1, -1), (1, 2)), "batch time head feature"),
    (Q.order("feature", ..., "batch"), q.transpose(3, 1, 2, 0), "feature time head batch"),
    (Q.rename(batch="b", time="t"), q, "b t head feature"),
    (Q.merge(("head", "feature"), "all"), q.reshape(4, 3, 10), "batch time all"),
    (Q.merge(("head", "feature"), "all").split("all", head=2, feature=-1), q, "batch time head feature"),
    (X.expand(time=3), np.broadcast_to(x, (3, 4, 5)), "time batch feature"),
    (X.expand(time=1).squeeze("time"), x, "batch feature"),
    (X.at(batch=0), x[0], "feature"),
    (X[{"batch": 1, "feature": slice(1, 3)}], x[1, 1:3], "feature"),
    (X.at(feature=[2, 0, 2]), x[:, [2, 0, 2]], "batch feature"),
    (X.at(feature=T.named(np.array([[1, 0]]), "i", "j")), x[:, [[1, 0]]].transpose(1, 2, 0), "i j batch"),
    (W.dot(X, "feature").at({"class": LABELS}), (x @ w)[np.arange(4), labels], "batch"),
    (X.at(feature=MIXED), np.take_along_axis(x, mixed, 1), "batch new"),
    (X.at(batch=0, feature=1), x[0, 1], ""),
    (X.astype("float32"), x.astype("float32"), "batch feature"),
    (X.dot(W, "feature") + B, x @ w + b, "batch class"),
    (W @ X, (x @ w).T, "class batch"),
    (X.dot(X.rename(batch="other")), x @ x.T, "batch other"),
    (X.dot(X), (x * x).sum(), ""),
    (B.dot(W), w @ b, "feature"),
    (X.dot(X, "feature"), (x * x).sum(1), "batch"),
    (Q.dot(K, "feature"), np.einsum("bthf,hfb->bth", q, k), "batch time head"),
    (K.dot(Q, "feature"), np.einsum("bthf,hfb->hbt", q, k), "head batch time"),
    (Q.dot(K, "feature", "head"), np.einsum("bthf,hfb->bt", q, k), "batch time"),
    (Q.dot(W, "feature"), q @ w, "batch time head class"),
    (Q.dot(P, "feature"), np.einsum("bthf,tcf->bthc", q, p), "batch time head class"),
    (Q.dot(P), np.einsum("bthf,tcf->bhc", q, p), "batch head class"),
    (P.dot(Q, "time"), np.einsum("bthf,tcf->cfbh", q, p), "class feature batch head"),
]


@pytest.mark.long
def test_values_are_numpys():
    inputs = [v.variable for v in (X, W, B, Q, K, P, LABELS, MIXED)]
    outputs = [getattr(found, "variable", found) for found, _, _ in VALUES]
    for mode in ("NUMPY", None):
        results = ag.function(inputs, outputs, mode=mode)(x, w, b, q, k, p, labels, mixed)
        for (found, expected, axes), result in zip(VALUES, results, strict=True):
            assert getattr(found, "axes", ()) == tuple(axes.split()), found
            np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=str(axes))


def test_optimized_graphs_are_those_without_names():
    xv, wv, bv, qv, kv = (v.variable for v in (X, W, B, Q, K))
    pairs = [
        ((X.dot(W, "feature") + B).softmax("class"), T.softmax(T.dot(xv, wv) + bv, axis=1)),
        ((X - X.mean("batch")) / X.std("batch"), (xv - xv.mean(0)) / xv.std(0)),
        (X * W.sum("class"), xv * wv.sum(1)),
        (Q.order("head", ...).sum("time"), T.dimshuffle(qv, (2, 0, 1, 3)).sum(2)),
        (Q.at(time=0).max("head"), qv[:, 0].max(1)),
        (X + B, T.dimshuffle(xv, (0, 1, "x")) + bv),
        (
            Q.at(head=0).dot(Q.at(time=0), "feature"),
            T.matmul(qv[:, :, 0], T.dimshuffle(qv[:, 0], (0, 2, 1))),
        ),
    ]  # fmt: skip
    for named, plain in pairs:
        graphs = [
            ag.function([xv, wv, bv, qv, kv], v, mode="NUMPY", on_unused_input="ignore").unoptimized_graph
            for v in (getattr(named, "variable", named), plain)
        ]
        assert str(ag.rewrite(graphs[0], "fast_run")) == str(ag.rewrite(graphs[1], "fast_run"))


@pytest.mark.parametrize("wrong, kind, message", [
    (lambda: X.sum("batc"), ValueError, r"sum: .*batch=\?.* has no axis 'batc'; expected one of batch, feature"),
    (lambda: X.sum("batch", "batch"), ValueError, "sum: an axis is given twice"),
    (lambda: X + np.ones(5), TypeError, r"add: array.* has 1 axis without names; give names, .*'feature'"),
    (lambda: X * T.vector("v"), TypeError, "mul: v .* has 1 axis without names"),
    (lambda: T.named(X.variable, "a"), ValueError, "named: x .* has 2 axes, got the names a; name each axis"),
    (lambda: T.named(X.variable, "a", "a"), ValueError, "two axes of x .* are named 'a'"),
    (lambda: T.named(X.variable, "a", 3), TypeError, "the name of an axis is 3; expected a text"),
    (lambda: X.rename(feature="batch"), ValueError, "rename: two axes"),
    (lambda: X.rename(time="t"), ValueError, "rename: .* has no axis 'time'"),
    (lambda: X.order("feature"), ValueError, "order: got feature for the axes batch, feature"),
    (lambda: X.dot(B), ValueError, "dot: .* have no axis in common"),
    (lambda: X.dot(W, "class"), ValueError, "dot: named.x: .* has no axis 'class'"),
    (lambda: X.dot(W.variable), TypeError, "dot: got w .*; give its axes names"),
    (lambda: X[0], TypeError, r"index: got 0 for .*; name the axes, as in x\[{'batch': 0}\]"),
    (lambda: X.at(time=0), ValueError, "index: .* has no axis 'time'"),
    (lambda: X.at(feature=np.ones((2, 2), int)), TypeError, "index of axis 'feature' has 2 axes without names"),
    (lambda: X.at(feature=B), TypeError, "index of axis 'feature' is .*; expected integers"),
    (lambda: T.named(np.ones((3, 2)), "a", "b") + T.named(np.ones(4), "a"), ValueError, "lengths 3 and 4"),
    (lambda: X.apply(T.sum), ValueError, "apply: the function gives .*; expected one that works element by element"),
    (lambda: T.exp(X), TypeError, r"named\(x: .*use x.apply\(function\), or x.variable"),
    (lambda: bool(X), TypeError, "has no truth value"),
    (lambda: list(X), TypeError, "is not iterated over"),
    (lambda: X.expand(batch=3), ValueError, "has an axis 'batch' already"),
    (lambda: ag.function([X], X.variable), TypeError, r"input 0 is NamedTensor .*; use \.variable, its value by"),
    (lambda: ag.function([X.variable], X), TypeError, r"output 0 is NamedTensor .*; use \.variable, its value by"),
    (lambda: ag.grad(X.variable.sum(), X), TypeError, r"wrt must be a variable.*; use \.variable, its value by"),
    (lambda: ag.vmap(lambda r: r)(X), TypeError, r"argument 0 is named.*; use \.variable, its value by position"),
    (lambda: ag.cond(X.variable[0, 0] > 0, lambda: X, lambda: X), TypeError, r"numbers; use \.variable"),
    (lambda: ag.jit(lambda a: T.named(a + 1, "a"))(np.ones(2)), TypeError, r"of them; use \.variable"),
    (lambda: X.reshape((-1,)), AttributeError, r"no attribute 'reshape'; x\.variable\.reshape goes by position"),
    (lambda: X.sums, AttributeError, "no attribute 'sums'; did you mean 'sum'"),
    (lambda: X.sum(axis="batch"), TypeError, r"sum: got axis='batch'; name axes by position, as in x\.sum\('batch'\)"),
    (lambda: X.mean(dim="batch"), TypeError, r"mean: got dim='batch'; name axes by position"),
])  # fmt: skip
def test_errors_show_the_names(wrong, kind, message):
    with pytest.raises(kind, match=message):
        wrong()
