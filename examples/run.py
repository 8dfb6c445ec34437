"""Runs the notebooks of this folder, each in a fresh kernel, and keeps the outputs: `python examples/run.py [--check]`.

With `--check` nothing is written: the notebooks must run without an error, and those that are kept must hold outputs of
every cell and no path of anybody's machine.  Needs nbclient and ipykernel.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
PATHS = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt|Users|private|var)/[\w./-]+|[A-Z]:\\\\")


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook after a run.  Raises nbclient.exceptions.CellExecutionError, with the cell, if one fails."""
    os.environ["PYTHONPATH"] = os.pathsep.join([str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ["ARIGNOTE_PROGRESS"] = "0"  # which would stay behind as an empty output
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}})
    client.execute()
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("execution", None)  # when it ran
        cell["id"] = f"cell-{number}"
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


def problems(notebook: nbformat.NotebookNode) -> list[str]:
    """Faults of a stored notebook: cells that did not run, errors, paths of a machine."""
    found = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        if cell.execution_count is None:
            found.append(f"cell {number} was not run")
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"cell {number} ends in {output.ename}: {output.evalue}")
            found += [f"cell {number} shows the path {path}" for path in PATHS.findall(str(output))]
    return found


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    wanted = [Path(a) for a in arguments if not a.startswith("-")] or sorted(FOLDER.glob("*.ipynb"))
    failed = 0
    for path in wanted:
        kept = problems(nbformat.read(path, as_version=4)) if check else []
        made = executed(path)
        message = kept + problems(made)
        print(f"{path.name}: {'; '.join(message) or 'runs'}")
        failed += bool(message)
        if not check and not message:
            nbformat.write(made, path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
