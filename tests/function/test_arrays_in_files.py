"""`ag.save` and `ag.load`: trees come back, files are those of safetensors, damaged and hostile files are refused."""

import json
import random
import tracemalloc
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import arignote as ag

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8",
          "bool", "complex64", "complex128"]  # fmt: skip


@dataclass
class Layer:
    w: object
    b: object


class Pair(NamedTuple):
    x: object
    y: object


def same(a, b):
    """Both have one structure and equal arrays of equal dtypes."""
    (mine, form), (others, other_form) = ag.tree.flatten(a), ag.tree.flatten(b)
    assert form == other_form
    return all(
        np.asarray(p).dtype == np.asarray(q).dtype and np.shape(p) == np.shape(q) and np.array_equal(p, q)
        for p, q in zip(mine, others, strict=True)
    )


def test_trees_come_back(tmp_path):
    every = {d: np.arange(6).reshape(2, 3).astype(d) for d in DTYPES}
    tree = {
        "every": every, "list": [np.float32(2), (np.arange(0.0), None)], "turned": np.arange(6.0).reshape(2, 3).T,
        3: np.arange(4, dtype=">i4")[::-1], "empty": {}, "shared": ag.shared(np.ones(2)),
    }  # fmt: skip
    path = ag.save(tmp_path / "a.safetensors", tree, metadata={"author": "me"})
    expected = {**tree, "shared": np.ones(2), 3: np.arange(4, dtype="int32")[::-1]}
    for found in (ag.load(path), ag.load(path, mmap=True)):
        assert same(found, expected)
    assert ag.load(path)["list"][1][0].flags.writeable and not ag.load(path, mmap=True)["every"]["int8"].flags.writeable
    assert ag.save(tmp_path / "folder", [np.ones(3)]).name == "arrays.safetensors"
    assert same(ag.load(tmp_path / "folder"), [np.ones(3)])
    assert np.array_equal(ag.load(ag.save(tmp_path / "one.safetensors", np.eye(2))), np.eye(2))
    ag.save(tmp_path / "folder", [np.zeros(2)])  # replaced as a whole
    assert same(ag.load(tmp_path / "folder"), [np.zeros(2)]) and len(list((tmp_path / "folder").iterdir())) == 1


def test_forms_of_users(tmp_path):
    params = {"layers": [Layer(ag.shared(np.ones(2)), Pair(ag.shared(np.zeros(3)), np.arange(2)))]}
    path = ag.save(tmp_path / "a.safetensors", params)
    assert same(ag.load(path), {"layers": [{"w": np.ones(2), "b": {"x": np.zeros(3), "y": np.arange(2)}}]})
    layer = params["layers"][0]
    layer.w.set_value(np.full(2, 5.0))
    found = ag.load(path, like=params)
    assert found["layers"][0].w is layer.w and layer.w.get_value().tolist() == [1, 1]
    assert type(found["layers"][0].b) is Pair and found["layers"][0].b.y.tolist() == [0, 1]
    layer.w.set_value(np.full(2, 5.0))
    wrong = {"layers": [Layer(layer.w, Pair(ag.shared(np.zeros((3, 1))), np.arange(2)))]}
    with pytest.raises(ValueError, match=r'like\["layers"\]\[0\].b.x: expected .*, got float64\[3\]'):
        ag.load(path, like=wrong)
    assert layer.w.get_value().tolist() == [5, 5]  # all or none
    with pytest.raises(ValueError, match=r"the file lacks 'a' and has 'layers.0.b.x', .*'layers.0.w' besides"):
        ag.load(path, like={"a": np.ones(2)})


def test_files_are_those_of_safetensors(tmp_path):
    numpy_files = pytest.importorskip("safetensors.numpy")
    arrays = {d: np.arange(6).reshape(2, 3).astype(d) for d in DTYPES[:-2]} | {"scalar": np.float64(3)}
    path = ag.save(tmp_path / "a.safetensors", {"x": arrays})
    found = numpy_files.load_file(path)
    assert len(found) == len(arrays)
    assert all(np.array_equal(found[f"x.{k}"], v) and found[f"x.{k}"].dtype == v.dtype for k, v in arrays.items())
    numpy_files.save_file({k: np.asarray(v) for k, v in arrays.items()}, tmp_path / "b.safetensors", {"format": "pt"})
    loaded = ag.load(tmp_path / "b.safetensors")
    assert all(np.array_equal(loaded[k], v) and loaded[k].dtype == v.dtype for k, v in arrays.items())


