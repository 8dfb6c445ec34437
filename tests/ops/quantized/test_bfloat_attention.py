"""Attention of bfloat16 numbers: the rounding of each step, masks, special values, threads, the rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.special import from_bfloat16, to_bfloat16
from arignote.ops.lowered.bfloat_attention import BfloatAttention
from arignote.targets.current import current
from arignote.targets.units import unit_for

RNG = np.random.default_rng(12)
KEYS = 256
"""Keys of a block: words.c rounds exponentials relative to the greatest score up to the end of a block."""
INF = np.float32(np.inf)


def bits(*shape):
    return to_bfloat16(RNG.standard_normal(shape).astype("float32"))


def by_definition(op, q, k, v, *others):
    """The result block by block: float32 scores, exponentials rounded to bfloat16 and divided by their own sum."""
    (q, k, v, scale), masks, added = op.parts([*map(from_bfloat16, (q, k, v)), *others])
    with np.errstate(all="ignore"):
        scores = op.scores(q, k, scale, masks, added).astype("float32")
        top = np.full((*scores.shape[:-1], 1), np.finfo("float32").min, "float32")
        total, y = np.zeros_like(top), np.float32(0)
        for key in range(0, scores.shape[-1], KEYS):
            block = scores[..., key : key + KEYS]
            above = np.maximum(top, block.max(axis=-1, keepdims=True))
            shares, factor = from_bfloat16(to_bfloat16(np.exp(block - above))), np.exp(top - above)
            y = y * factor + np.matmul(shares, v[..., key : key + KEYS, :])
            total, top = total * factor + shares.sum(axis=-1, keepdims=True), above
        return y / total


def compiled(op, arrays, **options):
    """The op as a function of its arrays, all lengths known."""
    inputs = [T.tensor(f"x{k}", np.asarray(a).dtype.name, np.shape(a)) for k, a in enumerate(arrays)]
    return ag.function(inputs, op(*inputs), **options)


SHAPES = [(3, 40, 40, 8, 8), (1, 1, 1, 1, 1), (2, 5, 7, 3, 5), (1, 130, 17, 128, 1), (2, 70, 600, 33, 17)]
SHAPES += [(2, 1, 300, 2, 80)]


@pytest.mark.parametrize("heads, m, n, d, e", SHAPES)
def test_values_are_those_of_rounded_exponentials(heads, m, n, d, e):
    """Odd lengths, single rows, several blocks of keys; a mask with an addend; one and two threads."""
    q, v, scale = bits(heads, m, d), bits(heads, n, e), np.float32(0.3)
    k, mask = bits(heads, d, n), RNG.random((m, n)) < 0.7
    mask[:, 0] = True
    added = RNG.standard_normal((heads, m, n)).astype("float32")
    for op, others in ((BfloatAttention(), ()), (BfloatAttention("keep", True), (mask, -INF, added))):
        arrays = (q, k, v, scale, *others)
        found = compiled(op, arrays, threads=1)(*arrays)
        assert_allclose(found, by_definition(op, *arrays), atol=2**-12, rtol=2**-12)
        assert found.tobytes() == compiled(op, arrays, threads=2)(*arrays).tobytes()
        assert_allclose(found, op.evaluate(*arrays)[0], atol=2**-8, rtol=2**-8)


def test_causal_masks_skip_blocks_and_keep_their_bits():
    q, k, v = bits(2, 300, 16), bits(2, 300, 16), bits(2, 300, 8)
    mask, op = np.tri(300, dtype=bool), BfloatAttention("drop")
    inputs = [T.tensor(name, "uint16", a.shape) for name, a in zip("qkv", (q, k, v), strict=True)]
    hidden = T.tensor("hidden", "bool", mask.shape)
    y = op(inputs[0], T.swapaxes(inputs[1], 1, 2), inputs[2], T.constant(np.float32(0.25)), hidden, T.constant(-INF))
    f = ag.function([*inputs, hidden], y)
    found = f(q, k, v, ~mask)
    assert_allclose(found, by_definition(op, q, k.swapaxes(1, 2), v, np.float32(0.25), ~mask, -INF), atol=2**-12)
    for row in (0, 17, 255):  # what is hidden changes nothing
        other = np.concatenate([v[:, : row + 1], bits(2, 299 - row, 8)], axis=1)
        assert_array_equal(f(q, k, other, ~mask)[:, row], found[:, row])


def test_infinities_and_nan_reach_the_rows_that_read_them():
    q, k, v = bits(1, 6, 4), bits(1, 4, 20), bits(1, 20, 3)
    arrays = [q, k, v, np.float32(1)]
    f = compiled(BfloatAttention(), arrays)
    places = (q, (0, 2, 1), 0x7FC1), (k, (0, 1, 3), 0x7F80), (v, (0, 4, 2), 0xFF80), (v, (0, 4, 2), 1)
    for array, place, value in places:
        kept = array[place]
        array[place] = value
        assert_allclose(f(*arrays), by_definition(BfloatAttention(), *arrays), atol=2**-12, rtol=2**-12)
        array[place] = kept
    hidden = np.ones((6, 20), bool)
    op = BfloatAttention("drop")
    assert np.isnan(compiled(op, [*arrays, hidden, -INF])(*arrays, hidden, -INF)).all()


def test_empty_batches_and_no_keys():
    assert compiled(BfloatAttention(), [bits(0, 3, 2), bits(0, 2, 4), bits(0, 4, 5), np.float32(1)])(
        bits(0, 3, 2), bits(0, 2, 4), bits(0, 4, 5), np.float32(1)).shape == (0, 3, 5)  # fmt: skip


@pytest.mark.skipif(unit_for(current(), "bfloat16") is None, reason="needs an instruction for pairs of bfloat16")
def test_networks_in_16_bits_attend_to_bits():
    x = T.tensor("x", "float32", (2, 48, 32))
    w = [ag.shared(RNG.standard_normal((32, 32)).astype("float32") / 6, shape=(32, 32)) for _ in range(3)]
    q, k, v = (T.swapaxes(T.reshape(x @ each, (2, 48, 4, 8)), 1, 2) for each in w)
    y = T.nn.softmax(q @ T.swapaxes(k, 2, 3) / np.float32(8**0.5), axis=-1) @ v
    value = RNG.standard_normal((2, 48, 32)).astype("float32")
    f, wide = ag.freeze(y, compute="bfloat16"), ag.freeze(y)
    (node,) = [n for n in f.graph.order if "attention" in n.op.name]
    assert isinstance(node.op, BfloatAttention) and not any(n.op.name == "bfloat_attention" for n in wide.graph.order)
    assert 0 < np.abs(f(value) - wide(value)).max() < 0.03 * np.abs(wide(value)).max()
    assert f(value).tobytes() == ag.freeze(y, compute="bfloat16", threads=2)(value).tobytes()


def test_a_target_without_the_unit_attends_in_float32_and_says_so():
    x = T.tensor("x", "float32", (40, 8))
    y = T.nn.softmax(x @ T.transpose(x), axis=-1) @ x
    f = ag.freeze(y, compute="bfloat16", target="x86_64-linux-v3")
    assert "bfloat_attention" not in [n.op.name for n in f.graph.order]
    assert "the target lacks avx512_bf16 (vdpbf16ps)" in str(f.why_not("local_bfloat16_attention"))


def test_operands_that_do_not_fit():
    x, bit = T.tensor("x", "float32", (2, 3)), T.tensor("b", "uint16", (2, 3))
    with pytest.raises(TypeError, match="bfloat_attention takes q, k and v of uint16"):
        BfloatAttention()(x, bit, bit, T.constant(np.float32(1)))
