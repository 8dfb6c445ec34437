"""The arguments of one call of `ag.function` as a value: what a compiled function is made of, and made again from.

    ag.function(...)  -->  Compilation  --(function.compiled)-->  Function, which keeps it as `f.compilation`

Pickles, copies, other schedules, another division, and the functions of a batch, a block or a frozen model start from
this value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ..cbackend.ir.schedule import Schedule
from ..record import record
from ..targets.target import Target
from .mode import Mode
from .signature import Signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Unpack

    from .signature import Pairs


class FunctionOptions(TypedDict, total=False):
    """The keywords of `ag.function` besides inputs and outputs, which `ag.jit` and `ag.freeze` pass on."""

    updates: Pairs
    givens: Pairs
    mode: Any
    name: str | None
    profile: bool | None
    on_unused_input: str
    allow_input_downcast: bool | None
    threads: int | None
    debug_info: bool | None
    tiered: bool | None
    compile_budget: float | None
    schedule: Mapping[str, Schedule] | None
    target: Target | str | None
    engines: Sequence[str] | None
    engine: str | None


@record(eq=False)
class Compilation:
    """The checked arguments of `ag.function`, with the defaults of the process."""

    signature: Signature
    """The graph that the user built, givens replaced and updates among its outputs, and the form of its results."""
    mode: Mode
    """The query of optimizers, the engine, and the engines among which the graph is divided."""
    name: str
    profile: bool = False
    downcast: bool | None = None
    threads: int | None = None
    debug_info: bool = False
    budget: float | None = None
    """Seconds until NumPy runs a function whose engine is not ready; None: the function waits."""
    schedules: Mapping[str, Schedule] | None = None
    target: Target | None = None
    """The machine that the code is for; None: this one."""
    on_dask: bool = False
    """Whether calls run on Dask: the functions of blocks are compiled, the whole is not."""

    def options(self, **changed: Unpack[FunctionOptions]) -> FunctionOptions:
        """Return the keywords of `ag.function` for another function that is compiled as this one, but for these."""
        return {
            "mode": self.mode, "profile": self.profile, "allow_input_downcast": self.downcast, "threads": self.threads,
            "debug_info": self.debug_info, "compile_budget": self.budget, "target": self.target, **changed,
        }  # fmt: skip
