"""Why and what: explanations, remarks, slow-motion calls, and the search for the rewrite at fault."""

import importlib
import json
import pickle
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from compiled import tools

import arignote as ag
from arignote import ops as T
from arignote.__main__ import main
from arignote.cbackend import CompileError
from arignote.cbackend.build.build import build
from arignote.cbackend.driver.listing import with_lines
from arignote.optdb import rule, wilds

HERE = Path(__file__).name
x, y = T.vector("x"), T.vector("y")
m, w = T.matrix("m"), T.matrix("w")
u, v = wilds("u v")


def line_of(words):
    return next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if words in text)


@pytest.fixture(scope="module")
def f():
    hidden = T.tanh(m @ w)  # the hidden layer
    hidden.name = "hidden"
    loss = T.log(1 + T.exp(hidden)).sum()  # the loss
    return ag.function([m, w], loss, name="net")


# --- why


def test_a_name_leads_to_lines_rules_and_c(f):
    why = f.why("hidden")
    assert line_of("# the hidden layer") in {line.line for line in why.lines}
    assert "composite_elemwise_fusion" in why.rules
    assert '"composite_elemwise_fusion"' in why.excluding
    assert "T.tanh(m @ w)" in str(why)
    assert ag.function([m, w], f.unoptimized_graph.outputs, mode=eval(why.excluding, {"mode": f.mode}))


def test_a_line_of_c_leads_to_the_node_and_its_lines(f):
    lines = f.c_source().split("\n")
    for number, text in enumerate(lines, 1):
        if "#pragma omp simd" in text:
            why = f.why(number)
            assert why.kernels and why.lines and all(Path(line.file).name == HERE for line in why.lines)
            return
    raise AssertionError("there is no vector loop")


def test_kernels_nodes_and_variables_are_known(f):
    kernel = f.program.kernels[0].name
    assert f.why(kernel).kernels[0] == kernel
    node = f.graph.order[-1]
    assert f.why(node).nodes and f.why(node).lines == node.origin
    assert f.why(m).nodes  # who reads an input
    assert json.dumps(f.why("hidden").to_dict())


@pytest.mark.parametrize(
    ("thing", "error", "words"),
    [("nobody", LookupError, "nothing is named 'nobody'"), (10**6, LookupError, "none is number"),
     ("k_0", LookupError, "no kernel 'k_0'"), (1.5, TypeError, "1.5"), (T.vector("z") * 2, LookupError, "no part")],
)  # fmt: skip
def test_what_is_not_there(f, thing, error, words):
    with pytest.raises(error, match=words):
        f.why(thing)


def test_parts_of_the_c_belong_to_nodes(f):
    lines = f.c_source().split("\n")
    found = f._at_best.c_file.places
    assert {s for p in found for s in p.sites} == set(range(len(f.program.sites)))
    assert all(p.kernel in lines[p.first - 1] and lines[p.last - 1] == "}" for p in found if p.kernel)
    assert all(a.last < b.first for a, b in pairwise(found))


# --- lines of the user in the C


@pytest.mark.long
def test_the_c_names_no_file_unless_it_is_asked_to(f):
    assert "#line" not in f.c_source() and HERE not in f.c_source()
    reported = ag.function([m, w], f.unoptimized_graph.outputs[0], debug_info=True)
    assert f'#line {line_of("# the hidden layer")} "{__file__}"' in reported.c_source()
    checked = ag.function([x], T.exp(x), mode="DEBUG")
    assert "#line" in checked.c_source()
    np.testing.assert_array_equal(reported(np.eye(3), np.eye(3)), f(np.eye(3), np.eye(3)))


def test_comments_of_the_c_name_the_users_lines_if_they_are_asked_to(f):
    plain, reported = f.c_source().split("\n"), f.c_source(lines=True).split("\n")
    changed = [new for old, new in zip(plain, reported, strict=True) if old != new]
    assert changed and all(line.endswith("] */") and HERE in line for line in changed)
    assert any(f"{HERE}:{line_of('# the hidden layer')}" in line for line in changed)


