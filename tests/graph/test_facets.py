"""One place an op: classes have all facets or a reason, elementwise ops all fields; errors say what is missing."""

import importlib
import importlib.util
import pkgutil
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
import test_vocabulary

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.scalars import form_of
from arignote.cbackend.ir.loops import Local, ScalarOp
from arignote.cbackend.program.planned import planned, planners
from arignote.engines.estimates import numpy_cost, work_of
from arignote.graph import DTYPES, Kind, Lacks, NoGradient, Op
from arignote.graph.facets import FACETS, classes_of, facet_of, missing, reason
from arignote.graph.picture import headline
from arignote.ops import ELEMENTWISE, TensorOp
from arignote.ops.control.batching import NoBatch
from arignote.ops.lowered.formats.sparse_vectors import SparseVectors
from arignote.pages.theme import KINDS

OPTIONAL = ("IPython", "dask", "onnx", "onnxruntime", "pyopencl", "cuda", "nnef", "nutpie", "pytensor", "torch")
"""Packages without which some of our modules do not load."""
if importlib.util.find_spec("pytensor"):
    importlib.import_module("pytensor")  # before the first test: it sets the recursion limit and a hook of sys


def classes():
    """Each class of ops of the package that is applied: a leaf, or one with a name."""
    for module in pkgutil.walk_packages(ag.__path__, "arignote."):
        if module.name.endswith("__main__"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # of ArviZ, which PyMC loads
                importlib.import_module(module.name)
        except ImportError as error:
            if (error.name or "").partition(".")[0] not in OPTIONAL:
                raise
    found = [kind for kind in classes_of(Op) if kind.__module__.startswith("arignote.")]
    applied = [kind for kind in found if hasattr(kind, "name") or not kind.__subclasses__()]
    return sorted(applied, key=lambda kind: (kind.__module__, kind.__name__))


@pytest.mark.long
def test_every_class_has_each_facet_or_says_why_not():
    found = classes()
    assert {T.Attention, T.PackedProduct, T.Reduce, T.InPlace, T.Scan} < set(found)
    lacking = {kind.__name__: names for kind in found if (names := unanswered(kind))}
    assert not lacking, f"add these facets, or reasons in `lacks`: {lacking}"


def unanswered(kind):
    """The facets that a class lacks; the C engine has planners and counts of operations in a table of its own."""
    in_table = {"planner", "work"} if planned(kind) is not None else set()
    return [name for name in missing(kind) if name not in in_table]


def test_no_class_states_a_reason_for_a_facet_that_it_defines():
    for kind in classes():
        stated = vars(kind)["lacks"].reasons if "lacks" in vars(kind) else {}
        in_table = {"planner", "work"} if kind in planners() else set()
        stale = [name for name in stated if FACETS[name].attribute in vars(kind) or name in in_table]
        assert not stale, f"{kind.__name__} has {stale}, and a reason to have none"


def test_planner_modules_name_the_classes_that_they_plan():
    """Else their planners would not be found: modules that do not name a class are not imported for it."""
    for kind, found in planners().items():
        assert planners(kind.__name__)[kind] == found, kind


# --- facets of all ops that the zoo shows


def nodes():
    """A node of each op: those of the zoo, in the graphs inside them as well."""
    return [node for v in test_vocabulary.ZOO for node in test_vocabulary.graph_of(v).order]


PRODUCTS = """
    attention bfloat_attention bfloat_convolution bfloat_dot blocked_convolution blocked_kernel_gradient
    byte_convolution byte_product convolution convolution_pair dot dot22 dot22scalar fused_product gemm gemv ger
    kernel_gradient matmul nibble_product packed_bfloat_dot packed_dot sparse_across sparse_columns sparse_dot
    sparse_entries sparse_rows sparse_values two_of_four widened_dot
"""


def test_products_convolutions_and_attention_are_drawn_as_products():
    kinds = {node.op.name: headline(node.op)[1] for node in nodes()}
    assert {name for name, kind in kinds.items() if kind == "product"} == set(PRODUCTS.split())
    wanted = {
        "softmax": "reduction", "blocked_pool": "reduction", "to_blocks": "shape", "solve": "other", "scan": "fused",
        "add": "elementwise", "quantize": "elementwise", "subtensor": "index", "top": "reduction",
    }  # fmt: skip
    assert {name: kinds[name] for name in wanted} == wanted
    assert {kind.value for kind in Kind} <= set(KINDS)


def test_products_cost_operations():
    for node in nodes():
        if headline(node.op)[1] == "product":
            work = work_of(node)
            assert work.kind in ("product", "window") and work.operations > 0, node.op.name
            assert numpy_cost(node) > 0


def test_a_sparse_product_costs_what_is_stored():
    x, w, at = T.matrix("x", shape=(100, 64)), T.tensor("w", dtype="float64", shape=(80,)), T.ivector("at")
    sparse = work_of(T.PackedProduct(SparseVectors(64, 32, 8))(x, w, at, at).owner)
    dense = work_of(T.dot(x, T.matrix(shape=(64, 32))).owner)
    assert (sparse.operations, dense.operations) == (2 * 100 * 80, 2 * 100 * 64 * 32)


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
    assert missing(Doubled) == ("lengths", "derivative", "batching", "operations", "picture", "planner", "work")
    with pytest.raises(NoGradient) as no_gradient:
        ag.grad(Doubled()(x).sum(), x)
    assert "doubled has no derivative; define vjp(self, node, cotangents) in Doubled (" in str(no_gradient.value)
    assert "test_facets.py" in str(no_gradient.value)
    with pytest.raises(NoBatch, match=r"it has no batching rule; define batching\(self, node, .*\) in Doubled \("):
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
    assert facet_of(Mine, "batching") and "batching" not in missing(Mine)
    assert facet_of(Doubled, "batching") is None and headline(Doubled()) == ("doubled", "other")
    with pytest.raises(ValueError, match="register_op: Mine has a batching rule already"):
        ag.register_op(Mine, batching=None)
    with pytest.raises(TypeError, match="'gradient' is no facet; expected one of batching, planner, work"):
        ag.register_op(Mine, gradient=None)
    with pytest.raises(TypeError, match="expected a class derived from Op, got 3"):
        ag.register_op(3)


def test_a_reason_is_that_of_the_nearest_class():
    class Base(Doubled):
        """A class that says why it is not batched."""

        lacks = Lacks(batching="it is a test")

    class Able(Base):
        """A class that is."""

        def batching(self, node, inputs, flags, examples):
            return self(*inputs)

    assert reason(Base, "batching") == "it is a test" and "batching" not in missing(Base)
    assert reason(Able, "batching") == "" and facet_of(Able, "batching") is Able.batching
    with pytest.raises(NoBatch, match="no batching rule: it is a test"):
        ag.vmap(Base())(T.matrix("m"))
    with pytest.raises(TypeError, match="Lacks: 'gradient' is no facet; expected one of type_rule, meaning"):
        Lacks(gradient="")
