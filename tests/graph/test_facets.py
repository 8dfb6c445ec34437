"""One record an op: classes have all facets or a reason, elementwise ops all fields; errors say what is missing."""

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.scalars import form_of
from arignote.cbackend.ir.loops import Local, ScalarOp
from arignote.cbackend.program.plan import plan_of
from arignote.graph import DTYPES, NoGradient
from arignote.graph.facets import FACETS, classes_with, facet_of, missing, reason, record_of
from arignote.ops import ELEMENTWISE, TensorOp
from arignote.ops.control import batching
from arignote.ops.control.examples import NoBatch
from arignote.ops.core.vocabulary import vocabulary


def classes():
    """The class of each op of the vocabulary."""
    found = set()
    for entry in vocabulary().ops.values():
        while isinstance(entry, functools.partial):
            entry = entry.func
        found.add(entry if isinstance(entry, type) else type(entry))
    return sorted(found, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
def test_every_class_has_all_facets_or_a_reason(kind):
    assert batching.__name__ and plan_of  # their modules register facets
    assert missing(kind) == ()
    stale = [name for name in FACETS if record_of(kind)[name] is not None and reason(kind, name)]
    assert not stale, f"{kind.__name__} has {stale}, and a reason to have none"


def loops(op):
    """The loops of an op, for operands of one dtype."""
    for dtype in DTYPES:
        dtypes = ("bool", dtype, dtype) if op.name == "switch" else (dtype,) * (op.arity or 2)
        try:
            yield op.loop(dtypes)
        except TypeError:
            continue


def has_c(op, operands, result):
    """Whether C computes a loop; float16 is computed as float32, and `clip` as two operations."""
    wide = {"float16": "float32"}
    operands = tuple("bool" if op.of_truth else wide.get(d, d) for d in operands)
    if op.same_as is not None or (op.fixed and np.dtype(operands[0]).kind in op.fixed[0]):
        return True
    if op.name == "clip" and np.dtype(operands[0]).kind != "c":
        return True
    try:
        form_of(ScalarOp(op.name, wide.get(result, result), tuple(Local(d, "x") for d in operands)))
    except KeyError:
        return False
    return True


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_elementwise_record_is_complete(name):
    op, found = ELEMENTWISE[name], list(loops(ELEMENTWISE[name]))
    assert found and op.meaning
    assert not [loop for loop in found if not has_c(op, *loop)], f"{name} has no C for these dtypes"
    floats = [result for _, result in found if result.startswith("float")]
    assert not floats or op.derivative is not None, f"{name} has no derivative"
    if isinstance(op.derivative, tuple):
        assert len(op.derivative) == op.arity


# --- classes from outside


@dataclass(frozen=True)
class Doubled(TensorOp):
    """2 x, with no more than the two methods that are required."""

    name = "doubled"

    def infer(self, inputs):
        return (inputs[0].type,)

    def evaluate(self, x):
        return (2 * x,)


def test_errors_name_the_facet_and_where_to_add_it(tmp_path):
    x, m = T.vector("x"), T.matrix("m")
    assert missing(Doubled) == ("lengths", "derivative", "batching", "planner", "work")
    with pytest.raises(NoGradient) as no_gradient:
        ag.grad(Doubled()(x).sum(), x)
    assert "doubled has no derivative; define vjp(self, node, cotangents) in Doubled (" in str(no_gradient.value)
    assert "test_facets.py" in str(no_gradient.value)
    with pytest.raises(NoBatch, match=r"it has no batching rule; ag.register_op\(Doubled, batching=rule\)"):
        ag.vmap(Doubled())(m)
    with pytest.raises(NoBatch, match=r"arange .*no batching rule: its lengths would differ from one example"):
        ag.vmap(T.arange)(T.lvector("n"))
    f = ag.function([x], Doubled()(x) + 1)
    if f.backend == "c":
        add = "; ag.register_op(Doubled, planner=plan)"
        assert f"doubled has no C; the call goes back to NumPy for it{add}" in str(f.remarks)
        with pytest.raises(ValueError, match=r"no C for doubled .*which Python runs; ag.register_op\(Doubled, planner"):
            f.export(tmp_path)
    np.testing.assert_array_equal(f([1.0]), [3.0])


def test_a_class_from_outside_registers_facets():
    class Mine(Doubled):
        """A class of this test alone."""

    assert ag.register_op(Mine, batching=lambda node, inputs, flags, examples: node.op(*inputs)) is Mine
    m = T.matrix("m")
    np.testing.assert_array_equal(ag.vmap(Mine())(m).eval({m: [[1.0, 2.0]]}), [[2, 4]])
    assert facet_of(Mine, "batching") and missing(Mine) == ("lengths", "derivative", "planner", "work")
    assert facet_of(Doubled, "batching") is None and Mine in classes_with("batching")
    with pytest.raises(ValueError, match="register_op: Mine has a batching rule already"):
        ag.register_op(Mine, batching=None)
    with pytest.raises(TypeError, match="'gradient' is no facet; expected one of batching, planner, work"):
        ag.register_op(Mine, gradient=None)
    with pytest.raises(TypeError, match="expected a class derived from Op, got 3"):
        ag.register_op(3)
