"""The linker: a rewritten FunctionGraph of PyTensor becomes one compiled function of ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from pytensor.link.basic import JITLinker
from pytensor.tensor.random.op import RandomVariable

from ...function.function import function
from ...ops.random.numpy_draws import ParameterError
from .building import Conversion
from .converters.linalg import BATCHED
from .converters.products import BATCHES
from .forms import Form, form_of
from .rewrites import inner_rewriter

_WORDS: tuple[tuple[str, str, type[Exception]], ...] = (
    ("whose pattern does not broadcast", "Runtime broadcasting not allowed", ValueError),
    (" in dimshuffle(", "Attempting to squeeze axes with size not equal to one", ValueError),
    ("SpecifyShape: expected length", "SpecifyShape", AssertionError),
    ("the mask has length", "boolean index did not match", IndexError),
    (" has length ", "The type's shape is not compatible with the data's; declare None for such a length", TypeError),
    (BATCHES, "Shapes must match along batch", TypeError),
)  # fmt: skip
"""PyTensor's words and class of error by what our message has."""


class ArignoteLinker(JITLinker):  # type: ignore[misc]  # PyTensor is not typed here
    """A linker that compiles a whole graph.

    Args:
        strict: Whether an op without a converter is an error, and not run by its own `perform`.
        mode: The mode of our function, such as "fast_run -inplace".
        threads: How many threads a call may use.
    """

    required_rewrites: ClassVar[tuple[str, ...]] = ("minimum_compile",)
    incompatible_rewrites: ClassVar[tuple[str, ...]] = (
        "cxx_only", "BlasOpt", "fusion", "inplace", "local_careduce_fusion", "scan_save_mem", "scan_save_mem_prealloc",
        "scan_make_inplace", "reuse_decomposition_multiple_solves", "scan_split_non_sequence_decomposition_and_solve",
        "local_usmm",
    )  # fmt: skip
    """`local_usmm` asks for the flags of a BLAS, so PyTensor runs gcc, and warns if it finds none."""

    def __init__(self, strict: bool = False, mode: Any = None, threads: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.strict: bool = strict
        self.mode: Any = mode
        self.threads: int | None = threads
        self.profiled: bool = False
        """Whether our function counts what its nodes cost, since PyTensor's has a profile."""
        self._compiled: Compiled | None = None

    def clone(self, allow_gc: Any = None) -> ArignoteLinker:
        """Return a linker with the same options."""
        kept = self.allow_gc if allow_gc is None else allow_gc
        return type(self)(self.strict, self.mode, self.threads, allow_gc=kept)

    def accept(self, fgraph: Any, no_recycling: Any = None, profile: Any = None) -> ArignoteLinker:
        """Return a linker for this graph."""
        found = self if self.fgraph is None or self.fgraph is fgraph else self.clone()
        found.profiled = bool(profile)
        return super(ArignoteLinker, found).accept(fgraph, no_recycling, profile)  # type: ignore[no-any-return]

    def compiled(self) -> Compiled:
        """Return the compiled graph.  It is pickled with the linker, so that no other process optimizes it again."""
        if self._compiled is None:
            self._compiled = Compiled(self)
        return self._compiled

    def create_jitable_thunk(
        self, compute_map: Any, order: Any, input_storage: Any, output_storage: Any, storage_map: Any
    ) -> Any:
        compiled = self.compiled()
        thunk: Any = compiled.thunk([storage_map[v] for v in self.fgraph.inputs])
        thunk.inputs = [storage_map[v] for v in self.fgraph.inputs]
        thunk.outputs = [storage_map[v] for v in self.fgraph.outputs]
        thunk.lazy = False
        return [thunk], [], compiled

    def make_all(self, input_storage: Any = None, output_storage: Any = None, storage_map: Any = None) -> Any:
        made = super().make_all(input_storage, output_storage, storage_map)
        made[0].allow_gc = False  # a thunk returns its results and keeps none
        return made

    def fgraph_convert(self, *args: Any, **options: Any) -> Any:
        """Raise: PyTensor's own parts of a JIT linker are not used."""
        raise NotImplementedError("the graph is compiled as a whole")

    create_thunk_inputs = jit_compile = None


class Compiled:
    """A graph of PyTensor compiled by us: our function, and the forms of its arguments and results."""

    def __init__(self, linker: ArignoteLinker, own: frozenset[type] = frozenset()) -> None:
        graph = linker.fgraph
        conversion = Conversion(linker.strict and not own, inner_rewriter(linker), own)
        inputs, outputs = conversion.function_graph(graph)
        self.remarks: tuple[str, ...] = tuple(conversion.remarks)
        self.raises: dict[Any, Any] = dict(conversion.raises)
        self.function = function(
            inputs, outputs, mode=linker.mode, name=graph.name or "pytensor", on_unused_input="ignore",
            threads=linker.threads, profile=linker.profiled,
        )  # fmt: skip
        self.inputs: list[Form] = [form_of(v.type) for v in graph.inputs]
        self.outputs: list[Form] = [form_of(v.type) for v in graph.outputs]
        self.is_plain: bool = all(type(form) is Form for form in (*self.inputs, *self.outputs))
        """Whether all arguments and results are tensors."""
        self._linker: ArignoteLinker | None = linker
        self._careful: Compiled | None = None

    def thunk(self, storages: Sequence[list[Any]]) -> Callable[..., list[Any]]:
        """Return the function without inputs that reads `storages` and returns all results, whichever are wanted."""
        call = self.call

        def thunk(output_subset: Any = None) -> list[Any]:
            return call([storage[0] for storage in storages])

        return thunk

    def call(self, values: Sequence[Any]) -> list[Any]:
        """Return the results for the values of all inputs."""
        try:
            if self.is_plain:
                return self.function(*values)  # type: ignore[no-any-return]
            arrays = [a for form, value in zip(self.inputs, values, strict=True) for a in form.arrays(value)]
            found = iter(self.function(*arrays))
            return [form.value([next(found) for _ in range(form.count)]) for form in self.outputs]
        except Exception as error:
            return self.after(error, values)

    def after(self, error: Exception, values: Sequence[Any]) -> list[Any]:
        """Return the results of a call that failed in our linear algebra or draws; raise other errors as PyTensor's.

        PyTensor's factorizations give NaN for a matrix that has no factors, and samplers rely on that.  Draws in C know
        PCG64 alone, and leave messages about parameters to NumPy.  Such a call runs again with PyTensor's own ops.
        """
        if isinstance(error, (np.linalg.LinAlgError, ParameterError)) and self._linker is not None:
            if self._careful is None:
                self._careful = Compiled(self._linker, frozenset((*BATCHED, RandomVariable)))
                self._careful._linker = None  # its errors are PyTensor's own
            return self._careful.call(values)
        raise self._translated(error) from error.__cause__

    def _translated(self, error: Exception) -> Exception:
        """Return an error as PyTensor's: a failed check in the class that the check names."""
        message = str(error)
        for text, kind in sorted(self.raises.items(), key=lambda pair: -len(pair[0])):  # one may be part of another
            if text in message:
                made = kind(text)
                if isinstance(made, Exception):
                    return made.with_traceback(error.__traceback__)
        for text, words, kind in _WORDS:
            if text in message:
                return kind(f"{words}: {message}").with_traceback(error.__traceback__)
        return error