def test_what_was_merged_has_all_its_lines():
    first = T.exp(x) + 1  # the first of two
    second = T.exp(x) * y  # the second of two
    f = ag.function([x, y], [first, second], mode="fast_run -fusion")
    (shared,) = [node for node in f.graph.order if node.op.name == "exp"]
    found = {line.line for line in f.why(shared).lines}
    assert {line_of("# the first of two"), line_of("# the second of two")} <= found


def test_compilers_speak_of_the_users_line():
    f = ag.function([x, y], T.exp(x) * y)  # the guilty expression
    source = f._at_best.c_file
    lines = source.text.split("\n")
    kernel = next(p for p in source.places if p.kernel)
    lines[kernel.last - 2] += " nobody = 1;"
    toolchain, cache = tools()
    with pytest.raises(CompileError, match=rf"{HERE}:{line_of('# the guilty expression')}"):
        build(with_lines(replace(source, text="\n".join(lines)), f.program).text, toolchain.debugging, cache)


# --- explain


def test_explain_goes_from_the_users_graph_to_c(f):
    text = f.explain()
    for words in ("net: as built", "+ ", "composite_elemwise_fusion", "1 kernel", "C: "):
        assert words in text
    assert "NumPy" in ag.function([x], x + 1, mode="NUMPY").explain()


def test_large_graphs_are_summarized():
    total = x
    for _ in range(1000):
        total = T.sin(total) + y
    g = ag.function([x, y], total, mode=ag.Mode("fast_compile", backend="numpy"))
    assert len(g.explain().splitlines()) < 400 and "more lines" in g.explain()
    assert len(str(g.remarks).splitlines()) < 400


# --- remarks


def kinds(f):
    return [r.kind for r in f.remarks]


def test_what_a_mode_leaves_out_is_remarked():
    g = ag.function([x, y], T.exp(T.sin(x) + y), mode="fast_run -fusion -inplace")
    assert {"not fused", "not in place"} <= set(kinds(g))
    assert 'mode.including("fusion")' in {r.suggestion for r in g.remarks}
    best = ag.function([x, y], T.exp(T.sin(x) + y))
    assert not kinds(best) and "nothing to remark" in str(best.remarks)


def test_what_numpy_runs_is_not_reported_as_fused(monkeypatch):
    asked = ag.function([x, y], T.exp(T.sin(x) + y) @ y, mode="NUMPY")
    (remark,) = asked.remarks
    assert remark.kind == "in Python" and remark.what == f"{len(asked.graph)} nodes, run one by one by NumPy"
    assert remark.reason == "its mode asks for NumPy" and remark.suggestion == 'mode="FAST_RUN"'
    monkeypatch.setattr(importlib.import_module("arignote.engines.c"), "find_toolchain", lambda: None)
    left = ag.function([x, y], T.exp(T.cos(x) + y) - 3, debug_info=True)
    (remark,) = left.remarks
    assert remark.reason == "no C could be compiled" and "doctor" in remark.suggestion
    assert "fused" not in str(left.remarks)


def test_lengths_that_are_not_known_keep_kernels_separate():
    s = T.exp(x) + y
    g = ag.function([x, y, m], [s, m * s])
    assert any("smaller than the loops" in r.reason for r in g.remarks.of("not fused"))


def test_products_without_blas_and_loops_without_vectors():
    i, j = T.lmatrix("i"), T.lmatrix("j")
    g = ag.function([i, j], i @ j)
    (remark,) = [r for r in g.remarks if r.kind == "BLAS not used"]
    assert "int64" in remark.reason and "float" in remark.suggestion
    k = T.lvector("k")
    m = T.matrix("m")
    g = ag.function([m, k], m[k, k])
    assert "may fail on any element" in g.remarks.of("not vectorized")[0].reason
    g = ag.function([x], T.unique(x[:, None], axis=0))
    assert "no C" in g.remarks.of("in Python")[0].reason
    with pytest.raises(ValueError, match="expected one of"):
        g.remarks.of("nothing")


def test_an_operand_that_is_read_again_is_kept():
    s = T.cumsum(x)
    g = ag.function([x], [T.exp(s), s])
    (found,) = g.remarks.of("not in place")
    assert "is an output as well" in found.reason
    assert json.loads(g.remarks.to_json()) == g.remarks.to_dict()


