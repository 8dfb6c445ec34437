"""The command line: `python -m arignote demo | doctor | cache`."""

from __future__ import annotations

import argparse
import os
import sys

from . import __version__, cache_command, demo, doctor


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    parser = argparse.ArgumentParser("python -m arignote", description="Arignote: symbolic expressions compiled to C")
    parser.add_argument("--version", action="version", version=f"arignote {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="train two classifiers of handwritten digits and show what that cost")
    commands.add_parser("doctor", help="say what compiler, BLAS and cache were found, and what would help")
    cache = commands.add_parser("cache", help="look at the cache of compiled code, or clear it")
    cache.add_argument("action", nargs="?", default="size", choices=cache_command.ACTIONS)
    chosen = parser.parse_args(arguments)
    if chosen.command == "demo":
        return demo.main()
    if chosen.command == "doctor":
        return doctor.main()
    return cache_command.main(chosen.action)


if __name__ == "__main__":
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it, such as `head`, has seen enough; nothing is left to be flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code)
