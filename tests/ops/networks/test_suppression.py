"""Non-maximum suppression in C against its meaning in NumPy, and errors."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.networks.suppression import NonMaxSuppression


def function(dtype: str, centred: bool, **options) -> ag.Function:
    boxes, scores = T.tensor(dtype, (None, None, None)), T.tensor(dtype, (None, None, None))
    numbers = [T.lscalar(), T.dscalar(), T.dscalar()]
    found = NonMaxSuppression(centred)(boxes, scores, *numbers)
    return ag.function([boxes, scores, *numbers], [found, found.shape[0]], **options)


def scene(rng, dtype, batches, classes, n):
    """Return boxes that overlap much, some of them NaN or turned over, and scores with ties."""
    corners = rng.integers(0, 12, (batches, n, 2)) / 4
    boxes = np.concatenate([corners, corners + rng.integers(-2, 5, (batches, n, 2)) / 4], axis=2).astype(dtype)
    scores = (rng.integers(-5, 20, (batches, classes, n)) / 20).astype(dtype)
    boxes[rng.random(boxes.shape) < 0.01] = np.nan
    scores[rng.random(scores.shape) < 0.02] = np.nan
    return boxes, scores


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kept_boxes(dtype):
    rng = np.random.default_rng(3)
    for centred in (False, True):
        compiled = function(dtype, centred)
        assert not compiled.program.calls_back
        bounds = ((5, 0.5, 0.1), (1000, 0.0, -np.inf), (0, 0.5, 0.1), (-1, 0.3, 0.0), (9, 1.0, np.nan),
                  (9, -0.3, 0.0))
        for batches, classes, n in ((1, 1, 0), (0, 2, 3), (1, 1, 1), (2, 3, 40), (1, 2, 300)):
            for most, overlap, least in bounds:
                values = (*scene(rng, dtype, batches, classes, n), most, overlap, least)
                with np.errstate(all="ignore"):
                    (wanted,) = NonMaxSuppression(centred).evaluate(*map(np.asarray, values))
                found, count = compiled(*values)
                np.testing.assert_array_equal(found, wanted, strict=True)
                assert count == len(wanted)


def test_threads():
    rng = np.random.default_rng(4)
    values = (*scene(rng, "float32", 2, 30, 300), 5, 0.4, 0.3)
    one, several = (function("float32", False, threads=threads)(*values)[0] for threads in (1, 2))
    with np.errstate(all="ignore"):
        (wanted,) = NonMaxSuppression(False).evaluate(*map(np.asarray, values))
    np.testing.assert_array_equal(one, wanted)
    np.testing.assert_array_equal(several, wanted)


def test_bad_boxes():
    f, rng = function("float32", False), np.random.default_rng(0)
    boxes, scores = scene(rng, "float32", 2, 3, 10)
    for wrong, text in ((boxes[:1], "length 1 along axis 0, expected 2"), (boxes[..., :3], "length 3 along axis 2")):
        with pytest.raises(ValueError, match=text):
            f(wrong, scores, 5, 0.5, 0.1)
    with pytest.raises(TypeError, match="takes boxes and scores of rank 3"):
        NonMaxSuppression(False)(T.tensor3(), T.ftensor3(), 1, 0.5, 0.5)
    with pytest.raises(TypeError, match="takes an int64 and two float64 scalars"):
        NonMaxSuppression(False)(T.tensor3(), T.tensor3(), 1, T.fscalar(), 0.5)
