"""Attention in one pass: no array of all scores is stored."""
