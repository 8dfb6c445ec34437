"""Sums of products of bytes, functions of bytes as tables, and floats as bytes in blocks."""
