"""`ag.jit(strict=False)`: statements that cannot be traced run in Python, the rest is compiled in parts."""

import io
import json
import linecache
import pickle

import numpy as np
import pytest

import arignote as ag
from arignote.tracing import calls
from arignote.tracing.divided import Divided

X = np.arange(6.0) + 1
LOG: list[float] = []
pytestmark = pytest.mark.filterwarnings("ignore:arignote:UserWarning")


def logged(x):
    y = np.exp(x) * 2
    LOG.append(float(y.sum()))
    z = y - y.mean()
    return z * 2


def as_json(x):
    y = x * 2
    text = json.dumps({"n": float(y.sum()), "k": len(y)})
    k = np.sqrt(y) + 1
    return text, k


def growing_list(x, n):
    out = []
    for i in range(n):
        t = np.sin(x) * i + np.cos(x)
        if t.sum() > 3:
            out.append(t.sum())
        x = x + 0.1 * t
    return np.array(out), x


def file_in_a_loop(x, n):
    with io.StringIO() as f:
        for i in range(n):
            y = np.sqrt(x) * i
            if i % 2:
                f.write(f"{y.sum():.3f}\n")
                continue
            x = x * 1.5 + y
            if x[0] > 1e6:
                break
        text = f.getvalue()
    return text, x


def views_and_writes(x):
    v = x[1:3]
    v[...] = 7
    LOG.append(v[0])
    x *= 2
    v += 1
    return x, v


def handler(x):
    try:
        y = x[10] * 2
    except IndexError:
        y = x[0] * 3
    return y + 1


def generator(x, rng):
    n = rng.normal(size=len(x))
    return x + n * 2 - n.mean()


def inner_functions(x, k):
    def inner(v):
        return v * 2 + k

    y = inner(x)
    LOG.append(y[0])
    k = k + 1
    return inner(y)


def endless_loop(x):
    i = 0
    while True:
        x = np.sqrt(x) * 1.5
        i += 1
        LOG.append(i)
        if i > 4:
            break
    return x, i


def strings(x):
    s = np.array(["a", "b"])
    return s, x * 2


def two_names(x):
    a = x * 2
    b = a
    LOG.append(1)
    b[0] = 5
    return a, b


def perhaps_assigned(x, flag):
    if flag:
        y = x * 3
    LOG.append(1)
    if flag:
        x = y + 1
    return x * 2


def numbers(x, n):
    k = n * 2 + 1
    LOG.append(k)
    total = 0
    for i in range(k):
        total += i * 2
    return total / 4 + x, "ab" * k


def objects(x):
    d = {"a": x * 2, "b": [x.sum(), None]}
    LOG.append(d)
    d["c"] = d["a"] + d["b"][0]
    return d


def a_dict_by_key(x, key):
    d = {"a": x * 2}
    d[key] = x.sum()
    return d


CASES = [
    (logged, (X,)), (as_json, (X,)), (growing_list, (X, 5)), (file_in_a_loop, (X, 6)), (views_and_writes, (X,)),
    (handler, (X,)), (generator, (X, np.random.default_rng(3))), (inner_functions, (X, 3.0)), (endless_loop, (X,)),
    (strings, (X,)), (two_names, (X,)), (perhaps_assigned, (X, True)), (perhaps_assigned, (X, False)),
    (numbers, (X, 3)), (objects, (X,)), (a_dict_by_key, (X, "k")),
]  # fmt: skip


def copied(args):
    return pickle.loads(pickle.dumps(args))


def same(got, want):
    assert type(got) is type(want) or np.ndim(got) == np.ndim(want) == 0
    if isinstance(want, dict):
        assert got.keys() == want.keys()
        got, want = list(got.values()), list(want.values())
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want, strict=True):
            same(a, b)
    elif isinstance(want, np.ndarray) and want.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-14)
    else:
        np.testing.assert_equal(got, want)


@pytest.mark.few(4)
@pytest.mark.parametrize(("function", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_values_effects_and_written_arguments_are_pythons(function, args):
    f = ag.jit(function, strict=False)
    for _ in range(2):
        mine, theirs = copied(args), copied(args)
        LOG.clear()
        want, effects = function(*theirs), list(LOG)
        LOG.clear()
        same(f(*mine), want)
        same(list(LOG), effects)
        for a, b in zip(mine, theirs, strict=True):
            if isinstance(a, np.ndarray):
                np.testing.assert_array_equal(a, b)
            if isinstance(a, np.random.Generator):
                assert a.bit_generator.state == b.bit_generator.state
    assert f.traces or f.parts


def test_parts_are_compiled_and_a_remark_names_the_lines():
    f = ag.jit(logged, strict=False)
    f(X)
    (number,) = f.python_lines
    assert "LOG.append" in linecache.getline(__file__, number) and f", lines {number} in Python" in repr(f)
    with pytest.warns(UserWarning, match=r"strings: line \d+ runs in Python: .*U1"):
        ag.jit(strings, strict=False)(X)
    assert [len(part.traces) for part in f.parts] == [1, 1]
    f(X + 1)
    assert [len(part.traces) for part in f.parts] == [1, 1]


def test_a_function_that_can_be_traced_is_not_divided():
    f = ag.jit(lambda x: x * 2, strict=False)
    np.testing.assert_array_equal(f(X), X * 2)
    assert isinstance(f, Divided) and not f.parts and len(f.traces) == 1


def test_an_error_of_a_part_is_numpys_and_names_the_line():
    f = ag.jit(logged, strict=False)
    with pytest.raises(TypeError):
        f("text")
    g = ag.jit(views_and_writes, strict=False)
    read_only = X.copy()
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        g(read_only)


class Model:
    def __init__(self):
        self.state, self.history = np.ones(6), []

    @ag.jit(strict=False)
    def step(self, x):
        self.state = self.state * 0.5 + x
        self.history.append(self.state.sum())
        return self.state * 2


def test_a_method_assigns_attributes_and_appends_to_lists():
    model = Model()
    model.step(X)
    np.testing.assert_array_equal(model.step(X), 2 * (0.5 * (0.5 * np.ones(6) + X) + X))
    assert model.history == [24.0, 33.0]


def counted_by_calls_of_itself(free):
    left = free.copy()

    def placed(k):
        if k == 3:
            return 1
        total = 0
        for i in range(len(left)):
            if left[i]:
                left[i] = False
                total += placed(k + 1)
                left[i] = True
        return total

    return placed(0)


def test_calls_of_itself_in_loops_and_branches_are_bounded(monkeypatch):
    free = np.array([True, False, True, True])
    assert ag.jit(counted_by_calls_of_itself)(free) == 6
    monkeypatch.setattr(calls, "MOST_REPEATED", 5)
    with pytest.raises(TypeError, match=r"placed calls itself more than 5 times .*strict=False.*\n  at .*divided\.py:"):
        ag.jit(counted_by_calls_of_itself)(free)


def test_the_call_of_a_function_inside_runs_in_python_not_its_definition(monkeypatch):
    monkeypatch.setattr(calls, "MOST_REPEATED", 5)
    f = ag.jit(counted_by_calls_of_itself, strict=False)
    assert f(np.array([True, False, True, True])) == 6
    (number,) = f.python_lines
    assert "return placed(0)" in linecache.getline(__file__, number)
