"""Experiments about the cache and its keys: damage, races, killed processes, failing system calls, intruders."""
