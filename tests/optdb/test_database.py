"""Databases: what may be registered, what is refused, how things are found, and tables."""

import math

import pytest

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.records import exp, log, neg
from arignote.optdb import (
    EquilibriumDB,
    EquilibriumOptimizer,
    FromFunctionOptimizer,
    LocalGroupDB,
    MergeOptimizer,
    ProxyDB,
    SeqOptimizer,
    SequenceDB,
    TopoDB,
    TopoOptimizer,
    UnknownNameError,
    relaxes,
    rule,
    wilds,
)
from arignote.optdb.kinds import OptInDB
from arignote.optdb.rules import default_db

(x,) = wilds("x")
NEG = rule("local_neg_neg", neg(neg(x)), x)
LOG = rule("local_log_exp", log(exp(x)), x, contract=relaxes("overflow"))
NEG_AS_ANOTHER = rule("mine", neg(neg(x)), x)
ANOTHER_NEG = rule("local_neg_neg", neg(exp(x)), x)


def database():
    canonicalize = EquilibriumDB().register_all([NEG, LOG], "fast_run")
    return (
        SequenceDB("optdb")
        .register("late", MergeOptimizer(), "fast_run", position=9)
        .register("canonicalize", canonicalize, "fast_run", position=1)
        .register("early", MergeOptimizer(), "fast_run", "merging", position=-0.5)
    )


# --- what can be registered


def test_members_stand_in_order_of_position_then_name():
    db = database().register("b", MergeOptimizer(), "fast_run", position=1)
    db.register("end", MergeOptimizer(), "fast_run")
    assert [m.name for m in db.query("fast_run").optimizers] == ["early", "b", "canonicalize", "late", "end"]
    assert next(e.position for e in db.entries() if e.name == "end") == 10


def test_rules_stand_in_order_of_registration():
    assert [r.name for r in EquilibriumDB().register_all([LOG, NEG], "t").query("t").rules] == [LOG.name, NEG.name]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (SequenceDB, SeqOptimizer),
        (EquilibriumDB, EquilibriumOptimizer),
        (TopoDB, TopoOptimizer),
        (LocalGroupDB, TopoOptimizer),
    ],
)
def test_each_database_gives_its_optimizer(kind, expected):
    db = kind("db").register("local_neg_neg", NEG, "t")
    optimizer = db.query("t")
    assert type(optimizer) is expected
    a = T.vector("a")
    graph, _ = optimizer(FunctionGraph([a], [neg(-a)]))
    assert graph.outputs == (a,)


def test_a_rule_in_a_sequence_is_one_walk():
    db = SequenceDB("db").register("local_neg_neg", NEG, "t", position=1)
    (member,) = db.query("t").optimizers
    assert isinstance(member, TopoOptimizer)
    assert member.rules == (NEG,)


def test_a_function_becomes_an_optimizer():
    db = SequenceDB("db").register("mine", lambda graph: graph, "t", position=1)
    assert isinstance(db["mine"], FromFunctionOptimizer)


def test_an_equilibrium_keeps_the_roles_separate():
    final, clean, plain = MergeOptimizer(), MergeOptimizer(), lambda graph: graph
    db = (
        EquilibriumDB("db", max_rounds=7)
        .register("plain", plain, "t")
        .register("final_rule", NEG, "t", final=True)
        .register("final", final, "t", final=True)
        .register("clean", clean, "t", cleanup=True)
        .register("local_log_exp", LOG, "t")
        .register("group", LocalGroupDB().register("local_neg_neg", NEG, "t", position=3), "t")
        .register("walk", TopoDB().register("local_neg_neg", NEG, "t"), "t")
    )
    optimizer = db.query("t")
    assert [r.name for r in optimizer.rules] == ["local_log_exp", "local_neg_neg"]
    assert [o.name for o in optimizer.optimizers] == ["plain", "walk"]
    assert [o.name for o in optimizer.final] == ["final_rule", "final"]
    assert [o.name for o in optimizer.cleanup] == ["clean"]
    assert optimizer.max_rounds == 7
    with pytest.raises(ValueError, match=r"'both'.*final and cleanup"):
        db.register("both", MergeOptimizer(), final=True, cleanup=True)


def test_the_order_of_a_walk_is_an_option():
    assert TopoDB(order="out_to_in").register("local_neg_neg", NEG, "t").query("t").order == "out_to_in"
    with pytest.raises(ValueError, match="sideways"):
        TopoDB(order="sideways").register("local_neg_neg", NEG, "t").query("t")


# --- what is refused


