"""Recurrent layers as one op of PyTorch, `arignote::recurrent`, and their gradients as another.

AOTAutograd unrolls the steps of `torch.lstm`, `torch.gru`, `torch.rnn_tanh` and `torch.rnn_relu`.  The backend replaces
their calls by this op, whose converter makes one loop.  It also gives its traces, the states and gates of each step,
which the op of the gradients reads: its loop runs from the last step to the first.

Layers that drop values between them, or whose steps `torch.func` transforms, are unrolled into ops of ATen: oneDNN's
layer, which PyTorch would call, keeps a workspace that no traced value shows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch.nn import functional as F

KINDS = {getattr(torch, name): name for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
"""The name of a layer by the function that Dynamo keeps in a graph."""
_ARGUMENTS = (
    "str kind, Tensor x, Tensor[] states, Tensor[] weights, bool has_biases, int layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first"
)


@torch.library.custom_op("arignote::recurrent", mutates_args=(), schema=f"({_ARGUMENTS}) -> Tensor[]")
def recurrent(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> list[torch.Tensor]:  # fmt: skip
    """Return the outputs of a layer, its last states, and its traces, computed by PyTorch."""
    rest = has_biases, layers, dropout, train, bidirectional, batch_first
    found = _by_pytorch(kind, x, states, weights, *rest)
    return [*(v.contiguous() for v in found), *_traces(kind, x, states, weights, *rest)]


def _by_pytorch(kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Any, *rest: Any) -> Any:
    return getattr(torch, kind)(x, tuple(states) if kind == "lstm" else states[0], list(weights), *rest)


def _traces(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> list[torch.Tensor]:  # fmt: skip
    """Return the traces of each layer and direction, in the order of its steps.

    They are the states after each step, and the gates, the sums of the products with the input and with the state.  A
    GRU multiplies one of the latter before it adds the former, so its gates are two traces.
    """
    if x.dim() == 2:
        x, states = x.unsqueeze(1), [s.unsqueeze(1) for s in states]
    elif batch_first:
        x = x.transpose(0, 1)
    ways = 2 if bidirectional else 1
    each, found = len(weights) // (layers * ways), list[torch.Tensor]()
    for layer in range(layers):
        outputs = []
        for k in range(layer * ways, (layer + 1) * ways):
            own, now, rows = weights[k * each : (k + 1) * each], [s[k : k + 1] for s in states], []
            for row in x.flip(0) if k % ways else x:
                _, *now = _by_pytorch(kind, row[None], now, own, has_biases, 1, 0.0, False, False, False)
                rows.append(now)
            traces = [torch.cat(column) for column in zip(*rows, strict=True)]
            outputs.append(traces[0].flip(0) if k % ways else traces[0])
            biases = own[2:4] if has_biases else (None, None)
            by_input, before = F.linear(x, own[0], biases[0]), torch.cat([states[0][k : k + 1], traces[0][:-1]])
            by_state = F.linear(before, own[1], biases[1])
            in_order = by_input.flip(0) if k % ways else by_input
            found += [*traces, by_state, by_input] if kind == "gru" else [*traces, in_order + by_state]
        x = torch.cat(outputs, -1)
    return found


@recurrent.register_fake
def _(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> list[torch.Tensor]:  # fmt: skip
    ways = 2 if bidirectional else 1
    steps, batch = (x.shape[0], 1) if x.dim() == 2 else (x.shape[1 if batch_first else 0], states[0].shape[1])
    each = len(weights) // (layers * ways)
    traces: list[torch.Tensor] = []
    for k in range(0, len(weights), each):
        traces += [s.new_empty((steps, batch, s.shape[-1])) for s in states]
        traces += [x.new_empty((steps, batch, weights[k].shape[0])) for _ in range(2 if kind == "gru" else 1)]
    outputs = x.new_empty((*x.shape[:-1], states[0].shape[-1] * ways))
    return [outputs, *(s.new_empty(s.shape) for s in states), *traces]


@torch.library.custom_op(
    "arignote::recurrent_backward", mutates_args=(),
    schema=f"({_ARGUMENTS}, Tensor[] traces, Tensor[] cotangents) -> Tensor[]"
)
def recurrent_backward(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
    traces: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor],
) -> list[torch.Tensor]:  # fmt: skip
    """Return the gradients by `x`, the states and the weights, computed by PyTorch."""
    rest = has_biases, layers, dropout, train, bidirectional, batch_first

    def differentiated() -> list[torch.Tensor]:
        x_, *others = (v.detach().requires_grad_() for v in (x, *states, *weights))
        states_, weights_ = others[: len(states)], others[len(states) :]
        found = _by_pytorch(kind, x_, states_, weights_, *rest)
        given = zip(torch.autograd.grad(found, [x_, *others], list(cotangents), allow_unused=True), [x_, *others])
        return [torch.zeros_like(v) if g is None else g.contiguous() for g, v in given]

    with ThreadPoolExecutor(1) as thread:  # where an op runs, its thread records no gradients
        return thread.submit(differentiated).result()


@recurrent_backward.register_fake
def _(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], *rest: Any
) -> list[torch.Tensor]:
    return [v.new_empty(v.shape) for v in (x, *states, *weights)]


def _keep(ctx: Any, inputs: Any, output: list[torch.Tensor]) -> None:
    """Keep what the gradients need: the arguments, the traces, and the shapes of the results."""
    kind, x, states, weights, *rest = inputs
    first = 1 + len(states)
    ctx.save_for_backward(x, *states, *weights, *output[first:])
    ctx.kind, ctx.rest, ctx.states, ctx.weights = kind, rest, len(states), len(weights)
    ctx.shapes = [v.shape for v in output[:first]]


def _gradients(ctx: Any, cotangents: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
    """Return the gradients by the arguments of the op, None for those that are no tensors."""
    x, *others = ctx.saved_tensors
    end = ctx.states + ctx.weights
    states, weights, traces = others[: ctx.states], others[ctx.states : end], others[end:]
    given = [x.new_zeros(n) if g is None else g for g, n in zip(cotangents, ctx.shapes)]  # none comes by a trace
    by_x, *found = torch.ops.arignote.recurrent_backward(ctx.kind, x, states, weights, *ctx.rest, traces, given)
    return None, by_x, found[: ctx.states], found[ctx.states :], *(None for _ in ctx.rest)


recurrent.register_autograd(_gradients, setup_context=_keep)


def keep_recurrent_layers(module: torch.fx.GraphModule) -> None:
    """Replace the calls of recurrent layers in a graph of Dynamo by the op, unless a draw or a transform is needed."""
    nodes = [n for n in module.graph.nodes if n.op == "call_function" and n.target in KINDS and _is_plain(n)]
    if not nodes or torch.is_autocast_enabled("cpu") or _is_transformed(module.graph):
        return
    for node in nodes:
        x, states, *rest = node.args
        several = list(states) if isinstance(states, (list, tuple)) else [states]
        node.args = (KINDS[node.target], x, several, *rest)
        node.target = torch.ops.arignote.recurrent.default
    module.recompile()


def without_layers_of_onednn(module: torch.fx.GraphModule) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which AOTAutograd unrolls the layers that are left, instead of calling oneDNN's."""
    left = any(n.op == "call_function" and n.target in KINDS for n in module.graph.nodes)
    return torch.backends.mkldnn.flags(enabled=False) if left else contextlib.nullcontext()


def _is_plain(node: torch.fx.Node) -> bool:
    """Return whether a layer takes a dense batch, all arguments by position, and drops nothing."""
    if node.kwargs or len(node.args) != 9 or not isinstance(node.args[2], (list, tuple)):  # packed: batch sizes second
        return False
    dropout, train = node.args[5:7]
    return not (dropout and train)


def _is_transformed(graph: torch.fx.Graph) -> bool:
    """Return whether `torch.func` transforms a part of a graph: the op has no rules of `vmap` and `jvp`."""
    return any(getattr(n.target, "__name__", "").endswith("_increment_nesting") for n in graph.nodes)
