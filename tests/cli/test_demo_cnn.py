"""`python -m arignote demo cnn`: the network against NumPy's, its export, and what it prints."""

import importlib.util
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from arignote import __main__ as command_line
from arignote.demo import cnn as demo_cnn
from arignote.demo import digits as demo


@pytest.fixture
def short(monkeypatch):
    """The demonstration with few steps."""
    full = demo_cnn.main
    monkeypatch.setattr(demo_cnn, "main", lambda *given: full(*given, epochs=2))
    monkeypatch.setattr(demo, "seconds_per_call", lambda call: call() and 1.0)


def test_a_short_demonstration_prints_everything_and_exports(short, tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    picture, path = tmp_path / "losses.svg", tmp_path / "lenet.onnx"
    assert command_line.main(["demo", "cnn", "--picture", str(picture), "--onnx", str(path)]) == 1  # so few steps
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)  # ONNX Runtime leaves one
    message = capsys.readouterr().out
    for part in ("Optimizing took", "GB/s", "ratio", "after 2 epochs", str(path), "demo cnn --full"):
        assert part in message
    assert 0.3 < float(message.split()[-1]) < 0.97
    assert picture.read_text().count("<polyline") == 1
    onnx.checker.check_model(onnx.load(path))
    if importlib.util.find_spec("onnxruntime"):
        assert "ONNX Runtime gives 360 of 360 images the same digit" in message
    assert len(message.splitlines()) < 90


def test_export_without_the_package_says_how_to_install_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo_cnn, "find_spec", lambda name: None)
    digits = demo.load_digits()
    assert demo_cnn.export(demo_cnn.lenet(), tmp_path / "lenet.onnx", digits)
    assert "pip install 'arignote[onnx]'" in capsys.readouterr().out


def test_steps_agree_with_numpy():
    form = demo_cnn.Form(side=8, kernel=5, padding=2, channels=(3, 4), hidden=5)
    noise = np.random.default_rng(0).normal(size=(3 * demo.BATCH, 64)).astype("float32")  # whose windows have no ties
    digits = demo.load_digits()._replace(train_images=noise)
    model, by_hand, rate = demo_cnn.lenet(form), demo_cnn.NumpyLenet(form), np.float32(0.05)
    step = model.train_step(*demo.shared_digits(digits))
    for i in range(3):
        batch = slice(i * demo.BATCH, (i + 1) * demo.BATCH)
        expected = by_hand.step(digits.train_images[batch], digits.train_labels[batch], rate)
        np.testing.assert_allclose(step(i, rate), expected, rtol=1e-5)
    for ours, theirs in zip(model.parameters, by_hand.parameters, strict=True):
        np.testing.assert_allclose(ours.get_value(), theirs, rtol=1e-3, atol=1e-5)


def test_distorted_images_stay_images():
    digits = demo.load_digits()
    images = digits.train_images[:200]
    found = demo_cnn.distorted(images, np.random.default_rng(0))
    assert found.dtype == images.dtype and found.shape == images.shape
    assert found.min() >= 0 and found.max() <= images.max() and not np.array_equal(found, images)
    kept = demo_cnn.distorted(images, SimpleNamespace(uniform=lambda low, high, shape: np.zeros(shape)))
    np.testing.assert_allclose(kept, images, atol=1e-6)
