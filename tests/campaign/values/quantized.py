"""Products of numbers in few bits: kernels/quantized and the formats nibbles.c and widened.c beside NumPy.

The unit is compiled for each set of extensions that this processor has, and its entries are called as compiled programs
call them.  A trial is a call with lengths, layout, signs, zero points, numbers, cut-offs and residuals of its own, the
ends of the dtypes among the numbers.  NumPy sums in 64 bits, and the results must be equal bit for bit.  Weights of 4
bits meet whole numbers and scales that are powers of two, so that floats are exact as well.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.kernels.quantized.plan import KINDS, MORE
from arignote.cbackend.runtime.sources import BYTES as UNIT
from arignote.cbackend.runtime.sources import product_source
from arignote.ops.lowered.blocked import in_blocks
from arignote.ops.lowered.byte_sums import BYTES, RESULTS, ByteConvolution
from arignote.ops.lowered.byte_tables import ByteSoftmax, LookUp
from arignote.ops.lowered.formats import Format
from arignote.ops.lowered.formats.nibbles import Nibbles
from arignote.ops.lowered.formats.widened import BFLOAT16, FLOAT16, Widened
from arignote.ops.lowered.quantized_blocks import QuantizeInBlocks
from arignote.targets.processor import features
from arignote.targets.units import TILE_BYTES

from ..scorecard import Row, Trials

FORMS = {
    # flags of the compiler, extensions that the processor must have, lanes, vectors of a panel
    "AMX": ("-march=x86-64-v4 -mavx512vnni -mavx512vbmi -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16",
            {"amx_int8", "amx_bf16", "avx512_bf16", "avx512vbmi"}, 16, 4),
    "AMX in C": ("-march=x86-64-v4 -mavx512vnni -DAG_EMULATED_TILES=1", {"avx512_vnni", "avx512bw"}, 16, 4),
    "AVX512-BF16": ("-march=x86-64-v4 -mavx512vnni -mavx512bf16", {"avx512_bf16", "avx512_vnni", "avx512bw"}, 16, 4),
    "AVX512-VBMI": ("-march=x86-64-v4 -mavx512vnni -mavx512vbmi", {"avx512vbmi", "avx512_vnni", "avx512bw"}, 16, 4),
    "AVX512-VNNI": ("-march=x86-64-v4 -mavx512vnni", {"avx512_vnni", "avx512bw"}, 16, 4),
    "AVX512": ("-march=x86-64-v4", {"avx512bw"}, 16, 4),
    "AVX-VNNI": ("-march=x86-64-v3 -mavxvnni", {"avx_vnni"}, 8, 2),
    "AVX2": ("-march=x86-64-v3", {"avx2"}, 8, 2),
    "AVX": ("-march=x86-64 -mavx", {"avx"}, 8, 2),
    "SSE2": ("-march=x86-64", {"sse2"}, 4, 2),
}  # fmt: skip
"""AVX and what lies below AVX2 has no multiplication of 16 bits in pairs here: plain vectors of C."""
MANY, FEW = 500_000, 1_200
"""Trials of a kernel, in all forms together."""


class Form:
    """The entries of the unit, or of a format of packed weights, compiled with some flags."""

    def __init__(self, folder: Path, name: str, kernel: str = "") -> None:
        flags, _, self.lanes, self.panel = FORMS[name]
        self.fuses = "x86-64-v" in flags  # products are added with one rounding
        self.has_tiles = "amx" in flags or "EMULATED" in flags  # those of bfloat16 too
        source, target = folder / f"{name}{kernel}.c", folder / f"{name}{kernel}.so"
        source.write_text(product_source(f"{kernel}_float32" if kernel else UNIT))
        subprocess.run(
            ["gcc", "-std=c11", "-shared", "-fPIC", "-O2", "-fwrapv", "-fno-strict-aliasing", *flags.split(), "-o",
             str(target), str(source)], check=True,
        )  # fmt: skip
        self.library, libc = ctypes.CDLL(str(target)), ctypes.CDLL(None)
        self.rt, self.table = ffi.new("ag_runtime *"), ffi.new("ag_packed_table *" if kernel else "ag_byte_table *")
        entries = ffi.addressof(self.table, kernel) if kernel else self.table
        self.rt.threads = 1
        self.rt.alloc, self.rt.release = (ffi.cast("void *", address(f)) for f in (libc.malloc, libc.free))
        install = self.library.ag_blas_install
        install(ctypes.c_void_p(int(ffi.cast("uintptr_t", entries))), None, 0, ctypes.c_int64(0))


def address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def forms() -> Iterator[str]:
    """Those that this processor has."""
    has = set(features())
    return (name for name, (_, needed, *_) in FORMS.items() if needed <= has)


def pointer(kind: str, array: Any) -> Any:
    return ffi.cast(kind, array.ctypes.data)


def numbers(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Integers of 8 bits: any, or in a quarter of the arrays the two ends alone."""
    ends = np.iinfo(dtype)
    if rng.random() < 0.25:
        return rng.choice(np.array([ends.min, ends.max], dtype), shape)
    return rng.integers(ends.min, ends.max, shape, dtype, endpoint=True)


