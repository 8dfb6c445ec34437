"""One cache entry as bytes: a payload and a footer with its checksums.

    entry  ::= payload  footer
    footer ::= magic[8] format:u32 kind:u32 key[32] length:u64 sha256(payload)[32] architecture[8] extensions:u64
               seal(footer so far)[32]

The payload of a library is the shared object itself: the loader ignores trailing bytes, so that one `rename`
publishes code and footer together and there is no index to tear.  Everything is checked before the loader maps a
byte, because a damaged library does not raise, it kills the process: of 200 cut at a random length, 142 ended in
SIGBUS inside `dlopen`.

The seal is sha256 in a folder that is ours alone.  In a shared one it is BLAKE2b keyed with a secret (a message
authentication code, RFC 7693): who can write there but does not know the secret can make no entry that we would load.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from enum import IntEnum
from hmac import compare_digest

from .machine import Machine

MAGIC = b"ARIGNOTE"
FORMAT = 2
_BODY = struct.Struct("<8sII32sQ32s8sQ")
_FOOTER = struct.Struct(f"<{_BODY.size}s32s")
FOOTER_BYTES = _FOOTER.size


class Kind(IntEnum):
    """The kind of a payload: a record is never loaded as a library."""

    LIBRARY = 1
    RECORD = 2
    SCHEDULE = 3
    TRIALS = 4


class DamagedError(Exception):
    """Bytes that are no entry of this kind and key; the message says why."""


class ForeignError(Exception):
    """A valid entry whose code this machine cannot run."""


def footer(
    kind: Kind, key: bytes, payload: Sequence[bytes | memoryview], machine: Machine, secret: bytes = b""
) -> bytes:
    """Return the footer of an entry whose payload consists of bytes in parts.

    `key` is a SHA-256 digest, `secret` has at most 64 bytes, none if private.
    """
    digest, length = hashlib.sha256(), 0
    for part in payload:
        digest.update(part)
        length += len(part)
    body = _BODY.pack(MAGIC, FORMAT, kind, key, length, digest.digest(), machine.architecture, machine.extensions)
    return _FOOTER.pack(body, _seal(body, secret))


def unpack(entry: bytes | memoryview, kind: Kind, key: bytes, machine: Machine, secret: bytes = b"") -> memoryview:
    """Return the payload of `entry`, which is not copied, after all its bytes were checked.

    Raises:
        DamagedError: cut, altered, sealed with another secret, or the entry of another key, kind or format.
        ForeignError: built for a processor that can do what ours cannot.
    """
    if len(entry) < FOOTER_BYTES:
        raise DamagedError(f"{len(entry)} bytes, fewer than a footer")
    body, seal = _FOOTER.unpack(entry[-FOOTER_BYTES:])
    if not compare_digest(_seal(body, secret), seal):
        raise DamagedError("the footer does not match its seal")
    magic, version, found_kind, found_key, length, digest, architecture, extensions = _BODY.unpack(body)
    if (magic, version, found_kind) != (MAGIC, FORMAT, kind):
        raise DamagedError("another kind or format of entry")
    if found_key != key:
        raise DamagedError("the entry of another key")
    found = memoryview(entry)[:-FOOTER_BYTES]
    if len(found) != length or hashlib.sha256(found).digest() != digest:
        raise DamagedError("the payload does not match its checksum")
    if not machine.runs(Machine(architecture, extensions)):
        raise ForeignError("built for another machine")
    return found


def _seal(body: bytes, secret: bytes) -> bytes:
    if secret:
        return hashlib.blake2b(body, digest_size=32, key=secret).digest()
    return hashlib.sha256(body).digest()
