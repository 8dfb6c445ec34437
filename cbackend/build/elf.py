"""Is a fresh library whole?  A look at the tables of an ELF file, before the loader trusts them."""

from __future__ import annotations

import struct

_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")


def elf_defect(library: bytes) -> str | None:
    """Why a fresh library is cut or none at all; None if its tables lie within the file, or it has another format.

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
