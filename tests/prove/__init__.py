"""Proofs of rules: `python -m tests.prove [RULE ...] [--seconds S]`.

    instances.py    graphs on which a rule fires, before and after
    machine.py      the theory of machine numbers: bit-vectors and floating point, with NumPy's meaning
    reals.py        the theory of real numbers, for contracts that allow rounding
    arrays.py       graphs on symbolic arrays
    check.py        one instance: theory, lengths, formats, the solver's answer, replay by NumPy
    verdicts.py     one rule: all its instances, kept in verdicts.json
    page.py         docs/proofs.md

The package needs z3 (`pip install arignote[prove]`).
"""

import sys
from pathlib import Path

_LIB = Path(__file__).parent.parent / "lib"
for _folder in (_LIB, *(p for p in _LIB.iterdir() if p.is_dir())):
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))
