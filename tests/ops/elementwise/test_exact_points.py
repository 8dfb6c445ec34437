"""Exact points, ranges, symmetry and order of the elementary functions; campaign/exact_points.py tries more numbers."""

from __future__ import annotations

import platform
from functools import lru_cache, partial

import numpy as np
import pytest
from campaign.values.exact_points import (
    FUNCTIONS,
    KINDS,
    all_float32,
    chosen_float64,
    faults,
    fuses,
    points_of,
    wrong_points,
)
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.targets.current import current

TWO = ["gamma", "gammaln", "pow", "hypot", "arctan2", "logaddexp"]


def together(names, dtype, **options):
    """One compiled function of all: a dictionary of functions of vectors, which share the results of the last calls."""
    x, y = T.vector("x", dtype), T.vector("y", dtype)
    ops = [T.ELEMENTWISE[name] for name in names]
    f = ag.function([x, y], [op(*(x, y)[: op.arity]) for op in ops], **options)
    results = lru_cache(maxsize=2)(lambda x, y: f(np.frombuffer(x, dtype), np.frombuffer(y, dtype)))

    def value(k, x, y=None):
        return results(x.tobytes(), (x if y is None else y).tobytes())[k]

    return {name: partial(value, k) for k, name in enumerate(names)}


@pytest.mark.long
@pytest.mark.parametrize("target", mostly_long([None, "x86_64-linux-v2"], (None,)), ids=["native", "no multiply-add"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_points_ranges_symmetry_and_order(dtype, target):
    if target and platform.machine() != "x86_64":
        pytest.skip("another instruction set")
    names = [*FUNCTIONS, *TWO]
    functions = together(names, dtype, **({} if target is None else {"target": target}))
    fused = target is None and fuses(current())
    for name, (arguments, values) in points_of(dtype, names).items():
        wrong = wrong_points(functions[name], arguments, values)
        assert not wrong, (name, wrong)
    rng = np.random.default_rng(3)
    if dtype == "float32":
        samples = [all_float32(int(first), 1500) for first in np.linspace(0, 0x7F800000 - 700, 60)]
    else:
        samples = [chosen_float64(rng, kind, 10_000) for kind in range(KINDS)]
    for x in samples:
        for name, of in FUNCTIONS.items():
            for numbers in (x, -x[::-1]):
                wrong = next(faults(of, functions[name], numbers, fused), "")
                assert not wrong, (name, wrong)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_exact_points_of_float16(mode):
    functions = together([*FUNCTIONS, *TWO], "float16", mode=mode)
    for name, (arguments, values) in points_of("float16", [*FUNCTIONS, *TWO]).items():
        wrong = wrong_points(functions[name], arguments, values)
        assert not wrong, (name, wrong)


def test_what_follows_from_a_range_is_a_number():
    """Inverses and roots of what ranges allow: a cosine above 1 made them NaN."""
    x = T.vector("x")
    f = ag.function([x], [T.arccos(T.cos(x)), T.sqrt(1 - T.cos(x) ** 2), T.arcsin(T.sin(x)), T.cos(x), T.erfc(x)])
    near = np.linspace(-1e-8, 1e-8, 20_001)
    angle, root, _, cosine, rest = f(near)
    assert not np.isnan(angle).any() and not np.isnan(root).any()
    assert cosine.max() == 1 and cosine[10_000] == 1 and rest[10_000] == 1
    assert not np.isnan(f(np.pi / 2 + near)[2]).any()


def test_functions_of_subnormal_numbers():
    x = np.array([-5e-324, -1e-310, -(2.0**-1022), -1e-300])
    v = T.vector("v")
    np.testing.assert_allclose(ag.function([v], T.log1mexp(v))(x), np.log(-x), rtol=1e-15)
    w = T.vector("w", dtype="float32")
    y = np.array([-1e-45, -1e-40, -(2.0**-126)], "float32")
    np.testing.assert_allclose(ag.function([w], T.log1mexp(w))(y), np.log(-y.astype("float64")), rtol=2e-7)
