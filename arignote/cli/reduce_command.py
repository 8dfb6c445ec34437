"""`python -m arignote reduce report.zip`: the smallest graph on which a saved failure still shows.

`ag.bisect(f, inputs).reproducer.save("report.zip")` writes the file.  The exit code is 1 if the failure shows, 0 if it
is gone, 2 if the file cannot be used.
"""

from __future__ import annotations

import sys

from ..explain.reducing import FailureError, load, reduced


def main(source: str, output: str | None) -> int:
    """Reduces the failure in a file, and prints or writes the reproducer; the exit code."""
    try:
        failure = load(source)
    except FailureError as error:
        print(f"reduce: {error}", file=sys.stderr)
        return 2
    if failure.registered:
        print(f"reduce: {source}: the rule {failure.registered} is registered by a program, not by this package; fix: "
              f"reduce it there, with ag.bisect", file=sys.stderr)  # fmt: skip
        return 2
    found = reduced(failure)
    if found is None:
        print(f"reduce: {source}: the failure is gone; it was: {failure.difference}")
        return 0
    print(found)
    if output is not None:
        try:
            found.save(output)
        except OSError as error:
            print(f"reduce: {output}: cannot be written: {error.strerror or error}", file=sys.stderr)
            return 2
    return 1
