"""`ag.function` as a user meets it: forms of inputs and outputs, shared variables, givens, modes, mistakes, pickles."""

import inspect
import pickle
import sys
import threading

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.function.compilation import FunctionOptions

MODES = [
    "FAST_RUN", "FAST_COMPILE", "DEBUG", "NUMPY", "fast_run -inplace", "fast_run -fusion",
    "fast_run -merge -canonicalize",
]  # fmt: skip


@pytest.fixture
def xy():
    return T.vector("x"), T.vector("y")


A, B = np.linspace(-1, 1, 7), np.arange(7.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_gives_the_same_numbers(xy, mode):
    x, y = xy
    z = T.exp(x) * y + T.sin(x) - y / 3
    f = ag.function([x, y], [z, z.sum(), T.log(1 + y)], mode=mode)
    expected = np.exp(A) * B + np.sin(A) - B / 3
    for got, want in zip(f(A, B), [expected, expected.sum(), np.log1p(B)], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)


def test_results_come_in_the_form_that_was_asked_for(xy):
    x, _ = xy
    assert isinstance(ag.function([x], x + 1)(A), np.ndarray)
    assert isinstance(ag.function([x], [x + 1])(A), list)
    assert set(ag.function([x], {"up": x + 1, "down": x - 1})(A)) == {"up", "down"}
    w = ag.shared(0.0)
    assert ag.function([], None, updates=[(w, w + 1)])() is None
    assert w.get_value() == 1


def test_inputs_by_name(xy):
    x, y = xy
    f = ag.function([x, y], x - y, name="minus")
    np.testing.assert_array_equal(f(y=B, x=A), A - B)
    np.testing.assert_array_equal(f(A, y=B), A - B)
    for arguments, keywords, message in [
        ((A,), {"z": B}, "minus: no input is named 'z'; the inputs are: x, y"),
        ((A,), {"x": B}, r"minus: input 0 \(x\) is given by position and by name"),
        ((), {"x": A}, "minus: takes 2 arguments; missing: y"),
    ]:
        with pytest.raises(TypeError, match=message):
            f(*arguments, **keywords)


def test_an_input_may_be_a_value_within_the_expression(xy):
    x, _ = xy
    middle = x * 2
    f = ag.function([middle], middle + 1)
    np.testing.assert_array_equal(f(A), A + 1)


@pytest.mark.parametrize("mode", ["FAST_RUN", "fast_run -inplace", "NUMPY", "DEBUG"])
def test_updates_happen_at_once_and_after_the_outputs(mode):
    a, b = ag.shared(np.array([1.0, 2.0]), name="a"), ag.shared(np.array([3.0, 4.0]), name="b")
    swap = ag.function([], a + b, updates={a: b, b: a + 10 * b}, mode=mode)
    np.testing.assert_array_equal(swap(), [4, 6])
    np.testing.assert_array_equal(a.get_value(), [3, 4])
    np.testing.assert_array_equal(b.get_value(), [31, 42])


def test_values_that_were_handed_out_are_not_overwritten_by_updates():
    w = ag.shared(np.zeros(3), name="w")
    step = ag.function([], w * 1, updates=[(w, w + 1)])
    before, first = w.get_value(), step()
    step()
    np.testing.assert_array_equal(before, 0)
    np.testing.assert_array_equal(first, 0)
    np.testing.assert_array_equal(w.get_value(), 2)


def test_outputs_do_not_alias_inputs(xy):
    x, _ = xy
    array = A.copy()
    for output in ag.function([x], [x, x[::-1], x.reshape((7, 1)), T.ones((2, 2))])(array):
        assert not np.shares_memory(output, array)
        output[...] = 9
    np.testing.assert_array_equal(array, A)


def test_givens(xy):
    x, y = xy
    data = ag.shared(np.arange(10.0), name="data")
    i = T.lscalar("i")
    f = ag.function([i], (x * 2).sum(), givens={x: data[i * 2 : i * 2 + 2]})
    assert f(1) == 10 and f(4) == 34
    assert ag.function([x], x + y, givens=[(y, x * 3)])(np.ones(1)) == 4


def test_a_changed_constant_or_shape_compiles_nothing(xy):
    x, y = xy
    first = ag.function([x, y], T.exp(2.5 * x) + y)
    second = ag.function([x, y], T.exp(7.25 * x) + y)
    assert second.from_cache and second.c_source() == first.c_source()
    for n in (0, 1, 3, 1000):
        np.testing.assert_allclose(second(np.ones(n), np.ones(n)), np.exp(7.25) + np.ones(n), rtol=1e-14)


def test_c_is_the_same_in_every_build(xy):
    x, y = xy
    texts = {ag.function([x, y], (T.tanh(x) * y).sum()).c_source() for _ in range(3)}
    assert len(texts) == 1


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_pickling(xy, mode):
    x, y = xy
    w = ag.shared(np.full(7, 2.0), name="w")
    f = ag.function([x, y], {"z": x * y + w}, updates=[(w, w + 1)], mode=mode, name="product")
    again = pickle.loads(pickle.dumps(f))
    np.testing.assert_array_equal(again(A, B)["z"], A * B + 2)
    np.testing.assert_array_equal(again(y=B, x=A)["z"], A * B + 3)
    np.testing.assert_array_equal(w.get_value(), 2)
    assert repr(again) == repr(f)


def test_a_function_keeps_its_compilation(xy):
    x, y = xy
    f = ag.function([x, y], {"sum": x + y}, name="total", mode="FAST_COMPILE", threads=1, allow_input_downcast=True)
    made = f.compilation
    assert (made.name, made.mode, made.threads, made.downcast) == ("total", f.mode, 1, True)
    g = ag.function([x, y], {"sum": x + y}, **made.options(name="again"))
    assert g.name == "again" and g.mode is f.mode and g.compilation.threads == 1
    f.name = "renamed"
    assert pickle.loads(pickle.dumps(f)).name == "renamed"


def test_the_options_of_a_function_are_its_keywords():
    keywords = list(inspect.signature(ag.function).parameters)[2:]
    assert keywords == list(FunctionOptions.__annotations__)


def test_pickles_keep_how_the_function_was_asked_for(xy):
    x, y = xy
    f = ag.function([x, y], T.exp(x) * y, threads=1, debug_info=True)
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(f))))
    assert "#line" in f.c_source()
    assert (again.c_source(), again.threads) == (f.c_source(), 1)
    k = T.ivector("k")
    downcast = pickle.loads(pickle.dumps(ag.function([k], k + 1, allow_input_downcast=True)))
    assert downcast(np.array([1, 2]))[1] == 3


