"""Converters of PyTensor's ops, one file a subject.

Begin with elementwise.py; registered.py imports all of them.
"""
