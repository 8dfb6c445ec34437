"""Lengths that meet are taken as equal; calls in which they are not give NumPy's values or errors."""

import itertools
import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.assumed import AssumeEqual

SIZES = [(5, 5), (5, 1), (1, 5), (1, 1), (0, 0), (0, 1), (1, 0)]
WITHOUT = "fast_run -assume_equal"


def formula_of(x, y):
    z = T.exp(-(x**2) / 2) * T.cos(y) + T.log(1 + T.exp(x))
    return [z, *ag.grad(z.sum(), [x, y])]


def formula():
    x, y = T.vector("x"), T.vector("y")
    return [x, y], formula_of(x, y)


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
    except (ValueError, IndexError) as error:
        return f"{type(error).__name__}: {error}"


def same(got, want):
    for mine, other in zip(got, want, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, strict=True)


@pytest.fixture(scope="module")
def both():
    inputs, outputs = formula()
    return ag.function(inputs, outputs), ag.function(inputs, outputs, mode="NUMPY")


@pytest.mark.long
def test_an_integer_that_makes_an_array_is_the_length_of_what_meets_it():
    n, x = T.lscalar("n"), T.vector("x")
    z = T.zeros((n,)) + T.exp(x)
    more = T.inc_subtensor(T.zeros((n,))[1:-1], (T.cos(x) * z)[2:])
    f = ag.function([n, x], [more, ag.grad((more**2).sum(), x)])
    reference = ag.function([n, x], [more, ag.grad((more**2).sum(), x)], mode="NUMPY")
    assert "assume_equal" in names(f) and "sum_to" not in names(f)
    for length, count in [(5, 5), (1, 1), (0, 0), (5, 1), (5, 5), (2, 2)]:
        values = length, np.linspace(0.5, 1.5, count)
        same(f(*values), reference(*values))
    for length in (4, -5):
        with pytest.raises(ValueError, match=r"lengths 4 and 5|negative"):
            f(length, np.ones(5))


@pytest.mark.long
def test_shifted_slices_up_to_a_length_take_all_of_their_array():
    x, y = T.vector("x"), T.vector("y")
    n = y.shape[0]

    def formula(x, y):
        second = 4.0 * x[1 : n + 3] - x[2 : n + 4] - x[: n + 2]
        flux = T.switch(second[1:] > 0, second[1:], 0.0) * (x[2 : n + 3] - x[1 : n + 2])
        out = y * (flux[1:] - flux[:-1]) + x[2 : n + 2]
        return [out, *ag.grad((out**2).sum(), [x, y])]

    f = ag.function([x, y], formula(x, y))
    assert "assume_equal" in names(f) and "sum_to" not in names(f)
    assert "assume_equal" not in names(ag.function([x, y], ag.grad(((x[:n] * y) ** 2).sum(), [x, y])))
    reference = ag.function([x, y], formula(x, y), mode="NUMPY")
    rng = np.random.default_rng(0)
    for long, count in [(9, 5), (12, 5), (9, 5), (8, 5), (6, 2), (5, 1), (4, 0), (4, 1), (3, 0), (7, 5), (2, 1)]:
        values = rng.normal(size=long), rng.normal(size=count)
        got, want = outcome(f, values), outcome(reference, values)
        assert isinstance(got, str) == isinstance(want, str)
        if not isinstance(got, str):
            same(got, want)


@pytest.mark.long
def test_gradients_have_no_sums_over_broadcast_axes():
    f = ag.function(*formula())
    assert names(f) == ["shape_i", "assume_equal", "fused"]
    assert not {"sum_to", "fill", "switch", "eq"} & set(names(ag.function(*regression())))
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
    tiered = ag.function(*formula(), tiered=True)
    for function in (f, again, tiered):
        for values in (other, equal):
            same(function(*values), reference(*values))
    tiered.wait()
    same(tiered(*other), reference(*other))


