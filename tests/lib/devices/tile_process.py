"""A process that multiplies bytes where Linux refuses the state of tiles, or in a child that was forked.

    python tile_process.py refused|forked       prints "equal", and the kind

A filter of system calls (seccomp) refuses the request with EPERM, as a sandbox does.
"""

import ctypes
import os
import struct
import sys

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.targets.units import tiles_refused

ARCH_PRCTL, REQUEST = 158, 0x1023
EPERM = 1
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOWED, REFUSED = 0x7FFF0000, 0x00050000 | EPERM
NUMBER, FIRST = 0, 16
"""Where a filter finds the number of a system call, and its first argument."""


def refuse_tiles():
    """Install the filter."""
    rows = (
        (LOAD, 0, 0, NUMBER), (EQUAL, 0, 3, ARCH_PRCTL), (LOAD, 0, 0, FIRST), (EQUAL, 0, 1, REQUEST),
        (RETURN, 0, 0, REFUSED), (RETURN, 0, 0, ALLOWED),
    )  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    filtered = SET_SECCOMP, FILTER, ctypes.c_void_p(ctypes.addressof(program))
    for arguments in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), filtered):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl")


def compute(rng):
    """Whether a product and a convolution are exact."""
    a, b = T.matrix("a", "uint8"), T.matrix("b", "int8")
    f = ag.function([a, b], T.matmul(a, b, out_dtype="int32"))
    x, y = rng.integers(0, 256, (40, 130)).astype("uint8"), rng.integers(-128, 128, (130, 50)).astype("int8")
    images = T.tensor("images", "uint8", (None, 64, None, None))
    w = rng.integers(-128, 128, (48, 64, 3, 3)).astype("int8")
    g = ag.function([images], T.nn.conv2d(images, w, padding=1, out_dtype="int32"))
    assert any(getattr(n.op, "chunk", 0) for n in g.graph.order)
    value = rng.integers(0, 256, (1, 64, 9, 9)).astype("uint8")
    around = np.pad(value.astype("int64"), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, w.astype("int64"))
    assert bool(f.remarks.of("in vectors")) == tiles_refused() == bool(g.remarks.of("in vectors"))
    return np.array_equal(f(x, y), x.astype("int32") @ y.astype("int32")) and np.array_equal(g(value), expected)


def main(kind):
    if kind == "refused":
        refuse_tiles()
        assert tiles_refused()
    equal = compute(np.random.default_rng(1))
    if kind == "forked":
        child = os.fork()
        if not child:
            os._exit(0 if compute(np.random.default_rng(2)) else 1)
        equal = equal and os.waitpid(child, 0)[1] == 0
    print("equal" if equal else "different", kind)


if __name__ == "__main__":
    main(sys.argv[1])
