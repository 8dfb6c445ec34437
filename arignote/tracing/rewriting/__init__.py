"""The source of traced functions, rewritten so that control flow is traced.

Begin with source.py.
"""
