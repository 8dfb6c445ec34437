"""Whole networks as ONNX models, plain and quantized by ONNX Runtime: no rule fails, and values are its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")

import arignote as ag  # noqa: E402
from arignote.options import process_options  # noqa: E402
from benchmarks.models.networks import MODELS, input_of  # noqa: E402

pytestmark = pytest.mark.long


REFUSED = {("densenet121", "QOperator"), ("inception_v1", "QOperator")}
"""Networks that ONNX Runtime cannot quantize in this form: biases that it makes of normalizations have no value."""


def by_runtime(path: Path, value: np.ndarray, as_written: bool = False) -> np.ndarray:
    """Return the first result of ONNX Runtime, which fuses nodes unless it runs them `as_written`."""
    options = ort.SessionOptions()
    if as_written:  # fused convolutions of bytes saturate on processors without VNNI
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: value})[0]


def drawn(model: Any) -> np.ndarray:
    """Return a random value of the input."""
    return np.random.default_rng(0).standard_normal(input_of(model)[1]).astype("float32")


def is_near(got: np.ndarray, wanted: np.ndarray, share: float) -> bool:
    """Whether results differ by at most this share of the largest number."""
    return float(np.abs(got - wanted).max()) <= share * float(np.abs(wanted).max())


@pytest.mark.parametrize("mode", ["fast_run", "fast_run winograd"])
@pytest.mark.parametrize("name", MODELS)
def test_networks_compile_without_a_failing_rule(name: str, mode: str, tmp_path: Path) -> None:
    assert process_options().strict  # a rule that fails raises
    model = MODELS[name]()
    value = drawn(model)
    path = tmp_path / "model.onnx"
    onnx.save(model, path)
    got = ag.from_onnx(model).function(mode=mode)(value)
    assert is_near(got, by_runtime(path, value), 1e-3)


@pytest.mark.parametrize(
    "name, form", [(n, f) for n in MODELS if n != "encoder" for f in ("QDQ", "QOperator") if (n, f) not in REFUSED]
)
def test_quantized_networks_compile_without_a_failing_rule(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))  # the import adds a folder
    quantization = pytest.importorskip("onnxruntime.quantization")
    model = MODELS[name]()
    value = drawn(model)
    plain, path = tmp_path / "model.onnx", tmp_path / "quantized.onnx"
    onnx.save(model, plain)

    class Samples(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.rest = [{input_of(model)[0]: value}]

        def get_next(self) -> Any:
            return self.rest.pop() if self.rest else None

    quantization.quantize_static(plain, path, Samples(), quant_format=quantization.QuantFormat[form])
    got = ag.from_onnx(path).function()(value)
    assert is_near(got, by_runtime(path, value, as_written=True), 0.1)
