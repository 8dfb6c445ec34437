"""Gradient descent: updates for `ag.function` from parameters and gradients.

Every rule takes `parameters`, a list or a tree of shared variables, and `gradients`, as many expressions in the same
form, and returns a list of pairs (shared variable, new value): one for each parameter, and one for each accumulator the
rule keeps (a shared variable of the parameter's shape and dtype, zero at first).  Rates may be numbers or scalar
expressions, such as those of schedules; both take the parameter's dtype.
"""

from typing import TYPE_CHECKING

from ..record import lazy
from .rules import adadelta, adagrad, adam, adamax, momentum, nadam, nesterov, rmsprop, sgd

_LATER = {
    "adafactor": ".adaptive", "adamw": ".adaptive", "lamb": ".adaptive", "lion": ".adaptive", "lbfgs": ".quasi_newton",
    "clip_by_global_norm": ".gradients", "clip_by_norm": ".gradients", "clip_by_value": ".gradients",
    "global_norm": ".gradients", "in_groups": ".gradients", "with_weight_decay": ".gradients",
    "cosine": ".schedules", "cosine_restarts": ".schedules", "counter": ".schedules", "exponential": ".schedules",
    "linear": ".schedules", "one_cycle": ".schedules", "piecewise": ".schedules", "polynomial": ".schedules",
    "staircase": ".schedules", "warmup": ".schedules", "with_loss_scale": ".loss_scales",
}  # fmt: skip
"""Module of each name that few programs need."""

if TYPE_CHECKING:
    from .adaptive import adafactor, adamw, lamb, lion
    from .gradients import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm, in_groups, with_weight_decay
    from .loss_scales import with_loss_scale
    from .quasi_newton import lbfgs
    from .schedules import (
        cosine,
        cosine_restarts,
        counter,
        exponential,
        linear,
        one_cycle,
        piecewise,
        polynomial,
        staircase,
        warmup,
    )
else:
    _find, _ = lazy.names_of(__name__, _LATER)

    def __getattr__(name: str) -> object:
        return _find(name)


__all__ = [
    "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "clip_by_global_norm", "clip_by_norm",
    "clip_by_value", "cosine", "cosine_restarts", "counter", "exponential", "global_norm", "in_groups", "lamb", "lbfgs",
    "linear", "lion", "momentum", "nadam", "nesterov", "one_cycle", "piecewise", "polynomial", "rmsprop", "sgd",
    "staircase", "warmup", "with_loss_scale", "with_weight_decay",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
