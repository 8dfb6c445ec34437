"""The command line: `python -m arignote COMMAND`.

Commands: demo, doctor, cache, opt, report, bisect, reduce, onnx, theano, pymc-bench.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from . import __version__
from .cli import bisect_command, cache_command, doctor, opt_command
from .demo import digits as demo
from .explain import report
from .function.stages import STAGES
from .options import process_options
from .record import lazy
from .record.spelling import nearest

reduce_command: Any = lazy.module(".cli.reduce_command", __package__)
onnx_command: Any = lazy.module(".frontends.onnx.command", __package__)
theano_command: Any = lazy.module(".frontends.theano.command", __package__)
pymc_command: Any = lazy.module(".frontends.pytensor.command", __package__)
demo_cnn, demo_web = lazy.module(".demo.cnn", __package__), lazy.module(".demo.web", __package__)


class _Parser(argparse.ArgumentParser):
    """A parser that names the choice that was probably meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        near = nearest(str(value), action.choices or (), least=0.7)
        if near and value not in (action.choices or ()):
            raise argparse.ArgumentError(action, f"there is no {value!r}; did you mean {near[0]!r}?")
        super()._check_value(action, value)


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    chosen = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            if chosen.command == "doctor":
                warnings.filterwarnings("ignore", ".* is no option and has no effect")  # a finding says it
            process_options()
    except (ValueError, TypeError) as error:
        print(f"arignote: {error}", file=sys.stderr)
        return 2
    if chosen.command == "demo":
        return _demonstrate(chosen)
    if chosen.command == "doctor":
        return doctor.main()
    if chosen.command == "opt":
        return opt_command.main(
            chosen.graph, chosen.passes, chosen.print_changed, chosen.time, chosen.emit, chosen.begin, chosen.prove
        )
    if chosen.command == "bisect":
        return bisect_command.main(chosen.graph, chosen.inputs, chosen.mode, chosen.exact)
    if chosen.command == "reduce":
        return int(reduce_command.main(chosen.failure, chosen.output))
    if chosen.command == "onnx":
        return int(onnx_command.main(chosen))
    if chosen.command == "theano":
        return int(theano_command.main(chosen))
    if chosen.command == "pymc-bench":
        return int(pymc_command.main(chosen))
    if chosen.command == "report":
        return report.main(chosen.trace, chosen.output)
    return cache_command.main(chosen.action)


