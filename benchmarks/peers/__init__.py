"""One module a peer, each with `version()` and `build(case) -> (callable, arguments)`.

`build` compiles where it can before the first call; the callable takes the arguments, computes, and waits for the
result.  A peer raises `NotOffered` for a case it cannot express.
"""


class NotOffered(Exception):
    """This peer has no way to say this case."""


PEERS = ["arignote", "numpy", "numexpr", "numba", "jax", "pytensor_c", "pytensor_numba", "torch_compile"]
MORE = ["arignote_opencl"]
"""Peers that are taken by name alone."""
