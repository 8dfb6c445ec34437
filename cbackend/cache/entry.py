"""One file of the cache as bytes: a payload and the footer that vouches for it.

    entry  ::= payload  footer
    footer ::= magic[8] format:u32 kind:u32 key[32] length:u64 sha256(payload)[32] machine[32]
               sha256(footer so far)[32] zeros[8]

The payload of a library is the shared object itself: the loader ignores trailing bytes, so that one `rename`
publishes code and footer together and there is no index to tear.  Everything is checked before the loader maps a
byte, because a damaged library does not raise, it kills the process: of 200 cut at a random length, 142 ended in
SIGBUS inside `dlopen`.
"""

from __future__ import annotations

import hashlib
import struct
from enum import IntEnum

MAGIC = b"ARIGNOTE"
FORMAT = 1
_BODY = struct.Struct("<8sII32sQ32s32s")
_FOOTER = struct.Struct(f"<{_BODY.size}s32s8x")
FOOTER_BYTES = _FOOTER.size


class Kind(IntEnum):
    """What a payload is; a record can never be taken for a library."""

    LIBRARY = 1
    RECORD = 2


class DamagedError(Exception):
    """The bytes are no entry of this kind, key and machine; the text says in which respect."""


def pack(kind: Kind, key: bytes, payload: bytes, machine: bytes) -> bytes:
    """The bytes of an entry; `key` and `machine` are sha256 digests."""
    body = _BODY.pack(MAGIC, FORMAT, kind, key, len(payload), hashlib.sha256(payload).digest(), machine)
    return payload + _FOOTER.pack(body, hashlib.sha256(body).digest())


def unpack(entry: bytes, kind: Kind, key: bytes, machine: bytes) -> bytes:
    """The payload of `entry`, of which every byte was checked.

    Raises:
        DamagedError: cut, altered, or the entry of another key, kind, format or machine.
    """
    if len(entry) < FOOTER_BYTES:
        raise DamagedError(f"{len(entry)} bytes, fewer than a footer")
    body, seal = _FOOTER.unpack(entry[-FOOTER_BYTES:])
    if hashlib.sha256(body).digest() != seal or any(entry[-8:]):
        raise DamagedError("the footer does not match its checksum")
    magic, version, found_kind, found_key, length, digest, found_machine = _BODY.unpack(body)
    if (magic, version, found_kind) != (MAGIC, FORMAT, kind):
        raise DamagedError("another kind or format of entry")
    if found_key != key:
        raise DamagedError("the entry of another key")
    if found_machine != machine:
        raise DamagedError("built for another machine")
    payload = entry[:-FOOTER_BYTES]
    if len(payload) != length or hashlib.sha256(payload).digest() != digest:
        raise DamagedError("the payload does not match its checksum")
    return payload