@pytest.mark.parametrize(
    ("register", "words"),
    [
        (lambda db: db.register("late", MergeOptimizer(), position=2), ["'late'", "already at", __file__]),
        (lambda db: db.register("merging", MergeOptimizer(), position=2), ["'merging'", "tag of 'early'", __file__]),
        (lambda db: db.register("new", MergeOptimizer(), "late", position=2), ["tag 'late'", "'new'", __file__]),
        (lambda db: db.add_tags("late", "early"), ["tag 'early'", "'late'"]),
        (lambda db: db.register("new", MergeOptimizer(), position=math.nan), ["'new'", "nan"]),
        (lambda db: db["canonicalize"].register("new", LOG, position=3), ["'new'", "ordered by registration"]),
        (lambda db: db.register("a b", MergeOptimizer(), position=3), ["'a b'", "no query can contain"]),
        (lambda db: db.register("-a", MergeOptimizer(), position=3), ["'-a'", "no query can contain"]),
    ],
)
def test_what_would_be_ambiguous_is_refused(register, words):
    with pytest.raises(ValueError) as error:
        register(database())
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("thing", [42, "rule", None, MergeOptimizer])
def test_what_is_no_optimizer_is_refused(thing):
    with pytest.raises(TypeError, match="'new'"):
        database().register("new", thing, position=3)
    with pytest.raises(TypeError, match="'new'"):
        LocalGroupDB("group").register("new", thing)


def test_a_position_is_a_number():
    with pytest.raises(TypeError, match="'new'"):
        database().register("new", MergeOptimizer(), position="3")


def test_a_group_takes_rules_alone():
    with pytest.raises(TypeError, match="rule or a group"):
        LocalGroupDB("group").register("merge", MergeOptimizer())


# --- finding


def test_things_are_found_by_name_and_by_path():
    db = database()
    assert db["local_neg_neg"] is NEG
    assert db["canonicalize/local_neg_neg"] is NEG
    assert isinstance(db["canonicalize"], EquilibriumDB)
    assert "local_log_exp" in db
    assert "canonicalize/local_log_exp" in db
    assert "fast_run" not in db  # a tag, not an entry
    with pytest.raises(UnknownNameError, match="did you mean local_neg_neg"):
        db["local_neg_nag"]


def test_a_name_for_several_things_needs_a_path():
    db = database().register("walk", TopoDB().register("local_neg_neg", ANOTHER_NEG, "fast_run"), position=3)
    with pytest.raises(KeyError, match="canonicalize/local_neg_neg, walk/local_neg_neg"):
        db["local_neg_neg"]
    assert db["walk/local_neg_neg"] is ANOTHER_NEG


def test_entries_know_all_about_themselves():
    (entry,) = (e for e in database().entries() if e.name == "local_log_exp")
    assert entry.path == "canonicalize/local_log_exp"
    assert entry.contract == relaxes("overflow")
    assert entry.object is LOG
    assert entry.position is None
    assert entry.origin.startswith(__file__)
    assert entry.tags == {
        "local_log_exp", "PatternRule", "canonicalize", "fast_run", "relaxes", "relaxes_overflow",
    }  # fmt: skip
    assert [e.path for e in database().entries()][:3] == ["early", "canonicalize", "canonicalize/local_neg_neg"]


def test_the_contract_of_an_optimizer_is_that_of_its_rules():
    db = SequenceDB("db").register("walk", TopoOptimizer(rules=(NEG, LOG)), "t", position=1)
    assert db.entries()[0].contract == LOG.contract
    assert "relaxes_overflow" in db.entries()[0].tags


def test_tags_can_be_added_and_taken_away():
    db = database().add_tags("late", "mine").remove_tags("late", "fast_run")
    assert [m.name for m in db.query("mine").optimizers] == ["late"]
    assert "late" not in [m.name for m in db.query("fast_run").optimizers]
    with pytest.raises(UnknownNameError, match="late"):
        db.add_tags("lat", "mine")


def test_a_copy_goes_its_own_way():
    db = database()
    other = db.copy()
    other.register("new", MergeOptimizer(), "fast_run", position=5)
    other["canonicalize"].register("new_rule", ANOTHER_NEG, "fast_run")
    assert "new" in other
    assert "new_rule" in other
    assert "new" not in db
    assert "new_rule" not in db
    db["canonicalize"].register("only_here", ANOTHER_NEG, "fast_run")
    assert "only_here" not in other


