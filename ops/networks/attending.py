"""Attention of users: `scaled_dot_product_attention` and `multi_head_attention`, with masks, grouped heads and caches.

Both write products and a softmax, of which the rule `local_attention` makes the op that stores no scores.
"""

from __future__ import annotations

import math
from typing import Any

from ..core.checks import describe
from ..core.namespace import T
from ..core.operands import in_joint_dtype, with_dtype
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.lengths import known_length, lengths_of
from ..shapes.windows import numbers_an_axis
from .functions import _as_float, softmax
from .functions import dropout as dropped_out

__all__ = ["multi_head_attention", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: TensorLike, key: TensorLike, value: TensorLike, attn_mask: TensorLike | None = None,
    dropout_p: TensorLike = 0.0, is_causal: bool = False, scale: TensorLike | None = None, enable_gqa: bool = False, *,
    rng: Any = None, cache: tuple[TensorLike, TensorLike] | None = None,
) -> Any:  # fmt: skip
    """softmax(scale * query key^T + mask) value over the last two axes; those before broadcast.

    Args:
        query, key, value: (..., targets, width), (..., sources, width), (..., sources, width of values).
        attn_mask: bools, True where a target attends to a source, or numbers that are added; broadcasts to the scores.
            A target that attends to nothing gives zeros.
        dropout_p, rng: the probability with which a weight is set to 0, and a stream of random numbers.
        is_causal: whether target i attends to the sources 0 to i only; with a cache, to those before it too.
        scale: by default 1 / sqrt(width).
        enable_gqa: whether the heads, axis -3, of the key and value are shared by groups of the query's heads.
        cache: (keys, values) of sources before, joined along axis -2 in front of the new ones.  The result is then
            `(output, (keys, values))` with the joined ones.

    Raises TypeError for ranks below 2, ValueError for lengths that do not fit.  Source: A. Vaswani and others,
    "Attention is all you need", 2017; J. Ainslie and others, "GQA", 2023.
    """
    name = "scaled_dot_product_attention"
    q, k, v = _operands(name, query, key, value)
    if dropout_p != 0.0 and rng is None:
        raise TypeError(f"{name}: dropout_p needs rng, a stream as T.random.RandomStream(seed)")
    past: Any = 0
    if cache is not None:
        before = [with_dtype(as_tensor(c), q.dtype) for c in cache]
        if [c.ndim for c in before] != [k.ndim, v.ndim]:
            raise TypeError(f"{name}: cache must be (keys, values) of the ranks of key and value, got "
                            f"{', '.join(map(describe, before))}")  # fmt: skip
        past = lengths_of(before[0])[-2]
        k, v = (T.concatenate([c, new], axis=-2) for c, new in zip(before, (k, v), strict=True))
    mask = None if attn_mask is None else as_tensor(attn_mask)
    y = _attended(name, q, k, v, mask, is_causal, past, scale, enable_gqa, dropout_p, rng)
    return y if cache is None else (y, (k, v))


def _operands(name: str, *given: TensorLike) -> tuple[Any, Any, Any]:
    q, k, v = in_joint_dtype([_as_float(x) for x in given])
    for role, x in (("query", q), ("key", k), ("value", v)):
        if x.ndim < 2:
            raise TypeError(f"{name}: {role} must be of rank 2 or more, (..., positions, width), got {describe(x)}")
    pairs = ((q, -1, k, -1, "widths of query and key"), (k, -2, v, -2, "sources of key and value"))
    for a, m, b, n, what in pairs:
        if None not in (a.type.shape[m], b.type.shape[n]) and a.type.shape[m] != b.type.shape[n]:
            raise ValueError(f"{name}: the {what} differ: {describe(a)}, {describe(b)}")
    return q, k, v


def _attended(
    name: str, q: Any, k: Any, v: Any, mask: Any, causal: bool, past: Any, scale: Any, grouped: bool, dropout: Any,
    rng: Any,
) -> TensorVariable:  # fmt: skip
    heads: Any = None
    if grouped and min(x.ndim for x in (q, k, v)) < 3:
        raise TypeError(f"{name}: enable_gqa takes an axis of heads, the third from the end, got {describe(q)}")
    if grouped:
        heads, shared = lengths_of(q)[-3], lengths_of(k)[-3]
        q, mask = _in_groups(name, q, mask, heads, shared)
        k, v = T.expand_dims(k, -3), T.expand_dims(v, -3)
    y: TensorVariable = weighted(q, k, v, mask, causal, past, scale, dropout, rng)
    if not grouped:
        return y
    own = lengths_of(y)
    return T.reshape(y, (*own[:-4], heads, *own[-2:]))


