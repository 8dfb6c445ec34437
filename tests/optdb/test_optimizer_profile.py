"""The optimizer profile: its layout, its sums, its plain-data form."""

import itertools
import json
import time
from dataclasses import replace

import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, GraphEditor
from arignote.ops.elementwise.records import add, exp, log, mul, neg, sin
from arignote.optdb import (
    EquilibriumDB,
    MergeOptimizer,
    Optimizer,
    OptimizerWarning,
    SequenceDB,
    TopoDB,
    TopoOptimizer,
    node_rule,
    rule,
    wilds,
)
from arignote.optdb.rules import default_db
from arignote.optdb.rules.conforming import TensorConform
from arignote.profiling import (
    EquilibriumProfile,
    FusionProfile,
    GemmProfile,
    InplaceProfile,
    MergeProfile,
    PassProfile,
    RuleProfile,
    SeqProfile,
    TopoProfile,
)
from arignote.profiling.collection import total
from arignote.profiling.difference import difference
from arignote.record.clock import _FRESH

x, y, z = wilds("x y z")
A, B = T.vector("A"), T.vector("B")
NEG_NEG = rule("local_neg_neg", neg(neg(x)), x)
LOG_EXP = rule("local_log_exp", log(exp(x)), x)
FACTOR = rule("local_factor", add(mul(x, y), mul(x, z)), mul(x, add(y, z)))
IDLE = node_rule("local_idle", add, lambda node: None, formula="add(x, y) -> nothing")
NEVER = rule("local_never", sin(sin(x)), x)


class Fuse(Optimizer):
    """Stands for the optimizers of rules/ that have profiles of their own."""

    def optimize(self, graph, editor):
        return graph, FusionProfile(nb_iter=1, toposort_time=0.25)


def database():
    canonicalize = (
        EquilibriumDB()
        .register_all([NEG_NEG, FACTOR, IDLE, NEVER], "fast_run")
        .register("last", TopoDB().register_all([LOG_EXP, NEG_NEG], "fast_run"), "fast_run", final=True)
        .register("merge", MergeOptimizer(), "fast_run", cleanup=True)
    )
    fusion = SequenceDB().register("composite", Fuse(), "fast_run", position=1)
    return (
        SequenceDB("optdb", conform=TensorConform())
        .register("merge1", MergeOptimizer(), "fast_run", position=0)
        .register("canonicalize", canonicalize, "fast_run", position=1)
        .register("elemwise_fusion", fusion, "fast_run", position=49)
        .register("plain", lambda graph: graph, "fast_run", position=60)
    )


def problem():
    return FunctionGraph([A, B], [neg(-A) * B + T.log(T.exp(neg(-A))) * A, T.exp(B), T.exp(B) + 1.0, neg(neg(neg(-B)))])


# --- the layout, with times that are known

LAST = TopoProfile(name="last", optimizer="TopoOptimizer", nodes_before=9, nodes_after=8, replacements=1)
EQUILIBRIUM = EquilibriumProfile(
    name="canonicalize",
    optimizer="EquilibriumOptimizer",
    time=0.338,
    nodes_before=108,
    nodes_after=81,
    max_nodes=117,
    local_time=0.298,
    global_time=0.004,
    final_time=0.002,
    cleanup_time=0.003,
    passes=(
        PassProfile(
            time=0.050,
            global_time=0.0,
            toposort_time=0.002,
            nodes=108,
            fired=(("a", 9), ("b", 5), ("c", 3), ("d", 3), ("e", 2), ("f", 1)),
            children=(LAST,),
        ),
        PassProfile(0.288, 0.002, 0.002, nodes=117, fired=(("a", 1), ("MergeOptimizer", 1))),
        PassProfile(0.0, 0.0, 0.0, nodes=81, fired=()),
    ),
    table=(
        RuleProfile("quick", 10, 2, 0.010, 4),
        RuleProfile("slow", 20, 15, 0.263, 0),
        RuleProfile("idle", 20, 0, 0.0204, 0),
        RuleProfile("untried"),
    ),
)


