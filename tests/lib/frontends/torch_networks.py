"""Networks of others with random weights, computed by us and by PyTorch.

python tests/lib/frontends/torch_networks.py [NAME ...] [--compile] [--write PAGE]

A name stands for all networks whose names begin with it.  `--compile` takes the way of `torch.compile` with frozen
parameters instead of `ag.from_torch`.  `--write` puts the results into the table of a page of the documentation;
networks that are not run keep their rows.
"""

from __future__ import annotations

import argparse
import gc
import math
import re
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.utils import _pytree as pytree
from torch_zoo import TABLE, Network

from arignote import from_torch
from arignote.frontends.torch import ConversionError
from arignote.frontends.torch.backend import arignote, graphs

NEAR = 1e-4
"""The largest difference, in units of the largest value."""
MOVED = 1e-2
"""The least change of a result by another input, in units of the largest value: less says nothing of the layers."""
BEGIN, END = "<!-- networks that were tried -->", "<!-- end of the networks -->"


_PRODUCTS = (torch.nn.Linear, torch.nn.modules.conv._ConvNd)


class Result(NamedTuple):
    """One network: the largest difference, the ops that PyTorch runs, the processor seconds; or why it fails."""

    away: float
    performed: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""

    @property
    def good(self) -> bool:
        """Return whether the values are those of eager mode."""
        return not self.error and self.away <= NEAR


def difference(network: Network, by_compile: bool = False, **options: Any) -> tuple[float, tuple[str, ...]]:
    """Return the largest difference, in units of the largest value, and the remarks on ops that PyTorch runs.

    `by_compile`: the network runs by `torch.compile` with frozen parameters, else by `from_torch` with `options`.
    Raises AssertionError for a network whose results hardly depend on its input.
    """
    module, args, named = network
    module = module.eval()
    with torch.no_grad():
        vary(module)
        calibrate(module, args, named)
        wanted = _leaves(module, args, named)
        others = _leaves(module, *pytree.tree_map(_another, (args, named)))
        moved = max((away(a, b) for a, b in zip(others, wanted, strict=True) if a.shape == b.shape), default=math.inf)
        assert moved >= MOVED, f"another input changes the results by {moved:.0e} of the largest value"
        if by_compile:
            torch._dynamo.reset()
            made, remarks = torch.compile(module, backend=arignote, options={"freeze": True}), ()
        else:
            made, remarks = _compiled(module, args, named, options)
        found = _leaves(made, args, named)
        remarks = tuple(line for g in graphs() for line in g.remarks) if by_compile else remarks
    return max((away(a, b) for a, b in zip(found, wanted, strict=True)), default=0.0), remarks


