"""The features of a compiler, found by compiling and running `probe.c`: its flags and the processor's extensions.

The program that it was learnt with is kept: it tries new libraries before anybody relies on them (trial.py).

All wanted flags are tried at once, which is one compilation (60 ms) where all is well, and the compiler says on the
way who it is, which programs it starts and what it takes the processor to be; only if that fails is each optional group
tried alone and dropped if refused.  Flags that results depend on are not optional: a compiler that refuses one is no
compiler for us.  No flag of the fast-math family may ever stand here: on a link line it switches off subnormal numbers
for the whole process.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from ...record import record
from ...targets.processor import architecture, gathers_fast
from ..cache.files import write_whole
from ..cache.memory import sealed
from .compiler_process import CompileError, Finished, Running, find_programs, run, start
from .linking import linking
from .units import Unit

PROBE_LINK = ("-ldl",)

REQUIRED = ("-std=gnu11", "-fno-fast-math", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
"""Flags that results depend on.  They stand behind the options of a CC or CFLAGS that says otherwise."""
REQUIRED_LINK = ("-lm",)


@record
class Group:
    """Optional flags that are used or dropped together."""

    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join((*self.flags, *self.link_flags))


# Kernels say which of their loops to vectorize, and spell out what -O2 and -O3 find by search: without
# -ftree-loop-vectorize gcc leaves the others, and takes a fifth to a third less time.  Each of these is felt somewhere:
# loops that write zeros become calls of memset, not vector code (a seventh of the time for sums of columns).  The
# dominator pass takes 15 % of the time and leaves inner loops as they are but for a move between registers; without
# -fivopts a softmax takes 1.13 times as long.  clang leaves out at -O1 what gcc does there.
GCC = Group((
    "-O1", "-fvect-cost-model=dynamic", "-fgcse", "-ftree-pre", "-ftree-loop-distribute-patterns",
    "-fno-tree-dominator-opts",
))  # fmt: skip
CLANG = Group(("-O2", "-ftree-vectorize"))
OPTIONAL = (
    Group(("-march=native",)),
    Group(("-fno-math-errno",)),
    Group(("-fno-trapping-math",)),
    Group(("-fopenmp-simd",)),
    Group(("-pipe",)),
    Group(("-Werror=incompatible-pointer-types", "-Werror=int-conversion")),  # as gcc 14 and clang 20 have it
    Group(link_flags=("-Wl,--as-needed",)),
    Group(link_flags=("-Wl,-z,noseparate-code",)),  # two parts to map instead of four: loading takes 24 us, not 33
)
NO_MMX = Group(("-mno-mmx",))
"""The flag by which compilers for x86_64 leave the registers of MMX alone.

Where AVX is missing, gcc 12 moves integers through them and never frees them with `emms`: what the 80387 computes,
whose registers are the same, is NaN from then on, in long doubles of NumPy as well.
"""
GATHERS = Group(("-mtune-ctrl=use_gather",))
"""The flag by which gcc 12 gathers in vectors: it takes an Intel processor that it does not know for a slow one."""
_NONE: tuple[tuple[str, str], ...] = ()
BARE_LINK = ("-nostdlib", "-lgcc") if sys.platform == "linux" else ()
"""Flags that let gcc link without start files and C library, which takes half of the linker's 12 ms."""
ZIG = Group(("-fno-sanitize=all", "-g0"))  # by itself it instruments C, and writes the path of the folder into it
_WANTED = (GCC, CLANG, *OPTIONAL, NO_MMX, GATHERS, ZIG)
WANTED_TEXT = " ".join((*map(str, _WANTED), *REQUIRED, *REQUIRED_LINK, *BARE_LINK))

_EXPECTED = ["12.1824939607035", "0x0.0000000000001p-1022", "-2147483648"]
_VERSION = r"(?m)^(?! ).*\bversion \d.*"
_TIMEOUT = 60.0  # zig builds parts of the C library on its first run


