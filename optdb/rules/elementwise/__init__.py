"""Rules on elementwise ops: arithmetic, powers, logic, stability, constants.

Begin with arithmetic.py.
"""
