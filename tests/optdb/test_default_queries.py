"""Queries of the database that users get: what each takes and leaves out, with the reason; what is refused."""

import math

import pytest

import arignote as ag
from arignote import ops as T
from arignote.optdb import FromFunctionOptimizer, Optimizer, Query, UnknownNameError, node_rule, rule, wilds
from arignote.optdb.rules import QUERIES, default_db

DB = default_db()
X = T.vector("X")
(u,) = wilds("u")
OWN = rule("own_rule", T.sin(T.neg(u)), T.neg(T.sin(u)))

TOP = "merge1 canonicalize/local_neg_neg stabilize/local_log1p BlasOpt/gemm_optimizer specialize/local_mul_to_sqr"
ROWS = [
    # (query, paths that it takes, paths that it leaves out)
    ("fast_run", f"{TOP} elemwise_fusion/composite_elemwise_fusion add_destroy_handler merge3",
     "canonicalize/local_mul_zero uncanonicalize/local_hard_sigmoid"),
    ("+fast_run", TOP, "canonicalize/local_mul_zero"),
    ("fast_compile", "merge1 useless/local_useless_fill BlasOpt/local_dot_to_dot22 canonicalize/constant_folding",
     "stabilize/local_log1p specialize/local_mul_to_sqr BlasOpt/gemm_optimizer add_destroy_handler merge3"),
    ("fast_run fast_compile", f"{TOP} merge3", "canonicalize/local_mul_zero"),
    ("fast_run, fast_compile", f"{TOP} merge3", "canonicalize/local_mul_zero"),
    ("merge", "merge1 merge2 merge3 canonicalize/merge", "canonicalize/local_neg_neg BlasOpt/gemm_optimizer"),
    ("fast_run unsafe", f"{TOP} canonicalize/local_mul_zero", "uncanonicalize/local_hard_sigmoid"),
    ("unsafe", "", "merge1 canonicalize/local_mul_zero canonicalize/local_neg_neg"),
    ("fast_run approximate", f"{TOP} uncanonicalize/local_hard_sigmoid", "canonicalize/local_mul_zero"),
    ("fast_run local_mul_zero", f"{TOP} canonicalize/local_mul_zero", "canonicalize/local_zero_div"),
    ("fast_run local_hard_sigmoid", "uncanonicalize/local_hard_sigmoid", "uncanonicalize/local_ultra_fast_sigmoid"),
    ("fast_run -inplace", f"{TOP} merge3", "add_destroy_handler InplaceBlasOpt inplace_elemwise_optimizer"),
    ("fast_run -fusion", TOP, "elemwise_fusion/composite_elemwise_fusion elemwise_fusion/local_add_mul_fusion"),
    ("fast_run -fusion -inplace", TOP, "elemwise_fusion/local_add_mul_fusion add_destroy_handler"),
    ("fast_run -canonicalize", "merge1 stabilize/local_log1p", "canonicalize/local_neg_neg"),
    ("fast_run -canonicalize_db", "merge1 stabilize/local_log1p", "canonicalize/local_neg_neg"),
    ("fast_run -local_neg_neg", "canonicalize/local_sub_zero", "canonicalize/local_neg_neg specialize/local_neg_neg"),
    ("fast_run -local_pow_specialize", "specialize/local_neg_neg", "specialize/local_pow_two"),
    ("fast_run -MergeOptimizer", "canonicalize/local_neg_neg", "merge1 merge2 merge3 canonicalize/merge"),
    ("fast_run -merge", "canonicalize/local_neg_neg", "merge1 merge2 merge3 canonicalize/merge"),
    ("fast_run -BlasOpt", "merge1 specialize/local_neg_neg", "BlasOpt/gemm_optimizer BlasOpt/local_dot_to_dot22"),
    ("fast_run -gemm_optimizer", "BlasOpt/local_dot_to_dot22", "BlasOpt/gemm_optimizer"),
    ("fast_run -EquilibriumDB", "merge1 useless/local_useless_fill", "canonicalize/local_neg_neg"),
    ("fast_run -TopoDB", "canonicalize/local_neg_neg", "useless/local_useless_fill ShapeOpt/local_shape_i_lift"),
    ("fast_run -PatternRule", "specialize/local_fill_sink merge1", "specialize/local_mul_to_sqr"),
    ("fast_run -relaxes", "canonicalize/local_neg_neg", "canonicalize/local_add_specialize BlasOpt/gemm_optimizer"),
    ("fast_run -relaxes_rounding", "canonicalize/local_add_specialize", "canonicalize/local_op_of_op"),
    ("fast_run -stabilizes -ulp", "canonicalize/local_neg_neg", "stabilize/local_log1p specialize/local_pow_two"),
    ("fast_run -xent", "stabilize/local_logsoftmax", "crossentropy_to_crossentropy_with_softmax/local_logsoftmax"),
    ("fast_run &exact", "merge1 canonicalize/local_neg_neg", "stabilize/local_log1p BlasOpt/gemm_optimizer"),
    ("fast_run &stabilizes", "stabilize/local_log1p", "canonicalize/local_neg_neg merge1"),
    ("fast_run &canonicalize", "canonicalize/local_neg_neg canonicalize/merge", "specialize/local_neg_neg merge1"),
    ("fast_run &inplace", "InplaceBlasOpt add_destroy_handler", "merge1 canonicalize/local_neg_neg"),
    ("fast_run &exact -useless", "canonicalize/local_neg_neg", "useless/local_useless_fill"),
    ("canonicalize", "canonicalize/local_neg_neg", "specialize/local_neg_neg canonicalize/local_mul_zero merge1"),
    ("canonicalize specialize", "canonicalize/local_neg_neg specialize/local_mul_to_sqr", "stabilize/local_log1p"),
    ("BlasOpt", "BlasOpt/local_dot_to_dot22 BlasOpt/gemm_optimizer", "merge1 canonicalize/local_neg_neg"),
    ("local_neg_neg", "canonicalize/local_neg_neg specialize/local_neg_neg", "canonicalize/local_sub_zero merge1"),
    ("fast_run <1", "merge1 useless/local_useless_fill", "canonicalize/local_neg_neg merge2"),
    ("fast_run <1.5000001", "canonicalize/local_neg_neg stabilize/local_log1p", "specialize/local_mul_to_sqr merge2"),
    ("fast_run <49.5", f"{TOP} elemwise_fusion/composite_elemwise_fusion", "add_destroy_handler merge3"),
    ("fast_run <0", "", "merge1 canonicalize/local_neg_neg"),
    ("fast_run <2", "BlasOpt/gemm_optimizer", "specialize/local_mul_to_sqr"),  # its own positions are not cut
    ("fast_run canonicalize(local_neg_neg)", "merge1 canonicalize/local_neg_neg", "canonicalize/local_sub_zero"),
    ("fast_run BlasOpt(fast_run <5)", "BlasOpt/local_dot_to_dot22", "BlasOpt/gemm_optimizer"),
    ("fast_run specialize(fast_run -local_mul_to_sqr)", "specialize/local_neg_neg", "specialize/local_mul_to_sqr"),
    ("fast_run -local_remove_switch_const_cond", "merge1", "canonicalize/local_useless_switch"),
    ("fast_run -fast_run", "", "merge1 canonicalize/local_neg_neg"),
    ("-fast_run", "", "merge1"),
    ("", "", "merge1 canonicalize/local_neg_neg"),
]  # fmt: skip


