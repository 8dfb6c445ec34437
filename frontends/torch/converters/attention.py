"""Attention: `scaled_dot_product_attention` in all its forms, forward and backward.

The values are an expression, softmax(scale * q @ k^T + mask) @ v, which the optimizer makes one op of.  Zeros for rows
that a mask hides come after it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .... import ops as T
from ..dtypes import as_dtype
from ..symbols import lengths
from ..symbols import number as known
from ..table import Call, converter
from .elementwise import number


def scale_of(q: Any, scale: Any) -> Any:
    """Return the factor of the scores: 1 / sqrt(width of q) if none is given."""
    if scale is not None:
        return as_dtype(known(scale), q.dtype)
    width = lengths(q)[-1]
    if isinstance(width, int):
        return number(1 / math.sqrt(width) if width else math.inf, q)
    return number(1, q) / T.sqrt(as_dtype(width, q.dtype))


def _scores(q: Any, k: Any, mask: Any, causal: bool, scale: Any) -> Any:
    """Return the scaled scores with their mask: true where they are kept, or added to them."""
    scores = T.matmul(q, T.swapaxes(k, -1, -2)) * scale_of(q, scale)
    if causal:
        rows, columns = lengths(q)[-2], lengths(k)[-2]
        at = T.expand_dims(T.arange(rows), 1), T.expand_dims(T.arange(columns), 0)
        scores = T.where(T.ge(*at), scores, number(-np.inf, scores))
    if mask is None:
        return scores
    if mask.dtype == "bool":
        return T.where(mask, scores, number(-np.inf, scores))
    return scores + as_dtype(mask, scores.dtype)


def _seen(x: Any, mask: Any) -> Any:
    """Return shares or values with zeros in the rows that a mask hides whole: their softmax is NaN."""
    if mask is None:
        return x
    kept = mask if mask.dtype == "bool" else T.ne(mask, number(-np.inf, mask))
    return T.where(T.any(kept, axis=-1, keepdims=True), x, number(0, x))


def _wide(*values: Any) -> list[Any]:
    return [as_dtype(v, "float32") if v.dtype == "float16" else v for v in values]


def _by_heads(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """Repeat heads of keys and values for groups of heads of q."""
    heads, own = lengths(q)[-3], lengths(k)[-3]
    if heads == own:
        return k, v
    return T.repeat(k, heads // own, -3 % k.ndim), T.repeat(v, heads // own, -3 % v.ndim)


@converter("aten.scaled_dot_product_attention", "aten._scaled_dot_product_attention_math")
def attention(
    call: Call, q: Any, k: Any, v: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    dropout_mask: Any = None, *, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if dropout_p or dropout_mask is not None:
        return NotImplemented
    if enable_gqa and q.ndim >= 3:
        k, v = _by_heads(q, k, v)
    q, k, v = _wide(q, k, v)
    shares = T.softmax(_scores(q, k, attn_mask, is_causal, scale), -1)
    y = as_dtype(_seen(T.matmul(shares, v), attn_mask), call.dtype)
    return (y, as_dtype(_seen(shares, attn_mask), call.dtypes[1])) if "_math" in str(call.node.target) else y


@converter("aten._scaled_dot_product_flash_attention_for_cpu")
def flash_attention(
    call: Call, q: Any, k: Any, v: Any, dropout_p: float = 0.0, is_causal: bool = False, *, attn_mask: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    """Return the values and the logarithm of the sum of exponentials of each row of scores."""
    if dropout_p:
        return NotImplemented
    wide_q, wide_k, wide_v = _wide(q, *_by_heads(q, k, v))
    scores = _scores(wide_q, wide_k, attn_mask, is_causal, scale)
    shares = T.softmax(scores, -1)
    y = as_dtype(_seen(T.matmul(shares, wide_v), attn_mask), call.dtype)
    return y, as_dtype(T.logsumexp(scores, -1), call.dtypes[1])


@converter("aten._scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_backward(
    call: Call, g: Any, q: Any, k: Any, v: Any, y: Any, logsumexp: Any, dropout_p: float, is_causal: bool, *,
    attn_mask: Any = None, scale: Any = None,
) -> Any:  # fmt: skip
    """Return the cotangents of q, k and v; the shares are computed again from the scores."""
    if dropout_p:
        return NotImplemented
    dtype, own = q.dtype, lengths(k)[1]
    g, q, k, v, y = _wide(g, q, *_by_heads(q, k, v), y)
    scores = _scores(q, k, attn_mask, is_causal, scale)
    shares = T.exp(scores - T.expand_dims(as_dtype(logsumexp, scores.dtype), -1))
    if attn_mask is not None or is_causal:  # exp(-inf - -inf) is NaN: a row that is hidden whole has no shares
        shares = T.where(T.eq(scores, number(-np.inf, scores)), number(0, shares), shares)
    of_shares = T.matmul(g, T.swapaxes(v, -1, -2))
    of_scores = shares * (of_shares - T.sum(g * y, axis=-1, keepdims=True)) * scale_of(q, scale)
    of_q, of_k = T.matmul(of_scores, k), T.matmul(T.swapaxes(of_scores, -1, -2), q)
    of_v = T.matmul(T.swapaxes(shares, -1, -2), g)
    return tuple(as_dtype(x, dtype) for x in (of_q, _over_groups(of_k, own), _over_groups(of_v, own)))


def _over_groups(x: Any, own: Any) -> Any:
    """Return the sum over the heads of q that share one of these heads."""
    batch, heads, *rest = lengths(x)
    return x if heads == own else T.sum(T.reshape(x, (batch, own, heads // own, *rest)), axis=2)
