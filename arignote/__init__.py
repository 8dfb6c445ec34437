"""Arignote: symbolic NumPy-like expressions, an optimization database, generated C."""

from pathlib import Path as _Path

# A plain checkout keeps optdb/, ops/, ... beside this folder; an installed package keeps them inside it.
if (_Path(__file__).parent.parent / "setup.py").is_file():
    __path__.append(str(_Path(__file__).parent.parent))
