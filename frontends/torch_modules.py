"""`ag.from_torch`: the name is there without PyTorch, which its first call loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..record import lazy

if TYPE_CHECKING:
    from .torch import TorchModel

front_end: Any = lazy.module(".torch", __package__)


def from_torch(
    source: Any, example_inputs: Sequence[Any] | None = None, kwargs: Mapping[str, Any] | None = None, *,
    dynamic_shapes: Any = None, strict: bool = False,
) -> TorchModel:  # fmt: skip
    """The expressions of a PyTorch module, or of a program that `torch.export` made.

    Args:
        source: a module, an `ExportedProgram`, or the path of a `.pt2` archive.
        example_inputs: for a module its arguments by position; the export traces their dtypes and lengths.
        kwargs: its arguments by name.
        dynamic_shapes: the lengths that stay open, as `torch.export.export` takes them.
        strict: refuse ops without a converter; by default PyTorch runs them in each call, and `remarks` names them.

    Raises:
        ConversionError: a NotImplementedError that names the op, the module and the user's line.
        ImportError: PyTorch is not installed, or too old.
        TypeError: a module without example inputs.
    """
    model: TorchModel = front_end.model_of(source, example_inputs, kwargs, dynamic_shapes, strict)
    return model
