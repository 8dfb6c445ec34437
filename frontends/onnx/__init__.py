"""ONNX models as expressions, `ag.from_onnx(path)`, and expressions as ONNX models, `ag.to_onnx(f, path)`.

    model.py         the model as it is given to users: inputs, outputs, parameters, functions
    loading.py       a file or a ModelProto, checked before anything is built
    building.py      nodes, one after the other, as expressions; subgraphs and functions
    node.py          one node: attributes, version, errors that name it
    values.py        tensors, dtypes, and vectors whose elements are known one by one
    narrow.py        dtypes of few bits: their numbers and their rounding
    edges.py         arrays, sequences and optional values that users give and get
    table.py         converters by domain and op
    convert_*.py     converters, a file a subject
    command.py       `python -m arignote onnx`

    saving.py        the model of a function or of expressions: names, inputs, outputs, initializers
    writing.py       nodes of ours as nodes of ONNX, one after the other; subgraphs
    write_*.py       the ONNX nodes of each op, a file a subject
"""

from .loading import OnnxError
from .model import OnnxModel, from_onnx
from .saving import to_onnx
from .table import converter

__all__ = ["OnnxError", "OnnxModel", "converter", "from_onnx", "to_onnx"]
