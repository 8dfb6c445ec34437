"""The folder of a bundle: it holds one function, and no file in it is replaced that an export did not write.

A list of the files with their digests, which `sha256sum -c` reads, lies among them.  Its first line names the function.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

LISTED = "ag_files.sha256"
_HEAD = "# arignote: the export of "


def write_bundle(folder: Path, function: str, files: Mapping[str, bytes]) -> None:
    """Write the files of `function` to `folder`, in the place of those of its last export.

    Raises:
        FileExistsError: a file that no export wrote, or that was changed since, or the export of another function.
    """
    owner, written = _listed(folder)
    if owner is not None and owner != function:
        raise FileExistsError(
            f"export: folder={str(folder)!r} holds the export of {owner!r}; {function!r} needs a folder of its own"
        )
    for file, content in files.items():
        if (reason := _foreign(folder / file, content, written.get(file))) is not None:
            what = f"{file} {reason}, and would be replaced"
            raise FileExistsError(f"export: folder={str(folder)!r}: {what}; move it, or give another folder")
    if owner is None:  # from now on the folder is ours, also against an export that runs at the same time
        try:
            with open(folder / LISTED, "x", encoding="utf-8") as list_:
                list_.write(_head(function))
        except FileExistsError:
            what = "another export writes to it"
            raise FileExistsError(f"export: folder={str(folder)!r}: {what}; give each a folder of its own") from None
    for file, content in files.items():
        _replace(folder / file, content)
    for file in written.keys() - files.keys():
        if _digest_of(folder / file) == written[file]:
            (folder / file).unlink()
    lines = [f"{hashlib.sha256(content).hexdigest()}  {file}\n" for file, content in files.items()]
    _replace(folder / LISTED, "".join([_head(function), *lines]).encode())


def _head(function: str) -> str:
    return f"{_HEAD}{json.dumps(function)}\n"


def _listed(folder: Path) -> tuple[str | None, dict[str, str]]:
    """Return the function whose export the folder holds (None: no export), and the digests of its files."""
    try:
        head, *lines = (folder / LISTED).read_text("utf-8").splitlines()
        owner = json.loads(head.removeprefix(_HEAD))
        return owner, {file: digest for digest, _, file in (line.partition("  ") for line in lines)}
    except FileNotFoundError:
        return None, {}
    except ValueError:  # nothing of ours, or damaged
        raise FileExistsError(f"export: folder={str(folder)!r}: {LISTED} lists no export; move it away") from None


def _foreign(path: Path, content: bytes, written: str | None) -> str | None:
    """Return why the file at `path` is not ours to replace by `content`; None if it is, or there is none."""
    if not path.is_symlink() and not path.exists():
        return None
    digest = _digest_of(path)
    if digest in (written, hashlib.sha256(content).hexdigest()) and digest is not None:
        return None
    return "was changed since it was exported" if written else "was not written by an export"


def _digest_of(path: Path) -> str | None:
    """Return the digest of a file; None for a link, a folder, or what cannot be read."""
    try:
        return None if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a link there is replaced, not followed."""
    unfinished = path.with_name(f"ag_{os.getpid()}.part")
    unfinished.write_bytes(content)
    unfinished.replace(path)
