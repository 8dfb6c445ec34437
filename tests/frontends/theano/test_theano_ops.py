"""Ops and rules that programs define in Theano's way."""

import numpy as np
import pytest

from arignote.frontends import theano
from arignote.frontends.theano.graphs import optimizers

T, gof = theano.tensor, theano.gof


class AXPlusB(theano.Op):
    """a x + b."""

    __props__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b

    def make_node(self, x):
        x = T.as_tensor_variable(x)
        return gof.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = self.a * inputs[0] + self.b

    def infer_shape(self, node, i0_shapes):
        return i0_shapes

    def grad(self, inputs, output_grads):
        return [self.a * output_grads[0]]


class SumDiff(theano.Op):
    """Sum and difference of two vectors."""

    itypes, otypes = [T.dvector, T.dvector], [T.dvector, T.dvector]
    __props__ = ()

    def perform(self, node, inputs, output_storage):
        output_storage[0][0], output_storage[1][0] = inputs[0] + inputs[1], inputs[0] - inputs[1]

    def L_op(self, inputs, outputs, output_grads):
        plus, minus = output_grads
        return [plus + minus, plus - minus]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_an_op_computes_and_has_a_derivative(mode):
    x, y = T.dvector("x"), T.dvector("y")
    double = AXPlusB(2, 1)
    z = double(x)
    assert z.owner.op == AXPlusB(2, 1) != AXPlusB(2, 2)
    assert (str(double), z.owner.inputs, z.owner.nout) == ("AXPlusB{a=2, b=1}", [x], 1)
    plus, minus = SumDiff()(z, y)
    cost = (plus * minus).sum()  # z^2 - y^2
    f = theano.function([x, y], [T.exp(z), cost, *T.grad(cost, [x, y])], mode=mode)
    found = f([0.5, 1.0], [3.0, 4.0])
    np.testing.assert_allclose(found[0], np.exp([2.0, 3.0]))
    np.testing.assert_allclose(found[1], -12.0)
    np.testing.assert_allclose(found[2], [8.0, 12.0])
    np.testing.assert_allclose(found[3], [-6.0, -8.0])
    theano.gradient.verify_grad(lambda v: double(v) ** 2, [np.array([0.3, -2.0])], mode=mode)


def test_functions_of_arrays_as_ops():
    @theano.compile.ops.as_op(itypes=[T.dmatrix, T.dmatrix], otypes=[T.dmatrix])
    def product(a, b):
        return a @ b

    x = T.dmatrix("x")
    f = theano.function([x], product(x, x.T) + 1)
    np.testing.assert_array_equal(f([[1.0, 2.0]]), [[6.0]])
    with pytest.raises(TypeError, match=r"expected inputs of types .*matrix"):
        product(T.dvector(), x)


def test_mistakes_in_ops():
    class Wrong(AXPlusB):
        def perform(self, node, inputs, output_storage):
            if self.a:
                output_storage[0][0] = inputs[0].astype("float32")

    class InC(theano.Op):
        def make_node(self, x):
            return gof.Apply(self, [x], [x.type()])

        def c_code(self, node, name, inputs, outputs, sub):
            return ""

    x = T.dvector("x")
    with pytest.raises(TypeError, match="gave float32 of rank 1 as output 0"):
        theano.function([x], Wrong(1, 2)(x))([1.0])
    with pytest.raises(TypeError, match="left output 0 empty"):
        theano.function([x], Wrong(0, 2)(x))([1.0])
    with pytest.raises(NotImplementedError, match=r"C code alone.*write perform"):
        InC()(x)
    broken = AXPlusB(1, 2)
    broken.grad = lambda inputs, grads: [theano.gradient.grad_undefined(broken, 0, inputs[0], "It has kinks.")]
    with pytest.raises(theano.gradient.NullTypeGradError, match=r"is not defined\. It has kinks"):
        T.grad(broken(x).sum(), x)


def test_expressions_as_ops():
    x, y, z = T.dscalars("xyz")
    op = theano.OpFromGraph([x, y], [x + y * 2, x * y])
    first, second = op(z, z + 1)
    assert theano.function([z], [first, second, T.grad(second, z)])(3.0) == [11.0, 12.0, 7.0]
    halved = theano.OpFromGraph([x, y], [x * y], grad_overrides=lambda inputs, grads: [grads[0] / 2, grads[0]])
    assert theano.function([z], [halved(z, z), T.grad(halved(z, z), z)])(3.0) == [9.0, 1.5]
    with pytest.raises(TypeError, match="takes 2 inputs, got 1"):
        op(z)


@pytest.fixture
def rules():
    yield optimizers.registered
    optimizers.registered.clear()


def test_rules_of_programs(rules):
    x = T.dvector("x")

    @gof.local_optimizer([T.exp])
    def local_log_exp_to_x(node):
        if node.op != T.exp or node.inputs[0].owner is None or node.inputs[0].owner.op != AXPlusB(2, 1):
            return False
        return [node.inputs[0].owner.inputs[0] * 100]

    assert local_log_exp_to_x.transform(T.exp(x).owner) is False
    theano.compile.optdb.register("mine", gof.TopoOptimizer(local_log_exp_to_x), 1.2, "fast_run")
    swap = gof.PatternSub((T.add, (T.sin, "a"), (T.sin, "a")), (T.mul, 3.0, (T.sin, "a")), name="thrice")
    T.opt.register_canonicalize(swap)
    f = theano.function([x], [T.exp(AXPlusB(2, 1)(x)), T.sin(x) + T.sin(x), T.sin(x) + T.sin(x + 1)])
    found = f([1.0])
    assert found[0].tolist() == [100.0]
    np.testing.assert_allclose(found[1:], [3 * np.sin([1.0]), np.sin([1.0]) + np.sin([2.0])])
    assert "local_log_exp_to_x" in str(f.core.optimizer_profile)
    excluded = theano.function([x], T.sin(x) + T.sin(x), mode=theano.compile.Mode(optimizer="None"))
    np.testing.assert_allclose(excluded([1.0]), 2 * np.sin([1.0]))
    rules.clear()
    T.opt.register_specialize(gof.OpSub(T.sin, T.cos))
    np.testing.assert_allclose(theano.function([x], T.sin(x))([1.0]), np.cos([1.0]))
    with pytest.raises(TypeError, match="is no rule of a node"):
        theano.compile.optdb.register("graph", object(), "fast_run")
    with pytest.raises(KeyError, match="no group 'nowhere'"):
        theano.compile.optdb["nowhere"]


def test_nodes_have_classes_of_theano():
    x = T.dmatrix("x")
    kinds = {"Elemwise": T.exp(x), "Sum": x.sum(), "DimShuffle": x.T, "Subtensor": x[0], "Dot": T.dot(x, x)}
    for name, e in kinds.items():
        found = [other for other in kinds if isinstance(e.owner.op, getattr(T, other))]
        assert found == [name]
    assert T.DimShuffle((False, False), (1, "x", 0))(x).broadcastable == (False, True, False)
    with pytest.raises(NotImplementedError, match=r"use T\.dot"):
        T.Dot()
    assert {n.op for n in gof.graph.io_toposort([x], [T.exp(x) + x])} == {T.exp, T.add}
