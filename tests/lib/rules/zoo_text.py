"""Prints the optimized graph of every example of the rules, and its C; test_determinism.py runs it in processes."""

import rule_rows
import rule_rows_shapes
from rewriting import graph_of

from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.plan import plan
from arignote.optdb.rules import default_db

if __name__ == "__main__":
    optimizer = default_db().query("fast_run")
    for name, before, *_ in [*rule_rows.ROWS, *rule_rows_shapes.ROWS]:
        graph = optimizer(graph_of(before))[0]
        print(name, graph, c_text(plan(graph)), sep="\n")
