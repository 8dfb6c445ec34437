"""The planner: methods that turn an op into steps.  plan.py selects the function that plans each op.

Quantities are named once: the same sum, product or joint length has the same name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ...graph import Apply, Constant, Dim, FunctionGraph, Op, TensorType, Variable, dims_of, toposort
from ...graph.dims import broadcast
from ...graph.types import numpy_dtype
from ..ir.kernel import Kernel
from ..ir.operands import Extent, Operand, Pointer, Stride
from ..kernels import SOLVERS, KernelSpec, library_of
from ..kernels.memory.spec import COPY
from ..lowering.interleaved import Interleaved, lower_interleaved
from . import program as prog
from .calls import effects
from .choices import Choices
from .outcome import Outcome

_Like = tuple[Op, tuple[TensorType, ...], tuple[int, ...]]
"""Op and types of the operands of a node, and which of them are the same."""
Extents = Sequence[prog.Quantity | None]
"""Extents of the loops of a kernel; None for the columns of interleaved arrays, for which it has no loop."""

_PARTS = 16
"""Most parts of a joint length that are tracked: a sum of 20,000 inputs takes linear time."""


class Planner:
    """A program under construction.  `arrays` holds the array of each variable that is already planned."""

    def __init__(
        self, direct: dict[Variable, int], needed: set[Variable], mutable: Mapping[str, int],
        planners: tuple[Callable[[Planner, Apply], None], Callable[[Planner, FunctionGraph], int]], choices: Choices,
        strided: bool = False,
    ) -> None:  # fmt: skip
        """`planners`: of a node, and of an inner graph, whose number among the bodies it returns."""
        self.plan_node: Callable[[Planner, Apply], None] = planners[0]
        self.plan_body: Callable[[Planner, FunctionGraph], int] = planners[1]
        self.strided = strided
        """Whether arrays of any strides enter and leave the program and its bodies, instead of copies."""
        self.choices = choices
        self.mutable = mutable
        """Inputs, by name, that may be overwritten, and the output that each becomes."""
        self.restores = True
        """Whether a failing call restores the parts of inputs that it has overwritten."""
        self.direct = direct
        """Variables that may be computed in the memory of an output, and the number of that output."""
        self.needed = needed
        """Variables whose elements are read; for others only the lengths are computed."""
        self.ordered: set[Variable] = set()
        """Outputs that need not be C-contiguous; see planners/order.py."""
        self.steps: list[prog.Step] = []
        self.arrays: dict[Variable, prog.Array] = {}
        self.locals: dict[str, tuple[str, int]] = {}
        self.kernels: dict[str, Kernel] = {}
        self.products: dict[str, None] = {}
        """The runtime's libraries of products that the program needs: dtypes, and formats of packed weights."""
        self.solvers: dict[str, None] = {}
        """Dtypes for which the program needs the runtime's LAPACK."""
        self.bodies: dict[FunctionGraph, prog.Program] = {}
        """The inner graphs of loops and choices, planned."""
        self.site = 0
        self.places: dict[Variable, prog.Array] = {}
        """Parts of larger arrays in which variables are computed."""
        self.parts: dict[Variable, tuple[prog.Array, int | None]] = {}
        """Parts of states in which variables are computed; the input that reads the part: see parts.py."""
        self.taken: set[int] = set()
        """Outputs whose memory is in use."""
        self.buffers: int = 0
        self._lowered: dict[tuple[_Like, tuple[tuple[int, int], ...]], Kernel] = {}
        self._interleaved: dict[tuple[_Like, tuple[Interleaved, ...]], Kernel | None] = {}
        self._known: dict[tuple[object, ...], str] = {}
        self._joints: dict[frozenset[prog.Quantity], prog.Quantity] = {}
        self._joined: dict[prog.Quantity, frozenset[prog.Quantity]] = {}
        self._strides: dict[prog.Lengths, prog.Lengths] = {}

    # --- names
    def name(self, prefix: str, c_type: str, count: int = 0) -> str:
        """A new local of the driver: INTEGER, POINTER, or `count` elements of a dtype."""
        name = f"{prefix}{len(self.locals)}"
        self.locals[name] = (c_type, count)
        return name

    def buffer(self, output: int | None = None) -> prog.Buffer:
        self.buffers += 1
        if output is not None:
            self.taken.add(output)
        return prog.Buffer(self.buffers - 1, output)

    def declare(self, pointer: str, quantities: prog.Lengths) -> None:
        """Declare locals that the driver sets before the first step."""
        self.locals[pointer] = (prog.POINTER, 0)
        self.locals.update((n, (prog.INTEGER, 0)) for n in quantities if isinstance(n, str))

    # --- quantities
    def let(
        self, operator: str, *operands: prog.Quantity, failure: Outcome | None = None, axis: int = 0
    ) -> prog.Quantity:
        """Return the name of `operator` of quantities; equal expressions share a name."""
        key = (operator, *operands)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.name("n", prog.INTEGER)
            self.steps.append(prog.Compute(self.site, found, operator, operands, failure, axis))
        return found

    def guard(self, test: str, *operands: prog.Quantity, failure: Outcome, axis: int = 0) -> None:
        """Plan the check that `test` holds for the operands, unless that is certain or checked already."""
        key = ("guard", test, *operands)
        if (test in ("equal", "reaches") and operands[0] == operands[1]) or key in self._known:
            return
        self._known[key] = ""
        self.steps.append(prog.Guard(self.site, test, operands, failure, axis))

    def product(self, factors: Iterable[prog.Quantity]) -> prog.Quantity:
        factors = list(factors)
        number = math.prod(f for f in factors if isinstance(f, int))
        names = [f for f in factors if isinstance(f, str)]
        if number == 0 or not names:
            return number
        if number != 1:
            names.append(number)  # type: ignore[arg-type]
        return names[0] if len(names) == 1 else self.let("product", *names)

    def sum(self, terms: Iterable[prog.Quantity]) -> prog.Quantity:
        terms = list(terms)
        number = sum(t for t in terms if isinstance(t, int))
        names: list[prog.Quantity] = [t for t in terms if isinstance(t, str)]
        if not names:
            return number
        if number:
            names.append(number)
        return names[0] if len(names) == 1 else self.let("sum", *names)

    def join(
        self, lengths: Iterable[prog.Quantity], axis: int = 0, failure: Outcome = Outcome.LENGTHS
    ) -> prog.Quantity:
        """Return the joint length of axes that broadcast against each other.

        What was joined before is known by its parts: join(join(a, b), a) is join(a, b).
        """
        distinct = list(dict.fromkeys(n for n in lengths if n != 1))
        if len(distinct) <= 1:
            return distinct[0] if distinct else 1
        parts = frozenset[prog.Quantity]().union(*(self._joined.get(n, (n,)) for n in distinct))
        found = self._joints.get(parts)
        if found is None:
            found = self._joints[parts] = self.let("join", *distinct, failure=failure, axis=axis)
            if len(parts) <= _PARTS:
                self._joined[found] = parts
        return found

    def along(self, length: prog.Quantity, extent: prog.Quantity, stride: prog.Quantity) -> prog.Quantity:
        """Return the stride of an axis along a loop of `extent` steps: 0 if it is broadcast."""
        if length == extent or stride == 0:
            return stride
        return 0 if length == 1 else self.let("broadcast", length, stride)

    def read(self, variable: Variable) -> prog.Quantity:
        """Return the value of an integer scalar."""
        key = ("read", variable)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self.load(self.arrays[variable])
        return found

    def load(self, array: prog.Array) -> str:
        """Return the integer in an array of rank 0."""
        name = self.name("n", prog.INTEGER)
        self.steps.append(prog.Read(self.site, name, array))
        return name

    def known(self, variable: Variable) -> prog.Quantity | None:
        """Return the value of an integer scalar that has been read already, or that was known before."""
        return self._known.get(("read", variable))

    def knows(self, variable: Variable, value: prog.Quantity) -> None:
        """Record the value of an integer scalar, so that it is never read from memory."""
        if isinstance(value, str):
            self._known["read", variable] = value

    def lengths(self, variables: Iterable[Variable]) -> prog.Lengths:
        """Return the values of integer scalars that are lengths, with checks that none is negative.

        A length that is certainly 1 is a number.
        """
        found: list[prog.Quantity] = []
        for axis, variable in enumerate(variables):
            if isinstance(variable, Constant) and variable.data == 1:
                found.append(1)
                continue
            length = self.read(variable)
            self.guard("not_negative", length, failure=Outcome.NEGATIVE_LENGTH, axis=axis)
            found.append(length)
        return tuple(found)

    def strides(self, lengths: prog.Lengths) -> prog.Lengths:
        """The strides of a C-contiguous array."""
        found = self._strides.get(lengths)
        if found is None:
            found = self._strides[lengths] = tuple(self.product(lengths[axis + 1 :]) for axis in range(len(lengths)))
        return found

    # --- arrays
    def fresh(self, dtype: str, lengths: prog.Lengths, output: int | None = None) -> prog.Array:
        """Return a new array: on the stack for rank 0 (unless it is an output), else in a buffer."""
        if not lengths and output is None:
            return self.on_stack(dtype, ())
        buffer = self.buffer(output)
        self.steps.append(prog.Allocate(self.site, buffer, lengths, dtype))
        return self.dense(buffer, dtype, lengths)

    def on_stack(self, dtype: str, lengths: tuple[int, ...]) -> prog.Array:
        return self.dense(self.name("v", dtype, math.prod(lengths)), dtype, lengths)

    def dense(self, base: prog.Memory, dtype: str, lengths: prog.Lengths) -> prog.Array:
        return prog.Array(base, dtype, lengths, self.strides(lengths), True, (base,))

    def result(self, variable: Variable, lengths: prog.Lengths) -> prog.Array:
        """Return a new array for `variable`, in the memory of an output if it becomes one.

        Its lengths are checked against its type.
        """
        self.keep_promises(variable, lengths)
        if variable not in self.needed:
            return self.put(variable, self.dense("", variable.dtype, lengths))
        if variable in self.places:
            return self.put(variable, self.places.pop(variable))
        if variable in self.parts:
            return self.put(variable, self._in_part(variable, lengths))
        return self.put(variable, self.fresh(variable.dtype, lengths, self.direct.get(variable)))

    def _in_part(self, variable: Variable, lengths: prog.Lengths) -> prog.Array:
        """Return the part of a state in which a variable is computed; the run checks that it is as long."""
        part, read = self.parts[variable]
        for axis, (have, want) in enumerate(zip(part.lengths, lengths, strict=True)):
            self.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
        part = replace(part, lengths=lengths, dense=False)  # so that nothing is written over it
        self.parts[variable] = part, read
        return part

    def keep_promises(self, variable: Variable, lengths: prog.Lengths) -> None:
        """Plan the check that lengths which are 1 by type are 1: kernels that read the variable rely on it."""
        for axis, (known, length) in enumerate(zip(variable.type.shape, lengths, strict=True)):
            if known == 1:
                self.guard("equal", length, 1, failure=Outcome.LENGTHS, axis=axis)

    def put(self, variable: Variable, array: prog.Array) -> prog.Array:
        self.arrays[variable] = array
        return array

    def is_overwritable(self, array: prog.Array) -> bool:
        """Whether an array belongs to the program, and no two elements share memory."""
        if array.base == "":  # its values have no reader
            return False
        own = all(
            isinstance(m, prog.Buffer) or m in self.mutable or self.locals[m][0] != prog.POINTER for m in array.memory
        )
        return own and array.dense

    def is_blas_ready(self, array: prog.Array) -> bool:
        """Whether BLAS certainly takes an array as it is: C-contiguous, perhaps transposed."""
        return array.strides in (self.strides(array.lengths), self.strides(array.lengths[::-1])[::-1])

    def view(
        self, array: prog.Array, lengths: prog.Lengths, strides: prog.Lengths, offset: prog.Quantity = 0,
        dense: bool = False,
    ) -> prog.Array:
        """Return another array over the memory of `array`, `offset` elements on."""
        base = array.base
        if offset != 0 and base != "":
            base = self.name("p", prog.POINTER)
            self.steps.append(prog.Offset(self.site, base, array, offset))
        return prog.Array(base, array.dtype, lengths, strides, dense, array.memory)

    def select(self, condition: prog.Quantity, first: prog.Array, second: prog.Array) -> prog.Array:
        """Return `first` if `condition` is not 0, else `second`; they have the same lengths."""
        name = self.name("p", prog.POINTER)
        self.steps.append(prog.Select(self.site, name, condition, first, second))
        strides = tuple(
            a if a == b else self.let("choose", condition, a, b)
            for a, b in zip(first.strides, second.strides, strict=True)
        )
        memory = tuple(dict.fromkeys(first.memory + second.memory))
        return prog.Array(name, first.dtype, first.lengths, strides, first.dense and second.dense, memory)

    def packed(self, array: prog.Array) -> prog.Array:
        """Return `array` if it is C-contiguous, which may be known only at run time, else a copy."""
        if array.dense:
            return array
        name, buffer = self.name("p", prog.POINTER), self.buffer()
        self.steps.append(prog.Pack(self.site, name, buffer, array))
        return prog.Array(name, array.dtype, array.lengths, self.strides(array.lengths), True, (*array.memory, buffer))

    def fill(self, values: prog.Lengths) -> prog.Array:
        """Return an int64 vector of quantities, on the stack."""
        array = self.on_stack("int64", (len(values),))
        assert isinstance(array.base, str)
        self.steps.append(prog.Fill(self.site, array.base, values))
        return array

    # --- work
    def call(
        self, kernel: Kernel, arguments: Sequence[prog.Argument], writes: Sequence[prog.Array],
        reads: Sequence[prog.Array],
    ) -> None:
        """Plan a call of a generated kernel with these arguments."""
        self.kernels.setdefault(kernel.name, kernel)
        call = prog.Call(self.site, kernel.name, tuple(arguments), tuple(writes), tuple(reads), kernel.fallible, True)
        self.steps.append(call)

    def elsewhere(
        self, name: str, arguments: Sequence[prog.Argument], writes: Sequence[prog.Array], reads: Sequence[prog.Array]
    ) -> None:
        """Plan a call of a kernel that another engine has under this name."""
        self.steps.append(prog.Call(self.site, name, tuple(arguments), tuple(writes), tuple(reads), False, False))

    def run(
        self, spec: KernelSpec, dtype: str = "", *, fallible: bool | None = None,
        **given: prog.Argument | prog.Lengths,
    ) -> None:  # fmt: skip
        """Plan a call of a kernel of the runtime by the names of its fields.

        `dtype`: that of its table.  `fallible`: whether it may fail here; by default if it may fail at all.
        """
        arguments = spec.arguments({k: prog.Vector(v) if isinstance(v, tuple) else v for k, v in given.items()})
        if spec.table:
            (self.solvers if spec.table == SOLVERS else self.products)[library_of(spec, dtype)] = None
        may_fail = bool(spec.fails) if fallible is None else fallible
        writes, reads = effects(spec.name, arguments, self.kernels)
        self.steps.append(prog.Call(self.site, spec.name, arguments, writes, reads, may_fail, False, dtype))

    def kernel(self, node: Apply, pairs: tuple[tuple[int, int], ...] = ()) -> Kernel:
        """Return the kernel of `node`; equal ops on equal types share it.

        `pairs`: outputs that may share the memory of an input.
        """
        key = _like(node), pairs
        found = self._lowered.get(key)
        if found is None:
            found = self._lowered[key] = self.choices.lowered(node, pairs)
        return found

    def interleaved(self, node: Apply, arrays: tuple[Interleaved, ...]) -> Kernel | None:
        """Return the kernel of an elementwise node over interleaved arrays; None if another form is better."""
        key = _like(node), arrays
        if key not in self._interleaved:
            self._interleaved[key] = lower_interleaved(node, arrays)
        return self._interleaved[key]

    def launch(
        self, kernel: Kernel, extents: Extents, outputs: Sequence[prog.Array], inputs: Sequence[prog.Array]
    ) -> None:
        """Plan a launch of `kernel` over these extents; arrays stand in the order of its operands."""
        arguments: list[prog.Argument] = [*self.kernel_arguments(kernel, extents, outputs, inputs)]
        tables = [a for a, operand in zip(inputs, kernel.inputs, strict=True) if operand.indexed]
        if tables:
            lengths = [q for a in tables for axis in zip(a.lengths, a.strides, strict=True) for q in axis]
            arguments += [*lengths, prog.Detail()]
        self.call(kernel, arguments, outputs, inputs)

    def kernel_arguments(
        self, kernel: Kernel, extents: Extents, outputs: Sequence[prog.Array], inputs: Sequence[prog.Array]
    ) -> list[prog.Quantity | prog.Array]:
        """Return the arguments of a launch, in order; without those of arrays that are looked up in."""
        arrays = (*outputs, *inputs)
        arguments: list[prog.Quantity | prog.Array] = []
        for argument in kernel.arguments:
            if isinstance(argument, Extent):
                extent = extents[argument.loop]
                arguments.append(1 if extent is None else extent)
            elif isinstance(argument, Pointer):
                arguments.append(arrays[argument.operand])
            elif isinstance(argument, Stride):
                array, operand = arrays[argument.operand], kernel.operands[argument.operand]
                axis = operand.axes.index(argument.loop)
                extent, stride = extents[argument.loop], array.strides[axis]
                arguments.append(stride if extent is None else self.along(array.lengths[axis], extent, stride))
        return arguments

    def extents(self, kernel: Kernel, inputs: Sequence[prog.Array], among: Sequence[int] | None = None) -> prog.Lengths:
        """Return the extents of the loops: for each the joint length of its input axes.

        `among`: only these inputs count.
        """
        along: list[list[prog.Quantity]] = [[] for _ in range(kernel.rank)]
        for number in range(len(inputs)) if among is None else among:
            for loop, length in zip(kernel.inputs[number].axes, inputs[number].lengths, strict=True):
                if loop is not None:
                    along[loop].append(length)
        return tuple(self.join(lengths, axis) for axis, lengths in enumerate(along))

    def copy(self, target: prog.Array, source: prog.Array) -> None:
        """Plan a copy of `source`, broadcast, to `target`."""
        added = len(target.lengths) - len(source.lengths)
        strides = (0,) * added + tuple(
            self.along(have, want, stride)
            for have, want, stride in zip(source.lengths, target.lengths[added:], source.strides, strict=True)
        )
        item = numpy_dtype(target.dtype).itemsize
        self.run(COPY, item=item, n=target.lengths, y=target, ys=target.strides, x=source, xs=strides)

    def copied(self, array: prog.Array, output: int | None = None) -> prog.Array:
        """Return a fresh C-contiguous copy of `array`."""
        target = self.fresh(array.dtype, array.lengths, output)
        self.copy(target, array)
        return target

    def modifiable(self, node: Apply) -> prog.Array:
        """Return an array with the first input that `node` may overwrite: the input itself, or a copy."""
        x = self.arrays[node.inputs[0]]
        if node.op.destroys().get(0) == 0 and self.is_overwritable(x):
            return self.put(node.out, x)
        result = self.result(node.out, x.lengths)
        self.copy(result, x)
        return result

    def expand(self, node: Apply, outputs: Sequence[Variable]) -> None:
        """Plan `outputs`, computed from the inputs of `node`, as the node's outputs."""
        self.plan_all(outputs)
        for mine, other in zip(node.outputs, outputs, strict=True):
            self.put(mine, self.arrays[other])

    def plan_all(self, outputs: Sequence[Variable]) -> None:
        """Plan values that are computed from variables which are already planned."""
        for node in toposort(outputs, stop_at=self.arrays):
            self.needed.update(node.outputs)
            self.plan_node(self, node)

    def inputs_of(self, node: Apply) -> list[prog.Array]:
        return [self.arrays[i] for i in node.inputs]


def _like(node: Apply) -> _Like:
    first: dict[Variable, int] = {}
    same = tuple(first.setdefault(i, k) for k, i in enumerate(node.inputs))  # x * x reads one array
    return node.op, tuple(i.type for i in node.inputs), same


def whole_outputs(node: Apply, kernel: Kernel) -> list[bool]:
    """Return for each output whether it is certainly as long as the loops of its kernel along each axis."""
    reads_all = [len(feeding) == len(kernel.inputs) for feeding in kernel.feeds] or [True] * len(kernel.outputs)
    if all(reads_all):
        return reads_all
    along: dict[int, list[Dim]] = {}
    for operand in kernel.inputs:
        for loop, length in zip(operand.axes, dims_of(node.inputs[operand.source]), strict=True):
            if loop is not None:
                along.setdefault(loop, []).append(length)
    extents: dict[int | None, Dim] = {loop: broadcast(lengths) for loop, lengths in along.items()}

    def fills(operand: Operand) -> bool:
        lengths = dims_of(node.outputs[operand.source])
        return all(n == extents.get(loop, 1) for loop, n in zip(operand.axes, lengths, strict=True))

    return [every or fills(operand) for every, operand in zip(reads_all, kernel.outputs, strict=True)]
