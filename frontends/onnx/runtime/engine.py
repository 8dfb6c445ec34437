"""The engine of ONNX Runtime: a graph becomes an ONNX model, which an `InferenceSession` runs.

    ag.function([x], y, engines=["c", "onnxruntime"])
    ag.register_session_options(...)

A node is supported if `to_onnx` writes it and a session takes the model of it alone, since the runtime lacks kernels
for some dtypes.  Ops whose results differ from NumPy's are refused (`differs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ....engines.engine import Engine, EngineError, Request
from ....engines.estimates import ONNXRUNTIME, work_of
from ....engines.executable import CheckedExecutable
from ....graph import Apply, Constant, FunctionGraph, Variable
from ....graph.text import subgraphs
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Cast
from ....ops.linalg.blas import Dot, MatMul
from ....ops.networks.functions import LogSoftmax, Softmax
from ....ops.networks.pooling import MaxPool
from ....ops.networks.quantized import Quantize
from ....ops.reductions.sorting import ArgSort
from ....record import lazy
from ....targets.processors import processors
from ..reading.values import NUMBER_OF
from ..writing.saving import model_of

onnxruntime: Any = lazy.module("onnxruntime")
_SMALL = 1024
"""Elements of a constant that a trial of a node keeps; larger ones become inputs."""
_QUIET = 4
"""The severity of a log that says fatal errors alone."""
TRIALS = 4096
"""Trials of nodes that are remembered."""
_LESS_EXACT = ("sigmoid", "erfc", "normal_tails", "logaddexp", "sin", "cos", "cbrt")
"""Elementwise ops that are more than 4 units in the last place off there."""


class OnnxRuntimeEngine(Engine):
    """Runs graphs by ONNX Runtime.  `providers`: its accelerators, in order of preference."""

    name = "onnxruntime"
    launch = 15_000_000
    copied_byte = 100

    def __init__(self, providers: Sequence[str] = ("CPUExecutionProvider",)) -> None:
        self.providers: tuple[str, ...] = tuple(providers)

    def missing(self) -> str:
        absent = [name for name in ("onnx", "onnxruntime") if find_spec(name) is None]
        needs = f"it needs the package{'s' * (len(absent) > 1)} {' and '.join(absent)}"
        return f"{needs}; pip install 'arignote[onnxruntime]' installs them" if absent else ""

    def identity(self) -> str:
        return f"onnxruntime {onnxruntime.__version__} {' '.join(self.providers)}"

    def refusal(self, node: Apply) -> str:
        return differs(node) or _trial(_Signature(node))

    def cost(self, node: Apply) -> int:
        """Estimate of a node; measured times take its place."""
        return ONNXRUNTIME.of(work_of(node))

    def compile(self, graph: FunctionGraph, request: Request) -> CheckedExecutable:
        session = _session(model_of(request.name, graph), request.threads, self.providers)
        wanted = [o.name for o in session.get_outputs()]
        given = {i.name for i in session.get_inputs()}
        names = [(k, name) for k, name in enumerate(input_names(graph)) if name in given]

        def run(*arrays: np.ndarray) -> list[np.ndarray]:
            feeds = {name: np.ascontiguousarray(arrays[k]).reshape(arrays[k].shape) for k, name in names}
            try:
                found: list[np.ndarray] = session.run(wanted, feeds)
            except Exception as error:
                raise _failure(request.name, error) from None
            return found

        return CheckedExecutable(self, graph, request, run)


def input_names(graph: FunctionGraph) -> list[str]:
    """Names of the inputs in the model of a graph."""
    return [f"i{k}" for k in range(len(graph.inputs))]


def _failure(name: str, error: Exception) -> EngineError:
    message = str(error).strip().splitlines() or [type(error).__name__]
    return EngineError(f"{name}: engine 'onnxruntime' failed: {message[0]}")


def _session(model: Any, threads: int | None, providers: Sequence[str], optimize: bool = True) -> Any:
    """The session of a model; it raises the runtime's own exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    options.intra_op_num_threads = threads or processors()
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=list(providers))


class _Signature:
    """Cache key of a trial: the op, types and small constants of a node."""

    def __init__(self, node: Apply) -> None:
        self.node = node
        kept = (_kept(i) for i in node.inputs)
        self._key = (node.op, tuple(i.key if k else i.type for i, k in zip(node.inputs, kept, strict=True)))  # type: ignore[attr-defined]
        self._places = tuple(node.inputs.index(i) for i in node.inputs)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Signature) and (self._key, self._places) == (other._key, other._places)

    def graph(self) -> FunctionGraph:
        """The node alone, over inputs."""
        images: dict[Variable, Variable] = {
            i: i if _kept(i) else TensorVariable(i.type) for i in dict.fromkeys(self.node.inputs)
        }
        node = self.node.with_inputs(tuple(images[i] for i in self.node.inputs))
        return FunctionGraph([v for i, v in images.items() if not _kept(i)], node.outputs)


def _kept(variable: Variable) -> bool:
    return isinstance(variable, Constant) and variable.data.size <= _SMALL


@lru_cache(maxsize=TRIALS)
def _trial(signature: _Signature) -> str:
    """Why the runtime does not run a node alone; empty if it does."""
    node = signature.node
    strange = [v.dtype for v in (*node.inputs, *node.outputs) if v.dtype not in NUMBER_OF or v.type.kind == "c"]
    if strange:
        return f"it has no {strange[0]}"
    try:
        _session(model_of("trial", signature.graph()), 1, ("CPUExecutionProvider",), optimize=False)
    except Exception as error:  # of the writer or of the runtime, which has no common class of errors
        return " ".join(str(error).split())[:160] or type(error).__name__
    return ""


def differs(node: Apply) -> str:
    """Why the results or errors of a node are not NumPy's; empty if they are.

    Found by comparing each op with NumPy on special values, on a dense sample of values, and on empty arrays
    (tests/engines/test_partition_values.py).
    """
    op = node.op
    if op.fallible and not isinstance(op, Scan):
        return "its errors would not be NumPy's"
    if isinstance(op, Scan) or op.name == "cumprod":
        return "a loop of no steps loses the lengths of its results there"
    if op.name in _LESS_EXACT:
        return "it is less exact there"
    half_sign = op.name == "sign" and node.outputs[0].dtype == "float16"
    if half_sign or isinstance(op, (Softmax, LogSoftmax, MaxPool, Quantize)):
        return "NaN and infinities give other results there"
    if isinstance(op, ArgSort):
        return "equal elements come in another order there"
    if op.name in ("sum", "prod") and node.outputs[0].type.kind in "iu":
        return "sums and products of large integers are not exact there"
    if isinstance(op, (Dot, MatMul)) and node.outputs[0].dtype in ("uint32", "uint64"):
        return "products of unsigned integers fail there where the inner length is 0"
    if isinstance(op, Cast) and node.inputs[0].type.kind == "f" and node.outputs[0].type.kind in "iu":
        return "floats that no integer is near give other results there"
    inner = (differs(n) for graph in subgraphs(op).values() for n in graph.order)
    return next((reason for reason in inner if reason), "")
