"""ONNX models as expressions, `ag.from_onnx(path)`, and expressions as ONNX models, `ag.to_onnx(f, path)`.

    model.py         the model as it is given to users: inputs, outputs, parameters, functions
    loading.py       a file or a ModelProto, checked before anything is built
    mapped.py        a file without its large weights, which are mapped
    building.py      nodes, one after the other, as expressions; subgraphs and functions
    node.py          one node: attributes, version, errors that name it
    values.py        tensors, dtypes, and vectors whose elements are known one by one
    narrow.py        dtypes of few bits: their numbers and their rounding
    text.py          strings as codes
    alternatives.py  values whose rank the run decides; computed_axes.py: axes that the run computes
    edges.py         arrays, sequences and optional values that users give and get
    table.py         converters by domain and op
    convert_*.py     converters, a file a subject
    command.py       `python -m arignote onnx`

    saving.py        the model of a function or of expressions: names, inputs, outputs, initializers
    writing.py       nodes of ours as nodes of ONNX, one after the other; subgraphs
    write_*.py       the ONNX nodes of each op, a file a subject

    runtime_engine.py                       the engine that runs graphs by ONNX Runtime, and nodes that it refuses

    loading, model, building, node, values       a file, the model, its nodes and values as expressions
    table, converters, convert_elementwise, convert_reductions, convert_shapes, convert_indexing, convert_products,
    convert_windows, convert_normalization, convert_images, convert_resize, convert_recurrent, convert_quantized,
    convert_qlinear, convert_control, convert_sequences, convert_ml, convert_svm, convert_trees    ops by subject
    scores, forests                              labels and scores of classifiers, arrays of decision trees
    narrow, text, edges                          dtypes of few bits, strings, edges of a model
    alternatives, computed_axes                  ranks and axes that the run decides
    host_ops, free_loops                         ops that NumPy runs, loops of states that grow
    saving, writing, write_elementwise, write_arrays, write_indexing, write_control, write_quantized    to ONNX
    command                                      `python -m arignote onnx`
"""

from .model import OnnxModel, from_onnx
from .reading.loading import OnnxError
from .reading.table import converter
from .writing.saving import to_onnx

__all__ = ["OnnxError", "OnnxModel", "converter", "from_onnx", "to_onnx"]
