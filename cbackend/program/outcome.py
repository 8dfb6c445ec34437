"""Outcomes of generated functions: success, or the kind of failure."""

from __future__ import annotations

from enum import IntEnum


class Outcome(IntEnum):
    """The return value of a generated function.  KERNEL plus a kernel.Status is one, too."""

    DONE = 0
    OTHER_OUTPUTS = 1
    """Done, but some outputs differ from the caller's arrays: other lengths, or in a block of the runtime."""
    MEMORY = 2
    LENGTHS = 3
    """Lengths that must agree do not."""
    DECLARED = 4
    """An input has another length than its type declares."""
    MISALIGNED = 5
    """An input is misaligned, or it is overwritten and overlaps another one.

    The caller copies it and tries again.
    """
    INDEX = 6
    ZERO_STEP = 7
    NEGATIVE_LENGTH = 8
    RESHAPE = 9
    RANGE = 11
    """A range without a length: a step of 0, or bounds that are not finite."""
    HOST = 10
    """An op without C raised an exception, which the caller knows."""
    INTERRUPTED = 12
    """Ctrl-C was pressed; no memory of the caller was changed.  Python raises the exception."""
    SINGULAR = 13
    NOT_POSITIVE_DEFINITE = 14
    UNREACHED = 15
    """A loop has no steps, but an output that it would write has an element there.  The caller uses NumPy."""
    KERNEL = 16
    """Plus the Status of a kernel."""
    CHANGED = 64
    """A result of a step has other lengths than in earlier steps."""
    TOO_SHORT = 65
    """A sequence ends before a loop does."""
    NEGATIVE_STEPS = 66
    PROMISED = 67
    """A value lacks the lengths that were promised."""
    INDICES = 68
    """Arrays of indices do not broadcast."""
    WINDOW = 69
    """A kernel of a convolution is empty, or larger than the padded input."""
    REFUSED = 70
    """A condition on values does not hold."""
    USER = 71
    """The C of a user's op failed."""