PROBE = Unit(Path(__file__).with_name("probe.c"), {})


@record
class ProbeResult:
    """The result of `probe`.

    `programs`: the paths of the programs that the compiler starts; `probe`: the program that it made of `probe.c`.
    """

    version: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]
    features: tuple[str, ...]
    programs: tuple[str, ...]
    probe: bytes
    bare_link: tuple[str, ...]
    linker: tuple[str, ...]
    libraries: tuple[str, ...]


@record
class _Trial:
    command: tuple[str, ...]
    folder: Path
    extra: Mapping[str, str]

    def refusal(self, groups: Sequence[Group]) -> str | None:
        """Return why the program fails with these groups of flags; None if it gives the right answer.

        Raises:
            CompileError: what was built before cannot be removed, and would be taken for this.
        """
        try:
            (self.folder / "probe").unlink(missing_ok=True)
        except OSError as error:
            raise CompileError(f"a test program cannot be removed: {error.strerror}") from None
        argv = _argv(self.command, groups)
        return self.defect(run(argv, self.folder, _TIMEOUT, extra=self.extra))

    def defect(self, built: Finished) -> str | None:
        """Return what is wrong with a compiled program; None if it gives the right answer."""
        program = self.folder / "probe"
        if built.code != 0 or not program.exists():
            return built.first_lines()
        return self._wrong_answer(program)

    def _wrong_answer(self, program: Path) -> str | None:
        try:
            done = run_program(program.read_bytes(), [], self.folder)
        except CompileError as error:
            return str(error)
        words = done.output.split()
        if done.code != 0 or words != _EXPECTED:
            return f"what it builds gives {' '.join(words[:3])!r} and exit code {done.code}"
        return None


def run_program(program: bytes, libraries: Sequence[bytes], folder: Path) -> Finished:
    """Return the output of a program and its exit code; its arguments are paths of libraries.

    It runs from memory, so that `folder` may be mounted without leave to execute; where there is no such memory, from
    `folder`.

    Raises:
        CompileError: it cannot be started, or takes too long.
    """
    with ExitStack() as stack:
        try:
            descriptors = [stack.enter_context(sealed(content, "probe")) for content in (program, *libraries)]
        except OSError:
            return _run_from_disk(program, libraries, folder)
        argv = [f"/proc/self/fd/{descriptor}" for descriptor in descriptors]
        return run(argv, folder, _TIMEOUT, pass_fds=descriptors)


def _run_from_disk(program: bytes, libraries: Sequence[bytes], folder: Path) -> Finished:
    argv = []
    for number, content in enumerate((program, *libraries)):
        path = folder / f"trial{number}"
        write_whole(path, content, mode=0o700)
        argv.append(str(path))
    return run(argv, folder, _TIMEOUT)


def flags_of(groups: Sequence[Group]) -> tuple[str, ...]:
    return (*REQUIRED, *(flag for group in groups for flag in group.flags))


def link_flags_of(groups: Sequence[Group]) -> tuple[str, ...]:
    return (*(flag for group in groups for flag in group.link_flags), *REQUIRED_LINK)


def _argv(command: Sequence[str], groups: Sequence[Group], *more: str) -> list[str]:
    return [*command, *more, *flags_of(groups), "-o", "probe", "probe.c", *link_flags_of(groups), *PROBE_LINK]


def optional(arch: str) -> tuple[Group, ...]:
    """Return the groups that each compiler for an instruction set should take."""
    return (*OPTIONAL, NO_MMX) if arch == "x86_64" else OPTIONAL


def first_groups() -> tuple[Group, ...]:
    """Return the flags that are tried first: all that gcc knows."""
    return (GCC, *optional(architecture()), *((GATHERS,) if gathers_fast() else ()))


