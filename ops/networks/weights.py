"""Constant weights of convolutions in blocks and of products, as vectors in the order in which the C reads them.

By Winograd's algorithm a tile of `tile` x `tile` outputs comes from `edge` x `edge` inputs, edge = tile + 2, by
products with G w G' (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2016):

    pack(w, ...)          panels, blocks of channels, rows, columns, channels, outputs     direct.c
    pack_listed(w, ...)   groups, panels, rows, columns, channels, lanes                   grouped.c
    pack_within(w, size)  blocks, channels, rows, columns, outputs                         within.c
    pack_tiles(w, ...)    panels, rows and columns of G w G', channels, outputs            winograd.c

Matrices lie in panels of some vectors of columns, which products read row by row:

    pack_panels(w, ...)   blocks of rows, panels, rows, columns                            packed/real/dense_panels.c
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ..shapes.windows import Numbers

EVEN = 16
"""Most panels of weights for which an even number is made, so that two threads have equal shares."""


def panels_of(blocks: int, panel: int) -> list[int]:
    """Return the widths of panels, each of at most `panel` blocks; kernels/products/arithmetic.c computes the same."""
    count = -(-blocks // panel)
    if 1 < count < EVEN:
        count = min(blocks, count + count % 2)
    return [blocks * (k + 1) // count - blocks * k // count for k in range(count)]


def _parts(shape: Numbers, size: int, panel: int, in_blocks: bool) -> Iterator[tuple[slice, slice]]:
    """Yield the outputs and the channels of each part of the weights, in their order."""
    outputs, channels = shape[:2]
    block, first = size if in_blocks else 1, 0
    whole = channels // block * block
    for width in panels_of(-(-outputs // size), panel):
        rows = slice(first * size, (first + width) * size)
        first += width
        for columns in (slice(0, whole), slice(whole, channels)):
            if columns.start < columns.stop:
                yield rows, columns


def pack(w: np.ndarray, size: int, panel: int, in_blocks: bool, own: bool) -> np.ndarray:
    """Kernels as a vector: panels, blocks of channels, rows, columns, channels, outputs; outputs filled up with zeros.

    `in_blocks`: x is.  `own`: blocks, rows, columns, channels.
    """
    kernel, filled = w.shape[2:], whole_blocks(w, size)
    if own:
        return filled.reshape(-1, size, *kernel).transpose(0, 2, 3, 1).reshape(-1)
    found, at = np.empty(filled.size, w.dtype), 0
    for rows, columns in _parts(w.shape, size, panel, in_blocks):
        part = filled[rows, columns]
        block = min(size, part.shape[1]) if in_blocks else 1
        order = (part.shape[1] // block, *kernel, block, part.shape[0])
        separate = part.reshape(part.shape[0], order[0], block, *kernel)
        found[at : at + part.size].reshape(order)[:] = separate.transpose(1, 3, 4, 2, 0)
        at += part.size
    return found


def whole_blocks(w: np.ndarray, size: int) -> np.ndarray:
    """Return kernels with zeros for outputs up to whole blocks."""
    outputs = w.shape[0]
    if outputs % size == 0:
        return w
    filled = np.zeros((-(-outputs // size) * size, *w.shape[1:]), w.dtype)
    filled[:outputs] = w
    return filled


def unpack(w: np.ndarray, shape: Numbers, size: int, panel: int, in_blocks: bool, own: bool) -> np.ndarray:
    """Return the kernels of this shape of `pack`."""
    outputs, _, *kernel = shape
    whole = -(-outputs // size) * size
    if own:
        return w.reshape(-1, *kernel, size).transpose(0, 3, 1, 2).reshape(whole, 1, *kernel)[:outputs]
    filled, at = np.zeros((whole, *shape[1:]), w.dtype), 0
    for rows, columns in _parts(shape, size, panel, in_blocks):
        width, depth = rows.stop - rows.start, columns.stop - columns.start
        block = min(size, depth) if in_blocks else 1
        part = w[at : at + width * depth * math.prod(kernel)].reshape(depth // block, *kernel, block, width)
        filled[rows, columns] = part.transpose(4, 0, 3, 1, 2).reshape(width, depth, *kernel)
        at += part.size
    return filled[:outputs]


# --- groups


def shuffled(channels: int, groups: int) -> np.ndarray:
    """Return the channel at each place after a channel shuffle of this many groups.  `channels // groups` undoes it."""
    return np.arange(channels).reshape(groups, -1).T.reshape(-1)


def pack_groups(w: np.ndarray, groups: int, size: int, panel: int, in_blocks: bool) -> np.ndarray:
    """The kernels of groups of whole blocks, group after group."""
    return np.concatenate([pack(part, size, panel, in_blocks, False) for part in np.split(w, groups)])


def unpack_groups(w: np.ndarray, shape: Numbers, groups: int, size: int, panel: int, in_blocks: bool) -> np.ndarray:
    """Return the kernels of `pack_groups`."""
    each = (shape[0] // groups, *shape[1:])
    return np.concatenate([unpack(part, each, size, panel, in_blocks, False) for part in np.split(w, groups)])


def _lanes(outputs: int, groups: int, size: int, panel: int) -> Iterator[tuple[slice, int, int]]:
    """Yield the outputs of each panel of each listed group, the lane of the first one, and all lanes of the panel."""
    for begin in range(0, outputs, outputs // groups):
        end = begin + outputs // groups
        first, touched = begin // size, -(-end // size) - begin // size
        count = -(-touched // panel)
        for k in range(count):
            last = first + touched // count + (k < touched % count)
            start = max(begin, first * size)
            yield slice(start, min(end, last * size)), start - first * size, (last - first) * size
            first = last


def pack_listed(w: np.ndarray, groups: int, size: int, panel: int) -> np.ndarray:
    """Kernels as a vector: groups, panels, rows, columns, channels, lanes; zeros in lanes of other groups."""
    found = []
    for rows, lane, lanes in _lanes(w.shape[0], groups, size, panel):
        filled = np.zeros((lanes, *w.shape[1:]), w.dtype)
        filled[lane : lane + rows.stop - rows.start] = w[rows]
        found.append(filled.transpose(2, 3, 1, 0).reshape(-1))
    return np.concatenate(found)


def unpack_listed(w: np.ndarray, shape: Numbers, groups: int, size: int, panel: int) -> np.ndarray:
    """Return the kernels of this shape of `pack_listed`."""
    outputs, channels, *kernel = shape
    found, at = np.zeros(shape, w.dtype), 0
    for rows, lane, lanes in _lanes(outputs, groups, size, panel):
        count = lanes * channels * math.prod(kernel)
        part = w[at : at + count].reshape(*kernel, channels, lanes).transpose(3, 2, 0, 1)
        found[rows] = part[lane : lane + rows.stop - rows.start]
        at += count
    return found


def pack_within(w: np.ndarray, size: int) -> np.ndarray:
    """Kernels of groups within blocks as a vector: blocks, channels, rows, columns, outputs; zeros behind the last."""
    return whole_blocks(w, size).reshape(-1, size, *w.shape[1:]).transpose(0, 2, 3, 4, 1).reshape(-1)


def unpack_within(w: np.ndarray, shape: Numbers, size: int) -> np.ndarray:
    """Return the kernels of this shape of `pack_within`."""
    return w.reshape(-1, *shape[1:], size).transpose(0, 4, 1, 2, 3).reshape(-1, *shape[1:])[: shape[0]]


# --- panels

DEPTH = 448
"""The most rows of a block of panels: the number of that name in kernels/products/panels.c."""


def blocks_of_panels(rows: int) -> Iterator[slice]:
    """Yield the rows of each block of panels."""
    depth = -(-rows // -(-rows // DEPTH)) if rows else 1
    for row in range(0, rows, depth):
        yield slice(row, min(row + depth, rows))


def _panels(rows: int, columns: int, lanes: int, vectors: int) -> Iterator[tuple[slice, slice, int]]:
    """Yield rows and columns of each panel, and its width: the least vectors that hold the last columns."""
    for down in blocks_of_panels(rows):
        for column in range(0, columns, vectors * lanes):
            width = min(vectors, -(-(columns - column) // lanes)) * lanes
            yield down, slice(column, min(column + width, columns)), width


def pack_panels(w: np.ndarray, lanes: int, vectors: int) -> np.ndarray:
    """A matrix as a vector of panels of `vectors` vectors, zeros behind the last columns."""
    rows, columns = w.shape
    found, at = np.zeros(rows * (-(-columns // lanes) * lanes), w.dtype), 0
    for down, across, width in _panels(rows, columns, lanes, vectors):
        count = (down.stop - down.start) * width
        panel = found[at : at + count].reshape(-1, width)
        panel[:, : across.stop - across.start] = w[down, across]
        at += count
    return found


def unpack_panels(panels: np.ndarray, rows: int, columns: int, lanes: int, vectors: int) -> np.ndarray:
    """Return the matrix of this shape of `pack_panels`."""
    found, at = np.empty((rows, columns), panels.dtype), 0
    for down, across, width in _panels(rows, columns, lanes, vectors):
        count = (down.stop - down.start) * width
        found[down, across] = panels[at : at + count].reshape(-1, width)[:, : across.stop - across.start]
        at += count
    return found


# --- tiles

GROWN = {
    2: np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]]),
    4: np.array([
        [1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6], [1 / 24, 1 / 12, 1 / 6],
        [1 / 24, -1 / 12, 1 / 6], [0, 0, 1],
    ]),
}  # fmt: skip
"""The matrix G of each tile size: polynomials of degree 2 at 0, 1, -1, (2, -2,) and infinity."""


def tiles_across(length: int, tile: int) -> int:
    """Return how many tiles cover `length` outputs."""
    return -(-length // tile)


def spread(tile: int) -> np.ndarray:
    """Return a left inverse of G."""
    found: np.ndarray = np.linalg.pinv(GROWN[tile])
    return found


def pack_tiles(w: np.ndarray, size: int, panel: int, tile: int) -> np.ndarray:
    """G w G' of kernels of 3 x 3 as a vector; outputs filled up with zeros.  Computed in float64."""
    outputs, channels = w.shape[:2]
    grown = GROWN[tile]
    filled = np.zeros((len(grown), len(grown), channels, -(-outputs // size) * size), w.dtype)
    filled[..., :outputs] = np.einsum("ia,jb,ocab->ijco", grown, grown, w.astype("float64"), optimize=True)
    ends = np.cumsum([size * width for width in panels_of(filled.shape[-1] // size, panel)])[:-1]
    return np.concatenate([part.reshape(-1) for part in np.split(filled, ends, axis=-1)])


def unpack_tiles(w: np.ndarray, shape: Numbers, size: int, panel: int, tile: int) -> np.ndarray:
    """G w G' of kernels of this shape from their vector: rows, columns, outputs, channels."""
    outputs, channels = shape[:2]
    edge, at, parts = tile + 2, 0, []
    for width in panels_of(-(-outputs // size), panel):
        count = edge * edge * channels * width * size
        parts.append(w[at : at + count].reshape(edge, edge, channels, width * size))
        at += count
    return np.concatenate(parts, axis=-1)[..., :outputs].swapaxes(2, 3)


def kernels_of_tiles(grown: np.ndarray, tile: int) -> np.ndarray:
    """Return the 3 x 3 kernels with this G w G'."""
    back = spread(tile)
    found = np.einsum("ai,bj,ijoc->ocab", back, back, grown.astype("float64"), optimize=True)
    return found.astype(grown.dtype)  # type: ignore[no-any-return]
