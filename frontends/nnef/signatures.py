"""The parameters of NNEF's ops: operands, then attributes with their defaults, as the specification lists them."""

from __future__ import annotations

from typing import Any

NONE = object()
"""Stands for a parameter that has no default."""
_UNARY = """
    copy neg rcp exp log sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh abs sign not floor ceil round sqr
    sqrt rsqr rsqrt log2 relu sigmoid softplus silu
""".split()  # noqa: SIM905
_BINARY = "add sub mul div pow lt gt le ge eq ne and or min max".split()  # noqa: SIM905
_WINDOWS: dict[str, Any] = {"border": "constant", "padding": [], "stride": [], "dilation": []}
_POOL: dict[str, Any] = {"size": NONE, **_WINDOWS}

OPERANDS: dict[str, dict[str, Any]] = {
    **{op: {"x": NONE} for op in _UNARY}, **{op: {"x": NONE, "y": NONE} for op in _BINARY},
    "select": {"condition": NONE, "true_value": NONE, "false_value": NONE}, "clamp": {"x": NONE, "a": NONE, "b": NONE},
    "prelu": {"x": NONE, "alpha": NONE}, "gather": {"input": NONE, "indices": NONE}, "matmul": {"A": NONE, "B": NONE},
    "linear": {"input": NONE, "filter": NONE, "bias": 0.0}, "conv": {"input": NONE, "filter": NONE, "bias": 0.0},
    "batch_normalization": {"input": NONE, "mean": NONE, "variance": NONE, "offset": 0.0, "scale": 1.0},
    "concat": {"values": NONE}, "stack": {"values": NONE}, "split": {"value": NONE}, "external": {}, "variable": {},
    "constant": {}, "softmax": {"x": NONE}, "elu": {"x": NONE}, "leaky_relu": {"x": NONE}, "softabs": {"x": NONE},
    "add_n": {"x": NONE}, "copy_n": {"x": NONE},
}  # fmt: skip
"""The operands of each op; those that are not here have one, `input`."""
ATTRIBUTES: dict[str, dict[str, Any]] = {
    "external": {"shape": NONE}, "variable": {"shape": NONE, "label": NONE}, "constant": {"shape": NONE, "value": NONE},
    "leaky_relu": {"alpha": NONE}, "elu": {"alpha": 1.0}, "softabs": {"epsilon": NONE}, "softmax": {"axes": [1]},
    **{f"{kind}_reduce": {"axes": NONE} for kind in ("max", "min", "mean", "any", "all", "argmax", "argmin")},
    "sum_reduce": {"axes": NONE, "normalize": False},
    "reshape": {"shape": NONE, "axis_start": 0, "axis_count": -1}, "squeeze": {"axes": NONE}, "gather": {"axis": 0},
    "unsqueeze": {"axes": NONE}, "transpose": {"axes": NONE}, "concat": {"axis": NONE}, "stack": {"axis": NONE},
    "split": {"axis": NONE, "ratios": NONE}, "slice": {"axes": NONE, "begin": NONE, "end": NONE, "stride": []},
    "pad": {"padding": NONE, "border": "constant", "value": 0.0}, "tile": {"repeats": NONE},
    "matmul": {"transposeA": False, "transposeB": False}, "conv": {**_WINDOWS, "groups": 1}, "max_pool": _POOL,
    "avg_pool": _POOL, "box": {**_POOL, "normalize": False}, "copy_n": {"times": NONE},
    "batch_normalization": {"epsilon": NONE}, "l1_normalization": {"axes": NONE, "bias": 0.0, "epsilon": 0.0},
    "l2_normalization": {"axes": NONE, "bias": 0.0, "epsilon": 0.0},
}  # fmt: skip
"""The attributes of each op; those that are not here have none."""
