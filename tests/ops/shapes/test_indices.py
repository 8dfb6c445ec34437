"""Arrays of indices of every integer dtype: read as they are, checked strip by strip."""

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T
from arignote.ops.shapes.indexing import INDEX_DTYPES

RNG = np.random.default_rng(7)
MODE = ag.Mode("fast_run", backend="c")


def numbers(dtype, length, low, high):
    """Random indices of a dtype; without negative ones where it has no sign."""
    return RNG.integers(0 if dtype.startswith("u") else low, high, length).astype(dtype)


@pytest.mark.parametrize("dtype", mostly_long(sorted(INDEX_DTYPES), {"uint8", "int32"}))
def test_indices_are_read_in_their_own_dtype(dtype):
    x, m, i = T.vector("x"), T.matrix("m"), T.vector("i", dtype=dtype)
    outputs = [x[i], m[i], m[i, i], m[:, i], T.inc_subtensor(x[i], 2.0), T.set_subtensor(m[i, 0], 3.0)]
    f = ag.function([x, m, i], outputs, mode=MODE)
    vector, matrix = RNG.standard_normal(100), RNG.standard_normal((100, 100))
    for length in (0, 1, 7, 1023, 1024, 1025, 3000):
        own = numbers(dtype, 2 * length, -100, 100)
        for given in (own[:length], own[::2], own[::-2]):
            for found, wanted in zip(
                f(vector, matrix, given), T.evaluate(outputs, {x: vector, m: matrix, i: given}), strict=True
            ):
                np.testing.assert_array_equal(found, wanted)
    alone = ag.function([x, i], x[i], mode=MODE)
    assert [node.op.name for node in alone.graph.order] == ["advanced_subtensor"]


@pytest.mark.parametrize("dtype", mostly_long(sorted(INDEX_DTYPES), {"uint8", "int64"}))
@pytest.mark.parametrize("place", [0, 1023, 1024, 2999])
def test_an_index_out_of_range_is_reported_wherever_it_stands(dtype, place):
    x, i = T.vector("x"), T.vector("i", dtype=dtype)
    f, add = (ag.function([x, i], y, mode=MODE) for y in (x[i], T.inc_subtensor(x[i], T.cast(i, "float64"))))
    for wrong in (50, 51, 127, *(() if dtype.startswith("u") else (-51, -128))):
        given = numbers(dtype, 3000, -50, 50)
        given[place] = wrong
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 .*with size 50"):
            f(np.zeros(50), given)
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
            add(np.zeros(50), given)
        with pytest.raises(IndexError, match="with size 0"):
            f(np.zeros(50)[:0], given)
        np.testing.assert_array_equal(f(np.ones(128), given), np.ones(3000))


def test_indices_of_rows_that_are_skipped_are_not_checked_as_in_numpy():
    m, i = T.matrix("m"), T.vector("i", dtype="uint8")
    f = ag.function([m, i], m[:, i], mode=MODE)
    assert f(np.zeros((3, 4)), np.zeros(0, "uint8")).shape == (3, 0)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 1"):
        f(np.zeros((0, 4)), np.array([9], "uint8"))