# --- products


def product(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """A product of two matrices, of which each may be transposed, one for all of a batch or one each."""
    kinds = [BYTES[k] for k in rng.integers(0, 2, 2)]
    count, m, n, k = (int(rng.integers(0, most)) for most in (4, 12, 80, 40))
    if rng.random() < 0.3:  # several tiles of rows and of words
        m, k = int(rng.integers(0, 70)), int(rng.integers(0, 300))
    shared = rng.random() < 0.5
    a = _laid(rng, numbers(rng, kinds[0], (count, m, k)))
    b = _laid(rng, numbers(rng, kinds[1], (1 if shared else count, k, n)))
    c, batch = np.empty((count, m, n), "int32"), np.array([count])
    strides = [np.array([s if x.shape[0] == count else 0, *rest]) for x in (a, b) for s, *rest in [x.strides]]
    of = ffi.new("ag_byte_product *", {
        "rank": 1, "batch": pointer("i64 *", batch), "m": m, "n": n, "k": k, "a_signed": kinds[0] == "int8",
        "b_signed": kinds[1] == "int8", "a": pointer("void *", a), "a_strides": pointer("i64 *", strides[0]),
        "b": pointer("void *", b), "b_strides": pointer("i64 *", strides[1]), "c": pointer("i32 *", c),
    })  # fmt: skip
    outcome = form.table.byte_product(form.rt, of)
    exact = np.matmul(a.astype("int32"), b.astype("int32"))
    return outcome == 0 and np.array_equal(c, exact), f"product {kinds} {count}, {m}, {n}, {k}"


def _laid(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x.swapaxes(1, 2)).swapaxes(1, 2) if rng.random() < 0.3 else x


# --- convolutions


def convolution(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """A convolution in blocks, of all channels or of each, with any ending; one in three has one position."""
    dtype, out, own = BYTES[rng.integers(0, 2)], RESULTS[rng.integers(0, 4)], bool(rng.random() < 0.3)
    is_flat = not own and bool(rng.random() < 0.5)
    kernel, stride, dilation = (tuple(map(int, rng.integers(1, most, 2))) for most in (4, 3, 3))
    padding = tuple(tuple(map(int, rng.integers(0, 3, 2))) for _ in range(2))
    if is_flat:
        kernel, stride, padding = (1, 1), (1, 1), ((0, 0), (0, 0))
    if own and rng.random() < 0.5:  # which AVX-512 sums four at a time
        kernel, dilation = (3, 3), (dilation[0], 1)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    ranges = zip(reach, padding, (6, 20), strict=True)
    sizes = [max(1, r - sum(p)) + int(rng.integers(0, most)) for r, p, most in ranges]
    most = 160 if is_flat or rng.random() < 0.3 else 24
    outputs, channels = int(rng.integers(1, 2 * form.lanes * form.panel)), int(rng.integers(1, most))
    channels = outputs if own else channels
    block = form.lanes if own or channels >= form.lanes else -(-channels // 4) * 4
    if is_flat and channels % 4 == 0 and rng.random() < 0.3:  # rows of a matrix
        block = channels
    chunk = min(TILE_BYTES, -(-channels // block) * block) if not own and rng.random() < 0.6 else 0
    ends = np.iinfo(out if out in BYTES else "uint8")
    low, high = sorted(map(int, rng.integers(ends.min, ends.max, 2, endpoint=True)))
    if rng.random() < 0.4:
        low, high = int(ends.min), int(ends.max)
    zero = int(rng.integers(low, high, endpoint=True)) if low * high > 0 or rng.random() < 0.6 else 0
    around = int(rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, endpoint=True)) if rng.random() < 0.7 else 0
    more_scale = float(np.float32(rng.random()))
    op = ByteConvolution(
        stride, dilation, padding, around, own, out, zero, low, high,
        more_scale, size=form.lanes, panel=form.panel, chunk=chunk, weights=(outputs, 1 if own else channels, *kernel),
    )
    x = numbers(rng, dtype, (int(rng.integers(1, 3)), channels, *sizes))
    w = numbers(rng, "int8", op.weights)
    start = rng.integers(-(2**31), 2**31 - 1, outputs) if rng.random() < 0.2 else rng.integers(-9999, 9999, outputs)
    scale = (rng.random(outputs) * 10.0 ** rng.integers(-5, 0)).astype("float32")
    bias = (rng.normal(size=outputs) * 20).astype("float32")
    sums = summed(x, w, op)
    kinds = (None,) * 4 + ("uint8", "int8", "float32")
    kind = kinds[rng.integers(0, len(kinds))] if out in BYTES else None
    more = [] if kind is None else [
        (rng.normal(size=sums.shape) * 50).astype(kind) if kind == "float32" else numbers(rng, kind, sums.shape)
    ]  # fmt: skip
    if kind in BYTES and rng.random() < 0.6:
        op = rounded_before(op, rng)
    exact = in_blocks(op.finished(sums, start.astype("int32"), scale, bias, more), form.lanes)
    found = called(form, op, (x, w, start.astype("int32"), scale, bias, more), block, sums.shape)
    filled = exact.size == found.size and in_blocks(np.ones(sums.shape, "bool"), form.lanes)
    return bool(np.array_equal(found[filled], exact[filled])), f"{op} {x.shape} {dtype} {kind}"


def rounded_before(op: ByteConvolution, rng: np.random.Generator) -> ByteConvolution:
    """The same where sums become integers before more is added."""
    lower, upper = sorted(map(int, rng.integers(-255, 256, 2)))
    scale = float(np.float32(rng.random() + 1e-3))
    return replace(op, sum_scale=scale, more_zero=int(rng.integers(-128, 256)), lower=lower, upper=upper)


def summed(x: np.ndarray, w: np.ndarray, op: ByteConvolution) -> np.ndarray:
    """The sums of windows, in 64 bits."""
    wide = np.pad(x, ((0, 0), (0, 0), *op.padding), constant_values=np.array(op.around).astype(x.dtype)).astype("int64")
    (kh, kw), (sh, sw), (dh, dw) = w.shape[2:], op.stride, op.dilation
    rows, columns = ((n - d * (k - 1) - 1) // s + 1
                     for n, d, k, s in zip(wide.shape[2:], (dh, dw), (kh, kw), (sh, sw), strict=True))  # fmt: skip
    total = np.zeros((len(x), len(w), rows, columns), "int64")
    for i in range(kh):
        for j in range(kw):
            part = wide[:, :, i * dh :, j * dw :][:, :, : (rows - 1) * sh + 1 : sh, : (columns - 1) * sw + 1 : sw]
            taps = w[:, :, i, j].astype("int64")
            if op.own:
                total += part * taps[:, :1, None]
            else:
                total += np.tensordot(taps, part, (1, 1)).swapaxes(0, 1)
    return total


def called(form: Form, op: ByteConvolution, operands: Any, block: int, shape: tuple[int, ...]) -> np.ndarray:
    """The result of the kernel, in blocks; what fills the last one is undefined."""
    x, w, start, scale, bias, more = operands
    blocks = -(-shape[1] // form.lanes)
    laid, packed = in_blocks(x, block), op.packed(w, block)
    totals = w.reshape(len(w), -1).sum(1, dtype="int64").astype("int32")
    rest = blocks * form.lanes - len(w)
    beside = [np.concatenate([v, np.zeros(rest, v.dtype)]) for v in (start, totals, scale, bias)]
    y = np.zeros((shape[0], blocks, *shape[2:], form.lanes), op.out)
    others = [in_blocks(v, form.lanes) for v in more]
    form.table.byte_sums(form.rt, ffi.new("ag_byte_sums *", {
        "images": len(x), "in_blocks": laid.shape[1], "block": block, "blocks": blocks, "out_block": form.lanes,
        "outputs": blocks * form.lanes, "panel": form.panel, "chunk": op.chunk, "own": op.own,
        "is_signed": x.dtype == "int8", "around": op.around, "kind": KINDS[op.out], "zero": op.zero, "low": op.low,
        "high": op.high,
        "lengths": x.shape[2:], "kernel": w.shape[2:], "stride": op.stride, "dilation": op.dilation,
        "before": [p[0] for p in op.padding], "counts": shape[2:], "x": pointer("void *", laid),
        "w": pointer("void *", packed), "start": pointer("i32 *", beside[0]), "totals": pointer("i32 *", beside[1]),
        "scale": pointer("float *", beside[2]), "bias": pointer("float *", beside[3]),
        "more": pointer("void *", others[0]) if others else ffi.NULL,
        "more_kind": MORE[others[0].dtype.name if others else "uint8"], "more_scale": op.more_scale,
        "sum_scale": op.sum_scale, "more_zero": op.more_zero, "lower": op.lower, "upper": op.upper,
        "x_strides": [s // laid.itemsize for s in laid.strides[:4]],
        "y_strides": [y[0].size, y[0, 0].size, form.lanes], "y": pointer("void *", y),
    }))  # fmt: skip
    return y


# --- weights of 4 bits and of 16


def packed_product(form: Form, weights: Format, x: np.ndarray, stored: Sequence[np.ndarray]) -> tuple[np.ndarray, int]:
    """Return the product of rows and packed weights by the C of the format, and its outcome."""
    depth, outputs = weights.matrix
    y = np.full((len(x), outputs), np.nan, "float32")
    fields = {
        "rows": len(x), "outputs": outputs, "depth": depth, "each": depth * outputs, "block": weights.block_length,
        "x_item": x.itemsize, "x": pointer("void *", x), "w_item": stored[0].itemsize,
        "w_half": stored[0].dtype == np.float16, "y": pointer("void *", y),
        **{name: pointer("void *", array) for name, array in zip(("w", "second", "third"), stored, strict=False)},
    }  # fmt: skip
    return y, call(form, weights.kernel, fields, x)


def call(form: Form, kernel: str, fields: dict[str, Any], x: np.ndarray, w: np.ndarray | None = None) -> int:
    """Call the C of a format with the strides of x, and of a matrix w that it packs."""
    strides = {"x_strides": x} | ({} if w is None else {"w_strides": w})
    steps = {name: np.array([s // a.itemsize for s in a.strides]) for name, a in strides.items()}
    given = fields | {name: pointer("i64 *", a) for name, a in steps.items()}
    outcome: int = getattr(form.table, kernel)(form.rt, ffi.new("ag_packed_product *", given))
    return outcome


def nibbles(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Rows by weights of 4 bits, with or without zero points."""
    outputs, depth, rows = (int(rng.integers(1, most)) for most in (10 * form.lanes, 80, 10))
    block = 8 * int(rng.integers(1, 6))
    op = Nibbles(outputs, depth, block, form.lanes)
    w = rng.integers(-8, 7, (outputs, depth), endpoint=True)
    scale = np.float32(2) ** rng.integers(-4, 4, (outputs, op.blocks)).astype("float32")
    zero = rng.integers(-128, 127, scale.shape, "int8", endpoint=True) if rng.random() < 0.5 else None
    x = rng.integers(-16, 16, (rows, depth)).astype("float32")
    y, outcome = packed_product(form, op, x, op.packed(w, scale, *(() if zero is None else (zero,))))
    beside = scale, 0 * scale if zero is None else zero
    steps, points = (np.repeat(v, block, axis=1)[:, :depth].astype("float64") for v in beside)
    exact = x.astype("float64") @ ((w - points) * steps).T
    return outcome == 0 and np.array_equal(y, exact), f"{op} {rows} {zero is not None}"


def halves(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Rows by bfloat16 or float16 weights; sums of one product by any weights, such as NaN and subnormal ones."""
    depth = int(rng.choice([1, *rng.integers(1, 80, 3), int(rng.integers(1000, 2500))]))
    outputs, rows = int(rng.integers(1, 10 * form.lanes)), int(rng.integers(1, 16))
    op = Widened(depth, outputs, form.lanes, BFLOAT16 if rng.random() < 0.5 else FLOAT16)
    bits = rng.integers(0, 1 << 16, (depth, outputs)).astype("uint16")
    x, dtype = np.ones((rows, depth), "float32"), "uint16" if op.exponent == BFLOAT16 else "float16"
    if depth > 1:
        x, w = rng.integers(-16, 16, x.shape).astype("float32"), rng.integers(-16, 16, bits.shape).astype("float32")
        bits = (w.view("uint32") >> 16).astype("uint16") if dtype == "uint16" else w.astype("float16").view("uint16")
    weights = bits.view(dtype)
    y, outcome = packed_product(form, op, x, op.packed(weights))
    with np.errstate(invalid="ignore"):
        exact = 0 + op.product(x, *op.packed(weights))
    return outcome == 0 and np.array_equal(y, exact, equal_nan=True), f"{op} {rows}"


# --- tables


def lookup(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Bytes through a table."""
    dtype, out = (BYTES[k] for k in rng.integers(0, 2, 2))
    x, table = numbers(rng, dtype, (int(rng.integers(0, 400)),)), numbers(rng, out, (256,))
    y = np.empty(x.shape, out)
    given = {name: pointer("void *", a) for name, a in (("x", x), ("table", table), ("y", y))}
    form.table.look_up(form.rt, ffi.new("ag_look_up *", {"count": x.size, **given}))
    return np.array_equal(y, LookUp().evaluate(x, table)[0]), f"look_up {dtype} {out} {x.size}"


def words(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Images of floats as bytes in blocks of four channels."""
    dtype = BYTES[int(rng.integers(0, 2))]
    shape = tuple(map(int, rng.integers(1, (3, 9, 12, 12))))
    scale = np.float32(10.0 ** rng.uniform(-6, 6))
    x = (rng.standard_normal(shape) * rng.choice([1, 200, 1e9]) * scale).astype("float32")
    x[rng.random(shape) < 0.05] = rng.choice(np.array([np.nan, np.inf, -np.inf, -0.0], "float32"))
    zero, op = numbers(rng, dtype, (1,)), QuantizeInBlocks(dtype)
    expected = op.evaluate(x, scale, zero[0])[0]
    y = np.empty(expected.shape, dtype)
    form.table.quantize_words(form.rt, ffi.new("ag_quantize_words *", {
        "images": shape[0], "channels": shape[1], "positions": shape[2] * shape[3], "is_signed": dtype == "int8",
        "x": pointer("float *", x), "scale": pointer("float *", np.array([scale])), "zero": pointer("void *", zero),
        "y": pointer("void *", y),
    }))  # fmt: skip
    return np.array_equal(y, expected), f"{op} {shape} {scale} {zero}"


def softmax(form: Form, rng: np.random.Generator) -> tuple[bool, str]:
    """Softmax of rows of bytes."""
    dtype, out = (BYTES[k] for k in rng.integers(0, 2, 2))
    ends = np.iinfo(out)
    low, zero, high = sorted(map(int, rng.integers(ends.min, ends.max, 3, endpoint=True)))
    op = ByteSoftmax(out, float(10.0 ** rng.uniform(-6, 0)), zero, low, high)
    x = numbers(rng, dtype, tuple(map(int, rng.integers(1, (4, 300)))))
    exponents = np.exp(np.arange(256) * -(10.0 ** rng.uniform(-4, 2))).astype("float32")
    y = np.empty(x.shape, out)
    form.table.byte_softmax(form.rt, ffi.new("ag_byte_softmax *", {
        "rows": len(x), "length": x.shape[1], "is_signed": dtype == "int8", "zero": zero, "low": low, "high": high,
        "scale": op.scale, "x": pointer("void *", x), "exponents": pointer("float *", exponents),
        "y": pointer("void *", y),
    }))  # fmt: skip
    return np.array_equal(y, op.evaluate(x, exponents)[0]), f"{op} {x.shape} {dtype}"


KERNELS = {"products": product, "convolutions": convolution, "weights of 4 bits": nibbles,
           "weights of 16 bits": halves, "tables": lookup, "softmax": softmax, "images": words}  # fmt: skip

FORMATS = {nibbles: Nibbles.kernel, halves: Widened.kernel}
"""The formats of packed weights by what tries them."""


def run(full: bool) -> list[Row]:
    """Every kernel in every form; at the size of a test in the best and the plainest."""
    rows, names = [], list(forms())
    with tempfile.TemporaryDirectory() as folder:
        some = names if full else dict.fromkeys((names[0], names[-1]))
        units = {unit: [Form(Path(folder), name, unit) for name in some] for unit in ("", *FORMATS.values())}
        for kind, kernel in KERNELS.items():
            made = units[FORMATS.get(kernel, "")]
            trials = Trials("G40", f"few bits, {kind}: {len(made)} sets of extensions")
            for number, form in enumerate(made):
                rng = np.random.default_rng(number + 1000 * full)
                for _ in range(-(-(MANY if full else FEW) // len(made))):
                    trials.check(*kernel(form, rng))
            rows.append(trials.row())
    return rows
