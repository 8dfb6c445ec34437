"""Bounds on kernels, tiles and pipelines, set by the runtime, by compile times and by cache sizes.

Each group is read by the passes and planners of its name: `current().limits.fusion.nodes`.

None of them changes a result: they decide which work shares a loop nest, and in which portions it is done.  Numbers
that bits depend on (blocks of a sum) are part of the meaning and stand in `cbackend/lowering/`.
"""

from __future__ import annotations

from ..record import record


@record
class Fusion:
    """Sizes of one fused kernel or pipeline."""

    nodes: int = 180
    """Nodes of a kernel.  Divisible by 2, 3, 4, 5, 6, 9, 10 and 12: a long periodic chain falls into equal groups."""
    inputs: int = 60
    """Arrays that a fused kernel reads."""
    near: int = 64
    """Elements between the beginnings of two parts of an axis that are read as one stream of memory."""
    terms: int = 16
    """Operands of a flattened sum or product; a longer chain becomes several."""
    folds: int = 8
    """Nodes of a kernel that go along rows, each a pass over the row or two: C that takes gcc 0.3 s a softmax."""
    least_rows: int = 32
    """With fewer rows than these, long ones are not joined: each row is the work of one thread."""
    long_row: int = 1 << 16
    """Elements of a long row."""
    epilogue_arrays: int = 60
    """Arrays of the group behind a product; a plan adds a few."""
    stages: int = 8
    """Stages of a pipeline, each of which has rows of its own in the cache."""


@record
class Joins:
    """Arrays that are joined of parts."""

    parts: int = 64
    """Nodes of an assembled array, and parts of a join that grows."""
    columns: int = 16
    """Columns of a short row, which one loop over the rows reads or writes."""
    few: int = 4
    """Parts of a join on which work is done one by one."""
    pieces: int = 64
    """Launches of a kernel that reads joins through their parts: 27 for a roll each way along three axes."""


@record
class Devices:
    """Work items of kernels on OpenCL and CUDA."""

    group_items: int = 64
    """Most work items of a group on a device that compute an element each; a power of two."""
    reduction_items: tuple[int, int] = (256, 1024)
    """The usual and the most work items of a group that reduces; powers of two."""
    adjacent_outputs: int = 32
    """Adjacent outputs of a group that reduces: a cache line of float32."""
    item_sums: int = 16
    """Accumulators of a work item, of all its reductions."""
    item_reads: int = 16
    """Elements of all operands that a work item reads at a time."""
    item_words: tuple[int, int, int] = (64, 32, 512)
    """The 32-bit registers of a work item for elements that stay there between two passes, the same in a large group,
    and the most items of a group that is not large."""
    unrolled_operations: tuple[int, int] = (96, 512)
    """Operations of an unrolled loop of a work item, in units of an addition, and of one whose elements stay in
    registers.  More take a compiler seconds: a sum of sines 3, with 16 sines at a time."""
    host_operations: int = 12
    """Nodes of a graph on a processor as device beyond which small nodes are launched too, and not run by NumPy."""


@record
class Pools:
    """Windows of pools."""

    taps: int = 32
    """Positions of a window up to which a program reads them one by one."""
    lanes: tuple[int, int] = (4, 8)
    """Windows that a pooling kernel computes together, in rows of few and of many windows.  A cotangent of 64x32x8x8
    float32 takes 23 us with 4 lanes, 35 us with 8, 330 us with 16; one of 112 columns 19, 15 and 14 us."""
    pooled: int = 4
    """Positions of a window whose largest number one kernel finds; more are pooled axis by axis.  9 of 64x56x56 float32
    take 229 us at once and 55 us so."""
    positions: int = 25
    """Positions of a window up to which a pool of blocks reads them all, not the largest of each column first."""


@record
class Convolutions:
    """Convolutions in blocks of channels, and by Winograd's algorithm."""

    panel_registers: int = 8
    """Vector registers for each block of outputs of a convolution whose weights lie side by side."""
    tile_columns: int = 8
    """The most columns of a tile of a convolution, whose sums take three of four registers."""
    read_bytes: int = 12
    """Weights that come from the level 2 cache in the time of a product of vectors, of which two begin in a cycle."""
    pooled_products: int = 64
    """Products of a number up to which a convolution is computed with the pool that reads it, strip by strip; rows that
    two strips share are computed twice."""
    tiles: tuple[int, ...] = (2, 4)
    """Outputs along a side of the tiles of Winograd's algorithm that are considered."""
    tiled_number: int = 16
    """Products in the time of a number's way into a tile of Winograd's algorithm, or out of it."""
    read_weight: int = 16
    """Products in the time in which a weight comes from memory."""
    tiled_depth: int = 64
    """Products of a sum of bytes from which tiles of AMX compute it, and not vectors."""
    pairs_in_float32: int = 0
    """1: convolutions of bfloat16 numbers read pairs of channels even where no unit multiplies them, which takes
    longer than float32."""
    unknown_side: int = 56
    """Rows and columns of images of which the graph does not say how many there are."""