def _compiled(module: torch.nn.Module, args: Any, named: Any, options: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the model of `from_torch`; by `torch.compile` for a module that decides by values of a call."""
    try:
        made = from_torch(module, args, named, **options)
    except ConversionError as error:
        if "decides by a value" not in str(error):
            raise
        torch._dynamo.reset()
        return torch.compile(module, backend=arignote), ("torch.compile",)
    return made, made.remarks


def vary(module: torch.nn.Module) -> None:
    """Let each layer matter: noise where all elements are equal, and weights no smaller than sums of products need."""
    for value in (*module.parameters(), *(b for b in module.buffers() if b.ndim > 1)):
        if value.is_floating_point() and value.numel() and bool((value == value.reshape(-1)[0]).all()):
            value += 0.1 * torch.randn_like(value)
    for layer in module.modules():
        weight = getattr(layer, "weight", None) if isinstance(layer, _PRODUCTS) else None
        if isinstance(weight, torch.nn.Parameter):
            spread = float(weight.std()) * weight[0].numel() ** 0.5
            weight /= spread if 0 < spread < 0.5 else 1.0
        if isinstance(layer, torch.nn.modules.batchnorm._BatchNorm) and layer.affine:
            layer.weight += 1.0 if float(layer.weight.abs().mean()) < 0.5 else 0.0


def calibrate(module: torch.nn.Module, args: Any, named: Any) -> None:
    """Give batch norms the statistics of these arguments: without them, values shrink from layer to layer."""

    def measure(norm: Any, given: tuple[torch.Tensor]) -> None:
        axes = [k for k in range(given[0].ndim) if k != 1]
        if norm.running_var is not None and given[0].numel() > given[0].shape[1]:
            variance, mean = torch.var_mean(given[0], axes)
            norm.running_mean.copy_(mean)
            norm.running_var.fill_(float(variance.mean()) or 1.0)  # of all channels: one that is dead stays small

    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    hooks = [m.register_forward_pre_hook(measure) for m in norms]
    if hooks:
        _leaves(module, args, named)
    for hook in hooks:
        hook.remove()


def _leaves(module: Any, args: Any, named: Any) -> list[torch.Tensor]:
    """Return the tensors among the results of a module."""
    torch.manual_seed(1)
    return [v for v in pytree.tree_leaves(module(*args, **named)) if isinstance(v, torch.Tensor) and v.numel()]


def _another(value: Any) -> Any:
    """Return an argument with other values: another draw of numbers, words in the opposite order."""
    if not isinstance(value, torch.Tensor):
        return value
    return torch.rand_like(value) if value.is_floating_point() else value.flip(-1) if value.ndim else value


def away(found: torch.Tensor, wanted: torch.Tensor) -> float:
    """Return the largest difference of two tensors, in units of the largest value of the second."""
    a, b = found.double(), wanted.double()
    if not torch.equal(torch.isfinite(a), torch.isfinite(b)) or not bool(torch.isfinite(b).any()):
        return math.inf
    near = torch.nan_to_num(a - b, nan=0.0).abs().max() / torch.nan_to_num(b).abs().max().clamp_min(1e-30)
    return float(near)


def result(name: str, by_compile: bool = False) -> Result:
    """Return the result of one network; the arguments are those of `difference`."""
    torch.manual_seed(0)
    network = TABLE[name]()
    start = time.process_time()
    try:
        away, remarks = difference(network, by_compile)
    except Exception as error:
        return Result(math.inf, error=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    finally:
        gc.collect()
    ops = sorted({re.split(r"\.default| ", line.removeprefix("aten."))[0] for line in remarks})
    return Result(away, tuple(ops), time.process_time() - start)


# --- the table of the documentation


def rows_of(text: str) -> dict[str, str]:
    """Return the lines of the table in a page by the name of the network."""
    found = re.findall(r"^\| `([\w.]+)` \|.*$", text, re.MULTILINE)
    return {name: next(line for line in text.splitlines() if line.startswith(f"| `{name}` |")) for name in found}


def row(name: str, found: Result) -> str:
    """Return the line of one network."""
    value = f"fails: {found.error}" if found.error else f"{found.away:.0e}"
    return f"| `{name}` | {value} | {' '.join(found.performed)} |"


def page(text: str, found: Mapping[str, Result]) -> str:
    """Return a page with these results in its table."""
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    rows = rows_of(old) | {name: row(name, r) for name, r in found.items()}
    lines = [rows[name] for name in TABLE if name in rows]
    table = "\n".join(["| network | largest difference | ops that PyTorch runs |", "|---|---|---|", *lines])
    return f"{head}{BEGIN}\n\n{table}\n\n{END}{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--compile", action="store_true", help="by torch.compile")
    parser.add_argument("--write", metavar="PAGE", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = [n for n in TABLE if not given.names or any(n.startswith(p) for p in given.names)]
    found: dict[str, Result] = {}
    for name in chosen:
        try:
            found[name] = result(name, given.compile)
        except (ImportError, RuntimeError, TypeError, ValueError, AttributeError) as error:  # no such network here
            print(f"{name}: NOT MADE: {type(error).__name__}: {str(error)[:200]}", flush=True)
            continue
        r = found[name]
        verdict = "" if r.good else f"FAILS {r.error}" if r.error else "DIFFERS"
        print(f"{name}: {r.away:.1e} {verdict} {r.seconds:.0f} s {' '.join(r.performed)}", flush=True)
        if given.write:
            given.write.write_text(page(given.write.read_text(encoding="utf-8"), found), encoding="utf-8")
    print(f"{sum(r.good for r in found.values())} of {len(chosen)} within {NEAR:.0e}")


if __name__ == "__main__":
    main()
