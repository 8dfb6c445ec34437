"""ONNX models as expressions: `ag.from_onnx(path)`.

    model.py       the model as it is given to users: inputs, outputs, parameters, functions
    loading.py     a file or a ModelProto, checked before anything is built
    building.py    nodes, one after the other, as expressions; subgraphs and functions
    node.py        one node: attributes, version, errors that name it
    values.py      tensors, dtypes, and vectors whose elements are known one by one
    table.py       converters by domain and op
    convert_*.py   converters, a file a subject
"""

from .loading import OnnxError
from .model import OnnxModel, from_onnx
from .table import converter

__all__ = ["OnnxError", "OnnxModel", "converter", "from_onnx"]
