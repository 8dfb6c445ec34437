"""Networks that come from other systems: named inputs, outputs and parameters, and functions of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..function.function import function
from ..graph import Constant, FunctionGraph
from ..graph.pickling import flatten, unflatten
from ..record.cached import cached_property
from ..record.memory import return_freed_memory, return_mapped_pages


class ImportedModel:
    """A model: `inputs` and `outputs` are variables by name, `parameters` its weights by name.

    Called with arrays, by position or by name, it returns an array, or a list if there are several outputs.
    """

    _computed: ClassVar[tuple[str, ...]] = ("outputs",)
    """The attributes that hold expressions by key."""

    def __init__(
        self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.inputs: dict[str, Any] = dict(inputs)
        self.outputs: dict[str, Any] = dict(outputs)
        self.parameters: dict[str, Any] = dict(parameters)
        """Constants or shared variables."""

    @property
    def graph(self) -> FunctionGraph:
        """The unoptimized graph."""
        return self._function.unoptimized_graph  # type: ignore[no-any-return]

    def function(self, **options: Any) -> Any:
        """The compiled function of the model; `options` are those of `ag.function`."""
        outputs = flat(self.outputs)
        result = outputs[0] if len(outputs) == 1 else outputs
        how = {"name": self.name, "on_unused_input": "ignore", **self.defaults(), **options}
        made = function(flat(self.inputs), result, **how)
        self.return_memory()
        return made

    def return_memory(self) -> None:
        """Return memory of the optimization, and pages of weights in the model's file, to the system."""
        return_freed_memory()
        for parameter in self.parameters.values():
            if isinstance(parameter, Constant):
                return_mapped_pages(parameter.data)

    def defaults(self) -> dict[str, Any]:
        """Options of `function` that the model brings with it, such as updates."""
        return {}

    def as_function(self) -> Any:
        """The function of the model for `ag.freeze`, `ag.quantize`, `ag.batched`, `ag.tune` and `ag.on_dask`."""
        return self._function

    def __getstate__(self) -> dict[str, Any]:
        """The model for pickle and copies: its expressions share their nodes.  The next call compiles it again."""
        state = {n: v for n, v in vars(self).items() if not isinstance(getattr(type(self), n, None), cached_property)}
        named = {name: state.pop(name) for name in self._computed}
        keys = {name: [(k, len(v) if isinstance(v, list) else None) for k, v in d.items()] for name, d in named.items()}
        return {**state, "": (keys, flatten([v for d in named.values() for v in flat(d)]))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        keys, nodes = state.pop("")
        given = iter(unflatten(*nodes))
        for name, several in keys.items():
            state[name] = {k: next(given) if n is None else [next(given) for _ in range(n)] for k, n in several}
        vars(self).update(state)

    def export(self, folder: Any, target: Any = None, compiler: str | None = None) -> Any:
        """Write the model as C that needs no Python and return the folder; see `Function.export`."""
        return self.as_function().export(folder, target, compiler)

    def explain(self, subject: str = "") -> Any:
        """Return the way from the model to C as text; see `Function.explain`."""
        return self.as_function().explain(subject)

    def why_not(self, rule: Any) -> Any:
        """Explain why a rule did not change the model, or where it did; see `Function.why_not`."""
        return self.as_function().why_not(rule)

    @cached_property
    def _function(self) -> Any:
        return self.function()

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        return self._function(*arrays, **named)


def flat(named: Mapping[str, Any]) -> list[Any]:
    """Return the variables of inputs or outputs; a sequence gives one for each of its elements."""
    return [v for value in named.values() for v in (value if isinstance(value, list) else [value])]
