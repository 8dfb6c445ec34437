"""Any assignment of engines gives equal values: random programs whose nodes are divided at random."""

import contextlib
import itertools
import random
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_trials import trouble
from random_programs import random_program

import arignote as ag
from arignote import ops as T
from arignote.engines import Request
from arignote.engines.division.problem import Division
from arignote.frontends.onnx.writing.saving import model_of
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.elementwise.records import ELEMENTWISE
from arignote.ops.lowered.region import regions_of
from benchmarks.devices import engines

HAS_RUNTIME = all(find_spec(name) for name in ("onnx", "onnxruntime"))
ENGINES = ("c", "numpy", "onnxruntime") if HAS_RUNTIME else ("c", "numpy")
needs_runtime = pytest.mark.skipif(not HAS_RUNTIME, reason="onnxruntime is not installed")


@pytest.fixture(autouse=True)
def _without_traces():
    """Remove the file that ONNX Runtime leaves."""
    yield
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)


@pytest.fixture
def assigned(monkeypatch):
    """Lets nodes be assigned at random from a seed; holds how often each engine was drawn."""
    drawn = dict.fromkeys(ENGINES, 0)

    def seeded(seed):
        def draw(division):
            r = random.Random(seed)
            found = [r.choice(engines) for engines in division.supported]
            for name in found:
                drawn[name] += 1
            return found

        monkeypatch.setattr(Division, "cheapest", draw)

    seeded.drawn = drawn
    return seeded


@pytest.mark.long
def test_random_programs_divided_at_random_compute_what_numpy_computes(assigned):
    @settings(max_examples=16)
    @given(st.integers(0, 2000))
    def check(seed):
        assigned(seed)
        engines = ENGINES if seed % 4 else ENGINES[1:]
        mode = ag.Mode("fast_run").dividing(*engines, "numpy")
        assert trouble(replace(random_program(seed), mode=mode), seed) is None

    check()
    assert all(assigned.drawn.values())


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_updates_draws_and_several_outputs_do_not_depend_on_engines(assigned, seed):
    def run(**how):
        x, n = T.fmatrix("x"), T.lscalar("n")
        w = ag.shared(np.arange(6, dtype="float32").reshape(2, 3), name="w")
        count = ag.shared(np.array(0), name="count")
        draws = T.random.RandomStream(seed=7).normal((2,), dtype="float32")
        y = T.tanh(x @ w) * draws[:1] + T.cast(count, "float32")
        outputs = {"y": y, "k": T.argmax(y, axis=1) + n, "empty": y[:0].sum(axis=0), "same": x, "n": -n}
        f = ag.function([x, n], outputs, updates=[(w, w * 2 + y.sum()), (count, count + n)], **how)
        argument = np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2)
        results = [f(argument, 3), f(argument, -1), f(argument[:0], 2)]
        return f, [v for r in results for v in r.values()] + [w.get_value(), count.get_value()]

    _, expected = run(mode="NUMPY")
    assigned(seed)
    f, found = run(engines=ENGINES)
    assert regions_of(f.graph)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        tolerance = 2e-6 if a.dtype.kind == "f" else 0
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@needs_runtime
def test_the_runtime_as_the_only_engine():
    x, w = T.fmatrix("x"), ag.shared(np.ones((3, 2), "float32"), name="w")
    y = T.tanh(x @ w)
    f = ag.function([x], [y, y.sum()], updates=[(w, w * 2)], mode=ag.Mode("fast_run", backend="onnxruntime"))
    g = ag.function([x], [y, y.sum()], updates=[(w, w * 2)], engines=["onnxruntime"])
    argument = np.arange(6, dtype="float32").reshape(2, 3)
    for h in (f, g):
        w.set_value(np.ones((3, 2), "float32"))
        np.testing.assert_allclose(h(argument)[0][1], np.tanh(12.0))
        assert h.backend == "onnxruntime" and w.get_value()[0, 0] == 2


@needs_runtime
def test_nodes_that_the_runtime_computes_otherwise_are_refused():
    engine = ag.engines.engine("onnxruntime")
    x, z, k, u = T.matrix("x"), T.zmatrix("z"), T.lvector("k"), T.matrix("u", "uint64")
    steps, _ = ag.scan(lambda row, s: s + row, sequences=[x], outputs_info=[T.zeros(3)])
    for value, message in (
        (z * 2, "it has no complex128"), (x[k[0]], "its errors would not be NumPy's"),
        (T.cumprod(x, axis=0), "a loop of no steps"), (steps, "a loop of no steps"),
        (T.linalg.svdvals(x), "its errors"), (T.nn.softmax(x), "NaN and infinities"), (T.sin(x), "it is less exact"),
        (k.sum(), "not exact"), (T.argsort(x), "equal elements"), (T.dot(u, u), "products of unsigned"),
        (T.cast(x, "int32"), "floats that no integer is near"),
    ):  # fmt: skip
        reasons = [engine.refusal(node) for node in ag.graph.toposort([value])]
        assert any(message in reason for reason in reasons), (value, reasons)
    assert engine.supports((x + 1).owner) and engine.supports(T.dot(x, x).owner)


