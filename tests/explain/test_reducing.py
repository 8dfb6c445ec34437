"""Reproducers of faults: planted in rules, in fusion, in what is overwritten, and in C; small, and runnable as text."""

import contextlib
import io
import json
import sys
import zipfile

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.__main__ import main
from arignote.explain import reducing
from arignote.graph import FunctionGraph, rebuild
from arignote.ops.lowered.fused import Fused
from arignote.ops.shapes.indexing import Subtensor
from arignote.optdb import node_rule, rule, wilds

MOST_NODES, MOST_LINES = 10, 15
u, v = wilds("u v")
x, y = T.vector("x"), T.vector("y")
ARRAYS = [np.linspace(0.3, 1.0, 5), np.ones(2)]


def printed(program):
    """The output of a program."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(program, {})
    return out.getvalue()


def small(verdict):
    """The reproducer of a verdict, which must be small."""
    found = verdict.reproducer
    assert found is not None and found.nodes <= MOST_NODES, verdict
    assert str(found) in str(verdict) and verdict.to_dict()["reproducer"] == found.script()
    return found


@pytest.fixture
def planted(monkeypatch):
    """A database with a wrong rule, in the place of the package's."""
    db = ag.optdb.copy()
    db["canonicalize"].register("planted", rule("planted", T.sub(u, T.tanh(v)), T.add(u, T.tanh(v))), "fast_run")
    for module in ("function.function", "function.rewriting", "explain.reducing"):
        monkeypatch.setattr(sys.modules[f"arignote.{module}"], "optdb", db)


@pytest.mark.usefixtures("planted")
def test_a_wrong_rule_among_many_nodes_and_outputs(tmp_path, capsys):
    total = x
    for k in range(12):
        total = T.log(1 + T.exp(total * (k + 2) / (k + 2))) - 1
    f = ag.function([x, y], [T.exp(y), total - T.tanh(x)], mode=ag.Mode("fast_run", backend="numpy"))
    verdict = ag.bisect(f, ARRAYS)
    assert verdict.rule == "planted"
    found = small(verdict)
    assert found.nodes <= 2 and sum(a.size for a in found.arrays) <= 2
    assert len(found.script().splitlines()) <= MOST_LINES
    got, expected = (eval(part.split()[0]) for part in printed_pair(found))
    assert got != expected
    path = found.save(tmp_path / "failure.zip")
    assert reducing.load(path).script() == found.script()
    assert main(["reduce", str(path), "-o", str(tmp_path / "again.zip")]) == 1
    assert "reproducer of 2 nodes" in capsys.readouterr().out
    assert reducing.load(tmp_path / "again.zip").nodes == 2
    assert main(["reduce", str(path), "-o", str(tmp_path / "nowhere" / "again.zip")]) == 2
    assert "again.zip: cannot be written: No such file or directory" in capsys.readouterr().err
    assert ag.bisect(f, ARRAYS, reduce=False).reproducer is None


def printed_pair(found):
    """The two arrays that a script prints, as text."""
    text = printed(found.script()).replace("array", "").replace("\n", "")
    expected, _, got = text.removeprefix("expected ").partition(" got ")
    return got, expected


def test_a_fault_that_is_gone_and_a_file_that_is_none(tmp_path, capsys):
    graph = ag.FunctionGraph([x], [T.exp(x)])
    kept = reducing.Failure(graph, (np.ones(3),), "canonicalize", False, "output 0: wrong")
    assert main(["reduce", str(kept.save(tmp_path / "gone.zip"))]) == 0
    assert "the failure is gone; it was: output 0: wrong" in capsys.readouterr().out
    (tmp_path / "text.zip").write_text("nothing")
    for name, message in (("text.zip", "is no zip file of a failure"), ("nowhere.zip", "cannot be read")):
        assert main(["reduce", str(tmp_path / name)]) == 2
        assert f"{name}: {message}" in capsys.readouterr().err
    from_program = reducing.Failure(graph, (np.ones(3),), "mine", False, "", "mine", "mine")
    assert main(["reduce", str(from_program.save(tmp_path / "mine.zip"))]) == 2
    assert "the rule mine is registered by a program" in capsys.readouterr().err


def damaged(path, saved, **parts):
    """A copy of a saved failure with other parts; None leaves one out."""
    with zipfile.ZipFile(saved) as file, zipfile.ZipFile(path, "w") as other:
        held = {name: file.read(name) for name in file.namelist()}
        for name, text in (held | {name.replace("_", "."): part for name, part in parts.items()}).items():
            if text is not None:
                other.writestr(name, text)


def archive(*arrays):
    held = io.BytesIO()
    np.savez(held, **{f"input{k}": a for k, a in enumerate(arrays)})
    return held.getvalue()


def about(**fields):
    kept = {"format": reducing.FORMAT, "version": 1, "query": "canonicalize", "compiled": False, "difference": "",
            "rule": "", "registered": ""}  # fmt: skip
    return json.dumps({name: value for name, value in (kept | fields).items() if value is not None})


