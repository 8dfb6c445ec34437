"""Every rule by example: a row is (name, before, after), and one walk of the rule must make `after` of `before`."""

import sys
from functools import lru_cache

import numpy as np
import pytest
import rule_rows
import rule_rows_blas
import rule_rows_bytes
import rule_rows_layout
import rule_rows_linalg
import rule_rows_reading
import rule_rows_shapes
from rewriting import graph_of, rewritten, tame, values_of

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, leaves, rebuild
from arignote.ops.shapes.creation import Alloc
from arignote.optdb import MergeOptimizer, Query, Rule
from arignote.optdb.rules import QUERIES, default_db, is_default

pytestmark = pytest.mark.usefixtures("on_wide_target")

DB = default_db()
RULES = {e.name: e.object for e in DB.entries() if isinstance(e.object, Rule)}
ELSEWHERE = {name for name, *_ in rule_rows_linalg.ROWS}
"""Rules with tests of their own, in test_linalg_rules.py."""
TABLES = rule_rows, rule_rows_shapes, rule_rows_blas, rule_rows_layout, rule_rows_bytes, rule_rows_reading
ROWS = [row for table in TABLES for row in table.ROWS]
UNCHANGED = [row for table in TABLES for row in table.UNCHANGED]
X = rule_rows.x


def merged(graph):
    return MergeOptimizer()(graph)[0]


@pytest.mark.parametrize(("name", "before", "after"), ROWS, ids=[f"{k}-{row[0]}" for k, row in enumerate(ROWS)])
def test_row(name, before, after):
    graph = graph_of(before)
    result = rewritten(graph, RULES[name])
    assert result is not graph, f"{RULES[name]} does not fire on\n{graph}"
    want = FunctionGraph(graph.inputs, [after])
    assert merged(result) == merged(want), f"{RULES[name]}\n{graph}\n->\n{result}\nexpected\n{want}"


@pytest.mark.parametrize(("name", "before"), UNCHANGED, ids=[f"{k}-{row[0]}" for k, row in enumerate(UNCHANGED)])
def test_unchanged(name, before):
    graph = graph_of(before)
    assert rewritten(graph, RULES[name]) is graph


def test_every_rule_has_a_row():
    assert set(RULES) - {name for name, *_ in ROWS} == ELSEWHERE


# --- the database


optimizer = lru_cache(lambda *query: DB.query(*query, strict=True))


def optimized(graph, *query):
    return optimizer(*query)(graph)[0]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "query",
    [
        "fast_run -fusion -inplace -assume_equal -short_rows",
        "fast_run unsafe -fusion -inplace -assume_equal -short_rows",
        "canonicalize unsafe", "fast_compile",
    ],
)
def test_rules_come_to_rest(query):
    """No two rules undo one another, and a second run finds nothing to do."""
    for k, row in enumerate(ROWS):
        graph = graph_of(row[1])
        once = optimized(graph, query)
        assert optimized(once, query) == once, f"{k} {row[0]}\n{graph}\n{once}"


def with_dtype(graph, dtype):
    """The same ops on inputs of another dtype; None where they do not take it."""
    other = {v: T.tensor(v.name, dtype=dtype, shape=v.type.shape) for v in graph.inputs if v.type.kind in "fb"}
    leaves = [other.get(v, v) for v in graph.inputs]
    try:
        return FunctionGraph(leaves, rebuild(graph.outputs, dict(zip(graph.inputs, leaves, strict=True))))
    except (TypeError, ValueError):
        return None


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "complex64"])
def test_rules_cope_with_other_dtypes(dtype):
    """No rule raises, and values stay, where the examples are given inputs of another dtype."""
    rng = np.random.default_rng(5)
    ran = 0
    for k, row in enumerate(ROWS):
        graph = with_dtype(graph_of(row[1]), dtype)
        if graph is None:
            continue
        result = optimized(graph, "fast_run")
        arrays = [tame(rng, v.dtype, [3 if n is None else n for n in v.type.shape]) for v in graph.inputs]
        want = values_of(graph, arrays)
        if want is None:
            continue
        (got,), (want,) = values_of(result, arrays), want
        assert (got.dtype, got.shape) == (want.dtype, want.shape), f"{k} {row[0]}\n{graph}\n{result}"
        # Rules may make a result finite, or let terms cancel in a narrow dtype.
        near = np.isfinite(want)
        tolerance = 0.05 if want.dtype == np.float16 else 1e-3
        where = f"{k} {row[0]}\n{graph}\n{result}"
        np.testing.assert_allclose(got[near], want[near], rtol=tolerance, atol=tolerance, err_msg=where)
        ran += 1
    assert ran > 50


