"""The demonstrations of `python -m arignote demo`.

Begin with digits.py.
"""

from .digits import load_digits as load_digits
