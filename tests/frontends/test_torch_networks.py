"""Networks of torchvision, timm and Hugging Face with random weights, equal to eager mode: a long campaign."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch_networks import BEGIN, END, NEAR, Result, page, rows_of  # noqa: E402
from torch_networks import result as result_of  # noqa: E402
from torch_zoo import TABLE  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
PACKAGES = sorted({name.partition(".")[0] for name in TABLE})


def test_a_page_keeps_the_rows_of_networks_that_are_not_run() -> None:
    first, second = list(TABLE)[:2]
    text = page(f"a\n{BEGIN}\n{END}\nb\n", {second: Result(2e-7, ("histc",))})
    text = page(text, {first: Result(0.5, error="TypeError: no")})
    assert list(rows_of(text)) == [first, second]
    assert f"| `{second}` | 2e-07 | histc |" in text and "fails: TypeError: no" in text
    assert text.startswith("a\n") and text.endswith("\nb\n")
    assert len(TABLE) == len(set(TABLE)) > 150


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
def test_networks_are_equal_to_eager_mode(package: Any) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    found = {name: result_of(name) for name in TABLE if name.startswith(f"{package}.")}
    assert {name: (r.away, r.error) for name, r in found.items() if not r.good} == {}
    assert all(r.away <= NEAR for r in found.values())
