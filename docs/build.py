"""Builds the documentation site into build/site: `python docs/build.py [--site-dir FOLDER]`.

It needs the extra [docs].
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # an advertisement of another tool, on every build

from mkdocs.__main__ import cli

if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    cli(["build", "--strict", *sys.argv[1:]])
