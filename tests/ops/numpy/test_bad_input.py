"""Arrays that are hard to take: too large to exist, empty, of odd strides and byte orders, lying over one another.

Right results or a short clear error, never a crash and never a wrong number. docs/reliability.md lists the cases.
"""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

HUGE = 2**62
N, M = T.lscalar("n"), T.lscalar("m")
X, Y = T.vector("x"), T.matrix("y")
TOO_LARGE = (MemoryError, ValueError)


def short(error):
    text = str(error.value)
    assert text and len(text.splitlines()) <= 3, text


@pytest.fixture(scope="module")
def makers():
    made = {
        "zeros": T.zeros((N, M)), "broadcast": T.broadcast_to(T.cast(N, "float64"), (N, M)),
        "sum of one": T.zeros((N, M)) + 1.0, "eye": T.eye(N, M), "joined": T.concatenate([T.zeros((N, M))] * 3, axis=1),
        "byte": T.zeros((N, M), dtype="int8"), "complex": T.zeros((N, M), dtype="complex128"),
    }  # fmt: skip
    return {name: ag.function([N, M], output, on_unused_input="ignore") for name, output in made.items()}


@pytest.mark.parametrize("lengths", [(2**31, 2**32), (2**40, 2**40), (HUGE, 1), (HUGE, HUGE), (3, 2**60 + 1)])
@pytest.mark.parametrize("name", ["zeros", "broadcast", "sum of one", "eye", "joined", "byte", "complex"])
def test_shapes_whose_size_overflows(makers, name, lengths):
    with pytest.raises(TOO_LARGE) as error:
        makers[name](*lengths)
    short(error)
    assert makers[name](2, 3).shape == (2, 9 if name == "joined" else 3)  # and the function works again


@pytest.mark.parametrize("lengths", [(-1, 3), (3, -1), (-HUGE, HUGE), (-1, -1), (-(2**63), 2)])
@pytest.mark.parametrize("name", ["zeros", "byte"])
def test_negative_lengths(makers, name, lengths):
    with pytest.raises(ValueError) as error:
        makers[name](*lengths)
    short(error)


@pytest.mark.parametrize("lengths", [(0, 3), (3, 0), (0, 0), (0, 2**31), (2**40, 0)])
@pytest.mark.parametrize("name", ["zeros", "sum of one", "joined"])
def test_lengths_of_zero_beside_large_ones(makers, name, lengths):
    found = makers[name](*lengths)
    assert found.size == 0 and found.shape == (lengths[0], lengths[1] * (3 if name == "joined" else 1))


@pytest.mark.few(1)
@pytest.mark.parametrize(("dtype", "length"), [("int8", HUGE), ("bool", 2**63 - 1), ("float64", 2**48)])
def test_inputs_of_very_many_elements(dtype, length):
    """They exist: one number with a stride of 0."""
    endless, x = np.broadcast_to(np.ones((), dtype), (length,)), T.vector("x", dtype)
    for result in (x + x, T.exp(x) * x[::-1], T.concatenate([x, x]), T.cumsum(x), T.sort(x), x[:, None] * x):
        with pytest.raises(TOO_LARGE) as error:
            ag.function([x], result)(endless)
        short(error)
    found = ag.function([x], [x.shape[0], x[:2], x[-1]])(endless)
    assert found[0] == length and found[1].tolist() == [1, 1] and found[2] == 1


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_arrays_through_everything(shape):
    results = [
        T.exp(Y) + 1, T.sum(Y), T.sum(Y, axis=0), T.sum(Y, axis=1), T.prod(Y, axis=0), Y @ Y.T, Y.T @ Y, Y.T, Y[::-1],
        T.concatenate([Y, Y]), T.cumsum(Y, axis=1), T.sort(Y, axis=0), T.nn.softmax(Y), Y - T.sum(Y, axis=0),
    ]  # fmt: skip
    given = np.zeros(shape)
    found = ag.function([Y], results)(given)
    for one, two in zip(found, T.evaluate(results, {Y: given}), strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype


def odd_layouts(whole):
    """The values of a matrix in memory of all kinds."""
    n, m = whole.shape
    room = np.zeros((2 * n, 3 * m), whole.dtype)
    room[::2, ::3] = whole
    yield "apart", room[::2, ::3]
    yield "backwards", np.ascontiguousarray(whole[::-1, ::-1])[::-1, ::-1]
    yield "by columns", np.asfortranarray(whole)
    yield "bytes swapped", whole.astype(whole.dtype.newbyteorder())
    unaligned = np.zeros(whole.nbytes + 1, np.uint8)[1:].view(whole.dtype).reshape(n, m)
    unaligned[:] = whole
    yield "unaligned", unaligned
    fixed = whole.copy()
    fixed.flags.writeable = False
    yield "read-only", fixed
    yield "one row", np.broadcast_to(whole[:1], whole.shape)
    yield "one number", np.broadcast_to(whole[:1, :1], whole.shape)
    yield "a field", np.rec.fromarrays([np.zeros((n, m), "u1"), whole]).f1


@pytest.mark.few(2)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"])
def test_odd_layouts_give_what_contiguous_copies_give(dtype):
    x = T.matrix("x", dtype)
    f = ag.function([x], [x + x, x.T, x[::-1, 1:], T.sum(x, axis=0), x @ x.T])
    whole = (np.arange(35).reshape(5, 7) % 4).astype(dtype)
    for _ in range(2):
        for name, given in odd_layouts(whole):
            before = given.copy()
            for one, two in zip(f(given), f(np.array(given, dtype, order="C")), strict=True):
                np.testing.assert_array_equal(one, two, err_msg=name)
            np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("step", [1, -1, 2])
@pytest.mark.parametrize("offset", range(-8, 9))
def test_inputs_that_lie_over_what_is_overwritten(offset, step):
    """The container's own memory, some elements further: as if it were a copy."""
    room = np.arange(64.0)
    w = ag.shared(room[16:32], name="w", borrow=True)
    f = ag.function([X], None, updates=[(w, w * 2 + X)])
    start = 16 + offset if step > 0 else 31 + offset
    view = room[start : start + 16 * step : step] if step > 0 else room[start : start - 16 : -1]
    wanted = room[16:32] * 2 + view
    f(view)
    np.testing.assert_array_equal(w.get_value(), wanted)
