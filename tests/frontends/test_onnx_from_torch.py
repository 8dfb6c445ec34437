"""The recipe of docs/howto/run-an-onnx-model.md for modules of PyTorch, run as it stands where torch is installed."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import arignote as ag

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
PAGE = Path(__file__).parents[2] / "docs/howto/run-an-onnx-model.md"


class Residual(torch.nn.Module):
    """Convolutions with normalization and a sum, pooling and a linear layer."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 7, stride=4, padding=3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.second = torch.nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.last = torch.nn.Linear(8, 10)

    def forward(self, image):
        x = torch.relu(self.norm(self.first(image)))
        x = torch.nn.functional.max_pool2d(x + self.second(x), 2)
        return self.last(x.mean((2, 3)))


def test_a_module_that_the_recipe_exports_computes_the_same(tmp_path, monkeypatch):
    recipe = re.search(r"## From PyTorch\n.*?```py\n(.*?)```", PAGE.read_text(), re.S).group(1)
    torch.manual_seed(0)
    module = Residual()
    with torch.no_grad():
        module.norm.running_mean.uniform_(-1, 1)
        module.norm.running_var.uniform_(0.5, 2)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own notices about its exporters
        exec(recipe, {"module": module})
        wanted = [module(torch.from_numpy(image)).detach().numpy() for image in (IMAGES, IMAGES[:1])]
    f = ag.from_onnx("net.onnx")
    assert list(f.inputs) == ["image"]
    for image, want in zip((IMAGES, IMAGES[:1]), wanted):
        np.testing.assert_allclose(f(image), want, rtol=1e-5, atol=1e-6)


IMAGES = np.random.default_rng(0).standard_normal((3, 3, 224, 224)).astype("float32")
