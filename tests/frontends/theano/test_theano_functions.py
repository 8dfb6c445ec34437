"""`theano.function`, shared variables, scan, gradients, copies and texts, as Theano's programs use them."""

import io
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

from arignote.frontends import theano
from arignote.frontends.theano import flags as module

T = theano.tensor


def test_inputs_with_values_names_and_updates():
    x, y, w = T.dscalars("x", "y", "w")
    f = theano.function([x, theano.In(y, value=1.0), theano.In(w, value=2, name="weight")], (x + y) * w)
    assert (f(33.0), f(33.0, 2.0), f(33.0, 0, 1), f(33, weight=1), f(33, weight=1, y=0)) == (68, 70, 33, 34, 33)
    assert theano.function([x, theano.Param(y, default=5.0)], x - y)(1.0) == -4
    total = T.dscalar("total")
    count = theano.function([x, theano.In(total, value=10.0, update=total + x)], total)
    assert [count(1.0), count(2.0), count(0.0)] == [10, 11, 13]
    with pytest.raises(TypeError, match="has no input 'z'"):
        f(1.0, z=1)
    with pytest.raises(TypeError, match="input x has no value"):
        f(y=1.0)


def test_outputs_updates_and_givens():
    x, y = T.dvectors("x", "y")
    state, other = theano.shared(0, name="state"), theano.shared(np.array([1.0, 2.0]))
    f = theano.function([x], {"sum": x.sum(), "both": x + y}, givens=[(y, other)],
                        updates=[(state, state + 1), (other, other * 2)])  # fmt: skip
    first, second = f([1.0, 1.0]), f([1.0, 1.0])
    assert (first["sum"], first["both"].tolist(), second["both"].tolist()) == (2.0, [2, 3], [3, 5])
    assert (state.get_value(), other.get_value().tolist()) == (2, [4, 8])
    assert theano.function([], [theano.Out(state, borrow=True)])() == [2]
    assert theano.function([], updates={state: 0})() is None
    assert state.get_value() == 0
    assert theano.function([x], x.sum(), givens={state: np.int64(3)}, on_unused_input="ignore")([1.0]) == 1
    z = T.fscalar("z")
    cast = theano.function([], z, givens={z: other.sum()}, rebuild_strict=False)
    assert cast().dtype == np.float32
    for wrong, error, words in (
        (lambda: theano.function([x], y), theano.compile.function_module.MissingInputError, "depend on y"),
        (lambda: theano.function([x, y], x), theano.compile.UnusedInputError, "nothing depends on y"),
        (lambda: theano.function(x, x), TypeError, "list of variables"),
        (lambda: theano.function([x], x, updates=[(state, state + 1.5)]), TypeError, r"int64.*astype\('int64'\)"),
        (lambda: theano.function([], z, givens={z: other.sum()}), TypeError, "write .astype"),
        (lambda: theano.function([x], x, mode="FAST"), ValueError, "no mode is named 'FAST'"),
    ):
        with pytest.raises(error, match=words):
            wrong()


def test_errors_name_the_line_and_the_fix():
    x, y = T.dmatrices("x", "y")
    z = T.dot(x, y)
    f = theano.function([x, y], z, mode="FAST_COMPILE")
    for wrong, error, words in (
        (lambda: f(np.ones((2, 3)), np.ones((2, 3))), ValueError, r"x \(2, 3\), y(?s:.*)test_theano_functions"),
        (lambda: theano.function([x], updates={x: x}), TypeError, r"key x; expected a variable made by theano.shared"),
        (lambda: theano.scan(lambda a, b: a, sequences=x), TypeError, r"fn takes 2 arguments \(a, b\), and is given 1"),
        (lambda: theano.scan(z.dimshuffle, sequences=x[0, 0]), TypeError, "no axis to iterate over"),
        (lambda: T.cast(x, "float31"), TypeError, "'float31' is no dtype; expected one of bool"),
        (lambda: T.zeros((2, 3))[5], IndexError, "out of bounds"),
    ):
        with pytest.raises(error, match=words):
            wrong()


