"""Products of bfloat16, of two of each four weights, and of blocks: formats of kernels/packed.

Each is compiled for each set of extensions that this processor has.  Products of bfloat16 are held against their
definition, bit for bit: the order of vdpbf16ps, or of tiles, with gradual underflow.  Where no instruction multiplies
and adds with one rounding, numbers are so large that no product is below 2^-126.  Sparse weights meet whole numbers,
so all sums are exact, beside infinities and NaNs.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from arignote.ops.elementwise.special import to_bfloat16
from arignote.ops.lowered.bfloat_dot import as_bfloat16
from arignote.ops.lowered.formats.bfloats import Bfloats
from arignote.ops.lowered.formats.sparse_columns import SparseColumns
from arignote.ops.lowered.formats.two_of_four import TwoOfFour
from arignote.targets.current import current
from arignote.targets.units import has_tiles

from ..scorecard import Row, Trials
from .quantized import Form, call, forms, packed_product, pointer

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


def by_tiles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The product in the order of tiles: of 16 pairs at once the first and the second products, then both sums."""
    found = np.zeros((len(a), b.shape[1]), "float32")
    with np.errstate(all="ignore"):
        for start in range(0, a.shape[1], 32):
            halves = [np.zeros_like(found), np.zeros_like(found)]
            for j in range(start, min(start + 32, a.shape[1])):
                halves[j % 2] = fused(a[:, j, None], b[None, j], halves[j % 2])
            found = found + (halves[0] + halves[1])
    return found


def by_definition(a: np.ndarray, b: np.ndarray, tiled: bool | None = None) -> np.ndarray:
    """The product of finite matrices: each output adds the second product of a pair, then the first one.

    `tiled`: in the order of tiles; by default if this machine has them.
    """
    a, b = as_bfloat16(a), as_bfloat16(b)
    if has_tiles(current(), "bfloat16") if tiled is None else tiled:
        return by_tiles(a, b)
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
    m, k, n = (int(rng.integers(0, most)) for most in ((40, 90, 80) if form.has_tiles else (15, 24, 5 * form.lanes)))
    low = int(rng.choice([-8, -70, -100, -140, 40]) if form.fuses else rng.choice([-8, -40, 40]))
    a, b = numbers(rng, (m, k), low, low + 12), numbers(rng, (k, n), low, low + 12)
    bits, in_panels = rng.random(2) < 0.5, rng.random() < 0.3
    left, right = (to_bfloat16(x) if given else x for x, given in zip((a, b), bits, strict=True))
    left, right = (np.asfortranarray(x) if rng.random() < 0.3 else x for x in (left, right))
    if in_panels:
        weights = Bfloats(k, n, form.lanes, form.panel)
        y, outcome = packed_product(form, weights, left, weights.packed(to_bfloat16(b)))
    else:
        y = np.full((m, n), np.nan, "float32")
        outcome = call(form, Bfloats.kernel, {
            "rows": m, "outputs": n, "depth": k, "each": k * n, "x_item": left.itemsize, "w_item": right.itemsize,
            "x": pointer("void *", left), "w": pointer("void *", right), "y": pointer("void *", y),
        }, left, right)  # fmt: skip
    wanted = by_definition(a, b, form.has_tiles)
    return outcome == 0 and np.array_equal(y, wanted), f"bfloats {m}, {k}, {n}, {low}, {bits}, {in_panels}"


def two_of_four(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Rows by a matrix with two of each four numbers; a row may have an infinity or a NaN."""
    rows, depth, outputs = (int(rng.integers(0, most)) for most in (20, 90, 4 * form.lanes))
    w, x = two_of(rng, depth, outputs), rng.integers(-99, 100, (rows, depth)).astype("float32")
    if x.size and rng.random() < 0.3:
        x[int(rng.integers(rows)), int(rng.integers(depth))] = rng.choice([np.inf, -np.inf, np.nan])
    weights = TwoOfFour(depth, outputs, form.lanes)
    y, outcome = packed_product(form, weights, x, weights.packed(w))
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
    weights = SparseColumns(depth, outputs, form.lanes)
    y, outcome = packed_product(form, weights, x, weights.packed(w))
    with np.errstate(all="ignore"):
        exact = np.matmul(x.astype("float64"), w).astype("float32")
    return outcome == 0 and np.array_equal(y, exact, equal_nan=True), f"blocks along the sum {rows}, {depth}, {outputs}"


KERNELS = {
    "products of bfloat16": (bfloats, Bfloats), "two of each four weights": (two_of_four, TwoOfFour),
    "blocks along the sum": (columns, SparseColumns),
}  # fmt: skip


def run(full: bool) -> list[Row]:
    """Both kernels in every form; at the size of a test in the best and the plainest."""
    rows, names = [], list(forms())
    with tempfile.TemporaryDirectory() as folder:
        for kind, (kernel, weights) in KERNELS.items():
            some = names if full else dict.fromkeys((names[0], names[-1]))
            made = [Form(Path(folder), name, weights.kernel) for name in some]
            trials = Trials("G41", f"{kind}: {len(made)} sets of extensions")
            for number, form in enumerate(made):
                rng = np.random.default_rng(number + 1000 * full)
                for _ in range(-(-(MANY if full else FEW) // len(made))):
                    trials.check(*kernel(form, rng))
            rows.append(trials.row())
    return rows
