"""Generator expressions that a call consumes, comprehensions of several loops, `filter` and `match` under `ag.jit`."""

import itertools

import numpy as np
import pytest

import arignote as ag

R = np.random.default_rng(0)
SHORT, LONG = R.random(9), R.random(1500)


def squares(x):
    return sum(v**2 for v in x), sum((v for v in x), 10.0)


def counted(x):
    return sum(1 for v in x if v > 0.5), sum(v > 0.5 for v in x)


def pairs(x):
    return sum(x[i] * x[j] for i in range(len(x)) for j in range(i + 1, len(x)) if x[j] > 0.9)


def rows(x):
    return sum(v for row in x.reshape(-1, 3) if row[0] > 0.4 for v in row if v < 0.7)


def weighed(x):
    return sum(a * b for a, b in zip(x, x[::-1], strict=True))


def questions(x):
    return any(v > 0.999 for v in x), all(v < 0.999 for v in x), any(v > 2 for v in x), all(v >= 0 for v in x)


def extremes(x):
    return max(v * v - v for v in x), min((v for v in x if v > 2), default=-1.0), max(v for v in x if v < 0.5)


def extremes_by_a_key(x):
    middle = min((i for i in range(len(x))), key=lambda i: abs(x[i] - 0.5))
    return max(range(len(x)), key=lambda i: x[i]), middle, max(x[x > 0.5], key=lambda v: -v)


def first(x):
    return next((i for i, v in enumerate(x) if v > 0.8), -1), next((i for i, v in enumerate(x) if v > 2), -1)


def first_number(x):
    return next(n for n in itertools.count(1) if n * x[0] > 20)


def gathered(x):
    return np.array([a * b for a in x[:5] for b in x[:7] if a < b]), [i + j for i in range(3) for j in range(2)]


def listed(x):
    return np.array(list(v + 1 for v in x if v > 0.3)), len(sorted(v for v in x if v > 0.3))  # noqa: C400


def from_items(x):
    return np.fromiter((v * v for v in x), float), np.fromiter((v for v in x if v > 0.5), dtype=np.float32)


def filtered(x):
    return max(filter(lambda v: v > 0.5, x)), len(list(filter(None, x > 0.5)))


class Total:
    """A function that cannot be hashed."""

    __hash__ = None

    def __call__(self, values):
        total = 0.0
        for v in values:
            total = total + v
        return total


def of_own(x):
    total = Total()
    return total(v * v for v in x[:9]), total([v for v in x[:9]])  # noqa: C416


def of_python(x):
    shape = tuple(n + 1 for n in x.shape)
    return np.zeros(shape), sum(len(word) for word in ("a", "bc")), "".join(str(n) for n in (1, 2)) == "12"