def _in_groups(name: str, q: Any, mask: Any, heads: Any, shared: Any) -> tuple[Any, Any]:
    """Return the query and the mask with the heads in groups that share keys: (..., shared, group, ...)."""
    known = known_length(heads), known_length(shared)
    if None not in known and known[0] % known[1]:  # type: ignore[operator]
        raise ValueError(f"{name}: {known[0]} heads of the query are no multiple of {known[1]}, those of the key")
    group = T.floor_div(heads, shared)

    def parted(x: Any) -> Any:
        own = lengths_of(x)
        return T.reshape(x, (*own[:-3], shared, group, *own[-2:]))

    if mask is not None and mask.ndim >= 3:
        mask = T.expand_dims(mask, -3) if mask.type.shape[-3] == 1 else parted(mask)
    return parted(q), mask


def weighted(
    q: Any, k: Any, v: Any, mask: Any, causal: bool, past: Any, scale: Any, dropout: Any = 0.0, rng: Any = None,
    with_weights: bool = False,
) -> Any:  # fmt: skip
    """Return the sum of values by the softmax of scores, and, if wanted, the weights."""
    if scale is None:
        width = q.type.shape[-1]
        scale = 1 / math.sqrt(width) if width else T.true_div(1, T.sqrt(with_dtype(lengths_of(q)[-1], q.dtype)))
    scores = T.mul(T.matmul(q, T.swapaxes(k, -1, -2)), with_dtype(as_tensor(scale), q.dtype))
    empty, never = None, T.constant(-math.inf, q.dtype)
    kept = _causal(lengths_of(q)[-2], lengths_of(k)[-2], past) if causal else None
    if mask is not None and mask.dtype == "bool":
        kept = mask if kept is None else T.logical_and(kept, mask)
        empty = T.logical_not(T.any(kept, axis=-1, keepdims=True))
        kept = T.logical_or(kept, empty)  # so that no derivative is NaN
    scores = scores if kept is None else T.switch(kept, scores, never)
    if mask is not None and mask.dtype != "bool":
        added = with_dtype(mask, q.dtype)
        visible = T.gt(added, never) if kept is None else T.logical_and(T.gt(added, never), kept)
        empty = T.logical_not(T.any(visible, axis=-1, keepdims=True))
        scores = T.add(scores, T.switch(empty, T.constant(0, q.dtype), added))
    shares = softmax(scores, -1)
    shares = dropped_out(shares, dropout, rng) if rng is not None else shares
    y = T.matmul(shares, v)
    zero = T.constant(0, q.dtype)
    y = y if empty is None else T.switch(empty, zero, y)
    if not with_weights:
        return y
    return y, (shares if empty is None else T.switch(empty, zero, shares))


def _causal(targets: Any, sources: Any, past: Any) -> TensorVariable:
    """Return where a target may attend to a source: not to one behind its own position."""
    return T.ge(T.expand_dims(T.add(T.arange(targets), past), 1), T.arange(sources))


