"""The cases of ONNX's own conformance suite: models of one op each, with inputs and expected outputs."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from arignote.frontends.onnx import from_onnx

BEYOND = {
    r"the dtype (bfloat16|float8\w+|float4\w+|u?int[24]) is not supported": "eight bits and fewer",
    r"the dtype string is not supported|no converter for (String|Regex|TfIdf)": "text",
    r"no converter for ImageDecoder": "compressed images",
    r"is a (sequence|optional)_type; expected a tensor": "inputs that are no tensors",
    r"no converter for RandomUniformLike|Random\w+ .*no converter": "random numbers, which the suite does not compare",
    r"drops elements in training mode": "random numbers, which the suite does not compare",
}
"""Errors of cases that are not supported, and what they need."""
NEAR = {"test_attention_4d_causal_fp16", "test_attention_4d_causal_fp16_expanded"}
"""Cases whose float16 results differ from the expected ones by one unit in the last place."""


class Case(NamedTuple):
    """One case: `inputs` and `outputs` are arrays, or lists of arrays for sequences."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]
    rtol: float
    atol: float


def cases() -> Iterator[Case]:
    """The cases of ops in the standard domain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    for each in found:
        if not {node.domain for node in each.model.graph.node} - {""}:
            inputs, outputs = (list(map(_array, values)) for values in each.data_sets[0][:2])
            yield Case(each.name, each.model, inputs, outputs, each.rtol or 1e-3, each.atol or 1e-7)


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, (list, tuple)) or value is None else np.asarray(value)


def model_of(case: Case) -> tuple[Any, list[Any]]:
    """The model of a case, and the arrays that it takes; small operands are constants where the model needs them."""
    try:
        return from_onnx(case.model), case.inputs
    except ValueError:
        pass
    fixed = onnx.ModelProto()
    fixed.CopyFrom(case.model)
    for info, value in zip(case.model.graph.input, case.inputs, strict=True):
        if isinstance(value, np.ndarray) and value.ndim <= 1 and value.size <= 64:
            fixed.graph.initializer.append(numpy_helper.from_array(value, info.name))
    model = from_onnx(fixed)
    infos = zip(case.model.graph.input, case.inputs, strict=True)
    return model, [value for info, value in infos if info.name in model.inputs]


def outcome(case: Case, mode: str) -> str:
    """"passed", why a case is not supported, or what is wrong with it."""
    try:
        model, arrays = model_of(case)
    except ValueError as error:
        reasons = (reason for pattern, reason in BEYOND.items() if re.search(pattern, str(error)))
        return next(reasons, f"error: {error}")
    results = model.function(mode=mode)(*arrays)
    results = results if isinstance(results, list) else [results]
    wanted = case.outputs
    if len(wanted) == 1 and isinstance(wanted[0], list):
        wanted = wanted[0]
    for result, expected in zip(results, wanted, strict=True):
        problem = _difference(case, result, expected)
        if problem:
            return problem
    return "passed"


def _difference(case: Case, result: np.ndarray, expected: np.ndarray) -> str:
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f"wrong type: {result.dtype}{result.shape}, expected {expected.dtype}{expected.shape}"
    if case.name in NEAR:
        return "" if np.allclose(result, expected, rtol=2e-3, atol=1e-3) else "wrong values"
    atol = max(case.atol, 1e-6)
    same = np.allclose(result, expected, rtol=case.rtol, atol=atol, equal_nan=expected.dtype.kind in "fc")
    return "" if same else f"wrong values: {result.ravel()[:4]}, expected {expected.ravel()[:4]}"
