"""The text form of a program: printing.py has the grammar and writes it, parsing.py reads it back.

names.py holds the facts that a text omits because they follow from earlier lines.
"""
