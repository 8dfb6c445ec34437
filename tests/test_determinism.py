"""What is made of a graph does not depend on how Python orders its sets."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent


def text_under(seed):
    """The optimized graphs and their C as a process with this hash seed prints them."""
    paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": paths}
    command = [sys.executable, str(HERE / "zoo_text.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def test_optimized_graphs_and_their_c_are_the_same_under_twenty_hash_seeds():
    with ThreadPoolExecutor(2) as pool:
        first, *others = pool.map(text_under, range(20))
    assert first.count("return") > 300
    for seed, other in enumerate(others, 1):
        assert other == first, f"PYTHONHASHSEED={seed}"
