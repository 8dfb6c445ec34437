"""Export of a compiled function as files that need no Python: C, a header, weights, a Makefile."""
