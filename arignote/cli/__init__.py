"""Commands of `python -m arignote`.

Each file is one command.
"""
