"""Integers of Python in jitted functions: they never wrap, and what surely fits is not checked."""

from __future__ import annotations

import itertools
import math
import operator

import numpy as np
import pytest

import arignote as ag
from arignote.graph import Constant
from arignote.ops import constant
from arignote.ops.core.tracing import Number, Trace
from arignote.ops.core.variables import tensor
from arignote.tracing.integers import _LEAVES
from arignote.tracing.intervals import FORMULAS, Interval, interval, refined

in_python = pytest.mark.filterwarnings("ignore:arignote.*the call ran in Python")


def factorial(n):
    found = 1
    for i in range(1, n + 1):
        found *= i
    return found


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def power(a, n):
    found = 1
    while n > 0:
        if n & 1:
            found *= a
        a *= a
        n >>= 1
    return found


def shifted(n):
    found = -1
    for _ in range(n):
        found = found << 3
    return found


def squares(x):
    total = 0
    for v in x:
        total += int(v) * int(v)
    return total


def product(a, b):
    return a * b - b, -a, abs(a), a**3, a // -1


def by_branch(n):
    found = 1
    for i in range(n):
        if i % 3 == 0:
            found = found * 1_000_003
        else:
            found = found - i
    return found


@in_python
@pytest.mark.parametrize(("f", "calls"), [
    (factorial, [(5,), (20,), (21,), (40,)]), (fibonacci, [(10,), (92,), (93,), (200,)]),
    (power, [(3, 5), (-3, 39), (3, 41)]), (shifted, [(4,), (20,), (21,), (22,), (40,)]),
    (squares, [(np.arange(5),), (np.full(3, 2**31),), (np.full(3, 2**33),)]),
    (product, [(3, 4), (2**31, 5), (2**40, -(2**30)), (-(2**63), 1), (2**62, 2)]),
    (by_branch, [(5,), (9,), (10,), (30,)]),
])  # fmt: skip
def test_integers_are_those_of_python(f, calls):
    jitted = ag.jit(f)
    for given in calls:
        assert jitted(*given) == f(*given)


@in_python
def test_native_entry_serves_calls_in_python_too():
    jitted = ag.jit(factorial)
    for n in [5] * 80 + [30, 5]:
        assert jitted(n) == factorial(n)


@in_python
def test_int_of_a_float_that_is_large_or_no_number():
    whole = ag.jit(lambda x: int(x) + 1)
    assert [whole(v) for v in (1.5, -7.9, 1e30, -1e25)] == [2, -6, int(1e30) + 1, int(-1e25) + 1]
    with pytest.raises(ValueError, match="NaN"):
        whole(float("nan"))


@in_python
def test_arguments_larger_than_64_bits_run_in_python():
    opposite = ag.jit(lambda a, b: a ^ b)
    assert opposite(10**27, -(10**27)) == 10**27 ^ -(10**27)


def test_overflow_of_array_elements_wraps_as_in_numpy():
    @ag.jit
    def doubled(x):
        total = x[0]
        for v in x:
            total = total + v * v
        return total

    x = np.array([2**62, 2**40, 7])
    with np.errstate(over="ignore"):
        assert doubled(x) == x[0] + np.sum(x * x)


def count(x, n):
    found = 0
    for i in range(n):
        if x[i] > 0:
            found += 1
    return found


def table(n, m):
    out = np.zeros(n * m)
    for i in range(n):
        for j in range(m - 1, -1, -1):
            out[i * m + j] = i + 2 * j
    return out


def search(x, v):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


def checksum(data):
    s = 0xFFFF
    for b in data:
        s = (s * 31 + int(b) * 7) % 65521
        s ^= (s << 3) & 0xFF
    return s


def walk(n):
    i = 0
    while i < n:
        i += 3
    return i


@pytest.mark.parametrize(("f", "given"), [
    (count, (np.array([1.0, -1.0, 2.0]), 3)), (table, (3, 4)), (search, (np.arange(9.0), 4.5)),
    (checksum, (np.arange(20, dtype=np.uint8),)), (walk, (40,)),
])  # fmt: skip
def test_counters_and_indices_cost_no_check(f, given):
    jitted = ag.jit(f)
    np.testing.assert_array_equal(jitted(*given), f(*given))
    (trace,) = jitted.traces.values()
    assert "check" not in str(trace.function.graph) and not trace.catches


_PYTHON = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": abs,
    "mod": operator.mod, "floor_div": operator.floordiv, "maximum": max, "minimum": min, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "right_shift": operator.rshift,
    "left_shift": operator.lshift, "pow": operator.pow,
}  # fmt: skip
_ENDS = [-9, -4, -1, 0, 1, 2, 5, 8]
_INTERVALS = [Interval(a, b) for a, b in itertools.combinations_with_replacement(_ENDS, 2)]


