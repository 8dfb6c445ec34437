"""An ONNX model as it is given to users: `ag.from_onnx(path)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...graph import Variable, gc_paused
from ...networks.imported import ImportedModel
from ...ops.core.shared import shared
from ...ops.core.tensor import TensorConstant, constant
from ...record.memory import return_freed_memory
from .converters import registered as converters  # noqa: F401  # they register themselves
from .reading.alternatives import Choice, of_any_rank
from .reading.building import Builder, declared_format
from .reading.edges import UNKNOWN, EdgeFunction, variable_of
from .reading.loading import OnnxError, load, versions_of
from .reading.narrow import format_of, narrow, value_of
from .reading.table import Converter
from .reading.text import Words


class OnnxModel(ImportedModel):
    """A model: `inputs` and `outputs` are variables by name, `parameters` its weights by name.

    A sequence is a list of variables.  A string is its position in `words.every`; an output of a rank that only the
    run decides is a list of two vectors, its elements and its lengths.  A value of a dtype of few bits (bfloat16,
    float8, int4, ...) is a variable of a wider dtype, and `narrow` has its name.  Arrays given and returned have the
    dtype of the package `ml_dtypes`.

    Called with arrays, by position or by name, it returns an array, or a list if there are several outputs.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], parameters: Mapping[str, Any],
        words: Words,
    ) -> None:  # fmt: skip
        self.words = words
        self._inputs, self._outputs = dict(inputs), dict(outputs)
        values = [{n: value_of(v) for n, v in named.items()} for named in (inputs, outputs, parameters)]
        super().__init__(name, *values)
        edges = {**parameters, **inputs, **outputs}
        self.narrow: dict[str, Any] = {n: format_of(v).ml_name for n, v in edges.items() if format_of(v) is not None}
        """The narrow dtypes of inputs, outputs and parameters by name."""

    def function(self, **options: Any) -> Any:
        """The compiled function of the model; `options` are those of `ag.function`."""
        made = super().function(**options)
        return EdgeFunction(made, self._inputs, self._outputs, self.words) if self.is_wide else made

    @property
    def is_wide(self) -> bool:
        """Whether arguments and results differ from the variables' types: sequences, or dtypes of few bits."""
        return bool(self.narrow) or any(isinstance(v, list) for v in (*self.inputs.values(), *self.outputs.values()))

    def as_function(self) -> Any:
        """The function of the model for `ag.freeze`, `ag.quantize`, `ag.batched`, `ag.tune` and `ag.on_dask`.

        Raises TypeError for a model with sequences or dtypes of few bits, whose arguments are converted.
        """
        if self.is_wide:
            what = ", ".join(sorted(set(self.narrow.values()))) or "sequences"
            raise TypeError(f"{self.name} takes or returns {what}; its .function() converts them")
        return self._function

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {self.described(name, v)}" for name, v in self.inputs.items())
        return f"<ONNX model {self.name}({inputs}) -> {', '.join(self.outputs)}>"

    def form(self, name: str) -> Any:
        """The narrow dtype of an input or output; None for all others."""
        return format_of({**self._outputs, **self._inputs}[name])

    def described(self, name: str, value: Any) -> str:
        """The type of an input or output, as the model names it."""
        if isinstance(value, list):
            return f"[{', '.join(self.described(name, v) for v in value)}]"
        text = str(value.type)
        return text.replace(value.dtype, self.narrow[name], 1) if name in self.narrow else text


def from_onnx(
    source: Any, trainable: bool = False, ops: Mapping[str, Converter] | None = None,
    shapes: Mapping[str, Sequence[Any] | None] | None = None,
) -> OnnxModel:  # fmt: skip
    """The model in an ONNX file, as expressions.

    Args:
        source: a path, the bytes of a file, or an `onnx.ModelProto`.
        trainable: whether weights of floats become shared variables, which can be updated; else they are constants.
        ops: converters by the name of an op ("Relu", "my.domain.Op"): functions from a node and its operands, None
            for those left out, to a value, or a tuple of one an output.
        shapes: known lengths of inputs by name, None for a length that only the call tells, in the place of those that
            the model names; for a sequence a list of lengths, one entry a tensor; None for an optional value that
            is left out.

    Raises:
        OnnxError: a ValueError that names the node, the operand, what was expected and what came.
        ImportError: the package `onnx` is not installed.

    Source of the format: the ONNX specification, op sets 7 to 28.
    """
    model = _read(source, trainable, ops, shapes)
    return_freed_memory()  # the bytes of the file, and the messages made of them
    return model


@gc_paused
def _read(
    source: Any, trainable: bool, ops: Mapping[str, Converter] | None, shapes: Mapping[str, Sequence[Any] | None] | None
) -> OnnxModel:
    """The model, as `from_onnx` describes it."""
    model, folder = load(source)
    graph = model.graph
    functions = {(f.domain, f.name): f for f in model.functions}
    words = Words()
    builder = Builder(versions_of(model), functions, folder, dict(ops or {}), words)
    builder.refuse_unknown(graph)
    parameters: dict[str, Any] = {}

    def made(name: str, array: np.ndarray) -> Variable:
        weight = trainable and array.dtype.kind == "f" and array.ndim > 0
        if weight:
            return shared(array, name=name, shape=array.shape)
        return constant(array) if array.flags.writeable else TensorConstant(array)  # the file's own pages, not copied

    scope: dict[str, Any] = dict(builder.initializers(graph, made))
    parameters.update({t.name: scope[t.name] for t in graph.initializer})
    given = dict(shapes or {})
    inputs = {i.name: variable_of(i, given.pop(i.name, UNKNOWN)) for i in graph.input if i.name not in scope}
    if given:
        raise OnnxError(f"shapes names {min(given)!r}; the inputs are {', '.join(inputs) or 'none'}")
    with np.errstate(all="ignore"):  # values that are not finite pass through
        names = {**scope, **inputs}
        values = builder.run(graph, names)
    outputs = {o.name: _declared(o, value, names) for o, value in zip(graph.output, values, strict=True)}
    present = {name: value for name, value in inputs.items() if value is not None}
    return OnnxModel(graph.name or "model", present, outputs, parameters, words)


def _declared(info: Any, value: Any, scope: Mapping[str, Any]) -> Any:
    """An output; its narrow dtype is the declared one where converters of the user say none."""
    if isinstance(value, Choice):
        return of_any_rank(value, scope, lambda problem: OnnxError(f"output {info.name!r} {problem}"))
    form = declared_format(info.type)
    if form is None or format_of(value) is not None:
        return value
    try:
        return narrow(form.rounded(value) if isinstance(value, Variable) else value, form)
    except TypeError as error:
        raise OnnxError(f"output {info.name!r} is declared as {form.name}: {error}") from None
