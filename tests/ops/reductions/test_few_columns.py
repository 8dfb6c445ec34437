"""Reductions of few columns, whose rows are reduced several at once where the array has no gaps."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

FOLDS = {"max": np.max, "min": np.min, "sum": np.sum, "prod": np.prod}


def arrays(rows, columns, dtype):
    """Yield an array without gaps, and the same numbers with gaps, upside down and by columns."""
    rng = np.random.default_rng(rows)
    x = np.abs(rng.standard_normal((rows, columns)) * 9).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[rng.integers(rows), rng.integers(columns)] = np.nan
        x[rng.integers(rows), 0] = -np.inf
    wide = np.zeros((rows, 2 * columns), dtype)
    wide[:, ::2] = x
    yield from (x, wide[:, ::2], x[::-1], np.asfortranarray(x))


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "uint8"])
def test_folds_of_few_columns_are_those_of_numpy(dtype):
    x = T.matrix("x", dtype=dtype)
    names = [n for n in FOLDS if np.dtype(dtype).kind != "f" or n in ("max", "min")]
    several = ag.function([x], [x.max(0), x.min(0)])
    alone = {n: ag.function([x], T.max(x, 0) if n == "max" else getattr(T, n)(x, 0)) for n in names}
    for rows in (1, 512, 513, 600, 1037):
        for columns in (1, 2, 3, 7, 16, 17):
            for a in arrays(rows, columns, dtype):
                for found, name in zip(several(a), ("max", "min"), strict=True):
                    assert np.array_equal(found, FOLDS[name](a, 0), equal_nan=a.dtype.kind == "f")
                for name, f in alone.items():
                    assert np.array_equal(f(a), FOLDS[name](a, 0), equal_nan=a.dtype.kind == "f")


@pytest.mark.long
def test_rows_are_reduced_one_by_one_where_a_value_is_that_of_a_row_or_of_a_column():
    x, row, column = T.matrix("x"), T.row("row"), T.col("column")
    f = ag.function([x, row, column], [(x + row).max(0), (x * column).max(0), (x > 0).any(0)])
    rng = np.random.default_rng(1)
    a, b, c = rng.standard_normal((700, 3)), rng.standard_normal((1, 3)), rng.standard_normal((700, 1))
    for found, expected in zip(f(a, b, c), ((a + b).max(0), (a * c).max(0), (a > 0).any(0)), strict=True):
        assert np.array_equal(found, expected)