def paths(optimizer, around=()):
    """The paths of all that an optimizer runs."""
    found = set()
    for field in ("optimizers", "rules", "final", "cleanup"):
        for member in getattr(optimizer, field, ()):
            inside = paths(member, (*around, member.name)) if isinstance(member, Optimizer) else set()
            found |= inside or {"/".join((*around, member.name))}
    return found


@pytest.mark.parametrize(("query", "taken", "left_out"), ROWS, ids=[row[0] or "nothing" for row in ROWS])
def test_what_a_query_takes(query, taken, left_out):
    before = [(e.path, e.tags, e.position) for e in DB.entries()]
    rows = {row.path: row for row in DB.table(query)}
    assert [path for path in taken.split() if not rows[path].taken] == []
    assert [path for path in left_out.split() if rows[path].taken] == []
    assert all(row.taken or row.reason for row in rows.values())
    # A rule in a sequence is a walk of its own name.
    run = {path if path in rows else path.rpartition("/")[0] for path in paths(DB.query(query))}
    assert {row.path for row in rows.values() if row.taken} == run
    assert [(e.path, e.tags, e.position) for e in DB.entries()] == before
    assert str(Query.parse(str(Query.parse(query)))) == str(Query.parse(query))


@pytest.mark.parametrize(
    ("path", "query", "reason"),
    [
        ("add_destroy_handler", "fast_run -inplace", "has -inplace"),
        ("canonicalize/local_mul_zero", "fast_run", "not included"),
        ("stabilize/local_log1p", "fast_run &exact", "lacks &exact"),
        ("merge3", "fast_run <49.5", "position 100 is not below 49.5"),
        ("canonicalize/local_neg_neg", "fast_run -canonicalize", "canonicalize has -canonicalize"),
        ("canonicalize/local_neg_neg", "fast_run canonicalize(merge)", "not included"),
        ("BlasOpt/gemm_optimizer", "fast_run <1", "BlasOpt position 1.7 is not below 1"),
    ],
)  # fmt: skip
def test_a_table_says_why(path, query, reason):
    table = DB.table(query)
    (row,) = [row for row in table if row.path == path]
    assert row.reason == reason
    assert f"no: {reason}" in str(table)
    html = table._repr_html_()
    assert reason.replace("&", "&amp;") in html
    assert path in html
    assert "yes" in html or query == "fast_run <0"


