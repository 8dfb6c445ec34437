"""Matrix products through NumPy's BLAS and through our own loops, against NumPy: forms, sizes, strides, specials."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import sys

import numpy as np
import pytest
from compiled import tools
from draws import mostly_long

from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.build.build import Library, build
from arignote.cbackend.runtime import blas as blas_module
from arignote.cbackend.runtime import sources
from arignote.cbackend.runtime.blas import DTYPES, all_blas, find_blas
from arignote.cbackend.runtime.runtime import Runtime, load_runtime

# Through the BLAS; by our own loops; by the loops that stand behind a BLAS, here without one.
KINDS = ("blas", "own", "fallback")
ORDINARY = {*itertools.product(["float32"], KINDS), *itertools.product(["float64", "complex128"], KINDS[:2])}
"""Pairs that are not left to the long tests."""
MEMBER = {"float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128"}
SIZES = [
    (1, 1, 1), (2, 3, 4), (1, 7, 5), (7, 1, 5), (7, 5, 1), (16, 16, 16), (17, 19, 23), (65, 40, 130), (100, 33, 300),
]  # fmt: skip


@pytest.fixture(scope="module")
def usual() -> dict[str, Library]:
    """The libraries that are installed, by name: of a dtype, or of one with convolutions."""
    runtime = load_runtime(*tools())
    runtime.require_blas(DTYPES)
    return dict(runtime._products)


@pytest.fixture(autouse=True)
def restored(usual):
    """The products that other tests expect, installed again after each test."""
    yield
    runtime = load_runtime(*tools())
    for name, library in usual.items():
        runtime.install(name, library, find_blas())


class Products:
    """gemm, gemv, ger and dot of one dtype on NumPy arrays, through one BLAS or none.

    What is installed is what every program of this process calls from then on: `restored` undoes it.
    """

    def __init__(self, runtime: Runtime, dtype: str, library: object, blas: object) -> None:
        runtime.install(dtype, library, blas)
        self.runtime, self.dtype = runtime, np.dtype(dtype)
        self.table = getattr(runtime.table, MEMBER[dtype])

    def gemm(self, a, b, c, alpha=1, beta=0, trans_a=0, trans_b=0, lda=None, ldb=None):
        m, n = c.shape
        k = a.shape[0] if trans_a else a.shape[1]
        step = self.dtype.itemsize
        lda, ldb = (x.strides[0] // step if ld is None else ld for x, ld in ((a, lda), (b, ldb)))
        keep = np.array([alpha, beta], self.dtype)
        strides = [ffi.new("i64[2]", (1, ld) if trans else (ld, 1)) for ld, trans in ((lda, trans_a), (ldb, trans_b))]
        y = np.ascontiguousarray(c)
        product = ffi.new("ag_product *", {
            "m": m, "n": n, "k": k, "alpha": _pointer(keep), "a": _pointer(a), "a_strides": strides[0],
            "b": _pointer(b), "b_strides": strides[1], "beta": _pointer(keep[1:]), "y": _pointer(y),
        })  # fmt: skip
        self.table.product(self.runtime.table, product)
        c[...] = y

    def matmul(self, a, b, c):
        keep = np.array([1, 0], self.dtype)
        *batch, m, n = c.shape
        steps = [ffi.new("i64[]", [s // self.dtype.itemsize for s in x.strides]) for x in (a, b)]
        lengths = ffi.new("i64[]", batch)
        product = ffi.new("ag_product *", {
            "rank": len(batch), "batch": lengths, "m": m, "n": n, "k": a.shape[-1], "alpha": _pointer(keep),
            "a": _pointer(a), "a_strides": steps[0], "b": _pointer(b), "b_strides": steps[1],
            "beta": _pointer(keep[1:]), "y": _pointer(c),
        })  # fmt: skip
        self.table.product(self.runtime.table, product)

    def gemv(self, a, x, y, alpha=1, beta=0, trans=0):
        keep = np.array([alpha, beta], self.dtype)
        matrix, result = a.T if trans else a, y.copy()
        steps = ffi.new("i64[2]", [s // self.dtype.itemsize for s in matrix.strides])
        call = ffi.new("ag_gemv *", {
            "m": matrix.shape[0], "n": matrix.shape[1], "alpha": _pointer(keep), "a": _pointer(a), "a_strides": steps,
            **self._strided("x", x), "beta": _pointer(keep[1:]), "y": _pointer(result),
        })  # fmt: skip
        assert self.table.gemv(self.runtime.table, call) == 0
        y[...] = result

    def ger(self, x, y, a, alpha=1):
        keep = np.array([alpha], self.dtype)
        call = ffi.new("ag_ger *", {
            "m": a.shape[0], "n": a.shape[1], "alpha": _pointer(keep), **self._strided("x", x),
            **self._strided("y", y), "a": _pointer(result := a.copy()),
        })  # fmt: skip
        assert self.table.ger(self.runtime.table, call) == 0
        a[...] = result

    def dot(self, x, y):
        out = np.full(1, 99, self.dtype)
        vectors = {**self._strided("x", x), **self._strided("y", y)}
        call = ffi.new("ag_dot *", {"n": len(x), **vectors, "result": _pointer(out)})
        assert self.table.dot(self.runtime.table, call) == 0
        return out[0]

    def _strided(self, name, array):
        return {name: _pointer(array), f"{name}_step": array.strides[0] // self.dtype.itemsize}


def _pointer(array: np.ndarray) -> object:
    return ffi.cast("void *", array.ctypes.data)


@pytest.fixture(scope="module", params=mostly_long(itertools.product(DTYPES, KINDS), ORDINARY), ids="-".join)
def parts(request) -> tuple[str, Library, object]:
    """A dtype, a library of its products, and the BLAS that they go to."""
    dtype, kind = request.param
    blas = find_blas() if kind == "blas" else None
    if kind == "blas" and blas is None:
        pytest.skip("this NumPy has no BLAS")
    source = sources.product_source(dtype, fallback=kind != "own", blas_first=kind == "blas")
    return dtype, build(source, *tools()), blas


@pytest.fixture
def products(parts) -> Products:
    return Products(load_runtime(*tools()), *parts)


def numbers(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    real = random.uniform(-1, 1, shape)
    return (real + 1j * random.uniform(-1, 1, shape) if dtype.kind == "c" else real).astype(dtype)


def wide(*arrays):
    """The arrays in double precision, and their magnitudes."""
    kinds = [array.astype("complex128" if array.dtype.kind == "c" else "float64") for array in arrays]
    return [*kinds, *map(np.abs, kinds)]


def close(found, exact, terms, size):
    """Within the a-priori bound: |error| <= (terms + 5) * unit roundoff * `size`, the sum of the products' magnitudes.

    Twice that, for the reference is itself rounded; complex products are four real ones.
    """
    bound = (terms + 5) * np.finfo(found.dtype).eps * size * (4 if found.dtype.kind == "c" else 2)
    assert (np.abs(found - exact) <= bound).all(), (found, exact)


# ---- gemm ------------------------------------------------------------------------------------------------------------


SCALES = [(1, 0), (1, 1), (0.5, -2), (-1, 0), (2, 0.25)]


@pytest.mark.few(2)
@pytest.mark.parametrize(("trans_a", "trans_b"), list(itertools.product((0, 1), repeat=2)))
def test_gemm(products, trans_a, trans_b):
    check_gemm(products, trans_a, trans_b, SCALES)


def check_gemm(products, trans_a, trans_b, scales):
    for m, n, k in SIZES:
        a = numbers((k, m) if trans_a else (m, k), products.dtype, 1)
        b = numbers((n, k) if trans_b else (k, n), products.dtype, 2)
        given = numbers((m, n), products.dtype, 3)
        x, y, z, xs, ys, zs = wide(a.T if trans_a else a, b.T if trans_b else b, given)
        exact, size = x @ y, xs @ ys
        for alpha, beta in scales:
            c = given.copy()
            products.gemm(a, b, c, alpha, beta, trans_a, trans_b)
            close(c, alpha * exact + beta * z, k, abs(alpha) * size + abs(beta) * zs)


LITTLE = [
    (16, 16, 16), (24, 48, 5), (12, 8, 1), (10, 11, 12), (16, 16, 0), (4, 4, 4), (3, 2, 2), (9, 3, 7), (1, 5, 6),
    (6, 15, 3),
]  # fmt: skip


@pytest.mark.parametrize("batch", [(), (0,), (300,), (2, 3, 4)])
@pytest.mark.parametrize("layout", ["as is", "transposed", "backwards", "broadcast"])
def test_batches(products, batch, layout):
    for m, n, k in LITTLE:
        a, b = numbers((*batch, m, k), products.dtype), numbers((*batch, k, n), products.dtype, 1)
        if layout == "transposed":
            a = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
        if layout == "backwards":
            a, b = a[..., ::-1, ::-1], b[::-1]
        if layout == "broadcast":
            a = np.broadcast_to(a[(0,) * len(batch)] if a.size else a, a.shape)
        c = np.full((*batch, m, n), np.nan, products.dtype)
        products.matmul(a, b, c)
        exact_a, exact_b, size_a, size_b = wide(a, b)
        close(c, exact_a @ exact_b, k, size_a @ size_b)


@pytest.mark.few(7)
@pytest.mark.parametrize(("m", "n", "k"), [(50, 70, 1000), (40, 530, 900)])
@pytest.mark.parametrize("order", "CF")
def test_sums_of_several_blocks(products, m, n, k, order):
    a, b = numbers((1, m, k), products.dtype), numbers((1, k, n), products.dtype, 1)
    if order == "F":
        a = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    c = np.full((1, m, n), np.nan, products.dtype)
    products.matmul(a, b, c)
    exact_a, exact_b, size_a, size_b = wide(a, b)
    close(c, exact_a @ exact_b, k, size_a @ size_b)


def test_few_rows_of_a_product_with_a_large_matrix(products):
    a, b, given = (numbers(shape, products.dtype, k) for k, shape in enumerate([(32, 607), (607, 519), (32, 519)]))
    x, y, z, xs, ys, zs = wide(a, b, given)
    exact, size = x @ y, xs @ ys
    for rows, (alpha, beta) in itertools.product((2, 5, 8, 13, 16, 17, 32), [(1, 0), (-0.5, 2)]):
        whole = np.full((rows, 530), 7, products.dtype)
        c = whole[:, :519]
        c[:] = given[:rows]
        products.gemm(a[:rows], b, c, alpha, beta)
        close(c, (alpha * exact + beta * z)[:rows], 607, (abs(alpha) * size + abs(beta) * zs)[:rows])
        assert (whole[:, 519:] == 7).all()


@pytest.mark.parametrize("size", [3, 20])
def test_scalars_of_the_dtype(products, size):
    alpha, beta = (1 + 2j, 0.5 - 1j) if products.dtype.kind == "c" else (1.3, 0.7)
    a, b, c = (numbers((size, size), products.dtype, seed) for seed in range(3))
    x, y, z, xs, ys, zs = wide(a, b, c)
    products.gemm(a, b, c, alpha, beta)
    close(c, alpha * (x @ y) + beta * z, size, abs(alpha) * (xs @ ys) + abs(beta) * zs)


def test_gemm_of_zero_sizes(products):
    for (m, n, k), beta in itertools.product([(3, 4, 0), (0, 4, 3), (3, 0, 4), (0, 0, 0), (30, 20, 0)], (0, 1, 3)):
        c = numbers((m, n), products.dtype)
        exact = beta * c
        a, b = np.zeros((m, k), products.dtype), np.zeros((k, n), products.dtype)
        products.gemm(a, b, c, 1, beta, lda=max(k, 1), ldb=max(n, 1))
        np.testing.assert_array_equal(c, exact)


@pytest.mark.parametrize("size", [3, 17, 70])
def test_beta_zero_does_not_read_c(products, size):
    a, b = numbers((size, size), products.dtype, 1), numbers((size, size), products.dtype, 2)
    c = np.full((size, size), np.nan, products.dtype)
    products.gemm(a, b, c)
    x, y, xs, ys = wide(a, b)
    close(c, x @ y, size, xs @ ys)
    c[:] = np.inf
    products.gemm(a[:, :0], b[:0], c, lda=size, ldb=size)
    assert not c.any()


def test_gemm_between_padded_rows(products):
    whole = [np.full((40, 60), 7, products.dtype) for _ in range(3)]
    a, b, c = whole[0][:31, 5:34], whole[1][:29, 3:50], whole[2][:31, :47]
    a[:], b[:], c[:] = (numbers(x.shape, products.dtype, seed) for seed, x in enumerate((a, b, c)))
    x, y, z, xs, ys, zs = wide(a, b, c)
    products.gemm(a, b, c, 1, 1)
    close(c, x @ y + z, 29, xs @ ys + zs)
    assert (whole[2][31:] == 7).all()
    assert (whole[2][:, 47:] == 7).all()


def test_the_step_of_a_single_row_may_be_anything(products):
    for ld in (0, 1, -5, 2**40):
        a, b, c = (numbers(shape, products.dtype) for shape in ((1, 30), (30, 25), (1, 25)))
        products.gemm(a, b, c, lda=ld)
        x, y, xs, ys = wide(a, b)
        close(c, x @ y, 30, xs @ ys)


def test_a_broadcast_operand_repeats_its_row(products):
    row, b, c = (numbers(shape, products.dtype) for shape in ((1, 30), (30, 25), (20, 25)))
    products.gemm(np.broadcast_to(row, (20, 30)), b, c, lda=0)
    x, y, xs, ys = wide(row, b)
    close(c, x @ y, 30, xs @ ys)


def test_special_values_go_through(products):
    a, b, c = (numbers((20, 20), products.dtype, seed) for seed in range(3))
    a[3, 4], b[7, 8] = np.nan, np.inf
    products.gemm(a, b, c)
    rows, columns = np.arange(20) != 3, np.arange(20) != 8
    assert np.isnan(c[3]).all()
    assert not np.isfinite(c[:, 8]).any()
    assert np.isfinite(c[np.ix_(rows, columns)]).all()


# ---- gemv, ger, dot --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trans", [0, 1])
def test_gemv(products, trans):
    check_gemv(products, trans, [(1, 0), (2, 1), (-0.5, 3), (0, 2), (0, 0)], (1, 2, -1, -3))


def check_gemv(products, trans, scales, steps):
    for (m, n), step in itertools.product([(1, 1), (5, 1), (1, 5), (13, 17), (130, 70), (7, 601), (300, 277)], steps):
        a = numbers((m, n + 3), products.dtype, 1)[:, :n]
        x = numbers((m if trans else n) * abs(step), products.dtype, 2)[::step]
        given = numbers((n if trans else m) * abs(step), products.dtype, 3)
        p, q, r, ps, qs, rs = wide(a.T if trans else a, x, given[::step])
        exact, size = p @ q, ps @ qs
        for alpha, beta in scales:
            y = given.copy()[::step]
            if beta == 0:
                y[:] = np.nan
            products.gemv(a, x, y, alpha, beta, trans)
            close(y, alpha * exact + beta * r, max(m, n), abs(alpha) * size + abs(beta) * rs)


def before_a_guard(array):
    """A copy that ends where the process may not read on."""
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    begin = pages * mmap.PAGESIZE - array.nbytes
    guard = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, begin).reshape(array.shape)
    copy[...] = array
    return copy


@pytest.mark.skipif(sys.platform != "linux", reason="protects pages")
@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
def test_products_read_nothing_behind_their_operands(products, trans_a, trans_b):
    for m, k, n in ((13, 40, 29), (7, 65, 50), (33, 31, 7), (7, 31, 700)):  # the last one in packed rows
        a = before_a_guard(numbers((k, m) if trans_a else (m, k), products.dtype, 1))
        b = before_a_guard(numbers((n, k) if trans_b else (k, n), products.dtype, 2))
        c = before_a_guard(np.zeros((m, n), products.dtype))
        p, q, ps, qs = wide(a.T if trans_a else a, b.T if trans_b else b)
        products.gemm(a, b, c, 1, 0, trans_a, trans_b)
        close(c, p @ q, k, ps @ qs)


@pytest.mark.parametrize("trans", [0, 1])
def test_gemv_with_one_contiguous_vector(products, trans):
    m, n = (300, 13) if trans else (13, 300)
    a = numbers((m, n), products.dtype, 1)
    for x_step, y_step in ((1, 2), (2, 1), (1, -1)):
        x = numbers((m if trans else n) * abs(x_step), products.dtype, 2)[::x_step]
        y = numbers((n if trans else m) * abs(y_step), products.dtype, 3)[::y_step]
        p, q, r, ps, qs, rs = wide(a.T if trans else a, x, y.copy())
        products.gemv(a, x, y, 2, 1, trans)
        close(y, 2 * (p @ q) + r, max(m, n), 2 * (ps @ qs) + rs)


@pytest.mark.few(3)
@pytest.mark.parametrize("trans_b", [0, 1])
def test_few_rows_by_a_large_matrix(products, trans_b):
    for m, k, n in [(2, 301, 883), (4, 1100, 270), (3, 517, 517), (8, 513, 600)]:
        a, b = numbers((m, k + 2), products.dtype, 1)[:, :k], numbers((n, k) if trans_b else (k, n), products.dtype, 2)
        given = numbers((m, n), products.dtype, 3)
        p, q, r, ps, qs, rs = wide(a, b.T if trans_b else b, given)
        exact, size = p @ q, ps @ qs
        for alpha, beta in [(1, 0), (-0.5, 2), (0, 0)]:
            c = np.full_like(given, np.nan) if beta == 0 else given.copy()
            products.gemm(a, b, c, alpha, beta, 0, trans_b)
            close(c, alpha * exact + beta * r, k, abs(alpha) * size + abs(beta) * rs)


@pytest.mark.parametrize("trans", [0, 1])
def test_gemv_has_the_same_bits_on_any_number_of_threads(products, trans):
    a, x = numbers((701, 643), products.dtype, 1), numbers(701 if trans else 643, products.dtype, 2)
    before, found = products.runtime.table.threads, []
    for threads in (1, 2, 3):
        products.runtime.table.threads = threads
        found.append(np.zeros(643 if trans else 701, products.dtype))
        products.gemv(a, x, found[-1], 1, 0, trans)
    products.runtime.table.threads = before
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


@pytest.mark.parametrize("trans", [0, 1])
def test_gemv_of_zero_sizes(products, trans):
    for m, n in [(0, 3), (3, 0), (0, 0)]:
        y = np.full(n if trans else m, np.nan, products.dtype)
        x = np.ones(m if trans else n, products.dtype)
        products.gemv(np.zeros((m, max(n, 1)), products.dtype)[:, :n], x, y, 1, 0, trans)
        assert not y.any()


def test_ger(products):
    for steps in itertools.product((1, 2, -1, -2), repeat=2):
        check_ger(products, steps)


def check_ger(products, steps):
    for m, n in [(1, 1), (4, 1), (1, 6), (13, 17), (0, 3), (3, 0), (300, 250)]:
        x = numbers(m * abs(steps[0]), products.dtype, 1)[:: steps[0]]
        y = numbers(n * abs(steps[1]), products.dtype, 2)[:: steps[1]]
        a = numbers((m, n + 2), products.dtype, 3)[:, :n]
        p, q, r, ps, qs, rs = wide(a, x, y)
        products.ger(x, y, a, 0.5)
        close(a, p + 0.5 * np.multiply.outer(q, r), 1, ps + 0.5 * np.multiply.outer(qs, rs))


def test_dot(products):
    for steps in itertools.product((1, 3, -1, -2), repeat=2):
        check_dot(products, steps)


def check_dot(products, steps):
    for n in (0, 1, 2, 7, 100, 1001, 8193, 70001):
        x = numbers(n * abs(steps[0]), products.dtype, 1)[:: steps[0]]
        y = numbers(n * abs(steps[1]), products.dtype, 2)[:: steps[1]]
        p, q, ps, qs = wide(x, y)
        close(products.dot(x, y), (p * q).sum(), n, (ps * qs).sum())


# ---- Which BLAS ------------------------------------------------------------------------------------------------------


def test_numpys_own_blas_is_found_with_every_routine():
    blas = find_blas()
    if blas is None:
        pytest.skip("this NumPy has no BLAS")
    assert all(all(addresses) for addresses in blas.addresses.values())
    assert blas.threads >= 1
    assert find_blas() is blas


@pytest.mark.long
def test_a_blas_with_32_bit_integers():
    """SciPy's wheels carry one of their own."""
    pytest.importorskip("scipy.linalg")
    narrow = [blas for blas in all_blas() if not blas.wide]
    if not narrow:
        pytest.skip("SciPy's BLAS has 64-bit integers here")
    runtime = load_runtime(*tools())
    for dtype in DTYPES:
        products = Products(runtime, dtype, build(sources.product_source(dtype), *tools()), narrow[0])
        check_gemm(products, 0, 1, [(0.5, -2)])
        check_gemv(products, 1, [(-0.5, 3)], [2])
        check_ger(products, (1, 2))
        check_dot(products, (1, 3))


