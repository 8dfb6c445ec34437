"""Explanations of a function: its text, its rewrites, its report, its values, its errors.

Begin with explain.py.
"""
