"""`ag.scan`, `ag.while_loop` and `ag.cond`.

Begin with scan.py.
"""