def _parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = _Parser("python -m arignote", description="Arignote: symbolic expressions compiled to C")
    parser.add_argument("--version", action="version", version=f"arignote {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_demo(commands.add_parser("demo", help="train classifiers of handwritten digits and show what that cost"))
    commands.add_parser("doctor", help="say what compiler, BLAS and cache were found, and what would help")
    cache = commands.add_parser("cache", help="look at the cache of compiled code, or clear it")
    reported = "; ".join(f"{name}: {does}" for name, does in cache_command.ACTIONS.items())
    cache.add_argument("action", nargs="?", default="size", choices=list(cache_command.ACTIONS), help=reported)
    opt = commands.add_parser("opt", help="optimize the graph in a file and print it")
    opt.add_argument("graph", help="a file with the text of a graph, or - for the standard input")
    opt.add_argument("--passes", default="fast_run", help='a query, such as "canonicalize -local_mul_zero"')
    opt.add_argument("--emit", default="graph", choices=STAGES, help="the stage to print; the default is the graph")
    begins = ("graph", "program", "loops")
    opt.add_argument("--from", dest="begin", default="graph", choices=begins, help="the stage that the file holds")
    opt.add_argument("--print-changed", action="store_true", help="show what each pass changed")
    opt.add_argument("--time", action="store_true", help="show what each pass and rule cost")
    opt.add_argument("--prove", action="store_true", help="prove each rewrite, by the solver Z3")
    program = commands.add_parser("theano", help="run a program that was written for Theano, as it is")
    program.add_argument("script", help="the Python file")
    program.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    model = commands.add_parser("pymc-bench", help="time all backends of PyTensor on a model of PyMC")
    model.add_argument("model", help="a Python file with the model")
    model.add_argument("--name", default="model", help="the variable that holds it, or the function that makes it")
    model.add_argument("--terms", action="store_true", help="show instead what each variable of the model costs")
    page = commands.add_parser("report", help="make an HTML page of what ARIGNOTE_TRACE=folder recorded")
    page.add_argument("trace", help="a trace file, or a folder of them")
    page.add_argument("-o", "--output", default="report.html", help="the page to write")
    search = commands.add_parser("bisect", help="find the first wrong rewrite of a graph in a file")
    search.add_argument("graph", help="a file with the text of a graph, or - for the standard input")
    search.add_argument("--inputs", help="an .npz file with an array for each input by name; else random numbers")
    search.add_argument("--mode", help='a mode, such as FAST_RUN or "fast_run -fusion"')
    search.add_argument("--exact", action="store_true", help="take every change of a bit for one, not for rounding")
    smaller = commands.add_parser("reduce", help="make a saved failure as small as it can be")
    smaller.add_argument("failure", help="a file that ag.bisect(f, inputs).reproducer.save(...) wrote")
    smaller.add_argument("-o", "--output", help="a file for the reduced failure")
    _add_onnx(commands.add_parser("onnx", help="show, run, profile or export an ONNX model"))
    return parser


def _demonstrate(chosen: argparse.Namespace) -> int:
    """Run the demonstration that was chosen."""
    if chosen.network == "cnn":
        return int(demo_cnn.main(chosen.full, chosen.picture, chosen.onnx))
    if chosen.network == "web":
        return int(demo_web.main(chosen.page))
    return demo.main(chosen.full, chosen.picture)


def _add_demo(show: argparse.ArgumentParser) -> None:
    networks = "dense: logistic regression and a perceptron; cnn: a convolutional network, saved as ONNX; web: its page"
    show.add_argument("network", nargs="?", default="dense", choices=("dense", "cnn", "web"), help=networks)
    show.add_argument("--full", action="store_true", help="print the whole profiles")
    show.add_argument("--picture", type=Path, help="the SVG file for the losses; default: in the temporary folder")
    show.add_argument("--onnx", type=Path, help="the file for the trained cnn; default: in the temporary folder")
    show.add_argument("--page", type=Path, help="the HTML file of web; default: in the temporary folder")


def _add_onnx(model: argparse.ArgumentParser) -> None:
    model.add_argument("model", help="an .onnx file")
    model.add_argument("--run", action="store_true", help="run the model with random inputs")
    model.add_argument("--profile", action="store_true", help="run it, and show the time of each node")
    model.add_argument("--report", metavar="FILE", help="write an HTML page on the compiled model")
    model.add_argument("--export", metavar="FOLDER", help="write the model as C that needs no Python")
    how = "lengths of an input, as in image=1,3,224,224; ? for an open one, ; between tensors of a sequence"
    model.add_argument("--shape", action="append", metavar="NAME=LENGTHS", help=how)
    model.add_argument("--seed", type=int, default=0, help="the seed of the random inputs")


def run() -> int:
    """Run `main` as a program and return the exit code, even if its output cannot be written."""
    warnings.formatwarning = _warning_line
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names of any language, in terminals of ASCII
    try:
        code = main()
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        _discard_output()
        return 1
    except OSError as error:
        _discard_output()
        place = f"{error.filename}: " if error.filename else ""
        print(f"arignote: {place}{error.strerror or error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("arignote: interrupted", file=sys.stderr)
        return 130
    return code


def _discard_output() -> None:
    """Discard the rest of the output, so that no flush can fail at exit."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warning_line(message: Warning | str, *_: Any, **__: Any) -> str:
    """Return a warning without the line of our code that it points at."""
    return f"{message}\n"


if __name__ == "__main__":
    sys.exit(run())
