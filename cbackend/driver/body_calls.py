"""The C of loops and choices: tables of a body's arguments, and the call of the C function that runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...graph.types import numpy_dtype
from ..program.outcome import Outcome
from ..program.program import Array, Choice, Length, Loop, Program

Quote = Callable[[int | str], str]
LAST, ALL, GROWN = "AG_LAST", "AG_ALL", "AG_GROWN"


def body_name(program: Program, base: int, number: int) -> str:
    """Return the name of the C function of a body whose first node has the number `base`."""
    return f"body_{program.body_base(base, number)}"


def loop_lines(
    program: Program, base: int, step: Loop, quote: Quote, address: Callable[[Array], str], new: Callable[[str], str]
) -> Iterator[str]:
    """The lines that run a loop."""
    traced = (*step.traced, *(True for _ in step.results[len(step.states) :]))
    kinds = [GROWN if m else ALL if t else LAST for m, t in zip(step.made, traced, strict=True)]
    rows = [
        f"{numpy_dtype(a.dtype).itemsize} * {quote(a.strides[0])}" if a.lengths else "0" for a in step.sequences
    ]
    inputs = [*(a.lengths[1:] for a in step.sequences), *(a.lengths for a in (*step.states, *step.others))]
    arrays = (*step.sequences, *step.states, *step.others)
    number = step.site
    counts = f"{len(step.sequences)}, {len(step.states)}, {len(arrays)}, {len(step.results)}"
    yield from _tables(number, arrays, inputs, step.kept, step.results, step.made, quote, address)
    yield f"const ag_loop loop{number} = {{{_body(program, base, step.body)}, {base + number},"
    yield from _rest(number, counts, len(step.states), step.results, kinds, step.kept, rows)
    yield f"i64 steps{number} = 0;"
    yield f"f->outcome = ag_looped(call, &loop{number}, {quote(step.steps)}, &steps{number});"
    yield from _told(number, step.results, step.made, step.kept, address, new, 1)
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
    one, other = (_body(program, base, body) for body in step.bodies)
    for name, body in (("then", one), ("otherwise", other)):
        yield f"const ag_body {name}{number} = {body};"
    body = f"{quote(step.condition)} ? then{number} : otherwise{number}"
    yield f"const ag_loop loop{number} = {{{body}, {base + number},"
    yield from _rest(number, f"0, 0, {len(inputs)}, {len(step.results)}", 0, step.results, kinds, step.kept, [])
    yield f"i64 steps{number} = 0;"
    yield f"f->outcome = ag_looped(call, &loop{number}, 1, &steps{number});"
    yield from _told(number, step.results, step.made, step.kept, address, new, 0)


def _body(program: Program, base: int, number: int) -> str:
    body = program.bodies[number]
    constants, lengths = program.constants_before(number)
    return f"(ag_body){{{body_name(program, base, number)}, {constants}, {lengths}, {int(body.calls_back)}}}"


def _tables(
    number: int, arrays: Sequence[Array], inputs: Sequence[tuple[int | str, ...]], kept: Sequence[tuple[Length, ...]],
    results: Sequence[Array], made: Sequence[bool], quote: Quote, address: Callable[[Array], str],
) -> Iterator[str]:  # fmt: skip
    """Yield the tables of the body's operands and of the addresses of its results."""
    data = [*map(address, arrays), *("0" for _ in results), "0"]
    known = ["0" if n is None else quote(n) for row in kept for n in row]
    yield f"char *data{number}[] = {{{', '.join(data)}}};"
    yield f"i64 lengths{number}[] = {{{', '.join([*(quote(n) for row in inputs for n in row), *known, '0'])}}};"
    yield f"i64 kept{number}[] = {{{', '.join([*known, '0'])}}};"
    places = ["0" if m else address(a) for a, m in zip(results, made, strict=True)]
    yield f"char *results{number}[] = {{{', '.join([*places, '0'])}}};"


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
    yield f"    (char *[{2 * states + 1}]){{0}}, (char *[{many}]){{0}}, (i64[{many}]){{0}}, (i64[{many}]){{0}}}};"


