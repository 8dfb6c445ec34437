"""Results of jitted functions have NumPy's types: arrays, scalars of NumPy, numbers of Python."""

import math

import numpy as np
import pytest

import arignote as ag


def types(value):
    """Return a value with the type, dtype and shape in the place of each leaf."""
    if isinstance(value, (tuple, list)):
        return type(value)(types(v) for v in value)
    return type(value), getattr(value, "dtype", None), getattr(value, "shape", None), np.asarray(value).tolist()


X, N = np.arange(5.0) + 0.5, np.array([2, 3, 4])


def scalars(x, n):
    return (
        x.sum(), x[2], x.max() > 1, n.sum(), n.argmax(), x @ x, np.einsum("i,i->", x, x), np.linalg.norm(x), x.std(),
        np.float32(2), np.where(x > 1, x, 0)[0], np.squeeze(x[0]), x[1].copy(), n[0] + 1, (x > 2).all(), np.sqrt(x[0]),
    )  # fmt: skip


def arrays(x, n):
    return (
        np.array(3.0), np.asarray(x[0]), x[:1].reshape(()), np.zeros(()), np.full((), x[0]), np.ones_like(x[0]),
        np.where(x[0] > 0, 1.0, 2.0), np.squeeze(x[:1]), np.tensordot(x, x, 1), x[..., 0], np.broadcast_to(x[0], ()),
        np.copy(x[0]), x + 1,
    )  # fmt: skip


def pythons(x, n):
    return (
        len(x), x.shape, x.size, x.ndim, float(x[0]), int(x[1]), bool(x[0] > 1), x[0].item(), n.tolist(),
        (x > 1).tolist(), math.sqrt(x[1]), math.isnan(x[0]), 3, 2.5, True, np.allclose(x, x),
        np.array_equal(x, n), round(2.567, 1), 2.5 in x, all(v > 0 for v in n), not x[0], math.floor(x[1]),
    )  # fmt: skip


@pytest.mark.parametrize("f", [scalars, arrays, pythons])
def test_results_have_the_types_of_numpy(f):
    jitted = ag.jit(f)
    assert types(jitted(X, N)) == types(f(X, N))


def numbers(k, a, z):
    return k + 1, k / 2, a * k, abs(a), k > 2, k == a, not k, -k, z * 2, np.float64(k), np.asarray(k), np.sqrt(a)


def test_numbers_of_python_stay_numbers_of_python():
    args = 3, 2.5, 1j
    assert types(ag.jit(numbers)(*args)) == types(numbers(*args))


def flags(x, limit):
    found, count, total, zero = False, 0, 0.0, np.zeros(())
    for i in range(len(x)):
        if x[i] > limit:
            found = True
            count += 1
        total += x[i]
        zero += x[i]
    return found, count, zero, 1 if count else 2