@pytest.mark.few(8)
@pytest.mark.parametrize("x", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("f", [
    squares, counted, pairs, rows, weighed, questions, extremes, extremes_by_a_key, first, first_number, gathered,
    listed, from_items, filtered, of_own, of_python,
])  # fmt: skip
def test_values_are_those_of_python(f, x):
    x = x[:60] if f is pairs else x
    expected, found = f(x), ag.jit(f)(x)
    several = isinstance(expected, tuple)
    for want, value in zip(expected if several else [expected], found if several else [found], strict=True):
        np.testing.assert_array_equal(np.asarray(value), np.asarray(want))
        assert np.asarray(value).dtype == np.asarray(want).dtype


def test_nothing_to_consume():
    @ag.jit
    def largest(x):
        return max(v for v in x if v > 1)

    @ag.jit
    def found(x):
        return next(v for v in x if v > 1)

    assert largest(np.array([0.5, 3.0, 2.0])) == 3.0 == found(np.array([0.5, 3.0, 2.0]))
    with pytest.raises(ValueError, match=r"max\(\) iterable argument is empty"):
        largest(SHORT)
    with pytest.raises(StopIteration):
        found(SHORT)


def test_gradients():
    def energy(x):
        return sum((x[i] - x[j]) ** 2 for i in range(len(x)) for j in range(i) if x[i] > x[j])

    step = 1e-6 * np.eye(9)
    expected = [(energy(SHORT + e) - energy(SHORT - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(ag.grad(energy)(SHORT), expected, rtol=1e-6)


# --- match


def of_numbers(x, code):
    match int(code):
        case 0:
            return x * 2
        case 1 | 2:
            return x + 10
        case k if k > 5:
            return x * k
        case _:
            return -x


def of_steps(x, codes):
    total = 0.0
    for i in range(len(codes)):
        match int(codes[i]):
            case 0:
                total += x[i]
            case 1 | 2 as by:
                total -= by * x[i]
            case 3 if x[i] > 0.5:
                break
            case other:
                total *= other
    return total


def of_signs(x, code):
    match (x[0] > 0.5, code > 0):
        case (True, True):
            return 1
        case (True, _):
            return 2
        case _:
            return 3


@pytest.mark.parametrize("f", [of_numbers, of_signs])
@pytest.mark.parametrize("code", [-1.0, 0.0, 1.0, 2.0, 4.0, 7.0])
def test_match_on_values(f, code):
    for x in (SHORT, 1 - SHORT):
        np.testing.assert_array_equal(ag.jit(f)(x, np.array(code)), f(x, np.array(code)))


def test_match_in_a_loop():
    codes = np.array([0, 1, 2, 4, 3, 0, 3, 2, 0])
    for x in (SHORT, SHORT - 0.5):
        assert ag.jit(of_steps)(x, codes) == of_steps(x, codes)


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def of_python_values(x, what):
    match what:
        case "sum":
            return x.sum()
        case ("times", n):
            return x * n
        case [a, *rest, b] if a < b:
            return x * a + len(rest) * b
        case None:
            return x
        case _:
            raise ValueError("unknown")


def of_classes(x, what):
    match what:
        case Point(0, y):
            return x + y
        case Point(x=a, y=b):
            return x * a + b
        case {"k": value}:
            return x * value


@pytest.mark.parametrize("f, what", [
    *((of_python_values, v) for v in ("sum", ("times", 3), [1, 2, 3, 4], None)),
    *((of_classes, v) for v in (Point(0, 2), Point(3, 2), {"k": 4})),
])  # fmt: skip
def test_match_on_values_of_python(f, what):
    np.testing.assert_array_equal(ag.jit(f, static_argnames="what")(SHORT, what=what), f(SHORT, what))


def test_match_without_a_case():
    with pytest.raises(ValueError, match="unknown"):
        ag.jit(of_python_values, static_argnames="what")(SHORT, what="else")


# --- lists that a function of NumPy takes


@pytest.mark.long
def test_arrays_of_many_items_are_filled_by_a_loop_for_all_lengths():
    def moving(x, w):
        return np.array([x[i : i + w].mean() for i in range(len(x) - w + 1)])

    def distances(x, y):
        return np.array([[np.linalg.norm(a - b) for b in y] for a in x]).argmin(1)

    made, nearest = ag.jit(moving, static_argnames="w"), ag.jit(distances)
    for count in (20, 60, 2000):
        x = R.random(count)
        np.testing.assert_allclose(made(x, w=4), moving(x, 4), rtol=1e-14)
        points, centres = x.reshape(-1, 2), R.random((3, 2))
        np.testing.assert_array_equal(nearest(points, centres), distances(points, centres))


def of_either(a, b):
    match (int(a), int(b)):
        case (0, n) | (n, 0):
            return n
        case _:
            return -1


def test_names_in_alternatives_and_lines_in_the_last_case():
    def failing(x, code):
        match int(code):
            case 0:
                return x
            case _:
                y = x * 2
                return y + np.ones(4)

    assert ag.jit(of_either, static_argnames=("a", "b"))(a=0, b=7) == 7 == of_either(7, 0)
    assert ag.jit(of_either, static_argnames=("a", "b"))(a=7, b=0) == 7
    with pytest.raises(TypeError):
        ag.jit(of_either)(np.array(7), np.array(0))
    with pytest.raises(ValueError, match=r"return y \+ np\.ones\(4\)"):
        ag.jit(failing)(np.ones(3), np.array(1))


@pytest.mark.long
def test_rows_of_rows_are_arrays_that_loops_fill():
    def squared_distances(a, b):
        return np.array([[np.sum((x - y) ** 2) for x in a] for y in b])

    def table(n, m):
        return np.array([[i * j + 0.5 for j in range(m)] for i in range(n)])

    def others(a, b):
        return (
            np.mean([np.linalg.norm(x) for x in a]), np.vstack([x[1:] for x in a]), np.concatenate([x[:2] for x in a]),
            np.array([x.sum() for x in a if x[0] > 0.5]), np.sum([[x[0] * y[0] for x in a] for y in b], axis=0),
            np.array([[[x[0] + z for z in range(3)] for x in a] for y in b]),
            np.array([(i, x[0]) for i, x in enumerate(a)]),
        )  # fmt: skip

    distances = ag.jit(squared_distances)
    for m, n in ((40, 30), (3, 30), (40, 2), (1, 1), (200, 300)):
        a, b = R.random((m, 4)), R.random((n, 4))
        np.testing.assert_allclose(distances(a, b), squared_distances(a, b), rtol=1e-14)
    a, b = R.random((40, 4)), R.random((30, 4))
    for got, expected in zip(ag.jit(others)(a, b), others(a, b), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)
    for n, m in ((50, 30), (3, 30), (50, 1)):
        np.testing.assert_array_equal(ag.jit(table)(n, m), table(n, m))
    gradient = ag.grad(ag.jit(lambda a, b: np.sum(squared_distances(a, b))))(a, b)
    np.testing.assert_allclose(gradient, 2 * (len(b) * a - b.sum(0)), rtol=1e-12)
