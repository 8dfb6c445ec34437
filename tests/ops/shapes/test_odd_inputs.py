"""Odd arguments: every way into a function takes or refuses them alike, with the same bits or the same message."""

import array
import decimal
import fractions

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls import native
from arignote.function.compiled import NATIVE_AFTER
from arignote.function.function import find_toolchain


class Sub(np.ndarray):
    """The classes that NumPy lets users derive."""


class Convertible:
    """Says itself how it becomes an array."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1.0, 2.0])


class Index:
    def __index__(self):
        return 3


class Float:
    def __float__(self):
        return 3.5


MyInt, MyFloat = type("MyInt", (int,), {}), type("MyFloat", (float,), {})
MISALIGNED = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float64)
FIELDS = np.zeros(2, [("a", "i4"), ("b", "f8")])
READ_ONLY = np.arange(3.0)
READ_ONLY.flags.writeable = False
PYTHONS = [
    1, 1.5, True, 1 + 2j, 10**30, 10**400, -1, 0, 3.0, 200, -129, 2**31, 2**63, -(2**63), 1e40, float("nan"),
    float("inf"), None, "1", "abc", b"1", [], (), [1], [1, 2], [1.5, 2], [True], [[1]], [[1, 2], [3]], [1, [2]],
    [None],
    [10**30], [300], [-1], range(2), {1}, {1: 2}, Ellipsis, int, MyInt(3), MyFloat(2.5), Index(), Float(),
    Convertible(),
    decimal.Decimal("1.5"), fractions.Fraction(1, 2), array.array("d", [1, 2]), memoryview(np.array([1.0, 2.0])),
    [np.array([1.0, 2.0])], [np.float64(1), 2], T.vector("z"),
]  # fmt: skip
SCALARS = [
    np.float64(1.5), np.float32(1.5), np.float16(1.5), np.int8(3), np.int64(3), np.uint64(2**63), np.bool_(True),
    np.complex128(1j), np.longdouble(1), np.datetime64("2020"), np.str_("a"), np.array(1.5), np.array(3, ">i8"),
    np.array(1.5, ">f8"), np.array(1.0).view(Sub), np.array(None), MISALIGNED[0:1].reshape(()), np.ma.masked,
]  # fmt: skip
ARRAYS = [
    np.array([1.5]), np.array([1.5], ">f8"), np.array([[1.5]]), np.array([1.0, 2]), np.array([[1.0, 2]]),
    np.array([1.5, 2], ">f8"), np.array([[1.5, 2]], ">f8"), np.array([3, 4], ">i8"), np.array([3, 4], ">i4"),
    np.array([1, 2], "<i8"), np.array([1.0, 2]).view(Sub), np.ones((1, 2)).view(np.matrix),
    np.array([1.0, 2]).view(np.recarray),
    np.ma.array([1.0, 2], mask=[0, 1]), MISALIGNED, MISALIGNED[:1], FIELDS["b"], FIELDS["b"][:1], FIELDS, READ_ONLY,
    np.arange(6.0)[::2], np.arange(6.0)[::-1], np.broadcast_to(1.0, (3,)), np.zeros(0), np.zeros((0, 2)),
    np.zeros((2, 0)),
    np.zeros(3), np.zeros((2, 3)), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.zeros((2, 3, 4)),
    np.array([1, 2], object), np.array(["a"]), np.array([1.5, 2], np.longdouble), np.array([True, False]),
    np.array([1, 2], np.int8), np.array([1, 2], np.uint64), np.array([2**63], np.uint64), np.array([1j]),
    np.array([1.0, 2], np.float16), np.array([1.0, 2], np.float32),
]  # fmt: skip
ODD = [*PYTHONS, *SCALARS, *ARRAYS]
KINDS = [
    (dtype, shape)
    for dtype in ("float64", "int64", "bool", "float32", "int8", "complex128", "uint64", "float16")
    for shape in ((), (None,))
] + [("float64", (None, None)), ("float64", (3,)), ("float64", (1,))]  # fmt: skip
NATIVE = native.layouts_hold() and find_toolchain() is not None


def outcome(call, *arguments, **named):
    """The bits of a result, or an exception's class and text."""
    try:
        result = call(*arguments, **named)
    except Exception as error:
        return type(error).__name__, str(error)
    return result.dtype.str, result.shape, result.tobytes()


def bound(f, value):
    """The outcome of a function that is bound to the value."""
    try:
        binding = f.bind(value)
    except Exception as error:
        return type(error).__name__, str(error)
    return outcome(binding)


@pytest.mark.long
@pytest.mark.parametrize("downcast", [None, True, False])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_way_takes_and_refuses_alike(downcast):
    for dtype, shape in KINDS:
        x = T.tensor("x", dtype, shape)
        options = {"allow_input_downcast": downcast, "name": "f"}
        f, by_numpy = ag.function([x], +x, **options), ag.function([x], +x, mode="NUMPY", **options)
        plain = f._plain
        for _ in range(NATIVE_AFTER):
            f(np.ones([3 if n == 3 else 1 for n in shape], dtype))
        assert (f._path is not plain) == NATIVE
        for value in ODD:
            expected = outcome(plain, value)
            where = f"{dtype}{shape} {downcast}: {type(value).__name__} {value!r}"
            assert outcome(f, value) == expected, where
            assert outcome(f, x=value) == expected, where
            assert outcome(by_numpy, value) == expected, where
            got = bound(f, value)
            assert got == expected or "would have to be copied" in got[1], where


@pytest.mark.parametrize(
    ("dtype", "given", "kept"),
    [
        ("int8", [300], None), ("uint8", [-1], None), ("int64", [2**63], None), ("float32", [10**400], None),
        ("bool", [2], None), ("uint8", [1, 2], [1, 2]), ("uint64", [2**63], [2**63]), ("int8", [-128], [-128]),
        ("float64", [10**30], [1e30]), ("float16", [1e9], [np.inf]),
    ],
)  # fmt: skip
def test_python_numbers_fit_a_shared_variable_or_are_refused(dtype, given, kept):
    s = ag.shared(np.zeros(1, dtype), "s")
    if kept is None:
        with pytest.raises(TypeError, match=r"s .* was given"):
            s.set_value(given)
        assert not s.get_value().any()
        return
    s.set_value(given)
    np.testing.assert_array_equal(s.get_value(), np.array(kept, dtype))