def test_sizes_beyond_32_bits_never_reach_a_narrow_blas():
    called = []

    @ffi.callback("double(int, double *, int, double *, int)")
    def narrow_dot(n, x, incx, y, incy):
        called.append(n)
        return -1.0

    address = int(ffi.cast("intptr_t", narrow_dot))
    fake = blas_module.Blas("fake", "", "", 1, "", "", False, dict.fromkeys(DTYPES, (0, 0, 0, address)))
    library = build(sources.product_source("float64"), *tools())
    products = Products(load_runtime(*tools()), "float64", library, fake)
    one = np.full(1, 3.0)
    assert products.dot(one, one) == -1.0
    far = np.lib.stride_tricks.as_strided(one, (1,), (8 << 33,))  # the step of a single number says nothing
    assert (products.dot(far, one), called) == (-1.0, [1, 1])


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("m", "n", "k"), [(100, 256, 64), (64, 256, 100), (3, 600, 1000), (600, 3, 1000), (161, 163, 159)]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_openblas_gets_products_of_middle_size_in_tiles_that_wake_no_thread(m, n, k, threads):
    c, tiles = np.zeros((m, n)), []

    @ffi.callback("void(int, int, int, int, int, int, double, double *, int, double *, int, double, double *, int)")
    def gemm(order, trans_a, trans_b, rows, columns, depth, alpha, a, lda, b, ldb, beta, out, ldc):
        i, j = divmod((int(ffi.cast("intptr_t", out)) - c.ctypes.data) // 8, n)
        c[i : i + rows, j : j + columns] += 1
        tiles.append(rows * columns * depth)

    addresses = (int(ffi.cast("intptr_t", gemm)), 0, 0, 0)
    fake = blas_module.Blas("openblas", "", "", threads, "", "", False, dict.fromkeys(DTYPES, addresses))
    library = build(sources.product_source("float64", blas_first=True), *tools())
    Products(load_runtime(*tools()), "float64", library, fake).gemm(np.zeros((m, k)), np.zeros((k, n)), c)
    assert np.all(c == 1)
    assert tiles == [m * n * k] if threads == 1 else max(tiles) <= 2**18


def test_own_loops_serve_when_memory_for_packing_is_exhausted():
    runtime = load_runtime(*tools())
    library = build(sources.product_source("float64"), *tools())
    products = Products(runtime, "float64", library, None)
    a, b, c = (numbers((70, 70), np.dtype("float64"), seed) for seed in range(3))

    @ffi.callback("void *(int64_t)")
    def nothing(size):
        return ffi.NULL

    kept = runtime.table.alloc
    runtime.table.alloc = nothing
    try:
        products.gemm(a, b, c)
    finally:
        runtime.table.alloc = kept
    x, y, xs, ys = wide(a, b)
    close(c, x @ y, 70, xs @ ys)