@pytest.mark.long
def test_a_shared_variable_that_changes_its_length():
    x, s = T.vector("x"), ag.shared(np.ones(3), "s")
    z = T.exp(x) * T.cos(s)
    f = ag.function([x], [z, ag.grad(z.sum(), s)], updates={s: s * 2})
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
    f, general = ag.function(inputs, outputs), ag.function(inputs, outputs, mode=WITHOUT)
    values = [np.ones(shape) for shape in shapes]
    want = outcome(general, values)
    if isinstance(want, str):
        assert outcome(f, values) == want
        assert f.executable.broken == 1 and "without_assumptions" not in f.executable.__dict__  # nothing was compiled
    else:
        same(f(*values), want)


def test_lengths_of_which_an_index_has_none_are_not_assumed():
    """`x[0]` of a matrix that meets one without rows."""
    x, y = T.matrix("x"), T.vector("y")
    inner = T.exp(x) * y
    outputs = [inner + np.empty((0, 3)), inner[0, :3]]
    f = ag.function([x, y], outputs, mode=ag.Mode("fast_run", backend="c", check=True))
    given = np.arange(3.0)[None], np.ones(3)
    assert [r.shape for r in f(*given)] == [(0, 3), (3,)]
    assert "assume_equal" not in {*names(f), *(entry.rule for entry in f.journal)}


def test_results_of_which_only_lengths_are_known_are_checked():
    x, y = T.vector("x"), T.vector("y")
    f = ag.function([x, y], T.zeros_like(T.exp(x) * T.cos(y) * T.sin(x)))
    assert "assume_equal" not in names(f)
    for n, m in SIZES:
        assert f(np.ones(n), np.ones(m)).shape == np.broadcast_shapes((n,), (m,))
    with pytest.raises(ValueError, match="do not agree"):
        f(np.ones(2), np.ones(3))


def test_it_says_what_it_assumes():
    f = ag.function(*regression(), name="fit")
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


@pytest.mark.long
def test_others_get_the_general_graph(tmp_path):
    inputs, outputs = formula()
    f = ag.function(inputs, outputs, name="f")
    assert "assume_equal" not in names(f.without_assumptions)
    assert "assume" not in ag.pprint(ag.rewrite(outputs[0], "fast_run assume_equal"))
    folder = f.export(tmp_path / "c")
    assert "assume" not in "".join(path.read_text() for path in folder.rglob("*.c"))
    assert f.executable.plain_call([(3,), (1,)]) is not None
    assert "without_assumptions" in f.executable.__dict__
    verdict = ag.bisect(f, [np.ones(3), np.ones(1)])
    assert verdict.fault == "none"
    checked = ag.function(inputs, outputs, mode="DEBUG")
    assert [o.shape for o in checked(np.ones(3), np.ones(1))] == [(3,), (3,), (1,)]


@pytest.mark.long
def test_lengths_of_parts_and_known_lengths():
    x, y, z = T.vector("x"), T.vector("y"), T.vector("z", shape=(3,))
    step = T.exp(x[1:] - x[:-1]) * T.cos(y) + T.sin(z) * T.exp(T.cos(y))
    f = ag.function([x, y, z], [step, *ag.grad(step.sum(), [x, y, z])])
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