def test_an_equilibrium_prints_as_in_theano():
    assert "\n".join(replace(EQUILIBRIUM, children=(LAST,)).lines(1)) == """\
     EquilibriumOptimizer      canonicalize
       time 0.338s for 3 passes
       nb nodes (start, end,  max) 108 81 117
       time io_toposort 0.004s
       time in local optimizers 0.298s
       time in global optimizers 0.004s
       time in final optimizers 0.002s
       time in cleanup optimizers 0.003s
        0 - 0.050s 23 (0.000s in global opts, 0.002s io_toposort) - 108 nodes - \
('a', 9) ('b', 5) ('c', 3) ('d', 3) ('e', 2) ...
        1 - 0.288s 2 (0.002s in global opts, 0.002s io_toposort) - 117 nodes - ('a', 1) ('MergeOptimizer', 1)
        2 - 0.000s 0 (0.000s in global opts, 0.000s io_toposort) - 81 nodes -
       times - times applied - nb node created - name:
       0.263s - 15 - 0 - slow
       0.010s - 2 - 4 - quick
       0.000s - 1 - 0 - last
       0.020s - in 2 optimization that were not used (display only those with a runtime > 0)
         0.020s - idle
       Global, final and clean up optimizers
       Iter 0
         TopoOptimizer
           nb_node (start, end, changed) (9, 8, 1)
           init io_toposort 0.000000
           loop time 0.000000
           callback_time 0.000000"""


def test_sequences_print_their_members_in_order_of_time():
    inner = SeqProfile(name="inner", optimizer="SeqOptimizer", time=0.5, nodes_before=8, nodes_after=8)
    profile = SeqProfile(
        name="OPT_FAST_RUN",
        optimizer="SeqOptimizer",
        time=0.625,
        validate_time=0.028,
        callback_time=0.131,
        nodes_before=123,
        nodes_after=50,
        children=(
            FusionProfile(name="fuse", optimizer="FusionOptimizer", time=0.125, nb_iter=3, nb_replacement=10),
            inner,
        ),
    )
    assert profile.report() == (
        "Optimizer Profile\n"
        "-----------------\n"
        " SeqOptimizer  OPT_FAST_RUN  time 0.625s for 123/50 nodes before/after optimization\n"
        "   0.028s for fgraph.validate()\n"
        "   0.131s for callback\n"
        "   time      - (name, class, index) - validate time\n"
        "   0.500000s - ('inner', 'SeqOptimizer', 1) - 0.000s\n"
        "     SeqOptimizer      inner  time 0.500s for 8/8 nodes before/after optimization\n"
        "       0.000s for fgraph.validate()\n"
        "       0.000s for callback\n"
        "   0.125000s - ('fuse', 'FusionOptimizer', 0) - 0.000s\n"
        "     FusionOptimizer\n"
        "      nb_iter 3\n"
        "      nb_replacement 10\n"
        "      nb_inconsistency_replace 0\n"
        "      validate_time 0.000000\n"
        "      callback_time 0.000000\n"
        "      time_toposort 0.000000"
    )


