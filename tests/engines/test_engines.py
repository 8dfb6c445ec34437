"""Engines: the registry, the protocol, and a toy engine that is added from outside the package."""

import pickle
import threading
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import toy_engine
from draws import mostly_long
from isolation import ProcessState
from program_trials import trouble
from random_programs import random_program
from toy_engine import Toy

import arignote as ag
from arignote import ops as T
from arignote.cbackend import driver
from arignote.engines import CheckedExecutable, Engine, EngineError, engine
from arignote.engines import c as c_engine
from arignote.function.executable_cache import key_of
from arignote.function.optimization import Optimization

x, y, m = T.vector("x"), T.vector("y"), T.matrix("m")
ARRAY = np.array([0.5, -1.0, 2.0])


@pytest.fixture
def registered():
    """Registers engines for one test."""
    made = []

    def register(one):
        made.append(ag.engines.register(one))
        return ag.Mode("fast_run", backend=one.name)

    yield register
    for one in made:
        if one.name in ag.engines.names():
            ag.engines.unregister(one.name)


@pytest.fixture
def toy(registered):
    return registered(Toy())


# --- the toy engine


def test_an_engine_is_one_short_file():
    assert len(Path(toy_engine.__file__).read_text().splitlines()) <= 60


@pytest.mark.parametrize("seed", mostly_long(range(24), range(6)))
def test_the_toy_computes_what_numpy_computes(toy, seed):
    assert trouble(replace(random_program(seed), mode=toy), seed) is None


def test_the_toy_updates_shared_variables_from_threads(toy):
    w = ag.shared(np.zeros(3), name="w")
    step = ag.function([x], w.sum(), updates=[(w, w + x)], mode=toy, profile=True, name="step")

    def work():
        for _ in range(100):
            step(np.ones(3))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (w.get_value() == 300).all() and step.profile.calls == 300 and step.backend == "toy"


def test_functions_of_the_toy_tell_of_themselves(toy):
    f = ag.function([x], {"a": T.exp(x) * 2, "b": x.sum()}, mode=toy, name="f")
    assert str(f.explain()).endswith("run by engine 'toy'") and "backend toy" in repr(f) and "toy" in f._repr_html_()
    assert not f.remarks and "'toy' reports no missed" in str(f.remarks) and f.c_source() == "" and f.program is None
    again = pickle.loads(pickle.dumps(f))
    assert again.backend == "toy" and (again(ARRAY)["a"] == f(ARRAY)["a"]).all()
    assert (f.bind(ARRAY)()["b"] == ARRAY.sum()).all()
    with pytest.raises(ValueError, match="f is run by engine 'toy', so there is no C"):
        f.export("nowhere")
    with pytest.raises(TypeError, match=r"f: argument 0 \(x\): expected float64\[\?\]"):
        f("no numbers")
    jitted = ag.jit(lambda a: T.tanh(a) + 1, mode=toy)
    np.testing.assert_allclose(jitted(ARRAY), np.tanh(ARRAY) + 1)
    assert next(iter(jitted.traces.values()))[0].backend == "toy"


def test_wrong_results_of_an_engine_are_found(registered):
    class Off(Toy):
        name = "off"

        def compile(self, graph, request):
            made = super().compile(graph, request)
            return CheckedExecutable(self, graph, request, lambda *a: [r + 1e-3 for r in made.run(*a)])

    mode = registered(Off())
    verdict = ag.bisect(ag.function([x], T.exp(x), mode=mode), [ARRAY])
    assert verdict.fault == "backend" and "3 of 3 elements" in verdict.difference
    with pytest.raises(AssertionError, match="differs from the NumPy meaning"):
        ag.function([x], T.exp(x), mode=replace(mode, check=True))(ARRAY)


def test_tiers_serve_any_engine(toy):
    f = ag.function([x], T.exp(x) * 3, mode=toy, compile_budget=60)
    assert f.ready and f.backend == "toy" and (f(ARRAY) == np.exp(ARRAY) * 3).all()
    assert ag.function([x], x + 1, mode="NUMPY", tiered=True).ready


# --- engines that break the protocol