def ways():
    """Kinds of functions and calls of `formula`, by name."""
    inputs, outputs = formula()
    rows = [T.matrix("x"), T.matrix("y")]
    of_rows = ag.vmap(lambda x, y: [o.sum() for o in formula_of(x, y)])(*rows)
    return {
        "profiled": lambda: ag.function(inputs, outputs, profile=True),
        "DEBUG": lambda: ag.function(inputs, outputs, mode="DEBUG"),
        "NAN": lambda: ag.function(inputs, outputs, mode="NAN"),
        "NUMPY": lambda: ag.function(inputs, outputs, mode=ag.Mode("fast_run assume_equal", backend="numpy")),
        "tiered": lambda: ag.function(inputs, outputs, tiered=True, compile_budget=0),
        "divided": lambda: ag.function(inputs, outputs, engines=["c", "numpy"]),
        "one thread": lambda: ag.function(inputs, outputs, threads=1),
        "scheduled": lambda: ag.function(inputs, outputs, schedule=ag.function(inputs, outputs).schedule()),
        "pickled": lambda: pickle.loads(pickle.dumps(ag.function(inputs, outputs))),
        "from the cache": lambda: [ag.function(inputs, outputs) for _ in range(2)][1],
        "by keywords": lambda: (f := ag.function(inputs, outputs), lambda x, y: f(y=y, x=x))[1],
        "strided": lambda: (f := ag.function(inputs, outputs), lambda *a: f(*(np.repeat(v, 2)[::2] for v in a)))[1],
        "jit": lambda: ag.jit(formula_of),
        "vmap": lambda: ag.function(rows, of_rows),
    }


WAYS = ways()


@pytest.mark.few(5)
@pytest.mark.parametrize("way", WAYS)
def test_every_kind_of_call_gives_the_values_of_numpy(way, both):
    f, reference = WAYS[way](), both[1]
    rng = np.random.default_rng(4)
    for n, m in ((5, 5), (5, 1), (1, 5), (5, 5)):
        values = [rng.normal(size=k) for k in (n, m)]
        if way == "vmap":
            got = [o[1] for o in f(*(np.stack([v, v]) for v in values))]
            same(got, [o.sum() for o in reference(*values)])
            continue
        same(f(*values), reference(*values))
    if way not in ("vmap", "jit"):
        with pytest.raises(ValueError, match=r"5.*4|4.*5"):
            f(np.ones(5), np.ones(4))


def test_batches_of_examples_give_the_values_of_numpy(both):
    f, reference = both
    with ag.batched(f, max_batch=4) as serve:
        for n, m in ((5, 5), (5, 1), (1, 5)):
            same(serve(np.ones(n), np.full(m, 0.5)), reference(np.ones(n), np.full(m, 0.5)))


@pytest.mark.long
def test_another_schedule_and_tuning_have_the_general_graph():
    inputs, outputs = formula()
    f, values = ag.function(inputs, outputs), [np.ones(5), np.full(1, 0.5)]
    want = f(*values)
    for given in ([np.ones(5), np.ones(5)], values):
        same(ag.tune(f, given, seconds=0.01, keep=False).function(*values), want)


def test_devices_and_regions_have_the_general_graph():
    inputs, outputs = formula()
    text = str(ag.rewrite(outputs, "fast_run assume_equal"))
    assert "assume_equal" not in text
    f = ag.function(inputs, outputs, engines=["c", "numpy"])
    assert "assume_equal" not in str(f.graph)


def test_a_call_that_breaks_assumptions_calls_python_once():
    calls = []
    x, y, w = T.vector("x"), T.vector("y"), T.vector("w")

    def noted(value):
        calls.append(1)
        return value

    outputs = [ag.pure_callback(noted, w, w) * 2, T.exp(x) * T.cos(y), T.exp(x)]
    f = ag.function([w, x, y], outputs)
    assert "assume_equal" in names(f)
    f(np.ones(2), np.ones(3), np.ones(1))
    assert len(calls) == 1


@pytest.mark.long
def test_in_place_updates_happen_once_where_assumptions_fail():
    x, y = T.vector("x"), T.vector("y")
    m = ag.shared(np.ones((5, 5)), "m", shape=(5, 5))
    s = ag.shared(np.ones(5), "s", shape=(5,))
    outputs = [T.exp(x) * T.cos(y), T.exp(x)]
    f = ag.function([x, y], outputs, updates=[(s, T.sin(s) * 2), (m, m + T.outer(s, s))])
    f(np.ones(3), np.ones(1))
    np.testing.assert_allclose(s.get_value(), np.full(5, 2 * np.sin(1)))
    np.testing.assert_allclose(m.get_value(), np.full((5, 5), 2.0))
    with pytest.raises(ValueError):
        f(np.ones(3), np.ones(2))
    np.testing.assert_allclose(m.get_value(), np.full((5, 5), 2.0))


