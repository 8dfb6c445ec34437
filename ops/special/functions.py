"""The functions of `T.special`, under SciPy's names: a table of ops, and what is composed of elementwise ops.

Each op says in its docstring how exact it is: within so many units in the last place of the true value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..core.derivatives import finite
from ..core.namespace import T
from . import betas, errors, gammas
from .function import special_op

if TYPE_CHECKING:
    from ..core.signatures import Binary, Unary

TWO_OVER_ROOT_PI, ROOT_2PI = 2 / math.sqrt(math.pi), math.sqrt(2 * math.pi)


# --- errors, the normal distribution
erfcx: Unary = special_op(errors.erfcx, lambda g, y, x: g * (2 * x * y - TWO_OVER_ROOT_PI), cost=40)
ndtr: Unary = special_op(
    errors.ndtr, lambda g, y, x: g * (T.exp(-T.square(finite(x)) / 2) / ROOT_2PI), cost=40, increasing=True
)
log_ndtr: Unary = special_op(
    errors.log_ndtr, lambda g, y, x: g * T.exp(-T.square(x) / 2 - y) / ROOT_2PI, cost=60, increasing=True
)
erfinv: Unary = special_op(errors.erfinv, lambda g, y, x: g * (T.exp(T.square(y)) / TWO_OVER_ROOT_PI), cost=80)
erfcinv: Unary = special_op(errors.erfcinv, lambda g, y, x: -g * (T.exp(T.square(y)) / TWO_OVER_ROOT_PI), cost=80)
ndtri: Unary = special_op(errors.ndtri, lambda g, y, x: g * (T.exp(T.square(y) / 2) * ROOT_2PI), cost=80)


# --- incomplete gamma functions, zeta
gammainc: Binary = special_op(
    gammas.gammainc, lambda g, y, a, x: g * gammainc_by_a(a, x), lambda g, y, a, x: g * gamma_density(a, x), cost=600
)
gammaincc: Binary = special_op(
    gammas.gammaincc, lambda g, y, a, x: -g * gammainc_by_a(a, x), lambda g, y, a, x: -g * gamma_density(a, x), cost=600
)
gammaincinv: Binary = special_op(gammas.gammaincinv, None, None, cost=4000)
gammainccinv: Binary = special_op(gammas.gammainccinv, None, None, cost=4000)
gammainc_by_a: Binary = special_op(gammas.gammainc_by_a, None, None, cost=1200)
hurwitz = special_op(gammas.zeta, None, None, cost=400)
betaln: Binary = special_op(betas.betaln, None, None, cost=400)
beta: Binary = special_op(betas.beta, None, None, cost=400)
betainc = special_op(betas.betainc, None, None, None, cost=400)
betaincc = special_op(betas.betaincc, None, None, None, cost=400)
betaincinv = special_op(betas.betaincinv, None, None, None, cost=400)
betainccinv = special_op(betas.betainccinv, None, None, None, cost=400)
betainc_by_a = special_op(betas.betainc_by_a, None, None, None, cost=400)
betainc_by_b = special_op(betas.betainc_by_b, None, None, None, cost=400)
