"""Compiled programs as callables: entry, checks of arguments, error messages, the NumPy backend."""
