"""Queries: text and back, and what each of them selects from a database of every kind of member."""

import math
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest

import arignote as ag
from arignote.ops.elementwise.records import exp, log, neg
from arignote.optdb import (
    EquilibriumDB,
    LocalGroupDB,
    MergeOptimizer,
    OptimizerWarning,
    ProxyDB,
    Query,
    SequenceDB,
    TopoDB,
    UnknownNameError,
    relaxes,
    rule,
    ulp,
    wilds,
)

(x,) = wilds("x")
NEG = rule("local_neg_neg", neg(neg(x)), x)
LOG = rule("local_log_exp", log(exp(x)), x, contract=relaxes("overflow"))
EXP = rule("local_exp_log", exp(log(x)), x, contract=ulp(2) | relaxes("domain"))
PLAIN = rule("local_plain", neg(exp(x)), exp(x))


def database():
    """One of each: walks, an equilibrium with a group inside, a sequence inside, functions, merges."""
    group = LocalGroupDB().register("local_exp_log", EXP, "fast_run")
    canonicalize = (
        EquilibriumDB()
        .register("local_neg_neg", NEG, "fast_run", "fast_compile", "old_neg")
        .register("local_log_exp", LOG, "unsafe", use_db_name_as_tag=False)
        .register("group", group, "fast_run")
        .register("merge", MergeOptimizer(), "fast_run", "fast_compile", cleanup=True)
    )
    blas = (
        SequenceDB()
        .register("dot", lambda graph: graph, "fast_run", "fast_compile", position=0)
        .register("gemm", lambda graph: graph, "fast_run", position=10)
    )
    return (
        SequenceDB("optdb")
        .register("merge3", MergeOptimizer(), "fast_run", "merging", position=100)
        .register("inplace_all", lambda graph: graph, "fast_run", "inplace", position=75)
        .register("BlasOpt", blas, "fast_run", "fast_compile", position=1.7)
        .register("canonicalize", canonicalize, "fast_run", "fast_compile", position=1)
        .register("useless", TopoDB().register("local_plain", PLAIN, "fast_run"), "fast_run", position=0.6)
        .register("merge1", MergeOptimizer(), "fast_run", "fast_compile", "merging", position=0)
    )


def selected(optimizer):
    """Structure of an optimizer: names, with members in brackets."""
    inside = []
    for field in ("optimizers", "rules", "final", "cleanup"):
        inside += [selected(member) for member in getattr(optimizer, field, ())]
    return f"{optimizer.name}({' '.join(inside)})" if inside else optimizer.name


CANONICALIZE = "canonicalize(local_neg_neg local_exp_log merge) "
FULL = f"merge1 useless(local_plain) {CANONICALIZE}BlasOpt(dot gemm) inplace_all merge3"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fast_run", FULL),
        ("+fast_run", FULL),
        ("fast_run, fast_compile", FULL),
        ("optdb", "merge1 inplace_all merge3"),
        ("fast_compile", "merge1 canonicalize(local_neg_neg merge) BlasOpt(dot)"),
        ("fast_run -inplace", FULL.replace(" inplace_all", "")),
        ("fast_run -inplace_all", FULL.replace(" inplace_all", "")),
        ("fast_run -MergeOptimizer", FULL.replace("merge1 ", "").replace(" merge)", ")").replace(" merge3", "")),
        ("fast_run -merging", FULL.replace("merge1 ", "").replace(" merge3", "")),
        ("fast_run -canonicalize", FULL.replace(CANONICALIZE, "")),
        ("fast_run -EquilibriumDB", FULL.replace(CANONICALIZE, "")),
        ("fast_run -local_neg_neg", FULL.replace("local_neg_neg ", "")),
        ("fast_run -old_neg", FULL.replace("local_neg_neg ", "")),
        ("fast_run -BlasOpt", FULL.replace("BlasOpt(dot gemm) ", "")),
        ("fast_run -dot -gemm", FULL.replace("BlasOpt(dot gemm) ", "")),
        ("fast_run -fast_run", ""),
        ("-fast_run", ""),
        ("", ""),
        ("fast_run local_log_exp", FULL.replace("local_neg_neg ", "local_neg_neg local_log_exp ")),
        ("fast_run unsafe", FULL.replace("local_neg_neg ", "local_neg_neg local_log_exp ")),
        ("fast_run unsafe -relaxes_overflow", FULL),
        ("fast_run -ulp", FULL.replace("local_exp_log ", "")),
        ("fast_run -relaxes", FULL.replace("local_exp_log ", "")),
        ("unsafe", ""),
        ("canonicalize", "canonicalize(local_neg_neg merge)"),
        ("canonicalize +group", "canonicalize(local_neg_neg local_exp_log merge)"),
        ("local_neg_neg", "canonicalize(local_neg_neg)"),
        ("local_exp_log", "canonicalize(local_exp_log)"),
        ("fast_run &exact", "merge1 useless(local_plain) canonicalize(local_neg_neg merge) merge3"),
        ("fast_run &old_neg", "canonicalize(local_neg_neg)"),
        ("fast_run &canonicalize", "canonicalize(local_neg_neg local_exp_log merge)"),
        ("fast_run &canonicalize &ulp", "canonicalize(local_exp_log)"),
        ("fast_run &BlasOpt", "BlasOpt(dot gemm)"),
        ("fast_run &stabilizes", ""),
        ("fast_run <1", "merge1 useless(local_plain)"),
        ("fast_run <1.0001", "merge1 useless(local_plain) canonicalize(local_neg_neg local_exp_log merge)"),
        ("fast_run <0", ""),
        ("fast_run <5", FULL.replace(" inplace_all merge3", "")),
        ("fast_run canonicalize(fast_compile)", FULL.replace("local_exp_log ", "")),
        ("fast_run canonicalize(fast_run -group(x))", None),
        ("fast_run BlasOpt(fast_run <5)", FULL.replace("dot gemm", "dot")),
        ("fast_run -canonicalize canonicalize(fast_run)", FULL.replace(CANONICALIZE, "")),
    ],
)
def test_what_a_query_selects(query, expected):
    db = database()
    if expected is None:
        with pytest.raises(ValueError, match="query"):
            db.query(query)
        return
    optimizer = db.query(query)
    assert " ".join(selected(member) for member in optimizer.optimizers) == expected
    assert str(Query.parse(str(Query.parse(query)))) == str(Query.parse(query))


