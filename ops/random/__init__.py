"""Streams of random numbers; `T.random` for users.

Begin with streams.py; draws.py holds the states, draw_parameters.py the conditions on parameters.
"""
