"""Write every generated page and text of the project again, each by its own maker.

    python docs/make.py

A maker whose package is not installed is named and left out.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
NEEDS = {"make_pytensor": "pytensor", "make_pytorch": "torch"}
"""The package that a maker reads."""
MODULES = ("arignote.cbackend.abi.generate", "arignote.cbackend.ctext.translated", "tests.campaign.values.parity")
"""Modules that write C, and the page of differences from NumPy."""


def main() -> None:
    """Run the makers in order; stop at the first one that fails."""
    for module in MODULES:
        _run("-m", module)
    for maker in sorted(DOCS.glob("make_*.py")):
        package = NEEDS.get(maker.stem)
        if package and importlib.util.find_spec(package) is None:
            print(f"{maker.name}: left out, {package} is not installed")
        else:
            _run(str(maker))


def _run(*arguments: str) -> None:
    print(" ".join(arguments), flush=True)
    subprocess.run([sys.executable, *arguments], check=True, cwd=DOCS.parent)


if __name__ == "__main__":
    main()
