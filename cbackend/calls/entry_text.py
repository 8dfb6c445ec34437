"""The Python source of a function's entry: straight-line code for its signature.

    def entry(x0=MISSING, *extra):
        if type(x0) is ndarray and x0.dtype is d0 and not extra:
            try:
                n0_0, = x0.shape                        # another rank: ValueError
                y0 = empty((n0_0,), e0) if n0_0 < 131072 else large((n0_0,), e0)
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

from collections.abc import Collection, Sequence

from ...record import record
from .interface import Interface
from .output_lengths import Step
from .outputs import LARGE

_FORMS = {
    "add": "({} + {})", "sub": "({} - {})", "mul": "{} * {}", "floordiv": "({} // {})",
    "maximum": "({0} if {0} > {1} else {1})", "minimum": "({0} if {0} < {1} else {1})",
    "broadcast": "({0} if {1} == 1 else {1})",  # {0}, the joint length of many, stands there once
}  # fmt: skip
_NESTED = {"maximum": "max({}, {})", "minimum": "min({}, {})", "broadcast": "({} if (n := {}) == 1 else n)"}
"""Forms of operands that are expressions: each stands there once."""


@record
class Traits:
    """Duties of a function's entry besides those of its interface.

    `numbers`: scalar inputs, which are often given as Python numbers.  `profile`: calls are timed.  `torn`: some
    updates are written in place and some are not, so that Ctrl-C between the two would leave half of them.  `given`:
    outputs that are computed in the array of the name `o` and their number.  `fixed`: shared inputs in known arrays,
    whose names and lengths are global, and whose addresses each frame has.
    """

    numbers: Sequence[int] = ()
    profile: bool = False
    torn: bool = False
    given: Collection[int] = ()
    fixed: Collection[int] = ()


def entry_text(interface: Interface, shared: Sequence[bool], traits: Traits) -> str:
    """Return the source of `entry` for a program whose inputs are `shared` (read from containers) or arguments."""
    arguments = [f"x{k}" for k, is_shared in enumerate(shared) if not is_shared]
    given = "".join(f"{a}, " for a in arguments)
    lines = [f"def entry({''.join(f'{a}=MISSING, ' for a in arguments)}*extra):"]
    if traits.profile:
        lines.append("    begun = clock()")
    read = [k for k in range(len(shared)) if k not in traits.fixed]
    lines += [f"    x{k} = c{k}.value" for k in read if shared[k]]
    for k in traits.numbers:
        lines += [f"    if type(x{k}) in numbers{k}:", f"        x{k} = scalar(x{k}, d{k})"]
    checks = [f"type(x{k}) is ndarray and x{k}.dtype is d{k}" for k in read]
    lines.append(f"    if {' and '.join([*checks, 'not extra'])}:")
    lines.append("        try:")
    lines += ["            " + line for line in _filled_frame(interface, traits)]
    lines += ["        except (ValueError, IndexError, BufferError):", "            pass", "        else:"]
    outputs = ", ".join(f"y{k}" for k in range(len(interface.outputs)))
    run = [*(["call.begun = begun"] * traits.profile), "outcome = run(call)"]
    run += ["if outcome:", f"    return finish(outcome, frame, ({given}), [{outputs}])"]
    kept = {o for o, i in interface.in_place.items() if i in traits.fixed}
    run += [f"c{i}.value = y{o}" for i, o in interface.updates if o not in kept]
    if traits.torn:
        run = ["call.outcome = -1", "try:", *("    " + line for line in run)]
        run += ["except BaseException:", f"    rescue(frame, [{outputs}])", "    raise"]
    lines += ["            " + line for line in run]
    if interface.calls_back:
        lines.append("            release(call)")
    lines.append("            push(frame)")
    lines.append(f"            return [{', '.join(f'y{k}' for k in interface.own_outputs)}]")
    lines.append(f"    return general(({given}*extra,))")
    return "\n".join(lines) + "\n"


def _filled_frame(interface: Interface, traits: Traits) -> list[str]:
    """Return the lines that read shapes, allocate outputs and fill a frame."""
    shapes = [[f"n{k}_{axis}" for axis in range(i.ndim)] for k, i in enumerate(interface.inputs)]
    read = [k for k in range(len(interface.inputs)) if k not in traits.fixed]
    lines = [f"{_tuple(shapes[k])} = x{k}.shape" for k in read]
    for k, o in enumerate(interface.outputs):
        if k in interface.in_place:
            lines.append(f"y{k} = x{interface.in_place[k]}")
            shapes.append(shapes[interface.in_place[k]])
            continue
        known = None if k in traits.given else interface.lengths[k]
        shape = None if known is None else [_python(program) for program in known]
        if shape is not None:
            lines += [f"m{k}_{axis} = {length}" for axis, length in enumerate(shape) if not _is_name(length)]
            shape = [length if _is_name(length) else f"m{k}_{axis}" for axis, length in enumerate(shape)]
        memory = f"o{k}" if k in traits.given else _allocation(k, shape, o.numpy.itemsize)
        lines.append(f"y{k} = {memory}")
        if shape is None:
            shape = [f"m{k}_{axis}" for axis in range(o.ndim)]
            lines.append(f"{_tuple(shape)} = y{k}.shape")
        shapes.append(shape)
    first, written = len(interface.inputs), set(interface.in_place.values())
    lines += [f"b{k} = from_buffer(x{k}{', require_writable=True' * (k in written)})" for k in read]
    lines += ["frame = pop()", "call, data, lengths, _ = frame"]
    lines += [f"data[{k}] = b{k}" for k in read]
    made = [k for k in range(len(interface.outputs)) if k not in interface.in_place]
    lines += [f"data[{first + k}] = from_buffer(y{k})" for k in made]
    lengths = [n for shape in shapes for n in shape]
    if lengths:
        lines.append(f"pack(lengths, 0, {', '.join(lengths)})")
    return lines


def _allocation(k: int, shape: Sequence[str] | None, itemsize: int) -> str:
    """Return the expression that allocates output `k`: by NumPy, or in a reused block if it is large."""
    if shape is None:
        return f"allocate[{k}](guesses[{k}], e{k})"
    if not shape:
        return f"empty((), e{k})"
    small = f"{' * '.join(shape)} < {LARGE // itemsize}"
    return f"empty({_tuple(shape)}, e{k}) if {small} else large({_tuple(shape)}, e{k})"


def _tuple(parts: Sequence[str]) -> str:
    return f"({', '.join(parts)}{',' * (len(parts) == 1)})"


def _python(program: Sequence[Step]) -> str:
    """Return a length as an expression of the lengths of inputs."""
    stack: list[str] = []
    for operation, operand in program:
        if operation == "number":
            stack.append(str(operand))
        elif operation == "extent":
            stack.append("n{}_{}".format(*operand))
        else:
            last, first = stack.pop(), stack.pop()
            forms = _FORMS if _is_name(first) and _is_name(last) else {**_FORMS, **_NESTED}
            stack.append(forms[operation].format(first, last))
    return stack.pop()


def _is_name(text: str) -> bool:
    """Whether the text of a length is the name of a number or a number."""
    return text.isidentifier() or text.isdecimal()
