"""Where it went wrong, as lines below a message: the operation, the guilty operands underlined, the user's code.

      in mul(exp(x), y), built at model.py:12
             ^^^^^^  ^
      > loss = (T.exp(x) * y).sum()
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...graph import Apply

LONGEST = 110
"""Characters of code."""
MOST = 8
"""Operands that are written out."""


def pointed(op: str, operands: Sequence[str], node: Apply, guilty: Collection[int] = ()) -> str:
    """The lines that name an operation, its operands and where it was built; `guilty`: operands to be underlined."""
    line = node.origin[0] if node.origin else None
    text, marks = f"  in {op}(", ""
    for k, operand in enumerate(operands[:MOST]):
        if k:
            text += ", "
        if k in guilty and operand:
            marks = marks.ljust(len(text)) + "^" * len(operand)
        text += operand
    text += f"{', ...' * (len(operands) > MOST)})"
    lines = [text + (f", built at {line}" if line is not None else "")]
    if marks:
        lines.append(marks)
    code = line.code if line is not None else ""
    if code:
        lines.append(f"  > {code if len(code) <= LONGEST else code[: LONGEST - 3] + '...'}")
    return "".join(f"\n{each}" for each in lines)


def guilty_operands(shapes: Sequence[tuple[int, ...]], axis: int) -> list[int]:
    """The positions of the operands whose lengths do not agree along an axis of the joint shape."""
    rank = max(map(len, shapes), default=0)
    lengths = {k: s[axis - rank] for k, s in enumerate(shapes) if 0 <= axis < rank and len(s) >= rank - axis}
    odd = {k: n for k, n in lengths.items() if n != 1}
    return list(odd) if len(set(odd.values())) > 1 else []