def test_casts_of_arguments():
    x = T.fvector("x")
    f = theano.function([x], x * 2)
    assert f([1, 2]).tolist() == [2, 4]
    with pytest.raises(TypeError, match="float64"):
        f(np.ones(2))
    count = theano.function([n := T.TensorType("uint8", ())("n")], n * 2)
    assert [count(1.0), count(np.float64(2)), count(3)] == [2, 4, 6]
    with pytest.raises(TypeError, match="without loss"):
        count(1.5)
    assert theano.function([x], x, allow_input_downcast=True)(np.ones(2)).dtype == np.float32
    with pytest.raises(ValueError, match="shape"):
        theano.function([r := T.row("r")], r.sum())(np.ones((2, 2)))


def test_shared_variables():
    w = theano.shared(np.ones((2, 2), dtype="float32"), name="w", borrow=True)
    assert (w.dtype, w.ndim, w.name, str(w), w.get_value().tolist()) == ("float32", 2, "w", "w", [[1, 1], [1, 1]])
    w.set_value(np.zeros((3, 2), "float32"))
    assert w.get_value(borrow=True).shape == (3, 2)
    with pytest.raises(TypeError):
        w.set_value(np.zeros(3, "float32"))
    twin = pickle.loads(pickle.dumps(w))
    assert (twin.name, twin.get_value().shape, twin is w) == ("w", (3, 2), False)
    n = theano.shared(3)
    n.default_update = n + 1
    f, still = theano.function([], n * 2), theano.function([], n * 2, no_default_updates=True)
    assert [f(), f(), still(), still(), f()] == [6, 8, 10, 10, 10]
    assert isinstance(w, T.sharedvar.TensorSharedVariable) and not isinstance(w, T.TensorVariable)
    with pytest.raises(TypeError, match="is symbolic"):
        theano.shared(w + 1)


def test_functions_are_pickled(tmp_path):
    x, w = T.dvector("x"), theano.shared(np.array([2.0, 3.0]), name="w")
    f = theano.function([x, theano.In(y := T.dscalar("y"), value=1.0)], (x * w).sum() + y, updates=[(w, w + 1)])
    assert f([1.0, 1.0]) == 6
    g = pickle.loads(pickle.dumps(f))
    assert (g([1.0, 1.0]), g([1.0, 1.0], y=0.0), f([1.0, 1.0])) == (8, 9, 8)


@pytest.mark.long
def test_scans():
    k, A, v = T.iscalar("k"), T.dvector("A"), T.dvector("v")
    power, updates = theano.scan(lambda before, A: before * A, None, T.ones_like(A), A, n_steps=k)
    assert not updates
    poly, _ = theano.scan(lambda c, n, x: c * x**n, [v, T.arange(100)], None, A[1])
    fib, _ = theano.scan(lambda a, b: a + b, outputs_info=[dict(initial=v[:2], taps=[-2, -1])], n_steps=4)  # noqa: C408
    pairs, _ = theano.scan(lambda now, last: now - last, sequences=dict(input=v, taps=[0, -1]), outputs_info=[])  # noqa: C408
    stop, _ = theano.scan(lambda x: (x * 2, theano.scan_module.until(x * 2 > 20)), outputs_info=A[1], n_steps=50)
    (up, down), _ = theano.scan(lambda x, s, p: [s + x, p * x], v, [T.constant(0.0, dtype="float64"), A[1]])
    back, _ = theano.scan(lambda x, s: s + x, v, T.zeros_like(v[0]), go_backwards=True, return_list=True)
    state = theano.shared(0)
    counted, moved = theano.scan(lambda: (state + 1, {state: state + 2}), n_steps=3)
    mapped, _ = theano.map(lambda x: x + 1, v)
    summed, _ = theano.reduce(lambda x, s: x + s, v, T.zeros_like(v[0]))
    folded, _ = theano.foldr(lambda x, s: s * 2 + x, v, T.zeros_like(v[0]))
    outputs = [power[-1], poly.sum(), fib, pairs, stop[-1], up, down[-1], back[0], counted, mapped, summed, folded]
    slope = T.grad(power[-1].sum(), A)
    f = theano.function([k, A, v], [*outputs, slope], updates=moved)
    found = f(3, [1.0, 2.0], [1.0, 2, 3])
    wanted = [[1, 8], 17, [3, 5, 8, 13], [1, 1], 32, [1, 3, 6], 12, [3, 5, 6], [1, 3, 5], [2, 3, 4], 6, 17, [3, 12]]
    for n, (a, b) in enumerate(zip(found, wanted)):
        np.testing.assert_allclose(a, b, err_msg=str(n))
    assert state.get_value() == 6
    with pytest.raises(ValueError, match=r"strict=True.*w.*non_sequences"):
        theano.scan(lambda x: x * theano.shared(2.0, name="w"), v, strict=True)