def _told(
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


RUNNER = f"""\
/* A body: its function, where its constants and their lengths begin among the caller's, whether it calls Python. */
typedef struct ag_body {{
    i32 (*run)(ag_call *call);
    i64 constants, lengths;
    i32 calls_back;
}} ag_body;

/* Storage of a result of a body: the last is kept; all are kept in allocated memory; all are kept in memory that
   grows. */
enum {{ {LAST}, {ALL}, {GROWN} }};

/* A loop.  Inputs of the body are rows of sequences, states, and others; its outputs the next states, values of the
   step, and the condition to end, which stays 0 if there is none.  Tables have an entry an output. */
typedef struct ag_loop {{
    ag_body body;
    i32 site, sequences, states, inputs, outputs;
    i64 told;                     /* where in `lengths` those of the outputs begin */
    const i32 *ranks, *kinds;
    const i32 *known;             /* whether the lengths of an output are known before the first step */
    const i64 *items;             /* bytes an element */
    const i64 *rows;              /* of each sequence: bytes from one row to the next */
    char **data;                  /* first elements of the inputs of the body, then of its outputs */
    i64 *lengths, *kept;          /* kept: what the lengths of the outputs are to be */
    char **results;
    char **places;                /* two for each state */
    char **targets;
    i64 *bytes, *room;            /* of an output in a step; for how many steps there is room */
}} ag_loop;

static i64 ag_bytes_of(const ag_loop *l, i32 k, const i64 *n)
{{
    i64 bytes = l->items[k];
    for (i32 axis = 0; axis < l->ranks[k]; axis++)
        if (__builtin_mul_overflow(bytes, n[axis], &bytes)) return -1;
    return bytes;
}}

/* Make room for a further step of output k, of which `used` steps are there: whether there is memory. */
static i32 ag_grow(const ag_runtime *rt, const ag_loop *l, i32 k, i64 used, i64 n)
{{
    const i64 wanted = used < 8 ? 16 : 2 * used, room = wanted < n ? wanted : n;
    i64 size;
    if (__builtin_mul_overflow(room, l->bytes[k], &size)) return 0;
    char *const block = rt->alloc(size > 0 ? size : 1);
    if (!block) return 0;
    if (l->results[k]) __builtin_memcpy(block, l->results[k], (u64)(used * l->bytes[k]));
    if (k < l->states && used > 0) l->data[l->sequences + k] = block + (used - 1) * l->bytes[k];
    rt->release(l->results[k]);
    l->results[k] = block, l->room[k] = room;
    return 1;
}}

/* Where each output of step t goes: 0, or MEMORY. */
static i32 ag_aim(const ag_runtime *rt, const ag_loop *l, i64 t, i64 n)
{{
    for (i32 k = 0; k < l->outputs; k++) {{
        char *target = 0;
        if (l->kinds[k] == {LAST}) target = l->places[2 * k + (t & 1)];
        else if (l->bytes[k] >= 0) {{
            if (l->kinds[k] == {GROWN} && t >= l->room[k] && !ag_grow(rt, l, k, t, n)) return {int(Outcome.MEMORY)};
            target = l->results[k] + t * l->bytes[k];
        }}
        l->targets[k] = l->data[l->inputs + k] = target;
    }}
    return 0;
}}

/* Bring results of step t to where they belong that lie elsewhere or have other lengths than expected: 0, CHANGED or
   MEMORY. */
static i32 ag_settle(ag_call *call, const ag_loop *l, i64 t, i64 n)
{{
    const ag_runtime *const rt = call->rt;
    i64 *told = l->lengths + l->told, *kept = l->kept;
    i32 outcome = 0;
    for (i32 k = 0; k < l->outputs; told += l->ranks[k], kept += l->ranks[k], k++) {{
        char *const made = l->data[l->inputs + k];
        i32 same = 1;
        for (i32 axis = 0; axis < l->ranks[k]; axis++) {{
            if (l->bytes[k] < 0) kept[axis] = told[axis];
            same &= kept[axis] == told[axis];
        }}
        if (!same && !outcome) {{
            const i32 axes = l->ranks[k] < 30 ? l->ranks[k] : 30; /* for which a message has room */
            i64 said[64] = {{3 + 2 * axes, k, t, axes}};
            for (i32 axis = 0; axis < axes; axis++) said[4 + axis] = kept[axis], said[4 + axes + axis] = told[axis];
            outcome = ag_fail(call, {int(Outcome.CHANGED)}, l->site, k, 64, said);
        }}
        if (!outcome && l->bytes[k] < 0) {{ /* the first step tells how large it is */
            l->bytes[k] = ag_bytes_of(l, k, told);
            if (n == 1) {{
                l->results[k] = l->targets[k] = made;
                continue;
            }}
            if (!ag_grow(rt, l, k, 0, n)) outcome = ag_fail(call, {int(Outcome.MEMORY)}, l->site, 0, 0, 0);
            else l->targets[k] = l->results[k];
        }}
        if (made == l->targets[k]) continue;
        if (!outcome) __builtin_memcpy(l->targets[k], made, (u64)l->bytes[k]);
        rt->release(made);
    }}
    return outcome;
}}

/* The outputs of step t: 0, or what went wrong. */
static i32 ag_step(ag_call *call, ag_call *inner, const ag_loop *l, i64 t, i64 n)
{{
    const ag_runtime *const rt = call->rt;
    if (ag_aim(rt, l, t, n)) return ag_fail(call, {int(Outcome.MEMORY)}, l->site, 0, 0, 0);
    i32 outcome = l->body.run(inner);
    if (outcome > {int(Outcome.OTHER_OUTPUTS)})
        outcome = ag_fail(call, outcome, inner->step, inner->operand, 64, inner->detail);
    else if (outcome) outcome = ag_settle(call, l, t, n);
    if (l->body.calls_back) call->host(inner, -1, 0, 0, 0); /* release Python's results of this step */
    return outcome;
}}

static i32 ag_looped(ag_call *call, const ag_loop *l, i64 n, i64 *count)
{{
    const ag_runtime *const rt = call->rt;
    ag_call inner = {{0}};
    inner.rt = rt, inner.data = l->data, inner.lengths = l->lengths, inner.declared = l->lengths;
    inner.host = call->host;
    inner.constants = call->constants + l->body.constants;
    inner.constant_lengths = call->constant_lengths + l->body.lengths;
    char **const state = l->data + l->sequences;
    u8 ends = 0;
    i64 t = 0;
    i32 outcome = 0;
    l->data[l->inputs + l->outputs] = (char *)&ends;
    for (i32 k = 0, at = 0; k < l->outputs; at += l->ranks[k], k++)
        l->bytes[k] = l->known[k] ? ag_bytes_of(l, k, l->kept + at) : -1;
    for (i32 k = 0; k < 2 * l->states && n > 0; k++)
        if (l->kinds[k / 2] == {LAST} && !(l->places[k] = rt->alloc(l->bytes[k / 2] > 0 ? l->bytes[k / 2] : 1)))
            outcome = ag_fail(call, {int(Outcome.MEMORY)}, l->site, 0, 0, 0);
    if (n > 4096) rt->listen();
    while (t < n && !outcome && !ends) {{
        outcome = ag_step(call, &inner, l, t, n);
        for (i32 k = 0; k < l->states; k++) state[k] = l->targets[k];
        for (i32 k = 0; k < l->sequences; k++) l->data[k] += l->rows[k];
        t++;
        if ((*rt->stop || t % 64 == 0) && !outcome && rt->stopped())
            outcome = ag_fail(call, {int(Outcome.INTERRUPTED)}, l->site, 0, 0, 0);
    }}
    for (i32 k = 0; k < l->outputs && !outcome; k++) {{
        if (l->kinds[k] == {LAST}) __builtin_memcpy(l->results[k], state[k], (u64)l->bytes[k]);
        if (l->kinds[k] == {GROWN} && !l->results[k] && !(l->results[k] = rt->alloc(1)))
            outcome = ag_fail(call, {int(Outcome.MEMORY)}, l->site, 0, 0, 0);
    }}
    for (i32 k = 0; k < 2 * l->states; k++) rt->release(l->places[k]);
    *count = t;
    return outcome;
}}
"""
"""The C functions that run loops; a choice is a loop of one step."""
