"""Mutation score: `python -m tests.mutants [NAME ...] [--kind K] [--sample N] [--jobs J]`.

    cache.txt ...   planted faults; the name of a file begins with their kind
    faults.py       the faults as values
    trials.py       one fault: a copy of the tree, the fault, the tests
    scores.py       verdicts.json, and the table of docs/mutants.md

A mutant is the product with one fault. It is killed if a test fails that passes without the fault.
"""
