"""Patterns of sparse matrices, and elements of their products: C against NumPy, threads, derivatives, `ag.vmap`."""

from typing import Any

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.sparse.extremes import DTYPES, SparseExtreme, SparseExtremes
from arignote.ops.sparse.patterns import SparseOrder, SparsePattern, SparsePlaces, SparseUnion
from arignote.ops.sparse.rows import SparseEntries
from arignote.ops.sparse.values import SparseValues, summed_pairs

N = T.scalar("n", dtype="int64")
PLACES = [T.vector(f"p{k}", dtype="int32") for k in range(4)]


def drawn(rng, rows, columns, most, repeats=True):
    """Compressed rows of at most `most` elements in any order, some of them empty; places may repeat."""
    counts = rng.integers(0, most + 1, rows) * (rng.random(rows) < 0.8) * (columns > 0)
    indptr = np.cumsum([0, *counts]).astype("int32")
    picked = [rng.choice(columns, c, replace=repeats or c > columns) if c else [] for c in counts]
    return np.concatenate([np.zeros(0), *picked]).astype("int32"), indptr


SIZES = [(0, 0, 0, 3), (1, 1, 1, 1), (5, 4, 3, 3), (40, 30, 70, 25), (9, 40, 20000, 4), (300, 200, 5000, 60)]


def both(inputs, outputs, values):
    """Results of C on one thread and on two, and of NumPy."""
    options: list[dict[str, Any]] = [{"threads": 1}, {"threads": 2}, {"mode": "NUMPY"}]
    made = [ag.function(inputs, outputs, on_unused_input="ignore", **o) for o in options]
    return [f(*values) for f in made]


@pytest.mark.parametrize("rows, inner, columns, most", SIZES)
def test_patterns_are_those_of_numpy_for_any_number_of_threads(rows, inner, columns, most):
    rng = np.random.default_rng(rows)
    for repeats in (True, False):
        x, y, z = (drawn(rng, *size, most, repeats) for size in ((rows, inner), (inner, columns), (rows, columns)))
        w = drawn(rng, rows, columns, most, repeats)
        for values, outputs in (
            ((*x, *y), SparsePattern()(*PLACES, N)), ((*z, *w), SparseUnion()(*PLACES, N)),
            ((*z, *w), [SparsePlaces()(*PLACES, N)]), ((*x, *y), SparseOrder()(PLACES[2], N)),
        ):  # fmt: skip
            one, two, wanted = both([*PLACES, N], list(outputs), (*values, columns))
            for a, b, c in zip(one, two, wanted, strict=True):
                assert np.array_equal(a, c), outputs
                assert np.array_equal(b, c), outputs


def test_sorted_rows_are_united_without_repeated_places():
    a, b = np.int32([0, 2, 5, 1]), np.int32([2, 3, 0, 1, 2])
    values = (a, np.int32([0, 3, 4]), b, np.int32([0, 2, 5]), 6)
    known, indptr, first, second = both([*PLACES, N], list(SparseUnion()(*PLACES, N)), values)[0]
    assert (known.tolist(), indptr.tolist()) == ([0, 2, 3, 5, 0, 1, 2], [0, 4, 7])
    assert (first.tolist(), second.tolist()) == ([0, 1, 3, 5], [1, 2, 4, 5, 6])


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("rows, inner, columns, most", SIZES[1:5])
def test_elements_of_products_are_those_of_numpy(dtype, rows, inner, columns, most):
    rng = np.random.default_rng(rows)
    x, y, p = (drawn(rng, *size, most) for size in ((rows, inner), (inner, columns), (rows, columns)))
    data, other = (rng.integers(-9, 9, len(v[0])).astype(dtype) for v in (x, y))
    if np.dtype(dtype).kind == "c":
        data = data * np.asarray(1 - 2j, dtype)
    d, e = (T.vector(name, dtype=dtype) for name in "de")
    inputs = [d, *PLACES[:2], e, *PLACES[2:], *(pattern := [T.vector(n, dtype="int32") for n in "qr"]), N]
    values = (data, *x, other, *y, *p, columns)
    outputs = [SparseValues()(*inputs), summed_pairs((d, *PLACES[:2]), (e, *PLACES[2:]), *pattern, N)]
    *compiled, wanted = both(inputs, outputs, values)
    for v in (v for found in compiled for v in found):
        np.testing.assert_array_equal(v, wanted[0])
        assert v.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("repeats", [True, False])
