"""Jumps, assignments and texts where branches and loops depend on values: Python's result, or an error."""

import itertools

import numpy as np
import pytest

import arignote as ag

NUMBERS = (2.5, -1.0, 12.0, -7.0)


# --- what a branch assigns is not seen by the other one


def read_by_the_other_branch(x):
    y = 0
    if x > 0:
        y = 5
        r = y
    else:
        r = y + 1
    return r


def swapped(x):
    a = b = 0
    if x > 0:
        a, b = b + 1, a + 2
    else:
        b, a = a + 5, b + 7
    return a * 10 + b


def returned_before_a_loop(x):
    if x < 2:
        return x
    for k in range(20):
        if k > x:
            return k * 10.0
    return x


def searched(x):
    if x < 2:
        return 0
    low, high = 0, 30
    while low <= high:
        middle = low + (high - low) // 2
        if middle == x:
            return middle
        if middle < x:
            low = middle + 1
        else:
            high = middle - 1
    return high


def counted_inside(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    if x > 0:
        count()
        r = n
    else:
        r = n * 10
    for k in range(3):
        if x > k:
            count()
    return r + n


def counted_by_another(x):
    n = 0

    def count():
        nonlocal n
        n += 1

    def called(f, y):
        if y > 0:
            f()

    called(count, x)
    return n


def counted_in_a_choice(x):
    n = 0.0

    def count():
        nonlocal n
        n += x
        return n

    r = count() if x > 0 else 5.0
    return n + r


# --- jumps


def returned_by_a_case(x):
    if x > 0:
        match 3:
            case 3:
                return 5.0
    return x


def continued_by_a_case(x):
    for k in range(30):
        match k % 3:
            case 0 if k > 3:
                continue
            case 1:
                if x > 30:
                    break
            case other:
                x = x + other
        x = x + 1
    return x


def returned_by_a_handler(x):
    if x > 0:
        try:
            [1].index(3)
        except ValueError:
            return 5.0
    return x


def broken_by_a_handler(x):
    for _ in range(30):
        try:
            [1].index(3)
        except ValueError:
            if x > 10:
                break
        else:
            return -1.0
        x = x + 1
    return x


def broken_in_the_else_of_a_try(x):
    for _ in range(30):
        try:
            if x < -5:
                x = x + 2
                continue
        except ValueError:
            pass
        else:
            if x > 10:
                break
        x = x + 1
    return x


def broken_in_finally(x):
    for _ in range(30):
        try:
            x = x + 1
            if x > 20:
                return -x
        finally:
            if x > 10:
                break  # noqa: B012
    return x


def returned_in_a_context(x):
    if x > 0:
        with np.errstate(all="ignore"):
            return 5.0
    return x


def returned_in_the_else_of_a_loop(x):
    for _ in range(30):
        while x < 5:
            x = x + 1
            if x == 3:
                break
        else:
            x = x + 2
            if x > 20:
                return x * 100
    return x


def continued_in_the_else_of_a_loop(x):
    for _ in range(30):
        for _ in range(30):
            x = x + 1
            if x > 50:
                break
        else:
            continue
        break
    return x


def annotated(x):
    if x < 0:
        return -1
    copy: float = x
    total: int = 0
    while x > 0:
        total = total * 10 + x
        x -= 1.0
    return copy + total


def raised_behind_a_return(x):
    try:
        if x < 0:
            return x
        int("three")
    except ValueError:
        return 3.0
    return x


@pytest.mark.parametrize(
    "f",
    [
        read_by_the_other_branch, swapped, returned_before_a_loop, searched, counted_inside, counted_by_another,
        counted_in_a_choice, returned_by_a_case, continued_by_a_case, returned_by_a_handler, broken_by_a_handler,
        broken_in_the_else_of_a_try, broken_in_finally, returned_in_a_context, returned_in_the_else_of_a_loop,
        continued_in_the_else_of_a_loop, annotated,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_flow(f):
    mine = ag.jit(f)
    for x in NUMBERS:
        assert mine(x) == f(x), x


def test_an_error_of_a_branch_is_not_caught():
    with pytest.raises(TypeError, match=r"caught ValueError .* raised in a loop or branch that depends on values"):
        ag.jit(raised_behind_a_return)(np.ones(()))


def test_a_variable_of_an_outer_function_in_a_branch_of_another():
    with pytest.raises(TypeError, match="n, a variable of an outer function, is assigned by a function"):
        ag.jit(counted_by_another)(np.ones(()))


# --- where Python needs the value itself


def keys(n):
    known = {n: 1, n + 1: 2}
    known[n] += 5
    return known.get(2, 0) * 10 + len({n, n + 0, 7}) + {2: 100}.get(n, 0)


def members(n):
    values = [n, n + 0, 3]
    return len(set(values)) + [1, 2, 2].count(n) * 10 + [5, 2, n].index(n) * 100 + (n in {2: 1}) * 1000


def texts(n):
    return len(str(n)) + len(f"{n:5d}") * 10 + len("%s" % n) * 100 + len(f"{n}") * 1000  # noqa: UP031


def items(n):
    return {2: 4, 30: 5}[n] + (n in range(0, 40, 2))


def reversed_digits(n):
    return int(str(n)[::-1])


def repeated(n):
    found = [0] * (n + 1)
    found *= 2
    table = [[1.5] * n for _ in range(n)]
    found[n] = len(found) + len((2,) * n)
    return found[n] + len(table[1]) * 100 + (np.ones(3) * [1, 2, 3])[2]


@pytest.mark.parametrize("f", [keys, members, texts, items, reversed_digits, repeated], ids=lambda f: f.__name__)
def test_numbers_of_the_call(f):
    mine = ag.jit(f)
    for n in (2, 30):
        assert mine(n) == f(n), n


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (lambda x: x * len(str(x[0])), "text"), (lambda x: x * len(f"{x[0]}"), "text"),
        (lambda x: x * len({x[0]: 1}), "hash"), (lambda x: x * len({x[0], x[1]}), "hash"),
        (lambda x: x * len(set(x[:2])), "hash"), (lambda x: x * {1.0: 2.0}.get(x[0], 3.0), "hash"),
        (lambda x: x * [1.0, 2.0].count(x[0]), "equality"), (lambda x: x * hash(x[0]), "hash"),
        (lambda x: x * len([0] * int(x.sum())), "fixed count"),
    ],
)  # fmt: skip
def test_elements_have_no_value_for_python(f, what):
    with pytest.raises(TypeError, match=f"is symbolic and has no {what}"):
        ag.jit(f)(np.ones(3))


def test_texts_for_people():
    """Texts that are printed or raised may say what a symbolic value is."""

    def checked(x):
        print(x.sum(), f"{x.mean():.3f}")
        if x.sum() < 0:
            msg = f"the sum {x.sum()} is negative"
            raise ValueError(msg)
        elif x.sum() > 100:  # noqa: RET506
            raise ArithmeticError("too large: %s" % x.sum())  # noqa: UP031
        else:
            y = x * 2
        return y

    f = ag.jit(checked)
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 2.0))
    with pytest.raises(ValueError, match="is negative"):
        f(-np.ones(3))
    with pytest.raises(ArithmeticError, match="too large"):
        f(np.full(3, 99.0))


