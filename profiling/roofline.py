"""The peak bandwidth and arithmetic of a machine, to compare runs with."""

from __future__ import annotations

from typing import Any

from ..record import record


@record
class Roofline:
    """The peaks of the machine, on so many threads at once: GB/s of memory, GFLOP/s of arithmetic."""

    threads: int
    bandwidth: float
    float32: float
    float64: float

    def peak(self, dtype: str) -> float:
        """GFLOP/s for a dtype; float64's for all dtypes but float32."""
        return self.float32 if dtype in ("float32", "complex64", "float16") else self.float64

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "threads": self.threads, "bandwidth": self.bandwidth, "float32": self.float32, "float64": self.float64,
        }  # fmt: skip