def test_lazy_choices():
    c, x = T.dscalar("c"), T.dvector("x")
    ifelse = theano.ifelse.ifelse
    f = theano.function([c, x], [ifelse(T.lt(c, 0), x * 2, x - 1), *ifelse(c, [x, c], [x[::-1], -c])])
    assert [v.tolist() for v in f(-1.0, [1.0, 2.0])] == [[2, 4], [1, 2], -1]
    assert [v.tolist() for v in f(0.0, [1.0, 2.0])] == [[0, 1], [2, 1], 0]
    with pytest.raises(TypeError, match="expected equal types"):
        ifelse(c, x, T.dmatrix())


def test_gradients():
    x, w, i = T.dvector("x"), theano.shared(np.array([1.0, 2.0]), name="w"), T.ivector("i")
    cost = ((x * w) ** 2).sum()
    hidden = x * w
    wanted = {
        "list": T.grad(cost, [x, w])[1], "known": T.grad(None, x, known_grads={hidden: T.ones_like(hidden)}),
        "constant": T.grad((hidden * x).sum(), x, consider_constant=[hidden]),
        "integer": T.grad((x[i] ** 2).sum(), i), "zero": T.grad(w.sum(), x, disconnected_inputs="ignore"),
        "discrete": T.grad((x > 0).sum(), x),
        "jacobian": theano.gradient.jacobian(x**2, x), "hessian": theano.gradient.hessian(cost, x),
        "R": T.Rop(x**2, x, T.ones_like(x)), "L": T.Lop(x**3, x, T.ones_like(x)),
    }  # fmt: skip
    f = theano.function([x, i], list(wanted.values()))
    found = dict(zip(wanted, f([3.0, 4.0], [0, 1])))
    expected = {"list": [18, 64], "known": [1, 2], "constant": [3, 8], "integer": [0, 0], "zero": [0, 0],
                "discrete": [0, 0], "R": [6, 8],
                "jacobian": [[6, 0], [0, 8]], "hessian": [[2, 0], [0, 8]], "L": [27, 48]}  # fmt: skip
    for name, numbers in expected.items():
        np.testing.assert_allclose(found[name], numbers, err_msg=name)
    with pytest.raises(theano.gradient.DisconnectedInputError, match="not computed from z"):
        T.grad(cost, T.dscalar("z"))
    with pytest.warns(UserWarning, match="not computed from z"):
        T.grad(cost, T.dscalar("z"), disconnected_inputs="warn")
    for wrong, words in ((x, "cost must be a scalar"), (T.zscalar(), "real scalar")):
        with pytest.raises(TypeError, match=words):
            T.grad(wrong, x)
    bent = lambda v: theano.gradient.grad_scale(v, 2.0) ** 2  # noqa: E731
    with pytest.raises(theano.gradient.GradientError, match="argument 0"):
        theano.gradient.verify_grad(bent, [np.array([1.0])], mode="FAST_COMPILE")


def test_copies_walks_and_texts(tmp_path):
    x, y, w = T.dvector("x"), T.dvector("y"), theano.shared(np.ones(2), name="w")
    e = T.exp(x + w)
    graph = theano.gof.graph
    assert set(graph.inputs([e])) == {x, w}
    assert graph.ancestors([e])[0] is e and e.owner.inputs[0].owner.inputs == [x, w]
    f = theano.function([y], theano.clone(e, {x: y * 2}))
    np.testing.assert_allclose(f([0.0, 1.0]), np.exp([1.0, 3.0]))
    assert graph.is_same_graph(T.exp(x + w), e)
    assert not graph.is_same_graph(T.exp(w + x), e)
    assert graph.is_same_graph(T.exp(y + w), e, givens={y: x})
    assert theano.pp(e) == "exp(x + w)"
    text = io.StringIO()
    theano.printing.debugprint(e, file=text)
    assert text.getvalue().startswith("exp [id 0]") and theano.printing.debugprint(f, file="str").count("\n") > 2
    assert ElementTree.fromstring(theano.printing.pydotprint(f)).tag.endswith("svg")
    drawn = theano.printing.pydotprint(e, outfile=str(tmp_path / "graph.png"))
    assert drawn.suffix == ".svg" and "exp" in drawn.read_text()
    assert [n.op for n in theano.function([x], e).maker.fgraph.toposort()]
    with pytest.raises(TypeError, match="cast it"):
        theano.clone(e, {x: T.fvector()})