def test_a_query_changes_nothing():
    db = database()
    before = [(e.path, e.tags) for e in db.entries()]
    for text in ("fast_run", "unsafe", "fast_run &exact", "canonicalize"):
        db.query(text)
        db.table(text)
    with pytest.raises(UnknownNameError):
        db.query("fast_run -later")
    assert [(e.path, e.tags) for e in db.entries()] == before
    db.register("later", MergeOptimizer(), "fast_run", position=2)  # the unknown tag was not created by asking for it


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("fast_rnu", "fast_run"),
        ("fast_run -inplac", "inplace"),
        ("fast_run &exat", "exact"),
        ("fast_run -local_neg_ned", "local_neg_neg"),
        ("fast_run canonicalise(fast_run)", "canonicalize"),
        ("fast_run canonicalize(fast_runn)", "fast_run"),
        ("fast_run -fast_run-inplace", "fast_run"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_suggestion(text, hint):
    for ask in (database().query, database().table):
        with pytest.raises(UnknownNameError, match=f"did you mean .*{hint}"):
            ask(text)
    assert issubclass(UnknownNameError, ValueError)
    assert issubclass(UnknownNameError, KeyError)


def test_contract_tags_are_known_even_where_no_rule_has_them():
    assert database().query("fast_run -relaxes_nan -stabilizes").optimizers


@pytest.mark.parametrize("text", ["fast_run (", "fast_run )", "a(b", "+", "<x", "fast_run -"])
def test_what_cannot_be_read_is_an_error_that_shows_it(text):
    with pytest.raises(ValueError, match="query"):
        Query.parse(text)


def test_queries_are_values():
    query = Query(include=["fast_run"], exclude={"inplace"}, require=("exact",), position_cutoff=2)
    assert query == Query.parse("&exact -inplace +fast_run <2")
    assert hash(query) == hash(Query.parse("fast_run -inplace &exact <2.0"))
    assert str(query) == "fast_run &exact -inplace <2"
    assert Query(subquery={"a": Query("b")}) == Query.parse("a(b)") == Query(subquery={"a": "b"})
    assert hash(Query.parse("a(b) c(d <1)")) == hash(Query.parse("c(d <1) a(b)"))
    assert repr(query) == "Query.parse('fast_run &exact -inplace <2')"
    assert Query("a b") == Query(["a", "b"])


def test_derived_queries_are_new_and_lose_the_name():
    query = Query("fast_run", name="OPT_FAST_RUN")
    assert query.including("x").include == {"fast_run", "x"}
    assert query.excluding("x", "y").exclude == {"x", "y"}
    assert query.requiring("x").require == {"x"}
    assert query == Query("fast_run")
    assert query.excluding("x").name == ""
    assert database().query(query).name == "OPT_FAST_RUN"
    assert database().query(query.excluding("inplace")).name == "fast_run -inplace"


@pytest.mark.parametrize("tags", [["-a"], ["a b"], [""], [1], ["a("]])
def test_tags_that_no_text_could_spell_are_refused(tags):
    with pytest.raises(TypeError, match="include"):
        Query(include=tags)


def test_a_cutoff_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="nan"):
        Query(position_cutoff=math.nan)


