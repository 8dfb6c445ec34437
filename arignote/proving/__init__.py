"""Proofs that two graphs compute the same, by the SMT solver Z3: `mode="PROVE"` checks each rewrite of a function.

Begin with journals.py, the steps of a function, and check.py, one step.  Graphs become terms in arrays.py, over machine
numbers (machine.py) or real numbers (reals.py).  Only claims.py and agreement.py load without the package z3-solver.
"""