def test_other_kinds_print_what_they_count():
    merge = MergeProfile(optimizer="MergeOptimizer", nb_fail=1, nb_merged=20, nb_constant=300, replace_time=0.125)
    assert list(merge.lines()) == [
        " MergeOptimizer",
        "   nb fail=    1 merged=   20 constant=  300",
        "   time replace=0.12 validate=0.00 callback=0.00",
    ]
    gemm = GemmProfile(optimizer="GemmOptimizer", nb_iter=2, nb_replacement=3, canonicalize_time=0.5)
    assert [line.split()[0] for line in gemm.lines()] == [
        "GemmOptimizer", "nb_iter", "nb_replacement", "nb_replacement_didn_t_remove", "nb_inconsistency_make",
        "nb_inconsistency_replace", "time_canonicalize", "time_factor_can", "time_factor_list", "time_toposort",
        "validate_time", "callback_time",
    ]  # fmt: skip
    inplace = InplaceProfile(optimizer="InplaceOptimizer", nodes_before=7, by_ndim=(("scalar", 1), ("2", 3)))
    assert list(inplace.lines())[1:] == [
        "  node_before 7",
        "  nb_call_replace 0",
        "  nb_call_validate 0",
        "  nb_inconsistent 0",
        "  ndim  nb (scalar, 1) (2, 3)",
    ]
    walk = TopoProfile(
        optimizer="TopoOptimizer", table=(RuleProfile("a", 3, 1, 0.5, 2), RuleProfile("b", 1), RuleProfile("c"))
    )
    assert list(walk.lines())[5:] == [
        "   time taken - times applied - times tried - name - node_created:",
        "   0.500s - 1 - 3 - a - 2",
        "   0.000s - 0 - 1 - b - 0",
    ]


# --- sums


def profiles(profile):
    return {p.name: p for p in profile.walk()}


@pytest.mark.parametrize("make", [database, default_db], ids=["own", "default"])
def test_sums_add_up(make):
    graph, editor = problem(), GraphEditor()
    result, profile = make().query("fast_run")(graph, editor)
    assert profile.time == pytest.approx(sum(child.time for child in profile.children))
    assert profile.replacements == len(editor.journal) == sum(row.fired for row in profile.rules())
    assert profile.nodes_before == len(graph)
    assert profile.nodes_after == len(result)
    sizes = [(child.nodes_before, child.nodes_after) for child in profile.children]
    assert all(left[1] == right[0] for left, right in itertools.pairwise(sizes))
    assert sizes[0][0] == len(graph)
    for equilibrium in (p for p in profile.walk() if isinstance(p, EquilibriumProfile)):
        rows = equilibrium.rows()
        spent = equilibrium.local_time + equilibrium.global_time + equilibrium.final_time + equilibrium.cleanup_time
        assert equilibrium.time == pytest.approx(sum(p.time for p in equilibrium.passes))
        assert sum(p.count for p in equilibrium.passes) == sum(row.fired for row in rows) == equilibrium.replacements
        assert sum(row.time for row in rows) == pytest.approx(spent)
        assert spent <= equilibrium.time
        assert equilibrium.passes[-1].count == 0
        assert equilibrium.max_nodes == max([equilibrium.nodes_before, *(p.nodes for p in equilibrium.passes)])
        if not equilibrium.children:
            assert equilibrium.passes[0].nodes == equilibrium.nodes_before
            assert all(p.global_time == 0 for p in equilibrium.passes)


def test_what_is_tried_fired_and_made_is_counted():
    _, profile = database().query("fast_run")(problem())
    rows = {row.name: row for row in profiles(profile)["canonicalize"].rows()}
    assert (rows["local_neg_neg"].fired, rows["local_neg_neg"].nodes_created) == (2, 0)
    assert (rows["local_factor"].fired, rows["local_factor"].nodes_created) == (1, 2)
    assert rows["local_idle"].tried >= 2
    assert rows["local_idle"].fired == 0
    assert (rows["local_never"].tried, rows["local_never"].time) == (0, 0.0)  # nothing here could match it
    assert rows["last"].fired == 1
    assert profiles(profile)["merge1"].nb_merged == 3
    total = {row.name: row for row in profile.rules()}
    assert set(total) == {
        "merge1", "local_neg_neg", "local_factor", "local_idle", "local_never", "local_log_exp", "MergeOptimizer",
        "composite", "plain",
    }  # fmt: skip
    assert total["local_log_exp"].fired == 1


