"""PyTensor's marks on the process: it imports setuptools with its first own function, and adds a folder to PATH."""

import os
import tempfile
from contextlib import suppress

import pytest

with suppress(ImportError):
    import pytensor.link.c.exceptions  # setuptools adds a folder to sys.path
with suppress(ImportError):
    import pytensor.compile.debug.debugmode  # noqa: F401  # it adds a mode


@pytest.fixture(autouse=True)
def _same_path(monkeypatch, tmp_path):
    """PyTensor puts the folder of Python's library into PATH, and leaves temporary files."""
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
