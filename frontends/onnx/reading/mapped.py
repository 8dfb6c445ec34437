"""An ONNX file without its large weights, which stay in the file and are mapped when an array is made of them.

    the bytes of a ModelProto   -->   the same with `external_data` in the place of `raw_data`, in the same file

Only the messages model, graph and initializer are walked; a weight is skipped, so its pages are not read.  Source of
the encoding: Protocol Buffers, "Encoding"; field numbers: onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

LEAST = 1 << 16
"""Bytes of the smallest weight that stays in the file."""
_GRAPH, _INITIALIZER, _RAW_DATA, _EXTERNAL_DATA, _LOCATION = 7, 5, 9, 13, 14
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types."""


def without_weights(data: Any, name: str) -> bytes:
    """Return the model of the file `name`, mapped as `data`, whose large weights lie in that file.

    Raises:
        ValueError: the file is cut short, or is no message.
    """
    found = bytearray()
    for number, begin, start, end in _fields(data, 0, len(data)):
        if number == _GRAPH:
            found += _message(_GRAPH, _graph(data, start, end, name))
        else:
            found += data[begin:end]
    return bytes(found)


def _graph(data: Any, first: int, last: int, name: str) -> bytes:
    found = bytearray()
    for number, begin, start, end in _fields(data, first, last):
        if number == _INITIALIZER and end - start >= LEAST:
            found += _message(_INITIALIZER, _tensor(data, start, end, name))
        else:
            found += data[begin:end]
    return bytes(found)


def _tensor(data: Any, first: int, last: int, name: str) -> bytes:
    found = bytearray()
    for number, begin, start, end in _fields(data, first, last):
        if number == _RAW_DATA and end - start >= LEAST:
            for key, value in (("location", name), ("offset", str(start)), ("length", str(end - start))):
                found += _message(_EXTERNAL_DATA, _message(1, key.encode()) + _message(2, value.encode()))
            found += _number(_LOCATION << 3 | _VARINT) + _number(1)
        else:
            found += data[begin:end]
    return bytes(found)


def _fields(data: Any, at: int, last: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield number, place, place of the content and end of each field of a message."""
    while at < last:
        begin = at
        key, at = _read_number(data, at, last)
        kind = key & 7
        if kind == _VARINT:
            start, (_, end) = at, _read_number(data, at, last)
        elif kind == _BYTES:
            length, start = _read_number(data, at, last)
            end = start + length
        elif kind in (_FIXED64, _FIXED32):
            start, end = at, at + (8 if kind == _FIXED64 else 4)
        else:
            raise ValueError(f"a field of wire type {kind} at byte {begin}")
        if end > last:
            raise ValueError(f"a field of {end - start} bytes at byte {begin}, of which {last - start} are there")
        yield key >> 3, begin, start, end
        at = end


def _read_number(data: Any, at: int, last: int) -> tuple[int, int]:
    """Return the number at a place, and the place behind it."""
    found = shift = 0
    while at < last and shift < 70:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
    raise ValueError(f"a number without an end at byte {at}")


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _message(number: int, content: bytes) -> bytes:
    return _number(number << 3 | _BYTES) + _number(len(content)) + content
