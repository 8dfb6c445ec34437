"""NumPy programs as their users write them: PolyBench's kernels, and others from physics and learning.

Begin with programs.py, the table of programs with small arguments.  `python -m benchmarks.numpy_programs` says how many
run unchanged under `ag.jit`.
"""
