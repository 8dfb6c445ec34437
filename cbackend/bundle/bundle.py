"""Bundle: a program as a folder of C that needs no Python; `make` builds a library and an example that calls it.

    NAME.h           what a caller sees: open, run, message, close    header.h
    NAME.hpp         the same in C++, with destructors                header.hpp
    NAME.c           that, in terms of the program                    bundle.c
    NAME_program.c   the generated C, as `f.c_source()` shows it
    NAME.weights     constants, then the values of shared variables
    ag_runtime.c     memory, threads, kernels in parts; ag_products_f32.c ... where they are needed
    NAME_main.c      an example; for a page NAME.js in its place      example.c, web.js
    Makefile

A folder holds one function; objects of several may be linked together, for all that they share is the runtime.
Templates have fields in capitals, each filled once: NAME and UPPER in any name, others as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...graph import TensorType
from ...record import record
from ...record.package_files import package_text
from ...record.quoting import c_comment, c_string, page_json
from ..abi.declarations import declarations
from ..build.cross import Builder
from ..calls.interface import Interface
from ..calls.profile_rows import input_names, texts
from ..driver.driver import c_text
from ..ir.kernel import Status
from ..kernels import OF_ALL_DTYPES, uncovered
from ..kernels.headers import CHOSEN, TABLES, chosen_macro
from ..program.calls import table_kernels
from ..program.outcome import Outcome
from ..program.program import Program
from ..runtime.sources import BYTES, MEMBERS, core_source, libraries, product_source, solver_source
from .makefile import makefile

_HERE = Path(__file__).parent
_FIELD = re.compile(
    r"(?<![A-Za-z0-9])(?:NAME|UPPER)(?![A-Za-z0-9])|\b(?:SIGNATURE|REPORTED|VERSION|RANK|INPUTS|OUTPUTS|SHARED|TYPES)\b"
)
_SENTENCES = {
    Outcome.DONE: "all went well",
    Outcome.MEMORY: "there is no memory for a result",
    Outcome.LENGTHS: "lengths that must agree do not",
    Outcome.DECLARED: "an input has another length than its type says",
    Outcome.MISALIGNED: "an input is not aligned, or overlaps with what is updated",
    Outcome.INDEX: "an index is out of bounds",
    Outcome.ZERO_STEP: "the step of a slice is 0",
    Outcome.NEGATIVE_LENGTH: "a length is negative",
    Outcome.RESHAPE: "a reshaped array has another number of elements",
    Outcome.RANGE: "a range has a step of 0, or bounds that are not finite",
    Outcome.SINGULAR: "a matrix is singular",
    Outcome.NOT_POSITIVE_DEFINITE: "a matrix is not positive definite",
    Outcome.UNREACHED: "an empty array stands beside results that have elements",
    Outcome.WINDOW: "a kernel has no positions, or extends over more than there are",
    Outcome.CHANGED: "a state of a loop changes its shape",
    Outcome.TOO_SHORT: "a sequence ends before a loop does",
    Outcome.NEGATIVE_STEPS: "a number of steps is negative",
    Outcome.PROMISED: "a value does not have the lengths that were promised",
    Outcome.REFUSED: "a value is refused",
    Outcome.INDICES: "arrays of indices do not broadcast",
    Outcome.KERNEL + Status.NEGATIVE_POWER: "an integer is raised to a negative power",
    Outcome.KERNEL + Status.EMPTY_REDUCTION: "a maximum or minimum of no elements is asked for",
    Outcome.KERNEL + Status.INDEX: "an index is out of bounds",
}


@record(eq=False)
class Bundle:
    """A program and the contents of its files.  `name`: a C identifier; `shared`: the values of shared variables."""

    name: str
    signature: str
    version: str
    program: Program
    interface: Interface
    output_names: tuple[str, ...]
    shared: tuple[np.ndarray, ...]
    builder: Builder

    def files(self) -> dict[str, bytes]:
        """Return the files by name."""
        found = {f"{self.name}.h": self._header(), f"{self.name}.c": self._wrapper()}
        found[f"{self.name}_program.c"] = f"#define ag_entry {self.name}_entry\n{c_text(self.program)}"
        found["ag_runtime.c"] = self._runtime()
        called = sorted({chosen_macro(spec) for spec in table_kernels(self.program)})
        chosen = "".join(f"#define {macro}\n" for macro in (CHOSEN, *called))
        for name in uncovered(self.interface.products):
            place = "_".join(libraries()[name])
            renamed = f"#define ag_blas_install ag_install_products_{place}\n"
            found[f"ag_products_{place}.c"] = renamed + chosen + product_source(name)
        for dtype in self.interface.solvers:
            renamed = f"#define ag_lapack_install ag_install_solvers_{MEMBERS[dtype]}\n"
            found[f"ag_solvers_{MEMBERS[dtype]}.c"] = renamed + solver_source(dtype)
        found["Makefile"] = makefile(self.name, [name for name in found if name.endswith(".c")], self.builder)
        found[f"{self.name}.hpp"] = self._filled("header.hpp")
        if self.builder.web:
            found[f"{self.name}.js"] = self._script()
        else:
            found[f"{self.name}_main.c"] = self._filled("example.c")
        return {**{name: text.encode() for name, text in found.items()}, f"{self.name}.weights": self._weights()}

    # --- what there is
    @property
    def _given(self) -> list[int]:
        """Return the inputs that are arguments; the inputs after them are shared variables."""
        return list(range(len(self.interface.inputs) - len(self.shared)))

    @property
    def _rank(self) -> int:
        types = [*(i.type for i in self.interface.inputs), *self.interface.outputs]
        return max((t.ndim for t in types), default=0) or 1

    @property
    def _magic(self) -> str:
        return f"arignote {self.version} {self.name}"

    def _filled(self, file: str, **fields: str) -> str:
        """Return the text of a file of this subpackage with its fields filled: NAME, UPPER and those given."""
        values = {"NAME": self.name, "UPPER": self.name.upper(), **fields}
        text = package_text(_HERE / file).replace('#include "tables.h"\n', "").replace('"header.h"', '"NAME.h"')
        return _FIELD.sub(lambda field: values.get(field[0], field[0]), text)

    # --- files
    def _header(self) -> str:
        names = map(c_comment, input_names(self.program)[len(self._given) :])
        shared = [f"      {k}: {name}" for k, name in enumerate(names)]
        reported = "\n".join(["\n   Shared variables, by number:", *shared]) if shared else ""
        return self._filled(
            "header.h", SIGNATURE=c_comment(self.signature), REPORTED=reported, VERSION=self.version,
            RANK=str(self._rank), INPUTS=str(len(self._given)), OUTPUTS=str(len(self.interface.own_outputs)),
            SHARED=str(len(self.shared)),
        )  # fmt: skip

    def _runtime(self) -> str:
        return "#define AG_STATIC\n" * self.builder.static + core_source(alone=self.builder.alone)

    def _wrapper(self) -> str:
        name, interface = self.name, self.interface
        return "\n".join([
            f"#define ag_entry {name}_entry",
            *(["#define AG_ALONE"] if self.builder.alone else []),
            *(f"#include <{header}.h>" for header in ("stdio", "stdlib", "string", "unistd")),
            f'\n#include "{name}.h"\n',
            declarations(),
            "ag_runtime *ag_runtime_table(uint64_t main_thread, i32 threads);",
            *_declared(interface),
            _installing(interface),
            *self._tables(),
            self._filled("bundle.c"),
        ])  # fmt: skip

    def _script(self) -> str:
        """Return the JavaScript module that calls the function in a page."""
        own = [self.interface.outputs[k] for k in self.interface.own_outputs]
        given = [self.interface.inputs[k].type for k in self._given]
        names = input_names(self.program)[: len(given)]
        tables = {"inputs": [*map(_entry, names, given)], "outputs": [*map(_entry, self.output_names, own)]}
        return self._filled("web.js", TYPES=page_json(tables), RANK=str(self._rank))

    def _tables(self) -> Iterator[str]:
        """Yield the C tables of arrays, of the addresses of results, and of messages."""
        name, interface, first = self.name, self.interface, len(self._given)
        own, updated = interface.own_outputs, {o: i for i, o in interface.updates}
        results = range(len(interface.outputs))
        outer = [self.output_names[own.index(k)] if k in own else "" for k in results]
        inputs = [self._row(n, i.type) for n, i in zip(input_names(self.program), interface.inputs, strict=True)]
        outputs = [self._row(n, t) for n, t in zip(outer, interface.outputs, strict=True)]
        lengths = [-1 if n is None else n for i in interface.inputs for n in i.type.shape]
        sites = [c_string(text) for text in texts(self.program)]
        counts = {
            "CONSTANTS": len(interface.constants), "RESULTS": len(results), "INPUT_LENGTHS": len(lengths),
            "LENGTHS": len(lengths) + sum(t.ndim for t in interface.outputs), "SITES": len(sites),
        }  # fmt: skip
        yield f"enum {{ {', '.join(f'{what} = {count}' for what, count in counts.items())} }};"
        yield f"#define MAGIC {c_string(self._magic)}\n"
        yield _table(f"const {name}_type {name}_inputs", inputs[:first])
        yield _table(f"const {name}_type {name}_shared", inputs[first:])
        yield _table(f"const {name}_type {name}_outputs", [outputs[k] for k in own])
        yield _table(f"static const {name}_type inputs_and_results", [*inputs, *outputs])
        yield "/* Of each result: the output that it is, what it is written over, the shared variable; or -1. */"
        yield _table("static const int output_of", [own.index(k) if k in own else -1 for k in results])
        yield _table("static const int written_over", [interface.in_place.get(k, -1) for k in results])
        yield _table("static const int shared_of", [updated[k] - first if k in updated else -1 for k in results])
        yield _table("static const i64 declared", lengths)
        yield _table("static const i64 constant_bytes", [c.nbytes for c in interface.constants])
        yield _table("static const i64 constant_lengths", [n for c in interface.constants for n in c.shape])
        yield _table(f"static const i64 shared_shapes[][{self._rank}]", [_row(s.shape) for s in self.shared])
        yield _table("static const char *const sites", sites)
        yield _table("static const struct { int outcome; const char *text; } sentences", _sentences())

    def _row(self, name: str, type_: TensorType) -> str:
        lengths = _row([-1 if n is None else n for n in type_.shape])
        return f"{{{c_string(name)}, {c_string(type_.dtype)}, {type_.numpy.itemsize}, {type_.ndim}, {lengths}}}"

    def _weights(self) -> bytes:
        arrays = [*self.interface.constants, *self.shared]
        return b"".join([self._magic.encode() + b"\0", *(np.ascontiguousarray(a).tobytes() for a in arrays)])


def _entry(name: str, type_: TensorType) -> dict[str, Any]:
    """Return the row of an array in the tables of a page."""
    return {"name": name, "dtype": type_.dtype, "shape": [-1 if n is None else n for n in type_.shape]}


def _declared(interface: Interface) -> Iterator[str]:
    """Yield the declarations of the functions that install products and solvers."""
    for name in uncovered(interface.products):
        place = libraries()[name]
        table = f"{TABLES['bytes' if name == BYTES else name if name in OF_ALL_DTYPES else 'products']} *entries"
        if len(place) > 1:
            table = "i32 (**slot)(const ag_runtime *rt, const ag_packed_product *of)"
        yield f"void ag_install_products_{'_'.join(place)}({table}, void *const *found, i32 wide, i64 quiet);"
    for dtype in interface.solvers:
        yield f"void ag_install_solvers_{MEMBERS[dtype]}(ag_solvers *entries, void *const *found, i32 wide);"


def _installing(interface: Interface) -> str:
    """Return the C function that puts our own loops into the runtime's table, in place of a BLAS."""
    places = [libraries()[name] for name in uncovered(interface.products)]
    calls = [f"    ag_install_products_{'_'.join(place)}(&rt->{'.'.join(place)}, none, 0, 0);" for place in places]
    calls += [f"    ag_install_solvers_{MEMBERS[d]}(&rt->solve_{MEMBERS[d]}, none, 0);" for d in interface.solvers]
    body = ["    static void *const none[4];", *calls] if calls else ["    (void)rt;"]
    return "\n".join(["static void install_products(ag_runtime *rt)", "{", *body, "}", ""])


def _table(declared: str, rows: Sequence[Any]) -> str:
    head = declared if declared.endswith("]") else f"{declared}[]"
    rows = rows or ["{0}" if "_type " in declared or "][" in declared else 0]
    inside = ", ".join(map(str, rows))
    if len(inside) > 80:
        inside = "\n    " + ",\n    ".join(map(str, rows)) + ",\n"
    return f"{head} = {{{inside}}};"


def _row(numbers: Sequence[int]) -> str:
    return f"{{{', '.join(map(str, numbers)) or '0'}}}"


def _sentences() -> list[str]:
    return [f"{{{int(outcome)}, {c_string(text)}}}" for outcome, text in _SENTENCES.items()]
