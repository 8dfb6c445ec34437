"""`python -m arignote theano script.py args`: run a Theano program as it is."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

from .namespaces import install


def main(chosen: Any) -> int:
    """Run the script as Python would, with Theano's modules in place; returns the exit code."""
    script = Path(chosen.script)
    if not script.is_file():
        print(f"arignote theano: there is no file {chosen.script}", file=sys.stderr)
        return 2
    install()
    sys.argv = [chosen.script, *chosen.arguments]
    sys.path.insert(0, str(script.resolve().parent))
    runpy.run_path(chosen.script, run_name="__main__")
    return 0
