"""Higher-order ops: branches, loops, and attention with scores that the user writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import ops as T
from ....control.cond import cond
from ....control.scan import scan, while_loop
from ....ops.core.tensor import as_tensor
from ..dtypes import as_dtype
from ..symbols import number as known
from ..table import Call, converter
from .attention import scale_of


def _flat(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) else [found]


@converter("torch.ops.higher_order.cond")
def cond_(call: Call, condition: Any, then: Any, otherwise: Any, operands: Sequence[Any] = ()) -> Any:
    if isinstance(condition, bool):
        return tuple(_flat(call.conversion.graph(then if condition else otherwise, operands)))
    test = T.reshape(as_dtype(condition, "bool"), ())

    def branch(graph: Any) -> Any:
        return lambda: [as_tensor(v) for v in _flat(call.conversion.graph(graph, operands))]

    return tuple(cond(test, branch(then), branch(otherwise)))


@converter("torch.ops.higher_order.while_loop")
def while_(call: Call, goes_on: Any, body: Any, carried: Sequence[Any], additional: Sequence[Any] = ()) -> Any:
    firsts = [as_tensor(v) for v in carried]
    rest = list(additional)

    def condition(state: Any) -> Any:
        return T.reshape(as_dtype(_flat(call.conversion.graph(goes_on, [*state, *rest]))[0], "bool"), ())

    def step(state: Any) -> Any:
        found = _flat(call.conversion.graph(body, [*state, *rest]))
        return [as_dtype(f, s.dtype) for f, s in zip(found, state, strict=True)]

    return tuple(while_loop(condition, step, firsts))


@converter("torch.ops.higher_order.scan")
def scan_(
    call: Call, body: Any, firsts: Sequence[Any], sequences: Sequence[Any], additional: Sequence[Any] = ()
) -> Any:
    count, rest = len(firsts), list(additional)
    collected = [k for k, v in enumerate(call.value) if k >= count and v is not None]

    def step(*args: Any) -> Any:
        rows, before = args[: len(sequences)], args[len(sequences) :]
        found = _flat(call.conversion.graph(body, [*before, *rows, *rest]))
        states = [as_dtype(f, b.dtype) for f, b in zip(found[:count], before, strict=True)]
        return [*states, *(found[k] for k in collected)]

    infos = [*(as_tensor(f) for f in firsts), *[None] * len(collected)]
    found = scan(step, sequences=list(sequences), outputs_info=infos, return_list=True).outputs
    return (*(f[-1] for f in found[:count]), *found[count:])


@converter("torch.ops.higher_order.flex_attention")
def flex_attention(
    call: Call, q: Any, k: Any, v: Any, score: Any, mask: Any, scale: Any, options: Any, *captured: Sequence[Any]
) -> Any:
    """Compute scores of all pairs by the user's function, and hide those that the user's mask does not keep."""
    heads, own = known(T.lengths_of(q)[1]), known(T.lengths_of(k)[1])
    if not isinstance(heads, int) or not isinstance(own, int):
        return NotImplemented
    if heads != own:
        k, v = T.repeat(k, heads // own, 1), T.repeat(v, heads // own, 1)
    scores = T.matmul(q, T.swapaxes(k, -1, -2)) * scale_of(q, scale)
    own_lengths = T.lengths_of(scores)
    places = [
        T.dimshuffle(as_dtype(T.arange(n), "int32"), *("x",) * a, 0, *("x",) * (3 - a))
        for a, n in enumerate(own_lengths)
    ]
    of_score, of_mask = (list(c) for c in captured) if captured else ([], [])
    scores = _flat(call.conversion.graph(score, [scores, *places, *of_score]))[0]
    graph = mask[-1]
    kept = T.broadcast_to(_flat(call.conversion.graph(graph, [*places, *of_mask]))[0], own_lengths)
    scores = T.where(kept, scores, as_dtype(float("-inf"), scores.dtype))
    shares = T.where(T.any(kept, axis=-1, keepdims=True), T.softmax(scores, -1), as_dtype(0, scores.dtype))
    sums = T.logsumexp(scores, axis=-1)
    return (T.matmul(shares, v), sums, T.max(scores, axis=-1))[: len(call.value)]
