"""Dataclasses and named tuples as arguments of derivatives, `vmap` and loops; results have their structure."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import arignote as ag


@dataclass
class Line:
    slope: Any
    shift: Any


@dataclass(frozen=True)
class Fixed:
    slope: Any
    shift: Any


class Motion(NamedTuple):
    slope: Any
    shift: Any


X = np.arange(3.0)
KINDS = pytest.mark.parametrize("kind", [Line, Fixed, Motion])


def loss(p, x):
    return ((p.slope * x + p.shift) ** 2).sum()


@KINDS
def test_derivatives_have_the_structure_of_the_parameters(kind):
    p, r = kind(np.array([1.0, 2.0, 3.0]), 0.5), X * np.array([1.0, 2.0, 3.0]) + 0.5
    value, slopes = ag.value_and_grad(loss)(p, X)
    assert type(slopes) is kind and value == (r**2).sum()
    np.testing.assert_array_equal(slopes.slope, 2 * r * X)
    assert slopes.shift == 2 * r.sum()
    value, change = ag.jvp(loss, (p, X), (kind(np.ones(3), 1.0), np.zeros(3)))
    assert change == (2 * r * X).sum() + 2 * r.sum()


@KINDS
def test_vmap_takes_and_returns_structures(kind):
    p = kind(np.arange(3.0), np.ones((3, 2)))
    found = ag.vmap(ag.jit(lambda p: kind(p.slope * 2, p.shift.sum())))(p)
    assert type(found) is kind
    np.testing.assert_array_equal(found.slope, p.slope * 2)
    np.testing.assert_array_equal(found.shift, [2.0, 2.0, 2.0])
    eager = ag.vmap(lambda p: kind(p.slope * 2, p.shift.sum()))(p)
    assert type(eager) is kind
    np.testing.assert_array_equal(eager.slope, found.slope)


@KINDS
@pytest.mark.parametrize("several", [False, True])
def test_scan_takes_one_structure_or_a_list_of_them(kind, several):
    def step(row, s, c):
        return kind(s.slope + s.shift * row.slope + c.slope, s.shift * 0.5 + row.shift)

    given = kind(np.arange(4.0), np.ones(4)), kind(0.0, 1.0), kind(1.0, 2.0)
    rows, first, fixed = ([one] if several else one for one in given)
    states, _ = ag.scan(step, sequences=rows, outputs_info=first, non_sequences=fixed)
    slope, shift = 0.0, 1.0
    for t in range(4):
        slope, shift = slope + shift * t + 1.0, shift * 0.5 + 1.0
    assert type(states) is kind and (states.slope.eval()[-1], states.shift.eval()[-1]) == (slope, shift)
