"""Lengths that meet are taken as equal; calls in which they are not give NumPy's values or errors."""

import itertools
import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

SIZES = [(5, 5), (5, 1), (1, 5), (1, 1), (0, 0), (0, 1), (1, 0)]
WITHOUT = "fast_run"
ASSUMING = "fast_run equal_lengths"


def formula():
    x, y = T.vector("x"), T.vector("y")
    z = T.exp(-(x**2) / 2) * T.cos(y) + T.log(1 + T.exp(x))
    return [x, y], [z, *ag.grad(z.sum(), [x, y])]


def regression():
    X, t, w = T.matrix("X"), T.vector("t"), T.vector("w")
    p = T.sigmoid(X @ w)
    loss = -(t * T.log(p) + (1 - t) * T.log(1 - p)).mean() + 0.01 * (w**2).sum()
    return [X, t, w], [loss, ag.grad(loss, w)]


def names(f):
    return [node.op.name for node in f.graph.order]


def outcome(f, values):
    """The results of a call, or its error as text."""
    try:
        return f(*values)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def same(got, want):
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, strict=True)


@pytest.fixture(scope="module")
def both():
    inputs, outputs = formula()
    return ag.function(inputs, outputs, mode=ASSUMING), ag.function(inputs, outputs, mode="NUMPY")


def test_gradients_have_no_sums_over_broadcast_axes():
    f = ag.function(*formula(), mode=ASSUMING)
    assert names(f) == ["shape_i", "assume_equal", "fused"]
    assert not {"sum_to", "fill", "switch", "eq"} & set(names(ag.function(*regression(), mode=ASSUMING)))
    assert "sum_to" in names(ag.function(*formula(), mode=WITHOUT))
    assert "sum_to" in names(ag.function(*formula(), mode="fast_compile"))


@pytest.mark.parametrize("sizes", SIZES)
def test_values_of_any_lengths(both, sizes):
    f, reference = both
    rng = np.random.default_rng(3)
    values = [rng.normal(size=n) for n in sizes]
    same(f(*values), reference(*values))
    bound = f.bind(*values)
    for _ in range(2):
        same(bound(), reference(*values))
    given = [np.zeros_like(o) for o in reference(*values)]
    same(f.bind(*values, out=given)(), reference(*values))
    same(given, reference(*values))


def test_many_calls_copies_and_tiers(both):
    f, reference = both
    equal, other = [np.ones(4), np.full(4, 0.5)], [np.ones(4), np.full(1, 0.5)]
    for _ in range(100):  # then the native entry runs
        f(*equal)
    again = pickle.loads(pickle.dumps(f))
    tiered = ag.function(*formula(), mode=ASSUMING, tiered=True)
    for function in (f, again, tiered):
        for values in (other, equal):
            same(function(*values), reference(*values))
    tiered.wait()
    same(tiered(*other), reference(*other))


def test_a_shared_variable_that_changes_its_length():
    x, s = T.vector("x"), ag.shared(np.ones(3), "s")
    z = T.exp(x) * T.cos(s)
    f = ag.function([x], [z, ag.grad(z.sum(), s)], updates={s: s * 2}, mode=ASSUMING)
    bound = f.bind(np.zeros(3))
    assert "assume_equal" in names(f)
    for value in (np.ones(3), np.ones(1), np.ones(3)):
        for call in (lambda: f(np.zeros(3)), bound):
            s.set_value(value)
            z, g = (np.array(o) for o in call())
            np.testing.assert_allclose(z, np.full(3, np.cos(1)), rtol=1e-12)
            np.testing.assert_allclose(g, np.full(len(value), -np.sin(1) * 3 / len(value)), rtol=1e-12)
            np.testing.assert_array_equal(s.get_value(), 2 * value)


@pytest.mark.parametrize("shapes", [((5, 3), 4, 3), ((5, 3), 5, 4), ((5, 3), 5, 1), ((1, 3), 4, 3), ((5, 3), 1, 3)])
def test_errors_and_values_are_those_of_the_general_graph(shapes):
    inputs, outputs = regression()
    f, general = ag.function(inputs, outputs, mode=ASSUMING), ag.function(inputs, outputs, mode=WITHOUT)
    values = [np.ones(shape) for shape in shapes]
    want = outcome(general, values)
    if isinstance(want, str):
        assert outcome(f, values) == want
        assert f.executable.broken == 1 and "without_assumptions" not in f.executable.__dict__  # nothing was compiled
    else:
        same(f(*values), want)


def test_results_of_which_only_lengths_are_known_are_checked():
    x, y = T.vector("x"), T.vector("y")
    f = ag.function([x, y], T.zeros_like(T.exp(x) * T.cos(y) * T.sin(x)), mode=ASSUMING)
    assert "assume_equal" not in names(f)
    for n, m in SIZES:
        assert f(np.ones(n), np.ones(m)).shape == np.broadcast_shapes((n,), (m,))
    with pytest.raises(ValueError, match="do not agree"):
        f(np.ones(2), np.ones(3))


def test_it_says_what_it_assumes():
    f = ag.function(*regression(), name="fit", mode=ASSUMING)
    text = str(f.explain("assumptions"))
    assert "t.shape[0] = X.shape[0]" in text and "w.shape[0] = X.shape[1]" in text and "0 calls broke" in text
    assert not f.remarks.of("assumed")
    f(np.ones((5, 3)), np.ones(1), np.ones(3))
    assert "1 call broke" in str(f.explain("assumptions"))
    (remark,) = f.remarks.of("assumed")
    assert "t.shape[0] = X.shape[0]" in remark.what and "1 call" in remark.what
    x = T.vector("x")
    assert "assumes nothing" in str(ag.function([x], x * 2).explain("assumptions"))
    with pytest.raises(ValueError, match='"assumptions"'):
        f.explain("lengths")


def test_others_get_the_general_graph(tmp_path):
    inputs, outputs = formula()
    f = ag.function(inputs, outputs, name="f", mode=ASSUMING)
    assert "assume_equal" not in names(f.without_assumptions)
    assert "assume" not in ag.pprint(ag.rewrite(outputs[0], ASSUMING))
    folder = f.export(tmp_path / "c")
    assert "assume" not in "".join(path.read_text() for path in folder.rglob("*.c"))
    assert f.executable.plain_call([(3,), (1,)]) is not None
    assert "without_assumptions" in f.executable.__dict__
    verdict = ag.bisect(f, [np.ones(3), np.ones(1)])
    assert verdict.fault == "none"
    checked = ag.function(inputs, outputs, mode=ag.Mode(ASSUMING, check=True))
    assert [o.shape for o in checked(np.ones(3), np.ones(1))] == [(3,), (3,), (1,)]


def test_lengths_of_parts_and_known_lengths():
    x, y, z = T.vector("x"), T.vector("y"), T.vector("z", shape=(3,))
    step = T.exp(x[1:] - x[:-1]) * T.cos(y) + T.sin(z) * T.exp(T.cos(y))
    f = ag.function([x, y, z], [step, *ag.grad(step.sum(), [x, y, z])], mode=ASSUMING)
    assert "assume_equal" in names(f)
    general = ag.function([x, y, z], [step, *ag.grad(step.sum(), [x, y, z])], mode="NUMPY")
    rng = np.random.default_rng(1)
    for n, m in itertools.product((1, 2, 4, 5), (1, 2, 3)):
        values = [rng.normal(size=k) for k in (n, m, 3)]
        got, want = outcome(f, values), outcome(general, values)
        if isinstance(want, str):
            assert isinstance(got, str) and got.startswith("ValueError")
        else:
            same(got, want)
