"""Elementwise ops, one record each: arithmetic, exponentials, angles, logic, parts of numbers.

Begin with records.py, the table; pointwise.py is the class, functions.py has what is composed of them.
"""
