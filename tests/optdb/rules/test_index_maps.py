"""Transposes, slices with steps and flips inside of elementwise work: one kernel, no array in between."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, R = T.matrix("X"), T.vector("R")
FORMULAS = {
    "transpose and step": lambda np_, x, r: (x.T + 1)[::2],
    "a slice of a transcendental function": lambda np_, x, r: np_.exp(x)[1:-1, ::3] * 2,
    "flip": lambda np_, x, r: np_.flip(x * 2, 1) + 1,
    "five-point stencil": lambda np_, x, r: x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1],
    "sum of a window": lambda np_, x, r: (x[1:, ::2].T * 2).sum(1),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_one_kernel_and_nothing_in_between(name):
    f = ag.function([X, R], FORMULAS[name](T, X, R), on_unused_input="ignore")
    program = f.program
    assert len(program.kernels) == 1
    assert not program.slots
    rng = np.random.default_rng(0)
    for shape in [(3, 3), (9, 14), (40, 31)]:
        x, r = rng.normal(size=shape), rng.normal(size=shape[1])
        for given in (x, np.asfortranarray(x), np.flip(x)):
            np.testing.assert_allclose(f(given, r), FORMULAS[name](np, given, r), rtol=1e-13, atol=1e-13)
