"""Cases on a GPU of NVIDIA: our CUDA engine, torch.compile and JAX, each where it is installed.

    python -m benchmarks.devices.gpu
    python -m benchmarks.devices.gpu --peers arignote jax --cases softmax product

Arguments and results stay on the device.  A round starts some calls and waits for the last; the fastest round counts.
Products of float32 are exact to float32 in all of them: no TF32.  Our results are compared with NumPy on small arrays.
`GB/s` and `TFLOP/s` count the bytes and operations that a case needs at least.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import formulas
from ..cases import CASES, NUMPY, Arrays
from ..formulas import RATE

PEERS = ("arignote", "torch", "jax")
HERE = Path(__file__).resolve().parents[2]
ROUNDS = 5
ROUND_SECONDS = 0.05


@dataclass(frozen=True)
class Case:
    """A computation: `inputs(n)` makes arguments of size n, the formula differentiates the first `gradients`.

    A case that trains takes all but its first two arguments as parameters and updates them by gradient descent.
    """

    name: str
    formula: Callable[..., Any]
    inputs: Callable[[int], Arrays]
    size: int
    small: int
    gradients: int = 0
    trains: bool = False
    rtol: float = 2e-5
    bytes: Callable[[int], int] = lambda n: 0
    flops: Callable[[int], int] = lambda n: 0


def numbers(*shape: int, dtype: str = "float32", low: float = 0.25) -> np.ndarray:
    """Positive numbers of few distinct values, quickly made."""
    values = np.random.default_rng(len(shape)).uniform(low, 2, 99_991)
    return np.resize(values.astype(dtype), shape)


def vectors(count: int, dtype: str = "float32") -> Callable[[int], Arrays]:
    return lambda n: tuple(np.roll(numbers(n, dtype=dtype), 7 * k) for k in range(count))


def rows(columns: int) -> Callable[[int], Arrays]:
    return lambda n: (numbers(n, columns),)


def squares(count: int, dtype: str = "float32") -> Callable[[int], Arrays]:
    return lambda n: tuple(np.roll(numbers(n, n, dtype=dtype, low=-2), 7 * k) for k in range(count))


def labelled(n: int) -> Arrays:
    return numbers(n, 1000), np.arange(n) * 7 % 1000


def edges(n: int) -> Arrays:
    rng = np.random.default_rng(0)
    return numbers(n // 10, 8), rng.integers(0, n // 10, n), rng.integers(0, n // 10, n)


def total(xp: Any, x: Any) -> Any:
    return (x * x).sum()


def product(xp: Any, a: Any, b: Any) -> Any:
    return a @ b


def batches(n: int) -> Arrays:
    """Batches of products of matrices, as attention has them: 64 x n x 64."""
    return numbers(64, n, 64, low=-2), numbers(64, 64, n, low=-2)


def mlp(n: int) -> Arrays:
    """A batch of n images of 784 pixels with labels, and the parameters of 784-2048-2048-10."""
    widths = (784, 2048, 2048, 10)
    rng = np.random.default_rng(0)
    made = []
    for a, b in itertools.pairwise(widths):
        made += [(rng.standard_normal((a, b)) / a**0.5).astype("float32"), np.zeros(b, "float32")]
    return (numbers(n, 784), np.arange(n) % 10, *made)


def deep_loss(xp: Any, x: Any, y: Any, *parameters: Any) -> Any:
    for w, b in zip(parameters[:-2:2], parameters[1:-2:2]):
        x = xp.relu(x @ w + b)
    return -xp.pick(xp.log_softmax(x @ parameters[-2] + parameters[-1]), y).mean()


def _given(name: str) -> Callable[[int], Arrays]:
    return lambda n: CASES[name].inputs()


_RADON, _LOGISTIC = "hierarchical regression with gradient", "logistic regression step, 400x784"
ALL = {
    case.name: case
    for case in [
        Case("2.5*x+y, 1e8", formulas.axpy, vectors(2), 10**8, 1001, bytes=lambda n: 12 * n),
        Case("exp(x)*y+sin(x)-y/3, 1e8", formulas.chain, vectors(2), 10**8, 1001, bytes=lambda n: 12 * n),
        Case("chain of 200, 1e7", formulas.long_chain, vectors(2), 10**7, 1001, bytes=lambda n: 12 * n),
        Case("Black-Scholes, 1e7, float64", formulas.black_scholes, vectors(3, "float64"), 10**7, 1001,
             rtol=1e-9, bytes=lambda n: 40 * n),
        Case("Adam, 1e7", formulas.adam, vectors(4), 10**7, 1001, bytes=lambda n: 28 * n),
        Case("sum of x*x, 2^28", total, vectors(1), 1 << 28, 100_001, bytes=lambda n: 4 * n),
        Case("(x*x).sum(1), 16384^2", formulas.row_sums, squares(1), 1 << 14, 301, bytes=lambda n: 4 * n * n),
        Case("(x*x).sum(0), 16384^2", formulas.column_sums, squares(1), 1 << 14, 301, bytes=lambda n: 4 * n * n),
        Case("softmax, 32768x1000", formulas.softmax, rows(1000), 1 << 15, 33, bytes=lambda n: 8000 * n),
        Case("logsumexp, 32768x1000", formulas.logsumexp, rows(1000), 1 << 15, 33, bytes=lambda n: 4000 * n),
        Case("layer norm, 32768x768", formulas.layer_norm,
             lambda n: (numbers(n, 768), numbers(768), numbers(768)), 1 << 15, 33, rtol=1e-4, bytes=lambda n: 6144 * n),
        Case("cross-entropy and gradient, 32768x1000", formulas.cross_entropy, labelled, 1 << 15, 33, gradients=1,
             bytes=lambda n: 8000 * n),
        Case("stencil, 8192^2", formulas.stencil, squares(1), 1 << 13, 77, rtol=1e-4, bytes=lambda n: 8 * n * n),
        Case("gather and scatter, 1e7 rows of 8", formulas.gather_scatter, edges, 10**7, 1000, rtol=1e-4,
             bytes=lambda n: 32 * n + 16 * n + 64 * n // 10),
        Case("product, 4096", product, squares(2), 4096, 130, rtol=1e-4, flops=lambda n: 2 * n**3),
        Case("product, 1024", product, squares(2), 1024, 130, rtol=1e-4, flops=lambda n: 2 * n**3),
        Case("product, 4096, float64", product, squares(2, "float64"), 4096, 130, rtol=1e-9, flops=lambda n: 2 * n**3),
        Case("64 products of 1024x64 by 64x1024", product, batches, 1024, 65, rtol=1e-4,
             flops=lambda n: 2 * 64 * 64 * n * n),
        Case("relu(a@b+c), 2048", formulas.relu_product, lambda n: (*squares(2)(n), numbers(n)), 2048, 130, rtol=1e-4,
             flops=lambda n: 2 * n**3),
        Case("MLP step, 1024x784-2048-2048-10", deep_loss, mlp, 1024, 9, trains=True, rtol=1e-4,
             flops=lambda n: 6 * n * (784 * 2048 + 2048 * 2048 + 2048 * 10)),
        Case(_LOGISTIC, formulas.logistic_loss, _given(_LOGISTIC), 0, 0, trains=True, rtol=1e-8),
        Case(_RADON, formulas.hierarchical, _given(_RADON), 0, 0, gradients=3, rtol=1e-9),
    ]
}  # fmt: skip


def ours(case: Case) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The call without arguments, and the wait."""
    import arignote as ag
    from arignote.engines.device.dialects.cuda import device

    from ..peers.arignote import NAMES

    small = case.inputs(case.small)
    variables = [ag.shared(a, shape=(None,) * a.ndim, name=f"x{k}") for k, a in enumerate(small)]
    mode = ag.Mode("fast_run", backend="cuda")
    if case.trains:
        loss = case.formula(NAMES, *variables)
        parameters = variables[2:]
        found = [loss, *ag.grad(loss, parameters)]
        updates = [(p, p - small[0].dtype.type(RATE) * g) for p, g in zip(parameters, found[1:], strict=True)]
        results = [ag.shared(np.zeros((), loss.dtype), name="loss")]
        updates.append((results[0], loss))
    else:
        made = case.formula(NAMES, *variables)
        if case.gradients:
            made = [made, *ag.grad(made, variables[: case.gradients])]
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        results = [ag.shared(np.zeros((0,) * m.ndim, m.dtype), shape=(None,) * m.ndim, name=f"y{k}")
                   for k, m in enumerate(made)]  # fmt: skip
        updates = list(zip(results, made, strict=True))
    f = ag.function([], [], updates=updates, mode=mode)
    f()
    _require_equal(case, small, [r.get_value() for r in results])
    for v, a in zip(variables, case.inputs(case.size), strict=True):
        v.set_value(a)
    return f, device().finish


