"""Training steps of PyTorch under Arignote, eager mode and inductor.

    python -m benchmarks.pytorch_training [--networks cnn lstm transformer] [--backends eager inductor] [--rounds 40]
        [--threads 1]

A step is forward and backward pass and AdamW, model and optimizer compiled.  The steps of all backends
alternate in one process, after three that compile.  A line has the first quartile of the rounds in ms, and the
largest difference of a loss from eager mode's.  Where a machine has other work, `chrt -r 1` before the command gives
real-time priority.
"""

from __future__ import annotations

import argparse
import copy
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch._dynamo
from torch import nn
from torch.nn import functional as F


class Images(nn.Module):
    """Three convolutions with batch norm, a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        widths = (3, 16, 32, 64)
        self.layers = nn.Sequential(*(
            nn.Sequential(nn.Conv2d(a, b, 3, stride=s, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())
            for a, b, s in zip(widths, widths[1:], (1, 2, 2))
        ))  # fmt: skip
        self.head = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.layers(x).mean((2, 3)))


class Transformer(nn.Module):
    """Two causal layers of 64 features."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(64, 4, 256, 0.0, F.gelu, batch_first=True, norm_first=True)
        self.words, self.head = nn.Embedding(100, 64), nn.Linear(64, 100)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, words: torch.Tensor) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        return self.head(self.layers(self.words(words), mask=mask, is_causal=True))


class Recurrent(nn.Module):
    """Two layers of an LSTM."""

    def __init__(self, units: int = 64) -> None:
        super().__init__()
        self.words, self.layers = nn.Embedding(100, units), nn.LSTM(units, units, 2, batch_first=True)
        self.head = nn.Linear(units, 100)

    def forward(self, words: torch.Tensor) -> Any:
        return self.head(self.layers(self.words(words))[0])


def _images() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(16, 3, 32, 32), torch.randint(0, 10, (16,))


def _words() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randint(0, 100, (8, 32)), torch.randint(0, 100, (8, 32))


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[torch.Tensor, torch.Tensor]]]] = {
    "cnn": (Images, _images), "transformer": (Transformer, _words), "lstm": (Recurrent, _words),
}  # fmt: skip
"""For each network its maker, and the maker of inputs and labels."""


def step_of(model: nn.Module, backend: str, data: tuple[torch.Tensor, torch.Tensor]) -> Callable[[], float]:
    """Return one step of training, which returns the loss."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    called: Any = model
    advance: Any = optimizer.step
    if backend != "eager":
        how: Any = {"backend": backend}
        if backend == "arignote":
            how["options"] = {"threads": torch.get_num_threads()}
        called, advance = torch.compile(model, **how), torch.compile(optimizer.step, **how)
    x, y = data

    def step() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(called(x).flatten(0, -2), y.flatten())
        loss.backward()
        advance()
        return loss.item()

    return step


def measure(network: str, backends: list[str], rounds: int) -> dict[str, tuple[float, np.ndarray]]:
    """Return the seconds of a step, and the losses, for each backend."""
    torch.manual_seed(0)
    make, inputs = NETWORKS[network]
    model, data = make(), inputs()
    steps = {name: step_of(_twin(model), name, data) for name in backends}
    losses: dict[str, list[float]] = {name: [] for name in backends}
    seconds: dict[str, list[float]] = {name: [] for name in backends}
    for name in steps:
        losses[name] += [_timed(name, steps[name])[1] for _ in range(3)]
    for _ in range(rounds):
        for name, step in steps.items():
            passed, loss = _timed(name, step)
            losses[name].append(loss)
            seconds[name].append(passed)
    return {name: (float(np.quantile(seconds[name], 0.25)), np.array(losses[name])) for name in backends}


def _twin(model: nn.Module) -> nn.Module:
    """Return a copy of a model with code of its own: Dynamo keeps decisions, such as graph breaks, by code object."""
    found, forward = copy.deepcopy(model), type(model).forward
    own = types.FunctionType(forward.__code__.replace(), forward.__globals__, closure=forward.__closure__)
    found.forward = types.MethodType(own, found)
    return found


def _timed(name: str, step: Callable[[], float]) -> tuple[float, float]:
    """Return the seconds of a step, and its loss.

    Dynamo keeps recurrent layers for us alone: inductor would unroll all their steps.  It compiles a model again, and
    breaks its graph, in a call under another setting.
    """
    torch._dynamo.config.allow_rnn = name == "arignote"
    start = time.perf_counter()
    loss = step()
    return time.perf_counter() - start, loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS), metavar="NETWORK")
    parser.add_argument("--backends", nargs="*", default=["eager", "inductor"], metavar="BACKEND")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    for network in given.networks:
        found = measure(network, ["arignote", *given.backends], given.rounds)
        ours, losses = found.pop("arignote")
        best = min((t for t, _ in found.values()), default=ours)
        texts = [f"arignote {ours * 1e3:.2f}", *(f"{name} {t * 1e3:.2f}" for name, (t, _) in found.items())]
        away = f", losses {np.abs(losses / found['eager'][1] - 1).max():.0e} from eager" if "eager" in found else ""
        print(f"{network}: ms {', '.join(texts)}; ours / best {ours / best:.2f}{away}", flush=True)


if __name__ == "__main__":
    main()
