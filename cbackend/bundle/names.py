"""The name of a bundle: an identifier of C that clashes with none of the C library, of `make`, or of our own files.

Files and functions carry the name with an ending (`NAME.h`, `NAME_open`), so keywords are names like others.
"""

from __future__ import annotations

import hashlib
import re

_LONGEST = 100
"""Characters of a name: files have it with an ending, and file systems allow 255 bytes."""
_HEADERS = """
    aio assert complex cpio ctype dirent dlfcn endian errno fcntl fenv float fmtmsg fnmatch ftw getopt glob grp
    iconv inttypes iso646 langinfo libgen libintl limits locale malloc math memory monetary mqueue netdb nl_types
    poll pthread pwd regex resolv sched search semaphore setjmp signal spawn stdalign stdarg stdatomic stdbit
    stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string strings syslog tar termios tgmath threads time
    uchar ulimit unistd utime utmpx wchar wctype wordexp
"""
"""Headers of C and POSIX: a folder with a `math.h` cannot be given to a compiler by `-I`."""
_FUNCTIONS = """
    aio argp atomic_is_lock cookie dbm envz fts fts64 gai iconv map mld mq ms ns ns_rr obstack obstack_next p
    pf_hp_far pf_hp_near pidfd pkey printf printf_arginfo pthread_process register_printf res rr sem shm si sigev
    sigev_notify svc sys thrd xdr
"""
"""Names that make one of the C library with an ending of ours: shm_open, sem_close, map_SHARED, si_value."""
_MAKE = "clean makefile gnumakefile"
_TAKEN = frozenset(f"{_HEADERS} {_FUNCTIONS} {_MAKE}".split())


def c_name(name: str) -> str:
    """Return the identifier for a function of any name: itself where that is free, else with `f_` before it.

    Other characters become underscores; a long name ends in a digest of the whole.
    """
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    if len(word) > _LONGEST:
        word = f"{word[:_LONGEST]}_{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    lower = word.lower()  # `NAME_SHARED` has it in capitals, and some file systems do not tell them apart
    reserved = not word[:1].isalpha() or lower.startswith("ag_") or lower in _TAKEN
    return f"f_{word}" if reserved else word