def _require_equal(case: Case, small: Arrays, results: Sequence[np.ndarray]) -> None:
    """Raise an error if our results differ from those of NumPy."""
    if (case.trains and case.formula is not deep_loss) or case.name in (_RADON,):
        wanted = CASES[case.name].expected(*small)
    elif case.gradients:
        wanted = CASES["cross-entropy and gradient, 2048x1000, float32"].expected(*small)
    else:
        wanted = case.formula(NUMPY, *small)
    wanted = list(wanted) if isinstance(wanted, tuple) else [wanted]
    for w, r in zip(wanted, results):
        np.testing.assert_allclose(r, w, rtol=case.rtol, atol=case.rtol * float(np.abs(w).max()))


def by_torch(case: Case) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import torch

    from ..peers.torch_compile import NAMES

    given = [torch.from_numpy(np.ascontiguousarray(a)).cuda() for a in case.inputs(case.size)]
    compiled = torch.compile(partial(case.formula, NAMES))
    if case.trains:
        parameters = [p.requires_grad_() for p in given[2:]]

        def step() -> Any:
            gradients = torch.autograd.grad(compiled(*given), parameters)
            with torch.no_grad():
                torch._foreach_add_(parameters, gradients, alpha=-RATE)

        return step, torch.cuda.synchronize
    if not case.gradients:
        return lambda: compiled(*given), torch.cuda.synchronize
    leaves = [t.requires_grad_() for t in given[: case.gradients]]
    return lambda: torch.autograd.grad(compiled(*given), leaves), torch.cuda.synchronize