def test_queries_in_pieces_and_by_container():
    db = database()
    pieces = db.query("+fast_run", "-inplace", "&exact", canonicalize=Query("fast_compile", "exact"))
    assert pieces == db.query("fast_run -inplace &exact canonicalize(fast_compile &exact)")
    assert pieces == db.query(Query("fast_run", "exact", "inplace"), canonicalize="fast_compile &exact")
    with pytest.raises(TypeError, match="42"):
        db.query("fast_run", 42)


def test_the_cutoff_is_for_the_database_that_is_asked():
    # Both members of BlasOpt stay, though one of them has position 10 there.
    assert selected(database().query("fast_run <2").optimizers[-1]) == "BlasOpt(dot gemm)"


def test_a_database_inside_can_be_asked_itself():
    assert selected(database()["canonicalize"].query("fast_run -group")) == "fast_run -group(local_neg_neg merge)"
    assert selected(database()["useless"].query("useless")) == "useless(local_plain)"


def test_a_proxy_gives_one_database_two_places():
    db = database()
    db.register("canonicalize_again", ProxyDB(db["canonicalize"]), "fast_run", position=3)
    assert selected(db.query("fast_run").optimizers[4]) == "canonicalize_again(local_neg_neg local_exp_log merge)"
    rest = [member.name for member in db.query("fast_run -canonicalize").optimizers]
    assert rest == ["merge1", "useless", "BlasOpt", "inplace_all", "merge3"]  # excluding the name excludes both places
    assert db["local_neg_neg"] is NEG


@pytest.mark.parametrize("tag", ["fast_run stabilize", "-a", "", "<3", "a,b", "a(b", "a/b", 3])
def test_a_tag_that_no_query_can_contain_is_refused(tag):
    db = SequenceDB("sequence").register("merge", MergeOptimizer(), "fast_run")
    for refused in (
        lambda: db.register("other", MergeOptimizer(), tag),
        lambda: db.add_tags("merge", tag),
        lambda: db.register_all([rule("mine", neg(neg(x)), x)], tag),
    ):
        with pytest.raises(ValueError, match="no query can contain"):
            refused()
    assert [e.name for e in db.entries()] == ["merge"]


@pytest.mark.parametrize("position", [np.int64(3), np.float32(3), np.float64(3), Fraction(3)])
def test_positions_are_any_real_numbers(position):
    db = SequenceDB("sequence").register("merge", MergeOptimizer(), "fast_run", position=position)
    assert db.entries()[0].position == 3 and type(db.entries()[0].position) in (int, float)
    assert ag.Query("fast_run").register((MergeOptimizer(), position)).extra[0][1] == 3


def test_a_name_in_other_letters_is_suggested():
    with pytest.raises(ValueError, match="did you mean fast_run"):
        ag.rewrite(ag.ops.vector("x") + 0, "FAST_RUN")


def test_a_line_that_runs_again_replaces_its_entry():
    db = SequenceDB("sequence").register("first", MergeOptimizer(), "fast_run")

    def cell(tag):
        return db.register("mine", lambda graph: graph, tag)

    cell("tag0")
    with pytest.warns(OptimizerWarning, match="'mine', registered again, replaces"):
        cell("tag1")
    assert [(e.name, e.position) for e in db.entries()] == [("first", 0), ("mine", 1)]
    assert "tag1" in db.entries()[1].tags and "tag0" not in db.entries()[1].tags
    for cell in ("/tmp/ipykernel_1/1.py", "/tmp/ipykernel_1/2.py", "<ipython-input-3>"):
        code = compile("db.register('celled', lambda graph: graph, 'fast_run')", cell, "exec")
        with nullcontext() if cell.endswith("1.py") else pytest.warns(OptimizerWarning, match="registered again"):
            exec(code, {"db": db})
    with pytest.raises(ValueError, match="already at"):
        db.register("celled", lambda graph: graph, "fast_run")