# --- debug


def test_named_values_have_shape_range_and_counts():
    a = T.log(x)  # the logarithm
    a.name = "a"
    g = ag.function([x], a * 0 + 1, name="g")
    seen = g.debug([1.0, 0.0, -1.0])
    value = next(v for v in seen.values if v.name == "a")
    assert (value.shape, value.nans, value.infs, value.low, value.high) == ((3,), 1, 1, 0.0, 0.0)
    assert value.line.line == line_of("# the logarithm")
    np.testing.assert_array_equal(seen["a"], [0.0, -np.inf, np.nan])
    assert seen.first.what == "NaN" and "log(x)" in str(seen) and f"{HERE}:" in str(seen)
    assert "-1 .. 1" in str(seen.first)
    with pytest.raises(KeyError, match="named values are: x, a"):
        seen["b"]
    assert json.loads(seen.to_json())["first"]["what"] == "NaN"


def test_what_comes_with_nan_is_not_called_finite():
    seen = ag.function([x, y], x * y, name="g").debug([1.0, 2.0], [np.nan, 3.0])
    assert seen.first is None
    assert str(seen).startswith("g: no operation makes a NaN or Inf; the first is in y: 1 NaN, 0 Inf of 2\n")
    assert "the first is in y: 1 NaN" in seen._repr_html_()


def test_the_first_nan_that_infinities_make_is_found():
    masked = T.switch(x > 0, x, -np.inf)
    seen = ag.function([x], T.sum(masked - masked)).debug([1.0, -1.0])
    assert seen.first.what == "NaN" and "sub" in seen.first.value.expression


def test_a_call_in_slow_motion_changes_nothing():
    state = ag.shared(np.zeros(3), name="state")
    g = ag.function([x], state.sum(), updates=[(state, state + x)])
    seen = g.debug(np.ones(3))
    assert seen.first is None and "all values are finite" in str(seen)
    np.testing.assert_array_equal(seen["output 1"], np.ones(3))
    np.testing.assert_array_equal(state.get_value(), np.zeros(3))
    assert g.debug(x=[1, 2, 3])["x"].dtype == "float64"
    with pytest.raises(TypeError, match="argument 0"):
        g.debug("abc")


# --- bisect


def with_planted(inner):
    """`fast_run` with one more rule."""
    db = ag.optdb.copy()
    db["canonicalize"].register("planted", inner, "fast_run")
    return db


def test_a_planted_rule_among_hundreds_is_found(monkeypatch):
    planted = rule("planted", T.sub(u, T.tanh(v)), T.add(u, T.tanh(v)))
    db = with_planted(planted)
    monkeypatch.setattr(sys.modules["arignote.function.function"], "optdb", db)
    total = x
    for k in range(150):
        total = T.log(1 + T.exp(total * (k + 2) / (k + 2))) - 1
    g = ag.function([x], total - T.tanh(x), mode=ag.Mode("fast_run", backend="numpy"))
    assert len(g.journal) > 400
    verdict = ag.bisect(g, [np.array([0.3, 0.7])])
    assert (verdict.fault, verdict.rule) == ("rewrite", "planted")
    assert verdict.evaluations <= 12
    assert 'mode.excluding("planted")' in str(verdict)
    assert verdict.to_dict()["rule"] == "planted"


def test_the_command_line_finds_a_planted_rule(tmp_path, monkeypatch, capsys):
    source, arrays = tmp_path / "graph.txt", tmp_path / "arrays.npz"
    source.write_text(str(ag.FunctionGraph([x, y], [T.log(1 + x) - T.tanh(y)])))
    np.savez(arrays, x=np.ones(3), y=np.ones(3))
    assert main(["bisect", str(source)]) == 0
    assert main(["bisect", str(source), "--inputs", str(arrays), "--mode", "fast_run -fusion"]) == 0
    assert capsys.readouterr().out.count("no rewrite changes the result") == 2
    planted = rule("planted", T.sub(u, T.tanh(v)), T.add(u, T.tanh(v)))
    monkeypatch.setattr(sys.modules["arignote.function.function"], "optdb", with_planted(planted))
    assert main(["bisect", str(source), "--exact"]) == 1
    assert 'mode.excluding("planted")' in capsys.readouterr().out
    np.savez(arrays, x=np.ones(3))
    for options, message in (
        (["--inputs", str(arrays)], "arrays.npz: has no array y; its arrays are: x"),
        (["--inputs", str(source)], "graph.txt: is no .npz file"),
        (["--inputs", "nowhere"], "nowhere: cannot be read: No such file"), (["--mode", "fast"], "fast"),
    ):  # fmt: skip
        assert main(["bisect", str(source), *options]) == 2
        assert message in capsys.readouterr().err


