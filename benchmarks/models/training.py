"""Training steps of convolutional networks: our time of a step beside torch's eager mode and NumPy by hand.

    python -m benchmarks.models.training                          every network
    python -m benchmarks.models.training --networks digits --threads 1 --rounds 9 --profile

A step is the loss of a minibatch, its gradients, and SGD with momentum.  All take turns, round by round; the least and
the median time of each are printed, and our ratio to each.  `error` is the largest difference of the losses of the
first steps, over the largest loss.  torch is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote import optim
from arignote.demo import cnn as demo_cnn
from arignote.demo.cnn import BRIGHTNESS, DIGITS, Form

BATCH, RATE, MOMENTUM = 64, np.float32(0.01), np.float32(0.9)
NETWORKS = {
    "digits": DIGITS,
    "lenet5": Form(side=28, kernel=5, padding=2, channels=(6, 16), hidden=120),
    "lenet": Form(side=28, kernel=5, padding=2, channels=(20, 50), hidden=500),
}
"""The demonstration's network on 8x8 digits; 28x28 images with the channels of LeNet-5 and of the LeNet of Caffe."""
FIRST_STEPS = 5
"""Steps whose losses are compared."""
Step = Callable[[np.ndarray, np.ndarray], float]


def ours(form: Form, threads: int, profile: bool) -> tuple[Step, Any]:
    """Our step, and its function."""
    model = demo_cnn.lenet(form)
    x, y = T.matrix("x", "float32"), T.lvector("y")
    loss = T.nn.categorical_crossentropy(T.nn.softmax(model.logits(x)), y).mean()
    updates = optim.momentum(model.parameters, ag.grad(loss, model.parameters), RATE, MOMENTUM)
    f = ag.function([x, y], loss, updates=updates, threads=threads, profile=profile, name="training step")
    return lambda images, labels: float(f(images, labels)), f


def by_hand(form: Form, threads: int) -> Step:
    """The step in NumPy, with the threads of its BLAS."""
    network = demo_cnn.NumpyLenet(form)
    return lambda images, labels: network.step(images, labels, RATE)


def torch_eager(form: Form, threads: int) -> Step:
    """The step in torch's eager mode."""
    import torch
    from torch.nn import functional as F

    torch.set_num_threads(threads)
    values = demo_cnn.initial(form)
    own = [torch.nn.Parameter(torch.from_numpy(v.T.copy() if v.ndim == 2 else v.copy())) for v in values]
    optimizer = torch.optim.SGD(own, float(RATE), momentum=float(MOMENTUM))
    K1, c1, K2, c2, W1, b1, W2, b2 = own

    def step(images: np.ndarray, labels: np.ndarray) -> float:
        y = (torch.from_numpy(images) * float(BRIGHTNESS)).reshape(-1, 1, form.side, form.side)
        for kernels, bias in ((K1, c1), (K2, c2)):
            y = F.max_pool2d(F.relu(F.conv2d(y, kernels, bias, padding=form.padding)), 2)
        found = F.linear(F.relu(F.linear(y.flatten(1), W1, b1)), W2, b2)
        loss = F.cross_entropy(found, torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return step


def seconds(step: Step, batch: tuple[np.ndarray, np.ndarray], calls: int) -> list[float]:
    """The times of calls, one by one."""
    times = []
    for _ in range(calls):
        begun = time.perf_counter()
        step(*batch)
        times.append(time.perf_counter() - begun)
    return times


def measured(form: Form, threads: int, rounds: int, calls: int, profile: bool) -> str:
    """The line of one network."""
    rng = np.random.default_rng(0)
    batch = rng.uniform(0, 4, (BATCH, form.side**2)).astype("float32"), rng.integers(0, 10, BATCH)
    mine, function = ours(form, threads, profile)
    steps = {"ours": mine, "NumPy": by_hand(form, threads)}
    if find_spec("torch"):
        steps["torch"] = torch_eager(form, threads)
    losses = {name: np.array([step(*batch) for _ in range(FIRST_STEPS)]) for name, step in steps.items()}
    error = max(float(np.abs(losses["ours"] - found).max() / found.max()) for found in losses.values())
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            seconds(step, batch, 2)
            times[name] += seconds(step, batch, calls if name != "NumPy" else max(calls // 10, 1))
    if profile:
        print(function.profile.summary())
    reported = []
    for name, found in times.items():
        least, median = min(found), statistics.median(found)
        ratios = f"{min(times['ours']) / least:6.2f} {statistics.median(times['ours']) / median:6.2f}"
        reported.append(f"{name} {1e6 * least:7.0f} {1e6 * median:7.0f} us {ratios if name != 'ours' else ''}")
    return f"{'  '.join(reported)}  error {error:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.training", description=__doc__.split("\n")[0])
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=NETWORKS, metavar="NETWORK")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=20, help="calls a round")
    parser.add_argument("--profile", action="store_true", help="print the run profile of our step")
    given = parser.parse_args()
    print("the least and the median time of a step; our ratio to each by the least and by the median")
    for name in given.networks:
        line = measured(NETWORKS[name], given.threads, given.rounds, given.calls, given.profile)
        print(f"{name:8} {line}", flush=True)


if __name__ == "__main__":
    main()
