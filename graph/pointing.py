"""Location lines below an error message: the operation, the guilty operands underlined, the user's code.

      in mul(exp(x), y), built at model.py:12
             ^^^^^^  ^
      > loss = (T.exp(x) * y).sum()

The error keeps the same as data (`error.pointed`), of which notebooks make a form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ..record import record
from .node import Variable
from .provenance import SourceLine

LONGEST = 110
"""Characters of code."""
MOST = 8
"""Limit of operands that are shown."""

Shape = tuple[int | None, ...]
Names = Mapping[Variable, Variable]
"""Inputs of a group -> the values that replace them in messages."""
NAMED: Names = {}
Error = TypeVar("Error", bound=BaseException)


@record
class Pointed:
    """An operation in an error: names of its operands, their known shapes, the operands at fault, the user's line.

    Its text is the lines below a message; that of one without an op is empty.
    """

    op: str = ""
    operands: tuple[str, ...] = ()
    shapes: tuple[Shape | None, ...] = ()
    guilty: tuple[int, ...] = ()
    line: SourceLine | None = None

    @property
    def code(self) -> str:
        """The user's line, cut where it is long."""
        code = self.line.code if self.line is not None else ""
        return code if len(code) <= LONGEST else code[: LONGEST - 3] + "..."

    def __str__(self) -> str:
        if not self.op:
            return ""
        text, marks = f"  in {self.op}(", ""
        for k, operand in enumerate(self.operands[:MOST]):
            text += ", " * bool(k)
            if k in self.guilty and operand:
                marks = marks.ljust(len(text)) + "^" * len(operand)
            text += operand
        text += f"{', ...' * (len(self.operands) > MOST)})"
        lines = [text + (f", built at {self.line}" if self.line is not None else "")]
        lines += [marks] if marks else []
        lines += [f"  > {self.code}"] if self.code else []
        return "".join(f"\n{each}" for each in lines)


NOWHERE = Pointed()


def pointing(error: Error, pointed: Pointed) -> Error:
    """Attach the location to the error as data; return the error."""
    if pointed.op:
        error.pointed = pointed  # type: ignore[attr-defined]
    return error


def called(variable: Variable, names: Names = NAMED) -> str:
    """The name of a value in a message: its name, or the op that computes it."""
    variable = names.get(variable, variable)
    if variable.name:
        return variable.name
    if variable.owner is None:
        data = getattr(variable, "data", None)
        unnamed = "a shared variable" if hasattr(variable, "container") else "an unnamed input"
        return unnamed if data is None else str(data) if data.size == 1 else f"a constant {variable.type}"
    op = getattr(variable.owner.op, "op", variable.owner.op)  # that of a mark that it may work in place
    return str(op.brief(variable, [_brief(i, names) for i in variable.owner.inputs]))


def _brief(variable: Variable, names: Names) -> str:
    variable = names.get(variable, variable)
    return "..." if variable.owner is not None and not variable.name else called(variable, names)


def conflicting(shapes: Sequence[Shape | None]) -> tuple[int, ...]:
    """The positions of the shapes that do not broadcast, by the first axis on which they do not; none if they do."""
    rank = max((len(s) for s in shapes if s is not None), default=0)
    for axis in range(rank):
        guilty = guilty_operands(shapes, axis)
        if guilty:
            return guilty
    return ()


def guilty_operands(shapes: Sequence[Shape | None], axis: int) -> tuple[int, ...]:
    """The positions of the operands whose lengths do not agree along an axis of the joint shape."""
    rank = max((len(s) for s in shapes if s is not None), default=0)
    known = {k: s for k, s in enumerate(shapes) if s is not None and 0 <= axis < rank and len(s) >= rank - axis}
    odd = {k: s[axis - rank] for k, s in known.items() if s[axis - rank] not in (1, None)}
    return tuple(odd) if len(set(odd.values())) > 1 else ()