def by_jax(case: Case) -> tuple[Callable[[], Any], Callable[[], Any]]:
    os.environ.update(JAX_PLATFORMS="cuda", XLA_PYTHON_CLIENT_PREALLOCATE="false")
    import jax

    jax.config.update("jax_default_matmul_precision", "highest")
    from ..peers.jax import NAMES

    given = [jax.device_put(a) for a in case.inputs(case.size)]
    formula = partial(case.formula, NAMES)
    last: list[Any] = [None]
    if case.trains:
        step = jax.jit(
            lambda p, x, y: jax.tree.map(lambda a, g: a - RATE * g, p, jax.grad(lambda q: formula(x, y, *q))(p))
        )
        last[0] = given[2:]

        def call() -> Any:
            last[0] = step(last[0], *given[:2])
    else:
        wrt = tuple(range(case.gradients))
        jitted = jax.jit(jax.value_and_grad(formula, wrt) if wrt else formula)

        def call() -> Any:
            last[0] = jitted(*given)

    return call, lambda: jax.block_until_ready(last[0])


BUILDERS = {"arignote": ours, "torch": by_torch, "jax": by_jax}


def measured(case: Case, peer: str) -> dict[str, Any]:
    """Seconds of a call, and of compilation with the first call."""
    start = time.perf_counter()
    call, wait = BUILDERS[peer](case)
    call()
    wait()
    compiled = time.perf_counter() - start
    for _ in range(3):
        call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    count = max(1, int(ROUND_SECONDS / max(time.perf_counter() - start, 1e-6)))
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        best = min(best, (time.perf_counter() - start) / count)
    return {"seconds": best, "compile": compiled}


def work(peer: str, names: Sequence[str]) -> None:
    """Measure cases in this process; print a line of JSON for each."""
    for name in names:
        try:
            found = measured(ALL[name], peer)
        except Exception as e:  # a peer may fail in any way; the table says so
            found = {"error": f"{type(e).__name__}: {(str(e).splitlines() or [''])[0]}"[:200]}
        print(json.dumps({"case": name, "peer": peer, **found}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", default=[""], help="parts of their names")
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--work", action="store_true", help="measure one peer in this process, as lines of JSON")
    options = parser.parse_args()
    names = [n for n in ALL if any(part in n for part in options.cases)]
    if options.work:
        work(options.peers[0], names)
        return
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for peer in options.peers:
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.devices.gpu", "--work", "--peers", peer, "--cases", *options.cases],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=HERE,
        )  # fmt: skip
        for line in process.stdout.splitlines():
            if line.startswith("{"):
                row = json.loads(line)
                found[row["case"], peer] = row
    print("| case | " + " | ".join(f"{p}, ms" for p in options.peers) + " | ratio to the best peer | GB/s | TFLOP/s |")
    print("| --- " * (len(options.peers) + 4) + "|")
    errors = []
    for name in names:
        print(_row(ALL[name], [found.get((name, p), {"error": "no answer"}) for p in options.peers]))
        errors += [
            f"{name}: {p}: {found[name, p]['error']}" for p in options.peers if "error" in found.get((name, p), {})
        ]
    print("\n".join(errors))


def _row(case: Case, results: Sequence[dict[str, Any]]) -> str:
    seconds = [r.get("seconds", float("nan")) for r in results]
    first, others = seconds[0], [s for s in seconds[1:] if s == s]
    ratio = f"{first / min(others):.2f}" if others else "-"
    moved, computed = case.bytes(case.size) / first / 1e9, case.flops(case.size) / first / 1e12
    shown = [f"{s * 1e3:.3f}" for s in seconds]
    return f"| {case.name} | {' | '.join(shown)} | {ratio} | {moved or 0:.0f} | {computed or 0:.1f} |"


if __name__ == "__main__":
    main()
