"""`python -m arignote.frontends.pytensor.worker FILE MODE [NAME]`: times of one model under one mode, as one JSON line.

FILE is a Python file that has a PyMC model in the variable `model`, or a function of the name NAME that makes one.
"""

from __future__ import annotations

import json
import runpy
import sys
import warnings
from typing import Any

from .measuring import times_of


def model_of(file: str, name: str = "model") -> Any:
    """Return the model in a file: the value of a variable, or what the function of this name makes."""
    found: Any = runpy.run_path(file)[name]
    return found() if callable(found) else found


def main(file: str, mode: str, name: str = "model") -> int:
    """Print the times of the model in a file."""
    warnings.simplefilter("ignore")
    print(json.dumps(times_of(model_of(file, name), mode)._asdict()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
