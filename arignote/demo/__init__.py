"""The demonstrations of `python -m arignote demo`.

Begin with digits.py.
"""
