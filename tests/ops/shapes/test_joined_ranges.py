"""Positions that repeat, and ranges one after the other: C against NumPy."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.shapes.joining import JoinedRanges, RepeatedPositions

COUNTS = [[], [0], [1], [9], [0, 3, 0, 17, 8, 1, 0, 25]]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_positions_repeat_in_the_dtype_of_their_counts(counts, dtype):
    n = T.vector("n", dtype=dtype)
    wanted = np.repeat(np.arange(len(counts), dtype=dtype), counts)
    for mode in (None, "NUMPY"):
        found = ag.function([n], RepeatedPositions()(n), mode=mode)(np.array(counts, dtype))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)
        with pytest.raises(ValueError, match="negative"):
            ag.function([n], RepeatedPositions()(n), mode=mode)(np.array([3, -1], dtype))


@pytest.mark.parametrize("counts", COUNTS)
def test_ranges_stand_one_after_the_other(counts):
    n, s = T.lvector("n"), T.lvector("s")
    starts = np.arange(len(counts)) * -7 + 5
    wanted = [k for start, count in zip(starts, counts, strict=True) for k in range(start, start + count)]
    for mode in (None, "NUMPY"):
        f = ag.function([n, s], JoinedRanges()(n, s), mode=mode)
        np.testing.assert_array_equal(f(np.array(counts, np.int64), starts), np.array(wanted, np.int64))
        with pytest.raises(ValueError, match="negative"):
            f(np.array([3, -1]), np.array([0, 0]))
        with pytest.raises(ValueError, match=r"2|joined_ranges"):
            f(np.array([3, 1]), np.array([0]))
