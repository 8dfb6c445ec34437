"""Channels in blocks (NCHWc): layouts, and the ops that exist only there.

Begin with layout.py.
"""
