"""Compiled programs as callables: entry, checks of arguments, failures in the user's words, the NumPy backend."""
