"""Bad arguments: each is refused before anything is computed, with a message that names function, argument, expectation
and mend.
"""

import array

import numpy as np
import pytest
from compiled import compiled

from arignote import ops as T
from arignote.engines import Request, engine
from arignote.graph import FunctionGraph


def by_numpy(inputs, outputs, name="f"):
    return engine("numpy").compile(FunctionGraph(inputs, outputs), Request(name, [None] * len(inputs)))


GOOD = [np.arange(6.0).reshape(2, 3), np.arange(3, dtype="int32"), np.float32(1.5)]


@pytest.fixture(scope="module", params=["c", "numpy"])
def model(request):
    x, k, s = T.matrix("x"), T.ivector("k"), T.fscalar("s")
    outputs = [x * k + s]
    if request.param == "c":
        return compiled([x, k, s], outputs, name="model")
    return by_numpy([x, k, s], outputs, name="model")


def with_argument(position, value):
    return [value if k == position else good for k, good in enumerate(GOOD)]


MATRIX = GOOD[0]
BAD = [
    # argument, value, error, what the message says beside the function
    (
        0,
        MATRIX.astype("complex128"),
        TypeError,
        r"argument 0 \(x\): expected float64\[\?, \?\].*got dtype complex128; use x.real",
    ),
    (0, MATRIX.astype("longdouble"), TypeError, r"argument 0 \(x\).*got dtype float128|longdouble"),
    (0, MATRIX[0], TypeError, r"argument 0 \(x\).*\(2 dimensions\), got shape \(3,\); use x\[None, ...\]"),
    (0, MATRIX[None], TypeError, r"argument 0 \(x\).*got shape \(1, 2, 3\); use x.reshape"),
    (0, 3.0, TypeError, r"argument 0 \(x\).*got shape \(\)"),
    (0, None, TypeError, r"argument 0 \(x\).*got NoneType None"),
    (0, "abc", TypeError, r"argument 0 \(x\).*got str 'abc'"),
    (0, MATRIX.astype(object), TypeError, r"argument 0 \(x\).*got an array of dtype object"),
    (0, MATRIX.astype("U8"), TypeError, r"argument 0 \(x\).*got an array of dtype <U"),
    (0, MATRIX.astype("S8"), TypeError, r"argument 0 \(x\).*got an array of dtype \|S"),
    (0, MATRIX.astype("datetime64[s]"), TypeError, r"argument 0 \(x\).*got an array of dtype datetime64"),
    (0, np.zeros((2, 3), [("a", "f8")]), TypeError, r"argument 0 \(x\).*got an array of dtype \["),
    (0, [[1.0, 2.0], [3.0]], TypeError, r"argument 0 \(x\).*no rectangular array"),
    (0, {1: 2}, TypeError, r"argument 0 \(x\).*got dict"),
    (0, object(), TypeError, r"argument 0 \(x\).*got object"),
    (0, iter([1.0]), TypeError, r"argument 0 \(x\).*got list_iterator"),
    (0, np.ma.masked_array(MATRIX, MATRIX > 2), TypeError, r"argument 0 \(x\).*got a masked array; use x.filled"),
    (0, T.matrix("z"), TypeError, r"argument 0 \(x\).*got the symbolic variable z"),
    (0, [[1j, 2]], TypeError, r"argument 0 \(x\).*got dtype complex128"),
    (1, np.arange(3), TypeError, r"argument 1 \(k\): expected int32\[\?\].*got dtype int64; use k.astype\('int32'\)"),
    (1, np.arange(3.0), TypeError, r"argument 1 \(k\).*got dtype float64; use k.astype\('int32'\)"),
    (1, [1.5, 2.0, 3.0], TypeError, r"argument 1 \(k\).*got dtype float64; use np.array\(k\).astype"),
    (1, [1, 2, 2**40], TypeError, r"argument 1 \(k\).*out of its range"),
    (1, [1, 2, 10**30], TypeError, r"argument 1 \(k\)"),
    (1, np.arange(3, dtype="uint32"), TypeError, r"argument 1 \(k\).*got dtype uint32"),
    (1, True, TypeError, r"argument 1 \(k\).*got shape \(\)"),
    (
        2,
        np.float64(1.5),
        TypeError,
        r"argument 2 \(s\): expected float32 \(a scalar\), got dtype float64; use s.astype\('float32'\)",
    ),
    (2, [1.5], TypeError, r"argument 2 \(s\).*got shape \(1,\)"),
    (2, "1.5", TypeError, r"argument 2 \(s\).*got str"),
    (2, 1j, TypeError, r"argument 2 \(s\).*got dtype complex128"),
]


@pytest.mark.parametrize(
    "position, value, error, message", BAD, ids=[f"{p}-{type(v).__name__}-{n}" for n, (p, v, *_) in enumerate(BAD)]
)
def test_bad_arguments(model, position, value, error, message):
    with pytest.raises(error, match=message) as caught:
        model(*with_argument(position, value))
    text = str(caught.value)
    assert text.startswith("model: argument") and len(text.splitlines()) <= 3
    np.testing.assert_array_equal(model(*GOOD)[0], GOOD[0] * GOOD[1] + GOOD[2])


def test_numbers_of_arguments(model):
    with pytest.raises(TypeError, match=r"model: argument 2 \(s\) is missing; expected float32 \(a scalar\)"):
        model(*GOOD[:2])
    with pytest.raises(TypeError, match=r"model: takes 3 arguments \(x, k, s\), got 4"):
        model(*GOOD, 1)
    with pytest.raises(TypeError, match=r"model: argument 0 \(x\) is missing"):
        model()


