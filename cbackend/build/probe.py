"""What a compiler can do, learnt by compiling and running `probe.c`: flags, processor features, vector math.

All wanted flags are tried at once, which is one compilation (60 ms) where all is well; only if that fails is each
optional group tried alone and dropped if refused.  Flags that results depend on are not optional: a compiler that
refuses one is no compiler for us. No flag of the fast-math family may ever stand here: on a link line it switches off
subnormal numbers for the whole process.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...record import record
from .compiler_process import CompileError, find_programs, run

PROBE_TEXT = Path(__file__).with_name("probe.c").read_text()

# -O3 costs 60 % more compile time than -O2 with its vectorizer (MLP step: 0.79 s of gcc 12 against 0.49), most of it
# for versions of loops that the kernels spell out themselves.
REQUIRED = ("-O2", "-std=gnu11", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off")
REQUIRED_LINK = ("-lm",)


@record
class Group:
    """Optional flags that are taken or dropped together."""

    flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shlex.join((*self.flags, *self.link_flags))


OPTIONAL = (
    Group(("-march=native",)),
    Group(("-ftree-vectorize",)),
    Group(("-fvect-cost-model=dynamic",)),
    Group(("-fno-math-errno",)),
    Group(("-fno-trapping-math",)),
    Group(("-fopenmp-simd",)),
    Group(("-pipe",)),
    Group(link_flags=("-Wl,--as-needed",)),
)
# GCC vectorizes calls of functions whose prototypes say so; clang knows the library by name.  The first that works is
# taken.
VECTOR_MATH = (
    Group(('-DAG_SIMD=__attribute__((simd("notinbranch")))',), ("-lmvec",)),
    Group(("-DAG_SIMD=", "-fveclib=libmvec"), ("-Wl,--allow-shlib-undefined", "-lmvec")),  # lld frowns at libmvec's own
)
NO_VECTOR_MATH = Group(("-DAG_SIMD=",))
ZIG = Group(("-fno-sanitize=all", "-g0"))  # by itself it instruments C, and writes the path of the folder into it
WANTED_TEXT = " ".join(map(str, (*OPTIONAL, *VECTOR_MATH, ZIG))) + " ".join((*REQUIRED, *REQUIRED_LINK))

_EXPECTED = ["12.1824939607035", "0x0.0000000000001p-1022", "-2147483648"]
_TIMEOUT = 60.0  # zig builds parts of the C library on its first run


@record
class ProbeResult:
    """What `probe` learnt.  `programs`: the paths of the programs that the compiler starts."""

    version: str
    flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]
    features: tuple[str, ...]
    vector_math: bool
    programs: tuple[str, ...]


@record
class _Trial:
    command: tuple[str, ...]
    folder: Path
    extra: Mapping[str, str]

    def refusal(self, groups: Sequence[Group], *, vector: bool = False) -> str | None:
        """Why the program cannot be built with these groups and run to the right answer; None if it can."""
        program = self.folder / "probe"
        program.unlink(missing_ok=True)
        built = run([*self.command, *flags_of(groups), "-o", "probe", "probe.c", *link_flags_of(groups)],
                    self.folder, _TIMEOUT, extra=self.extra)  # fmt: skip
        if built.code != 0 or not program.exists():
            return built.first_lines()
        if vector and b"_ZGV" not in program.read_bytes():
            return "the loop over exp calls no vector function"
        return self._wrong_answer(program)

    def _wrong_answer(self, program: Path) -> str | None:
        descriptor = _executable(program)
        try:
            done = run([f"/proc/self/fd/{descriptor}" if descriptor >= 0 else str(program)], self.folder, _TIMEOUT,
                       pass_fds=(descriptor,) if descriptor >= 0 else ())  # fmt: skip
        except CompileError as error:
            return str(error)
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        words = done.output.split()
        if done.code != 0 or words != _EXPECTED:
            return f"what it builds gives {' '.join(words[:4])!r} and exit code {done.code}"
        return None


def _executable(program: Path) -> int:
    """A copy in memory, which runs though the folder be mounted without leave to execute; -1 where there is none."""
    if not hasattr(os, "memfd_create"):
        return -1
    try:
        descriptor = os.memfd_create("probe", 0)
    except OSError:
        return -1
    with open(descriptor, "wb", closefd=False) as file:
        file.write(program.read_bytes())
    return descriptor


def flags_of(groups: Sequence[Group]) -> tuple[str, ...]:
    return (*REQUIRED, *(flag for group in groups for flag in group.flags))


def link_flags_of(groups: Sequence[Group]) -> tuple[str, ...]:
    return (*(flag for group in groups for flag in group.link_flags), *REQUIRED_LINK)


def probe(command: tuple[str, ...], folder: Path, extra: Mapping[str, str]) -> ProbeResult:
    """What `command` can do, tried in the private `folder`; `extra` joins its environment.

    Raises:
        CompileError: it cannot build a correct program with the required flags.
    """
    (folder / "probe.c").write_text(PROBE_TEXT)
    trial = _Trial(command, folder, extra)
    version = run([*command, "--version"], folder, _TIMEOUT, extra=extra).output.partition("\n")[0].strip()
    groups, dropped = _choose(trial, ZIG if "clang" in version.lower() else None)
    programs, features = _describe(command, folder, flags_of(groups), extra)
    vector_math = any(group in VECTOR_MATH for group in groups)
    return ProbeResult(version, flags_of(groups), link_flags_of(groups), dropped, features, vector_math, programs)


def _choose(trial: _Trial, more: Group | None) -> tuple[list[Group], tuple[tuple[str, str], ...]]:
    """The groups to use, and those that were refused with the reason."""
    wanted = [*([more] if more else []), *OPTIONAL]
    if more is None and trial.refusal([*wanted, VECTOR_MATH[0]], vector=True) is None:
        return [*wanted, VECTOR_MATH[0]], ()
    taken, dropped = _taken(trial, wanted)
    refusals = []
    for group in VECTOR_MATH:
        reason = trial.refusal([*taken, group], vector=True)
        if reason is None:
            return [*taken, group], tuple(dropped)
        refusals.append((str(group), reason))
    return [*taken, NO_VECTOR_MATH], (*dropped, *refusals)


def _taken(trial: _Trial, wanted: list[Group]) -> tuple[list[Group], list[tuple[str, str]]]:
    if trial.refusal(wanted) is None:
        return wanted, []
    reason = trial.refusal([])
    if reason is not None:
        raise CompileError(reason)
    taken: list[Group] = []
    dropped: list[tuple[str, str]] = []
    for group in wanted:
        reason = trial.refusal([*taken, group])
        if reason is None:
            taken.append(group)
        else:
            dropped.append((str(group), reason))
    return taken, dropped


def _describe(
    command: tuple[str, ...], folder: Path, flags: tuple[str, ...], extra: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The programs that the compiler would start, and what it takes the processor to be, from its dry run."""
    argv = [*command, *flags, "-###", "-shared", "-fPIC", "-o", "probe.so", "probe.c"]
    shown = run(argv, folder, _TIMEOUT, extra=extra)
    programs, features = [command[0]], set[str]()
    for words in _commands(shown.output):
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
    """`-mavx2`, `l2-cache-size=1024` as gcc writes them; `znver4`, `+avx2` as clang does."""
    for word, following in zip(words, [*words[1:], ""]):
        if word in ("-target-cpu", "-target-feature", "--param"):
            yield following
        elif len(word) > 2 and word.startswith("-m") and not word.startswith("-mno-"):
            yield word