def multi_head_attention(
    query: TensorLike, key: TensorLike, value: TensorLike, num_heads: int, in_proj_weight: Any,
    in_proj_bias: TensorLike | None = None, out_proj_weight: TensorLike | None = None,
    out_proj_bias: TensorLike | None = None, *, attn_mask: TensorLike | None = None,
    key_padding_mask: TensorLike | None = None, is_causal: bool = False, dropout_p: TensorLike = 0.0, rng: Any = None,
    need_weights: bool = False, average_attn_weights: bool = True,
) -> Any:  # fmt: skip
    """Attention of `num_heads` heads on projections of the operands, projected back.

    Args:
        query, key, value: (batch, targets, width), (batch, sources, ...), (batch, sources, ...): PyTorch's module with
            `batch_first=True`.
        in_proj_weight: (3 width, width), the weights of query, key and value; or a tuple of three matrices.
        in_proj_bias, out_proj_weight, out_proj_bias: (3 width,), (width, width), (width,); each may be left out.
        attn_mask: (targets, sources) or (batch * heads, targets, sources): bools, True where a target does *not*
            attend, as in PyTorch's module, or numbers that are added.
        key_padding_mask: (batch, sources) bools, True for sources that nothing attends to.
        is_causal: whether target i attends to the sources 0 to i only.
        need_weights: whether the result is (output, weights): (batch, targets, sources), the mean over the heads, or
            (batch, heads, targets, sources) without `average_attn_weights`.

    Raises TypeError for other ranks, ValueError for a width that is no multiple of the heads.  Source: A. Vaswani and
    others, "Attention is all you need", 2017.
    """
    name = "multi_head_attention"
    heads = numbers_an_axis(num_heads, 1, name, "num_heads")[0]
    q, k, v = _operands_of_heads(name, query, key, value)
    if dropout_p != 0.0 and rng is None:
        raise TypeError(f"{name}: dropout_p needs rng, a stream as T.random.RandomStream(seed)")
    weights, biases = _projections(name, in_proj_weight, in_proj_bias, q.dtype)
    parts = []
    for x, w, b in zip((q, k, v), weights, biases, strict=True):
        width = w.type.shape[0]
        if width is not None and width % heads:
            raise ValueError(f"{name}: the width {width} is no multiple of num_heads, {heads}")
        y = T.dot(x, T.transpose(w))
        y = y if b is None else T.add(y, b)
        batch, count, _ = lengths_of(y)
        parts.append(T.swapaxes(T.reshape(y, (batch, count, heads, -1)), 1, 2))
    mask = _joint_mask(name, attn_mask, key_padding_mask, parts[0], heads)
    found: Any = weighted(parts[0], parts[1], parts[2], mask, is_causal, 0, None, dropout_p, rng, need_weights)
    heads_first = found[0] if need_weights else found
    batch, _, targets, _ = lengths_of(heads_first)
    y = T.reshape(T.swapaxes(heads_first, 1, 2), (batch, targets, -1))
    if out_proj_weight is not None:
        y = T.dot(y, T.transpose(with_dtype(as_tensor(out_proj_weight), y.dtype)))
    y = y if out_proj_bias is None else T.add(y, with_dtype(as_tensor(out_proj_bias), y.dtype))
    if not need_weights:
        return y
    return y, (T.mean(found[1], axis=1) if average_attn_weights else found[1])


def _operands_of_heads(name: str, *given: TensorLike) -> tuple[Any, Any, Any]:
    q, k, v = in_joint_dtype([_as_float(x) for x in given])
    for role, x in (("query", q), ("key", k), ("value", v)):
        if x.ndim != 3:
            raise TypeError(f"{name}: {role} must be of rank 3, (batch, positions, width), got {describe(x)}")
    return q, k, v


def _projections(name: str, weight: Any, bias: Any, dtype: str) -> tuple[list[Any], list[Any]]:
    """Return the matrices and biases of query, key and value."""
    if isinstance(weight, (tuple, list)) and len(weight) == 3 and all(as_tensor(w).ndim == 2 for w in weight):
        weights = [with_dtype(as_tensor(w), dtype) for w in weight]
        lengths = [lengths_of(w)[0] for w in weights]
    else:
        joint = with_dtype(as_tensor(weight), dtype)
        if joint.ndim != 2 or (joint.type.shape[0] or 0) % 3:
            raise TypeError(f"{name}: in_proj_weight must be (3 width, width) or three matrices, got {describe(joint)}")
        weights = list(T.split(joint, 3, axis=0))
        lengths = [T.floor_div(lengths_of(joint)[0], 3)] * 3
    if bias is None:
        return weights, [None] * 3
    b, first, biases = with_dtype(as_tensor(bias), dtype), T.constant(0, "int64"), []  # type: Any, Any, list[Any]
    if b.ndim != 1:
        raise TypeError(f"{name}: in_proj_bias must be a vector, got {describe(b)}")
    for n in lengths:
        biases.append(b[first : T.add(first, n)])
        first = T.add(first, n)
    return weights, biases


def _joint_mask(name: str, mask: Any, padding: Any, q: Any, heads: int) -> Any:
    """Return one mask for the scores (batch, heads, targets, sources): bools of what is kept, or an addend."""
    kept = added = None
    if mask is not None:
        mask = as_tensor(mask)
        if mask.ndim == 3:
            mask = T.reshape(mask, (lengths_of(q)[0], heads, *lengths_of(mask)[1:]))
        elif mask.ndim != 2:
            raise TypeError(f"{name}: attn_mask must be of rank 2 or 3, got {describe(mask)}")
        kept, added = (T.logical_not(mask), None) if mask.dtype == "bool" else (None, with_dtype(mask, q.dtype))
    if padding is not None:
        padding = as_tensor(padding)
        if padding.ndim != 2 or padding.dtype != "bool":
            raise TypeError(f"{name}: key_padding_mask must be bools (batch, sources), got {describe(padding)}")
        seen = T.expand_dims(T.logical_not(padding), (1, 2))
        kept = seen if kept is None else T.logical_and(kept, seen)
    if added is None:
        return kept
    return added if kept is None else T.switch(kept, added, T.constant(-math.inf, q.dtype))
