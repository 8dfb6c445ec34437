"""Products of bfloat16, of two of each four weights, and of blocks: kernels of kernels/products.

The unit is compiled for each set of extensions that this processor has.  Products of bfloat16 are held against their
definition, bit for bit: the order of vdpbf16ps, with gradual underflow.  Where no instruction multiplies and adds with
one rounding, numbers are so large that no product is below 2^-126.  Sparse weights meet whole numbers, so all sums are
exact, beside infinities and NaNs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from arignote.cbackend.abi._abi import ffi
from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.lowered.bfloats import PackedBfloatDot, as_bfloat16
from arignote.ops.lowered.sparse_columns import SparseColumns
from arignote.ops.lowered.two_of_four import TwoOfFour

from ..scorecard import Row, Trials
from .quantized import Form, forms, pointer

MANY, FEW = 200_000, 120
"""Trials of a kernel, in all forms together."""


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c for bfloat16 a and b and float32 c, rounded once: by float64, rounded to odd, where a * b is exact."""
    product, c = a.astype("float64") * b, c.astype("float64")
    total = product + c
    back = total - product
    lost = (product - (total - back)) + (c - back)
    is_even = total.view("uint64") & 1 == 0
    odd = np.nextafter(total, np.where(lost > 0, np.inf, -np.inf))
    return np.where((lost != 0) & is_even, odd, total).astype("float32")


