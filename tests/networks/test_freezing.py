"""`ag.freeze`: inference functions equal to the inference meaning of training graphs, and clear refusals."""

import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote import optim
from arignote.graph import Constant
from arignote.ops.networks.phases import ByPhase

RNG = np.random.default_rng(3)
X = RNG.standard_normal((20, 1, 8, 8)).astype("float32")
Y = RNG.integers(0, 10, 20)


def parameter(*shape):
    return ag.shared((RNG.standard_normal(shape) * 0.2).astype("float32"), shape=shape)


def vector(number):
    return ag.shared(np.full(8, number, "float32"))


class Network:
    """Convolution, batch normalization, dropout, product; `inference` writes the inference meaning by hand."""

    def __init__(self):
        self.kernels, self.weights = parameter(8, 1, 3, 3), parameter(8 * 16, 10)
        self.gamma, self.beta, self.mean, self.variance = vector(1.5), vector(0.25), vector(0), vector(1)
        self.stream = T.random.RandomStream(3)
        self.x, self.y = T.tensor("x", "float32", (None, 1, 8, 8)), T.lvector("y")
        self.logits = self.of(self.x, training=True)
        self.loss = T.nn.softmax_crossentropy(self.logits, self.y).mean()
        own = [self.kernels, self.weights, self.gamma, self.beta]
        self.updates = optim.sgd(own, ag.grad(self.loss, own), np.float32(0.1)) + T.nn.running_updates(self.loss)
        self.step = ag.function([self.x, self.y], self.loss, updates=self.updates, name="step")

    def of(self, x, training):
        h, pair = T.nn.conv2d(x, self.kernels, padding=1), (self.mean, self.variance)
        h = (
            T.nn.batch_norm(h, self.gamma, self.beta, running=pair)
            if training
            else T.nn.batch_norm(h, self.gamma, self.beta, *pair)
        )
        h = T.reshape(T.nn.max_pool2d(T.relu(h), 2), (T.shape(x)[0], -1))
        return (T.nn.dropout(h, 0.3, self.stream) if training else h) @ self.weights


@pytest.fixture(scope="module")
def network():
    made = Network()
    made.step(X, Y)
    return made


@pytest.mark.long
def test_it_equals_the_inference_meaning_before_and_after_more_training(network):
    by_hand = ag.function([network.x], network.of(network.x, training=False), mode="NUMPY")
    first = ag.freeze(network.step, network.logits)
    np.testing.assert_allclose(first(X), by_hand(X), rtol=2e-5, atol=2e-5)
    before, calls = first(X), network.stream.states[0].get_value()
    network.step(X, Y)
    np.testing.assert_array_equal(first(X), before)
    again = ag.freeze(network.step, network.logits)
    np.testing.assert_allclose(again(X), by_hand(X), rtol=2e-5, atol=2e-5)
    assert np.abs(again(X) - before).max() > 1e-3
    assert again.from_cache or again.backend == "numpy"
    assert network.stream.states[0].get_value()[1] == calls[1] + 1, "freezing draws nothing"


@pytest.mark.long
def test_the_frozen_graph_has_constant_folded_weights(network):
    f = ag.freeze(network.step, network.logits, mode="fast_run -fusion -inplace")
    assert not f.shared
    assert [i.name for i in f.inputs] == ["x"]
    names = {node.op.name for node in f.graph.order if node.out.ndim > 1}
    assert not names & {"mul", "true_div", "sqrt", "threefry", "by_phase"}


@pytest.mark.parametrize("mode", ["NUMPY", "fast_compile", "FAST_RUN"])
def test_each_source_and_form(network, mode):
    x, W = T.fmatrix("x"), ag.shared(np.eye(3, dtype="float32") * 2)
    y = T.nn.dropout(x @ W, 0.5, network.stream)
    a = np.arange(6, dtype="float32").reshape(2, 3)
    sources = [y, ag.function([x], y, mode="NUMPY"), ag.FunctionGraph([x, W, network.stream.states[-1]], [y])]
    one, two, three = (ag.freeze(s, mode=mode) for s in sources)
    for result in (one(a), two(a), three(a)[0]):
        np.testing.assert_array_equal(result, 2 * a)
    assert list(ag.freeze({"y": y}, mode=mode)(a)) == ["y"]
    keyed = ag.function([x], {"y": y, "z": -y}, mode="NUMPY")
    assert list(ag.freeze(keyed, mode=mode)(a)) == ["y", "z"]
    assert ag.freeze(keyed).mode == keyed.mode
    assert ag.freeze(y, inputs=x, name="given", mode=mode).name == "given"


