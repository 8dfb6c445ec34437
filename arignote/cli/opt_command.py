"""`python -m arignote opt graph.txt --passes "canonicalize -local_mul_zero"`: a pipeline on a graph in a file.

The graph that comes out is printed, in text that reads back; what changed and how long it took goes to the standard
error, so that one call can feed the next.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from .. import later
from ..cbackend.build.compiler_process import CompileError
from ..database import optdb
from ..explain.explain import changed_lines, stages
from ..explain.replay import Replay
from ..explain.trace import Trace
from ..function.function import parse
from ..function.stages import STAGES, STARTS, emitted
from ..graph import FunctionGraph, GraphEditor, Replacement
from ..profiling import OptimizerProfile
from ..profiling.summary import summary_lines


def main(
    source: str, passes: str, print_changed: bool, timed: bool, stage: str = "graph", begin: str = "graph",
    proved: bool = False,
) -> int:  # fmt: skip
    """Optimize the graph of a file (`-`: standard input) by a query, print a stage of it; return the exit code.

    `begin`: the stage of the file: "graph", or "program" or "loops", which no pass goes over.  `proved`: whether each
    rewrite is proved; then the exit code is 1 if one is refuted, and 2 if the solver is missing.
    """
    if begin != "graph":
        return _from_stage(source, begin, stage)
    try:
        graph = graph_in(source)
    except ValueError as error:
        return _failed(str(error))
    try:
        optimizer = optdb.query(passes)
    except ValueError as error:
        return _failed(f"--passes: {error}")
    editor = GraphEditor()
    result, profile = optimizer(graph, editor)
    report = [*(changes(graph, editor.journal, profile) if print_changed else ())]
    report += summary_lines(profile) if timed else ()
    refuted = 0
    if proved:
        try:
            proof = later.proof.prove_journal(source, graph, editor.journal, result)
        except ImportError as error:
            print(f"opt: --prove: {error}", file=sys.stderr)
            return 2
        report += str(proof).splitlines()
        refuted = len(proof.refuted)
    print("".join(f"{line}\n" for line in report), end="", file=sys.stderr)
    try:
        print(emitted(result, stage), end="")
    except CompileError as error:
        return _failed(str(error))
    return int(refuted > 0)


def _from_stage(source: str, begin: str, stage: str) -> int:
    left = STAGES[STAGES.index(begin) :]
    if stage not in left:
        return _failed(f"--emit {stage}: the file holds {begin}, a later stage; expected one of {', '.join(left)}")
    try:
        print(STARTS[begin](text_in(source), stage), end="")
    except (ValueError, CompileError) as error:
        return _failed(f"{source}: {error}")
    return 0


def graph_in(source: str) -> FunctionGraph:
    """The graph of a file, or of the standard input for `-`.  Raises ValueError, naming the file, if there is none."""
    try:
        return parse(text_in(source))
    except (ValueError, TypeError) as error:  # no graph, or an op that refuses its operands
        raise ValueError(f"{source}: {error}") from None


def text_in(source: str) -> str:
    """The text of a file, or of the standard input for `-`.  Raises ValueError if there is none."""
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError("is no text in UTF-8") from None


def _failed(message: str) -> int:
    print(f"opt: {message}", file=sys.stderr)
    return 1


def changes(graph: FunctionGraph, journal: list[Replacement], profile: OptimizerProfile) -> Iterator[str]:
    """Yield the changes of each pass that changed something, as a diff with stable names, and the rules that fired."""
    replay = Replay(graph, journal)
    for stage, numbers in stages(Trace(graph, journal, profile)):
        before = replay.lines()
        replay.goto(numbers[-1] + 1)
        rules = dict.fromkeys(entry.rule for entry in journal[numbers[0] : numbers[-1] + 1])
        yield f"*** {stage}: {', '.join(rules)}"
        yield from changed_lines(before, replay.lines()) or ["equal values made one"]
        yield ""
