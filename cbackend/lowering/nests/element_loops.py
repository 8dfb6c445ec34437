"""Loops of scalars and single elements as one C function: states in registers, arrays written in place.

    scan{s, a, t -> s * a[t], set(a[t], s)}(n, 1.0, x)
    -->
    var s0 = 1.0;  for t0 in 0 .. n0:  let v1 = y0[t0]; y0[t0] = s0; s0 = s0 * v1

Loops within the body become inner loops, choices become branches.  An array state is one array that the loop owns; the
order of the nodes lets every value be read before a write changes it (`in_place_order`).  An index is checked where it
is used; a check that the bounds of a loop make certain is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ....graph import Apply, Constant, FunctionGraph, Variable, toposort
from ....ops.control.choice_writes import ChosenWrite, ChosenWrites, writes_of_choices
from ....ops.control.cond import Cond
from ....ops.control.element_bodies import Places, in_place_branch, joined_in, nodes_within, places, stored_after
from ....ops.control.scan_ops import Scan
from ....ops.control.small_arrays import is_kept, is_small
from ....ops.elementwise.records import identity
from ....ops.linalg.blas import Dot
from ....ops.lowered.assembled import Assembled
from ....ops.lowered.assumed import AssumeEqual, bare
from ....ops.lowered.fused import Fused, unmarked
from ....ops.lowered.pipeline import Pipeline
from ....ops.reductions.reduce import Reduce
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ....ops.shapes.creation import Alloc, Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor
from ....ops.shapes.lengths import ShapeI
from ....ops.shapes.shape import DimShuffle
from ....ops.shapes.specify import CheckLengths, SpecifyShape
from ....record import record
from ....record.quoting import c_comment
from ....targets.current import current
from ...ir import loops as ir
from ...ir.kernel import Kernel, Status
from ...ir.operands import CALLBACK, Argument, Extra, Operand, Pointer, Poll, Report, operand_name
from ...ir.walk import all_statements
from .element_limits import Steps, own_element, strip_offsets
from .element_selected import SelectedWrites
from .element_statements import View
from .element_vectors import Elements, Scratch, Value

STRIP = 4096
"""Steps of an inner loop between two looks at Ctrl-C; an outer loop looks after STRIP_OF_LOOPS."""
STRIP_OF_LOOPS = 64
SHORT = 16
"""Steps of a loop that compilers unroll; its checks stay in it."""
_STOPPED = -1


@record
class Given:
    """An input of a loop as the kernel gets it: a number, a range, or an operand with lengths and strides."""

    value: ir.Expr | None = None
    is_range: bool = False
    lengths: tuple[ir.Expr, ...] = ()
    strides: tuple[ir.Expr, ...] = ()


def element_kernel(
    node: Apply, steps: ir.Expr, given: Sequence[Given], rows: Sequence[Given], extras: int,
    scratch: Mapping[Scratch, int] = MappingProxyType({}),
) -> Kernel:  # fmt: skip
    """Return the kernel of a loop that `in_place_order` takes.

    `given`: the inputs behind the number of steps; states that are arrays are outputs.  `rows`: lengths and strides of
    the outputs.  `extras`: the number of quantities `n0`, `n1` ... in all of these.  Operands are the outputs of the
    node, scratch memory for vectors along an axis of some of them, then the inputs that are neither numbers nor ranges
    nor arrays of states.  `scratch`: these outputs; the kernel is written again if it needs some.
    """
    op: Scan = unmarked(node.op)
    states = range(op.states.start, op.states.stop)
    outputs = tuple(Operand(node.outputs[k].dtype, (), k) for k in (*range(len(node.outputs)), *scratch.values()))
    read = [
        k for k, (g, v) in enumerate(zip(given, node.inputs[1:], strict=True))
        if g.value is None and not g.is_range and not (k in states and v.ndim)
    ]  # fmt: skip
    inputs = tuple(Operand(node.inputs[1 + k].dtype, (), 1 + k) for k in read)
    places = {inner: place for place, inner in enumerate(nodes_within(op.graph))}
    kept = {where: operand_name(len(node.outputs) + n, len(outputs)) for n, where in enumerate(scratch)}
    writer = _Writer(places, kept)
    names = {k: operand_name(len(outputs) + number, len(outputs)) for number, k in enumerate(read)}
    values = []
    for k, (g, v) in enumerate(zip(given, node.inputs[1:], strict=True)):
        name = operand_name(k - states.start, len(outputs)) if k in states and v.ndim else names.get(k, "")
        values.append(writer.input(name, v.dtype, g))
    targets = [
        View.whole(operand_name(k, len(outputs)), o.dtype, rows[k].lengths, rows[k].strides)
        for k, o in enumerate(node.outputs)
    ]
    writer.loop(op, steps, values, None, targets)
    if writer.needed.keys() != scratch.keys():
        numbers = {target.array: k for k, target in enumerate(targets)}
        return element_kernel(node, steps, given, rows, extras, {w: numbers[w[0]] for w in writer.needed})
    body = (*writer.close(), ir.Return(ir.Const("int32", int(Status.OK))))
    signature: list[Argument] = [Extra(k, f"n{k}") for k in range(extras)]
    signature += [*map(Pointer, range(len(outputs) + len(inputs))), Report(), Poll()]
    comment = c_comment(f"{op.name} of {len(nodes_within(op.graph))} nodes, element by element")
    return Kernel(comment, 0, outputs, inputs, body, fallible=True, signature=tuple(signature))


def is_vector_loop(node: Apply) -> bool:
    """Whether a node of a body becomes a loop over elements, or a part of one."""
    op = unmarked(node.op)
    if isinstance(op, IncSubtensor):
        return any(entry != "i" for entry in op.spec)
    several = (Dot, Reduce, Fused, Pipeline, AdvancedSubtensor, AdvancedIncSubtensor)
    return isinstance(op, several) and any(i.ndim for i in node.inputs)


_OF_FLAGS = {
    "logical_or": "bitwise_or", "bitwise_or": "bitwise_or", "logical_and": "bitwise_and", "bitwise_and": "bitwise_and",
}  # fmt: skip


class _Writer(SelectedWrites):
    """The statements of a loop and its inner loops.  `places`: the number of each inner node, for messages."""

    def __init__(self, places: Mapping[Apply, int], scratch: Mapping[Scratch, str]) -> None:
        super().__init__()
        self._places = places
        self._loop_place = -1
        """The number of the loop around; -1 for the loop of the kernel."""
        self._numbers: Mapping[str, int] = {}
        """The numbers of the states of the loop around that are arrays, by the names of the arrays."""
        self.scratch.update(scratch)
        self._flags: set[str] = set()

    # --- values
    def applied(self, node: Apply, args: list[ir.Expr]) -> ir.Expr:
        """Return the value of a scalar operation.  Bools that pass from step to step are bytes, 0 or 1.

        The compiler finds no independent steps in `found = found || x[i] < 0` by values of C's own type.
        """
        name = _OF_FLAGS.get(node.op.name)
        if name is None or not any(self._is_flag(a) for a in args):
            return super().applied(node, args)
        found, *rest = [a if self._is_flag(a) else self.cast(a, "bool") for a in args]
        for a in rest:
            found = self._as_flag(ir.ScalarOp(name, "uint8", (found, a)))
        return found

    def _is_flag(self, value: Value) -> bool:
        return isinstance(value, ir.Local) and value.name in self._flags

    def _as_flag(self, value: ir.Expr) -> ir.Expr:
        """Return the name of a byte that is 0 or 1."""
        found = self.let(value)
        if isinstance(found, ir.Local):
            self._flags.add(found.name)
        return found

    def input(self, name: str, dtype: str, given: Given) -> Value:
        """Return an input of the kernel as a value; a number in memory is read once."""
        known = (given.value, *given.lengths, *given.strides)
        self._defined.update((e.name, (0, None)) for e in known if isinstance(e, ir.Local))
        if given.value is not None:
            return given.value
        if given.is_range or given.lengths:
            for n in given.lengths:
                self._counts_from_front(n)
            return View.whole("" if given.is_range else name, dtype, given.lengths, given.strides)
        return self._computed(ir.Load(dtype, name, ir.ZERO))

    def graph(
        self, graph: FunctionGraph, found: Places, given: Sequence[Value],
        store: Callable[[Apply | None, Mapping[Variable, Value]], None] = lambda node, values: None,
    ) -> dict[Variable, Value]:  # fmt: skip
        """Write the nodes of a body; return the values of its variables.  `store` is called behind each node."""
        values: dict[Variable, Value] = dict(zip(graph.inputs, given, strict=True))
        store(None, values)
        writes = writes_of_choices(graph, found.order)
        chosen = {w.node for own in writes.values() for side in own.sides for w in side}
        for node in found.order:
            if node in chosen:
                values[node.out] = values[node.inputs[0]]
                continue
            outer, self._place = self._place, self._places[node]
            given = [self._value(v, values) for v in node.inputs]
            for k, value in enumerate(given):
                if (node, k) in found.copied:
                    given[k] = self.kept(value, node.inputs[k].type)
            self._node(node, given, values, writes.get(node, ChosenWrites()))
            part = values[node.outputs[0]] if node in found.held else None
            if isinstance(part, View):
                values[node.out] = self.stored(part, (part.array, self._place), part.dtype)
            store(node, values)
            self._place = outer
        return values

    def _value(self, v: Variable, values: Mapping[Variable, Value]) -> Any:
        if v in values:
            return values[v]
        assert isinstance(v, Constant)
        return ir.Const(v.dtype, v.data.item())

    def _node(self, node: Apply, given: list[Any], values: dict[Variable, Value], writes: ChosenWrites) -> None:
        op = unmarked(node.op)
        found: list[Any]
        if is_small(node):
            found = self.small(node, given)
        elif isinstance(op, Scan):
            found = self.loop(op, given[0], given[1:], node)
        elif isinstance(op, Cond):
            found = self._choice(op, node, given, writes, values)
        elif isinstance(op, (Fused, Pipeline, Assembled)):
            found = self._group(op.graph, given, given)
        elif isinstance(op, Subtensor):
            found = [self._read(op, given[0], given[1:])]
        elif isinstance(op, AdvancedSubtensor):
            found = [self.gathered(given[0], given[1:])]
        elif isinstance(op, AdvancedIncSubtensor):
            self.scatter(op, given[0], given[1], given[2:], given)
            found = given[:1]
        elif isinstance(op, IncSubtensor) and isinstance(given[0], View):
            if not self.write_selected(op, given[0], given[1], given[2:]):
                self.write(op, given[1], self.part(given[0], op.spec, given[2:]), given)
            found = given[:1]
        elif op is identity and isinstance(given[0], View):
            found = given
        elif isinstance(op, (AssumeEqual, CheckLengths, SpecifyShape, ShapeI)):
            found = self._of_lengths(op, given)
        elif isinstance(op, Arange):
            found = [self._range(given[0], given[1])]
        else:
            found = [self._computed_by(node.with_op(op), given, given)]
        for v, value in zip(node.outputs, found, strict=True):
            values[v] = self.kept(value, v.type) if is_kept(v) and isinstance(value, Elements) else value

    def _of_lengths(self, op: AssumeEqual | CheckLengths | SpecifyShape | ShapeI, given: Sequence[Any]) -> list[Any]:
        """Return arrays whose lengths are known or checked, or a length."""
        if isinstance(op, AssumeEqual):
            return _with_lengths(op, *op.parts(given))
        if isinstance(op, CheckLengths):
            return [self._promised(given[0], given[1::2], given[2::2])]
        if isinstance(op, SpecifyShape):
            return [self._promised(given[0], given[0].lengths, given[1:]).with_lengths(given[1:])]
        return [given[0].lengths[op.axis]]

    def _promised(self, x: Value, got: Sequence[ir.Expr], wanted: Sequence[ir.Expr]) -> Any:
        """Write the checks of promised lengths; return the array."""
        for number, pair in enumerate(zip(got, wanted, strict=True)):
            if pair[0] != pair[1]:
                self._fail_if(ir.ScalarOp("ne", "bool", pair), Status.PROMISED, ir.number(number), *pair)
        return x

    def _range(self, start: ir.Expr, stop: ir.Expr) -> View:
        """Return the integers from `start` up to `stop`."""
        count = self.let(ir.minus(stop, start)) if start != ir.ZERO else stop
        if not self.is_not_negative(count):
            count = self.let(ir.ScalarOp("maximum", "int64", (count, ir.ZERO)))
        return View("", "int64", start, (count,), (ir.ONE,), ((0, ir.ZERO, 1),))

    # --- elements
    def _group(self, graph: FunctionGraph, given: Sequence[Any], shapes: Sequence[Any]) -> list[Value]:
        """Return the results of a group of operations on scalars and vectors, with other groups inside."""
        inside = dict(zip(graph.inputs, given, strict=True))
        for node in graph.order:
            values, op = [self._value(v, inside) for v in node.inputs], unmarked(node.op)
            whole = isinstance(op, Fused)
            found = self._group(op.graph, values, shapes) if whole else [self._computed_by(node, values, shapes)]
            inside.update(zip(node.outputs, found, strict=True))
        return [self._value(v, inside) for v in graph.outputs]

    def _computed_by(self, node: Apply, given: Sequence[Any], shapes: Sequence[Any]) -> Value:
        """Return the value of an operation on scalars and vectors."""
        op = node.op
        if isinstance(op, AdvancedSubtensor):
            return self.gathered(given[0], given[1:])
        if isinstance(op, DimShuffle) and node.out.ndim:
            return self.filled(given[0], ir.ONE, node.out.dtype)
        match op:
            case Alloc(): return self.filled(given[0], given[1], node.out.dtype)
            case IncSubtensor(): return self.with_element(op, *given)
            case Dot(): return self.dot(node, given)
            case Reduce(): return self.fold(op, node, given[0])
            case SumTo(): return self.summed_to(node, *given)
        return self.elementwise(node, given, shapes)

    def _read(self, op: Subtensor, x: View | Elements, indices: Sequence[ir.Expr]) -> Value:
        if isinstance(x, Elements):
            return self.element_of(x, self._position(indices[0], x.length, 0))
        part = self.part(x, op.spec, indices)
        if part.lengths:
            return replace(part, first=self._named(part.first))
        if not x.array:
            return part.first
        return self._loaded(x, part.first)

    # --- choices
    def _choice(
        self, op: Cond, node: Apply, given: Sequence[Any], writes: ChosenWrites, values: Mapping[Variable, Value]
    ) -> list[Any]:
        """Write a choice with the writes of its branches; return its results, None for those that they alone read."""
        condition, *operands = given
        names = [
            None if k in writes.held or o.ndim else ir.Local(o.dtype, self.name("w"))
            for k, o in enumerate(op.then.outputs)
        ]
        for name in filter(None, names):
            self.add(ir.Declare(name.name, name.dtype))
            self._defined[name.name] = self.depth, None
        joined = [joined_in(op, node, k) if o.ndim else None for k, o in enumerate(node.outputs)]
        results: list[Any] = [
            name if not o.ndim else self.memory(o.type) if place is None else operands[place]
            for name, place, o in zip(names, joined, node.outputs, strict=True)
        ]
        bodies, signs = [], []
        for graph, own in zip(op.branches, writes.sides, strict=True):
            branch = in_place_branch(graph)
            assert branch is not None
            self.open()
            wanted = [o for o, name in zip(graph.outputs, names, strict=True) if own or name is not None or o.ndim]
            needed = set(toposort(wanted, stop_at=graph.inputs))
            order = tuple(inner for inner in branch.places.order if inner in needed)
            inside = self.graph(graph, replace(branch.places, order=order), operands)
            self._write_chosen(own, graph, inside, values)
            pairs = zip(names, graph.outputs, strict=True)
            ends = {name: self._value(o, inside) for name, o in pairs if name is not None}
            for name, value in ends.items():
                self.add(ir.Assign(name.name, value))
            arrays = zip(results, graph.outputs, strict=True)
            self._renew([(to, o, self._value(o, inside)) for to, o in arrays if o.ndim])
            signs.append([self.is_not_negative(value) for value in ends.values()])
            bodies.append(self.close())
        self.add(ir.If(condition, bodies[0], bodies[1]))
        for name, one, other in zip(ends, *signs, strict=True):
            if one and other:
                self._counts_from_front(name)
        return results

    def _renew(self, some: Sequence[tuple[View, Variable, View]]) -> None:
        """Copy small arrays to others, all at once: where each goes, the array, and its value."""
        copied = [row for row in some if not row[2].is_same(row[0])]
        for to, _, value in copied:
            pairs = [pair for pair in zip(to.lengths, value.lengths, strict=True) if pair[0] != pair[1]]
            if pairs:
                outer, self._place = self._place, self._loop_place
                detail = (ir.number(self._numbers.get(to.array, 0)), self._loops[-1].index, ir.number(len(to.lengths)))
                differ = ir.some([ir.ScalarOp("ne", "bool", pair) for pair in pairs])
                self._fail_if(differ, Status.CHANGED, *detail, *to.lengths, *value.lengths)
                self._place = outer
        elements = [self.elements_of(value, v.type) for _, v, value in copied]
        for (to, v, _), own in zip(copied, elements, strict=True):
            self.store_elements(to, v.type, own)

    def _write_chosen(
        self, writes: Sequence[ChosenWrite], graph: FunctionGraph, inside: Mapping[Variable, Value],
        outside: Mapping[Variable, Value],
    ) -> None:  # fmt: skip
        """Write the elements that one branch of a choice writes."""
        outer = self._place
        for write in writes:
            self._place = self._places[write.node]
            op, array = unmarked(write.node.op), outside[write.array]
            assert isinstance(op, IncSubtensor)
            assert isinstance(array, View)
            sources = (graph.outputs[s] if isinstance(s, int) else s for s in write.sources)
            value, *index = (self._value(v, inside) for v in sources)
            self.write(op, value, self.part(array, op.spec, index), ())
        self._place = outer

    # --- loops
    def loop(
        self, op: Scan, steps: ir.Expr, given: Sequence[Any], node: Apply | None, targets: Sequence[View] = ()
    ) -> list[Any]:
        """Write a loop; return its results.

        `node`: that of an inner loop, None for the loop of the kernel, whose steps and sequences are checked before it
        and whose results go to `targets`.
        """
        if node is not None:
            self._check(op, steps, given)
        firsts = given[op.states]
        states = [f if isinstance(f, View) else self._state(f) for f in firsts]
        ended = ir.Local("bool", self.name("e")) if op.until else None
        if ended is not None:
            self.add(ir.Var(ended.name, ir.Const("bool", False)))
        t = ir.index(self.name("t"))
        self._bounds[t.name] = steps
        written = {s.array for s in states if isinstance(s, View)}
        self._epochs.update(written)
        numbers = [s.name for s in states if isinstance(s, ir.Local)]
        self.open()
        self._counts_from_front(t)
        self._defined.update((name, (self.depth, None)) for name in (*numbers, t.name))
        around = Steps(t, steps, self.depth)
        is_short = isinstance(steps, ir.Const) and steps.value.real <= SHORT
        self._loops.append(replace(around, depth=-1) if is_short else around)
        self._step(op, t, given, states, ended, targets, -1 if node is None else self._places[node])
        self._loops.pop()
        body = self.close()
        self._defined.update((name, (self.depth, None)) for name in numbers)
        stop = self.stop_of(around)
        self._strips(op, around, stop, ended, body)
        self.fail_at(stop, around, ended)
        self._epochs.update(written)
        for state, target, traced in zip(states, targets, op.traced, strict=False):
            if isinstance(state, ir.Local) and not traced:
                self.add(ir.Store(target.array, ir.ZERO, state))
        return states

    def _state(self, first: ir.Expr) -> ir.Local:
        is_flag = first.dtype == "bool" or self._is_flag(first)
        found = ir.Local("uint8" if is_flag else first.dtype, self.name("s"))
        if is_flag:
            self._flags.add(found.name)
        self.add(ir.Var(found.name, ir.ScalarOp("cast", "uint8", (first,)) if first.dtype == "bool" else first))
        return found

    def _check(self, op: Scan, steps: ir.Expr, given: Sequence[Any]) -> None:
        """Write the checks of an inner loop's number of steps, and of the lengths of its sequences."""
        if not self.is_not_negative(steps):
            self._fail_if(ir.less(steps, ir.ZERO), Status.NEGATIVE_STEPS, steps)
        for k, sequence in enumerate(given[: op.sequences]):
            if sequence.lengths[0] != steps:
                short = ir.less(sequence.lengths[0], steps)
                self._fail_if(short, Status.TOO_SHORT, ir.number(k), sequence.lengths[0], steps)

    def _step(
        self, op: Scan, t: ir.Local, given: Sequence[Any], states: Sequence[Any], ended: ir.Local | None,
        targets: Sequence[View], place: int,
    ) -> None:  # fmt: skip
        """Write one step.  `place`: the number of the loop, for messages."""
        rows = [self._row(s, t) for s in given[: op.sequences]]
        found = places(op)
        assert found is not None
        arrays = stored_after(op) if targets else {}
        outer = self._numbers, self._loop_place
        self._numbers = {state.array: k for k, state in enumerate(states) if isinstance(state, View)}
        self._loop_place = place

        def store(node: Apply | None, known: Mapping[Variable, Value]) -> None:
            for k in arrays.get(node, ()):
                self._store_array(k, known[bare(op.graph.outputs[k])], targets[k], t)

        values = self.graph(op.graph, found, [*rows, *states, *given[op.states.stop :]], store)
        new = [self._value(o, values) for o in op.graph.outputs]
        for k, target in enumerate(targets):
            if (k >= len(states) or op.traced[k]) and len(target.lengths) == 1:
                self.add(ir.Store(target.array, ir.times(t, target.strides[0]), new[k]))
        held = {s.name for s in states if isinstance(s, ir.Local)}
        changed = [(s, v) for s, v in zip(states, new, strict=False) if isinstance(s, ir.Local) and v != s]
        kept = [(s, self._computed(v) if isinstance(v, ir.Local) and v.name in held else v) for s, v in changed]
        made = zip(states, op.graph.outputs, new, strict=False)
        self._renew([(state, o, value) for state, o, value in made if isinstance(state, View)])
        for state, value in kept:
            self.add(ir.Assign(state.name, value))
        self._numbers, self._loop_place = outer
        if ended is not None:
            self.add(ir.If(new[-1], (ir.Assign(ended.name, ir.Const("bool", True)), ir.Break())))

    def _store_array(self, number: int, value: Value, target: View, t: ir.Local) -> None:
        """Store an array of step t, the output `number` of the body, in its row."""
        row = self._row(target, t)
        assert isinstance(row, View)
        assert isinstance(value, (View, Elements))
        pairs = list(zip(row.lengths, value.lengths, strict=True))
        differ = [ir.ScalarOp("ne", "bool", pair) for pair in pairs if pair[0] != pair[1]]
        if differ:
            lengths = (*row.lengths, *value.lengths)
            outer, self._place = self._place, self._loop_place
            self._fail_if(ir.some(differ), Status.CHANGED, ir.number(number), t, ir.number(len(pairs)), *lengths)
            self._place = outer
        self.copied(value, row)

    def _row(self, sequence: View, t: ir.Local) -> Value:
        """Return the element, or the part, of a sequence in step t."""
        first = ir.plus(sequence.first, ir.times(t, sequence.strides[0]))
        if len(sequence.lengths) > 1:
            rest = sequence.lengths[1:], sequence.strides[1:], sequence.axes[1:]
            return View(sequence.array, sequence.dtype, self._named(first), *rest)
        return self._loaded(sequence, first) if sequence.array else first

    def _strips(self, op: Scan, loop: Steps, steps: ir.Expr, ended: ir.Local | None, body: ir.Body) -> None:
        """Write the loop over the steps, in strips if there may be many: after each one Ctrl-C is looked for."""
        t = loop.index
        loops = any(isinstance(unmarked(node.op), Scan) or is_vector_loop(node) for node in nodes_within(op.graph))
        strip = STRIP_OF_LOOPS if loops else STRIP
        own = own_element(t, body)
        if isinstance(steps, ir.Const) and steps.value.real <= strip and not loop.offsets and own is None:
            self.add(ir.For(t.name, ir.ZERO, steps, body))
            return
        unroll = _copies(body) if not loops and ended is None else 1
        begin, last = ir.index(self.name("r")), ir.index(self.name("r"))
        end: ir.Expr = last
        left = ir.minus(steps, begin)
        is_last = ir.ScalarOp("le", "bool", (left, ir.number(strip)))
        full = ir.plus(begin, ir.number(strip))
        whole: list[ir.Statement] = [ir.Let(last.name, ir.ScalarOp("switch", "int64", (is_last, steps, full)))]
        called = ir.ScalarOp("is_called", "bool", (ir.Local(CALLBACK, "stopped"),))
        by: int | ir.Local = strip
        if own is not None:
            end, body = ir.index(self.name("r")), own.body
            whole += [ir.Let(end.name, own.end(begin, last)), *own.reads]
        if loop.offsets or own is not None:
            offsets, end = strip_offsets(loop, begin, end, self.name)
            by = ir.index(self.name("r"))
            self.add(ir.Var(by.name, ir.ZERO))
            whole += [*offsets, ir.Assign(by.name, ir.minus(end, begin))]
        whole += [
            ir.For(t.name, begin, end, body, unroll=unroll),
            ir.If(ir.ScalarOp("eq", "bool", (end, steps)) if ended is None else ir.some([ended, ir.equal(end, steps)]),
                  (ir.Break(),)),
            ir.If(called if own is None else ir.every([ir.equal(end, last), called]),
                  (ir.Return(ir.Const("int32", _STOPPED)),)),
        ]  # fmt: skip
        self.add(ir.For(begin.name, ir.ZERO, steps, tuple(whole), by))


def _copies(body: ir.Body) -> int:
    """Return how many copies of the body of an inner loop stand between two jumps: several if it chooses."""
    copies, most = current().limits.programs.unrolled_choices
    inner = list(all_statements(body))
    chooses = any(isinstance(s, ir.If) and s.orelse for s in inner)
    return copies if chooses and len(inner) <= most else 1


def _with_lengths(op: AssumeEqual, views: Sequence[View], lengths: Sequence[ir.Expr]) -> list[View]:
    """Return the views with the names of lengths that theirs are equal to."""
    known = [list(view.lengths) for view in views]
    for (number, axis), length in zip(op.axes, lengths, strict=True):
        known[number][axis] = length
    return [view.with_lengths(own) for view, own in zip(views, known, strict=True)]