def test_rules_are_summed_over_the_tree():
    left = TopoProfile(table=(RuleProfile("a", 1, 1, 0.25, 1), RuleProfile("b", 2)))
    right = TopoProfile(table=(RuleProfile("a", 3, 1, 0.5, 4),))
    fusion = FusionProfile(name="f", time=1.0, replacements=2)
    profile = SeqProfile(children=(left, SeqProfile(children=(right,)), fusion))
    assert profile.rules() == [RuleProfile("f", 1, 2, 1.0, 0), RuleProfile("a", 4, 2, 0.75, 5), RuleProfile("b", 2)]


# --- the other forms


def test_plain_data():
    _, profile = database().query("fast_run")(problem())
    data = json.loads(json.dumps(profile.to_dict()))
    assert {
        "name", "class", "time", "validate_time", "callback_time", "nodes_before", "nodes_after", "passes", "rules",
        "children",
    } <= set(data)  # fmt: skip
    assert data["class"] == "SeqOptimizer"
    canonicalize = data["children"][1]
    assert canonicalize["name"] == "canonicalize"
    assert [set(row) for row in canonicalize["rules"]] == [{"name", "tried", "fired", "time", "nodes_created"}] * 5
    assert canonicalize["stop"] == "fixed point"
    assert sum(p["fired"] for p in canonicalize["passes"]) == 6
    assert data["children"][0]["details"]["nb_merged"] == 3


def test_a_failure_is_part_of_the_report():
    def planted(node):
        raise ZeroDivisionError("planted")

    bad = node_rule("bad", exp, planted, formula="exp(x) -> an error")
    with pytest.warns(OptimizerWarning):
        _, profile = TopoOptimizer(name="walk", rules=(bad,))(FunctionGraph([A], [T.exp(A), T.exp(A)]))
    assert "failed: bad, 2 times, first on exp(A): ZeroDivisionError: planted" in str(profile)
    assert profile.to_dict()["failures"][0]["count"] == 2
    assert profile.all_failures() == list(profile.failures)


def test_notebooks_get_the_text_in_html():
    html = EQUILIBRIUM._repr_html_()
    assert "Optimizer Profile" in html
    assert "(&#x27;a&#x27;, 9)" in html
    assert "runtime &gt; 0" in html


def test_times_of_the_watcher_are_callback_times():
    def slow(entry):
        begun = time.thread_time()
        while time.thread_time() < begun + 0.01:
            pass
        return True

    graph = FunctionGraph([A], [neg(-A), neg(neg(-A))])
    _, profile = TopoOptimizer(name="walk", rules=(NEG_NEG,))(graph, GraphEditor(slow))
    assert profile.replacements == 2
    # The clock charges a short wait of the thread to an interval within _FRESH seconds.
    assert 2 * (0.01 - _FRESH) <= profile.callback_time <= profile.time


# --- the first screen, differences, sums, traces for tools

IDLE_EQUILIBRIUM = replace(EQUILIBRIUM, nodes_before=108, nodes_after=81, replacements=25, children=(LAST,))
WHOLE = SeqProfile(
    name="fast_run",
    optimizer="SeqOptimizer",
    time=0.5,
    nodes_before=120,
    nodes_after=80,
    replacements=30,
    children=(
        MergeProfile(name="merge1", optimizer="MergeOptimizer", time=0.037, nodes_before=120, nodes_after=108),
        IDLE_EQUILIBRIUM,
        SeqProfile(
            name="fusion",
            optimizer="SeqOptimizer",
            time=0.125,
            children=(FusionProfile(name="fuse", optimizer="FusionOptimizer", time=0.125, replacements=5),),
        ),
    ),
)


def test_the_first_screen(golden):
    text = WHOLE.summary()
    golden("optimizer_summary.txt", text + "\n")
    assert all(len(line) <= 100 for line in text.splitlines())
    assert repr(WHOLE) == text and str(WHOLE) == f"{text}\n\n{WHOLE.report()}"
    assert WHOLE.excluding == 'mode.excluding("idle")'