def first(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


@pytest.mark.parametrize("f", [flags, first])
def test_loops_and_branches_keep_the_types_of_python(f):
    x = np.arange(20.0)
    for limit in (3.0, 30.0):
        assert types(ag.jit(f)(x, limit)) == types(f(x, limit))


@pytest.mark.parametrize(
    "f, args",
    [
        (lambda x: x.sum(), (X,)),
        (lambda a, b: a * b, (2.5, 3.5)),
        (lambda k: k + 1, (3,)),
        (lambda k: k > 2, (3,)),
        (lambda k: k * 1j, (3.0,)),
        (lambda x: x.sum().astype(np.float32), (X,)),
        (lambda x: (x.sum(), len(x), x + 1), (X,)),
        (lambda x: x.T.sum(), (np.ones((3, 4)).T,)),
        (lambda x: (x.T, x.max(), x[0, 0] > 0), (np.ones((3, 4)).T,)),
    ],
)
def test_native_entries_return_the_same_types(f, args):
    jitted = ag.jit(f)
    for _ in range(70):
        assert types(jitted(*args)) == types(f(*args))
    assert jitted._entry.__class__.__name__ == "builtin_function_or_method"


def test_an_assigned_shape_is_refused_with_the_way_round():
    def flatten(x):
        x.shape = x.size
        return x

    with pytest.raises(TypeError, match=r"write x = x.reshape\(\.\.\.\)\n  at .*test_jit_types.py:\d+"):
        ag.jit(flatten)(np.ones((2, 2)))


def test_annotations_may_name_types():
    def largest(x):
        def of(kind: type[float], values: list[float]) -> type[int] | float:
            return kind(max(values))

        return of(float, [x[0], x[1]])

    assert ag.jit(largest)(X) == 1.5


def test_functions_that_write_return_scalars_as_well():
    def shift(x):
        x += 1
        return x.sum(), x[0] > 1

    expected = shift(X.copy())
    result, written = ag.jit(shift, write_back=False)(X)
    assert types(result) == types(expected) and types(written["x"]) == types(X + 1)
    assert types(ag.jit(shift)(X.copy())) == types(expected)


def test_functions_of_scipy_are_ours():
    fft, linalg = pytest.importorskip("scipy.fft"), pytest.importorskip("scipy.linalg")

    def spectra(x):
        m = np.outer(x, x) / 9 + np.eye(4)
        return fft.fft(x), fft.irfft(fft.rfft(x)), fft.fftfreq(len(x)), linalg.inv(m), linalg.det(m), linalg.expm(m)

    x = np.arange(4.0)
    for found, expected in zip(ag.jit(spectra)(x), spectra(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        assert type(found) is type(expected) and found.dtype == expected.dtype


def test_functions_of_numpy_take_lists_of_symbolic_numbers():
    def mixed(x):
        a, b, c = x
        return (
            np.sum([a, b]), np.linalg.norm([a, b]), np.take([a, b, c], np.array([2, 0])), np.sqrt([a, b]),
            np.maximum([a, b], [2.0, 2.0]), np.dot([a, b], [1.0, c]), np.where([a > 1, b > 1], [1.0, c], 0.0),
            np.interp(1.5, [0.0, a], [b, 2.0]), np.vstack([[a, 1.0], [2.0, b]]), np.concatenate([[a], x]),
            np.reshape([a, b], (2, 1)), np.einsum("i,i->", [a, b], [1.0, c]), np.mean((a, b)), np.prod(x.shape),
            np.select([x > 1, x > 0], [x, [a, b, c]], 0.0), np.linalg.solve([[a, 1.0], [0.0, b]], [1.0, c]),
        )  # fmt: skip

    x = np.array([3.0, 1.0, 2.0])
    for found, expected in zip(ag.jit(mixed)(x), mixed(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
        assert type(found) is type(expected) and found.dtype == expected.dtype and found.shape == expected.shape


NAMED = ["slogdet", "eig", "eigh", "qr", "svd", "unique_all", "unique_counts", "unique_inverse"]


@pytest.mark.parametrize("name", NAMED)
def test_named_results_are_of_the_classes_of_numpy(name):
    function = getattr(np.linalg, name, None) or getattr(np, name)
    x = np.array([[2.0, 1.0], [1.0, 3.0]])
    found, expected = ag.jit(lambda x: function(x) if x.ndim == 2 else None)(x), function(x)
    assert type(found) is type(expected)
    assert [type(v) for v in found] == [type(v) for v in expected]
    np.testing.assert_allclose(np.abs(found[1]), np.abs(expected[1]))


BOOLS = [
    lambda n: n + (n == 3), lambda n: (n == 3) + (n == 2), lambda n: True + (n == 3), lambda n: (n == 3) * 2.0,
    lambda n: (n == 3) & (n > 2), lambda n: (n == 3) | 4, lambda n: (n == 3) ^ True, lambda n: ~(n == 3),
    lambda n: -(n == 3), lambda n: (n == 3) // 2, lambda n: sum([n == 3, n > 1]), lambda n: (n == 3) < 2,
    lambda n: np.int32(3) + (n == 3), lambda n: (n == 3) ** 2, lambda n: (n == 3) - 1,
]  # fmt: skip


@pytest.mark.long
def test_bools_of_python_count_as_integers():
    def counted(n):
        found = 0
        for i in range(n):
            found += i % 3 == 1
        return found

    for f in (*BOOLS, counted):
        for n in (3, 20):
            found, expected = ag.jit(f)(n), f(n)
            assert (type(found), found) == (type(expected), expected)


NAN = math.nan


def of_two(a, b):
    return max(a, b), min(a, b), max(a, b, 0.5), min(0.5, a, b)


def of_array(x):
    return max(x), min(x)


def of_list(x):
    found = []
    for v in x:
        if v != 3:
            found.append(v)
    return max(found), min(found)


@pytest.mark.parametrize("a", [NAN, 0.0, -0.0, 1.0, -1.0])
@pytest.mark.parametrize("b", [NAN, 0.0, -0.0, 1.0])
def test_max_and_min_of_numbers_compare_as_python_does(a, b):
    assert repr(list(map(float, ag.jit(of_two, engine="numpy")(a, b)))) == repr(list(map(float, of_two(a, b))))


@pytest.mark.parametrize("values", [[NAN, 1, 2], [1, NAN, 2], [1, NAN, -1, NAN], [0.0, -0.0], [-0.0, 0.0],
                                    [-np.inf, NAN], [3, 2, 1.0], [NAN, NAN]])  # fmt: skip
@pytest.mark.parametrize("function", [of_array, of_list])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_max_and_min_of_elements_compare_as_python_does(function, values, dtype):
    x = np.array(values, dtype)
    assert repr(ag.jit(function, engine="numpy")(x)) == repr(function(x))


def test_indices_of_ndindex_and_ndenumerate_are_numbers_of_python():
    def products(x):
        total = 0
        for i, j in np.ndindex(x.shape):
            total = total + i * j
        return total

    def weighted(x):
        total = 0
        for (i, _), v in np.ndenumerate(x):
            total += v * (i + 1)
        return total

    for function in (products, weighted):
        for x in (np.ones((3, 7)), np.ones((3, 7), "f4"), np.ones((2, 5), int)):
            assert types(ag.jit(function)(x)) == types(function(x))