def test_right_functions_have_no_fault(f):
    verdict = ag.bisect(f, [np.eye(3), np.eye(3)])
    assert (verdict.fault, verdict.rewrite, verdict.evaluations) == ("none", None, 1)
    state = ag.shared(np.ones(3), name="state")
    step = ag.function([x], state.sum(), updates=[(state, state * x)])
    assert ag.bisect(step, [np.full(3, 2.0)]).fault == "none"
    np.testing.assert_array_equal(state.get_value(), np.ones(3))


def test_a_fault_of_the_compiled_code_is_distinguished(f, monkeypatch):
    monkeypatch.setattr(f, "results", lambda *arguments: [np.array(0.0)], raising=False)
    verdict = ag.bisect(f, [np.eye(3), np.eye(3)])
    assert verdict.fault == "backend" and "0.0 instead of" in str(verdict)


@pytest.mark.parametrize(
    ("make", "rules"),
    [
        (lambda: T.exp(-(-x)), ("local_neg_neg",)),
        (lambda: x - 0, ("local_sub_zero",)),
        (lambda: m.T.T, ("local_dimshuffle_of_dimshuffle", "local_useless_dimshuffle")),
        (lambda: T.log(1 + (x - 0)), ("local_sub_zero", "local_log1p")),
        (lambda: (x - 0) * y * 1, ("local_sub_zero", "local_mul_by_one")),
    ],
)
def test_rewrites_that_leave_an_input_are_reported(make, rules):
    out = make()
    f = ag.function([x, y, m], out, on_unused_input="ignore")
    assert set(rules) <= set(f.why(out).rules) and set(rules) <= set(f.why(f.graph.outputs[0]).rules)
    inner = out.owner.inputs[0]
    if inner.owner is not None:
        assert f.why(inner).rules


def test_an_output_that_is_an_input_is_reported():
    f = ag.function([x], x - 0)
    assert "is output 0, x" in str(f.why("x")) and "shaped by 1 rewrite\n" in str(f.why("x"))


def test_a_rule_whose_result_contains_what_it_replaced_is_reported():
    planted = rule("planted", T.exp(u), T.exp(u) * 2.0)
    f = ag.function([x], T.exp(x), mode=ag.Mode("fast_run").register((planted, 1.2)))
    (line,) = f.trace[0].delta.lines
    assert "= mul(v0, float64(2.0))" in str(line)


@pytest.mark.parametrize("profile", [False, True])
def test_an_unpickled_function_has_its_trace(profile):
    f = ag.function([x, y], [T.log(1 + x) * y, y - 0], profile=profile)
    again = pickle.loads(pickle.dumps(f))
    assert again.trace and str(again.trace) == str(f.trace)
    assert str(again.why(again.graph.outputs[0])) == str(f.why(f.graph.outputs[0]))


def test_an_unpickled_function_of_other_rules_says_that_it_has_no_trace():
    ag.optdb["specialize"].register("planted", rule("planted", T.sin(u), T.cos(u)), "fast_run")
    data = pickle.dumps(ag.function([x], T.sin(x)))
    ag.optdb.unregister("planted")
    again = pickle.loads(data)
    with pytest.warns(UserWarning, match="other rules"):
        assert len(again.trace) == 0
    assert again(np.zeros(1)) == pytest.approx(1)


def test_merges_have_the_name_of_their_pass():
    f = ag.function([x], T.exp(x) + T.exp(x))
    assert f.trace[0].rule == f.trace[0].stage == "merge1"
