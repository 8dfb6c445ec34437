"""Targets: the machines that functions are compiled for, as values.

- `target.py`: `Target`, its instruction set, vectors, caches, threads and compiler.
- `limits.py`: `Limits`, bounds on kernels, tiles and pipelines.
- `units.py`: instructions that multiply numbers of few bits.
- `costs.py`: `Costs`, the one cost model, in picoseconds.
- `table_x86_64.py`: the measured costs of elementwise ops, written by `python -m benchmarks.fit`.
- `text.py`: targets as text, `parse_target`.
- `named.py`: targets known by name, and the host.
- `current.py`: the target that passes ask.
- `processor.py`, `processors.py`: facts about this machine.
"""
