"""The values of variables in one call: on the host, on the device, or on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...graph import Constant, Variable
from .call import Call
from .memory import OnDevice

Sides = tuple[Any, Any]
"""A value on the host and on the device; None where it is missing."""


class Values:
    """The values of variables in one call, copied when the other side first reads them."""

    def __init__(self, call: Call, constants: dict[Variable, Any], returned: frozenset[Variable]) -> None:
        """`returned`: the variables whose arrays become outputs."""
        self.call, self._memory = call, call.memory
        self._constants, self._returned = constants, returned
        self._host: dict[Variable, np.ndarray] = {}
        self._device: dict[Variable, Any] = {}
        self.places: dict[Variable, Any] = {}
        """Arrays that kernels should write results to."""
        self.steady: set[Variable] = set()
        """Variables whose values are the same in all replays."""
        self.own: list[Any] = []
        """Arrays that this call has made in host memory; they may become results without a copy."""

    def know(self, variables: Sequence[Variable], arrays: Sequence[np.ndarray]) -> None:
        """Add values on the host."""
        self._host.update(zip(variables, arrays))

    def made(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        """Add the results of a kernel."""
        self._device.update(zip(variables, arrays))
        if self.call.device.shares:
            self.own += [array for v, array in zip(variables, arrays) if v in self._returned]

    def is_steady(self, variable: Variable) -> bool:
        """Whether a value is the same in all replays."""
        return isinstance(variable, Constant) or variable in self.steady

    def know_on_device(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        self._device.update(zip(variables, arrays))

    def on_host(self, variable: Variable) -> np.ndarray:
        """Return the value as a NumPy array."""
        if isinstance(variable, Constant):
            return variable.data
        if self.call.recorder is not None and variable not in self.steady:
            self.call.recorder.broken = True
        if variable not in self._host:
            there = self._device[variable]
            self._host[variable] = self._memory.get(there, self.call.traffic)
            if not self.call.device.shares and there.host is None:
                self.own.append(self._host[variable])
        elif self.call.device.shares:
            self._memory.finish()
        return self._host[variable]

    def on_device(self, variable: Variable) -> Any:
        """Return the value as a device array; constants stay there between calls."""
        kept = self._constants if isinstance(variable, Constant) else self._device
        if variable not in kept:
            host = np.asarray(variable.data if isinstance(variable, Constant) else self._host[variable])
            made = self._memory.put(host, self.call.traffic)
            is_copy = isinstance(variable, Constant) and isinstance(made, OnDevice)
            kept[variable] = replace(made, host=host) if is_copy else made  # type: ignore[type-var]
            if self.call.recorder is not None:
                self.call.recorder.given[variable] = kept[variable]
        return kept[variable]

    def sides(self, variable: Variable) -> Sides:
        """Return the value as (host, device); None where it is missing."""
        host = variable.data if isinstance(variable, Constant) else self._host.get(variable)
        return host, self._device.get(variable)

    def take(self, variable: Variable, sides: Sides) -> None:
        """Add a value on the sides where it exists."""
        for known, value in zip((self._host, self._device), sides):
            if value is not None:
                known[variable] = value

    def anywhere(self, variable: Variable) -> Any:
        """Return the value from the device if it is there, else from the host."""
        if variable in self._device:
            return self._device[variable]
        return variable.data if isinstance(variable, Constant) else self._host[variable]

    def share(self, variable: Variable, other: Variable) -> None:
        """Give a variable the value of another, on both sides."""
        if isinstance(other, Constant):
            self._host[variable] = other.data
        for side in (self._host, self._device):
            if other in side:
                side[variable] = side[other]

    def inside(self, constants: dict[Variable, Any]) -> Values:
        """Return empty values for the inner graph of a node, with its constants."""
        return Values(self.call, constants, frozenset())

    def drop(self, variable: Variable) -> None:
        """Drop a value after its last use."""
        self._host.pop(variable, None)
        self._device.pop(variable, None)
