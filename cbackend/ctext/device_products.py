"""Products of matrices on devices: c[i, j] = sum over k of a[i, k] b[k, j], for many pairs of matrices.

Tables of offsets tell where elements lie:

    a[ab[z] + ai[i] + ak[k]]        b[bb[z] + bk[k] + bj[j]]        c[cb[z] + ci[i] + j]

So one text serves all strides, products of batches, convolutions (k runs over channels and positions of the kernel) and
their gradients.

This is the text for processors: `_pack` copies panels of b, and an item keeps a tile in registers.  device_tiles.py has
that for other devices, whose groups of items keep tiles of a and b in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from .device import Dialect
from .device_lists import Item, kernels_source

ROWS = 6
"""Rows of a tile in the registers of a processor, two vectors wide."""
_WORDS = {
    "int8": "char", "int16": "short", "int32": "int", "int64": "long", "float32": "float", "float64": "double",
    "uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulong",
}  # fmt: skip
DTYPES = frozenset(_WORDS)


def columns(dtype: str) -> int:
    """Return the number of columns of a tile in registers."""
    return 16 if dtype in ("int64", "uint64", "float64") else 32


def packed_source(dtype: str, dialect: Dialect) -> str:
    """Return the text for processors: the kernels of `packed_items`."""
    return kernels_source(packed_items(dtype, dialect))


def packed_items(dtype: str, dialect: Dialect) -> tuple[Item, Item]:
    """Return the work items for processors: `product_<dtype>_pack` copies a panel of b, `product_<dtype>` a tile."""
    wide = columns(dtype)
    tile = _PACKED_TILE.replace("@TILE", "\n".join("    " + line for line in _registers()))
    texts = [_PACK, _STORE, tile]
    for word, value in (("T", _WORDS[dtype]), ("WIDE", str(wide)), ("ROWS", str(ROWS)), ("L", str(wide // 2))):
        texts = [text.replace("{" + word + "}", value) for text in texts]
    pack, store, tile = texts
    name, prelude = f"product_{dtype}", dialect.prelude
    given, made = (p.replace("{T}", _WORDS[dtype]).split(", ") for p in (_PACK_PARAMETERS, _TILE_PARAMETERS))
    return Item(f"{name}_pack", (prelude,), tuple(given), pack), Item(name, (prelude, store), tuple(made), tile)


def _registers() -> Iterator[str]:
    """Yield the statements of a tile in registers."""
    for r in range(ROWS):
        yield f"__global const {{T}} *a{r} = a + ai[first + {r} < m ? first + {r} : m - 1];"
        yield f"{{T}}{{L}} c{r} = 0, d{r} = 0;"
    yield "for (i64 l = 0; l < k; l++) {"
    yield "    const i64 at = ak[l];"
    yield "    const {T}{L} left = vload{L}(0, p), right = vload{L}(1, p);"
    yield "    p += {WIDE};"
    for r in range(ROWS):
        yield f"    const {{T}}{{L}} v{r} = ({{T}}{{L}})a{r}[at];"
        yield f"    c{r} += v{r} * left;"
        yield f"    d{r} += v{r} * right;"
    yield "}"
    for r in range(ROWS):
        yield f"if (first + {r} < m) store_{{T}}(c{r}, d{r}, c + ci[first + {r}] + panel * {{WIDE}}, width);"


_PACK_PARAMETERS = (
    "i64 k, i64 n, i64 panels, __global const {T} *b, i64 b_start, __global const i64 *bb, __global const i64 *bk, "
    "__global const i64 *bj, __global {T} *p"
)
_PACK = """\
    const i64 panel = item, z = row;
    i64 at[{WIDE}], breaks = 0;
    b += b_start + bb[z];
    p += (z * panels + panel) * k * {WIDE};
    for (i64 j = 0; j < {WIDE}; j++) {
        const i64 column = panel * {WIDE} + j;
        at[j] = bj[column < n ? column : n - 1];
        breaks |= at[j] ^ (at[0] + j);
    }
    if (breaks == 0) {
        for (i64 l = 0; l < k; l++) {
            __global const {T} *values = b + bk[l] + at[0];
            for (i64 j = 0; j < {WIDE}; j++) p[l * {WIDE} + j] = values[j];
        }
    } else {
        for (i64 l = 0; l < k; l++) {
            __global const {T} *values = b + bk[l];
            for (i64 j = 0; j < {WIDE}; j++) p[l * {WIDE} + j] = values[at[j]];
        }
    }"""

_STORE = """\
static void store_{T}({T}{L} left, {T}{L} right, __global {T} *c, i64 width)
{
    if (width >= {WIDE}) {
        vstore{L}(left, 0, c);
        vstore{L}(right, 1, c);
        return;
    }
    {T} row[{WIDE}];
    vstore{L}(left, 0, row);
    vstore{L}(right, 1, row);
    for (i64 j = 0; j < width; j++) c[j] = row[j];
}
"""

_TILE_PARAMETERS = (
    "i64 m, i64 n, i64 k, i64 panels, __global const {T} *a, i64 a_start, __global const i64 *ab, "
    "__global const i64 *ai, __global const i64 *ak, __global const {T} *p, __global {T} *c, i64 c_start, "
    "__global const i64 *cb, __global const i64 *ci"
)
_PACKED_TILE = """\
    #pragma OPENCL FP_CONTRACT ON
    const i64 first = item * {ROWS}, panel = row, z = layer;
    const i64 width = n - panel * {WIDE};
    a += a_start + ab[z];
    c += c_start + cb[z];
    p += (z * panels + panel) * k * {WIDE};
@TILE"""
