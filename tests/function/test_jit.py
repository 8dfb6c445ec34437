"""The decorator: traced by dtype and rank, nested arguments and results."""

from collections import namedtuple

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

A = np.arange(6.0).reshape(2, 3)


def test_one_trace_serves_all_lengths():
    calls = []

    @ag.jit
    def f(x, y):
        calls.append((x, y))
        return T.exp(x) * y

    for shape in ((3,), (0,), (100,)):
        np.testing.assert_allclose(f(np.ones(shape), np.ones(shape)), np.e * np.ones(shape))
    assert len(calls) == 1 and calls[0][0].name == "x"
    f(np.ones((2, 2)), np.ones((2, 2)))
    f(np.ones(3, "float32"), np.ones(3, "float32"))
    assert len(calls) == 3 and len(f.traces) == 3
    assert f.__name__ == "f"


def test_the_compiled_function_of_a_call_is_at_hand():
    f = ag.jit(lambda x, n=1.0: np.exp(x) * n, profile=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        f.compiled()
    compiled = f.compiled(np.ones(3))
    assert f.compiled() is f.compiled(np.zeros(5)) is compiled and not compiled.profile.calls
    f(np.ones(3))
    assert compiled.profile.calls == 1 and "exp" in compiled.c_source()
    assert f.compiled(np.ones((2, 2))).inputs[0].ndim == 2
    with pytest.raises(ValueError, match=r"there are functions of \(float64\[\?\]\) and \(float64\[\?, \?\]\)"):
        f.compiled()
    with pytest.raises(AttributeError, match=r"Jitted has no attribute 'graph'; use g\.compiled\(a\)\.graph"):
        f.graph  # noqa: B018
    assert repr(f).endswith("2 traces>")
    slope = ag.grad(lambda x: (x**2).sum())
    assert "test_jit.py" in repr(slope) and slope.compiled(np.ones(2)).graph.nodes


def test_arguments_and_results_are_nested():
    Pair = namedtuple("Pair", "left right")

    @ag.jit
    def f(parameters, pair, *, scale):
        w, b = parameters["w"], parameters["b"]
        return {"out": (pair.left @ w + b) * scale, "both": [pair.right, Pair(w, 1.0)]}

    result = f({"w": A.T, "b": np.ones(2)}, Pair(A, np.zeros(1)), scale=2.0)
    np.testing.assert_allclose(result["out"], (A @ A.T + 1) * 2)
    assert isinstance(result["both"][1], Pair)
    np.testing.assert_array_equal(result["both"][1].left, A.T)
    assert result["both"][1].right == 1


def test_options_are_those_of_function():
    @ag.jit(mode="NUMPY", profile=False)
    def f(x):
        return x + 1

    assert f(1.5) == 2.5
    assert next(iter(f.traces.values()))[0].backend == "numpy"


def test_a_gradient_inside():
    @ag.jit
    def step(w, x):
        loss = ((x @ w) ** 2).sum()
        return loss, w - 0.1 * ag.grad(loss, w)

    w, x = np.array([1.0, 2.0, 3.0]), A
    loss, new = step(w, x)
    np.testing.assert_allclose(loss, ((x @ w) ** 2).sum())
    np.testing.assert_allclose(new, w - 0.2 * x.T @ (x @ w))


def test_what_is_no_array_is_named():
    @ag.jit
    def f(x):
        return x

    @ag.jit
    def forgets(x):
        return x, object

    with pytest.raises(TypeError, match=r"forgets: output\[1\] is <class 'object'>; expected variables, numbers"):
        forgets(A)
    with pytest.raises(TypeError, match=r"f: argument 0 \(x\) is ndarray .*; expected numbers"):
        f(np.array(["text"]))
