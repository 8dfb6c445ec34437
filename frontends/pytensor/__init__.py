"""PyTensor's programs, run by Arignote: `mode="ARIGNOTE"`, registered when this package is imported.

    import arignote.frontends.pytensor
    f = pytensor.function([x], y, mode="ARIGNOTE")
    f.arignote                       # our function: graph, trace, profile, report

    functions.py    the mode and its functions, whose calls go to C directly
    linker.py       a rewritten graph as one compiled function
    rewrites.py     which of PyTensor's rewrites run first
    building.py     nodes, one after the other, as expressions
    table.py        converters by class of ops
    converters/     converters, a file a subject
    forms.py        PyTensor's types as arrays; states of random generators are in ops/random/generator_states.py
    scipy_draws.py  draws of SciPy's distributions
    performing.py   ops without a converter, run by their own `perform`
    measuring.py    times of a model; worker.py, command.py: `python -m arignote pymc-bench`
    versions.py     the versions of PyTensor that this package knows
"""

from . import versions  # isort: skip  # raises where PyTensor is missing or of another version
from pytensor.compile.mode import Mode, predefined_linkers

from .building import Conversion, ConversionError
from .converters import registered
from .functions import ArignoteFunction, install
from .linker import ArignoteLinker
from .rewrites import QUERY, rewrite_inner_graphs
from .table import Call, converter, scalar

NAME = "ARIGNOTE"
predefined_linkers.setdefault("arignote", ArignoteLinker())
rewrite_inner_graphs(ArignoteLinker)
install(NAME, Mode(predefined_linkers["arignote"], QUERY))

__all__ = [
    "NAME", "ArignoteFunction", "ArignoteLinker", "Call", "Conversion", "ConversionError", "converter",
    "registered", "scalar", "versions",
]  # fmt: skip