def begin(command: Sequence[str], folder: Path, extra: Mapping[str, str]) -> Running:
    """Begin the first compilation of `probe`, with all flags and the compiler's description of itself.

    Raises:
        NotStartedError: a CompileError.
    """
    write_whole(folder / "probe.c", PROBE.text().encode())
    return start(_argv(command, first_groups(), "-v"), folder, _TIMEOUT, extra=extra)


def probe(
    command: tuple[str, ...], folder: Path, extra: Mapping[str, str], begun: Running | None = None
) -> ProbeResult:
    """Return the features of `command`, tested in the private `folder`; `extra` joins its environment.

    `begun`: what `begin` gave for this folder.

    Raises:
        CompileError: it cannot build a correct program with the required flags.
    """
    trial = _Trial(command, folder, extra)
    built = (begun or begin(command, folder, extra)).wait()
    version = _version(built.output) or run([*command, "--version"], folder, _TIMEOUT, extra=extra).output
    version = version.partition("\n")[0].strip()
    clang, shown = "clang" in version.lower(), built.output
    if not clang and trial.defect(built) is None:
        groups, dropped = list(first_groups()), _NONE
    else:
        groups, dropped = _taken(trial, [*([CLANG, ZIG] if clang else [GCC]), *optional(architecture())])
        shown = _dry_run(command, folder, flags_of(groups), extra)
    programs, features = _described(command, shown)
    kept = (folder / "probe").read_bytes()
    bare = () if clang or len(command) > 1 else BARE_LINK  # options of the user's may need what it leaves out
    links = link_flags_of(groups)
    linker, libraries = linking(built.output, links) if bare and not dropped else ((), ())
    return ProbeResult(
        version, flags_of(groups), links, dropped, features, (*programs, *linker[:1]), kept, bare, linker,
        libraries,
    )  # fmt: skip


def _version(message: str) -> str:
    """Return the line of a compiler's `-v` that names it; empty if there is none."""
    found = re.search(_VERSION, message)
    return found[0] if found else ""


def _taken(trial: _Trial, wanted: list[Group]) -> tuple[list[Group], tuple[tuple[str, str], ...]]:
    """Return the groups to use, and the refused ones with the reason."""
    reason = trial.refusal([])  # first: gcc that cannot start its assembler retries for 15 s at each trial
    if reason is not None:
        raise CompileError(reason)
    if trial.refusal(wanted) is None:
        return wanted, ()
    taken: list[Group] = []
    dropped: list[tuple[str, str]] = []
    for group in wanted:
        reason = trial.refusal([*taken, group])
        if reason is None:
            taken.append(group)
        else:
            dropped.append((str(group), reason))
    trial.refusal(taken)  # the program that is kept
    return taken, tuple(dropped)


def _dry_run(command: Sequence[str], folder: Path, flags: Sequence[str], extra: Mapping[str, str]) -> str:
    argv = [*command, *flags, "-###", "-shared", "-fPIC", "-o", "probe.so", "probe.c"]
    return run(argv, folder, _TIMEOUT, extra=extra).output


def _described(command: Sequence[str], shown: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the programs that the compiler starts and the processor that it compiles for, parsed from its `-v`."""
    programs, features = [command[0]], set[str]()
    for words in _commands(shown):
        path = next(find_programs(words[0]), None)
        if path and path not in programs:
            programs.append(path)
        features.update(_features(words))
    return tuple(programs), tuple(sorted(features))


def _commands(output: str) -> Iterator[list[str]]:
    for line in output.splitlines():
        if line.startswith(" "):
            try:
                words = shlex.split(line)
            except ValueError:
                continue
            if words:
                yield words


def _features(words: list[str]) -> Iterator[str]:
    """Yield processor features as gcc (`-mavx2`, `l2-cache-size=1024`) or clang (`znver4`, `+avx2`) writes them."""
    for word, following in zip(words, [*words[1:], ""]):
        if word in ("-target-cpu", "-target-feature", "--param"):
            yield following
        elif len(word) > 2 and word.startswith("-m") and not word.startswith("-mno-"):
            yield word
