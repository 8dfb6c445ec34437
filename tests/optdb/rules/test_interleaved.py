"""Kernels over interleaved arrays: columns of one array as one operand, for all strides, lengths and dtypes."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

DTYPES = ["float64", "float32", "int64", "int32", "uint8", "bool", "complex64", "float16"]
PLAIN = "fast_run -fusion"


def whirl(q):
    """Each column from its neighbours."""
    columns = [q[..., k] for k in range(int(q.type.shape[-1]))]
    return T.stack([a * b + a for a, b in zip(columns, columns[1:] + columns[:1], strict=True)], axis=-1)


def functions(dtype, rank, width):
    q = T.tensor("q", dtype, (*[None] * (rank - 1), width))
    return ag.function([q], whirl(q)), ag.function([q], whirl(q), mode=PLAIN)


def sample(dtype, shape):
    values = np.random.default_rng(0).standard_normal(shape) * 50
    return values.astype(dtype) if dtype != "uint8" else np.abs(values).astype(dtype)


def is_interleaved(f):
    """Whether a kernel of the program reads or writes columns of an array."""
    return "_column1" in f.c_source()


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [2, 3, 4, 5, 8])
def test_columns_have_the_bits_of_separate_loops(dtype, width):
    f, plain = functions(dtype, 2, width)
    assert is_interleaved(f)
    for n in (0, 1, 2, 15, 16, 100, 1001):
        q = sample(dtype, (n, width))
        np.testing.assert_array_equal(f(q), plain(q))


@pytest.mark.parametrize("width", [3, 4])
def test_arrays_of_any_strides(width):
    f, plain = functions("float64", 2, width)
    base = sample("float64", (200, 4 * width))
    views = [base[:, :width], base[:, ::4], base[::-2, :width], base[:, width - 1 :: -1]]
    views += [np.asfortranarray(base)[:, :width], np.broadcast_to(base[:1, :width], (50, width)), base[:width].T]
    for q in views:
        np.testing.assert_array_equal(f(q), plain(q.copy()))


@pytest.mark.parametrize("rank", [3, 4])
def test_several_loops(rank):
    f, plain = functions("float32", rank, 4)
    for shape in ((0, 5, 4), (3, 0, 4), (1, 1, 4), (7, 33, 4)):
        q = sample("float32", (*[2] * (rank - 3), *shape))
        np.testing.assert_array_equal(f(q), plain(q))
        swapped = q.swapaxes(0, rank - 2)
        np.testing.assert_array_equal(f(swapped), plain(swapped.copy()))


def test_wide_rows_of_which_few_columns_are_read():
    x = T.matrix("x")
    y = x[:, 0] * x[:, 5] - x[:, 1]
    f, plain = ag.function([x], y), ag.function([x], y, mode=PLAIN)
    for width in (6, 7, 40):
        value = sample("float64", (333, width))
        np.testing.assert_array_equal(f(value), plain(value))
    with pytest.raises(IndexError):
        f(sample("float64", (3, 5)))


def test_threads_write_other_rows():
    q = T.tensor("q", "float64", (None, 4))
    values = sample("float64", (400_000, 4))
    one, two = (ag.function([q], whirl(q), threads=n)(values) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_special_values_stay():
    f, plain = functions("float64", 2, 3)
    q = np.resize([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1.5], (50, 3))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(f(q).view("int64"), plain(q).view("int64"))
