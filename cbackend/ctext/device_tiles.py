"""Products of matrices on devices with local memory: c[i, j] = sum over k of a[i, k] b[k, j], for many matrices.

A group of work items computes a tile of c.  In each step it fetches a tile of a and one of b, `depth` values of k deep,
while it computes with those of the step before in local memory.  An item keeps its elements of c in registers.

A value of a or b lies at `start + batch[z] + outer[o] + inner[k]`, where o is a row of a or a column of b.  A reader is
the text that copies a tile of an operand:

    INNER     values adjacent along k: vectors, which are transposed
    OUTER     values adjacent along o, and a constant stride along k: vectors
    BY_OUTER  tables of offsets; adjacent items read adjacent o
    BY_INNER  tables of offsets; adjacent items read adjacent k

Each element is one chain of multiplications and additions in the order of k.  So its bits depend on neither reader nor
tile, only on the number of parts of k: each part has its own results, and a second kernel adds them up in order.
"""

from __future__ import annotations

from textwrap import dedent, indent

from ...record import record
from .device import Dialect, opening
from .helper import C_TYPES

INNER, OUTER, BY_OUTER, BY_INNER = "inner", "outer", "by_outer", "by_inner"
RESIDENT = 512
"""Work items that share a processor and keep it busy."""
_LANES = (4, 8)
"""Rows and columns of items that read local memory at once: few distinct addresses along both."""


@record
class Tile:
    """Tile of a group of `high` x `wide` items, each with `down` x `across` vectors of rows and of columns.

    `depth`: values of k of a step.  `rate`: elements per second, relative to the largest tile.
    """

    down: int
    across: int
    high: int
    wide: int
    depth: int
    rate: float

    @property
    def items(self) -> int:
        """Work items of a group."""
        return self.high * self.wide

    def sides(self, dtype: str) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return self.down * self.high * vector(dtype), self.across * self.wide * vector(dtype)


_OF_FOURS = (
    Tile(2, 2, 16, 16, 8, 1.0),
    Tile(2, 1, 16, 16, 16, 0.9),
    Tile(1, 1, 16, 16, 16, 0.7),
    Tile(1, 1, 8, 8, 16, 0.5),
)
_OF_TWOS = (Tile(4, 2, 16, 16, 8, 1.0), Tile(2, 2, 16, 16, 8, 0.9), Tile(2, 2, 8, 8, 8, 0.6))


def vector(dtype: str) -> int:
    """Return the number of values in a vector of registers, 16 bytes."""
    return 2 if dtype in ("int64", "uint64", "float64") else 4


def tiles(dtype: str) -> tuple[Tile, ...]:
    """Return the tiles for a dtype, the largest first."""
    return _OF_TWOS if vector(dtype) == 2 else _OF_FOURS


