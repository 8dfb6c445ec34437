"""Experiments about the process that calls functions: threads, forks, signals, memory, recursion, sanitizers.

`zoo.py` and `zoo_runtime.py` are programs that `sanitizers.py` runs.
"""
