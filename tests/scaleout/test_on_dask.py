"""Functions over the blocks of Dask arrays: values, stages, updates, mistakes, a cluster whose worker dies."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.chunked import tasks as block_tasks
from arignote.scaleout import Split, propagated, staged

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
RNG = np.random.default_rng(6)
ROWS, CHUNKS = 50, (20, 7, 23)
X, Y, W = RNG.normal(size=(ROWS, 4)), RNG.normal(size=(ROWS, 4)), RNG.normal(size=(4, 3))
TABLE = RNG.normal(size=(9, 4))
LABELS = RNG.integers(0, 9, ROWS)


def chunked(array, axis=0, chunks=CHUNKS):
    return da.from_array(array, chunks=tuple(chunks if a == axis else -1 for a in range(array.ndim)))


x, y, w = T.matrix("x"), T.matrix("y"), T.matrix("w")
labels, table = T.lvector("labels"), T.matrix("table")
rows = T.arange(T.shape(x)[0])
logits = x @ w
P = T.nn.softmax(logits, axis=1)
cross_entropy = -T.log(P[rows, labels % 3]).mean()
CASES = {
    "elementwise": T.exp(x) * y + 1,
    "a row for all": x * w[:, 0] - T.sum(w),
    "reductions": [T.sum(x), T.max(x, axis=0), T.min(x, axis=1), T.prod(x * 0.1), T.any(x > 2, axis=0)],
    "moments": [x.mean(axis=0), x.var(axis=0), x.std()],
    "standardized": (x - x.mean(axis=0)) / x.std(axis=0),
    "softmax along rows": T.nn.softmax(x, axis=1),
    "logsumexp": T.nn.logsumexp(x, axis=1),
    "softmax along the chunked axis": [T.nn.softmax(x, axis=0), T.log(T.nn.softmax(x, axis=0)) + 1],
    "logsumexp along the chunked axis": T.nn.logsumexp(x * 900, axis=0),
    "a softmax's gradient": ag.grad(T.sum(T.nn.softmax(x, axis=0) * y), [x]),
    "infinite logits": T.nn.softmax(T.switch(x > 1, -np.inf, x), axis=0),
    "along other axes": [T.cumsum(x, axis=1), T.sort(x, axis=1), T.argsort(x, axis=1)],
    "positions": [rows, rows * 2.0 + x[:, 0], T.sum(rows)],
    "elements of rows": [x[rows, labels % 4], x[rows, 1], -T.log(P[T.arange(T.shape(labels)[0]), labels % 3]).mean()],
    "a cross entropy": [cross_entropy, *ag.grad(cross_entropy, [w])],
    "a fused cross entropy": ag.grad(T.nn.softmax_crossentropy(logits, labels % 3).mean(), [w]),
    "an embedding": ag.grad(T.sum(T.square(table[labels] - x)), [table]),
    "gradients of parts": ag.grad(T.square(logits[:, 1] - x[:, 0]).mean() + T.sum(T.exp(logits[:, 1:3])), [w]),
    "broadcast": [T.zeros((T.shape(x)[0], 2)) + w[0, 0], T.ones(T.shape(x)[0]) * y[:, 0], logits + T.zeros((50, 3))],
    "products": [T.dot(x, w), T.dot(x.T, y), T.dot(w.T, x.T), T.matmul(x, w), T.dot(x.T, x @ w)],
    "transposed": [x.T, (x.T * 2).sum(axis=0), T.expand_dims(x, 1) + y[:, None]],
    "parts": [x[:, 1:3], x[:, 0], T.concatenate([x, y], axis=1), T.argmax(x, axis=1)],
    "gathers": table[labels] * x,
    "reshaped": [T.reshape(x, (T.shape(x)[0], 2, 2)).sum(axis=2), T.reshape(x, (1, T.shape(x)[0], 2, 2))],
    "repeated": T.tile(x, (1, 2)),
    "a row broadcast to all": T.broadcast_to(w[0], (T.shape(x)[0], 3)) * x[:, :3],
    "promised lengths": T.specify_shape(x, (None, 4)) + T.specify_shape(y, (T.shape(x)[0], 4)),
    "places": [T.median(x, axis=1), T.searchsorted(T.sort(w[:, 0]), x[:, 0])],
    "a gradient": [T.square(x @ w).mean(), *ag.grad(T.square(x @ w).mean(), [w])],
    "lengths": [T.shape(x)[0] * T.shape(x)[1] + T.sum(x * 0).astype("int64"), T.shape(x)[0], T.shape(x.T)[0]],
    "inputs and constants": [x, w, T.constant(2.5), labels],
}
INPUTS, VALUES = [x, y, w, labels, table], [X, Y, W, LABELS, TABLE]


@pytest.mark.parametrize("slices", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_blocks_give_the_values_of_the_whole(name, slices, monkeypatch):
    if slices:  # of one row each
        monkeypatch.setattr(block_tasks, "SLICE_BYTES", 0)
        monkeypatch.setattr(block_tasks, "SHARE", 0)
    f = ag.function(INPUTS, CASES[name], mode="NUMPY", on_unused_input="ignore")
    want = f(*VALUES)
    with dask.config.set(scheduler="synchronous"):
        got = ag.on_dask(f, arity=2)(chunked(X), chunked(Y), W, chunked(LABELS), TABLE)
        for a, b in zip(got, want, strict=True) if isinstance(want, list) else [(got, want)]:
            assert (a.shape, a.dtype) == (np.shape(b), np.asarray(b).dtype)
            np.testing.assert_allclose(a.compute(), b, rtol=1e-11, atol=1e-12)


def test_random_numbers_are_those_of_the_whole():
    def drawn():
        rng, n = T.random.RandomStream(seed=4), T.shape(x)[0]
        sizes = [T.shape(x), n, (n, 2, 3), (3, n)]
        kept = rng.bernoulli(0.5, size=T.shape(logits))
        loss = (T.tanh(logits) * kept).mean()
        return ag.function([x, w], [*(rng.normal(size=s) for s in sizes), loss, ag.grad(loss, w)], mode="NUMPY")

    on_blocks, whole_function = ag.on_dask(drawn()), drawn()
    with dask.config.set(scheduler="synchronous"):
        for _ in range(2):
            got, want = on_blocks(chunked(X), W), whole_function(X, W)
            assert all(np.array_equal(a, b) for a, b in zip(got[:4], want, strict=False))
            for a, b in zip(got[4:], want[4:], strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-12)


def test_partial_results_of_a_block_are_added_over_slices_of_its_rows(monkeypatch):
    hidden = T.tanh(x @ w)
    f = ag.on_dask(ag.function([x, w], [hidden.mean(), ag.grad(hidden.mean(), w)]))
    cut, bounds = block_tasks._cut, []
    monkeypatch.setattr(block_tasks, "_cut", lambda *given: [bounds.append(given[-1]), cut(*given)][1])
    monkeypatch.setattr(block_tasks, "SLICE_BYTES", 200)
    monkeypatch.setattr(block_tasks, "SHARE", 0)
    with dask.config.set(scheduler="synchronous"):
        results = [dask.compute(*f(chunked(X, chunks=25), W)) for _ in range(2)]
    assert sorted(bounds[: len(bounds) // 2]) == sorted(bounds[len(bounds) // 2 :])
    begins, ends = zip(*sorted(set(bounds)), strict=True)
    assert (begins[0], ends[-1], 25 in ends, len(ends) > 4) == (0, 50, True, True) and begins[1:] == ends[:-1]
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))
    np.testing.assert_allclose(results[0][0], np.tanh(X @ W).mean(), rtol=1e-12)


def test_slices_of_one_block_are_known_to_be_equally_long():
    p, labels_ = T.sigmoid(x[:, 0]), T.vector("labels")
    loss = -(labels_ * T.log(p) + (1 - labels_) * T.log(1 - p)).mean()
    f = ag.function([x, labels_], [loss, ag.grad(loss, x)], engine="dask")
    with dask.config.set(scheduler="synchronous"):
        dask.compute(*f(chunked(X), chunked(LABELS % 2.0)))
    [[(_, plan)]] = f._chunked._plans.values()
    ops = [node.op.name for node in plan.program.parts.blocks[0].run.graph.order]
    assert "sum_to" not in ops


def test_chunks_of_other_lengths_than_declared_are_named():
    made = da.map_blocks(
        lambda block_id=None: X[: 5 + block_id[0]], chunks=((5,) * 3, (4,)), dtype="float64", meta=X[:0]
    )
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=r"a chunk of x: expected length 5 on axis 0, got [67]"),
    ):
        ag.function([x], T.sum(x), mode="NUMPY")(made).compute()


def test_empty_chunks_count_for_nothing():
    f = ag.function([x, y], [x.max(axis=0), x + y], mode="NUMPY")
    with dask.config.set(scheduler="synchronous"):
        found = f(chunked(X, chunks=(20, 0, 30)), chunked(Y, chunks=(20, 30)))
        assert found[1].chunks == ((20, 30), (4,))
        assert all(np.array_equal(a.compute(), b) for a, b in zip(found, f(X, Y), strict=True))
        with pytest.raises(ValueError, match="maximum which has no identity"):
            f(X[:0], chunked(Y[:0], chunks=(0, 0)))[0].compute()


def test_networks_of_convolutions_are_split_along_examples():
    images, kernel = T.tensor4("images"), T.tensor4("kernel")
    loss = T.square(T.nn.max_pool2d(T.nn.conv2d(images, kernel), 2)).mean()
    f = ag.function([images, kernel], [loss, ag.grad(loss, kernel)], mode="NUMPY")
    values = RNG.normal(size=(6, 2, 5, 5)), RNG.normal(size=(3, 2, 2, 2))
    with dask.config.set(scheduler="synchronous"):
        for a, b in zip(f(da.from_array(values[0], chunks=(4, -1, -1, -1)), values[1]), f(*values), strict=True):
            np.testing.assert_allclose(a.compute(), b, rtol=1e-11)
        with pytest.raises(TypeError, match="convolution: is chunked along channels or windows"):
            f(da.from_array(values[0], chunks=(-1, -1, 3, -1)), values[1])


def test_columns_can_be_the_chunked_axis():
    f = ag.function([x], [x * 2, x.sum(axis=1), x.sum(axis=0)], mode="NUMPY")
    with dask.config.set(scheduler="synchronous"):
        found = ag.on_dask(f)(chunked(X.T, 1))
        assert found[0].chunks == ((4,), CHUNKS)
        for a, b in zip(found, f(X.T), strict=True):
            np.testing.assert_allclose(a.compute(), b, rtol=1e-12)


def test_a_mean_loss_has_one_stage_of_blocks_and_its_gradient_another_combination():
    loss = T.square(x @ w).mean()
    graph = ag.rewrite(ag.FunctionGraph([x, w], [loss, *ag.grad(loss, [w])]), "canonicalize stabilize useless_sum_to")
    plan = staged(graph, {graph.inputs[0]: Split(0)})
    assert sum(stage.block is not None for stage in plan.stages) == 1
    states = {str(p.states[0]) for p in propagated(graph, {graph.inputs[0]: Split(0)})[1].placed.values()}
    assert {"split(0)", "partial(add)"} <= states


def test_equal_chunks_give_equal_bits_and_other_chunks_nearly_the_same():
    f = ag.function([x], [T.sum(T.exp(x)), x.std(axis=0)], mode="NUMPY")
    with dask.config.set(scheduler="synchronous"):
        run = ag.on_dask(f)
        first, again, other = (dask.compute(*run(chunked(X, chunks=c))) for c in (CHUNKS, CHUNKS, (5,) * 10))
    for a, b, c in zip(first, again, other, strict=True):
        assert np.array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-12)


def test_a_block_is_one_task_with_the_chunks_that_it_reads():
    f = ag.function([x, w], [T.square(x @ w).mean(), T.exp(x)], mode="NUMPY")
    made = da.map_blocks(lambda block_id=None: X[:5] * block_id[0], chunks=((5,) * 6, (4,)), dtype="float64")
    total, each = f(made, W)
    graph = dict(dask.optimize(total)[0].dask)
    assert len(graph) == 1 + 6 + 6 + 1 + 1  # start, blocks, their partial results, one combination, the result
    assert len(dict(dask.optimize(each)[0].dask)) == 1 + 6


def test_operands_that_cannot_be_split_are_gathered_if_asked():
    f = ag.function([x, labels], [T.sort(x, axis=0).sum(axis=1), T.exp(x[labels])], mode="NUMPY", name="f")
    with dask.config.set(scheduler="synchronous"):
        run = ag.on_dask(f, arity=2, gather=True)
        for a, b in zip(run(chunked(X), chunked(LABELS)), f(X, LABELS), strict=True):
            np.testing.assert_allclose(a.compute(), b, rtol=1e-12)
    first, second = sorted(run.remarks)
    assert "advanced_subtensor: gathers along axis 0" in first and "sort: runs along axis 0" in second
    assert all(text.endswith("Its chunked operands are gathered") for text in run.remarks)


def test_arguments_whose_chunks_do_not_fit_are_rechunked_if_asked():
    f = ag.function([x, y, table], [x * y, T.sum(table)], mode="NUMPY")
    run = ag.on_dask(f, gather=True)
    with dask.config.set(scheduler="synchronous"):
        product, total = run(TWICE, chunked(Y), chunked(TABLE, chunks=(4, 5)))
        assert product.chunks == ((25, 25), (4,)) and np.array_equal(product.compute(), X * Y)
        np.testing.assert_allclose(total.compute(), TABLE.sum())
    assert [text[:12] for text in run.remarks] == ["x is chunked", "chunks of y ", "chunks of ta"]


def test_updates_happen_once_and_a_failure_leaves_them():
    state, count = ag.shared(np.zeros((4, 3)), name="state"), ag.shared(0, name="count")
    loss = T.square(x @ state - y[:, :3]).mean()
    updates = {state: state - 0.1 * ag.grad(loss, state), count: count + 1}
    step = ag.function([x, y], loss, updates=updates, mode="NUMPY", name="step")
    with dask.config.set(scheduler="synchronous"):
        run = ag.on_dask(step)
        losses = [float(run(chunked(X), chunked(Y))) for _ in range(3)]
        found = state.get_value()
        state.set_value(np.zeros((4, 3)))
        assert np.allclose(losses, [step(X, Y) for _ in range(3)]) and losses[2] < losses[0]
        np.testing.assert_allclose(found, state.get_value(), rtol=1e-12)
        assert count.get_value() == 6
        broken = da.map_blocks(lambda block: 1 // 0, chunked(X), dtype="float64", meta=X[:0])
        with pytest.raises(ZeroDivisionError):
            run(broken, chunked(Y))
        assert count.get_value() == 6


def test_a_compiled_function_runs_on_the_blocks_of_dask_arrays():
    f = ag.function([x, w], {"p": T.dot(x, w)}, name="rows")
    calls = [f, ag.function([x, w], {"p": T.dot(x, w)}, mode="DEBUG"), ag.jit(lambda x, w: {"p": T.dot(x, w)})]
    calls.append(ag.function([x, w], {"p": T.dot(x, w)}, engine="dask", name="rows"))
    with dask.config.set(scheduler="synchronous"):
        want = ag.on_dask(f)(chunked(X), W)["p"]
        for call in calls:
            for _ in range(70 if call is f else 1):  # the native entry comes after 64 calls
                got = call(chunked(X), W)["p"]
            assert isinstance(got, da.Array) and got.chunks == want.chunks
            assert np.array_equal(got.compute(), want.compute())
        on_blocks = pickle.loads(pickle.dumps(calls[-1]))
        assert on_blocks.backend == "dask" and np.array_equal(on_blocks(w=W, x=X.tolist())["p"].compute(), X @ W)
    for refused in (lambda: f.bind(chunked(X), W), lambda: f.arrays([chunked(X), W])):
        with pytest.raises(TypeError, match=r"rows: argument 0 \(x\): .*got a Dask array; use x.compute\(\)"):
            refused()
    assert ag.function([x], x, engine="numpy").backend == "numpy"


def test_nothing_imports_dask_before_it_is_used():
    script = (
        "import sys, numpy as np, arignote as ag; from arignote import ops as T; x = T.vector('x');"
        "f = ag.function([x], x + 1, mode='NUMPY'); f([1, 2]); f(np.ones(2)); ag.on_dask; print('dask' in sys.modules)"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True) == "False\n"


def whole(*_):
    return ag.function([x], T.sum(x), mode="NUMPY", name="total")


TWICE = da.from_array(X, chunks=(25, 2))
def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.array", None)
    with pytest.raises(ImportError, match=r"pip install 'arignote\[dask\]'"):
        ag.on_dask(whole())
    with pytest.raises(ImportError, match=r"function needs Dask; .*pip install 'arignote\[dask\]'"):
        ag.function([x], x, engine="dask")


def of(output, *inputs):
    return ag.on_dask(ag.function(list(inputs or (x,)), output, mode="NUMPY"))


REFUSED = [
    (lambda: ag.on_dask(lambda x: x), TypeError, "expected a function that ag.function made"),
    (lambda: ag.on_dask(whole(), arity=1), ValueError, "arity must be .*got .*1"),
    (lambda: ag.function([x], x, engine="dasc"), ValueError, "function: engine is 'dasc'; expected one of 'dask', 'c'"),
    (lambda: ag.function([x], x, engine="dask", engines=["c"]), ValueError, "engines and engine"),
    (lambda: ag.on_dask(whole())(*()), TypeError, "takes 1 argument, got 0"),
    (lambda: ag.on_dask(whole())(chunked(X)[chunked(X)[:, 0] > 0]), ValueError, "unknown ones .*call x.compute_chu"),
    (lambda: whole()(chunked(X)[:, 0]), TypeError, r"total: argument 0 \(x\): expected .*shape \(50,\)"),
    (lambda: whole()(chunked(X.astype("complex128"))), TypeError, r"total: argument 0 \(x\): .*dtype complex128"),
    (lambda: of(x + y, x, y)(chunked(X), "no"), TypeError, r"argument 1 \(y\): .*got str 'no'"),
    (lambda: of(x + y, x, y)(chunked(X), chunked(Y, chunks=(25, 25))), ValueError, r"by y.rechunk\(\{0: \(20"),
    (lambda: of(T.sort(x, axis=0))(chunked(X)), TypeError, r"sort: runs along .*give x.rechunk\(\{0: -1\}\)"),
    (lambda: of(x[labels], x, labels)(chunked(X), chunked(LABELS)), TypeError, "gathers along axis 0, which is"),
    (lambda: of(T.dot(T.nn.softmax(x @ x.T), x))(chunked(X)), TypeError, "both operands are split"),
    (lambda: of(table.at[labels].add(1), table, labels)(TABLE, chunked(LABELS)), TypeError, "changes a whole array"),
    (lambda: of(x[T.argmax(x[:, 0]) :])(chunked(X)), TypeError, "bounds that the call computes"),
    (lambda: of(T.argmax(x.T))(chunked(X)), TypeError, r"argmax: needs axis 1.*give x.rechunk\(\{0: -1\}\)"),
    (lambda: of(x[70])(chunked(X)), IndexError, "index 70 is out of bounds for axis of length 50"),
    (lambda: of(x + y, x, y)(chunked(X), Y[:7]), ValueError, "operand 1 has length 7 .* have 50"),
    (lambda: of(x[x[:, 0] > 0])(chunked(X)), TypeError, r"nonzero: has no rule .*give x.rechunk\(\{0: -1\}\)"),
    (lambda: of(T.specify_shape(x, (50, 4)))(chunked(X)), TypeError, "promises a length of axis 0.*give None"),
    (lambda: of(T.median(x, axis=0))(chunked(X)), TypeError, "selects along an axis that is chunked; give x.rech"),
    (lambda: of(T.searchsorted(x[:, 0], y), x, y)(chunked(X), Y), TypeError, "the sorted vector is chunked"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "kind", "message"), REFUSED)
def test_mistakes_are_named(run, kind, message):
    with pytest.raises(kind, match=message):
        run()


CLUSTER = """
import os, signal
import dask, numpy as np
import dask.array as da
from distributed import Client, LocalCluster
import arignote as ag
from arignote.chunked import tasks as block_tasks
from arignote import ops as T

def main():
    x, w = T.matrix("x"), T.matrix("w")
    loss = T.square(x @ w).mean()
    f = ag.function([x, w], [loss, ag.grad(loss, w)], name="step")
    rng = np.random.default_rng(0)
    big, weights = rng.normal(size=(40_000, 4)), rng.normal(size=(4, 3))
    want = f(big, weights)
    options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50)
    with LocalCluster(**options) as cluster, Client(cluster):
        run = ag.on_dask(f)
        for size in (10_000, 1_000):
            started = dask.persist(*run(da.from_array(big, chunks=(size, 4)), weights))
            if size == 1_000:
                os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
            for a, b in zip(dask.compute(*started), want, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-10)
    print("all equal")

if __name__ == "__main__":
    main()
"""


@pytest.mark.long
def test_a_cluster_gives_the_values_although_a_worker_dies(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, "-W", "ignore", "cluster.py"]
    environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.stdout.endswith("all equal\n"), done.stdout + done.stderr
