"""Choices, parts of numbers, copies: elementwise ops, one record each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph import Constant, Variable
from ..core import promotion
from ..core.keywords import operands_by_name
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..writing import code, latex
from . import special
from .arithmetic import maximum, minimum, mul
from .c_forms import CHOICE, ITSELF, Binding, Form, call, helper, library, template
from .pointwise import Elementwise, plain_op, ufunc_op, unary_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Fill, Part, Switch, Unary

__all__ = [
    "angle", "clip", "conj", "copysign", "fill", "from_bfloat16", "imag", "real", "stop_gradient", "switch",
    "to_bfloat16",
]  # fmt: skip


class _Angle(Elementwise):
    """`angle`, which NumPy also computes in degrees."""

    def __call__(self, z: TensorLike, deg: bool = False) -> TensorVariable:
        found = super().__call__(z)
        return mul(found, 180 / math.pi) if deg else found


class _Clip(Elementwise):
    """`clip`, whose bounds may be None or left out, as in NumPy."""

    def __call__(  # type: ignore[override]
        self, x: Any = None, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None, **keywords: Any
    ) -> TensorVariable:
        if keywords:
            (x,) = operands_by_name("clip", ("a",), () if x is None else (x,), keywords)
        if not (a_min is a_max is None or min is max is None):
            raise ValueError("clip: bounds are given as a_min and a_max or as min and max, got both")
        low, high = (a_min if min is None else min), (a_max if max is None else max)
        low, high = _bound(x, low, -1), _bound(x, high, 1)
        if low is None and high is None:
            return as_tensor(x)
        if high is None:
            return maximum(x, low)
        return minimum(x, high) if low is None else super().__call__(x, low, high)


def _bound(x: Any, bound: Any, side: int) -> Any:
    """The bound, or None for a Python integer at or beyond the end of x's dtype: it cannot clip anything."""
    if not isinstance(x, Variable) or x.type.kind not in "iu" or promotion.weak_type(bound) is not int:
        return bound
    limits = np.iinfo(x.type.numpy)
    return None if (bound >= limits.max if side > 0 else bound <= limits.min) else bound