def test_values_for_a_test(flags):
    x, w = T.dvector("x"), theano.shared(np.ones((2, 3)), name="w")
    x.tag.test_value = np.array([1.0, 2.0])
    flags.compute_test_value = "raise"
    y = T.dot(x, w) * 2
    assert y.tag.test_value.tolist() == [6, 6, 6]
    assert T.grad(y.sum(), x).tag.test_value.tolist() == [6, 6]
    with pytest.raises(ValueError, match=r"shape|align"):
        T.dot(w, x)
    with pytest.raises(AttributeError, match=r"z .* has no test value"):
        T.dvector("z") + 1
    flags.compute_test_value = "warn"
    with pytest.warns(UserWarning, match="has no test value"):
        z = T.dvector("z") + 1
    flags.compute_test_value = "ignore"
    assert not hasattr((z + 1).tag, "test_value")


def test_printed_values(capsys):
    x = T.dvector("x")
    shown = theano.printing.Print("x is")(x)
    f = theano.function([x], T.grad((shown**2).sum(), x))
    assert f([1.0, 2.0]).tolist() == [2, 4]
    assert capsys.readouterr().out == "x is __str__ = [1. 2.]\n"


def test_variables():
    x, i = T.dmatrix("x"), T.lscalar()
    x.tag.note = x.anything = 5
    y = x * 2
    assert (y.owner.inputs[0] is x, y.owner.inputs[0].tag.note, x.anything, x.owner) == (True, 5, 5, None)
    assert bool(x) and bool(y)
    with pytest.raises(TypeError, match="no truth value"):
        bool(x > 0)
    with pytest.raises(TypeError, match="no length before"):
        list(x)
    assert {x: 1}[x] == 1 and x != y and x == x
    assert len(list(T.as_tensor_variable([1, 2]))) == 2
    assert (x + 1).eval({x: [[1.0]]}).tolist() == [[2.0]]
    y.name = "y"
    assert (str(y), y.clone().name, y.clone().owner, i.name) == ("y", "y", None, None)
    anything = theano.Variable(theano.generic, name="anything")
    assert (anything.type, anything.name) == (theano.generic, "anything")
    with pytest.raises(TypeError, match="no type of a tensor"):
        T.exp(anything)
    assert [v.name for v in T.matrices("pq")] == ["p", "q"]
    assert (x.type == T.dmatrix, x.type.filter([[1]]).dtype.name, T.dmatrix.is_valid_value(np.ones((1, 1)))) == (
        True, "float64", True,
    )  # fmt: skip
    assert T.get_scalar_constant_value(T.zeros((3, 4)).shape[1] * 2) == 8
    assert T.get_vector_length(x.shape) == 2
    with pytest.raises(T.NotScalarConstantError):
        T.get_scalar_constant_value(i)
    checked = T.opt.Assert("must be positive")(x, (x > 0).all())
    f = theano.function([x], checked)
    assert f([[1.0]]).tolist() == [[1.0]]
    with pytest.raises(AssertionError, match="must be positive"):
        f([[-1.0]])


@pytest.fixture
def flags():
    before, warned = dict(theano.config._values), set(module._warned)
    yield theano.config
    theano.config._values.clear()
    theano.config._values.update(before)
    module._warned.clear()
    module._warned.update(warned)


def test_flags(flags):
    with theano.change_flags(floatX="float32", mode="FAST_COMPILE"):
        assert (T.vector().dtype, theano.config.floatX) == ("float32", "float32")
        assert theano.compile.get_default_mode().backend == "numpy"
    assert theano.config.floatX == "float64"
    assert (theano.config.blas.ldflags, theano.config.cxx) == ("", "g++")
    with pytest.warns(UserWarning, match="'cuda' has no effect"):
        theano.config.device = "cuda"
    assert theano.config.device == "cpu"
    assert theano.compile.Mode(linker="py").backend == "numpy"
    assert str(theano.compile.Mode("cvm", "fast_compile").optimizer) == "fast_compile"
    for wrong in (lambda: theano.compile.Mode(linker="gpu"), lambda: theano.compile.Mode(optimizer="o9")):
        with pytest.raises(ValueError, match="expected one of"):
            wrong()
