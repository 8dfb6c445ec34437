"""Log-density and gradient of thirteen PyMC models under Arignote and PyTensor's own backends.

    python -m benchmarks.pymc [--modes ARIGNOTE JAX] [--models radon AR] [--timeout 600]

Each mode and model is a process of its own, twice: with empty caches, and with those that the first run left.
A line has the seconds to compile (processor seconds in brackets, compilers included) and the microseconds of a call.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

from arignote.frontends.pytensor.command import measured
from arignote.frontends.pytensor.measuring import MODES

FILE = Path(__file__).with_name("pymc_models.py")
NAMES = (
    "eight_schools", "radon", "mixture", "ordinal", "hidden_markov", "autoregression", "lkj", "garch",
    "gaussian_process", "volatility", "weibull", "logistic", "poisson",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modes", nargs="*", default=MODES)
    parser.add_argument("--models", nargs="*", default=[""], help="beginnings of names of models")
    parser.add_argument("--timeout", type=float, default=900)
    chosen = parser.parse_args()
    ratios: dict[str, list[dict[str, float]]] = {}
    for name in NAMES:
        if not any(name.startswith(start) for start in chosen.models):
            continue
        found: dict[str, dict[str, Any]] = {}
        for mode in chosen.modes:
            with tempfile.TemporaryDirectory() as folder:
                cold, warm = (measured(str(FILE), mode, folder, name, chosen.timeout) for _ in range(2))
            if isinstance(cold, str) or isinstance(warm, str):
                print(f"{name:18} {mode:9} failed: {cold if isinstance(cold, str) else warm}", flush=True)
                continue
            found[mode] = {"cold": cold, "warm": warm, "call": min(cold["call"], warm["call"])}
            starts = [f"{t['compile']:7.2f} s ({t['processor']:6.2f})" for t in (cold, warm)]
            call = f"{found[mode]['call'] * 1e6:9.1f} us"
            print(f"{name:18} {mode:9} cold {starts[0]} warm {starts[1]} call {call}  {cold['value']:.10g}", flush=True)
        if "ARIGNOTE" in found and len(found) > 1:
            _compare(found, ratios)
    for mode, rows in ratios.items():
        means = {key: math.exp(sum(math.log(row[key]) for row in rows) / len(rows)) for key in rows[0]}
        text = ", ".join(f"{key} {value:.2f}" for key, value in means.items())
        print(f"ARIGNOTE / {mode}, geometric mean of {len(rows)}: {text}")


def _compare(found: dict[str, dict[str, Any]], ratios: dict[str, list[dict[str, float]]]) -> None:
    """Add the ratios to each other mode.  Raises ValueError for results that differ."""
    ours = found["ARIGNOTE"]
    for mode, theirs in found.items():
        if mode == "ARIGNOTE":
            continue
        if not math.isclose(ours["cold"]["value"], theirs["cold"]["value"], rel_tol=1e-9):
            raise ValueError(f"{mode} gives {theirs['cold']['value']}, ARIGNOTE {ours['cold']['value']}")
        row = {"call": ours["call"] / theirs["call"]}
        for start in ("cold", "warm"):
            row[f"{start} processor"] = ours[start]["processor"] / theirs[start]["processor"]
        ratios.setdefault(mode, []).append(row)


if __name__ == "__main__":
    main()
