"""Rules for readers: an expression as a person would write it, for `ag.pprint` and formulas in notebooks.

Only the query `print` takes them.  No function is compiled from what they make.  Begin with polynomials.py.
"""