def test_the_line_to_copy_is_one_that_can_be_copied():
    _, profile = default_db().query("fast_run")(problem())
    slow = replace(profile, time=1e-9)  # so that whatever took any time is worth a mention
    line = slow.excluding
    assert line.startswith('mode.excluding("') and "MergeOptimizer" not in line
    mode = eval(line, {"mode": ag.Mode("fast_run")})
    _, without = default_db().query(mode.optimizer)(problem())
    names = {row.name for row in without.rules()}
    assert not any(f'"{name}"' in line for name in names)


def test_screens_of_nothing():
    assert "No optimizer ran" in SeqProfile().summary()
    _, profile = default_db().query("fast_run")(FunctionGraph([A], [A]))
    assert profile.summary().startswith("Optimizing took") and len(profile.summary().splitlines()) < 40
    assert difference(SeqProfile(), SeqProfile()).to_dict()["passes"] == []


def test_differences(golden):
    faster = replace(WHOLE, time=0.3, nodes_after=79, children=WHOLE.children[:2])
    found = difference(WHOLE, faster)
    assert found.total.seconds == (0.5, 0.3)
    fuse = next(c for c in found.passes if c.name == "fusion/fuse")
    assert (fuse.seconds, fuse.applied, fuse.in_both, fuse.more) == ((0.125, 0.0), (5, 0), False, -0.125)
    golden("optimizer_difference.txt", f"{found}\n")
    assert json.loads(json.dumps(found.to_dict()))["total"]["seconds"] == [0.5, 0.3]
    assert ag.profile_diff(WHOLE, WHOLE).rules[0].more == 0


def test_differences_of_functions_and_of_what_has_no_optimizer_profile():
    f = ag.function([A], A * 1 + 0, profile=True)
    assert ag.profile_diff(f, f.optimizer_profile).total.more == 0
    with pytest.raises(TypeError, match=r"argument 1: expected a function or an optimizer profile, .* got RunProfile"):
        ag.profile_diff(f, f.profile)
    with pytest.raises(TypeError, match="argument 0: expected a function or an optimizer profile"):
        ag.profile_diff("f", f)


def test_chrome_traces_nest():
    events = WHOLE.to_chrome()["traceEvents"]
    by_name = {e["name"]: e for e in events}
    whole = by_name["fast_run"]
    assert whole["dur"] == 500_000 and json.loads(json.dumps(events))
    for name in ("merge1", "canonicalize", "fusion", "fuse", "slow"):
        e = by_name[name]
        assert whole["ts"] <= e["ts"] and e["ts"] + e["dur"] <= whole["ts"] + whole["dur"] + 1
    assert by_name["canonicalize"]["ts"] == by_name["merge1"]["ts"] + by_name["merge1"]["dur"]
    assert json.loads(WHOLE.to_json())["name"] == "fast_run"


def test_sums_over_functions():
    both = total([WHOLE, WHOLE])
    assert (both.time, both.nodes_before, both.replacements) == (1.0, 240, 60)
    assert {r.name: r.fired for r in both.rules()}["slow"] == 2 * {r.name: r.fired for r in WHOLE.rules()}["slow"]
    assert total([]).summary()


def test_few_rules_are_tried_in_vain_on_a_training_step():
    x, labels = T.matrix("x", dtype="float32"), T.vector("labels", dtype="int64")
    w, b = T.tensor("w", dtype="float32", shape=(784, 10)), T.tensor("b", dtype="float32", shape=(10,))
    p = T.nn.softmax(T.tanh(T.dot(x, w)) + b)
    loss = -T.log(p)[T.arange(labels.shape[0]), labels].mean()
    new = [v - 0.1 * g for v, g in zip((w, b), ag.grad(loss, [w, b]), strict=True)]
    step = FunctionGraph([x, labels, w, b], [loss, *new], [(2, 1), (3, 2)])
    _, profile = ag.optdb.query("fast_run")(step)
    passes = {p.name for p in profile.walk()}
    idle = [r for r in profile.rules() if not r.fired and r.name not in passes]
    assert sum(r.tried for r in idle) <= 2.5 * len(step)
    assert sum(r.fired for r in profile.rules()) > 20
