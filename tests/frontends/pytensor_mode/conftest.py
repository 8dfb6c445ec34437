"""PyTensor's marks on the process: it imports setuptools with its first own function, and adds a folder to PATH."""

import os
from contextlib import suppress

import pytest

with suppress(ImportError):
    import pytensor.link.c.exceptions  # noqa: F401  # setuptools adds a folder to sys.path


@pytest.fixture(autouse=True)
def _same_path(monkeypatch):
    """PyTensor puts the folder of Python's library into PATH."""
    monkeypatch.setenv("PATH", os.environ["PATH"])
