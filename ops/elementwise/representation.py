"""Elementwise ops on the representation of numbers: neighbours, exponents, bits; one record each.

    nextafter spacing ldexp frexp bitwise_count
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph import Variable
from ..core import promotion
from ..core.namespace import T
from ..core.tensor import TensorVariable
from ..core.typing import TensorLike
from ..writing import code
from .c_forms import helper
from .pointwise import ufunc_op, unary_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Unary

__all__ = ["bitwise_count", "frexp", "ldexp", "nextafter", "spacing"]


def _exponent(dtypes: tuple[promotion.Operand, ...]) -> promotion.Loop:
    (operand,), _ = promotion.by_ufunc(np.cbrt)(dtypes)
    return (operand,), "int32"


def _part(position: int) -> code.Writer:
    """Return the writer of one result of `frexp`: `frexp(x)[0]`."""

    def write(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
        assert output.owner is not None
        operands = speaker.weak_operands(op, output.owner.inputs)
        call, level = speaker.call("frexp", *(text for text, _ in operands))
        return f"{call}[{position}]", level

    return write


nextafter: Binary = ufunc_op(
    "nextafter", np.nextafter,
    meaning="The next number after x1 towards x2 in its dtype; x2 where they are equal, NaN beside NaN.",
    cost=8,
    derivative=(lambda g, y, a, b: g, None),
    c={"fe": helper("nextafter", 2)},
)
spacing: Unary = ufunc_op(
    "spacing", np.spacing,
    meaning="The distance from x to the next number away from 0, with the sign of x; NaN for infinities.\n\n"
        "Of float16 the distance to the next greater number, as NumPy has it.",
    cost=10,
    derivative=(None,),
    c={"fe": helper("spacing")},
)
ldexp: Binary = ufunc_op(
    "ldexp", np.ldexp,
    meaning="x1 * 2 ** x2 for an integer x2, rounded once.",
    cost=6,
    derivative=(lambda g, y, a, b: T.ldexp(g, b), None),
    c={"f": helper("ldexp", 2)},
)
frexp_mantissa: Unary = unary_op(
    "frexp_mantissa", lambda x: np.frexp(x)[0], promotion.by_ufunc(np.cbrt),
    meaning="The number from 0.5 to 1, with the sign of x, that times a power of 2 is x; else x.",
    cost=8, python=_part(0),
    derivative=(lambda g, y, x: T.ldexp(g, T.neg(frexp_exponent(x))),),
    c={"f": helper("frexp_mantissa")},
)
frexp_exponent: Unary = unary_op(
    "frexp_exponent", lambda x: np.frexp(x)[1], _exponent,
    meaning="The exponent of the power of 2 in `frexp`, int32; 0 for 0, NaN and infinities.",
    cost=8, python=_part(1),
    derivative=(None,),
    c={"f": helper("frexp_exponent")},
)
bitwise_count: Unary = ufunc_op(
    "bitwise_count", np.bitwise_count, meaning="The number of 1 bits of the absolute value of an integer, uint8.",
    cost=6,
    derivative=(None,),
    c={"iu": helper("bitwise_count")},
)


def frexp(x: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    """(mantissa, exponent) with x = mantissa * 2 ** exponent, the modulus of the mantissa from 0.5 to 1; int32."""
    return frexp_mantissa(x), frexp_exponent(x)
