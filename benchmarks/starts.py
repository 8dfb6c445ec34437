"""Time to the first result, from the expression to the answer without imports, each in a new process.

    python -m benchmarks.starts                     every case, JAX beside us
    python -m benchmarks.starts --cases "x+1" MLP --peers jax numba --rounds 5

cold     an empty cache; what the installation built ahead (`python -m arignote doctor` says it) is there
bare     an empty cache and nothing built ahead: the compiler is not known, the runtime not compiled
warm     a second process on the cache of the first
import   `import arignote` beyond NumPy, or that of the peer

Each is the best of the rounds, in which all take turns.  `cold / best` is our time over that of the best peer.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator

from .__main__ import OURS, Process, seconds_text
from .cases import CASES
from .peers import PEERS

Starts = dict[str, float]


def starts(peer: str, case: str) -> Starts:
    """The seconds of one round; a peer that does not offer the case gives none."""
    found: Starts = {}
    for kind in ("bare", "cold") if peer == OURS else ("cold",):
        with tempfile.TemporaryDirectory() as cache:
            for measured in (kind, "warm"):
                process = Process(peer, cache, ARIGNOTE_PREBUILT="0" if kind == "bare" else "1")
                answer = process.ask(f"build {case}")
                process.close()
                if answer.get("error"):
                    return {}
                found[measured] = answer["compile"]
                found["import"] = min(answer["import"], found.get("import", answer["import"]))
    return found


def rows(cases: list[str], peers: list[str], rounds: int) -> Iterator[str]:
    """The table, a line a case."""
    yield f"| case | bare | cold | warm | import | {' | '.join(f'{p} cold / warm' for p in peers[1:])} | cold / best |"
    yield "|---" * (6 + len(peers) - 1) + "|"
    for case in cases:
        best: dict[str, Starts] = {peer: {} for peer in peers}
        for _ in range(rounds):
            for peer in peers:
                for kind, seconds in starts(peer, case).items():
                    best[peer][kind] = min(seconds, best[peer].get(kind, seconds))
        ours, others = best[OURS], [best[p] for p in peers[1:]]
        theirs = [f"{seconds_text(o['cold'])} / {seconds_text(o['warm'])}" if o else "-" for o in others]
        quickest = min((o["cold"] for o in others if o), default=float("nan"))
        figures = [seconds_text(ours[kind]) for kind in ("bare", "cold", "warm", "import")]
        yield f"| {case} | {' | '.join([*figures, *theirs])} | {ours['cold'] / quickest:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.starts", description=__doc__.split("\n")[0])
    parser.add_argument("--cases", nargs="*", default=[""], help="cases whose name starts with one of these")
    parser.add_argument("--peers", nargs="*", default=["jax"], choices=PEERS, metavar="PEER")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    chosen = [name for name in CASES if name.startswith(tuple(arguments.cases))]
    for line in rows(chosen, [OURS, *(p for p in arguments.peers if p != OURS)], arguments.rounds):
        print(line, flush=True)


if __name__ == "__main__":
    main()