@needs_runtime
def test_inputs_that_nothing_reads_are_not_in_the_model():
    """Rules may take away the last reader of an input; a model takes no complex one."""
    z, x, y = T.zmatrix("z"), T.matrix("x"), T.matrix("y")
    model = model_of("region", ag.FunctionGraph([z, x, y], [T.exp(y), x + 1]))
    assert [i.name for i in model.graph.input] == ["i1", "i2"]


@needs_runtime
@pytest.mark.parametrize("dtype", ["uint32", "uint64", "int64", "float32"])
def test_products_without_terms_are_zeros(dtype):
    x, y = T.matrix("x", dtype), T.matrix("y", dtype)
    for product in (T.dot, T.matmul):
        mode = ag.Mode("fast_run", backend="numpy").dividing("numpy", "onnxruntime")
        f = ag.function([x, y], product(x, y), mode=mode)
        np.testing.assert_array_equal(f(np.ones((2, 0), dtype), np.ones((0, 3), dtype)), np.zeros((2, 3), dtype))


@needs_runtime
def test_a_loop_of_any_number_of_steps_stays_where_it_runs():
    """Its estimate is that of 2^63 steps."""
    x = T.vector("x")
    doubled = ag.while_loop(lambda s: s < 1.5, lambda s: s * 2, T.constant(0.25))
    f = ag.function([x], doubled * x, mode=ag.Mode("fast_run", backend="numpy").dividing("numpy", "onnxruntime"))
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 2.0))


@pytest.mark.long
def test_the_best_plan_of_a_half_precision_network_is_mixed():
    x, y, value = engines.network()
    f = ag.function([x], y, engines=engines.ENGINES)
    inside = [node.op.name for op in regions_of(f.graph) for node in op.graph.order]
    assert f.engines == ("c", "onnxruntime") and inside.count("dot") == 2
    assert "sort" in {node.op.name for node in f.graph.order} and not {"sort", "logsumexp"} & set(inside)
    plan = f.explain("partition")
    assert "with all on C\n" in plan and "with all on ONNX Runtime\n" in plan and plan.count("region ") == 2
    for a, b in zip(f(value), ag.function([x], y)(value), strict=True):
        np.testing.assert_allclose(a, b, atol=4e-3)


SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -1.5, 3e9, -2.5, 0.5, 300.0, 1e-40, -1e-3, 9.15, -11.0])
EDGES = {"int64": (-(2**63), 2**63 - 1), "int8": (-128, 127), "uint8": (0, 255)}


@needs_runtime
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8"])
def test_supported_elementwise_ops_are_numpys_on_special_values(dtype):
    engine = ag.engines.engine("onnxruntime")
    with np.errstate(all="ignore"):
        one = SPECIAL.astype(dtype) if dtype in ("float32", "float64") else np.array([*EDGES[dtype], 0, 1, 2, 7], dtype)
    pairs = [np.ascontiguousarray(m.ravel()) for m in np.meshgrid(one, one)]
    inputs = [T.tensor("u", dtype, (None,)), T.tensor("v", dtype, (None,))]
    nodes = []
    for op, count in itertools.product(ELEMENTWISE.values(), (1, 2)):
        with contextlib.suppress(TypeError, ValueError):
            out = op(*inputs[:count])
            nodes += [out] if all(engine.supports(n) for n in ag.graph.toposort([out])) else []
    assert len(nodes) > 30
    graph = FunctionGraph(inputs, nodes)
    run = engine.compile(graph, Request("f", (None, None))).run
    for arrays in (pairs, [p[:0] for p in pairs]):
        with np.errstate(all="ignore"):
            expected = interpret(graph, arrays)
        for node, a, b in zip(nodes, run(*arrays), expected, strict=True):
            exact = a.dtype.kind != "f"
            tolerance = 0 if exact else (2e-3 if a.dtype == "float16" else 16 * np.finfo(a.dtype).eps)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=0 if exact else 1e-37, err_msg=str(node.owner))
