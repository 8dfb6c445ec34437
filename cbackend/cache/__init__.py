"""Compiled code on disk: content-addressed, verified, healed; the folder, its files, its upkeep."""