def recurrence():
    xs, h0, W, U, b = T.matrix("xs"), T.vector("h0"), T.matrix("W"), T.matrix("U"), T.vector("b")
    hs, _ = ag.scan(
        lambda x, h, W, U, b: T.tanh(W @ h + U @ x + b), sequences=xs, outputs_info=h0, non_sequences=[W, U, b]
    )
    loss = (hs[-1] ** 2).sum()
    return [xs, h0, W, U, b], [loss, *ag.grad(loss, [W, U, b, h0])]


def all_names(graph):
    """The names of the ops of a graph, and of the graphs inside."""
    for node in graph.order:
        op = node.op
        while op is not None:
            yield op.name
            yield from all_names(op.graph) if hasattr(op, "graph") else ()
            op = getattr(op, "op", None) or getattr(op, "product", None)


@pytest.mark.long
def test_lengths_in_scans():
    inputs, outputs = recurrence()
    f, general = ag.function(inputs, outputs), ag.function(inputs, outputs, mode=WITHOUT)
    assert not {"sum_to", "fill", "switch"} & set(all_names(f.graph))
    assert {"sum_to", "fill"} & set(all_names(general.graph))
    assert "b.shape[0] = h0.shape[0]" in str(f.explain("assumptions"))
    rng = np.random.default_rng(0)
    shapes = [
        ((4, 3), 5, (5, 5), (5, 3), 5), ((4, 3), 5, (5, 5), (5, 3), 1), ((4, 3), 1, (1, 1), (1, 3), 1),
        ((4, 3), 1, (1, 1), (1, 3), 5), ((4, 3), 5, (5, 5), (1, 3), 5), ((4, 3), 5, (5, 5), (1, 3), 1),
        ((4, 3), 5, (5, 5), (5, 2), 5), ((0, 3), 5, (5, 5), (5, 2), 5), ((0, 3), 5, (5, 5), (5, 3), 1),
        ((4, 3), 5, (1, 5), (1, 3), 5), ((4, 3), 5, (1, 5), (1, 3), 1), ((4, 3), 5, (5, 5), (5, 3), 4),
        ((4, 3), 0, (0, 0), (0, 3), 0), ((4, 3), 0, (0, 0), (0, 3), 1),
    ]  # fmt: skip
    for each in shapes:
        values = [rng.normal(size=shape) for shape in each]
        got, want = outcome(f, values), outcome(general, values)
        if isinstance(want, str):
            assert got == want
        else:
            same(got, want)
    assert f.executable.broken > 5


@pytest.mark.long
def test_lengths_in_loops_without_a_count_and_in_loops_inside():
    x, y, n = T.vector("x"), T.vector("y"), T.iscalar("n")
    end = ag.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, T.sin(s[1]) * y + s[1]), (T.constant(0), x))[1]
    rows = T.matrix("rows")
    inner, _ = ag.scan(
        lambda row, y: ag.scan(lambda e, y: T.exp(e * y) + y, sequences=row, non_sequences=y)[0].sum(0) * y,
        sequences=rows, non_sequences=y,
    )  # fmt: skip
    outputs = [end, inner, T.exp(y) * x + T.exp(y)]
    f, general = ag.function([x, y, n, rows], outputs), ag.function([x, y, n, rows], outputs, mode=WITHOUT)
    assert "assume_equal" in set(all_names(f.graph))
    for sizes in ((3, 3), (3, 1), (1, 3), (1, 1), (3, 2)):
        values = [*(np.full(k, 0.25) for k in sizes), 4, np.full((2, 3), 0.1)]
        got, want = outcome(f, values), outcome(general, values)
        if isinstance(want, str):
            assert got == want
        else:
            same(got, want)


