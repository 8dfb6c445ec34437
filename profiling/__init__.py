"""What it cost: profiles of optimization and of runs.  Standard library and NumPy only; anyone may call it."""