SAFE = [
    (0, MATRIX.astype("float32")), (0, MATRIX.astype("int32")), (0, MATRIX.astype("bool")),
    (0, MATRIX.astype("float16")),
    (0, MATRIX.tolist()), (0, [[1, 2, 3], [4, 5, 6]]), (0, tuple(map(tuple, MATRIX.tolist()))),
    (0, MATRIX.view(np.recarray)),
    (0, list(MATRIX)), (1, [1, 2, 3]), (1, range(3)), (1, np.arange(3, dtype="int8")),
    (1, np.arange(3, dtype="uint16")),
    (1, [True, False, True]), (2, 1.5), (2, 2), (2, True), (2, np.array(1.5, "f4")), (2, np.int16(3)),
]  # fmt: skip


@pytest.mark.parametrize("position, value", SAFE, ids=range(len(SAFE)))
def test_what_loses_nothing_is_converted(model, position, value):
    given = with_argument(position, value)
    x, k, s = (np.asarray(v).astype(t) for v, t in zip(given, ("f8", "i4", "f4"), strict=True))
    np.testing.assert_array_equal(model(*given)[0], x * k + s)


class Subclass(np.ndarray):
    """An array with a type of its own."""


class OfAnotherPackage:
    """Object that is no array and offers its numbers by the given method."""

    def __init__(self, method):
        setattr(type(self), method, lambda self, *_, **__: np.ones(3))

    def __repr__(self):
        return "<several\nlines>"


KINDS = {
    "subclass": lambda a, _: a.view(Subclass), "recarray": lambda a, _: a.view(np.recarray),
    "memmap": lambda a, path: np.memmap(path, "f8", "w+", shape=3), "array": lambda a, _: array.array("d", a),
    "memoryview": lambda a, _: memoryview(a), "read-only": lambda a, _: np.broadcast_to(1.0, 3),
    "foreign byte order": lambda a, _: a.astype(">f8"), "generic": lambda a, _: [np.float64(1), np.float32(1), 1],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_other_kinds_give_the_plain_result(kind, tmp_path):
    x = T.vector("x")
    value = KINDS[kind](np.ones(3), tmp_path / "map")
    for function in (compiled([x], [x * 2]), by_numpy([x], [x * 2])):
        (result,) = function(value)
        assert type(result) is np.ndarray and result.dtype == "float64"
        np.testing.assert_array_equal(result, np.asarray(value) * 2.0)


@pytest.mark.parametrize(("method", "mend"), [("toarray", "x.toarray()"), ("__dlpack__", "np.from_dlpack(x)")])
def test_arrays_of_other_packages_are_refused_with_the_mend(method, mend):
    x = T.vector("x")
    kind = type("Other", (OfAnotherPackage,), {})
    with pytest.raises(TypeError) as caught:
        compiled([x], [x * 2], name="f")(kind(method))
    expected = f"f: argument 0 (x): expected float64[?] (1 dimension), got Other <several lines>; use {mend}"
    assert str(caught.value) == expected


def test_narrowing_only_with_leave():
    x, k = T.fvector("x"), T.ivector("k")
    wide = [np.linspace(0, 1, 3), np.arange(3)]
    free, strict = (compiled([x, k], [x * 2, k + 1], allow_input_downcast=leave) for leave in (True, False))
    for got, want in zip(free(*wide), (wide[0].astype("f4") * 2, wide[1] + 1), strict=True):
        np.testing.assert_array_equal(got, want)
    with pytest.raises(TypeError, match="out of its range"):
        free(wide[0], np.array([2**40, 0, 0]))
    with pytest.raises(TypeError, match="got dtype float64"):
        free(wide[0], np.zeros(3))
    with pytest.raises(TypeError, match="got dtype float64"):
        strict([1.0, 2.0, 3.0], np.arange(3, dtype="i4"))


def test_no_pair_of_dtypes_loses_something_silently():
    from arignote.graph import DTYPES

    for want in DTYPES:
        x = T.vector("x", dtype=want)
        identity = by_numpy([x], [x])
        for have in DTYPES:
            value = np.ones(2, have)
            if np.can_cast(have, want, "safe"):
                assert identity(value)[0].dtype == want
            else:
                with pytest.raises(TypeError, match=rf"got dtype {have}; use x\.(astype|real)"):
                    identity(value)


def test_promised_lengths():
    x, y = T.tensor("x", shape=(None, 3)), T.matrix("y", shape=(1, None))
    function = compiled([x, y], [x + y, y.T])
    np.testing.assert_array_equal(function(np.ones((2, 3)), np.ones((1, 3)))[0], 2)
    for bad, message in [
        (
            [np.ones((2, 4)), np.ones((1, 3))],
            r"argument 0 \(x\): expected float64\[\?, 3\], got shape \(2, 4\): axis 1 has length 4, not 3",
        ),
        ([np.ones((2, 3)), np.ones((2, 3))], r"argument 1 \(y\): expected float64\[1, \?\], got shape \(2, 3\)"),
        ([np.ones((2, 3)), np.ones((2, 3))[::-1]], r"argument 1 \(y\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            function(*bad)


def test_unnamed_arguments_and_shared_values_have_positions_too():
    class Container:
        value = np.ones(3)

    x, w, y = T.vector(), T.vector("w"), T.vector()
    function = compiled([x, w, y], [x + w + y], shared=[None, Container(), None], name="sum3")
    with pytest.raises(TypeError, match=r"sum3: argument 1: expected"):
        function(np.ones(3), np.ones((3, 1)))
    with pytest.raises(TypeError, match=r"sum3: takes 2 arguments \(input 0, input 1\), got 3"):
        function(np.ones(3), np.ones(3), np.ones(3))
