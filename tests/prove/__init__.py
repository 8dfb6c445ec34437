"""Proofs of rules: `python -m tests.prove [RULE ...] [--seconds S]`.

    instances.py    graphs on which a rule fires, before and after
    verdicts.py     one rule: all its instances, kept in verdicts.json
    wrong_rules.py  planted rules that no proof may cover
    recording.py    distinct rewrites of what programs compile
    ends.py         whether rewrites lead to the graphs that run
    functions.py    proofs of the functions of tests, tutorials and networks
    page.py         docs/proofs.md

The meaning of graphs in SMT, and the check of one instance, are in `arignote.proving`.

The package needs z3 (`pip install arignote[prove]`).
"""

import sys
from pathlib import Path

_LIB = Path(__file__).parent.parent / "lib"
LIBRARIES = (_LIB, *(p for p in sorted(_LIB.iterdir()) if p.is_dir()))
"""Folders of modules that tests share."""
for _folder in LIBRARIES:
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))
