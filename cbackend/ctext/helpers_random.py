"""The helper of random bits: a function of a key and a counter, so that each element is computed independently."""

from __future__ import annotations

from .helper import Helper

# J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011: Threefry,
# two words of 32 bits, 20 rounds.
_THREEFRY = Helper(
    "ag_threefry_u64",
    """\
static inline __attribute__((always_inline)) u32 ag_turned_u32(u32 x, int by)
{
    return x << by | x >> (32 - by);
}

static inline __attribute__((always_inline)) u64 ag_threefry_u64(u64 key, u64 counter)
{
    const u32 k0 = (u32)(key >> 32), k1 = (u32)key, k2 = k0 ^ k1 ^ 0x1bd11bdau;
    u32 a = (u32)(counter >> 32) + k0, b = (u32)counter + k1;
"""
    + "".join(
        "".join(f"    a += b, b = ag_turned_u32(b, {r}) ^ a;\n" for r in turns)
        + f"    a += k{(n + 1) % 3}, b += k{(n + 2) % 3} + {n + 1};\n"
        for n, turns in enumerate([(13, 15, 26, 6), (17, 29, 16, 24)] * 2 + [(13, 15, 26, 6)])
    )
    + """\
    return (u64)a << 32 | b;
}
""",
)

RANDOM = [_THREEFRY]