def test_the_function_raises_by_integers():
    """A number that Python must know: the error is that of the function, not that of the trace."""

    def digits(n):
        if n < 0:
            raise ValueError("negative")
        return len(bin(n))

    f = ag.jit(digits)
    with pytest.raises(ValueError, match="negative"):
        f(-4)
    assert f(4) == 5


# --- iterators without an end


def returned_by_counting(x):  # noqa: RET503
    for k in itertools.count():
        x = x / 2
        if abs(x) < 0.1:
            return x, k


def broken_by_counting(x):
    total = 0.0
    for k in itertools.count(3, 2):
        total += k * abs(x)
        if total > 50:
            break
    return total, k


def counted_in_fractions(x):  # noqa: RET503
    for k in itertools.count(0.5, 0.25):
        if k * k > x:
            return k


def counted_beside_rows(x):
    total = 0
    for k, v in zip(itertools.count(1), np.arange(40) * x):
        total += k * v
    return total


@pytest.mark.parametrize(
    "function", [returned_by_counting, broken_by_counting, counted_in_fractions, counted_beside_rows]
)
def test_a_loop_may_count_without_an_end(function):
    f = ag.jit(function)
    for x in NUMBERS:
        np.testing.assert_allclose(f(x), function(x), rtol=1e-15)
    assert len(f.traces) == 1


@pytest.mark.long
def test_an_iterator_without_an_end_is_refused_with_the_line():
    def around(x):  # noqa: RET503
        for w in itertools.cycle((1, 2, 3)):
            x = x - w
            if x < 0:
                return x

    def beside(x):
        return sum(v * w for v, w in zip(x, itertools.cycle((1, 2))))

    with pytest.raises(TypeError, match=r"loop: cycle is traced item by item.*while\n  at .*flow\.py:"):
        ag.jit(around)(20.5)
    with pytest.raises(TypeError, match=r"zip: cycle has more than 1,000,000 items.*islice\n  at .*flow\.py:"):
        ag.jit(beside)(np.arange(20.0))