def test_bodies_of_loops_and_branches_are_frozen():
    x, stream = T.vector("x"), T.random.RandomStream(1)
    state, _ = ag.scan(lambda s: T.nn.by_phase(s * 2, s + 1), outputs_info=x, n_steps=3)
    chosen = ag.cond(x[0] > 0, lambda: T.nn.by_phase(x, -x), lambda: x)
    f = ag.function([x], [state[-1], chosen, T.nn.dropout(x, 0.1, stream)], mode="NUMPY")
    np.testing.assert_array_equal(f(np.ones(2))[:2], [[8, 8], [1, 1]])
    np.testing.assert_array_equal(ag.freeze(f)(np.ones(2)), [[4, 4], [-1, -1], [1, 1]])


def test_by_phase_is_the_training_value_and_brings_updates():
    x, count = T.vector("x"), ag.shared(0.0)
    y = T.nn.by_phase(T.exp(x), T.nn.by_phase(x, x + 1), updates={count: count + 1})
    f = ag.function([x], [y, ag.grad(y.sum(), x)], updates=T.nn.running_updates(y))
    for result in f(np.ones(2)):
        np.testing.assert_allclose(result, np.e)
    assert count.get_value() == 1
    assert not any(isinstance(op, ByPhase) for op in f.graph.ops)
    np.testing.assert_array_equal(ag.freeze(y)(np.ones(2)), [2, 2])


def test_running_averages_move_towards_those_of_the_batch():
    x, one = T.matrix("x"), np.ones(3)
    mean, variance = ag.shared(np.zeros(3)), ag.shared(np.ones(3))
    y = T.nn.batch_norm(x, one, one, running=(mean, variance), momentum=0.25)
    a = RNG.standard_normal((5, 3))
    ag.function([x], y, updates=T.nn.running_updates([y, y]), mode="NUMPY")(a)
    np.testing.assert_allclose(mean.get_value(), 0.25 * a.mean(0))
    np.testing.assert_allclose(variance.get_value(), 0.75 + 0.25 * a.var(0))


x, v, m = T.matrix("x"), ag.shared(np.ones(3)), ag.shared(np.ones((2, 2)), name="m")
drawn = T.random.RandomStream(1).normal(size=3) + x
nothing = ag.function([], updates=[(v, v + 1)], outputs=None, mode="NUMPY")
given = ag.function([v2 := T.dvector("v2")], (v * x.sum()).sum(), givens={x: T.outer(v2, v2)}, mode="NUMPY")
MISTAKES = {
    "a draw": (lambda: ag.freeze(drawn), ValueError, "depends on random_state_0.*no constant; write T.nn.by_phase"),
    "no source": (lambda: ag.freeze(3), TypeError, "freeze: expected a function, expressions or .*, got 3"),
    "no variable": (lambda: ag.freeze([x, 3]), TypeError, "freeze: output 1 is 3; expected a variable"),
    "no results": (lambda: ag.freeze(nothing), ValueError, "freeze: function returns nothing; name values"),
    "a stranger": (lambda: ag.freeze(given, x + 1), ValueError, "is no value of function: givens replaced"),
    "outputs of an expression": (lambda: ag.freeze(x, x), TypeError, "give the expressions alone"),
    "dtype": (lambda: T.nn.by_phase(x, x.astype("float32")), TypeError, "does not have the dtype and rank"),
    "no shared variable": (lambda: T.nn.by_phase(x, x, [(x, x)]), TypeError, "a variable made by ag.shared"),
    "an update": (lambda: T.nn.by_phase(x, x, {v: x}), TypeError, "by_phase: the update of .* has another dtype"),
    "twice": (
        lambda: T.nn.running_updates([T.nn.by_phase(x, x, {v: v + n}) for n in (1, 2)]), ValueError, "two new values"
    ),
    "no expression": (lambda: T.nn.running_updates([3]), TypeError, "running_updates: expected a variable .*, got 3"),
    "running beside": (lambda: T.nn.batch_norm(x, v, v, v, v, running=(v, v)), TypeError, "leave these out"),
    "running": (lambda: T.nn.batch_norm(x, v, v, running=(v, m)), TypeError, "expected two shared vectors"),
    "running dtype": (
        lambda: T.nn.batch_norm(x.astype("float32"), v, v, running=(v, v)), TypeError, "expected the dtype of x"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    call, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        call()


def test_transposed_weights_share_their_memory_and_borrowed_ones_that_of_the_variable():
    numbers = RNG.standard_normal((160, 200)).astype("float32")
    w, x, places = ag.shared(numbers), T.fvector("x"), T.lvector("places")
    given = RNG.standard_normal(160).astype("float32"), np.array([3, 1, 199])
    for borrow in (False, True):
        f = ag.freeze(T.take(w.T, places, axis=0) * x, inputs=[x, places], borrow=borrow)
        (transposed,) = [v.data for n in f.graph.order for v in n.inputs if isinstance(v, Constant) and v.ndim == 2]
        assert transposed.shape == (200, 160) and transposed.strides == (4, 800)
        assert np.shares_memory(transposed, w.get_value(borrow=True)) is borrow
        for again in (f, pickle.loads(pickle.dumps(f))):
            np.testing.assert_array_equal(again(*given), numbers.T[given[1]] * given[0])
