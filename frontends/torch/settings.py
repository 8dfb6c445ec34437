"""The options of the backend: `torch.compile(model, backend="arignote", options={...})`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Settings(NamedTuple):
    """Choices of one compilation.

    `mode`: a mode of `ag.function` or the text of a query; `threads`: how many a call may use; `winograd`: transform
    convolutions of 3 x 3, faster and less exact; `freeze`: take parameters as constants in graphs of inference, which
    are frozen again after a change that PyTorch counts of a parameter of 64 KB or more, while other changes may go
    unseen; `borrow`: frozen parameters are never written to, so that none is copied and no call looks for changes;
    `quantize`: arguments of typical calls, by which frozen layers are computed in 8 bits; `profile`: keep run profiles;
    `strict`: refuse ops without a converter.
    """

    mode: Any = None
    threads: int | None = None
    winograd: bool = False
    freeze: bool = False
    borrow: bool = False
    quantize: Any = None
    profile: bool = False
    strict: bool = False

    @property
    def frozen(self) -> bool:
        """Return whether parameters are constants."""
        return self.freeze or self.quantize is not None

    @property
    def function_options(self) -> dict[str, Any]:
        """Return the arguments of `ag.function`."""
        mode = self.mode
        if self.winograd:
            if mode is not None and not isinstance(mode, str):
                raise TypeError("arignote: winograd goes with the text of a query; add the tag to your Mode instead")
            mode = f"{mode or 'fast_run'} +winograd"
        found: dict[str, Any] = {"mode": mode, "threads": self.threads, "profile": self.profile or None}
        return {name: value for name, value in found.items() if value is not None}


def settings_of(options: Mapping[str, Any] | None, mode: str | None = None) -> Settings:
    """Return the settings of `options=` and `mode=` of `torch.compile`.  Raises ValueError for an unknown name."""
    given = dict(options or {})
    unknown = sorted(set(given) - set(Settings._fields))
    if unknown:
        raise ValueError(f"arignote: unknown option {unknown[0]!r}; expected one of {', '.join(Settings._fields)}")
    if mode is not None and mode != "default":
        given.setdefault("mode", mode)
    return Settings(**given)
