"""Inputs and outputs of a model: arrays of narrow dtypes, sequences, and optional values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....graph import TensorType, Variable
from ....ops.core.tensor import TensorVariable
from ....record.spelling import counted
from .alternatives import AnyRank
from .narrow import FORMATS, format_of, narrow, value_of
from .node import OnnxError
from .text import Words
from .values import dtype_of

UNKNOWN = object()
"""Mark of unknown lengths."""


def variable_of(info: Any, given: Any = UNKNOWN) -> Any:
    """The variable of an input, a list of them for a sequence, None for an optional value that is left out.

    `given` are the lengths that the user gives: of each element for a sequence, None for no value.
    """
    kind, of, optional = info.type, info.type.WhichOneof("value"), False
    if of == "optional_type":
        kind, optional = kind.optional_type.elem_type, True
        of = kind.WhichOneof("value")
        if given is None:
            return None
    if of == "sequence_type":
        kind = kind.sequence_type.elem_type
        if given is UNKNOWN or given is None or kind.WhichOneof("value") != "tensor_type":
            raise OnnxError(
                f"input {info.name!r} is a sequence; give the lengths of each of its tensors, as in "
                f"shapes={{{info.name!r}: [(2, 3), (4, 3)]}}" + ", or None for no value" * optional
            )
        every = [_tensor(f"{info.name}{k}", kind.tensor_type, lengths) for k, lengths in enumerate(given)]
        form = FORMATS.get(kind.tensor_type.elem_type)
        return narrow(every, form)
    if of != "tensor_type":
        raise OnnxError(f"input {info.name!r} is a {of or 'value without a type'}; expected a tensor")
    return narrow(_tensor(info.name, kind.tensor_type, given), FORMATS.get(kind.tensor_type.elem_type))


def _tensor(name: str, tensor: Any, given: Any) -> Variable:
    """The variable of a tensor."""
    dtype = dtype_of(tensor.elem_type, lambda problem: OnnxError(f"input {name!r}: {problem}"))
    if given is None:
        raise OnnxError(f"shapes gives None for the input {name!r}, which is a tensor and cannot be left out")
    if not tensor.HasField("shape") and given is UNKNOWN:
        raise OnnxError(f"input {name!r} has no rank; say its lengths, as in shapes={{{name!r}: (None, 3)}}")
    named = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in tensor.shape.dim]
    lengths = tuple(named if given is UNKNOWN else given)
    if given is not UNKNOWN and tensor.HasField("shape") and len(lengths) != len(named):
        given, axes = counted(len(lengths), "length"), counted(len(named), "axis")
        raise OnnxError(f"shapes gives {given} for the input {name!r}, which has {axes}")
    return TensorVariable(TensorType(dtype, lengths), name=name)


class EdgeFunction:
    """A compiled function called with arrays as ONNX has them; all else is as with the function itself."""

    def __init__(self, function: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any], words: Words) -> None:
        """`inputs` and `outputs` have a `Narrow` for each value that has a form; `words` are those of the model."""
        self.function: Any = function
        self._words = words
        self._inputs, self._outputs = inputs, outputs

    def __getattr__(self, name: str) -> Any:
        if name == "function":  # asked for before it is there, while an instance is unpickled
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        names = list(self._inputs)
        given = dict(zip(names, arrays)) | named
        wrong = [n for n in names if n not in given]
        wrong = wrong or [n for n in named if n in names[: len(arrays)] or n not in names]
        if wrong or len(arrays) > len(names):
            problem = _problem(wrong, given, len(arrays))
            raise TypeError(f"{self.function.name}: expected {', '.join(names)}; {problem}")
        words = self._words.of_call()
        results = self.function(*[a for name in names for a in self._wide(name, given[name], words)])
        rest = iter(results if isinstance(results, list) else [results])
        found = [_output_of_form(item, rest, words) for item in self._outputs.values()]
        return found[0] if len(found) == 1 else found

    def _wide(self, name: str, value: Any, words: Words) -> list[Any]:
        item = self._inputs[name]
        form, variables = format_of(item), value_of(item)
        if not isinstance(variables, list):
            return [value if form is None else form.given(value, words)]
        if not isinstance(value, Sequence) or len(value) != len(variables):
            got = counted(len(value), "array") if isinstance(value, Sequence) else type(value).__name__
            raise TypeError(
                f"{self.function.name}: {name} must be a sequence of {counted(len(variables), 'array')}, got {got}"
            )
        return [v if form is None else form.given(v, words) for v in value]


def _problem(wrong: Sequence[str], given: Mapping[str, Any], count: int) -> str:
    if not wrong:
        return f"got {counted(count, 'array')}"
    return f"{wrong[0]} is missing" if wrong[0] not in given else f"{wrong[0]} is given twice, or is no input"


def _output_of_form(item: Any, rest: Iterator[Any], words: Words) -> Any:
    """The next output, or outputs, as its form says."""
    form, value = format_of(item), value_of(item)
    if isinstance(form, AnyRank):
        return form.described(next(rest), next(rest), words)
    found = [next(rest) for _ in value] if isinstance(value, list) else [next(rest)]
    found = found if form is None else [form.described(array, words) for array in found]
    return found if isinstance(value, list) else found[0]