X, Y, W, V = map(T.matrix, "XYWV")
a, b, c, t = map(T.vector, "abct")
LABELS = T.ivector("labels")
HIDDEN = T.tanh(X @ W + a)
MEAN = HIDDEN.mean(1, keepdims=True)
PROGRAMS = {
    "mlp": ([X, Y, W, a, V, b], ((HIDDEN @ V + b - Y) ** 2).mean(), [W, a, V, b]),
    "softmax": ([X, Y, V, b], -(Y * T.log(T.softmax(X @ V + b, axis=1))).sum(1).mean(), [V, b]),
    "labels": (
        [X, LABELS, W, a], -T.log(T.softmax(HIDDEN, axis=1))[T.arange(LABELS.shape[0]), LABELS].mean(), [W, a],
    ),
    "layer norm": ([X, Y, W, a, b, c], (((HIDDEN - MEAN) * b + c - Y) ** 2).mean(), [W, a, b, c]),
    "poisson": ([X, t, c], (T.exp(X @ c) - t * (X @ c)).mean(), [c]),
    "gaussian": ([X, a, b], (((X - a) / b) ** 2 / 2 + T.log(b)).sum(), [a, b]),
    "mixture": ([t, a, b, c], T.log((T.exp(-(((t[:, None] - a) / b) ** 2)) * c).sum(1)).sum(), [a, b, c]),
    "distances": ([X, Y], T.exp(-((X[:, None, :] - Y[None]) ** 2).sum(-1)).sum(), [X, Y]),
    "lags": ([t, a], ((t[1:] - a[:-1] * t[:-1]) ** 2).mean(), [a, t]),
    "embedding": ([LABELS, W, a, t], ((W[LABELS] * a).sum(1) - t).mean(), [W, a]),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_of_ordinary_programs_have_no_ops_on_lengths(program):
    inputs, loss, wrt = PROGRAMS[program]
    graph = ag.FunctionGraph(inputs, [loss, *ag.grad(loss, wrt)])
    found = ag.optdb.query("fast_run")(graph)[0]
    assert not {"sum_to", "fill", "switch", "eq"} & set(all_names(found))


def test_assumptions_of_many_lengths_take_linear_time():
    vectors = [T.vector(f"x{k}") for k in range(200)]
    z = vectors[0]
    for x in vectors[1:]:
        z = T.sin(z) * x
    f = ag.optdb.query("fast_run")(ag.FunctionGraph(vectors, [z, *ag.grad(z.sum(), vectors[:2])]))[0]
    (node,) = [n for n in f.order if n.op.name == "assume_equal"]
    assert len(node.op.axes) == 199 and "sum_to" not in set(all_names(f))


def test_calls_that_break_assumptions_are_cheap(both):
    f, _ = both
    long, short = np.ones(5), np.ones(1)
    f(long, short)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(f.executable), "foreseen", None)  # and no message is made
        patch.setattr("arignote.cbackend.calls.caller.failure", None)
        before = f.executable.broken
        for _ in range(100):
            f(long, short)
    assert f.executable.broken == before + 100


def test_equal_ops_of_many_axes_are_compared_by_identity():
    axes = [(k, 0) for k in range(1000)]
    op = AssumeEqual(tuple(axes))
    assert op.axes is AssumeEqual(tuple(axes)).axes is pickle.loads(pickle.dumps(op)).axes


def test_ops_of_other_axes_differ():
    few, many = AssumeEqual(((0, 0), (1, 0))), AssumeEqual(((0, 0), (1, 0), (2, 0)))
    assert few != many and few == AssumeEqual(((0, 0), (1, 0))) and hash(few) == hash(AssumeEqual(((0, 0), (1, 0))))
    x, y, z, n = T.vector("x"), T.vector("y"), T.vector("z"), T.lscalar("n")
    first, second = few(x, y, n, n), AssumeEqual(((0, 0), (1, 0)))(x, z, n, n)
    graph = ag.FunctionGraph([x, y, z, n], [*first, *second])
    merged = ag.rewrite(graph, "merge")
    assert [node.op for node in merged.order] == [few, few]
