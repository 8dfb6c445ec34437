"""Fixtures of all tests: golden texts, kept in `tests/golden/` and written anew by `--update-golden`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


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
