"""From expressions to a function, and the function itself.

Begin with function.py, the data path on one screen.
"""