@pytest.mark.parametrize(("results", "message"), [
    (lambda a: [], "returns 0 results; expected a list of 1"),
    (lambda a: a, "returns a ndarray; expected a list of 1"),
    (lambda a: [a, a], "returns 2 results; expected a list of 1"),
    (lambda a: [a.astype("float32")], "computes output 0 as float32; expected float64"),
    (lambda a: [list(a)], r"computes output 0 as list; expected an array of float64\[\?\]"),
    (lambda a: [a[:, None]], r"computes output 0 with shape \(3, 1\); expected \(3,\)"),
    (lambda a: [a[1:]], r"computes output 0 with shape \(2,\); expected \(3,\)"),
])  # fmt: skip
def test_wrong_forms_of_results_name_engine_and_output(registered, results, message):
    class Wrong(Engine):
        name = "wrong"

        def compile(self, graph, request):
            return CheckedExecutable(self, graph, request, results)

    f = ag.function([x], x * 2, mode=registered(Wrong()), name="f")
    with pytest.raises(EngineError, match=f"^f: engine 'wrong' {message}$"):
        f(ARRAY)


def test_an_engine_that_does_not_compile_is_named(registered):
    class Broken(Engine):
        name = "broken"
        own_errors = (KeyError,)

        def compile(self, graph, request):
            if request.name == "g":
                raise KeyError("g has no key")
            return None if request.name == "f" else 1 / 0

        def refusal(self, node):
            return "there are no sines" if node.op.name == "sin" else ""

    mode = registered(Broken())
    for name, error, message in (
        ("f", EngineError, "f: engine 'broken' compiled it to NoneType; expected an Executable"),
        ("g", KeyError, "g has no key"),
        ("h", EngineError, "h: engine 'broken' cannot compile it: ZeroDivisionError: division by zero"),
    ):
        with pytest.raises(error, match=message):
            ag.function([x], x * 2, mode=mode, name=name)
    with pytest.raises(EngineError, match=r"(?s)i: engine 'broken' cannot run sin: there are no sines; .*test_engines"):
        ag.function([x], T.sin(x), mode=mode, name="i")
    with pytest.raises(TypeError, match="Empty defines no compile"):
        registered(type("Empty", (Engine,), {"name": "empty"})())


# --- the registry


def test_unknown_engines_are_refused_with_a_suggestion(toy):
    known = "expected one of 'c', 'numpy', 'onnxruntime', 'opencl', 'cuda', 'toy'"
    with pytest.raises(ValueError, match=rf"'toi'; {known}; did you mean 'toy'\?.*register"):
        ag.Mode(backend="toi")
    with pytest.raises(ValueError, match=rf"{known}\. Others"):
        ag.Mode(backend=[])
    ag.engines.unregister("toy")
    with pytest.raises(ValueError, match="backend is 'toy'; expected one of 'c', 'numpy'"):
        ag.function([x], x, mode=toy)


def test_what_is_no_engine_is_not_registered(toy):
    for what, message in ((Toy, r"pass Toy\(\)"), (3, "got 3"), (type("E", (Engine,), {})(), "name of E")):
        with pytest.raises(TypeError, match=message):
            ag.engines.register(what)
    with pytest.raises(ValueError, match=r"there is an engine named 'toy'.*unregister\('toy'\)"):
        ag.engines.register(Toy())
    with pytest.raises(ValueError, match="'c' is built in"):
        ag.engines.unregister("c")
    with pytest.raises(ValueError, match="no engine is named 'other'; registered: 'toy'"):
        ag.engines.unregister("other")


def test_an_engine_says_what_to_install(registered):
    class Absent(Toy):
        name = "absent"

        def missing(self):
            return "it needs the package absent-runtime; pip install absent-runtime"

    mode = registered(Absent())
    with pytest.raises(EngineError, match=r"engine 'absent' cannot run here: .* pip install absent-runtime"):
        ag.function([x], x, mode=mode)


class _Entry(metadata.EntryPoint):
    dist = type("Package", (), {"name": "toys"})()


@pytest.mark.parametrize(("value", "message"), [
    ("toy_engine:Toy", ""),
    ("no_such_module:Toy", "engine 'toy' of the package toys does not load: No module named"),
    ("toy_engine:printed", "engine 'toy' of the package toys is <function printed"),
])  # fmt: skip
def test_installed_packages_offer_engines(monkeypatch, registered, value, message):
    entry = _Entry("toy", value, "arignote.engines")
    monkeypatch.setattr(metadata, "entry_points", lambda group, name: [entry] if name == "toy" else [])
    if message:
        with pytest.raises(ValueError, match=message):
            ag.Mode(backend="toy")
        return
    try:
        assert ag.function([x], x * 2, mode=ag.Mode(backend="toy")).backend == "toy"
    finally:
        ag.engines.unregister("toy")


