"""Jitted functions where Python puts them: methods, globals, other functions, pickles, processes; static arguments."""

import copy
import inspect
import multiprocessing
import pickle
import random
from collections import deque
from functools import cached_property

import cloudpickle
import jitted_models as models
import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X = np.arange(6.0).reshape(2, 3)


def equal(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, strict=True)


# --- methods


def test_methods_see_the_attributes_of_their_instance_at_each_call(monkeypatch):
    one, other = models.Model(3), models.Model(3)
    other.w += 5
    for _ in range(2):
        equal(one.predict(X), X @ one.w * 3 + 3)
        equal(other.predict(X), X @ other.w * 3 + 3)
    before = len(models.Model.predict.traces)
    one.w[0] = 10  # in place
    equal(one.predict(X), X @ one.w * 3 + 3)
    one.w = np.ones(3)
    equal(one.predict(X), X @ one.w * 3 + 3)
    assert len(models.Model.predict.traces) == before
    one.w = np.ones(3, "float32")
    equal(one.predict(X.astype("float32")), (X @ one.w * 3 + 3).astype("float32") + np.float64(0))
    monkeypatch.setattr(models.Model, "scale", 2.0)
    monkeypatch.setattr(models.Model, "offset", np.zeros(3))
    equal(other.predict(X), X @ other.w * 2)
    equal(models.Special(3).predict(X), X @ models.Special(3).w * 2 + 1)


def test_methods_see_objects_inside():
    m = models.Model(3)
    equal(m.deep(X), X + 3)
    m.layers[1].b = np.array(7.0)
    equal(m.deep(X), X + 8)
    m.layers.append(models.Layer(0.5))
    equal(m.deep(X), X + 8.5)
    equal(m.score(X), (X @ m.w * 3 + 3).sum() + (X * m.w).sum())
    equal(m.norm, (m.w**2).sum())


def test_attributes_that_a_method_assigns_are_assigned_after_each_call():
    m = models.Model(3)
    for weights in (np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, -1.0])):
        x = np.random.default_rng(0).normal(size=(10, 3))
        assert m.fit(x, x @ weights) is m
        np.testing.assert_allclose(m.w, weights, atol=1e-12)
        assert (m.n_features_, type(m.n_features_)) == (3, int)
        assert isinstance(m.loss_, np.float64) and m.loss_ < 1e-20


def test_numbers_among_attributes_are_static_until_they_change():
    m = models.Model(3)
    for k in range(1, 6):
        equal(m.step(np.ones(2)), np.ones(2) / (1 - 0.9**k))
        assert (m.steps, type(m.steps)) == (k, int)
    assert len(models.Model.step.traces) <= 2
    for n in (3, 1, 4):
        m.n = n
        equal(m.repeated(X), X + n)  # a range needs the number


def test_class_and_static_methods():
    m = models.Model(3)
    for call in (m.made, models.Model.made):
        equal(call(X), X * 3)
    for call in (m.shifted, m.shifted_again, models.Model.shifted, models.Model.shifted_again):
        equal(call(X), X + 1)
    bound = ag.jit(m.helper, mode="NUMPY")
    equal(bound(X), (X * m.w).sum())
    m.w = m.w * 2
    equal(bound(X), (X * m.w).sum())
    layer = models.Layer(2.0)
    called = ag.jit(layer, mode="NUMPY")
    equal(called(X), X + 2)
    layer.b = np.array(5.0)
    equal(called(X), X + 5)


def test_slots_properties_and_values_computed_once():
    class Slotted:
        __slots__ = ("w",)

        @property
        def doubled(self):
            return self.w * 2

    class Cached:
        def __init__(self):
            self.w = np.ones(3)

        @cached_property
        def norm(self):
            return (self.w**2).sum()

        def __getattr__(self, name):
            if name == "three":
                return 3.0
            raise AttributeError(name)

        @ag.jit(mode="NUMPY")
        def normed(self, x):
            return x / self.norm * self.three

    s, c = Slotted(), Cached()
    s.w = np.arange(3.0)
    f = ag.jit(lambda model, x: model.doubled @ x, mode="NUMPY")
    equal(f(s, np.ones(3)), np.float64(6))
    s.w = np.ones(3)
    equal(f(s, np.ones(3)), np.float64(6))
    equal(c.normed(np.ones(3)), np.ones(3))
    with pytest.raises(AttributeError, match="'Slotted' object has no attribute 'v'"):
        ag.jit(lambda model: model.v)(s)


# --- globals and outer variables

GLOBAL = np.ones(3)
FACTOR = 0.5
TABLE = np.array([2, 3])


def helper(x):
    return x @ GLOBAL


@ag.jit(mode="NUMPY")
def of_globals(x):
    return helper(x) * FACTOR


@ag.jit(mode="NUMPY")
def of_a_shape(x):
    return np.zeros(TABLE) + x


