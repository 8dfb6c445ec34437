"""The versions of PyTensor that this package knows; importing it checks the one that is installed."""

from __future__ import annotations

OLDEST, FIRST_UNKNOWN = (2, 38), (3, 0)


def check(version: str) -> None:
    """Raise ImportError for a version of PyTensor that this package does not know."""
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if OLDEST <= found < FIRST_UNKNOWN:
        return
    age = "old" if found < OLDEST else "new"
    low, high = (".".join(map(str, v)) for v in (OLDEST, FIRST_UNKNOWN))
    raise ImportError(
        f"arignote.frontends.pytensor: PyTensor {version} is too {age}, expected {low} or newer and below {high}; "
        "run pip install 'arignote[pytensor]'"
    )


try:
    from pytensor import __version__ as installed
except ImportError:
    raise ImportError(
        "arignote.frontends.pytensor needs the package pytensor: pip install 'arignote[pytensor]'",
        name="pytensor",
    ) from None
check(installed)