def test_extremes_of_rows_are_those_of_numpy_for_any_number_of_threads(dtype, repeats):
    rng = np.random.default_rng(7)
    d = T.vector("d", dtype=dtype)
    outputs = [SparseExtremes(which, whole)(d, *PLACES[:2], N) for which in ("max", "min") for whole in (False, True)]
    for size in SIZES[1:]:
        indices, indptr = drawn(rng, size[0], size[2], size[3], repeats)
        if not repeats:
            indices = np.concatenate([np.zeros(0, "int32"), *(np.sort(v) for v in np.split(indices, indptr[1:-1]))])
        data = rng.integers(-99 if np.dtype(dtype).kind != "u" else 0, 99, len(indices)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            data[rng.random(len(data)) < 0.01] = np.nan
        one, two, wanted = both([d, *PLACES[:2], N], outputs, (data, indices.astype("int32"), indptr, size[2]))
        for a, b, c in zip(one, two, wanted, strict=True):
            np.testing.assert_array_equal(a, c)
            np.testing.assert_array_equal(b, c)
            assert a.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["any", "rows", "columns"])
def test_the_extreme_of_coordinates_is_that_of_numpy(dtype, order):
    rng = np.random.default_rng(9)
    d, (rows, columns) = T.vector("d", dtype=dtype), PLACES[:2]
    m = T.lscalar("m")
    outputs = [SparseExtreme(which)(d, rows, columns, m, N) for which in ("max", "min")]
    sizes = ((1, 1), 1), ((1, 1), 3), ((3, 5), 0), ((3, 5), 14), ((3, 5), 15), ((40, 50), 1999), ((9, 7), 99)
    for size, count in sizes:
        room = size[0] * size[1]
        places = rng.permutation(room)[:count] if count <= room else rng.integers(0, room, count)
        first, second = np.divmod(np.sort(places) if order == "rows" else places, size[1])
        if order == "columns":
            by = np.lexsort((first, second))
            first, second = first[by], second[by]
        low, high = {0: (0, 9), 1: (-9, 9), 2: (1, 9)}[rng.integers(3)]
        data = rng.integers(max(low, 0) if np.dtype(dtype).kind == "u" else low, high, count).astype(dtype)
        for spoilt in (False, True)[: 1 + (np.dtype(dtype).kind == "f" and count > 0)]:
            if spoilt:
                data[count // 2] = np.nan
            values = data, first.astype("int32"), second.astype("int32"), size[0], size[1]
            one, two, wanted = both([d, rows, columns, m, N], outputs, values)
            dense = np.zeros(size, dtype)
            np.add.at(dense, (first, second), data)
            for a, b, c, e in zip(one, two, wanted, (dense.max(), dense.min()), strict=True):
                np.testing.assert_array_equal([a, b, c], [e] * 3)
                assert a.dtype == dtype


def test_positions_of_an_extreme_out_of_bounds_raise():
    d, (rows, columns), m = T.vector("d"), PLACES[:2], T.lscalar("m")
    for mode in ("FAST_RUN", "NUMPY"):
        f = ag.function([d, rows, columns, m, N], SparseExtreme("max")(d, rows, columns, m, N), mode=mode)
        assert f([1.0, 2.0], np.int32([0, 0]), np.int32([1, 1]), 1, 2) == 3
        for wrong, other in (([0, 3], [0, 1]), ([-1, 0], [0, 1]), ([0, 1], [0, 2]), ([0, 1], [-1, 0]), ([0], [0, 1])):
            with pytest.raises(IndexError, match="out of bounds"):
                f([1.0, 2.0], np.int32(wrong), np.int32(other), 3, 2)
    with pytest.raises(TypeError, match="takes real numbers"):
        SparseExtreme("max")(T.cast(d, "complex128"), rows, columns, m, N)
    with pytest.raises(TypeError, match="takes three vectors"):
        SparseExtreme("max")(T.matrix(), rows, columns, m, N)


def test_positions_of_extremes_out_of_bounds_raise():
    d = T.vector("d")
    f = ag.function([d, *PLACES[:2], N], SparseExtremes("max")(d, *PLACES[:2], N))
    for indices, indptr in (([0, 3], [0, 2]), ([-1, 0], [0, 2]), ([0, 1], [0, 3]), ([0, 1], [2, 0]), ([0], [0, 1])):
        with pytest.raises(IndexError, match="out of bounds"):
            f([1.0, 2.0], np.int32(indices), np.int32(indptr), 3)
    with pytest.raises(TypeError, match="takes real numbers"):
        SparseExtremes("max")(T.cast(d, "complex128"), *PLACES[:2], N)


def test_positions_out_of_bounds_raise():
    indptr, columns = np.int32([0, 2]), 3
    f = {
        op: ag.function([*PLACES, N], list(op()(*PLACES, N)) if op is not SparsePlaces else op()(*PLACES, N))
        for op in (SparsePattern, SparseUnion, SparsePlaces)
    }
    for op, call in f.items():
        for first in ([0, 3], [-1, 0]):
            with pytest.raises(IndexError, match="out of bounds"):
                call(np.int32(first), indptr, np.int32([0, 1]), indptr, columns if op is not SparsePattern else 0)
        for wrong in ([2, 0], [0, 3], [-1, 2]):
            with pytest.raises(IndexError, match="out of bounds"):
                call(np.int32([0, 0]), indptr, np.int32([0, 0]), np.int32(wrong), columns)
    order = ag.function([PLACES[0], N], list(SparseOrder()(PLACES[0], N)))
    for rows in ([0, 2], [-1, 0]):
        with pytest.raises(IndexError, match="out of bounds"):
            order(np.int32(rows), 2)


def test_coordinates_out_of_bounds_raise():
    d, x = T.vector("d"), T.vector("x")
    f = ag.function([d, *PLACES[:2], x], SparseEntries()(d, *PLACES[:2], x, 2))
    np.testing.assert_array_equal(f([1.0, 2.0], np.int32([1, 1]), np.int32([0, 2]), [1.0, 5.0, 7.0]), [0, 15])
    for rows, columns in (([0, 2], [0, 0]), ([0, 0], [0, 3]), ([-1, 0], [0, 0]), ([0, 0], [-1, 0])):
        with pytest.raises(IndexError, match="out of bounds"):
            f([1.0, 2.0], np.int32(rows), np.int32(columns), [1.0, 5.0, 7.0])


@pytest.mark.few(1)
@pytest.mark.parametrize("formats", [("csr", "csr"), ("csc", "csr"), ("coo", "csc"), ("csc", "coo")])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_products_are_those_of_dense_ones(formats, dtype):
    sp = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(4)
    factor = 1 + 0.5j if dtype == "complex128" else 1
    a, b = (sp.csr_array(sp.random(*s, 0.4, random_state=rng)).astype(dtype) * factor for s in ((6, 5), (5, 7)))
    w, v = rng.standard_normal((6, 7)), rng.standard_normal((6, 5))
    a, b = a.asformat(formats[0]), b.asformat(formats[1])
    A, B = (T.sparse.matrix(f, n, dtype) for f, n in zip(formats, "AB", strict=True))
    cost = T.sum(T.real((A @ B).toarray() ** 2) * w)
    gradients = ag.grad(cost, [A.data, B.data])
    second = ag.grad(T.sum(T.real(A.with_data(gradients[0]).toarray()) * v), B.data)
    found = ag.function([A, B], [*gradients, second])(a, b)
    X, Y = (T.matrix(n, dtype=dtype) for n in "XY")
    dense = T.sum(T.real((X @ Y) ** 2) * w)
    by_x, by_y = ag.grad(dense, [X, Y])
    mask = a.toarray() != 0
    more = ag.grad(T.sum(T.real(by_x * mask) * v), Y)
    wanted = ag.function([X, Y], [by_x, by_y, more])(a.toarray(), b.toarray())
    for value, matrix, whole in zip(found, (a, b, b), wanted, strict=True):
        coo = matrix.tocoo()
        np.testing.assert_allclose(value, whole[coo.row, coo.col], rtol=1e-12)


@pytest.mark.long
def test_vmap_of_a_product_is_a_loop():
    sp = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(5)
    a, b = (sp.csr_array(sp.random(5, 5, 0.5, random_state=rng)) for _ in "ab")
    A, B = T.sparse.csr_matrix("A"), T.sparse.csr_matrix("B")
    data = rng.standard_normal((3, a.nnz))
    f = ag.function([A, B], (A @ B).data)
    for axes, values in (((0, None), (data, b.data)), ((0, 0), (data, rng.standard_normal((3, b.nnz))))):
        mapped = ag.vmap(lambda d, e: (A.with_data(d) @ B.with_data(e)).data, in_axes=axes)
        given = [T.tensor(n, "float64", (None,) * v.ndim) for n, v in zip("de", values, strict=True)]
        got = ag.function([A, B, *given], mapped(*given))(a, b, *values)
        for k in range(3):
            own = [sp.csr_array((v[k] if v.ndim > 1 else v, m.indices, m.indptr), m.shape)
                   for v, m in zip(values, (a, b), strict=True)]  # fmt: skip
            np.testing.assert_allclose(got[k], f(*own), rtol=1e-12)
