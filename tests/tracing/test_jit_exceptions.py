"""Exceptions, contexts, generators and shared memory in functions under `ag.jit`: NumPy's result, or an error with the
line of the user and the way round.
"""

import contextlib
import copy
import warnings

import numpy as np
import pytest

import arignote as ag

X = np.arange(1.0, 5)


def agrees(f, *arguments, compiled=None):
    """Whether the result and the arguments are those of Python."""
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        expected = f(*theirs)
        found = (compiled or ag.jit(f, mode="NUMPY"))(*ours)
    for a, b in [(found, expected), *zip(ours, theirs, strict=True)]:
        if isinstance(b, (np.ndarray, float, int, np.generic)):
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, err_msg=f.__name__)
        else:
            assert a is None or isinstance(a, (list, dict, str)), f.__name__


# --- try


def plain(x):
    try:
        y = x * 2
    except ValueError:
        y = x
    else:
        y = y + 1
    finally:
        x[0] = 9.0
    return y


def in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        try:
            s += x[i % 4] / (i + 1)
        except ZeroDivisionError:
            s -= 1
    return s


def of_numbers(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return 0.0


def by_key(x, d):
    try:
        return x * d["scale"]
    except KeyError:
        return x


def by_text(x, text):
    try:
        n = int(text)
    except ValueError:
        n = 3
    return x * n


def by_static_number(x, n=3):
    try:
        if n > 2:
            raise ValueError("n")
        return x
    except ValueError:
        return -x


def test_tries_that_a_trace_can_follow():
    agrees(plain, X)
    agrees(in_a_loop, X, 30)
    agrees(by_static_number, X)
    divided = ag.jit(of_numbers)
    for b in (2.0, 0.0, 4.0, 0.0):
        agrees(of_numbers, 1.0, b, compiled=divided)
    for d in ({"scale": 2.0}, {}):
        agrees(by_key, X, d)
    for text in ("5", "five"):
        agrees(by_text, X, text)


def by_sum(x):
    try:
        if x.sum() > 3:
            raise ValueError("large")
        y = x
    except ValueError:
        y = -x
    return y


def by_index(x, i):
    try:
        x[0] = 7.0
        x[i] = 1.0
    except (KeyError, IndexError):
        x[1] = 8.0


def by_matrix(a):
    try:
        return np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        return np.zeros_like(a)


def suppressed(x, i):
    v = 0.0
    with contextlib.suppress(IndexError):
        v = x[i]
    return v


def test_errors_of_values_that_are_caught_run_in_python():
    cases = [
        (by_sum, (X,), (X / 9,), "ValueError"), (by_index, (X, 9), (X, 2), "IndexError"),
        (by_matrix, (-np.eye(2),), (np.eye(2),), "LinAlgError"), (suppressed, (X, 9), (X, 1), "IndexError"),
    ]  # fmt: skip
    for f, fails, works, name in cases:
        compiled = ag.jit(f)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            agrees(f, *works, compiled=compiled)
        with pytest.warns(UserWarning, match=rf"ran in Python, since .*exceptions\.py:\d+ catches {name}"):
            agrees(f, *fails, compiled=compiled)
    with pytest.warns(UserWarning, match="ran in Python"), pytest.raises(IndexError):
        ag.jit(by_index)(np.zeros(1), 9)  # of the handler itself


def swallowed(x):
    try:
        y = np.busday_count(x, 3)
    except Exception:
        y = -x
    return y


def test_handlers_do_not_catch_errors_of_the_trace():
    with pytest.raises(TypeError, match=r"clause caught TypeError of the trace.*busday.*strict=False.*\n  at "):
        ag.jit(swallowed)(X)
    with pytest.warns(UserWarning, match="runs in Python"), pytest.raises(TypeError):  # in the handler
        ag.jit(swallowed, strict=False)("text")


# --- with


def contexts(x, n):
    s = 0.0
    with np.errstate(divide="ignore"), contextlib.nullcontext():
        y = np.log(x - 1)
    for i in range(n):
        with np.errstate(all="ignore"):
            s += x[i % 4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if x.sum() > 100:
            return y
        x = x + 1
    return x * s


def test_contexts():
    agrees(contexts, X, 30)


# --- generators


def generators(x, n):
    def doubled():
        for v in x:
            yield v * 2

    def numbers(k):
        for i in range(k):
            yield i + 1

    s = sum(v * 2 for v in x)
    for v in doubled():
        s += v
    for i in numbers(n):
        s += x[i % 4]
    return s if any(v > 3 for v in x) and not all(v > 3 for v in x) else -s


def by_values(x):
    def large():
        for v in x:
            if v > 2:
                yield v

    s = 0.0
    for v in large():
        s += v
    return s


def generator(x):
    for v in x:
        yield v * 2


def filtered(x):
    return np.array([v * 2 for v in x if v > 2])


def test_generators():
    agrees(generators, X, 30)
    agrees(filtered, X)
    cases = [
        (by_values, "large is a generator: .*branches cannot depend on values.*strict=False"),
        (generator, "generator: a generator function, .*return a list or an array, or use.*strict=False"),
    ]
    for f, expected in cases:
        with pytest.raises(TypeError, match=rf"{expected}.*\n  at .*exceptions\.py:\d+"):
            ag.jit(f)(X)
    with pytest.warns(UserWarning, match="runs in Python"):
        assert list(ag.jit(generator, strict=False)(X)) == list(X * 2)


# --- arrays that share elements, and states


def alias(x, y):
    x[0] = 5.0
    y[1] = x[0] + y[0]
    return x + y


def old_view(x, n):
    v = x[1:]
    for i in range(n):
        x[i % 4] += v[0]
    return v * 1


def rank_grows(x, n):
    y = 0.0
    for i in range(n):
        y = y + x if i else x
    return y


def rank_changes(x, n):
    y = x
    for i in range(n):
        y = y[None] * 2 if i % 2 else y.sum(axis=0)[None]
    return y


def rank_rises(x, n):
    y = x
    for _ in range(n):
        y = y[None] * 2
    return y


def over_a_list(x, n):
    several = [x[0], x[1]]
    s = 0.0
    for i in range(n):
        for v in several:
            s += v * i
    grown = []
    for i in range(n):
        grown.append(x[i % 4])
    return s + sum(grown)


def of_unknown_length(x):
    found, i = [], 0
    while x[i] < 3:
        found.append(x[i])
        i += 1
    return sum(found)


def test_shared_arrays_and_states():
    compiled = ag.jit(alias, mode="NUMPY")
    ours, theirs = X.copy(), X.copy()
    np.testing.assert_array_equal(compiled(ours, ours), alias(theirs, theirs))
    np.testing.assert_array_equal(ours, theirs)
    base = np.arange(6.0)
    with pytest.raises(ValueError, match=r"writes to argument 0, which shares elements with argument 1; .*\n  at .*\d"):
        compiled(base[:4], base[2:])
    np.testing.assert_array_equal(base, np.arange(6.0))
    fixed = X.copy()
    fixed.flags.writeable = False
    for x in (fixed, np.broadcast_to(np.ones(1), (4,))):
        with pytest.raises(ValueError, match=r"read-only: x.*\n  at .*exceptions\.py:\d+"):
            ag.jit(alias)(x, X)
    agrees(old_view, X, 30)
    agrees(rank_grows, X, 30)
    agrees(rank_changes, X, 2)
    agrees(rank_rises, X, 20)  # step by step
    agrees(over_a_list, X, 30)
    agrees(of_unknown_length, np.array([1.0, 2.0, 3.0, 4.0]))


def share(total, count):
    if count <= 0 or total < 0:
        raise ValueError("no share")
    return total / count


def test_raise_by_numbers_of_the_first_call_comes_before_what_follows():
    jitted = ag.jit(share)
    with pytest.raises(ValueError, match="no share"):
        jitted(1.0, 0)
    assert jitted(3.0, 2) == 1.5
    for given in ((1.0, 0), (-1.0, 2)):
        with pytest.raises(ValueError, match="no share"):
            jitted(*given)


def positive_or_one(x, n):
    try:
        if n < 0:
            raise ValueError("n")
        y = x * n
    except ValueError:
        y = x
    return y


@pytest.mark.filterwarnings("ignore:arignote.*the call ran in Python")
def test_raise_that_is_caught_by_numbers_of_the_call():
    jitted, x = ag.jit(positive_or_one), np.ones(2)
    for n in (-1, 2, -3, 4):
        np.testing.assert_array_equal(jitted(x, n), positive_or_one(x, n))


# --- errors in loops and branches


class Small(Exception):
    """An exception of a program."""


def negative_at(x):
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError(f"negative: {x[i]} at {i}")
        x[i] = 0
    return x


def raises_in_else(x):
    s = 0.0
    for v in x:
        if v > 0.5:
            s += v
        elif v > 0.1:
            s -= v
        else:
            s += 1
            raise Small("small", v)
    return s


def raises_behind_a_loop(x):
    s = 1.0
    for i in range(len(x)):
        s *= x[i]
        if s < 1e-3:
            return i
    raise RuntimeError(f"not below after {len(x)}: {s}")


def ends_before_its_error(x):
    i = 0
    while x[i] != 0.25:
        if x[i] > 5:
            raise IndexError(f"five at {i}")
        i += 1
    return i


LONG = np.random.default_rng(3).random(40) + 0.11


def outcome(f, x):
    try:
        return "value", repr(f(x)), repr(x)
    except Exception as error:
        return type(error), str(error), repr(x)


@pytest.mark.parametrize("program", [negative_at, raises_in_else, raises_behind_a_loop, ends_before_its_error])
def test_errors_in_loops_are_those_of_python(program):
    f = ag.jit(program)
    for changed in (lambda x: x, lambda x: np.where(np.arange(40) == 30, -2.0, x), np.ones_like,
                    lambda x: np.append(x, 7.0), lambda x: np.append(x, 0.25)):  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert outcome(f, changed(LONG.copy())) == outcome(program, changed(LONG.copy()))


def test_a_gradient_raises_the_error_of_its_function():
    def squares(x):
        s = 0.0
        for v in x:
            if v < 0:
                raise ValueError("negative")
            s += v * v
        return s

    np.testing.assert_allclose(ag.grad(squares)(LONG), 2 * LONG)
    with pytest.raises(ValueError, match="raises ValueError in a loop or branch"):
        ag.grad(squares)(-LONG)


def unread_element(x, n):
    y = np.zeros(3)
    y[n] = 2.0
    return x


def unread_in_a_loop(x, n):
    y = np.zeros(3)
    for i in range(n):
        y[i] = 2.0
    return x


def unread_in_a_branch(x, n):
    y = np.zeros(3)
    if x[0] > 0:
        y[n] = 1
    return x


def unread_through_a_view(x, n):
    y = np.zeros((3, 3))
    y.T[n, 0] += 1
    return 1


def unread_in_a_while(x, n):
    y = np.zeros(3)
    z, i = y[::-1], 0
    while i < n:
        z[i] += i
        i += 1
    return x


def unread_places(x, n):
    y = np.zeros(3)
    y[np.arange(n)] = 1.0
    return x


def overwritten(x, n):
    y = x * 2
    y[n] = 3.0
    y = x + 1
    return y * 2


@pytest.mark.parametrize("program", [
    unread_element, unread_in_a_loop, unread_in_a_branch, unread_through_a_view, unread_in_a_while, unread_places,
    overwritten,
])  # fmt: skip
def test_bad_indices_of_writes_that_nothing_reads(program):
    f = ag.jit(program)
    for n in (2, 7, 1):
        x = np.ones(3)
        if n == 7:
            with pytest.raises(IndexError):
                program(x, n)
            with pytest.raises(IndexError, match="out of bounds"):
                f(x, n)
        else:
            np.testing.assert_array_equal(f(x, n), program(x, n))
