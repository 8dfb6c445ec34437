"""Training steps of residual networks with batch normalization: our time of a step beside torch's eager mode.

    python -m benchmarks.models.residual
    python -m benchmarks.models.residual --networks wide --threads 1 --rounds 9 --profile

The networks are those of He et al. (2015) for small images.  A step is the loss of a minibatch, its gradients, and SGD
with momentum.  Both take turns; the least and the median time of each are printed, and our ratio.  `error` is the
largest difference of the losses of the first steps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional as F

import arignote as ag
from arignote import ops as T
from arignote import optim

RATE, MOMENTUM, EPSILON, CLASSES = np.float32(0.01), np.float32(0.9), np.float32(1e-5), 10
FIRST_STEPS, PAUSE = 3, 0.2
Step = Callable[[], float]


class Network(NamedTuple):
    """Channels of each stage, residual blocks of a stage, images of a minibatch, and their side."""

    widths: tuple[int, ...]
    blocks: int
    images: int
    side: int

    def layers(self) -> Iterator[tuple[int, int, int, int]]:
        """Inputs, outputs, side of the kernel and stride of each convolution, in the order of `forward`."""
        before = self.widths[0]
        yield 3, before, 3, 1
        for stage, width in enumerate(self.widths):
            for block in range(self.blocks):
                stride = 2 if stage and block == 0 else 1
                yield before, width, 3, stride
                yield width, width, 3, 1
                if stride != 1:
                    yield before, width, 1, stride
                before = width

    def initial(self) -> list[np.ndarray]:
        """Kernels, each with scales and shifts of its batch normalization behind it, and the last layer."""
        rng = np.random.default_rng(0)
        found = []
        for n, m, k, _ in self.layers():
            found += [rng.standard_normal((m, n, k, k)) * (2 / (n * k * k)) ** 0.5, np.ones(m), np.zeros(m)]
        found += [rng.standard_normal((self.widths[-1], CLASSES)) * 0.05, np.zeros(CLASSES)]
        return [array.astype("float32") for array in found]

    def forward(self, x: Any, values: list[Any], normalized: Callable[..., Any], relu: Callable[[Any], Any]) -> Any:
        """The last feature maps; `normalized(x, w, scale, shift, stride)` is a convolution and its normalization."""
        layer = iter(zip(values[:-2:3], values[1:-2:3], values[2:-2:3], self.layers(), strict=True))

        def step(h: Any) -> Any:
            w, scale, shift, (_, _, _, stride) = next(layer)
            return normalized(h, w, scale, shift, stride)

        h = relu(step(x))
        for stage in range(len(self.widths)):
            for block in range(self.blocks):
                r = step(relu(step(h)))
                h = relu(r + (step(h) if stage and block == 0 else h))
        return h


NETWORKS = {
    "resnet20": Network((16, 32, 64), 3, 32, 32),
    "wide": Network((64, 128, 256), 2, 8, 56),
}
"""The ResNet-20 for images of 32x32, and one with the widths of ResNet-18."""


def ours(network: Network, images: np.ndarray, labels: np.ndarray, threads: int, profile: bool) -> tuple[Step, Any]:
    """Our step, and its function."""
    values = [ag.shared(v, shape=v.shape) for v in network.initial()]
    x, y = T.tensor("x", "float32", (None, 3, None, None)), T.lvector("y")

    def normalized(h: Any, w: Any, scale: Any, shift: Any, stride: int) -> Any:
        h = T.nn.conv2d(h, w, stride=stride, padding=w.type.shape[2] // 2)
        mean, var = T.mean(h, axis=(0, 2, 3), keepdims=True), T.var(h, axis=(0, 2, 3), keepdims=True)
        form = (1, -1, 1, 1)
        return (h - mean) / T.sqrt(var + EPSILON) * T.reshape(scale, form) + T.reshape(shift, form)

    h = network.forward(x, values, normalized, T.nn.relu)
    logits = T.mean(h, axis=(2, 3)) @ values[-2] + values[-1]
    loss = T.nn.softmax_crossentropy(logits, y).mean()
    updates = optim.momentum(values, ag.grad(loss, values), RATE, MOMENTUM)
    f = ag.function([x, y], loss, updates=updates, threads=threads, profile=profile, name="residual step")
    return lambda: float(f(images, labels)), f


def torch_eager(network: Network, images: np.ndarray, labels: np.ndarray, threads: int) -> Step:
    """The step in torch's eager mode."""
    torch.set_num_threads(threads)
    values = [torch.nn.Parameter(torch.from_numpy(v)) for v in network.initial()]
    optimizer = torch.optim.SGD(values, float(RATE), momentum=float(MOMENTUM))
    x, y = torch.from_numpy(images), torch.from_numpy(labels)

    def normalized(h: Any, w: Any, scale: Any, shift: Any, stride: int) -> Any:
        h = F.conv2d(h, w, stride=stride, padding=w.shape[2] // 2)
        return F.batch_norm(h, None, None, scale, shift, True, 0.1, float(EPSILON))

    def step() -> float:
        h = network.forward(x, values, normalized, F.relu)
        loss = F.cross_entropy(h.mean((2, 3)) @ values[-2] + values[-1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def measured(network: Network, threads: int, rounds: int, profile: bool) -> str:
    """The line of one network."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((network.images, 3, network.side, network.side)).astype("float32")
    labels = rng.integers(0, CLASSES, network.images)
    mine, function = ours(network, images, labels, threads, profile)
    steps = {"ours": mine, "torch": torch_eager(network, images, labels, threads)}
    losses = {name: np.array([step() for _ in range(FIRST_STEPS)]) for name, step in steps.items()}
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            time.sleep(PAUSE)
            step()
            for _ in range(3):
                begun = time.perf_counter()
                step()
                times[name].append(time.perf_counter() - begun)
    if profile:
        print(function.profile.summary())
    reported = [f"{name} {1e3 * min(t):6.1f} {1e3 * statistics.median(t):6.1f} ms" for name, t in times.items()]
    ratios = [of(times["ours"]) / of(times["torch"]) for of in (min, statistics.median)]
    error = np.abs(losses["ours"] - losses["torch"]).max()
    return f"{'  '.join(reported)}  ratio {ratios[0]:.2f} {ratios[1]:.2f}  error {error:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.residual", description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=NETWORKS, metavar="NETWORK")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--profile", action="store_true", help="print the run profile of our step")
    given = parser.parse_args()
    print("the least and the median time of a step; our ratio by the least and by the median")
    for name in given.networks:
        print(f"{name:8} {measured(NETWORKS[name], given.threads, given.rounds, given.profile)}", flush=True)


if __name__ == "__main__":
    main()