@record
class Products:
    """Products of matrices whose weights are stored in few bits, or of which few are not zero."""

    sparse_share: float = 0.6
    """The most vectors of constant weights that are not all zero for a product that reads these alone."""
    sparse_numbers: int = 64 * 64
    """Numbers of the smallest such matrix."""
    column_shares: tuple[float, float] = (0.55, 0.36)
    """The same for blocks along the sum, by one row and by more: their lanes are added up in the end.  By 1024x1024 of
    which half is stored one row takes 0.76 of the time of a dense product, 128 rows 0.96; with 0.35, 0.66 and 0.73."""
    column_rows: int = 512
    """Rows of the smallest matrix of such blocks."""
    two_of_four: tuple[int, int] = (256, 1 << 15)
    """Rows and numbers of the smallest matrix of which two of each four numbers are stored.  At 64x64 and 128x128 such
    products of 4 rows and more take as long as dense ones; from here on they take 0.5 to 0.9 of that."""
    bfloat_rows: int = 32
    """Rows for which a matrix that is no constant is laid in panels of bfloat16.  16 rows by 1024x1024 take 1.2 of
    the time of a product of float32, 32 rows 0.9, 128 rows 0.64."""
    bfloat_few_rows: int = 4
    """Most rows by constant weights of bfloat16 numbers that are read as such where no unit multiplies them.  By
    4096x4096 one row takes 0.68 of the time of float32, four rows 0.67; 16 rows by 1024x1024 take 1.46."""
    bfloat_numbers: int = 1 << 21
    """Numbers of the smallest such matrix: 1 row by 1024x1024 takes 1.03 of the time of float32."""


@record
class Programs:
    """The text of a whole program."""

    long: int = 12
    """Nodes of a graph whose C may be long enough for two compilers."""
    driver_steps: int = 200
    """Steps of a driver that stand in one C function."""
    long_function: int = 100
    """Statements of a function whose registers are given out for the whole at once."""
    unrolled_choices: tuple[int, int] = (8, 32)
    """Copies of the body of a loop over elements that chooses, and most statements of it.  The copies have branches of
    their own, which are foreseen better: a sum of selected elements takes 0.4 to 0.7 of the time."""
    inlined_nodes: int = 40
    """Nodes of a composition that is copied to each of its places; larger ones are compiled once."""


@record
class Chains:
    """Loops whose statements depend on each other, one by one, so that steps stand side by side."""

    body: int = 48
    """Fewest operations: several steps of shorter loops lie in a processor's window of instructions."""
    parallel: int = 2
    """Most operations, on average, that a step could start at once."""
    copies: int = 3
    """Most steps side by side."""


@record
class Tiles:
    """Copies of strided and transposed operands, on the stack."""

    strip_bytes: int = 16 * 1024
    """Contiguous copies of strided operands, all together: half of a first-level cache."""
    long_body: int = 48
    """Statements of a loop from which on a second form of it takes a compiler longer than strips do."""
    bytes: int = 24 * 1024
    """Tiles of transposed operands, all together, but for groups of many operands."""
    rows: int = 16
    """Rows of a transposed tile."""
    elements: tuple[int, int] = (256, 1024)
    """The least and the most elements of such a tile."""


@record
class Columns:
    """Columns and planes that are reduced or scanned together."""

    elements: int = 1024
    """Columns that are reduced or scanned together."""
    accumulator_bytes: int = 48 * 1024
    """Accumulators of a tile of columns.  With 3000 columns of float32 tiles of 4096 are twice as fast as of 1024."""
    plane_bytes: int = 256 * 1024
    """Accumulators of a tile of planes."""
    plane_tile: tuple[int, int] = (64, 16)
    """Steps of a tile of planes along the innermost loop and along the others."""
    unrolled_rows: int = 4
    """Rows that are added at a time, so that an accumulator is read and written once for all of them.  Sums of 3000
    columns of float64 take 3.8 ms of processor time, by single rows 5.8."""
    unrolled_body: int = 8
    """Statements of a row that is unrolled."""


@record
class ShortRows:
    """Short rows, reduced across them."""

    rows: int = 16
    """Fewer short rows do not fill vectors across them either."""
    reuses: int = 4
    """Steps of an outer loop that a copied tile must serve so that longer rows count as short."""
    tile_bytes: int = 32 * 1024
    """Elements of a tile of short rows: a first-level cache."""
    tile_rows: tuple[int, int] = (16, 128)
    """The least and the most rows of such a tile."""


@record
class Searches:
    """Searches for an extremum and its position."""

    columns: int = 512
    """Columns that are searched for an extremum together."""
    accumulators: int = 4
    """Accumulators of a search for an extremum."""
    bytes: int = 128
    """The part of each accumulator is a multiple of this; fewer elements are taken one by one."""
    body: int = 4
    """Statements of a step beside those of the accumulators; with more, these take the time."""
    block: tuple[int, int] = (1024, 256)
    """Bytes of a block whose extremum is found before it is compared with those before it; its least elements."""
    longer: tuple[int, int] = (16, 4)
    """In a loop of so many blocks they are larger, so many times: the search in one of them is little beside it."""


@record
class Limits:
    """The most that passes and planners put into one kernel, one pipeline, one tile; by what asks for it."""

    fusion: Fusion = Fusion()
    joins: Joins = Joins()
    devices: Devices = Devices()
    pools: Pools = Pools()
    convolutions: Convolutions = Convolutions()
    products: Products = Products()
    programs: Programs = Programs()
    chains: Chains = Chains()
    tiles: Tiles = Tiles()
    columns: Columns = Columns()
    short_rows: ShortRows = ShortRows()
    searches: Searches = Searches()