@pytest.mark.parametrize("name", _PYTHON)
def test_interval_of_an_operation_holds_all_its_values(name):
    unary = name in ("neg", "abs")
    for parts in itertools.product(_INTERVALS, repeat=1 if unary else 2):
        found = FORMULAS[name](*parts)
        for values in itertools.product(*[sorted({p.low, (p.low + p.high) // 2, p.high}) for p in parts]):
            if name in ("mod", "floor_div") and values[1] == 0:
                continue
            if name in ("right_shift", "left_shift", "pow") and values[1] < 0:
                continue
            assert found.low <= _PYTHON[name](*values) <= found.high, (parts, values)


_LARGE = [
    -(2**63), -(2**63) + 1, -(2**62), -3037000500, -2, -1, 0, 1, 2, 3, 62, 3037000499, 2**62 - 1, 2**62, 2**63 - 1,
]  # fmt: skip


@pytest.mark.parametrize("name", ["add", "sub", "mul", "left_shift", "pow", "neg", "abs", "floor_div"])
def test_checks_miss_no_result_that_does_not_fit(name):
    values = [(v,) for v in _LARGE] if name in ("neg", "abs") else list(itertools.product(_LARGE, repeat=2))
    if name in ("left_shift", "pow"):
        values = [(a, b) for a, b in values if 0 <= b <= 62]
    values = [v for v in values if name != "floor_div" or v[1]]
    a, b = (tensor(n, dtype="int64", shape=()) for n in "ab")
    with np.errstate(all="ignore"):
        for given in values:
            exact = _PYTHON[name](*given)
            operands = [a, b][: len(given)]
            result = constant(np.array((exact + 2**63) % 2**64 - 2**63, "int64"))
            for parts in ([Interval(-(2**63), 2**63 - 1)] * len(given), [Interval(v, v) for v in given]):
                left = _LEAVES[name](*operands, *parts, result)
                found = bool(left.data if isinstance(left, Constant) else left.eval(dict(zip(operands, given))))
                assert found or -(2**63) <= exact < 2**63, (given, parts)


def test_tests_narrow_intervals():
    trace = Trace(of_call=True)
    a, b = (tensor(n, dtype="int64", shape=()) for n in "ab")
    trace.numbers.update({a: Number(int), b: Number(int)})
    trace.intervals.update({a: Interval(-50, 50), b: Interval(0, 9)})
    own = interval(trace, a)
    assert refined(trace, a < b, a, own) == Interval(-50, 8)
    assert refined(trace, (a >= b) & (a <= 20), a, own) == Interval(-50, 50)  # `&` is no `and`
    assert refined(trace, a < b, a, own, holds=False) == Interval(0, 50)
    assert refined(trace, b > a, a, own) == Interval(-50, 8)
    assert interval(trace, a + b, a) == Interval(0, 9, True)
    assert interval(trace, a * 2, a) == Interval(-100, 100)


def truncated(x):
    found = np.zeros(len(x), int)
    for i in range(len(x)):
        found[i] = int(x[i])
    return found


@in_python
@pytest.mark.parametrize("wrong, error", [(np.nan, ValueError), (np.inf, OverflowError), (-1e19, OverflowError)])
def test_int_of_a_float_in_a_loop_raises_as_python_does(wrong, error):
    x = np.linspace(-9.5, 9.5, 20)
    f = ag.jit(truncated)
    assert f(x).tolist() == truncated(x).tolist()
    x[17] = wrong
    with pytest.raises(error):
        f(x)


def hashed(n, x):
    return n, n + 1, n % 7, n // 3, n > 5, x ^ n, int(x[0]) + 1


@in_python
@pytest.mark.parametrize("n", [2**63 - 1, 2**63, 2**63 + 5, 2**64 - 1])
def test_integers_beyond_int64_are_those_of_python(n):
    x = np.array([2**63 + 1, 2**64 - 1, 3], np.uint64)
    found, expected = ag.jit(hashed)(n, x), hashed(n, x)
    assert found[:5] == expected[:5] and [type(v) for v in found[:5]] == [type(v) for v in expected[:5]]
    np.testing.assert_array_equal(found[5], expected[5])
    assert found[6] == expected[6] and type(found[6]) is int


@in_python
@pytest.mark.parametrize("f", [lambda n: math.factorial(n), lambda n: math.comb(3 * n, n)])  # noqa: PLW0108
def test_results_beyond_64_bits_come_from_python(f):
    jitted = ag.jit(f)
    assert [jitted(n) for n in (5, 20, 21, 30)] == [f(n) for n in (5, 20, 21, 30)]


def test_round_of_a_python_float_is_that_of_python():
    def cents(x):
        found = np.zeros(len(x))
        for i in range(len(x)):
            found[i] = round(float(x[i]), 2)
        return found

    ties = (np.arange(-4000, 4000) + 0.5) / 100
    x = np.array([*ties, 2.675, 1.005, -0.001, 1e22, np.nan, np.inf, 5e-324])
    assert ag.jit(cents)(x).tobytes() == cents(x).tobytes()
    assert ag.jit(lambda v: round(v, 1))(0.15) == round(0.15, 1)


@pytest.mark.parametrize("f, given, words", [
    (lambda x: round(x), 1e30, r"the result of round\(\), does not fit"),  # noqa: PLW0108
    (lambda x: int(x), -1e19, r"the result of int\(\), does not fit"),  # noqa: PLW0108
    (lambda x: math.floor(x), 1e30, r"the result of math\.floor, does not fit"),  # noqa: PLW0108
    (lambda n: n * n * 2, 2**40, r"the result of \*, does not fit"),
    (lambda x: round(x, 2), 1e15, r"round\(x, n\) of a number this large"),
])  # fmt: skip
def test_the_warning_names_the_operation(f, given, words):
    jitted = ag.jit(f)
    with pytest.warns(UserWarning, match=words):
        assert jitted(given) == f(given)
