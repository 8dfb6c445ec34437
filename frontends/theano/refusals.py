"""Names of Theano without a meaning here: each is refused with its reason when it is used."""

from __future__ import annotations

from typing import Any

REASONS = {
    "no tensors are sent between processes; call MPI around the function":
        "MPIRecv MPIRecvWait MPISend MPISendWait isend irecv send recv mpi_send_wait_cmp mpi_tag_cmp mpi_cmps "
        "mpi_enabled mpi_keys mpi_send_wait_key mpi_tag_key comm",
}  # fmt: skip
"""Reason -> names."""


def refused(name: str, reason: str) -> Any:
    """A class of this name that says why it is not there as soon as it is called."""

    def refuse(cls: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"theano's {name} is not available: {reason}")

    return type(name, (), {"__new__": refuse, "__doc__": f"Refused: {reason}.", "reason": reason})


REFUSED = {name: refused(name, reason) for reason, names in REASONS.items() for name in names.split()}