def test_globals_are_read_at_each_call(monkeypatch):
    equal(of_globals(X), X @ GLOBAL * 0.5)
    for weights in (np.full(3, 2.0), np.arange(3.0)):
        monkeypatch.setitem(globals(), "GLOBAL", weights)
        equal(of_globals(X), X @ weights * 0.5)
        weights[0] = -1
        equal(of_globals(X), X @ weights * 0.5)
    for factor in (1.0, 2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        equal(of_globals(X), X @ GLOBAL * factor)
    assert len(of_globals.traces) == 2
    outer = ag.jit(lambda x: of_globals(x) + 1, mode="NUMPY")
    for weights in (np.full(3, 2.0), np.arange(3.0)):
        monkeypatch.setitem(globals(), "GLOBAL", weights)
        equal(outer(X), X @ weights * 3 + 1)


def test_arrays_that_python_needs_are_held(monkeypatch):
    assert of_a_shape(1.0).shape == (2, 3)
    monkeypatch.setitem(globals(), "TABLE", np.array([2, 1]))
    assert of_a_shape(1.0).shape == (2, 1)
    TABLE[0] = 4
    assert of_a_shape(1.0).shape == (4, 1)


class Settings:
    def __init__(self):
        self.power, self.shift = 2, np.zeros(3)


ACTIVATION = np.tanh
SETTINGS = Settings()
GENERATOR = np.random.RandomState(0)


@ag.jit(mode="NUMPY")
def of_settings(x):
    return ACTIVATION(x) ** SETTINGS.power + SETTINGS.shift


def test_functions_and_objects_among_globals(monkeypatch):
    equal(of_settings(X), np.tanh(X) ** 2)
    monkeypatch.setitem(globals(), "ACTIVATION", np.sin)
    equal(of_settings(X), np.sin(X) ** 2)
    for power, shift in ((3, np.ones(3)), (1, np.arange(3.0))):
        monkeypatch.setattr(SETTINGS, "power", power)
        monkeypatch.setattr(SETTINGS, "shift", shift)
        equal(of_settings(X), np.sin(X) ** power + shift)
    with pytest.raises(TypeError, match="would draw its numbers once"):
        ag.jit(lambda x: x + GENERATOR.normal())(1.0)


def test_attributes_that_are_missing_at_first():
    class Lazy:
        @ag.jit(mode="NUMPY")
        def scaled(self, x):
            if hasattr(self, "scale") and getattr(self, "shift", None) is not None:
                return x * self.scale + self.shift
            return x

    lazy = Lazy()
    equal(lazy.scaled(X), X)
    lazy.scale = np.array(2.0)
    equal(lazy.scaled(X), X)
    lazy.shift = np.ones(3)
    equal(lazy.scaled(X), X * 2 + 1)
    del lazy.scale
    equal(lazy.scaled(X), X)


def test_variables_of_an_outer_function():
    w = np.ones(3)
    scaled = ag.jit(lambda x: x * w, mode="NUMPY")
    equal(scaled(X), X)
    w = np.zeros(3)
    equal(scaled(X), X * 0)
    w += 2
    equal(scaled(X), X * 2)


# --- other functions


def test_jitted_functions_build_expressions():
    z, m = T.matrix("z"), models.Model(3)
    f = ag.function([z], [models.twice(z), m.predict(z), ag.grad(m.predict(z).sum(), z)], mode="NUMPY")
    for found, expected in zip(f(X), (X * 2, X @ m.w * 3 + 3, np.tile(m.w * 3, (2, 1))), strict=True):
        equal(found, expected)

    @ag.jit(mode="NUMPY")
    def outer(a, axis):
        return models.twice(a) + models.total(a, axis=axis) + models.twice(np.ones(3)) + models.fast(a)

    equal(outer(X, None), X * 2 + X.sum() + 2 + X - 1)
    equal(ag.vmap(models.twice)(z).eval({z: X}), X * 2)
    steps, _ = ag.scan(models.twice, sequences=z)
    equal(steps.eval({z: X}), X * 2)


# --- static arguments


def test_none_text_and_truth_values_are_static():
    @ag.jit(mode="NUMPY")
    def f(x, axis=None, how="sum", flip=False, dtype=np.float64):
        y = x.sum(axis) if how == "sum" else x.mean(axis)
        return (-y if flip else y).astype(dtype)

    for _ in range(2):
        equal(f(X, None), X.sum())
        equal(f(X, how="mean"), X.mean())
        equal(f(X, flip=True), -X.sum())
        equal(f(X, None, "sum", False, np.float32), np.float32(X.sum()))
    assert len(f.traces) == 4


def test_static_argnames_and_argnums():
    for _ in range(2):
        equal(models.total(X, 0), X.sum(0))
        equal(models.total(X, axis=1), X.sum(1))
        equal(models.total(X, axis=(0, 1), scale=2.0), X.sum() * 2)
    power = ag.jit(lambda x, n: x if n == 0 else x**n, static_argnums=1, mode="NUMPY")
    equal(power(X, 0), X)
    equal(power(X, 3), X**3)
    floats = ag.jit(lambda x, s: x * 0 + (1 if str(s) == "-0.0" else 0), static_argnums=-1, mode="NUMPY")
    equal(floats(X, 0.0), X * 0)
    equal(floats(X, -0.0), X * 0 + 1)
    kinds = ag.jit(lambda x, s: x * 0 + (2 if isinstance(s, bool) else 3), static_argnames=["s"], mode="NUMPY")
    equal(kinds(X, 1), X * 0 + 3)
    equal(kinds(X, True), X * 0 + 2)
    equal(kinds(X, s=1.0), X * 0 + 3)
    total = ag.jit(lambda x, axis: x.sum(axis=axis), mode="NUMPY")  # an integer that must be known is a guard
    equal(total(X, 1), X.sum(1))
    equal(total(X, 0), X.sum(0))
    assert len(total.traces) == 2
    with pytest.raises(TypeError, match=r"an axis must be an integer .*static_argnames"):
        ag.jit(lambda x, axis: x.sum(axis=axis))(X, 1.5)
    with pytest.raises(TypeError, match=r"total: deque\(\[1\]\) is a deque, which cannot be hashed; expected"):
        models.total(X, axis=deque([1]))


# --- what a trace cannot follow


def test_effects_are_refused():
    def draws(x):
        return x + random.random()

    def draws_again(x):
        rng = np.random.default_rng(0)
        return x + rng.normal(size=3)

    def changes(d):
        d["y"] = d["x"] + 1
        return d

    def appends(several):
        several.append(several[0])
        return several

    def counts(x):
        global FACTOR  # noqa: PLW0603
        FACTOR = 3.0
        return x

    state = random.getstate()
    with pytest.raises(TypeError, match=r"random\.random: the function draws .*T\.random\.RandomStream"):
        ag.jit(draws)(1.0)
    random.setstate(state)
    equal(ag.jit(draws_again, mode="NUMPY")(np.ones(3)), draws_again(np.ones(3)))
    with pytest.raises(TypeError, match=r"RandomState.* would draw its numbers once"):
        ag.jit(lambda x, rng: x + rng.normal())(1.0, np.random.RandomState(0))
    with pytest.raises(TypeError, match="changes: the function changes a list or dict"):
        ag.jit(changes)({"x": 1.0})
    with pytest.raises(TypeError, match="appends: the function changes a list or dict"):
        ag.jit(appends)([1.0, 2.0])
    with pytest.raises(TypeError, match="counts: the function assigns FACTOR"):
        ag.jit(counts)(1.0)


# --- names, pickles, copies, processes


def test_it_looks_like_the_function():
    assert models.twice.__name__ == "twice" and models.twice.__doc__ == "Double the argument."
    assert models.twice.__module__ == "jitted_models" and models.twice.__qualname__ == "twice"
    assert models.twice.__wrapped__(3) == 6
    assert str(inspect.signature(models.total)) == "(x, axis=None, *, scale=1.0)"
    m = models.Model(3)
    assert str(inspect.signature(m.predict)) == "(x)" and m.predict.__doc__ == "Return the prediction."
    assert repr(models.fast).startswith("<jitted plain at ")


def test_pickle_and_copies():
    m = models.Model(3)
    assert pickle.loads(pickle.dumps(models.twice)) is models.twice
    assert pickle.loads(pickle.dumps(models.Model.predict)) is models.Model.predict
    assert copy.deepcopy(models.twice) is models.twice and copy.copy(models.twice) is models.twice
    equal(pickle.loads(pickle.dumps(models.fast))(X), X - 1)
    total = pickle.loads(pickle.dumps(models.total))
    equal(total(X, axis=0), X.sum(0))
    equal(pickle.loads(pickle.dumps(m.predict))(X), m.predict(X))
    again = copy.deepcopy(m)
    again.w += 1
    equal(again.predict(X) - m.predict(X), X.sum(1) * 3)
    local = ag.jit(lambda x, n: x * n, static_argnames="n", mode="NUMPY")
    equal(cloudpickle.loads(cloudpickle.dumps(local))(X, 5), X * 5)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_pools_of_processes(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such processes")
    m = models.Model(3)
    with multiprocessing.get_context(method).Pool(1) as pool:
        doubled = pool.map_async(models.twice, [X, X + 1]).get(120)
        predicted = pool.map_async(m.predict, [X]).get(120)
    equal(doubled[1], (X + 1) * 2)
    equal(predicted[0], X @ m.w * 3 + 3)
