"""The target of the tables of rules: vectors of 64 bytes with every extension that a rule asks for, on any machine."""

from arignote.targets.target import LEVELS, x86_64

WIDE = x86_64("x86_64-linux-v4", (*LEVELS["-v4"], "avx512_bf16", "avx512_vnni"))
