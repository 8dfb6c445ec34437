"""The cases of ONNX's own conformance suite: models of one op each, with inputs and expected outputs.

    python tests/lib/frontends/onnx_cases.py > docs/onnx-conformance.md
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from arignote.frontends.onnx import from_onnx

BEYOND = {
    r"the dtype string is not supported|no converter for (String|Regex|TfIdf)": "text",
    r"no converter for ImageDecoder": "compressed images",
    r"no converter for RandomUniformLike|Random\w+ .*no converter": "random numbers, which the suite does not compare",
    r"drops elements in training mode": "random numbers, which the suite does not compare",
}
"""Errors of cases that are not supported, and what they need."""
NEAR = {
    **dict.fromkeys(["test_attention_4d_causal_fp16", "test_attention_4d_causal_fp16_expanded"], 2e-3),
    **{
        f"test_attention_{kind}_bf16{expanded}": 2**-6
        for kind in ("3d_causal", "4d_causal", "4d_padded_kv", "4d_causal_padded_kv", "4d_attn_mask_causal")
        for expanded in ("", "_expanded")
    },
}
"""Cases whose products are summed in float16 or bfloat16 by the suite, and relative differences to exact sums."""


class Case(NamedTuple):
    """One case: `inputs` and `outputs` are arrays, or lists of arrays for sequences."""

    name: str
    model: Any
    inputs: list[Any]
    outputs: list[Any]
    rtol: float
    atol: float


def cases() -> Iterator[Case]:
    """The cases of ops in the standard domain and in that of estimators.

    NumPy's global generator, which the suite seeds, is put back.
    """
    state = np.random.get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    np.random.set_state(state)
    for each in found:
        if not {node.domain for node in each.model.graph.node} - {"", "ai.onnx.ml"}:
            inputs, outputs = (list(map(_array, values)) for values in each.data_sets[0][:2])
            yield Case(each.name, each.model, inputs, outputs, each.rtol or 1e-3, each.atol or 1e-7)


def _array(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return value if isinstance(value, (list, tuple)) or value is None else np.asarray(value)


FIXED = (
    "if_opt", "loop13_seq", "loop16_seq_none", "split_to_sequence_1", "split_to_sequence_2",
    "training_dropout_zero_ratio", "training_dropout_zero_ratio_mask",
)  # fmt: skip
"""Cases whose operands decide how many elements a sequence has, or what is dropped: these are constants."""


def model_of(case: Case) -> tuple[Any, list[Any]]:
    """The model of a case, and the arrays that it takes."""
    infos = list(zip(case.model.graph.input, case.inputs, strict=True))
    shapes = {i.name: _lengths(v) for i, v in infos if i.type.WhichOneof("value") != "tensor_type"}
    if case.name.removeprefix("test_") not in FIXED:
        return from_onnx(case.model, shapes=shapes), [v for v in case.inputs if v is not None]
    fixed = onnx.ModelProto()
    fixed.CopyFrom(case.model)
    for info, value in infos:
        if isinstance(value, np.ndarray) and value.ndim <= 1 and value.size <= 64:
            fixed.graph.initializer.append(numpy_helper.from_array(value, info.name))
    model = from_onnx(fixed, shapes=shapes)
    return model, [value for info, value in infos if info.name in model.inputs]


def _lengths(value: Any) -> Any:
    """Description of an input that is no tensor, for from_onnx."""
    return [np.shape(v) for v in value] if isinstance(value, (list, tuple)) else None if value is None else value.shape


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
    if len(wanted) == 1:
        results, wanted = _as_list(results), _as_list(wanted)
    for result, expected in zip(results, wanted, strict=True):
        for one, other in zip(_as_list([result]), _as_list([expected]), strict=True):
            problem = _difference(case, one, other)
            if problem:
                return problem
    return "passed"


def _as_list(values: Any) -> Any:
    """The elements of a sequence that is the only value."""
    return values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values


def _difference(case: Case, result: np.ndarray, expected: np.ndarray) -> str:
    if result.dtype != expected.dtype or result.shape != expected.shape:
        return f"wrong type: {result.dtype}{result.shape}, expected {expected.dtype}{expected.shape}"
    if case.name in NEAR:
        near = np.allclose(result.astype("f8"), expected.astype("f8"), rtol=NEAR[case.name], atol=1e-3)
        return "" if near else "wrong values"
    if result.dtype.isbuiltin != 1:  # of few bits
        return "" if _same_bits(result, expected) else f"wrong values: {result.ravel()[:4]}, {expected.ravel()[:4]}"
    atol = max(case.atol, 1e-6)
    same = np.allclose(result, expected, rtol=case.rtol, atol=atol, equal_nan=expected.dtype.kind in "fc")
    return "" if same else f"wrong values: {result.ravel()[:4]}, expected {expected.ravel()[:4]}"


def _same_bits(result: np.ndarray, expected: np.ndarray) -> bool:
    ours, theirs = result.astype("float64"), expected.astype("float64")
    return bool(np.allclose(ours, theirs, rtol=0, atol=0, equal_nan=True))


# --- the page of the documentation


PAGE = """# ONNX conformance

`python tests/lib/frontends/onnx_cases.py` writes this page. It runs the cases of `onnx.backend.test` for ops of the
standard domain and of `ai.onnx.ml` (onnx {version}).

Of {count} cases {passed} pass ({share:.1%}). The others are refused when the model is read, with an error that names
the node; none gives a wrong number.

| cases | reason | names |
|---|---|---|
{rows}

The cases run as they are, with operands such as axes and shapes as inputs. Only {fixed} are read with their small
operands as constants: {names}.
These operands decide how many elements a sequence has, or whether a dropout drops elements.

{near} cases with attention in float16 and bfloat16 agree to two units in the last place. The suite sums their products
in the narrow dtype; Arignote sums them in float32 and rounds once.
"""


def page(tried: Mapping[str, str]) -> str:
    """The conformance table from the outcome of each case."""
    missing: dict[str, list[str]] = {}
    for name, message in sorted(tried.items()):
        if message != "passed":
            missing.setdefault(message, []).append(name.removeprefix("test_"))
    passed = len(tried) - sum(map(len, missing.values()))
    rows = "\n".join(f"| {len(names)} | {reason} | {_in_code(names)} |" for reason, names in missing.items())
    return PAGE.format(
        version=onnx.__version__, count=len(tried), passed=passed, share=passed / len(tried), rows=rows, near=len(NEAR),
        fixed=len(FIXED), names=_in_code(FIXED),
    )


def _in_code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(page({case.name: outcome(case, "NUMPY") for case in cases()}), end="")
