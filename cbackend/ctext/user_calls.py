"""C of whole arrays from outside the package: each op becomes a function that the driver calls, and its spec.

    ag_NAME_DIGEST_...(x, x_shape, x_strides, ..., y, y_shape, detail)

It calls the user's text once an example.  That text stands behind a `#line` directive that names the op, so that the
compiler's messages do.
"""

from __future__ import annotations

import hashlib
import re

from ...ops.control.linked import Library
from ...ops.control.user_c import Operand, UserCall
from ...ops.elementwise.c_forms import NOT_LOADED
from .helper import Helper, storage_type, suffix
from .preamble import add_helper
from .user_forms import END, HEAD, filled, functions

_LOAD = """\
#include <dlfcn.h>
static void *{table}[{count}];
static i64 {load}(void)
{{
    static const char *const names[] = {{{names}}};
    void *library = 0;
    for (i64 k = 0; k < {count}; k++) {{
        if (__atomic_load_n(&{table}[k], __ATOMIC_ACQUIRE)) continue;
        if (!library) library = dlopen({path}, RTLD_NOW | RTLD_LOCAL);
        void *found = library ? dlsym(library, names[k]) : 0;
        if (!found) return k + 1;
        __atomic_store_n(&{table}[k], found, __ATOMIC_RELEASE);
    }}
    return 0;
}}
"""


def user_function(call: UserCall, failed: str) -> str:
    """Return the name of the function of an op, which a C file then finds among the helpers.

    It has the functions that the user's text calls, that text as a function, and the loop over examples.  `failed`: the
    outcome of a failure.
    """
    name = f"ag_{call.name}"
    add_helper(Helper(name, _text(call, name, failed)))
    return name


def _text(call: UserCall, name: str, failed: str) -> str:
    of, operands = call.definition, call.operands
    words = {"T": _c(operands[0]), "R": _c(call.result), "f": suffix(operands[0].dtype)}
    called = functions(of.symbol, filled(of.c_functions, words))
    linked, taken = "", ""
    if of.library is not None:
        given, taken = _names(of.library)
        linked = _linked(of.symbol, of.library) + given
    ranks = ", ".join(f"{o.name}_ndim = {o.rank}" for o in operands)
    body = filled(of.c or "", words).strip("\n")
    parameters = ", ".join(map(_parameter, operands))
    own = (
        f'static i64 {name}_of_one({parameters})\n{{\n    enum {{ {ranks} }};\n#line 1 "c of {of.symbol}"\n{body}\n'
        f"{END}    return 0;\n}}\n"
    )
    return f"{HEAD}{linked}{called}{own}{taken}{_loop(call, name, failed)}{END}"


def _c(o: Operand) -> str:
    """Return the C type of an element."""
    return storage_type(o.dtype)


def _parameter(o: Operand) -> str:
    if o.is_number:
        return f"const {_c(o)} {o.name}"
    kind = f"{_c(o)} *restrict" if o.is_result else f"const {_c(o)} *"
    return f"{kind}{' ' * o.is_result}{o.name}, const i64 *{o.name}_shape, const i64 *{o.name}_strides"


def _loop(call: UserCall, name: str, failed: str) -> str:
    """Return the function that the driver calls."""
    of, operands, result = call.definition, call.operands, call.result
    given = ", ".join(
        f"{'' if o.is_result else 'const '}void *{o.name}, const i64 *{o.name}_shape, const i64 *{o.name}_strides"
        for o in operands
    )
    lines = [f"static i32 {name}({given}, i64 *detail)", "{", "    i64 status = 0;"]
    if of.library is not None:
        lines += [f"    if ({_load(of.library)}()) {{", f"        detail[0] = 1, detail[1] = {NOT_LOADED};",
                  f"        return {failed};", "    }"]  # fmt: skip
    lines += [f"    for (i64 e{k} = 0; e{k} < {result.name}_shape[{k}] && !status; e{k}++)" for k in range(call.levels)]
    lines += [f"    status = {name}_of_one({', '.join(map(_argument, operands))});"]
    lines += ["    if (!status) return 0;", "    detail[0] = 1, detail[1] = status;", f"    return {failed};", "}"]
    return "\n".join(lines) + "\n"


def _argument(o: Operand) -> str:
    """Return what the user's text gets: the address of one example, its lengths and strides."""
    own = sum(o.flags)
    moved = "".join(
        f" + e{level} * {o.name}_strides[{sum(o.flags[:level])}]" for level, flag in enumerate(o.flags) if flag
    )
    address = f"({'' if o.is_result else 'const '}{_c(o)} *){o.name}{moved}"
    if o.is_number:
        return f"*({address})"
    return f"{address}, {o.name}_shape + {own}, {o.name}_strides + {own}"


# --- functions of a shared library


def _load(library: Library) -> str:
    return f"ag_load_{library.key}"


def _linked(symbol: str, library: Library) -> str:
    """Return the declarations of a library, whose functions are found when the op first runs; each once a file."""
    table = f"ag_linked_{library.key}"
    quoted = ", ".join(f'"{name}"' for name in library.names)
    text = _LOAD.format(
        table=table, load=_load(library), count=len(library.names), names=quoted, path=_quoted(library.path)
    )
    guard = f"AG_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    prototypes = f'#line 1 "prototypes of {symbol}"\n{library.prototypes.strip(chr(10))}\n{END}'
    return f"#ifndef {guard}\n#define {guard}\n{text}{prototypes}#endif\n"


def _names(library: Library) -> tuple[str, str]:
    """Return the lines that give the functions of a library their names, for the user's text alone, and take them."""
    table = f"ag_linked_{library.key}"
    each = list(enumerate(library.names))
    given = "".join(f"#define {name} ((__typeof__(&{name})){table}[{k}])\n" for k, name in each)
    return given, "".join(f"#undef {name}\n" for _, name in each)


def _quoted(path: str) -> str:
    """Return a path as a string of C."""
    octal = re.sub(r"[^A-Za-z0-9_./+=,@-]", lambda found: "".join(f"\\{b:03o}" for b in found[0].encode()), path)
    return f'"{octal}"'
