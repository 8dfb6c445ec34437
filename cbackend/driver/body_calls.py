"""The C of loops and choices: tables of a body's arguments, and the call of the C function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...graph.types import numpy_dtype
from ..program.accounts import counters_at, whole_call
from ..program.program import Array, Choice, Length, Loop, Program

Quote = Callable[[int | str], str]
LAST, ALL, GROWN, HELD = "AG_LAST", "AG_ALL", "AG_GROWN", "AG_HELD"


def body_name(program: Program, base: int, number: int) -> str:
    """Return the name of the C function of a body whose first node has the number `base`."""
    return f"body_{program.body_base(base, number)}"


def loop_lines(
    program: Program, base: int, step: Loop, quote: Quote, address: Callable[[Array], str], new: Callable[[str], str]
) -> Iterator[str]:
    """The lines that run a loop."""
    traced = (*step.traced, *(True for _ in step.results[len(step.states) :]))
    held = (*step.held, *(False for _ in step.results[len(step.states) :]))
    kinds = [HELD if h else GROWN if m else ALL if t else LAST for h, m, t in zip(held, step.made, traced, strict=True)]
    rows = [
        f"{numpy_dtype(a.dtype).itemsize} * {quote(a.strides[0])}" if a.lengths else "0" for a in step.sequences
    ]
    inputs = [*(a.lengths[1:] for a in step.sequences), *(a.lengths for a in (*step.states, *step.others))]
    arrays = (*step.sequences, *step.states, *step.others)
    number = step.site
    counts = f"{len(step.sequences)}, {len(step.states)}, {len(arrays)}, {len(step.results)}"
    yield from _tables(number, arrays, inputs, step.kept, step.results, step.made, quote, address)
    yield f"const ag_loop loop{number} = {{{_body(program, base, number, step.body)}, {base + number},"
    yield from _rest(number, counts, len(step.states), step.results, kinds, step.kept, rows)
    yield f"i64 steps{number} = 0;"
    yield f"f->outcome = ag_looped(call, &loop{number}, {quote(step.steps)}, &steps{number});"
    yield from _results(number, step.results, step.made, step.kept, address, new, 1)
    if step.count is not None:
        yield f"{new(step.count)} = steps{number};"


def choice_lines(
    program: Program, base: int, step: Choice, quote: Quote, address: Callable[[Array], str], new: Callable[[str], str]
) -> Iterator[str]:
    """Yield the lines that run one of two bodies, as a loop of one step."""
    number = step.site
    kinds = [GROWN if m else ALL for m in step.made]
    inputs = [a.lengths for a in step.operands]
    yield from _tables(number, step.operands, inputs, step.kept, step.results, step.made, quote, address)
    one, other = (_body(program, base, number, body) for body in step.bodies)
    for name, body in (("then", one), ("otherwise", other)):
        yield f"const ag_body {name}{number} = {body};"
    body = f"{quote(step.condition)} ? then{number} : otherwise{number}"
    yield f"const ag_loop loop{number} = {{{body}, {base + number},"
    yield from _rest(number, f"0, 0, {len(inputs)}, {len(step.results)}", 0, step.results, kinds, step.kept, [])
    yield f"i64 steps{number} = 0;"
    yield f"f->outcome = ag_looped(call, &loop{number}, 1, &steps{number});"
    yield from _results(number, step.results, step.made, step.kept, address, new, 0)


def _body(program: Program, base: int, site: int, number: int) -> str:
    body, run = program.bodies[number], body_name(program, base, number)
    counters = counters_at(program, site, number)
    constants, lengths = program.constants_before(number)
    return f"(ag_body){{{run}, {constants}, {lengths}, {int(body.calls_back)}, {counters}, {whole_call(body)}}}"


def _tables(
    number: int, arrays: Sequence[Array], inputs: Sequence[tuple[int | str, ...]], kept: Sequence[tuple[Length, ...]],
    results: Sequence[Array], made: Sequence[bool], quote: Quote, address: Callable[[Array], str],
) -> Iterator[str]:  # fmt: skip
    """Yield the tables of the body's operands and of the addresses of its results."""
    data = [*map(address, arrays), *("0" for _ in results), "0"]
    known = ["0" if n is None else quote(n) for row in kept for n in row]
    yield f"void *data{number}[] = {{{', '.join(data)}}};"
    yield f"i64 lengths{number}[] = {{{', '.join([*(quote(n) for row in inputs for n in row), *known, '0'])}}};"
    yield f"i64 kept{number}[] = {{{', '.join([*known, '0'])}}};"
    places = ["0" if m else address(a) for a, m in zip(results, made, strict=True)]
    yield f"void *results{number}[] = {{{', '.join([*places, '0'])}}};"


def _rest(
    number: int, counts: str, states: int, results: Sequence[Array], kinds: Sequence[str],
    kept: Sequence[tuple[Length, ...]], rows: Sequence[str],
) -> Iterator[str]:  # fmt: skip
    """Yield the fields of an ag_loop after its body and its site."""
    many = len(results) + 1
    ranks = ", ".join([*(str(len(row)) for row in kept), "0"])
    known = ", ".join([*(str(int(None not in row)) for row in kept), "0"])
    items = ", ".join([*(str(numpy_dtype(a.dtype).itemsize) for a in results), "0"])
    lengths = f"sizeof lengths{number} / sizeof *lengths{number} - sizeof kept{number} / sizeof *kept{number}"
    yield f"    {counts}, {lengths},"
    yield f"    (const i32[]){{{ranks}}}, (const i32[]){{{', '.join([*kinds, '0'])}}}, (const i32[]){{{known}}},"
    yield f"    (const i64[]){{{items}}}, (const i64[]){{{', '.join(rows) or '0'}}},"
    yield f"    data{number}, lengths{number}, kept{number}, results{number},"
    yield f"    (void *[{2 * states + 1}]){{0}}, (void *[{many}]){{0}}, (i64[{many}]){{0}}, (i64[{many}]){{0}}}};"


def _results(
    number: int, results: Sequence[Array], made: Sequence[bool], kept: Sequence[tuple[Length, ...]],
    address: Callable[[Array], str], new: Callable[[str], str], added: int,
) -> Iterator[str]:  # fmt: skip
    """Yield the lines that hand the results of the loop to the driver and define their lengths."""
    for k, (array, is_made) in enumerate(zip(results, made, strict=True)):
        if is_made:
            yield f"{address(array)} = results{number}[{k}];"
    yield "if (f->outcome) return f->outcome;"
    at = 0
    for array, row in zip(results, kept, strict=True):
        first = len(array.lengths) - len(row)
        for axis, n in enumerate(row):
            if n is None:
                yield f"{new(str(array.lengths[first + axis]))} = kept{number}[{at}];"
            at += 1
