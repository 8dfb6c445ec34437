"""Python around symbolic values: NumPy's meaning in traced functions, or an error, and never another value."""

import copy
import importlib.util
import math
import re
import warnings

import numpy as np
import pytest
from numpy_one_liners import ARGUMENTS, ONE_LINERS

import arignote as ag
from arignote import ops as T

REFUSED = 3
"""Most one-liners that are refused."""


def liners(folder):
    """The one-liners as functions of a module, so that they have a source, each with its arguments."""
    used = {text: [n for n in ARGUMENTS if re.search(rf"\b{n}\b", text)] for text in ONE_LINERS}
    lines = [f"    lambda {', '.join(names)}: {text}," for text, names in used.items()]
    (folder / "liners.py").write_text("\n".join(["import math", "import numpy as np", "ALL = [", *lines, "]"]))
    spec = importlib.util.spec_from_file_location("liners", folder / "liners.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [(t, f, [ARGUMENTS[n] for n in names]) for (t, names), f in zip(used.items(), module.ALL, strict=True)]


def same(found, expected):
    if found is None or expected is None:
        return found is expected
    if isinstance(expected, (list, tuple)):
        return isinstance(found, (list, tuple)) and len(found) == len(expected) and all(map(same, found, expected))
    found, expected = np.asarray(found), np.asarray(expected)
    rtol = 1e-6 if expected.dtype in (np.float32, np.complex64) else 1e-12
    alike = found.dtype == expected.dtype and found.shape == expected.shape
    return alike and np.allclose(found, expected, rtol=rtol, equal_nan=True)


@pytest.mark.long
def test_one_liners_give_numpys_value_rank_and_dtype_or_are_refused(tmp_path):
    different, refused = [], []
    for text, f, given in liners(tmp_path):
        ours, arguments = copy.deepcopy(given), copy.deepcopy(given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = f(*arguments)
            try:
                found = ag.jit(f, mode="NUMPY")(*ours)
            except (TypeError, AttributeError):
                refused.append(text)
                continue
        if not same([found, *ours], [expected, *arguments]):
            different.append((text, expected, found))
    assert not different
    assert len(refused) <= REFUSED, refused


# --- branches


OUT = [1.0, 2.0]


def branch(x, y):
    return 1 if x + y == 3 else 0


def test_branches_on_values():
    cases = [
        (branch, (1, 2)), (branch, (1.0, 2.5)), (lambda x: 1 if x[0] != 3 else 0, (np.arange(3),)),
        (lambda x: 1 if x[0] in (3, 4) else 0, (np.arange(3),)), (lambda x: x if bool(x) else 0, (2.0,)),
        (lambda x: x if x else -x, (1,)), (lambda x: not x, (1,)), (lambda x, y: x in [y], (1.0, 2.0)),
        (lambda x: 1 if np.any(x == None) else 0, (np.ones(3),)),  # noqa: E711
        (lambda x: max(x, 0), (1,)), (lambda x: sorted(x)[0], (np.ones(3),)),
        (lambda x: (x[0] and x[1]) or 7, (np.array([1, 0]),)), (lambda x: 0 < x[0] <= x[1] < 9, (np.arange(1, 3),)),
    ]  # fmt: skip
    for f, arguments in cases:
        np.testing.assert_array_equal(ag.jit(f, mode="NUMPY")(*arguments), np.asarray(f(*arguments)), strict=True)


@pytest.mark.parametrize(
    "f, arguments",
    [
        (lambda x: 1 if x == x.sum() else 0, (np.arange(3),)), (lambda x: 3 if x == "a" else 4, (np.ones(3),)),
        (lambda x: 3 if x and True else 4, (np.ones(3),)),
    ],
)  # fmt: skip
def test_arrays_have_no_truth_value(f, arguments):
    with pytest.raises(ValueError, match=r"more than one element is ambiguous(?s:.*)test_jit_numpy\.py:\d+"):
        ag.jit(f)(*arguments)


def test_branches_without_a_source_are_errors_with_the_fix():
    for text in ("lambda x: 1 if x[0] != 3 else 0", "lambda x: 1 if x[x > 0].shape == (3,) else 0"):
        with pytest.raises(TypeError, match="symbolic and has no truth value"):
            ag.jit(eval(text))(np.arange(3))


@pytest.mark.parametrize("jitted", [False, True])
def test_comparisons_in_bodies_of_loops(jitted):
    def decided(n):
        return ag.scan(lambda i, k: T.switch(T.eq(i, k), 1, 0) if i == k else 0, T.arange(3), non_sequences=n)[0]

    def chosen(n):
        return ag.scan(lambda i, k: T.where(i == k, 1, T.where(i == 0, 2, 3)), T.arange(3), non_sequences=n)[0]

    n = T.lscalar("n")
    if jitted:
        np.testing.assert_array_equal(ag.jit(decided, mode="NUMPY")(1), [0, 1, 0])
    else:
        with pytest.raises(TypeError, match="no truth value"):
            decided(n)
    found = ag.jit(chosen, mode="NUMPY")(1) if jitted else chosen(n).eval({n: 1})
    np.testing.assert_array_equal(found, [2, 1, 3])
    both = ag.vmap(lambda a, b: T.where(a == b, 1, 0))(T.arange(3), T.arange(3)[::-1])
    np.testing.assert_array_equal(both.eval(), [0, 1, 0])
    kept = ag.while_loop(lambda s: s["i"] != s["n"], lambda s: {"i": s["i"] + 1, "n": s["n"]}, {"i": 0, "n": n})
    assert kept["i"].eval({n: 4}) == 4


def test_identity_stays_for_lists_and_dicts_outside_of_a_trace():
    a, b, c = T.vector("a"), T.vector("b"), T.matrix("c")
    assert a in [b, c, a] and a not in [b, c] and [b, c, a].index(a) == 2 and {a: 1, b: 2}[b] == 2
    assert (a, b) == (a, b) and (a, b) != (a, c)
    with pytest.raises(TypeError, match="no truth value"):
        a in [3]  # noqa: B015


# --- lengths


def test_lengths_that_branches_ask_for_are_guards():
    calls = []

    @ag.jit(mode="NUMPY")
    def f(x, y):
        calls.append(1)
        if x.shape[0] == 3 and len(y) != x.shape[-1]:
            return x.sum() / x.shape[0]
        if x.shape == (4, 2) or x.size > 100:
            return x * y.shape[0]
        return x - x.shape[0] // 2

    def expected(x, y):
        return f.__wrapped__(x, y)

    for m, n, k in [(3, 2, 5), (3, 2, 2), (4, 2, 1), (5, 2, 5), (7, 2, 5), (60, 2, 5), (3, 9, 5), (3, 1, 5), (5, 2, 5)]:
        x, y = np.arange(m * n * 1.0).reshape(m, n), np.ones(k)
        np.testing.assert_allclose(f(x, y), expected(x, y), strict=True)
    assert len(f.traces) < 8


def test_one_trace_where_lengths_are_only_computed_with():
    @ag.jit(mode="NUMPY")
    def f(x):
        n, m = len(x), len(x.T)
        return x.reshape(m, n) / n + np.sqrt(m) * x.size, x[: n // 2] * (n / m), np.tile(x, (m, 1)).sum() % n

    for shape in [(2, 3), (4, 1), (5, 5)]:
        x = np.arange(np.prod(shape) * 1.0).reshape(shape)
        for found, expected in zip(f(x), f.__wrapped__(x), strict=True):
            np.testing.assert_allclose(found, expected, strict=True)
        x = x.astype("float32")
        assert [r.dtype for r in f(x)] == [np.asarray(r).dtype for r in f.__wrapped__(x)]
    assert len(f.traces) == 2


def test_loops_over_lengths():
    @ag.jit(mode="NUMPY")
    def f(x):
        total = 0.0
        for k in range(len(x)):
            total = total + x[k] * k
        for row in x:
            total = total + row
        return total

    for n in (1, 3, 2, 3):
        x = np.random.default_rng(n).normal(size=(n, 2))
        np.testing.assert_allclose(f(x), f.__wrapped__(x))
    assert len(f.traces) == 1


def test_squeeze_gives_the_rank_of_the_call():
    f, g = ag.jit(np.squeeze, mode="NUMPY"), ag.jit(lambda x: (x * 2).squeeze() + 1, mode="NUMPY")
    for shape in [(1, 3), (2, 3), (2, 1), (1, 1), (5, 3)]:
        x = np.ones(shape)
        np.testing.assert_array_equal(f(x), np.squeeze(x), strict=True)
        np.testing.assert_array_equal(g(x), np.squeeze(x) * 2 + 1, strict=True)
    assert len(f.traces) == 4
    m = T.matrix("m")
    with pytest.raises(ValueError, match=r"squeeze: which axes of m \(float64\[\?, \?\]\).* give axis="):
        T.squeeze(m)
    with pytest.raises(ValueError, match="give axis="):
        ag.jit(lambda x: x[x > 0].squeeze())(np.ones(3))
    assert T.squeeze(m, 0).ndim == 1 and T.squeeze(T.tensor(shape=(1, 3))).ndim == 1


@pytest.mark.parametrize("f", [np.cov, np.corrcoef, lambda x: np.cov(x.T), lambda x: np.cov(x, x), np.atleast_3d])
def test_other_ranks_that_depend_on_lengths(f):
    jitted = ag.jit(f, mode="NUMPY")
    for shape in [(1, 4), (3, 4), (4, 1), (2, 5)]:
        x = np.random.default_rng(0).normal(size=shape)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(jitted(x), np.asarray(f(x)), strict=True)


# --- Python numbers


def test_python_numbers_take_the_dtype_of_arrays():
    f32, i8 = np.ones(3, "float32"), np.array([1, -2, 100], "int8")
    cases = [
        (lambda x, s: x * s, f32, 2.5), (lambda x, s: x * (s + 1) / s, f32, 2), (lambda x, s: x + s, i8, 3),
        (lambda x, s: x * s, i8, 1.5), (lambda x, s: x > s, i8, 300), (lambda x, s: x * np.sqrt(s), f32, 2.0),
        (lambda x, s: np.where(x > 0, x, s), f32, 2.0), (lambda x, s: x ** (s - 1), f32, 3),
        (lambda x, s: x * s**-1, f32, 2), (lambda x, s: x * math.floor(s) + round(s, 1), f32, 2.5),
        (lambda x, s: x * s**0.5, f32, -4.0), (lambda x, s: x + -s + abs(s - 3) * 2, i8, 2),
        (lambda x, s: 2**-s * x, f32, 3),
        (lambda x, s: x * (True + s) + math.trunc(s), f32, 2.5), (lambda x, s: x + divmod(s, 2)[1], f32, 5),
 (lambda x, s: x + s, f32, np.float64(2)), (lambda x, s: x + s, f32, 2j),
    ]  # fmt: skip
    for f, x, s in cases:
        np.testing.assert_allclose(ag.jit(f, mode="NUMPY")(x, s), f(x, s), strict=True)
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds for int8"):
        ag.jit(lambda x, s: x + s)(i8, 300)
    narrow = ag.jit(lambda x, s: x + s, mode="NUMPY")
    np.testing.assert_array_equal(narrow(i8, 3), i8 + 3, strict=True)
    with pytest.raises(OverflowError):  # also in later calls
        narrow(i8, 300)


# --- writing


def test_what_writes():
    x = np.arange(6.0).reshape(2, 3)

    def updated(x):
        x = x + 0.0
        x -= x.mean(axis=0)
        x /= 2
        return x

    def aliased(x):
        y = x
        y += 1
        return x

    def viewed(x):
        y = x[0]
        y *= 2
        return x.sum()

    def copied(x):
        y, z, flat = x.copy(), x.astype(x.dtype), x.flatten()
        y += 1
        z += 2
        flat += 3
        return x * y * z + flat.sum()

    for f in (
        updated, copied, aliased, viewed, lambda x: x.sort(), lambda x: x.fill(2), lambda x: np.fill_diagonal(x, 0),
        lambda x: np.copyto(x, 0), lambda x: np.put(x, 0, 1), lambda x: x.__setitem__(0, 1),
        lambda x: x.partition(1),
    ):  # fmt: skip
        ours, given = x.copy(), x.copy()
        found, expected = ag.jit(f, mode="NUMPY")(ours), f(given)
        assert same([found, ours], [expected, given])
    for f, error in [
        (lambda x: np.add(x, 1, out=OUT), TypeError), (lambda x: x.resize(6), AttributeError),
    ]:  # fmt: skip
        with pytest.raises(error):
            ag.jit(f)(x)
    with pytest.raises(TypeError, match=r"x \+= y: the result is of float64, which an array of int64"):
        ag.jit(lambda i, s: i.__iadd__(s))(np.arange(3), 1.5)
    with pytest.raises(ValueError, match="does not have the shape of x"):
        ag.jit(lambda a, b: a.__iadd__(b))(np.ones(3), np.ones((2, 3)))
    np.testing.assert_array_equal(ag.jit(lambda a, b: a.__iadd__(b))(np.ones(3, "f4"), x[0]), np.ones(3, "f4") + x[0])


def test_matrices_and_masks_are_refused():
    with pytest.raises(TypeError, match="is a matrix, which means other than an array"):
        ag.jit(lambda x: x * x)(np.eye(2).view(np.matrix))
    with pytest.raises(TypeError, match=r"is a MaskedArray.* x\.filled"):
        ag.jit(lambda x: x.sum())(np.ma.masked_array([1.0, 2.0], [True, False]))

    class Sevens(np.ndarray):
        def __getitem__(self, key):
            return 7.0

    class Named(np.ndarray):
        name = "x"

    with pytest.raises(TypeError, match="is a Sevens, which means other than an array"):
        ag.jit(lambda x: x[0])(np.ones(3).view(Sevens))
    assert ag.jit(lambda x: x[0] + 1)(np.ones(3).view(Named)) == 2.0


# --- types


def kind(x):
    return type(x)


def test_types_and_dtypes_are_numpys():
    seen = []

    def look(x, s, n):
        seen.append((
            x.dtype == np.float32, x.dtype == "float32", x.dtype == np.dtype("f4"), x.dtype in {np.dtype("float32")},
            x.dtype.kind, np.issubdtype(x.dtype, np.floating), isinstance(x, np.ndarray), isinstance(x.T, np.ndarray),
            isinstance(s, float), isinstance(n, int), isinstance(x.sum(), np.float32), isinstance(x, (list, int)),
            isinstance(x.shape, tuple), isinstance(x.shape[0], int), x.ndim, hasattr(x, "__array__"),
            type(x) is np.ndarray, type(s) is float, type(n) is int, type(x.sum()) is np.float32,
            type(x.shape[0]) is int, isinstance(type(x), type), issubclass(int, type), type("P", (), {"v": 3}).v,
            str is str, kind(n) is int,
        ))  # fmt: skip
        return x

    arguments = np.ones((2, 3), "float32"), 1.5, 2
    ag.jit(look)(*arguments)
    look(*arguments)
    assert seen[0] == seen[1]


def made_by_name(x):
    n = len(x)
    return (
        np.arange(1, stop=n), np.arange(start=1, stop=n, step=2), np.arange(0, n, 1, "float32"), np.arange(n, step=2),
        np.full_like(x, fill_value=x[1], dtype="float32"), np.zeros_like(x, shape=(2, n)), max([], default=x[2]),
    )  # fmt: skip


def test_constructors_read_all_their_arguments():
    x = np.arange(6.0)
    for found, wanted in zip(ag.jit(made_by_name)(x), made_by_name(x), strict=True):
        assert np.array_equal(found, wanted) and np.result_type(found) == np.result_type(wanted)


@pytest.mark.parametrize("call, message", [
    (lambda x: np.zeros(len(x), nonsense=1), r"zeros\(\) got an unexpected keyword argument 'nonsense'"),
    (lambda x: np.arange(len(x), start=2), r"arange\(\) got multiple values for argument 'start'"),
    (lambda x: np.arange(start=len(x)), "arange: no stop is given"),
])  # fmt: skip
def test_arguments_that_constructors_do_not_take_are_errors(call, message):
    with pytest.raises(TypeError, match=message):
        ag.jit(call)(np.arange(6.0))