def test_a_proxy_shares_what_it_holds():
    inner = EquilibriumDB("inner").register("local_neg_neg", NEG, "t")
    db = SequenceDB("db").register("first", inner, "t", position=1).register("second", ProxyDB(inner), "t", position=2)
    db["second"].register("local_log_exp", LOG, "t")
    assert [[r.name for r in m.rules] for m in db.query("t").optimizers] == [["local_neg_neg", "local_log_exp"]] * 2


# --- tables


def test_a_table_says_what_is_taken_and_why_not():
    table = database().table("fast_run -merging -local_neg_neg &relaxes")
    assert [(r.position, r.name, r.taken, r.reason) for r in table] == [
        ("-0.5", "early", False, "has -merging"),
        ("1", "local_neg_neg", False, "has -local_neg_neg"),
        ("1", "local_log_exp", True, ""),
        ("9", "late", False, "lacks &relaxes"),
    ]
    assert [r.reason for r in database().table("fast_run -canonicalize <9")] == [
        "", "canonicalize has -canonicalize", "canonicalize has -canonicalize", "position 9 is not below 9",
    ]  # fmt: skip
    assert [r.reason for r in database().table("merging")][-1] == "not included"
    assert [(r.name, r.taken) for r in database().table()][:2] == [("early", None), ("local_neg_neg", None)]


def test_a_table_agrees_with_the_optimizer():
    for text in ("fast_run", "fast_run &exact", "merging", "fast_run <1", "canonicalize", "local_log_exp"):
        taken = {r.name for r in database().table(text) if r.taken}
        optimizer = database().query(text)
        names = {m.name for m in optimizer.optimizers} - {"canonicalize"}
        names |= {r.name for m in optimizer.optimizers for r in getattr(m, "rules", ())}
        assert taken == names, text


def test_a_table_prints_in_columns_and_as_html():
    table = database().table("fast_run -late")
    lines = str(table).splitlines()
    assert len(lines) == len(table) + 1 == 5
    assert lines[0].split() == ["position", "name", "class", "tags", "contract", "taken"]
    assert lines[3].split() == [
        "1", "canonicalize/local_log_exp", "PatternRule", "canonicalize", "fast_run", "relaxes", "relaxes_overflow",
        'relaxes("overflow")', "yes:", "has", "fast_run",
    ]  # fmt: skip
    assert lines[4].endswith("no: has -late")
    assert table._repr_html_().count("<tr") == 5
    assert "relaxes(&quot;overflow&quot;)" in table._repr_html_()


@pytest.mark.parametrize(
    "edit",
    [
        lambda db: db.register("new", MergeOptimizer(), "fast_run"),
        lambda db: db["canonicalize"].register("new", ANOTHER_NEG, "fast_run"),
        lambda db: db.remove_tags("late", "fast_run"),
        lambda db: ProxyDB(db["canonicalize"]).register("new", ANOTHER_NEG, "fast_run"),
    ],
    ids=["here", "inside", "tags", "by proxy"],
)
def test_a_query_is_answered_from_memory_until_something_is_registered(edit):
    db = database()
    before = db.query("fast_run")
    assert db.query("fast_run") is before is db.query("fast_run", strict=False)
    assert db.query("fast_run", strict=True).strict
    copied = db.copy()
    edit(db)
    assert db.query("fast_run") != before
    assert [m.name for m in copied.query("fast_run").optimizers] == [m.name for m in before.optimizers]


@pytest.mark.parametrize("path", ["mine", "canonicalize/mine"])
def test_what_is_registered_and_removed_again_leaves_an_equal_state(path):
    db = database()
    before, answer = db.state(), db.query("fast_run")
    assert before == database().state() == db.copy().state()
    (db if path == "mine" else db["canonicalize"]).register("mine", NEG_AS_ANOTHER, "fast_run", "own")
    registered = db.state()
    assert registered != before and db.query("fast_run") != answer
    assert db.unregister(path) is db
    assert db.state() == before and "mine" not in db and db.query("fast_run") == answer
    with pytest.raises(UnknownNameError, match="own"):
        db.query("own")
    (db if path == "mine" else db["canonicalize"]).register("mine", NEG_AS_ANOTHER, "fast_run", "own")
    assert db.state() == registered


def test_entries_are_listed_once_until_something_is_edited_here_or_inside():
    db = database()
    assert db.entries()[0] is db.entries()[0]
    db["canonicalize"].register("local_neg_exp", rule("local_neg_exp", neg(exp(x)), x), "new")
    assert "canonicalize/local_neg_exp" in [e.path for e in db.entries()]
    assert "new" in db.tags()
    db.unregister("local_neg_exp")
    assert "new" not in db.tags()
    assert db.copy()["canonicalize"] is not db["canonicalize"]


