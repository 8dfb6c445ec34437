"""NNEF models as expressions, `ag.from_nnef(folder)`, and expressions as NNEF models, `ag.to_nnef(f, folder)`.

    parsing.py    the text of a graph as a tree
    signatures.py the parameters of each op and their defaults
    reading.py    a folder with graph.nnef and tensors as expressions; the model
    table.py      converters by op; operands aligned as the format broadcasts them
    convert_*.py  converters, a file a subject

    saving.py     the model of a function or of expressions: names, inputs, outputs, files
    writing.py    nodes of ours as lines of a graph; tensor files
    write_*.py    the lines of each op, a file a subject; elementwise ops by the reader's table
"""

from .reading import NnefError, NnefModel, from_nnef
from .saving import to_nnef

__all__ = ["NnefError", "NnefModel", "from_nnef", "to_nnef"]
