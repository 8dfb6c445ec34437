"""NNEF models as expressions: `ag.from_nnef(folder)`.

    parsing.py    the text of a graph as a tree
    signatures.py the parameters of each op and their defaults
    reading.py    a folder with graph.nnef and tensors as expressions; the model
    table.py      converters by op; operands aligned as the format broadcasts them
    convert_*.py  converters, a file a subject
"""

from .reading import NnefError, NnefModel, from_nnef

__all__ = ["NnefError", "NnefModel", "from_nnef"]