def test_a_name_is_removed_wherever_it_stands_and_a_path_in_one_place():
    db = default_db()
    whole, places = db.state(), [e.path for e in db.entries() if e.name == "local_neg_neg"]
    assert len(places) > 1
    db.unregister(places[0])
    assert [e.path for e in db.entries() if e.name == "local_neg_neg"] == places[1:]
    db.unregister("local_neg_neg")
    assert "local_neg_neg" not in db and db.state() != whole
    with pytest.raises(UnknownNameError, match="no entry of SequenceDB optdb is named 'local_neg_neg'; did you mean"):
        db.unregister("local_neg_neg")


def test_states_distinguish_contents():
    def state(*arguments, **options):
        return database().register("new", *arguments, **options).state()

    group = TopoDB().register("mine", NEG_AS_ANOTHER, "t")
    states = [
        database().state(), state(MergeOptimizer()), state(MergeOptimizer(), "t"), state(NEG, "t"), state(LOG, "t"),
        state(MergeOptimizer(), "t", position=3), state(MergeOptimizer(), "t", provides=("shape",)),
        state(TopoDB(), "t"), state(EquilibriumDB(), "t"), state(group, "t"),
    ]  # fmt: skip
    assert [s == t for s in states for t in states].count(True) == len(states)
    assert database().add_tags("late", "t").state() != database().state()
    assert database().add_tags("late", "t").remove_tags("late", "t").state() == database().state()
    order = EquilibriumDB().register_all([NEG, LOG]), EquilibriumDB().register_all([LOG, NEG])
    assert order[0].state() != order[1].state()
    proxy = ProxyDB(order[0])
    assert proxy.unregister("local_log_exp").state() == order[0].state() != order[1].state()


# --- what requires what


def test_what_is_required_must_stand_before():
    db = default_db().register("mine", MergeOptimizer(), "fast_run", position=0.05, requires=("shape",))
    message = r"'mine' at position 0.05 requires 'shape', but no earlier .* provides it; 'ShapeOpt' at position 0.1 d"
    with pytest.raises(ValueError, match=message):
        db.query("fast_run")
    db.query("fast_run -mine")
    later = default_db().register("mine", MergeOptimizer(), "fast_run", position=0.2, requires=("shape",))
    assert "mine" in [o.name for o in later.query("fast_run").optimizers]
    with pytest.raises(ValueError, match=r"'mine' at position 0.2 requires 'shape'"):
        later.query("fast_run -ShapeOpt")


def test_a_rule_inside_a_container_requires_too_and_names_of_entries_count():
    db = default_db()
    db["canonicalize"].register("mine", NEG_AS_ANOTHER, "fast_run", requires=("stabilize",))
    with pytest.raises(ValueError, match=r"'canonicalize/mine' requires .*; 'stabilize' at position 1.5 does"):
        db.query("fast_run")
    db = default_db()
    db["specialize"].register("mine", NEG_AS_ANOTHER, "fast_run", requires=("stabilize", "local_neg_neg"))
    db.query("fast_run")


def test_members_of_an_equilibrium_may_rely_on_each_other():
    db = EquilibriumDB("db").register("a", NEG, "t", requires=("clean",)).register("b", LOG, "t", provides=("clean",))
    assert len(db.query("t").rules) == 2
    with pytest.raises(ValueError, match=r"'a' requires 'clean'.*; 'b' does"):
        db.query("t", "-b")


def test_an_empty_container_provides_nothing():
    db = SequenceDB("db").register("group", TopoDB().register("r", NEG, "s"), "t", position=0, provides=("flat",))
    db.register("mine", MergeOptimizer(), "t", position=1, requires=("flat",))
    with pytest.raises(ValueError, match="requires 'flat'"):
        db.query("t")
    db.query("t", "s")


def test_what_nothing_provides_and_a_plain_string_are_refused():
    db = SequenceDB("db").register("mine", MergeOptimizer(), "t", requires=("shapes",))
    with pytest.raises(ValueError, match=r"requires 'shapes', but no earlier .* provides it; register an entry"):
        db.query("t")
    with pytest.raises(TypeError, match=r"requires is 'shape'; expected a tuple of names, as in \('shape',\)"):
        db.register("other", MergeOptimizer(), requires="shape")


def test_a_member_is_found_without_a_look_at_the_others():
    filled = []
    db = SequenceDB("db").register("first", MergeOptimizer(), position=0)
    db.register("late", OptInDB(filled.append), position=1)
    assert db["first"] == MergeOptimizer() and not filled
    assert filled == [db["late"]]