def test_arguments_of_bisect_that_do_not_fit():
    f = ag.function([x], T.exp(x), mode="NUMPY")
    with pytest.raises(TypeError, match=r"bisect: f is 'f'; expected a function of ag.function"):
        ag.bisect("f", [np.ones(3)])
    for inputs in (None, np.ones(3), {"x": np.ones(3)}):
        with pytest.raises(TypeError, match=f"bisect: inputs is {type(inputs).__name__}; expected a list"):
            ag.bisect(f, inputs)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"graph_txt": None}, "is no saved failure: There is no item named 'graph.txt' in the archive"),
        ({"graph_txt": b"\xff"}, "is damaged: 'utf-8' codec"),
        ({"graph_txt": "fn(x: float64[?]) { nonsense }"}, "is damaged: graph.txt: line 1: expected ':'"),
        ({"failure_json": "["}, "is damaged: Expecting value"),
        ({"failure_json": "[]"}, "is no saved failure of version 1"),
        ({"failure_json": about(version=9)}, "is no saved failure of version 1"),
        ({"failure_json": about(query=None, rule=None)}, "is damaged: failure.json has no query, rule"),
        ({"failure_json": about(query="local_no_such_rule")}, "its query fails: no rule, optimizer or tag"),
        ({"failure_json": about(query="FAST_RUNN", compiled=True)}, "its query fails: no mode is named 'FAST_RUNN'"),
        ({"failure_json": about(query="fast_run -(")}, "its query fails: query 'fast_run -(': cannot read '-('"),
        ({"arrays_npz": b"123"}, "is damaged: arrays.npz holds no arrays of numbers"),
        ({"arrays_npz": archive(np.arange(99.0))[:200]}, "is damaged: arrays.npz holds no arrays of numbers"),
        ({"arrays_npz": archive(np.array([None]))}, "is damaged: arrays.npz holds no arrays of numbers"),
        ({"arrays_npz": archive()}, "is damaged: arrays.npz: input0 is not a file in the archive"),
        ({"arrays_npz": archive(np.ones((2, 3)))}, "is damaged: x0 is float64[?]; its array is float64[2, 3]"),
        ({"arrays_npz": archive(np.ones(3, "int8"))}, "is damaged: x0 is float64[?]; its array is int8[3]"),
    ],
)
def test_a_damaged_file_is_named_with_its_damage(parts, message, tmp_path, capsys):
    kept = reducing.Failure(ag.parse("fn(x0: float64[?]) {\n  return x0\n}"), (np.ones(3),), "canonicalize", False, "")
    damaged(tmp_path / "damaged.zip", kept.save(tmp_path / "whole.zip"), **parts)
    assert main(["reduce", str(tmp_path / "damaged.zip")]) == 2
    assert f"damaged.zip: {message}" in capsys.readouterr().err


def test_mode_debug_ends_with_the_reproducer():
    wrong = rule("wrong_here", T.logaddexp(u, v), T.add(u, v))
    mode = ag.Mode("fast_run", backend="numpy", check=True).register((wrong, 0.3))
    f = ag.function([x], T.logaddexp(x, 0.5) * 2, mode=mode)
    with pytest.raises(AssertionError, match=r"reproducer of 1 node") as error:
        f(ARRAYS[0])
    assert "# the rule wrong_here is registered by the program" in str(error.value)


def swapped(node):
    """The group with sums in the place of differences."""
    graph = node.op.graph
    sums = {n.out: T.add(*n.inputs) for n in graph.order if n.op is T.sub}
    return Fused(FunctionGraph(graph.inputs, rebuild(graph.outputs, sums)))(*node.inputs) if sums else None


@pytest.mark.long
def test_a_wrong_group():
    wrong = node_rule("wrong_fusion", Fused, swapped, formula="fused(sub) -> fused(add)")
    mode = ag.Mode("fast_run").register((wrong, 98.0))
    f = ag.function([x, y], [T.tanh(T.exp(x) - y.sum()) * 2, T.cos(y)], mode=mode)
    assert small(ag.bisect(f, ARRAYS)).nodes == 1


@pytest.mark.long
def test_a_value_that_is_overwritten_too_early(monkeypatch):
    monkeypatch.setattr(Subtensor, "views", lambda self: {})
    a = T.exp(x)
    f = ag.function([x, y], [a[1:] + T.exp(y).sum(), T.cumsum(a) * 2, T.cos(y)], mode=ag.Mode("fast_run -fusion"))
    verdict = ag.bisect(f, ARRAYS)
    assert verdict.fault == "backend"
    assert small(verdict).compiled


@pytest.mark.long
def test_wrong_c():
    wrong = ag.elementwise_op("wrong_in_c", np.tanh, c="x + 1.0", dtypes=["float64"])
    f = ag.function([x, y], [T.exp(wrong(T.sin(x) * 2)), T.cos(y)])
    verdict = ag.bisect(f, ARRAYS)
    assert verdict.fault == "backend" and small(verdict).nodes <= 3
