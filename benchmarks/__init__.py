"""Ours and the peers side by side in one run.  `python -m benchmarks --help`.

This folder holds the cases that all peers run, the cost of starts, rewriting, threads and profiles, and the fit of the
cost model.  `kernels/` measures single operations, `models/` whole networks, `devices/` other engines and machines,
`peers/` has an adapter for each library that we are compared with.
"""