def test_threads_share_a_function(xy):
    x, y = xy
    f = ag.function([x, y], (T.exp(x) * y).sum())
    wrong = []

    def work(seed):
        a = np.random.default_rng(seed).standard_normal(50)
        expected = float(f(a, a))
        wrong.extend(1 for _ in range(500) if float(f(a, a)) != expected)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (lambda x, y: ((x, y), x + y, "typo"), (ValueError, KeyError, LookupError), "typo"),
        (lambda x, y: (("x",), x), TypeError, "input 0 is str 'x'; expected a variable"),
        (lambda x, y: ([x], x + y), ValueError, "depend on y .*not among the inputs"),
        (lambda x, y: ([x, y], x), ValueError, "nothing depends on y"),
        (lambda x, y: ([x, x], x), ValueError, r"input 1 \(x\) is given twice"),
        (lambda x, y: ([x, T.constant(1.0)], x), TypeError, "input 1 is a constant"),
        (lambda x, y: ([x, ag.shared(1.0, name="w")], x), TypeError, r"input 1 \(w\) is shared"),
        (lambda x, y: ([x], object()), TypeError, "output 0 is object"),
        (lambda x, y: (3, x), TypeError, "inputs is int 3; expected a list of variables"),
    ],
)
def test_mistakes_in_the_definition(xy, arguments, error, message):
    inputs, outputs, *mode = arguments(*xy)
    with pytest.raises(error, match=message):
        ag.function(inputs, outputs, mode=mode[0] if mode else None)


def test_default_updates_follow_the_givens(xy):
    x, y = xy
    state = ag.shared(0.0, name="state")
    state.default_update = state + (x * 2).sum()
    f = ag.function([y], state + x.sum(), givens={x: y}, mode="NUMPY")
    assert [f([1.0, 2.0]), f([3.0]), state.get_value()] == [3, 9, 12]



