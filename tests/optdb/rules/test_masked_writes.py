"""Writes of elementwise values at the positions of a mask are one loop, with the values of NumPy."""

import numpy as np
import pytest

import arignote as ag

SHAPES = [(0,), (1,), (37,), (0, 3), (1, 1), (5, 9), (3, 4, 5)]


def _programs():
    def set_elements(x, y, mask):
        x[mask] = np.exp(x[mask]) * y[mask] + 2
        return x

    def add_to_elements(x, y, mask):
        x[mask] += y[mask] / (x[mask] - 1)
        return x

    def one_array_twice(x, y, mask):
        x[mask] = x[mask] * x[mask] - y[mask]
        return x

    def in_a_loop(x, y, mask):
        for k in range(20):
            chosen = x < 3
            x[chosen] = x[chosen] ** 2 + y[chosen]
            x[mask & chosen] = k
        return x

    return [set_elements, add_to_elements, one_array_twice, in_a_loop]


@pytest.mark.few(1)
@pytest.mark.parametrize("program", _programs(), ids=lambda f: f.__name__)
def test_values_are_those_of_numpy(program):
    compiled = ag.jit(program)
    for shape in SHAPES:
        rng = np.random.default_rng(3)
        x, y, mask = rng.normal(size=shape), rng.normal(size=shape), rng.random(shape) < 0.5
        if x.size > 3:
            x.flat[:4] = np.nan, np.inf, -np.inf, -0.0
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(compiled(x.copy(), y, mask), program(x.copy(), y, mask), rtol=1e-13)


def _graph(program, *arguments):
    compiled = ag.jit(program)
    compiled(*arguments)
    return str(next(iter(compiled.traces.values())).function.graph)


def test_a_mask_finds_no_positions():
    arguments = (np.ones((4, 5)), np.ones((4, 5)), np.ones((4, 5), bool))
    for program in _programs():
        assert "nonzero" not in _graph(program, *arguments)


def test_costly_values_are_computed_where_they_are_written():
    def far_fewer(x, mask):
        x[mask] = np.sin(x[mask]) * np.cos(x[mask]) + np.exp(x[mask])
        return x

    assert "nonzero" in _graph(far_fewer, np.ones(9), np.ones(9, bool))


def test_a_mask_of_rows():
    @ag.jit
    def rows(x, y, mask):
        x[mask] = x[mask] * 2 + y[mask]
        return x

    x, y, mask = np.arange(12.0).reshape(4, 3), np.ones((4, 3)), np.array([True, False, False, True])
    expected = x.copy()
    expected[mask] = expected[mask] * 2 + y[mask]
    np.testing.assert_array_equal(rows(x.copy(), y, mask), expected)


def test_other_lengths_are_errors_as_in_numpy():
    set_elements = ag.jit(_programs()[0])
    with pytest.raises(IndexError, match="mask"):
        set_elements(np.ones(4), np.ones(5), np.ones(4, bool))
    with pytest.raises(IndexError, match="mask"):
        set_elements(np.ones(4), np.ones(4), np.ones(5, bool))
