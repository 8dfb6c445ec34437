"""The digits network in a web page: `python -m arignote demo web`.

The LeNet of `demo_cnn` is trained, exported for WebAssembly and built.  One HTML file holds the module, the weights and
a sheet of paper: it classifies digits that are drawn with the mouse, and needs no server.
"""

from __future__ import annotations

import base64
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .. import ops as T
from ..function.function import function
from ..targets.target import TargetError
from . import cnn as demo_cnn
from . import digits as demo
from .digits import DTYPE, Model

TEMPLATE = Path(__file__).parents[1] / "data" / "digits.html"
_TIMEOUT = 300.0


def web_page(model: Model) -> str:
    """The page of a network that reads rows of 64 pixels.

    Raises:
        TargetError: there is no compiler for WebAssembly.
        OSError: make is missing or fails.
    """
    x = T.matrix("pixels", DTYPE, shape=(1, 64))
    classify = function([x], {"probabilities": T.nn.softmax(model.logits(x))}, name="digits")
    with tempfile.TemporaryDirectory() as folder:
        made = classify.export(Path(folder) / "digits", target="wasm32-web")
        _make(made)
        parts = {
            "SCRIPT": (made / "digits.js").read_text(),
            "WASM_BYTES": _packed(made / "digits.wasm"),
            "WEIGHT_BYTES": _packed(made / "digits.weights"),
        }
    return re.sub(r"@([A-Z_]+)@", lambda field: parts[field[1]], TEMPLATE.read_text())


def _packed(path: Path) -> str:
    """Return the bytes of a file by gzip, in letters of base64: WebAssembly takes a third of its length."""
    return base64.b64encode(gzip.compress(path.read_bytes(), 9, mtime=0)).decode()


def _make(folder: Path) -> None:
    """Run make, with the zig of this interpreter.  Raises OSError if it is missing or fails."""
    if shutil.which("make") is None:
        raise OSError("make is not installed (Debian: apt install make)")
    environment = {"ZIG": f"'{sys.executable}' -m ziglang", **os.environ}
    done = subprocess.run(
        ["make"], cwd=folder, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )
    if done.returncode:
        raise OSError(f"make fails: {done.stderr.strip()[-500:]}")


def main(page: Path | None = None, epochs: int = demo_cnn.EPOCHS) -> int:
    """Train the network and write its page; the exit code is 1 if the page cannot be built.

    `page`: the HTML file, by default in the folder for temporary files.
    """
    model = demo_cnn.lenet(epochs=epochs)
    path = page or Path(tempfile.gettempdir()) / "arignote-digits.html"
    demo.train(model, demo.load_digits(), demo_cnn.distorted)
    try:
        text = web_page(model)
        path.write_text(text)
    except (TargetError, OSError, subprocess.TimeoutExpired) as error:
        print(f"   no page: {error}")
        return 1
    print(f"   page: {path} ({len(text) / 1000:.0f} KB); open it in a browser and draw a digit")
    return 0
