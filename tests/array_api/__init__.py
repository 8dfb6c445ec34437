"""The public test suite of the array API standard, run on a wrapper that computes each call at once.

    python -m tests.array_api PATH [--mode NUMPY] [--examples 100] [pytest's arguments]

PATH is a checkout of https://github.com/data-apis/array-api-tests with its submodule.  `campaign/values/parity.py`
lists the tests that fail and why; the command fails if others do, or if one of these passes.
"""