def test_an_engine_that_a_test_leaves_is_found():
    process_state = ProcessState()
    before = process_state.read()
    ag.engines.register(Toy())
    message = process_state.restore(before)
    assert any("engines.registry._registered" in line for line in message) and "toy" not in ag.engines.names()


# --- what the database is asked, and what is kept


def test_the_passes_of_a_query_follow_the_engine():
    inputs, total = [m, x], T.tanh(2 * (m @ m) + x).sum()
    passes = {}
    for query, backend in (("fast_run", "c"), ("fast_run", "numpy"), ("fast_run fusion", "numpy")):
        f = ag.function(inputs, total, mode=ag.Mode(query, backend=backend))
        passes[query, backend] = {p.name for p in f.optimizer_profile.walk()}, {node.op.name for node in f.graph.order}
    for_c = {
        "elemwise_fusion", "composite_elemwise_fusion", "product_epilogue_fusion", "pipeline_fusion", "assembly_fusion",
        "gemm_optimizer", "local_dot_to_dot22", "inplace_elemwise_optimizer", "add_destroy_handler",
    }  # fmt: skip
    ran, ops = passes["fast_run", "c"]
    assert for_c <= ran and {"dot22scalar", "fused"} <= ops
    ran, ops = passes["fast_run", "numpy"]
    assert not for_c & ran and {"dot", "tanh", "sum"} <= ops and "canonicalize" in ran and "stacks_of_matrices" in ran
    assert "fused" in passes["fast_run fusion", "numpy"][1]
    g = ag.function(inputs, total, mode=ag.Mode("fast_run", backend="numpy"))
    left_out = "-assume_equal -attention -bfloat16 -blas_c -fusion -inplace -layout -sparse"
    assert g.optimizer_profile.name == f"fast_run {left_out}"
    assert not any(r.rule.endswith("fusion") for r in g.journal)


def test_tiers_run_the_graph_of_c_and_an_edited_database_may_lack_a_tag():
    f = ag.function([x], T.exp(x) * 2 + 1.25, compile_budget=60)
    assert [node.op.name for node in f.graph.order] == ["fused"]
    db = ag.optdb.copy()
    db.unregister("elemwise_fusion")
    graph = ag.FunctionGraph([x], [T.exp(x) + 1])
    assert len(Optimization(graph, ag.Mode("fast_run", backend="numpy"), True, db).graph) == 2


def test_keys_distinguish_engines():
    graph = ag.FunctionGraph([x], [x * 2])
    keys = {key_of(graph, ag.Mode(), name) for name in ("c gcc", "c clang", "toy")}
    assert len(keys) == 3 and None not in keys


def test_c_says_which_nodes_go_back_to_numpy():
    for output, reason in ((T.exp(x), ""), (T.linalg.svdvals(m), "has no C; the call goes back to NumPy")):
        (node,) = ag.FunctionGraph([x, m], [output]).order
        assert (reason in engine("c").refusal(node)) and bool(reason) == bool(engine("c").refusal(node))


@pytest.mark.usefixtures("lenient")
def test_numpy_runs_what_needs_an_unreadable_file_of_the_package(monkeypatch):
    def refuse(path, *args, **options):
        if path.name == "functions.h":
            raise PermissionError(13, "Permission denied", str(path))
        return read_text(path, *args, **options)

    read_text = Path.read_text
    monkeypatch.setattr(driver.helpers, "_sections", driver.helpers._sections.__wrapped__)  # reads the files again
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.warns(UserWarning, match="run by NumPy, .* a file of the package cannot be read: .*functions.h"):
        f = ag.function([x], T.exp(x) * 0.0313)
    assert np.allclose(f(ARRAY), np.exp(ARRAY) * 0.0313)


def test_other_errors_of_the_system_reach_the_user(monkeypatch):
    def fail(*args, **options):
        raise OSError("a fault of the compilation")

    monkeypatch.setattr(c_engine, "compile_graph", fail)
    with pytest.raises(OSError, match="a fault of the compilation"):
        ag.function([x], T.exp(x) * 0.0319)
