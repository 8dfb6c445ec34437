"""C headers written from the specs: the structs of calls, the tables of the runtime, and what fills their slots.

<family>/<family>.h    the structs of a family
tables.h               the tables, whose slots take a struct each, and functions that are called otherwise
slots.h                for each table the initializers of its slots, for the unit that holds the kernels
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from textwrap import wrap

from . import (
    ARRAY,
    BYTES,
    DRAWS,
    FOLDER,
    FOURIER,
    INNER,
    NARROW,
    NUMBER,
    PACKED,
    PRODUCTS,
    QUANTITIES,
    SOLVERS,
    SORTS,
    VECTOR,
    WRITE,
    Field,
    KernelSpec,
    modules,
    specs,
)

NOTE = "/* Written by cbackend/abi/generate.py from the specs: do not edit. */\n#pragma once\n"
WIDTH = 118
CHOSEN = "AG_CHOSEN"
"""The macro of a unit that has some of its kernels alone: those with a macro of their own."""


TABLES = {
    PRODUCTS: "ag_blas", BYTES: "ag_byte_table", SOLVERS: "ag_solvers", PACKED: "ag_packed_table",
    SORTS: "ag_sort_table", FOURIER: "ag_fourier_table", DRAWS: "ag_draw_table",
    NARROW: "ag_narrow_table",
}  # fmt: skip
"""The struct of each table of the runtime."""


def headers() -> Mapping[Path, str]:
    """Return the text of each header by its path."""
    found, families = {}, []
    for module in modules("spec"):
        family = str(module.__name__).split(".")[-2]
        structs = {spec.c_struct: spec for spec in module.SPECS if spec.table}
        if not structs:
            continue
        families.append(family)
        enums = map(_enum, getattr(module, "ENUMS", ()))
        texts = [_including("../../abi/forward.h"), *enums, *map(struct_text, structs.values())]
        found[FOLDER / family / f"{family}.h"] = "\n".join(texts)
    includes = _including(*(f"{family}/{family}.h" for family in families))
    found[FOLDER / "tables.h"] = "\n".join([includes, *(_table(*pair) for pair in TABLES.items())])
    filled = (table for table in TABLES if table != PACKED)  # each format fills its own
    found[FOLDER / "slots.h"] = "\n".join([NOTE, *map(_slots, filled)])
    return found


def _including(*paths: str) -> str:
    """Return the head of a header."""
    return NOTE + "".join(f'#include "{path}"\n' for path in paths)


def _enum(kind: type[IntEnum]) -> str:
    return f"enum {{ {', '.join(f'AG_{member.name} = {member.value}' for member in kind)} }};\n"


def struct_text(spec: KernelSpec) -> str:
    """Return the struct of the calls of a kernel, with a comment."""
    lines = [line for field in spec.fields for line in _members(field)]
    column = max((len(member) for member, _ in lines), default=0) + 1
    members = "".join(_member(member, about, column) for member, about in lines)
    return f"{_comment(spec.about)}typedef struct {spec.c_struct} {{\n{members}}} {spec.c_struct};\n"


def _members(field: Field) -> Iterator[tuple[str, str]]:
    """Yield the C members of a field, each with a comment."""
    if field.counted:
        yield f"i32 {field.counted};", f"elements of {field.name}"
    about = f"NULL, or {field.about}" if field.optional and field.kind == ARRAY and field.about else field.about
    pointed = field.kind in (ARRAY, NUMBER, VECTOR, INNER)
    fixed = "const " * (pointed and field.role != WRITE)
    tag = "struct " * (field.kind == INNER)
    size = f"[{field.size}]" * (field.kind == QUANTITIES)
    yield f"{fixed}{tag}{field.c} {'*' * pointed}{field.name}{size};", about


def _member(member: str, about: str, column: int) -> str:
    """Return the line of a member; a long comment stands above it."""
    if not about:
        return f"    {member}\n"
    line = f"    {member.ljust(column)}/* {about} */\n"
    return line if len(line) <= WIDTH else f"{_comment(about, '    ')}    {member}\n"


def _comment(about: str, indent: str = "") -> str:
    more = f"{indent}   "
    lines = wrap(f"/* {about} */", WIDTH, initial_indent=indent, subsequent_indent=more, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def chosen_macro(spec: KernelSpec) -> str:
    return f"AG_CALLS_{spec.name.upper()}"


def _of_table(table: str) -> Sequence[KernelSpec]:
    return [spec for spec in specs().values() if spec.table == table]


def _table(table: str, struct: str) -> str:
    """Return the struct of a table: the slots of its kernels."""
    slots = [
        f"    {spec.returns} (*{spec.name})(const struct ag_runtime *rt, const {spec.c_struct} *of);\n"
        for spec in _of_table(table)
    ]
    return f"typedef struct {struct} {{\n{''.join(slots)}}} {struct};\n"


def _slots(table: str) -> str:
    """Return a macro with the initializers of the slots of a table, of the chosen ones if some are chosen."""
    name = f"{table.upper()}_SLOTS"
    lines = []
    for spec in _of_table(table):
        slot, chosen = f"{spec.name.upper()}_SLOT", f"(!defined({CHOSEN}) || defined({chosen_macro(spec)}))"
        condition = f"{spec.only} && {chosen}" if spec.only else chosen
        given = f"#define {slot} .{spec.name} = {spec.function},\n"
        lines.append(f"#if {condition}\n{given}#else\n#define {slot}\n#endif\n")
    names = " ".join([f"#define {name}", *(f"{spec.name.upper()}_SLOT" for spec in _of_table(table))])
    return "".join(lines) + f"{names}\n"
