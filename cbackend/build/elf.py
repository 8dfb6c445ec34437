"""Check that a fresh ELF library is complete before the loader trusts its tables; read the names in objects."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SYMBOLS = 2  # the kind of a section: a table of symbols
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def elf_defect(library: bytes) -> str | None:
    """The reason why a library is truncated or invalid; None if its tables lie within the file, or it is not ELF.

    A compiler that was killed or ran out of disk may leave half a file, and the loader does not survive one.
    """
    if library[:4] in _MACH_O:  # Mach-O; macOS checks its signature itself
        return None
    if library[:4] != b"\x7fELF" or len(library) < 64 or library[4] not in (1, 2):
        return "not a shared library"
    wide, order = library[4] == 2, "<" if library[5] == 1 else ">"
    layout = struct.Struct(order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"))
    header = layout.unpack_from(library, 16)
    segments, sections, segment_size, segment_count, section_size, section_count = (*header[4:6], *header[8:12])
    if max(segments + segment_size * segment_count, sections + section_size * section_count) > len(library):
        return "its tables lie beyond its end"
    extent = struct.Struct(order + ("8xQ16xQ" if wide else "4xI8xI"))  # offset and size in the file
    for index in range(segment_count):
        offset, size = extent.unpack_from(library, segments + index * segment_size)
        if offset + size > len(library):
            return "a segment lies beyond its end"
    return None


def symbols(content: bytes) -> Iterator[tuple[str, bool]]:
    """The global names in an object of 64 bits, and whether it defines them; none if it is something else.

    Raises:
        struct.error, ValueError: it is cut.
    """
    if content[:5] != b"\x7fELF\x02":
        return
    order = "<" if content[5] == 1 else ">"
    (start,) = struct.unpack_from(order + "Q", content, 40)
    size, count = struct.unpack_from(order + "HH", content, 58)
    sections = [struct.unpack_from(order + "4xI16xQQI", content, start + size * k) for k in range(count)]
    for kind, offset, length, link in sections:
        if kind == _SYMBOLS:
            names = sections[link][1]
            for name, info, section in struct.iter_unpack(order + "IBxH16x", content[offset : offset + length]):
                if info >> 4:  # not local
                    yield content[names + name : content.index(b"\0", names + name)].decode(), section != 0