def written(path, header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(shape, begin, end, dtype="F64", **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


STRUCTURE = "arignote.structure"
HOSTILE = [
    (b"", b"", 2**63, "no file of the format"), (b"{", b"", None, "no file of the format|no JSON"),
    (b"[]", b"", None, "no object"),
    (b"{}", b"x", None, "1 bytes behind"), (b'{"a":1}', b"", None, "expected dtype, shape"),
    ({"a": entry([2**40, 2**40], 0, 8)}, b"\0" * 8, None, "does not fill"),
    ({"a": entry([2**62], 0, 2**62 * 8)}, b"\0" * 8, None, "lengths that no array has"),
    ({"a": entry([10**9], 0, 8 * 10**9)}, b"\0" * 8, None, "does not fill"),
    ({"a": entry([-1], 0, 8)}, b"", None, "lengths"),
    ({"a": entry([True], 0, 8)}, b"\0" * 8, None, "lengths"), ({"a": entry([1.0], 0, 8)}, b"\0" * 8, None, "lengths"),
    ({"a": entry([1], 8, 16)}, b"\0" * 16, None, "a gap"), ({"a": entry([1], 8, 0)}, b"", None, "does not fill"),
    ({"a": entry([1], 0, 8), "b": entry([1], 0, 8)}, b"\0" * 8, None, "overlap"),
    ({"a": entry([1], 0, 8, "OBJECT")}, b"\0" * 8, None, "has the dtype 'OBJECT'; expected one of"),
    ({"a": entry([1], 0, 8, more=1)}, b"\0" * 8, None, "expected dtype"),
    ({"a": entry([1] * 40, 0, 8)}, b"\0" * 8, None, "len"),
    (b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}', b"", None, "twice"),
    (b"[" * 100000, b"", None, "nested|no JSON|no object"), (b"\xff\xfe{}", b"", None, "no JSON"),
    ({"__metadata__": {"a": 1}}, b"", None, "metadata are no texts"), ({"__metadata__": []}, b"", None, "metadata"),
    ({"__metadata__": {STRUCTURE: '["dict",[["a","b"]]]'}, "a": entry([1], 0, 8)}, b"\0" * 8, None, "names of its"),
    ({"__metadata__": {STRUCTURE: '["os.system",["a"]]'}, "a": entry([1], 0, 8)}, b"\0" * 8, None, "none of ours"),
    ({"__metadata__": {STRUCTURE: '["list",[' * 500 + "]]" * 500}}, b"", None, "levels deep|nested"),
    ({"__metadata__": {STRUCTURE: '["dict",[["k","a"],["k","a"]]]'}, "a": entry([1], 0, 8)}, b"\0" * 8, None, "ours"),
    ({"__metadata__": {"arignote.complex128": '["a"]'}, "a": entry([1], 0, 8)}, b"\0" * 8, None, "no array of pairs"),
    ({"__metadata__": {"arignote.complex128": '[["a"]]'}, "a": entry([1], 0, 8)}, b"\0" * 8, None, "no array of pairs"),
]  # fmt: skip


def test_hostile_files_are_refused(tmp_path):
    for k, (header, data, length, message) in enumerate(HOSTILE):
        path = written(tmp_path / f"{k}.safetensors", header, data, length)
        with pytest.raises(ValueError, match=f"load: .*{k}.safetensors: .*({message})"):
            ag.load(path)
    for short in (b"", b"123", b"\x10" + b"\0" * 7):
        (tmp_path / "short.safetensors").write_bytes(short)
        with pytest.raises(ValueError, match="no file of the format"):
            ag.load(tmp_path / "short.safetensors")
    with pytest.raises(FileNotFoundError):
        ag.load(tmp_path / "absent.safetensors")


def damage(tmp_path, count, seed):
    """Load files with random damage: each loads or raises ValueError, and allocates little."""
    rng = random.Random(seed)
    path = ag.save(tmp_path / "a.safetensors", {"a": [np.arange(6.0), np.ones((2, 3), "int8")], "b": (np.float32(1),)})
    original = path.read_bytes()
    loaded = 0
    tracemalloc.start()
    for _ in range(count):
        data = bytearray(original)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(data))
            match rng.randrange(3):
                case 0:
                    data[at] = rng.randrange(256)
                case 1:
                    del data[at : at + rng.randint(1, 9)]
                case _:
                    data[at:at] = rng.choice([b"9", b"-", b"[", b'"', b"{", b"\0", b"99999999"])
        path.write_bytes(data)
        try:
            ag.load(path)
            loaded += 1
        except ValueError:
            pass
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()
    assert 0 < loaded < count


def test_damaged_files_load_or_are_refused(tmp_path):
    damage(tmp_path, 200, 1)


@pytest.mark.long
def test_many_damaged_files(tmp_path):
    damage(tmp_path, 10_000, 2)


@pytest.mark.parametrize("tree, kind, message", [
    ({"a": [np.ones(2), "text"]}, TypeError, r'save: tree\["a"\]\[1\] is .text., of dtype <U4; expected an array of'),
    ({"a": object()}, TypeError, r'save: tree\["a"\] is <object'),
    ({(1, 2): np.ones(2)}, TypeError, r"the key \(1, 2\) is a tuple; expected a text or an integer"),
    ({"a.b": 1, "a": {"b": 2}}, ValueError, "two arrays have the name 'a.b'"),
])  # fmt: skip
def test_what_is_not_saved(tmp_path, tree, kind, message):
    with pytest.raises(kind, match=message):
        ag.save(tmp_path / "a.safetensors", tree)
    assert not list(tmp_path.iterdir())