def _choice(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
    """`where(condition, x, y)`."""
    assert output.owner is not None
    operands = speaker.weak_operands(op, output.owner.inputs)
    return speaker.call("where", *(text for text, _ in operands))


def _filled(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
    """`zeros_like(x)`, `ones_like(x)`, `full_like(x, c)` for a scalar, `broadcast_to(v, x.shape)` or `fill(x, v)`."""
    assert output.owner is not None
    like, value = output.owner.inputs
    if value.ndim:
        if speaker.loose and not speaker.numpy and value.ndim <= like.ndim:
            return speaker.call("broadcast_to", speaker.text(value), f"{speaker.atom(like)}.shape")
        return code.elementwise(op, output, speaker)
    options = {} if value.dtype == like.dtype else {"dtype": value.dtype}
    number = value.data.item() if isinstance(value, Constant) else None
    name = {0.0: "zeros_like", 1.0: "ones_like"}.get(number) if number is not None else None
    if name and not np.signbit(value.data.real):  # type: ignore[attr-defined]
        return speaker.call(name, speaker.text(like), **options)
    return speaker.call("full_like", speaker.text(like), speaker.text(value), **options)


def _held(op: Any, output: Variable, speaker: code.Speaker) -> code.Code:
    """`stop_gradient(x)`, and x itself in NumPy, which takes no derivatives."""
    if speaker.numpy:
        return code.operand(op, output, speaker)
    return code.elementwise(op, output, speaker)


switch: Switch = plain_op(
    "switch", np.where, promotion.choice,
    meaning="switch(c, x, y): x where c is true, else y; both are computed.\n\n"
        "So are their derivatives, and 0 times an infinite one is NaN: for roots and logarithms make the operand safe\n"
        "too, as in where(x > 0, sqrt(where(x > 0, x, 1)), 0).  `ag.cond` computes one of two.",
    arity=3, operands=("condition", "x", "y"), real_slopes=True, one_operand="T.nonzero(condition) says where it holds",
    latex=latex.choice, python=_choice,
    derivative=(
        None,
        lambda g, y, c, a, b: T.switch(c, g, 0),
        lambda g, y, c, a, b: T.switch(c, 0, g),
    ),
    c={"biufce": CHOICE},
)
clip: _Clip = _Clip(
    "clip", np.clip, promotion.joint,
    meaning="clip(x, low, high): minimum(maximum(x, low), high); a bound may be None.",
    arity=3, cost=2, usage="clip(x, min=None, max=None)",
    derivative=(  # at a bound everything goes to x
        lambda g, y, x, low, high: T.switch(T.eq(x, y), g, 0),
        lambda g, y, x, low, high: T.switch(T.logical_and(T.lt(x, low), T.lt(low, high)), g, 0),
        lambda g, y, x, low, high: T.switch(T.logical_and(T.ne(x, y), T.ge(T.maximum(x, low), high)), g, 0),
    ),
    not_holomorphic="complex numbers are ordered by their parts, which is not differentiable",
    c={"c": helper("clip", 3)},
)
copysign: Binary = ufunc_op(
    "copysign", np.copysign, meaning="|x| with the sign of y.",
    derivative=(lambda g, y, a, b: T.switch(T.eq(T.signbit(a), T.signbit(b)), g, -g), None),
    c={"f": library("copysign", 2)},
)
conj: Unary = ufunc_op(
    "conj", np.conjugate, meaning="The complex conjugate; x itself for real numbers.",
    involution=True,
    derivative=(lambda g, y, x: g,),
    complex_derivative=(lambda g, y, z: T.conj(g),),
    c={"biuf": ITSELF, "c": helper("conj")},
)
real: Part = unary_op(
    "real", lambda x: np.array(x.real), promotion.real_part,
    meaning="The real part.",
    idempotent=True, operands=("val",),
    derivative=(lambda g, y, x: g,),
    complex_derivative=(lambda g, y, z: g,),
    c={"biuf": ITSELF, "c": template("__real__ {0}", Binding.UNARY)},
)
imag: Part = unary_op(
    "imag", lambda x: np.array(x.imag), promotion.real_part,
    meaning="The imaginary part; 0 for real numbers.",
    fixed=("biuf", 0), operands=("val",),
    derivative=(None,),
    complex_derivative=(lambda g, y, z: g * 1j,),
    c={"c": template("__imag__ {0}", Binding.UNARY)},
)
angle: _Angle = _Angle(
    "angle", np.angle, promotion.phase, meaning="The angle in [-pi, pi] of a complex number.",
    cost=30, usage="angle(z, deg=False)",
    derivative=(None,),
    complex_derivative=(lambda g, y, z: g * 1j / T.conj(z),),
    c={"f": Form("ag_atan2_{T}(0, {0})"), "c": helper("angle")},
)
fill: Fill = plain_op(
    "fill", lambda like, value: np.broadcast_arrays(value, like)[0].copy(), promotion.last,
    meaning="fill(like, value): `value` broadcast against `like`, of which only the shape is used.",
    arity=2, operands=("like", "value"), cost=0, real_slopes=True, same_as=1, unread=0, python=_filled,
    derivative=(None, lambda g, y, like, value: g),
)
identity: Unary = unary_op(
    "identity", np.copy, promotion.last, meaning="A copy: what stands for a value that must be another variable.",
    idempotent=True, involution=True, cost=0, real_slopes=True, same_as=0,
    latex=latex.first, python=lambda op, output, speaker: speaker.method(output.owner.inputs[0], "copy"),
    derivative=(lambda g, y, x: g,),
)
stop_gradient: Unary = unary_op(
    "stop_gradient", np.copy, promotion.last, meaning="The value of x, as a constant to every derivative.",
    idempotent=True, cost=0, same_as=0, python=_held,
    derivative=(None,),
)
from_bfloat16: Unary = plain_op(
    "from_bfloat16", special.from_bfloat16, promotion.bits_of_bfloat16,
    meaning="The float32 numbers of bfloat16 numbers that are given by their bits, as uint16.",
    derivative=(None,),
    c={"u": template("((union {{ u32 u; f32 f; }}){{ (u32){0} << 16 }}).f", Binding.UNARY)},
)
to_bfloat16: Unary = plain_op(
    "to_bfloat16", special.to_bfloat16, promotion.rounded_to_bfloat16,
    meaning="The bits, as uint16, of the bfloat16 numbers nearest to float32 numbers, ties to even; NaN stays NaN.",
    cost=4,
    derivative=(None,),
    c={"f": call("ag_bfloat16_from_f32")},
)
