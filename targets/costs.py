"""The cost model: estimates of time on a target, all of them in picoseconds of one thread.

    costs.elementwise("exp", 12, "float32")   an element of exp, in a loop of vectors
    costs.step(moved, computed)               a step of a kernel's loops: bytes it reads and writes, and its arithmetic
    costs.compilation(...)                    the C compiler's time for a function

Fusion asks whether computing a value again is cheaper than keeping it, kernels carry the estimate of a step by which
the runtime shares them out, long C files are halved by the compiler's time, and profiles hold kernels against it.

The numbers are those of `table_*.py`, which `python -m benchmarks.fit` measures and rewrites.  They are the same on
all machines of an architecture, so that all of them fuse alike.
"""

from __future__ import annotations

from ..record import record
from . import table_x86_64

ITEMS = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "float16": 2, "int32": 4, "uint32": 4}
ITEMS |= {"float32": 4, "int64": 8, "uint64": 8, "float64": 8, "complex64": 8, "complex128": 16}
"""Bytes of an element."""
UNKNOWN_LENGTH = 64
"""Elements along an axis, and steps of a loop, whose number is not known: estimates depend on the graph alone."""
TABLES: dict[str, dict[str, tuple[int, int]]] = {"x86_64": table_x86_64.ELEMENTWISE}
"""For each fitted architecture the picoseconds an element of elementwise ops, in float32 and in float64."""
COMPLEX = {"mul": 4, "square": 4, "true_div": 16, "reciprocal": 16}
"""The work of an op on complex numbers in ops on each of their parts, where it is more than one."""

_TABLE = table_x86_64.COSTS


@record
class Costs:
    """Estimates in picoseconds.  `table`: the architecture whose elementwise ops were measured; "" for none."""

    table: str = "x86_64"
    # --- a step of a kernel
    addition_byte: int = _TABLE["addition_byte"]
    """An addition in vectors, for each byte of its result; what is in no table counts as so many additions."""
    moved_byte: int = _TABLE["moved_byte"]
    """A byte that is read or written: between 10 in the second cache and 50 from memory."""
    row_byte: int = _TABLE["row_byte"]
    """A row's result, for each byte of the row: two looks at the operand, an exponential and some arithmetic."""
    gathered_byte: int = _TABLE["gathered_byte"]
    """A byte that a gather or a scatter reads and writes."""
    jump: int = _TABLE["jump"]
    """A jump in memory that no one foresaw."""
    product: int = 12
    """An operation of a matrix product in float32; one in float64 takes twice as long."""
    cubic: int = 100
    """An operation of a factorization, a linear solve or a sort."""
    # --- computing again or keeping
    again_byte: int = _TABLE["again_byte"]
    """A byte that is written to the cache and read again.  Values that cost more are kept, others computed again."""
    broadcast_byte: int = _TABLE["broadcast_byte"]
    """A byte of values smaller than the loops, which a loop would compute again in every step."""
    # --- launches and threads
    launch: int = _TABLE["launch"]
    """A launch of the runtime, beside a plain call."""
    alone: int = _TABLE["alone"]
    """The work of a kernel that is worth a launch."""
    thread: int = _TABLE["thread"]
    """Waking a thread that sleeps."""
    task: int = _TABLE["task"]
    """The work of a task of the team: enough to forget what claiming it costs, little enough to share evenly."""
    shared: int = _TABLE["shared"]
    """The work that is worth a second thread: two break even at three times `thread`."""
    # --- the C compiler
    compiler: int = _TABLE["compiler"]
    """Starting a second compiler: the work that it must be able to take over."""
    character: int = _TABLE["character"]
    """A character of plain C."""
    driver_character: int = _TABLE["driver_character"]
    """A character of a driver, which is compiled without optimization."""
    loop: int = _TABLE["loop"]
    """A loop, beside its characters."""
    reduction: int = _TABLE["reduction"]
    """A clause of accumulators of a vectorized loop."""
    copy: int = _TABLE["copy"]
    """A copy of a tile or a strip."""

    def elementwise(self, name: str, additions: float, dtype: str) -> float:
        """An element of an op, in a loop of vectors; `additions`: its estimate where no table has it."""
        measured = TABLES.get(self.table, {}).get(name)
        if measured is None or not dtype.startswith(("float", "complex")):
            return additions * self.addition_byte * ITEMS[dtype]
        if dtype.startswith("complex"):
            return measured[1] * COMPLEX.get(name, 1) * ITEMS[dtype] / 8
        return measured[0] if ITEMS[dtype] <= 4 else measured[1]  # float16 is computed as float32

    def additions(self, name: str, additions: float, dtype: str) -> int:
        """The cost of an element in additions; at least 1 for ops that compute."""
        if not additions:
            return 0
        return max(1, round(self.elementwise(name, additions, dtype) / (self.addition_byte * ITEMS[dtype])))

    def step(self, moved: int, computed: float) -> int:
        """A step of a kernel's loops: `moved` bytes and `computed` picoseconds of arithmetic; at least 1."""
        return int(self.moved_byte * moved + computed) + 1

    def gathered(self, item: int, in_rows: bool) -> int:
        """An element that a gather or a scatter moves; `in_rows`: the elements are contiguous."""
        return item * self.gathered_byte + (0 if in_rows else self.jump)

    def compilation(self, characters: int, loops: int, reductions: int, copies: int) -> int:
        """The C compiler's time for a function; fitted to 70 functions, of 2 to 80 ms."""
        return characters * self.character + loops * self.loop + reductions * self.reduction + copies * self.copy

    def is_kept(self, name: str, additions: float, dtype: str) -> bool:
        """Whether keeping a value, a write and a read of the cache, is cheaper than recomputing it."""
        return self.elementwise(name, additions, dtype) >= self.again_byte * ITEMS[dtype]
