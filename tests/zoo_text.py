"""Prints the optimized graph of every example of the rules; test_determinism.py runs it in processes of its own."""

import rule_rows
import rule_rows_shapes
from rewriting import graph_of

from arignote.optdb.rules import default_db

if __name__ == "__main__":
    optimizer = default_db().query("fast_run")
    for name, before, *_ in [*rule_rows.ROWS, *rule_rows_shapes.ROWS]:
        print(name, optimizer(graph_of(before))[0])