def by_definition(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product of finite matrices: each output adds the second product of a pair, then the first one."""
    a, b = as_bfloat16(a), as_bfloat16(b)
    found = np.zeros((len(a), b.shape[1]), "float32")
    with np.errstate(all="ignore"):
        for k in range(0, a.shape[1], 2):
            for j in (k + 1, k):
                if j < a.shape[1]:
                    found = fused(a[:, j, None], b[None, j], found)
    return found


def numbers(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Float32 numbers of either sign with exponents in a range, some of them zero."""
    found = rng.uniform(1, 2, shape) * 2.0 ** rng.integers(low, high, shape) * rng.choice([-1, 1], shape)
    return (found * (rng.random(shape) < 0.9)).astype("float32")


def two_of(rng: np.random.Generator, rows: int, columns: int, kept: int = 2) -> np.ndarray:
    """Whole numbers of which each four of a column have `kept` at the most that are not zero."""
    w = rng.integers(-8, 9, (rows, columns)).astype("float32")
    for first in range(0, rows, 4):
        size = min(4, rows - first)
        order = np.argsort(rng.random((size, columns)), axis=0)
        w[first : first + size][order >= kept] = 0
    return w


def bfloats(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """A product of two matrices, of floats or of bits, either of them transposed or the second one in panels."""
    m, k, n = (int(rng.integers(0, most)) for most in (15, 24, 5 * form.lanes))
    low = int(rng.choice([-8, -70, -100, -140, 40]) if form.fuses else rng.choice([-8, -40, 40]))
    a, b = numbers(rng, (m, k), low, low + 12), numbers(rng, (k, n), low, low + 12)
    bits, in_panels = rng.random(2) < 0.5, rng.random() < 0.3
    left, right = (to_bfloat16(x) if given else x for x, given in zip((a, b), bits, strict=True))
    left, right = (np.asfortranarray(x) if rng.random() < 0.3 else x for x in (left, right))
    if in_panels:
        right = PackedBfloatDot(k, n, form.lanes, form.panel).packed(to_bfloat16(b))
    steps = [np.array([s // x.itemsize for s in x.strides] * (2 // x.ndim)) for x in (left, right)]
    y = np.full((m, n), np.nan, "float32")
    outcome = form.table.bfloat_product(form.rt, ffi.new("ag_bfloat_product *", {
        "rows": m, "outputs": n, "depth": k, "a_bits": bits[0], "b_bits": bits[1], "in_panels": in_panels,
        "a": pointer("void *", left), "a_strides": pointer("i64 *", steps[0]), "b": pointer("void *", right),
        "b_strides": pointer("i64 *", steps[1]), "y": pointer("float *", y),
    }))  # fmt: skip
    return outcome == 0 and np.array_equal(y, by_definition(a, b)), f"bfloats {m}, {k}, {n}, {low}, {bits}, {in_panels}"


def two_of_four(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Rows by a matrix with two of each four numbers; a row may have an infinity or a NaN."""
    rows, depth, outputs = (int(rng.integers(0, most)) for most in (20, 90, 4 * form.lanes))
    w, x = two_of(rng, depth, outputs), rng.integers(-99, 100, (rows, depth)).astype("float32")
    if x.size and rng.random() < 0.3:
        x[int(rng.integers(rows)), int(rng.integers(depth))] = rng.choice([np.inf, -np.inf, np.nan])
    stored, places = TwoOfFour(depth, outputs, form.lanes).packed(w)
    y = np.full((rows, outputs), np.nan, "float32")
    outcome = form.table.two_of_four(form.rt, ffi.new("ag_two_of_four *", {
        "rows": rows, "outputs": outputs, "depth": depth, "x": pointer("float *", x), "w": pointer("float *", stored),
        "places": pointer("i32 *", places), "y": pointer("float *", y),
    }))  # fmt: skip
    with np.errstate(all="ignore"):
        exact = np.matmul(x.astype("float64"), w).astype("float32")
    return outcome == 0 and np.array_equal(y, exact, equal_nan=True), f"two of four {rows}, {depth}, {outputs}"


def columns(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Rows by a matrix of which some blocks along the sum are stored; a row may have an infinity or a NaN."""
    rows, depth, outputs = (int(rng.integers(0, most)) for most in (20, 90, 3 * form.lanes))
    depth += 1000 * int(rng.random() < 0.05)
    kept = np.repeat(rng.random((depth // form.lanes + 1, outputs)) < rng.random(), form.lanes, axis=0)[:depth]
    w = (rng.integers(-8, 9, (depth, outputs)) * kept).astype("float32")
    x = rng.integers(-99, 100, (rows, depth)).astype("float32")
    if x.size and rng.random() < 0.3:
        x[int(rng.integers(rows)), int(rng.integers(depth))] = rng.choice([np.inf, -np.inf, np.nan])
    blocks, starts, places = SparseColumns(depth, outputs, form.lanes).packed(w)
    y = np.full((rows, outputs), np.nan, "float32")
    outcome = form.table.sparse_columns(form.rt, ffi.new("ag_sparse_product *", {
        "rows": rows, "outputs": outputs, "depth": depth, "item": 4, "x": pointer("void *", x),
        "w": pointer("void *", blocks), "starts": pointer("i32 *", starts), "places": pointer("i32 *", places),
        "y": pointer("void *", y),
    }))  # fmt: skip
    with np.errstate(all="ignore"):
        exact = np.matmul(x.astype("float64"), w).astype("float32")
    return outcome == 0 and np.array_equal(y, exact, equal_nan=True), f"blocks along the sum {rows}, {depth}, {outputs}"


KERNELS = {"products of bfloat16": bfloats, "two of each four weights": two_of_four, "blocks along the sum": columns}


def run(full: bool) -> list[Row]:
    """Both kernels in every form; at the size of a test in the best and the plainest."""
    rows, names = [], list(forms())
    with tempfile.TemporaryDirectory() as folder:
        made = [Form(Path(folder), name) for name in (names if full else dict.fromkeys((names[0], names[-1])))]
        for kind, kernel in KERNELS.items():
            trials = Trials("G41", f"{kind}: {len(made)} sets of extensions")
            for number, form in enumerate(made):
                rng = np.random.default_rng(number + 1000 * full)
                for _ in range(-(-(MANY if full else FEW) // len(made))):
                    trials.check(*kernel(form, rng))
            rows.append(trials.row())
    return rows
