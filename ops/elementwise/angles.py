"""Trigonometric and hyperbolic functions: elementwise ops, one record each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..core.derivatives import cosine, finite, root_of_square_plus_one, slope_of_arcsin
from ..core.namespace import T
from .c_forms import Binding, helper, library, template
from .pointwise import ufunc_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Unary

__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "deg2rad",
    "rad2deg", "sin", "sinh", "tan", "tanh",
]  # fmt: skip

sin: Unary = ufunc_op(
    "sin", np.sin, meaning="The sine of an angle in radians.",
    cost=14,
    latex=r"\sin",
    derivative=(lambda g, y, x: g * T.cos(x),),
    c={"f": helper("sin"), "c": library("csin")},
)
cos: Unary = ufunc_op(
    "cos", np.cos, meaning="The cosine of an angle in radians.",
    cost=14,
    even=True,
    latex=r"\cos",
    derivative=(lambda g, y, x: -g * T.sin(x),),
    c={"f": helper("cos"), "c": library("ccos")},
)
tan: Unary = ufunc_op(
    "tan", np.tan, meaning="The tangent of an angle in radians.",
    cost=24,
    latex=r"\tan",
    derivative=(lambda g, y, x: g * (1 + T.square(y)),),
    c={"f": helper("tan"), "c": library("ctan")},
)
arcsin: Unary = ufunc_op(
    "arcsin", np.arcsin, meaning="The angle in [-pi/2, pi/2] whose sine is x; NaN for real numbers outside [-1, 1].",
    cost=20,
    latex=r"\arcsin",
    derivative=(lambda g, y, x: g * slope_of_arcsin(x),),
    c={"f": helper("asin"), "c": library("casin")},
)
arccos: Unary = ufunc_op(
    "arccos", np.arccos, meaning="The angle in [0, pi] whose cosine is x; NaN for real numbers outside [-1, 1].",
    cost=20,
    latex=r"\arccos",
    derivative=(lambda g, y, x: -g * slope_of_arcsin(x),),
    c={"f": helper("acos"), "c": library("cacos")},
)
arctan: Unary = ufunc_op(
    "arctan", np.arctan, meaning="The angle in [-pi/2, pi/2] whose tangent is x.",
    cost=20,
    increasing=True,
    latex=r"\arctan",
    derivative=(lambda g, y, x: g / (1 + T.square(finite(x))),),
    c={"f": helper("atan"), "c": library("catan")},
)
arctan2: Binary = ufunc_op(
    "arctan2", np.arctan2, meaning="arctan2(y, x): the angle in [-pi, pi] of the point (x, y).",
    cost=30,
    derivative=(
        lambda g, y, a, b: g * (cosine(b, a, T.hypot(a, b)) / T.hypot(a, b)),
        lambda g, y, a, b: -g * (cosine(a, b, T.hypot(a, b)) / T.hypot(a, b)),
    ),
    c={"f": helper("atan2", 2)},
)
sinh: Unary = ufunc_op(
    "sinh", np.sinh, meaning="The hyperbolic sine.",
    cost=20,
    latex=r"\sinh",
    derivative=(lambda g, y, x: g * T.cosh(x),),
    c={"f": helper("sinh"), "c": library("csinh")},
)
cosh: Unary = ufunc_op(
    "cosh", np.cosh, meaning="The hyperbolic cosine.",
    cost=20,
    even=True,
    latex=r"\cosh",
    derivative=(lambda g, y, x: g * T.sinh(x),),
    c={"f": helper("cosh"), "c": library("ccosh")},
)
tanh: Unary = ufunc_op(
    "tanh", np.tanh, meaning="The hyperbolic tangent.",
    cost=20,
    increasing=True,
    latex=r"\tanh",
    derivative=(lambda g, y, x: g * (1 - T.square(y)),),
    c={"f": helper("tanh"), "c": library("ctanh")},
)
arcsinh: Unary = ufunc_op(
    "arcsinh", np.arcsinh, meaning="The inverse of the hyperbolic sine.",
    cost=25,
    derivative=(lambda g, y, x: g / root_of_square_plus_one(x),),
    c={"f": helper("asinh"), "c": library("casinh")},
)
arccosh: Unary = ufunc_op(
    "arccosh", np.arccosh, meaning="The inverse of the hyperbolic cosine; NaN for real numbers below 1.",
    cost=25,
    derivative=(lambda g, y, x: g / T.sqrt(x - 1) / T.sqrt(x + 1),),
    c={"f": helper("acosh"), "c": library("cacosh")},
)
arctanh: Unary = ufunc_op(
    "arctanh", np.arctanh, meaning="The inverse of the hyperbolic tangent; NaN for real numbers outside [-1, 1].",
    cost=25,
    derivative=(lambda g, y, x: 0.5 * g / (1 - x) + 0.5 * g / (1 + x),),
    c={"f": helper("atanh"), "c": library("catanh")},
)
deg2rad: Unary = ufunc_op(
    "deg2rad", np.deg2rad, meaning="x * pi / 180: degrees in radians.",
    derivative=(lambda g, y, x: g * (math.pi / 180),),
    c={"f": template("{0} * ({T})0x1.1df46a2529d39p-6", Binding.PRODUCT)},
)
rad2deg: Unary = ufunc_op(
    "rad2deg", np.rad2deg, meaning="x * 180 / pi: radians in degrees.",
    derivative=(lambda g, y, x: g * (180 / math.pi),),
    c={"f": template("{0} * ({T})0x1.ca5dc1a63c1f8p+5", Binding.PRODUCT)},
)
