"""A compiled function as files that need no Python: C, a header, its weights, a Makefile."""
