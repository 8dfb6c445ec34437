"""`f.low_level(kind)`: a compiled function that SciPy's C loops call without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..cbackend.calls.plain import OF_SCIPY, misfit
from ..engines.registry import title
from ..record.spelling import meant

if TYPE_CHECKING:
    from ..function.compiled import Function


def callable_of(function: Function, kind: str) -> Any:
    """Return the `scipy.LowLevelCallable` of a function; see `Function.low_level`."""
    if kind not in OF_SCIPY:
        known = ", ".join(map(repr, OF_SCIPY)) + meant(str(kind), OF_SCIPY)
        raise ValueError(f"{function.name}: low_level: kind is {kind!r}; expected one of {known}")
    signature = function.compilation.signature
    inputs, outputs = [i.type for i in function.inputs], [o.type for o in signature.outputs]
    if misfit(OF_SCIPY[kind], inputs, outputs):
        got = f"{', '.join(map(str, inputs)) or 'nothing'} and {', '.join(map(str, outputs)) or 'nothing'}"
        expected = f"{kind!r} calls a function of {OF_SCIPY[kind]}"
        raise TypeError(f"{function.name}: low_level: {expected}; this one takes {got}")
    executable = function._at_best
    make = getattr(executable, "plain_call", None)
    if make is None:
        raise ValueError(f"{function.name} is run by {title(function.backend)}; low_level needs the C of mode FAST_RUN")
    found = make()
    if found is None:
        raise ValueError(
            f"{function.name}: low_level: it has updates, shared variables, a profile or steps that call Python; pass "
            "values as constants, and leave the others out"
        )
    from scipy import LowLevelCallable

    return LowLevelCallable(*found.objects(kind))
