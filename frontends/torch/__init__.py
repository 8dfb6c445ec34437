"""PyTorch's programs, run by Arignote: `torch.compile(model, backend="arignote")` and `ag.from_torch(module, inputs)`.

model.py        exported programs as models with named parameters: `ag.from_torch` in ../torch_modules.py
arguments.py    arguments of their calls
backend.py      the backend of `torch.compile`: graphs of inference, of forward and backward passes
calls.py        calls of a compiled graph with tensors, whose memory is shared
layers.py       recurrent layers as one op, before AOTAutograd unrolls them
settings.py     the options of the backend
building.py     nodes of `torch.fx`, one after the other, as expressions
table.py        converters by op
converters/     converters, a file a subject
symbols.py      arithmetic of lengths that the call decides
dtypes.py       dtypes, promotion, tensors as arrays
performing.py   ops without a converter, run by PyTorch
coverage.py     the table of ops
"""

from . import versions  # isort: skip  # raises where PyTorch is missing or too old
from .building import Conversion, ConversionError
from .converters import registered
from .model import TorchModel, model_of
from .table import Call, converter

__all__ = ["Call", "Conversion", "ConversionError", "TorchModel", "converter", "model_of", "registered", "versions"]
