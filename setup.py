"""Packaging: the folders of this repository become the subpackages of one import name, `arignote`."""

from setuptools import setup

ROOMS = ("abi", "cache", "build", "gemm", "runtime", "ir", "ctext", "lowering", "program", "calls")
FOLDERS = [
    *("record", "pages", "graph", "ops", "optdb", "optdb/rules", "profiling"),
    *("cbackend", *(f"cbackend/{room}" for room in ROOMS)),
]

setup(
    packages=["arignote", *("arignote." + folder.replace("/", ".") for folder in FOLDERS)],
    package_dir={"arignote": "arignote", **{"arignote." + folder.replace("/", "."): folder for folder in FOLDERS}},
)