def tiled_source(dtype: str, dialect: Dialect, tile: Tile, readers: tuple[str, str]) -> str:
    """Return the text of the kernels `product_<dtype>` and `product_<dtype>_sum`.  `readers`: those of a and b."""
    size, text = vector(dtype), _PRODUCT
    rows, columns = tile.sides(dtype)
    for name, extent, first, side, reader in zip("ab", "mn", ("top", "left"), (rows, columns), readers, strict=True):
        loads = side * tile.depth // size // tile.items
        separate = {INNER: tile.depth // size, OUTER: side // size, BY_OUTER: side, BY_INNER: tile.depth}[reader]
        words = {"X": name, "EXTENT": extent, "FIRST": first, "SIDE": side, "LOADS": loads, "EACH": loads * size}
        words |= {"ALONG": separate, "STEP": tile.items // separate}
        for part, lines in zip(("GIVEN", "BEFORE", "FETCH", "PUT"), _READERS[reader], strict=True):
            text = _put_in(text, f"@{part}_{name}", _filled(dedent(lines.strip("\n")), words))
    registers, bits = _registers(dtype), int(C_TYPES[dtype][1:])
    words = {
        "KERNEL": dialect.kernel, "GROUPED": dialect.grouped.format(items=tile.items, groups=RESIDENT // tile.items),
        "P": dialect.pointer, "SHARED": dialect.shared, "BARRIER": dialect.barrier, "ITEM": dialect.item,
        "PLACE": dialect.places[0], "G0": dialect.group[0], "G1": dialect.group[1], "G2": dialect.group[2],
        "T": C_TYPES[dtype], "W": registers, "V": size, "ALL": ("u32", "uint2", "uint4")[bits * size // 64],
        "BYTES": bits * size // 8,
        "NAME": f"product_{dtype}", "DEPTH": tile.depth, "ITEMS": tile.items, "ROWS": rows, "COLUMNS": columns,
        "DOWN": tile.down, "ACROSS": tile.across, "HIGH": tile.high, "WIDE": tile.wide, "LANES": _LANES[1],
        "WARP": _LANES[0] * _LANES[1], "WARP_ROWS": _LANES[0], "WARPS": tile.wide // _LANES[1],
        "FMA": _FMA.get(registers, _MULTIPLY_ADD),
    }  # fmt: skip
    return opening(dialect) + _filled(text, words)


def _registers(dtype: str) -> str:
    """Return the type in which an item computes: integers wrap."""
    return C_TYPES[dtype] if dtype.startswith("f") else "u64" if dtype.endswith("64") else "u32"


def _filled(text: str, words: dict[str, object]) -> str:
    for word, value in words.items():
        text = text.replace(f"{{{word}}}", str(value))
    return text


def _put_in(text: str, marker: str, lines: str) -> str:
    """Return the text with lines for a marker, as far to the right as it."""
    before = text.split(marker, maxsplit=1)[0].rsplit("\n", 1)[-1]
    return text.replace(marker, indent(lines, before).lstrip() if not before.strip() else lines)


_MULTIPLY_ADD = "#define multiply_add(a, b, c) ((a) * (b) + (c))"
_FMA = {
    dtype: f"""\
#if defined(__FP_FAST_FMA{suffix.upper()}) || defined(FP_FAST_FMA{suffix.upper()})
#define multiply_add __builtin_fma{suffix}
#else
{_MULTIPLY_ADD}
#endif"""
    for dtype, suffix in (("f32", "f"), ("f64", ""))
}
_READERS = {
    INNER: (
        "{P}const i64 *{X}_outer",
        """
    const i32 {X}_l = item % {ALONG} * {V};
    {P}const {T} *{X}_at[{LOADS}];
    bool {X}_aligned = true;
    #pragma unroll
    for (i32 t = 0; t < {LOADS}; t++) {
        const i64 o = {FIRST} + item / {ALONG} + t * {STEP};
        {X}_at[t] = {X} + {X}_outer[o < {EXTENT} ? o : {EXTENT} - 1] + first + {X}_l;
        {X}_aligned &= (size_t){X}_at[t] % {BYTES} == 0;
    }
    in_memory {X}_next[{LOADS}];""",
        """
    #pragma unroll
    for (i32 t = 0; t < {LOADS}; t++) {
        if ({X}_aligned && l + {DEPTH} <= count) {X}_next[t].all = *({P}const {ALL} *){X}_at[t];
        else
            #pragma unroll
            for (i32 e = 0; e < {V}; e++) {X}_next[t].x[e] = l + {X}_l + e < count ? {X}_at[t][e] : 0;
        {X}_at[t] += {DEPTH};
    }""",
        """
    #pragma unroll
    for (i32 t = 0; t < {LOADS}; t++) {
        const i32 o = item / {ALONG} + t * {STEP};
        #pragma unroll
        for (i32 e = 0; e < {V}; e++) {X}_tile[now][{X}_l + e][o / {V}].x[o % {V}] = {X}_next[t].x[e];
    }""",
    ),
    OUTER: (
        "i64 {X}_stride",
        """
    const i32 {X}_l = item / {ALONG};
    const i64 {X}_o = {FIRST} + item % {ALONG} * {V}, {X}_from = {X}_o < {EXTENT} ? {X}_o : {EXTENT} - 1;
    const i32 {X}_last = {EXTENT} - {X}_from < {V} ? {EXTENT} - {X}_from - 1 : {V} - 1;
    {P}const {T} *{X}_at = {X} + {X}_from + (first + {X}_l) * {X}_stride;
    const bool {X}_aligned = (size_t){X}_at % {BYTES} == 0 && {X}_stride % {V} == 0 && {X}_last == {V} - 1;
    in_memory {X}_next[{LOADS}];""",
        """
    #pragma unroll
    for (i32 t = 0; t < {LOADS}; t++) {
        {P}const {T} *at = {X}_at + t * {STEP} * {X}_stride;
        const bool is_inside = l + {X}_l + t * {STEP} < count;
        if ({X}_aligned && is_inside) {X}_next[t].all = *({P}const {ALL} *)at;
        else
            #pragma unroll
            for (i32 e = 0; e < {V}; e++) {X}_next[t].x[e] = is_inside ? at[e < {X}_last ? e : {X}_last] : 0;
    }
    {X}_at += {DEPTH} * {X}_stride;""",
        """
    #pragma unroll
    for (i32 t = 0; t < {LOADS}; t++)
        #pragma unroll
        for (i32 e = 0; e < {V}; e++) {X}_tile[now][{X}_l + t * {STEP}][item % {ALONG}].x[e] = {X}_next[t].x[e];""",
    ),
    BY_OUTER: (
        "{P}const i64 *{X}_outer, {P}const i64 *{X}_inner",
        """
    const i32 {X}_o = item % {ALONG}, {X}_l = item / {ALONG};
    {X} += {X}_outer[{FIRST} + {X}_o < {EXTENT} ? {FIRST} + {X}_o : {EXTENT} - 1];
    {X}_inner += first + {X}_l;
    i64 {X}_far[{EACH}];
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {X}_far[t] = {X}_inner[t * {STEP}];
    {T} {X}_next[{EACH}];""",
        """
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {X}_next[t] = l + {X}_l + t * {STEP} < count ? {X}[{X}_far[t]] : 0;
    {X}_inner += {DEPTH};
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {X}_far[t] = {X}_inner[t * {STEP}];""",
        """
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {X}_tile[now][{X}_l + t * {STEP}][{X}_o / {V}].x[{X}_o % {V}] = {X}_next[t];""",
    ),
    BY_INNER: (
        "{P}const i64 *{X}_outer, {P}const i64 *{X}_inner",
        """
    const i32 {X}_l = item % {ALONG}, {X}_o = item / {ALONG};
    {P}const {T} *{X}_at[{EACH}];
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {
        const i64 o = {FIRST} + {X}_o + t * {STEP};
        {X}_at[t] = {X} + {X}_outer[o < {EXTENT} ? o : {EXTENT} - 1];
    }
    {X}_inner += first + {X}_l;
    i64 {X}_far = *{X}_inner;
    {T} {X}_next[{EACH}];""",
        """
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {X}_next[t] = l + {X}_l < count ? {X}_at[t][{X}_far] : 0;
    {X}_inner += {DEPTH};
    {X}_far = *{X}_inner;""",
        """
    #pragma unroll
    for (i32 t = 0; t < {EACH}; t++) {
        const i32 o = {X}_o + t * {STEP};
        {X}_tile[now][{X}_l][o / {V}].x[o % {V}] = {X}_next[t];
    }""",
    ),
}
"""For each reader: its parameters, and the text before the steps, at the start of a step and at its end.

A row or column behind the last one reads the last one, and a value of k behind the last one is 0.
"""

_PRODUCT = """
{FMA}
#ifdef __CUDACC__ /* whose compiler divides other stores of vectors */
#define store_vector(at, value) __stwb(at, value)
#else
#define store_vector(at, value) *(at) = value
#endif
typedef union { {ALL} all; {T} x[{V}]; } in_memory;
typedef struct { {W} x[{V}]; } __attribute__((aligned(16))) in_registers;

{GROUPED} {NAME}(i64 m, i64 n, i64 k, i64 batch, i64 share,
    {P}const {T} *a, i64 a_start, {P}const i64 *a_batch, @GIVEN_a,
    {P}const {T} *b, i64 b_start, {P}const i64 *b_batch, @GIVEN_b,
    {P}{T} *c, i64 c_start)
{
    {SHARED}in_registers a_tile[2][{DEPTH}][{ROWS} / {V} + 1];
    {SHARED}in_registers b_tile[2][{DEPTH}][{COLUMNS} / {V} + 1];
    const i32 item = {ITEM}, lane = item % {WARP}, warp = item / {WARP};
    const i32 across = lane % {LANES} + warp % {WARPS} * {LANES};
    const i32 down = lane / {LANES} + warp / {WARPS} * {WARP_ROWS};
    const i64 top = {G1} * {ROWS}, left = {G0} * {COLUMNS}, z = {G2} % batch;
    const i64 first = {G2} / batch * share;
    const i32 count = k - first < share ? k - first : share;
    a += a_start + a_batch[z];
    b += b_start + b_batch[z];
    c += c_start + {G2} * m * n;
    {W} total[{DOWN}][{V}][{ACROSS}][{V}] = {{{{0}}}};
    i32 now = 0;
    @BEFORE_a
    @BEFORE_b
    for (i32 l = 0;; l += {DEPTH}) {
        if (l < count) {
            @FETCH_a
            @FETCH_b
        }
        if (l > 0) {
            #pragma unroll
            for (i32 d = 0; d < {DEPTH}; d++) {
                in_registers u[{DOWN}], v[{ACROSS}];
                #pragma unroll
                for (i32 r = 0; r < {DOWN}; r++) u[r] = a_tile[now][d][down + r * {HIGH}];
                #pragma unroll
                for (i32 s = 0; s < {ACROSS}; s++) v[s] = b_tile[now][d][across + s * {WIDE}];
                #pragma unroll
                for (i32 r = 0; r < {DOWN}; r++)
                    #pragma unroll
                    for (i32 e = 0; e < {V}; e++)
                        #pragma unroll
                        for (i32 s = 0; s < {ACROSS}; s++)
                            #pragma unroll
                            for (i32 f = 0; f < {V}; f++)
                                total[r][e][s][f] = multiply_add(u[r].x[e], v[s].x[f], total[r][e][s][f]);
            }
        }
        if (l >= count) break;
        now = 1 - now;
        @PUT_a
        @PUT_b
        {BARRIER}
    }
    const bool c_aligned = (size_t)c % {BYTES} == 0 && n % {V} == 0;
    #pragma unroll
    for (i32 r = 0; r < {DOWN}; r++)
        #pragma unroll
        for (i32 e = 0; e < {V}; e++) {
            const i64 i = top + (down + r * {HIGH}) * {V} + e;
            #pragma unroll
            for (i32 s = 0; s < {ACROSS}; s++) {
                const i64 j = left + (across + s * {WIDE}) * {V};
                in_memory made;
                #pragma unroll
                for (i32 f = 0; f < {V}; f++) made.x[f] = total[r][e][s][f];
                if (i < m && j < n && c_aligned) store_vector(({P}{ALL} *)(c + i * n + j), made.all);
                else
                    #pragma unroll
                    for (i32 f = 0; f < {V}; f++)
                        if (i < m && j + f < n) c[i * n + j + f] = made.x[f];
            }
        }
}

{KERNEL} {NAME}_sum(i64 count, i64 parts, {P}const {T} *from, {P}{T} *c, i64 c_start)
{
    const i64 i = {PLACE};
    if (i >= count) return;
    {W} total = from[i];
    for (i64 part = 1; part < parts; part++) total += from[part * count + i];
    c[c_start + i] = total;
}
"""
