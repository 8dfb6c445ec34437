"""Recurrent layers as one op of PyTorch: `arignote::recurrent`.

AOTAutograd unrolls the steps of `torch.lstm`, `torch.gru`, `torch.rnn_tanh` and `torch.rnn_relu`.  In graphs without
gradients the backend replaces their calls by this op, whose converter makes one loop.  Where gradients are needed,
steps are unrolled into ops of ATen: oneDNN's layer, which PyTorch would call, keeps a workspace that no traced value
shows.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import torch

KINDS = {getattr(torch, name): name for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")}
"""The name of a layer by the function that Dynamo keeps in a graph."""
_SCHEMA = (
    "(str kind, Tensor x, Tensor[] states, Tensor[] weights, bool has_biases, int layers, float dropout, bool train, "
    "bool bidirectional, bool batch_first) -> Tensor[]"
)


@torch.library.custom_op("arignote::recurrent", mutates_args=(), schema=_SCHEMA)
def recurrent(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> list[torch.Tensor]:  # fmt: skip
    """Return the outputs of a layer and its last states, computed by PyTorch."""
    first = tuple(states) if kind == "lstm" else states[0]
    found = getattr(torch, kind)(
        x, first, list(weights), has_biases, layers, dropout, train, bidirectional, batch_first
    )  # fmt: skip
    return [v.contiguous() for v in found]


@recurrent.register_fake
def _(
    kind: str, x: torch.Tensor, states: Sequence[torch.Tensor], weights: Sequence[torch.Tensor], has_biases: bool,
    layers: int, dropout: float, train: bool, bidirectional: bool, batch_first: bool,
) -> list[torch.Tensor]:  # fmt: skip
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return [x.new_empty((*x.shape[:-1], width)), *(s.new_empty(s.shape) for s in states)]


def keep_recurrent_layers(module: torch.fx.GraphModule) -> None:
    """Replace the calls of recurrent layers in a graph of Dynamo by the op, unless a gradient or a draw is needed."""
    nodes = [n for n in module.graph.nodes if n.op == "call_function" and n.target in KINDS and _is_plain(n)]
    if not nodes or torch.is_autocast_enabled("cpu") or _needs_gradients(module.graph):
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


def _needs_gradients(graph: torch.fx.Graph) -> bool:
    """Return whether a value of the graph may need a gradient."""
    switches = [n for n in graph.nodes if n.target is torch._C._set_grad_enabled and n.args[0]]
    if not torch.is_grad_enabled() and not switches:
        return False
    values: list[Any] = [n.meta.get("example_value") for n in graph.nodes if n.op in ("placeholder", "get_attr")]
    return any(isinstance(v, torch.Tensor) and v.requires_grad for v in values)