def test_mistakes_in_updates_and_givens(xy):
    x, y = xy
    w = ag.shared(np.zeros(3, "float32"), name="w")
    expected = r"update of w has dtype float64, the shared variable float32; write \.astype\('float32'\)"
    with pytest.raises(TypeError, match=expected):
        ag.function([], None, updates=[(w, w + np.ones(3))])
    with pytest.raises(TypeError, match=r"update of w is float32\[\?, \?\], the shared variable float32\[\?\]"):
        ag.function([], None, updates=[(w, T.outer(w, w))])
    with pytest.raises(ValueError, match="w is updated twice"):
        ag.function([], None, updates=[(w, w + 1), (w, w + 2)])
    with pytest.raises(TypeError, match="update 0 is for TensorVariable"):
        ag.function([x], None, updates=[(x, x + 1)])
    with pytest.raises(TypeError, match=r"given 0 puts float32\[\?\] in the place of x"):
        ag.function([y], x + y, givens={x: y.astype("float32")})


def test_unused_inputs_may_be_allowed(xy):
    x, y = xy
    assert ag.function([x, y], x, on_unused_input="ignore")(A, B) is not None
    with pytest.warns(UserWarning, match="nothing depends on y"):
        ag.function([x, y], x, on_unused_input="warn")


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
@pytest.mark.parametrize(
    "bad, error",
    [
        (lambda: (A,), TypeError), (lambda: (A, B, B), TypeError), (lambda: (A.astype(object), B), TypeError),
        (lambda: (A.astype("U5"), B), TypeError), (lambda: (A.reshape(1, 7), B), (TypeError, ValueError)),
        (lambda: (None, B), TypeError), (lambda: (A.astype(complex), B), TypeError),
        (lambda: (np.ma.masked_array(A, A > 0), B), TypeError), (lambda: (A[:3], B), ValueError),
    ],
)  # fmt: skip
def test_bad_arguments_are_named_and_leave_the_function_usable(xy, mode, bad, error):
    x, y = xy
    f = ag.function([x, y], x * y + 1, mode=mode, name="affine")
    arguments = bad()
    with pytest.raises(error) as caught:
        f(*arguments)
    message = str(caught.value)
    assert len(message.splitlines()) <= 4
    assert "affine" in message or "x" in message
    np.testing.assert_array_equal(f(A, B), A * B + 1)


def test_lengths_that_disagree_are_shown_with_names_shapes_and_line(xy):
    x, y = xy
    f = ag.function([x, y], x * y)  # the line that is looked for is the one of the product
    with pytest.raises(ValueError) as caught:
        f(np.ones(3), np.ones(4))
    message = str(caught.value)
    assert "x" in message and "y" in message and "3" in message and "4" in message
    assert "test_function.py" in message


def test_debug_mode_finds_a_wrong_rule(xy, request):
    from arignote.optdb import rule, wilds

    x, y = xy
    u, v = wilds("u v")
    name = "wrong_on_purpose"
    ag.optdb["specialize"].register(name, rule(name, T.logaddexp(u, v), T.add(u, v)), name + "_tag")
    request.addfinalizer(lambda: ag.optdb.unregister(name))
    f = ag.function([x, y], T.logaddexp(x, y), mode=ag.Mode("fast_run", check=True).including(name + "_tag"))
    with pytest.raises(AssertionError, match="differs from the NumPy meaning"):
        f(A, B)
    np.testing.assert_allclose(ag.function([x, y], T.logaddexp(x, y), mode="DEBUG")(A, B), np.logaddexp(A, B))


@pytest.mark.long
@pytest.mark.parametrize("links", mostly_long([1_000, 10_000], {1_000}))
def test_a_chain_of_two_nodes_a_link_with_its_gradient(links):
    x = T.vector("x")
    value = np.full(3, 0.1)
    expected, slope = value, np.ones(3)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        y = x
        for _ in range(links):
            y = T.sin(y * 1.5)
            expected, slope = np.sin(expected * 1.5), slope * np.cos(expected * 1.5) * 1.5
        f = ag.function([x], [y, ag.grad(y.sum(), x)])
        again = pickle.loads(pickle.dumps(f))
        assert ag.parse(str(f.graph)) == f.graph
    finally:
        sys.setrecursionlimit(limit)
    result = f(value)
    np.testing.assert_allclose(result[0], expected, rtol=1e-6)
    np.testing.assert_allclose(result[1], slope, rtol=1e-6, atol=1e-300)
    np.testing.assert_array_equal(again(value), result)