def test_values_stay_in_the_default_mode():
    rng = np.random.default_rng(3)
    for k, row in enumerate(ROWS):
        graph = graph_of(row[1])
        result = optimized(graph, "fast_run")
        where = f"{k} {row[0]}\n{graph}\n{result}"
        for size in (3, 1, 9):
            shapes = [[size if known is None else known for known in v.type.shape] for v in graph.inputs]
            arrays = [tame(rng, v.dtype, shape) for v, shape in zip(graph.inputs, shapes, strict=True)]
            want = values_of(graph, arrays)
            if want is None:
                continue
            (got,) = values_of(result, arrays)
            assert (got.dtype, got.shape) == (want[0].dtype, want[0].shape), f"{k} {row[0]}"
            is_rounded = got.dtype == "float32" and row[0] in RULES and "rounding" in RULES[row[0]].contract.relaxed
            near = {"rtol": 1e-5, "atol": 1e-4} if is_rounded else {"rtol": 1e-9, "atol": 1e-12}
            np.testing.assert_allclose(got, want[0], err_msg=where, **near)


def test_default_mode_takes_only_contracts_that_nobody_notices():
    taken = [r for r in DB.table("fast_run") if r.taken]
    assert len(taken) > 300
    for entry in DB.entries():
        if isinstance(entry.object, Rule) and entry.name not in ELSEWHERE and not entry.path.startswith("print/"):
            assert ("fast_run" in entry.tags) == is_default(entry.contract)
            asked_for = "unsafe" in entry.tags or "approximate" in entry.tags
            assert asked_for != is_default(entry.contract)
            assert not {"unsafe", "approximate"} <= entry.tags


@pytest.mark.parametrize(("expression", "kept"), [(X - X, "sub"), (X * 0, "mul"), (0 / X, "true_div")])
def test_nan_comes_through_in_the_default_mode(expression, kept):
    names = [node.op.name for node in optimized(graph_of(expression), "fast_run").order]
    assert kept in names
    assert kept not in [node.op.name for node in optimized(graph_of(expression), "fast_run unsafe").order]


HUGE, TINY = [800.0, 900.0, 1e300, 1e301], [-1.0, 0.0, 1e-17, 2e-17]


@pytest.mark.parametrize(
    ("op", "values"),
    [(T.exp, HUGE), (T.exp, TINY), (T.sigmoid, HUGE), (T.tanh, HUGE), (T.arctan, HUGE), (T.softplus, TINY)],
)  # fmt: skip
def test_the_first_of_values_that_rounding_made_equal_is_found_in_the_default_mode(op, values):
    graph = graph_of(T.argmax(op(X)))
    arrays = [np.array(values)]
    (want,), (got,) = values_of(graph, arrays), values_of(optimized(graph, "fast_run -fusion -inplace"), arrays)
    assert want == got
    (pushed,) = values_of(optimized(graph, "fast_run unsafe -fusion -inplace"), arrays)
    assert pushed == 3 != want


def test_container_names_do_not_take_what_is_unsafe():
    graph = graph_of(X - X)
    assert optimized(graph, "canonicalize specialize") == graph
    assert optimized(graph, "canonicalize specialize unsafe") != graph


def test_a_contract_can_be_excluded():
    graph = graph_of(X + 0.0)
    assert len(optimized(graph, "fast_run")) == 0
    assert optimized(graph, "fast_run -relaxes_signed_zero") == graph


def raising(v):
    """A value of this type whose computation always raises."""
    return T.CheckLengths((("raised", 0),))(v, 0, 1)


