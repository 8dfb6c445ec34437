"""The Python text of a function's entry: straight-line code for its signature.

    def entry(x0=MISSING, *extra):
        if type(x0) is ndarray and x0.dtype is d0 and not extra:
            try:
                n0_0, = x0.shape                        # another rank: ValueError
                y0 = empty((n0_0,), e0)
                frame = pop()                           # no frame left: IndexError
                call, data, lengths, _ = frame
                data[0] = from_buffer(x0)               # not C-contiguous: ValueError
                data[1] = from_buffer(y0)
                pack(lengths, 0, n0_0, n0_0)
            except (ValueError, IndexError, BufferError):
                pass
            else:
                outcome = run(call)
                if outcome:
                    return finish(outcome, frame, (x0,), [y0])
                push(frame)
                return [y0]
        return general((x0, *extra))

A call of `x + 1` on three elements takes 0.9 us this way; a loop over descriptions of arguments takes four times as
long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...graph import Dim, FunctionGraph, Variable, dims_of
from ...record import record

_FORMS = {
    "add": "({} + {})", "sub": "({} - {})", "mul": "{} * {}", "floordiv": "({} // {})",
    "maximum": "({0} if {0} > {1} else {1})", "minimum": "({0} if {0} < {1} else {1})",
    "broadcast": "({1} if {0} == 1 else {0})",
}  # fmt: skip
_DEPTH = 3
"""How deep an expression of lengths is written out; what is deeper is guessed from the last call."""


@record
class Traits:
    """What the entry of a function must see to beside arguments and outputs.

    `in_place`: outputs that are written over an input.  `numbers`: scalar inputs, which are often given as Python
    numbers.  `profile`: calls are timed.  `host`: some steps run in Python.
    """

    in_place: Mapping[int, int]
    numbers: Sequence[int] = ()
    profile: bool = False
    host: bool = False


def entry_text(graph: FunctionGraph, shared: Sequence[bool], traits: Traits) -> str:
    """The text that defines `entry` for a graph whose inputs are `shared` (read from containers) or arguments."""
    arguments = [f"x{k}" for k, is_shared in enumerate(shared) if not is_shared]
    given = "".join(f"{a}, " for a in arguments)
    lines = [f"def entry({''.join(f'{a}=MISSING, ' for a in arguments)}*extra):"]
    if traits.profile:
        lines.append("    start = clock()")
    lines += [f"    x{k} = c{k}.value" for k, is_shared in enumerate(shared) if is_shared]
    for k in traits.numbers:
        lines += [f"    if type(x{k}) in numbers{k}:", f"        x{k} = scalar(x{k}, d{k})"]
    checks = [f"type(x{k}) is ndarray and x{k}.dtype is d{k}" for k in range(len(shared))]
    lines.append(f"    if {' and '.join([*checks, 'not extra'])}:")
    lines.append("        try:")
    lines += ["            " + line for line in _filled_frame(graph, traits)]
    lines += [
        "        except (ValueError, IndexError, BufferError):",
        "            pass",
        "        else:",
        "            outcome = run(call)",
    ]
    if traits.profile:
        lines.append("            record(clock() - start, frame)")
    outputs = ", ".join(f"y{k}" for k in range(len(graph.outputs)))
    lines += ["            if outcome:", f"                return finish(outcome, frame, ({given}), [{outputs}])"]
    if traits.host:
        lines.append("            release(call)")
    lines.append("            push(frame)")
    lines += [f"            c{i}.value = y{o}" for i, o in graph.updates]
    lines.append(f"            return [{', '.join(f'y{k}' for k in _own_outputs(graph))}]")
    lines.append(f"    return general(({given}*extra,))")
    return "\n".join(lines) + "\n"


def _own_outputs(graph: FunctionGraph) -> list[int]:
    updates = {o for _, o in graph.updates}
    return [k for k in range(len(graph.outputs)) if k not in updates]


def _filled_frame(graph: FunctionGraph, traits: Traits) -> list[str]:
    """The lines that take the shapes, allocate outputs and fill a frame."""
    shapes = [[f"n{k}_{axis}" for axis in range(i.ndim)] for k, i in enumerate(graph.inputs)]
    lines = [f"{_tuple(names)} = x{k}.shape" for k, names in enumerate(shapes)]
    for k, o in enumerate(graph.outputs):
        if k in traits.in_place:
            lines.append(f"y{k} = x{traits.in_place[k]}")
            shapes.append(shapes[traits.in_place[k]])
            continue
        shape = _shape(o, graph)
        lines.append(f"y{k} = empty({f'guesses[{k}]' if shape is None else _tuple(shape)}, e{k})")
        if shape is None:
            shape = [f"m{k}_{axis}" for axis in range(o.ndim)]
            lines.append(f"{_tuple(shape)} = y{k}.shape")
        shapes.append(shape)
    first, written = len(graph.inputs), set(traits.in_place.values())
    lines += [f"b{k} = from_buffer(x{k}{', require_writable=True' * (k in written)})" for k in range(first)]
    lines += ["frame = pop()", "call, data, lengths, _ = frame"]
    lines += [f"data[{k}] = b{k}" for k in range(first)]
    lines += [f"data[{first + k}] = from_buffer(y{k})" for k in range(len(graph.outputs)) if k not in traits.in_place]
    lengths = [n for shape in shapes for n in shape]
    if lengths:
        lines.append(f"pack(lengths, 0, {', '.join(lengths)})")
    return lines


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


# --- the shape of an output in terms of those of the inputs


def _shape(output: Variable, graph: FunctionGraph) -> list[str] | None:
    """The lengths in Python; None where the shape rules of the graph do not give them away."""
    places = {i: k for k, i in enumerate(graph.inputs)}
    parts = [_length(dim, places, _DEPTH) for dim in dims_of(output)]
    return None if any(part is None for part in parts) else parts  # type: ignore[return-value]


def _length(dim: Dim, places: dict[Variable, int], depth: int) -> str | None:
    if isinstance(dim, int):
        return str(dim)
    if dim.kind == "extent":
        variable, axis = dim.args
        return f"n{places[variable]}_{axis}" if variable in places else None
    form = _FORMS.get(dim.kind)
    if form is None or depth == 0:
        return None
    text: str | None = None
    for part in dim.args:
        operand = _length(part, places, depth - 1)  # type: ignore[arg-type]
        if operand is None:
            return None
        text = operand if text is None else form.format(text, operand)
    return text