@pytest.mark.parametrize("name", QUERIES)
def test_predefined_queries_take_what_their_tags_say(name):
    taken = [row for row in DB.table(QUERIES[name]) if row.taken]
    assert taken
    assert ("unsafe" in name) == any("unsafe" in row.tags for row in taken)
    assert not any("approximate" in row.tags for row in taken)
    assert (name in ("fast_run", "o4", "unsafe")) == any("inplace" in row.tags for row in taken)
    assert (name in ("fast_run", "o4", "o3", "o2", "unsafe")) == any("fusion" in row.tags for row in taken)


@pytest.mark.parametrize(
    ("query", "meant"),
    [("fast_rum", "fast_run"), ("fast_run -inplce", "inplace"), ("fast_run &exat", "exact"),
     ("fast_run canonicalise(x)", "canonicalize"), ("fast_run canonicalize(fast_rn)", "fast_run"),
     ("fast_run -local_mul_zeros", "local_mul_zero"), ("fast_run -aproximate", "approximate")],
)  # fmt: skip
def test_a_misspelt_name_is_an_error_that_names_what_is_meant(query, meant):
    for ask in (DB.query, DB.table, default_db().query):
        with pytest.raises(UnknownNameError, match=rf"did you mean .*\b{meant}\b") as caught:
            ask(query)
        assert caught.value.__context__ is None  # a traceback says it once


# --- what a query brings along


def positions_in(optimizer):
    return [member.name for member in optimizer.optimizers]


def test_a_query_may_bring_optimizers_along():
    query = Query.parse("fast_run").register(
        (OWN, 1.1), (FromFunctionOptimizer(name="mine", function=lambda g: g), 60.5)
    )
    names = positions_in(DB.query(query))
    assert names.index("own_rule") == names.index("canonicalize") + 1
    assert names.index("mine") == names.index("local_inplace_setsubtensor") + 1
    assert "own_rule" not in positions_in(DB.query("fast_run"))
    assert [row.taken for row in DB.table(query) if row.path in ("own_rule", "mine")] == [True, True]
    assert "own_rule@1.1" in str(query)
    assert query != Query.parse("fast_run")
    assert "own_rule" not in positions_in(DB.query(query.register((OWN, 3)).including("merge")))[60:]


def test_a_mode_may_bring_optimizers_along():
    mode = ag.Mode("fast_run -fusion -inplace", backend="numpy").register((OWN, 1.1))
    graph = ag.function([X], T.sin(-X), mode=mode).graph
    assert [node.op.name for node in graph.order] == ["sin", "neg"]
    with pytest.raises(ValueError, match="nothing to register"):
        ag.Mode(None).register((OWN, 1))


@pytest.mark.parametrize(
    ("pair", "error", "words"),
    [((OWN, math.nan), ValueError, "own_rule.*nan"), ((OWN,), TypeError, "position"), (OWN, TypeError, "position"),
     ((OWN, "1"), ValueError, "'1'"), ((OWN, True), TypeError, "position")],
)  # fmt: skip
def test_what_is_brought_along_is_a_pair(pair, error, words):
    with pytest.raises(error, match=words):
        Query("fast_run").register(pair)


def test_what_is_brought_along_is_an_optimizer_and_needs_positions():
    with pytest.raises(TypeError, match=r"42.*expected a rule"):
        DB.query(Query("fast_run").register((42, 1)))
    with pytest.raises(ValueError, match="no positions"):
        DB["canonicalize"].query(Query("fast_run").register((OWN, 1)))


# --- registration


@pytest.mark.parametrize(
    ("name", "obj", "tags", "options", "error", "words"),
    [
        ("merge1", OWN, (), {"position": 1}, ValueError, ["'merge1'", "already", "__init__.py", "test_default"]),
        ("mine", OWN, ("merge1",), {"position": 1}, ValueError, ["tag 'merge1'", "name of the entry", "__init__.py"]),
        ("inplace", OWN, (), {"position": 1}, ValueError, ["'inplace'", "name of a tag", "test_default_queries"]),
        ("mine", OWN, ("fast_run",), {"position": math.nan}, ValueError, ["'mine'", "nan"]),
        ("mine", OWN, ("fast_run",), {"position": "1"}, TypeError, ["'mine'", "'1'"]),
        ("mine", 42, ("fast_run",), {}, TypeError, ["'mine'", "42", "expected a rule"]),
        ("not a name", OWN, (), {}, ValueError, ["'not a name'", "query"]),
        ("-mine", OWN, (), {}, ValueError, ["'-mine'", "query"]),
        ("mine", OWN, (), {"final": True, "cleanup": True}, ValueError, ["both final and cleanup"]),
    ],
)  # fmt: skip
def test_what_cannot_be_registered_is_refused_with_the_places(name, obj, tags, options, error, words):
    db = default_db()
    before = [e.path for e in db.entries()]
    with pytest.raises(error) as caught:
        db.register(name, obj, *tags, **options)
    assert all(word in str(caught.value) for word in words), caught.value
    assert [e.path for e in db.entries()] == before
    db.register("mine", node_rule("mine", T.sin, lambda node: None, formula="sin(x) -> x"), "fast_run", position=1)
