"""Products of bfloat16 numbers summed in float32, which take half the time where the processor has vdpbf16ps.

    dot(from_bfloat16(a), from_bfloat16(b))   -->   bfloat_dot(a, b)             both are stored so: the same products
                                                                                 (or few rows by large constants)
    dot(x, y)                                 -->   bfloat_dot(x, y)             rounded to 8 bits; tag `bfloat16` alone
    dot(x, w)                                 -->   packed_bfloat_dot(x, w in panels)  for constant w
    blocked_convolution(x, w, b) + blocked_convolution(y, v, c)
                                              -->   blocked_convolution(join(x, y), join(w, v), b + c)
    blocked_convolution(from_bfloat16(x), w, b)   -->   bfloat_convolution(x, w in pairs, b)
    attention(from_bfloat16(q), from_bfloat16(k), from_bfloat16(v), scale)   -->   bfloat_attention(q, k, v, scale)
    to_bfloat16(mul(x, erfc(y)))   -->   to_bfloat16(mul(x, coarse_erfc(y)))
    to_bfloat16(true_div(x, c))    -->   to_bfloat16(mul(x, 1 / c))              for constants c

The sum of the first form has another order, and nothing else changes.  In the others both operands are rounded.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ....graph import Apply, Constant, Variable, same_shape
from ....ops.core.tensor import constant, own_constant
from ....ops.elementwise.exponential import coarse_erfc, erfc
from ....ops.elementwise.records import add, from_bfloat16, maximum, minimum, mul, true_div
from ....ops.elementwise.records import to_bfloat16 as to_bits
from ....ops.elementwise.special import from_bfloat16 as widened
from ....ops.elementwise.special import to_bfloat16
from ....ops.linalg.blas import Dot, MatMul
from ....ops.lowered.attention import Attention
from ....ops.lowered.bfloat_dot import BfloatDot
from ....ops.lowered.blocked import BlockedConvolution, ToBlocks
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.formats import PackedProduct
from ....ops.lowered.formats.bfloats import Bfloats
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import lengths_of
from ....ops.shapes.shape import DimShuffle, Reshape
from ....record import lazy
from ....targets.costs import ITEMS
from ....targets.current import current
from ....targets.target import Target
from ...contract import narrows, relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..elementwise.stability import dividend_by_root
from ..facts import Node, producer
from ..linalg.blas import rows_of
from ..linalg.gemm import call
from .narrow import behind_moves, moved

narrow: Any = lazy.module("....ops.lowered.bfloat_convolution", __package__)
narrow_attention: Any = lazy.module("....ops.lowered.bfloat_attention", __package__)
units: Any = lazy.module("....targets.units", __package__)
VIEWS = (DimShuffle, Reshape, Subtensor)
"""Ops that move numbers and change none."""


def multiplies_bfloats(target: Target) -> bool:
    """Whether the target has an instruction for pairs of bfloat16 numbers; else products of float32 are as fast."""
    return units.unit_for(target, "bfloat16") is not None


def lacking_unit() -> str:
    """Return the unit that the current target would need; empty if it has one."""
    return units.lacking(current(), "bfloat16")  # type: ignore[no-any-return]


def reads_fewer_bytes(a: Variable, b: Variable) -> bool:
    """Whether few rows are multiplied by a large constant matrix: the time is that of reading the weights."""
    limits, rows = current().limits.products, a.type.shape[:-1]
    few = None not in rows and math.prod(n or 0 for n in rows) <= limits.bfloat_few_rows
    return few and isinstance(b, Constant) and b.data.size >= limits.bfloat_numbers


def bits_of(v: Variable) -> Variable | None:
    """Return the bits of the bfloat16 numbers behind a value, a join of such values, or a constant."""
    join = producer(v, Join)
    if join is None:
        return own_bits_of(v)
    parts = [own_bits_of(i) for i in join.inputs]
    return None if any(p is None for p in parts) else join.op(*parts)


def own_bits_of(v: Variable) -> Variable | None:
    """Return the bits of the bfloat16 numbers behind a value that is no join, or a constant."""
    made = producer(v, from_bfloat16)
    if made is not None:
        return made.inputs[0]  # type: ignore[no-any-return]
    if not isinstance(v, Constant) or v.dtype != "float32":
        return None
    bits = to_bfloat16(v.data)
    return constant(bits) if np.array_equal(widened(bits), v.data) else None


def seen_bits_of(v: Variable) -> Variable | None:
    """Return the bits of the bfloat16 numbers that a value has in other places, moved in the same way."""
    x, moves = behind_moves(v)
    bits = bits_of(x)
    return None if bits is None else moved(bits, moves)


def product(a: Variable, b: Variable) -> Variable | None:
    """Return rows times a matrix; a constant one is rounded and packed in panels.  None: few rows, other matrices.

    Rows of a stack are those of one matrix, so that elementwise nodes become an epilogue.
    """
    if a.ndim > 2:
        flat = product(rows_of(a), b)
        return None if flat is None else call(Reshape(), flat, *lengths_of(a)[:-1], lengths_of(b)[1])
    target, lengths = current(), a.type.shape[:-1]
    known = [n for n in lengths if n is not None]
    if not isinstance(b, Constant):
        is_few = len(known) == len(lengths) and math.prod(known) < target.limits.products.bfloat_rows
        return None if is_few else BfloatDot()(a, b)  # type: ignore[no-any-return]
    depth, outputs = b.data.shape
    lanes = target.vector // ITEMS["float32"]
    form = Bfloats(depth, outputs, lanes, target.panel)
    bits = b.data if b.dtype == "uint16" else to_bfloat16(b.data)
    return PackedProduct(form)(a, *map(own_constant, form.packed(bits)))


def stored_product(node: Node) -> Variable | None:
    """Return rows times a matrix, both of which are stored as bfloat16."""
    a, b = map(seen_bits_of, node.inputs)
    if a is None or b is None or not a.ndim or b.ndim != 2:
        return None
    return product(a, b) if multiplies_bfloats(current()) or reads_fewer_bytes(a, b) else None


def rounded_product(node: Node) -> Variable | None:
    """Return rows of float32 times a matrix, both rounded to bfloat16."""
    a, b = node.inputs
    if node.out.dtype != "float32" or a.dtype != b.dtype or not a.ndim or b.ndim != 2:
        return None
    left, right = (i if (bits := bits_of(i)) is None else bits for i in (a, b))
    return product(left, right)


def convolution_of_pairs(node: Node) -> Variable | None:
    """Return a convolution in blocks whose operands are both stored as bfloat16, with packed kernels."""
    op, (x, w, bias) = node.op, node.inputs
    bits, kernels = seen_bits_of(x), bits_of(w)
    if bits is None or not isinstance(kernels, Constant) or not isinstance(bias, Constant):
        return None
    shape, in_blocks = kernels.data.shape, x.ndim == 5
    tile_words = words_of_tiles(op, in_blocks, shape)
    if not in_blocks and not tile_words and op.groups == 1 and x.type.shape[1] == shape[1] >= op.size:
        bits, in_blocks = ToBlocks(op.size)(bits), True
        tile_words = words_of_tiles(op, in_blocks, shape)
    if op.weights or op.shuffle != 1 or (not tile_words and (not in_blocks or (shape[1] % 2 and not op.own))):
        return None
    if not multiplies_bfloats(current()) and not current().limits.convolutions.pairs_in_float32:
        return None
    panel = units.TILE_BLOCKS if tile_words else op.panel
    made = narrow.BfloatConvolution(
        op.stride, op.dilation, op.padding, op.size, panel, shape, op.groups, op.own, tile_words
    )  # fmt: skip
    numbers = np.zeros(-(-shape[0] // op.size) * op.size, "float32")
    numbers[: bias.data.size] = bias.data
    return made(bits, own_constant(made.packed(w.data if op.own else kernels.data)), constant(numbers))  # type: ignore[no-any-return]


def sum_of_products(node: Node, users: Users) -> Variable | None:
    """Return the sum of two products along channels as one of joined channels, which takes fewer bytes than a sum.

    A network reads a residual so where its channels or its positions change.
    """
    if len(node.inputs) != 2 or not same_shape(*node.inputs) or not multiplies_bfloats(current()):
        return None
    products = [_along_channels(v, users) for v in node.inputs]
    first, second = products
    if first is None or second is None:
        return None
    w, v = (made.inputs[1].data for made in (first, second))
    if w.shape[1] + v.shape[1] >= 2 * w.shape[0]:
        return None
    bias = constant(first.inputs[2].data + second.inputs[2].data)
    joined = Join(1)(*map(_strided, (first, second)))
    return replace(first.op, stride=(1, 1))(joined, constant(np.concatenate([w, v], axis=1)), bias)  # type: ignore[no-any-return]


def _along_channels(v: Variable, users: Users) -> Node | None:
    """Return the product of stored bfloat16 numbers, of one position, that makes a value without other readers."""
    made = producer(v, BlockedConvolution)
    if made is None or len(users(v)) > 1:
        return None
    op, (x, w, bias) = made.op, made.inputs
    if not isinstance(w, Constant) or not isinstance(bias, Constant) or own_bits_of(w) is None:
        return None
    if op.weights or op.groups > 1 or x.ndim != 5 or w.data.shape[2:] != (1, 1) or op.padding != ((0, 0), (0, 0)):
        return None
    return made if w.data.shape[1] % op.size == 0 and producer(x, from_bfloat16) is not None else None


def _strided(made: Node) -> Variable:
    """Return the numbers that a product along channels reads."""
    x, (down, across) = made.inputs[0], made.op.stride
    if down == across == 1:
        return x  # type: ignore[no-any-return]
    bits: Any = own_bits_of(x)
    return from_bfloat16(bits[:, :, ::down, ::across])


def pool_of_rounded(node: Node, users: Users) -> Variable | None:
    """Return the largest rounded numbers of windows, if all that reads the largest ones rounds them."""
    rounding = producer(node.inputs[0], to_bits)
    if rounding is None or _pooled(rounding.inputs[0], users) is None:
        return None
    return from_bfloat16(_rounded_bits(rounding.inputs[0], users))


def join_of_rounded(node: Node, users: Users) -> Variable | None:
    """Return the joined bits of rounded numbers, if all that reads the join rounds them or pools rounded ones."""
    join = producer(node.inputs[0], Join)
    if join is None:
        return None
    for reader, _ in users(join.out):
        if reader is None or (reader.op != to_bits and _pooled(reader.out, users) is None):
            return None
    return join.op(*(_rounded_bits(i, users) for i in join.inputs))  # type: ignore[no-any-return]


def _pooled(v: Variable, users: Users) -> Node | None:
    """Return the pool of the largest numbers that makes a value, if nothing needs its result in float32."""
    made = producer(v, BlockedPool)
    if made is None or made.op.sums or made.op.halves or v.dtype != "float32":
        return None
    readers = [None if reader is None else reader.op for reader, _ in users(v)]
    return made if all(op == to_bits or isinstance(op, BlockedPool) for op in readers) else None


def _rounded_bits(v: Variable, users: Users) -> Variable:
    """Return the bits of the nearest bfloat16 numbers of a value; those before pools and joins, where it has them."""
    known, pool, join = own_bits_of(v), _pooled(v, users), producer(v, Join)
    if known is not None:
        return known
    if pool is not None:
        return replace(pool.op, halves=True)(_rounded_bits(pool.inputs[0], users))  # type: ignore[no-any-return]
    if join is not None:
        return join.op(*(_rounded_bits(i, users) for i in join.inputs))  # type: ignore[no-any-return]
    return to_bits(v)


def words_of_tiles(op: Any, in_blocks: bool, kernels: tuple[int, ...]) -> int:
    """Return the words of channels that tiles sum: of blocks that fill rows of tiles, or half of them; of a block that
    holds several groups; of few channels.

    0: the target has no tiles, or they do not fit.  The words of few channels that a row of the kernel meets are summed
    together.
    """
    most = units.TILE_WORDS
    if not units.has_tiles(current(), "bfloat16") or op.own or op.size not in (most, 2 * most):
        return 0
    if in_blocks and op.is_within(kernels, True):
        return narrow.GROUP_WORDS if op.size == 2 * narrow.GROUP_WORDS else 0  # type: ignore[no-any-return]
    if in_blocks:
        return 0 if op.is_listed(kernels, True) or kernels[1] % 2 else most
    words = narrow.IMAGE_WORDS * kernels[3]
    is_image = op.groups == 1 and kernels[1] <= 2 * narrow.IMAGE_WORDS and op.dilation[1] == 1
    return narrow.IMAGE_WORDS if is_image and (words <= most or words % most == 0) else 0


def attention_of_pairs(node: Node) -> Variable | None:
    """Return attention whose operands are all stored as bfloat16."""
    op, (q, k, v, *others) = node.op, node.inputs
    bits = [seen_bits_of(i) for i in (q, k, v)]
    if any(b is None for b in bits) or not multiplies_bfloats(current()):
        return None
    return narrow_attention.BfloatAttention(op.mask, op.added)(*bits, *others)  # type: ignore[no-any-return]


def coarse_function(node: Node, users: Users) -> Variable | None:
    """Return the rounded product of an erfc without other readers, of which few bits are needed."""
    made = producer(node.inputs[0], mul)
    if made is None or len(users(made.out)) > 1:
        return None
    tails = [i for i in made.inputs if producer(i, erfc) is not None and i.dtype == "float32" and len(users(i)) == 1]
    if not tails or made.out.dtype != "float32":
        return None
    return to_bits(mul(*[_coarse(i.owner) if i in tails and i.owner else i for i in made.inputs]))


def _coarse(node: Apply) -> Variable:
    """Return erfc of few bits; a multiplication replaces a division by the root of 2."""
    x = dividend_by_root(node)
    return coarse_erfc(*node.inputs) if x is None else coarse_erfc(mul(x, constant(math.sqrt(0.5), "float32")))


def product_by_reciprocals(node: Node, users: Users) -> Variable | None:
    """Return the rounded product by reciprocals of constants, in place of a quotient, which bounds may follow."""
    product = _by_reciprocals(node.inputs[0], users)
    return None if product is None else to_bits(product)


def _by_reciprocals(v: Variable, users: Users) -> Variable | None:
    """Return a product in place of the quotient without other readers that makes a value; None if there is none."""
    made = producer(v, true_div, maximum, minimum)
    if made is None or len(users(v)) > 1 or v.dtype != "float32":
        return None
    if made.op == true_div:
        inverse = _reciprocals(made.inputs[1])
        return None if inverse is None else mul(made.inputs[0], inverse)
    inside = [_by_reciprocals(i, users) for i in made.inputs]
    if all(i is None for i in inside):
        return None
    return made.op(*(own if i is None else i for i, own in zip(inside, made.inputs, strict=True)))  # type: ignore[no-any-return]


def _reciprocals(v: Variable) -> Variable | None:
    """Return the reciprocals of constants; None if one of them is no normal number."""
    if not isinstance(v, Constant) or v.dtype != "float32":
        return None
    with np.errstate(all="ignore"):
        inverse = np.reciprocal(v.data)
    is_normal = np.isfinite(inverse) & (np.abs(inverse) >= np.finfo("float32").tiny)
    return constant(inverse) if is_normal.all() else None


STORED: list[Rule] = [
    node_rule("local_stored_bfloat16_dot", (Dot, MatMul), stored_product, having=(from_bfloat16, Join, *VIEWS),
              needs=(from_bfloat16,),
              contract=relaxes("rounding", "signed zero"),
              lacking=lacking_unit,
              formula="dot(from_bfloat16(a), from_bfloat16(b)) -> bfloat_dot(a, b)  where the processor has vdpbf16ps"),
]  # fmt: skip
ROUNDED: list[Rule] = [
    node_rule("local_bfloat16_dot", (Dot, MatMul), rounded_product,
              contract=narrows(8) | relaxes(*Bfloats.relaxes),
              formula="dot(x, y) -> bfloat_dot(x, y)  for float32, rounded to bfloat16"),
]  # fmt: skip
SUMS: list[Rule] = [
    node_rule("local_bfloat16_sum", add, sum_of_products, having=BlockedConvolution, uses=True,
              contract=relaxes("rounding", "signed zero", "overflow"), lacking=lacking_unit,
              formula="blocked_convolution(x, w, b) + blocked_convolution(y, v, c)"
                      " -> blocked_convolution(join(x, y), join(w, v), b + c)  of one position, for stored bfloat16"),
]  # fmt: skip
PAIRS: list[Rule] = [
    node_rule("local_bfloat16_pool", from_bfloat16, pool_of_rounded, having=to_bits, uses=True,
              contract=relaxes("signed zero", "underflow"),
              formula="from_bfloat16(to_bfloat16(blocked_pool(x))) -> from_bfloat16(blocked_pool(to_bfloat16(x)))"
                      "  for the largest number"),
    node_rule("local_bfloat16_join", to_bits, join_of_rounded, having=Join, uses=True,
              contract=relaxes("signed zero", "underflow"),
              formula="to_bfloat16(join(x, y)) -> join(to_bfloat16(x), to_bfloat16(y))"
                      "  where all that reads the join rounds it"),
    node_rule("local_bfloat16_pairs", BlockedConvolution, convolution_of_pairs, having=(from_bfloat16, Join, *VIEWS),
              contract=relaxes("rounding", "signed zero", "underflow"), lacking=lacking_unit,
              formula="blocked_convolution(from_bfloat16(x), w, b) -> bfloat_convolution(x, w in pairs, b)"),
]  # fmt: skip
"""Convolutions, whose numbers below 2^-126 the instruction takes for zero."""
ATTENTION: list[Rule] = [
    node_rule("local_bfloat16_attention", Attention, attention_of_pairs,
              having=(from_bfloat16, Join, *VIEWS),
              contract=narrows(8) | relaxes("rounding", "signed zero", "underflow"), lacking=lacking_unit,
              formula="attention(from_bfloat16(q), from_bfloat16(k), from_bfloat16(v), s)"
                      " -> bfloat_attention(q, k, v, s)"),
]  # fmt: skip
"""Attention, whose shares are rounded to bfloat16."""
FUNCTIONS: list[Rule] = [
    node_rule("local_bfloat16_erfc", to_bits, coarse_function, having=mul, uses=True,
              contract=narrows(8) | relaxes("rounding", "underflow"),
              formula="to_bfloat16(mul(x, erfc(y))) -> to_bfloat16(mul(x, coarse_erfc(y)))"),
    node_rule("local_bfloat16_quotient", to_bits, product_by_reciprocals, having=(true_div, maximum, minimum),
              uses=True,
              contract=narrows(8) | relaxes("rounding", "overflow", "underflow"),
              formula="to_bfloat16(true_div(x, c)) -> to_bfloat16(mul(x, 1 / c))  for constants, clipped or not"),
]  # fmt: skip
"""Functions whose results are rounded to bfloat16: GELU takes half the time, a quotient a tenth."""
