"""Fixtures of several tests: golden texts, kept in `tests/golden/` and written anew by `--update-golden`; caches."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache

GOLDEN = Path(__file__).parent / "golden"
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # else each of hundreds of processes would compile every module
    BYTECODE = tempfile.TemporaryDirectory(prefix="arignote-bytecode-")  # removed when the tests are over
    os.environ["PYTHONPYCACHEPREFIX"] = BYTECODE.name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden texts instead of comparing with them"
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """A function (file name, text) that compares the text with the golden one of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"there is no golden text {name}: run pytest with --update-golden and review it"
        assert text == path.read_text(), f"{name} differs: run pytest with --update-golden and review the difference"

    return compare


@pytest.fixture(scope="module")
def probed(tmp_path_factory) -> Cache:
    """A cache that remembers the toolchain."""
    cache = Cache.open(tmp_path_factory.mktemp("probed") / "cache")
    if Toolchain.find(cache) is None:
        pytest.skip("needs a C compiler")
    return cache


@pytest.fixture(scope="module")
def toolchain(probed) -> Toolchain:
    return Toolchain.find(probed)


@pytest.fixture
def cache(tmp_path) -> Cache:
    """An empty one."""
    return Cache.open(tmp_path / "cache")