@pytest.mark.parametrize("lengths", ["as they are", "known", "none"])
def test_a_rule_that_drops_a_value_says_that_it_drops_errors(lengths):
    """Each leaf of each example in turn raises: where the result lacks it the contract relaxes errors."""
    silent = set()
    for name, before, *_ in [*ROWS, *rule_rows_linalg.ROWS]:
        found = [v for v in leaves([before]) if not isinstance(v, Constant)]
        shapes = {v: () if lengths == "none" else tuple(3 if n is None else n for n in v.type.shape) for v in found}
        others = {v: v if lengths == "as they are" else T.tensor(v.name, v.dtype, shapes[v]) for v in found}
        for leaf in found:
            try:
                (expression,) = rebuild([before], {**others, leaf: raising(others[leaf])})
            except (TypeError, ValueError, IndexError):  # no scalar has axes
                continue
            graph = graph_of(expression)
            result = rewritten(graph, RULES[name])
            kept = any(node.op.name == "check_lengths" for node in result.order)
            if not kept and "errors" not in RULES[name].contract.relaxed:
                silent.add(name)
    assert not silent


I, V, F = T.lscalar("i"), T.lvector("v"), T.vector("f")
DROPPED = {
    "x - x": V[I] - V[I], "0 * x": V[I] * 0, "x ** 0": F[I] ** 0, "x & 0": V[I] & 0, "x == x": T.eq(V[I], V[I]),
    "canonizer": (V[I] + V[0]) - V[I], "switch": T.switch(T.constant(True), F[0], F[I]), "isnan": T.isnan(V[I]),
    "zeros_like": T.zeros_like(F[I]), "length": F[V].shape[0], "fill": T.fill(F[V], 1.0),
    "stack": T.stack([F[0], F[I]])[0],
    "write of write": T.set_subtensor(T.set_subtensor(F[:1], F[I])[:1], 2.0), "maximum": T.zeros_like(T.max(F[5:])),
    "reshape": T.ones_like(T.reshape(F, (I,))), "loop": ag.scan(lambda a, _: a * 2, [F, F[V]], n_steps=1)[0],
    "where": T.where(T.zeros((2,), "bool"), F[V][:2], F[:2]), "mod": V[I] % 1,
}  # fmt: skip


@pytest.mark.parametrize("name", DROPPED)
def test_a_query_keeps_all_errors(name):
    arguments = 99, np.array([7, 8]), np.arange(3.0)
    inputs = {"on_unused_input": "ignore", "mode": "fast_run -relaxes_errors"}
    ag.function([I, V, F], DROPPED[name], on_unused_input="ignore")(*arguments)  # the default mode drops the error
    with pytest.raises((IndexError, ValueError)):
        ag.function([I, V, F], DROPPED[name], **inputs)(*arguments)


def test_names_of_theano_select():
    graph = graph_of(X**2)
    assert optimized(graph, "fast_run -local_pow_specialize -fusion") == graph
    assert "local_remove_switch_const_cond" in DB.table("fast_run", "-local_remove_switch_const_cond").__str__()


@pytest.mark.parametrize("name", QUERIES)
def test_predefined_queries(name):
    optimizer = DB.query(QUERIES[name])
    assert optimizer.optimizers
    assert isinstance(QUERIES[name], Query)


def test_positions_are_those_that_users_know():
    positions = {e.name: e.position for e in DB.entries() if "/" not in e.path}
    assert positions["canonicalize"] == 1
    assert positions["stabilize"] == 1.5
    assert positions["BlasOpt"] == 1.7
    assert positions["specialize"] == 2
    assert positions["uncanonicalize"] == 3
    assert positions["elemwise_fusion"] == positions["merge2"] == 49
    assert positions["add_destroy_handler"] == 49.5
    assert list(positions) == sorted(positions, key=lambda name: (positions[name], name))


def test_folding_starts_nothing_large():
    x = T.zeros((100_000_000,)) + 1.0
    assert any(isinstance(node.op, Alloc) for node in optimized(graph_of(x), "fast_run -fusion").order)


def test_folding_leaves_what_raises():
    graph = graph_of(T.pow(T.constant(2), T.constant(-1)))
    assert optimized(graph, "fast_run") == graph


def test_a_long_chain_takes_one_walk_each():
    sys_limit = sys.getrecursionlimit()
    v = X
    for k in range(5000):
        v = -(-v) * 1.0 + (k + 0.5)
    graph = graph_of(v)
    sys.setrecursionlimit(300)
    try:
        result = optimized(graph, "fast_run", "-fusion", "-inplace")
    finally:
        sys.setrecursionlimit(sys_limit)
    assert len(result) == 5000
