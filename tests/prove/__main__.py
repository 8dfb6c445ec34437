"""The command; see the package."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed

from rule_trials import RULES
from wide_target import WIDE

from arignote.optdb import PatternRule
from arignote.proving.check import REFUTED
from arignote.targets.current import using

from .page import PAGE, page
from .verdicts import TESTED, Verdict, counted, digest, load, save, stale, verdict_on

SECONDS = 2.0


def proved(name: str, seconds: float) -> Verdict:
    """The verdict on the rule of this name."""
    with using(WIDE):
        try:
            return verdict_on(RULES[name], seconds)
        except Exception as error:  # named and counted: a defect of the prover ends no run
            reason = f"the prover fails: {type(error).__name__}: {error}".splitlines()[0]
            rule = RULES[name]
            pattern = isinstance(rule, PatternRule)
            return Verdict(name, TESTED, str(rule.contract), reason=reason, digest=digest(rule), pattern=pattern)


def verdicts(names: list[str], seconds: float, jobs: int) -> Iterator[Verdict]:
    """The verdicts on these rules, as they come."""
    if jobs == 1:
        yield from (proved(name, seconds) for name in names)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for task in as_completed([pool.submit(proved, name, seconds) for name in names]):
            yield task.result()


def line(v: Verdict) -> str:
    """The verdict as a line."""
    more = v.reason or "; ".join(v.bounds)
    return f"{v.rule}: {v.verdict} ({v.theory or 'no theory'}, {v.instances} instances, {v.seconds} s) {more}".rstrip()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="RULE", help="names of rules; none: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one rule, of processor time")
    parser.add_argument("--changed", action="store_true", help="only rules without a verdict on what they are now")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--page", action="store_true", help="write docs/proofs.md from the verdicts that are known")
    options = parser.parse_args()
    unknown = [name for name in options.rules if name not in RULES]
    if unknown:
        parser.error(f"no rule is named {', '.join(unknown)}; see docs/rules.md")
    known = load()
    if not options.page or options.changed:
        names = options.rules or (stale(known) if options.changed else list(RULES))
        new = []
        for verdict in verdicts(names, options.seconds, min(options.jobs, len(names) or 1)):
            print(line(verdict), flush=True)
            new.append(verdict)
            known[verdict.rule] = verdict
            if len(new) % 5 == 0:
                save(known)
        save(known)
        print(f"{len(new)} rules: " + ", ".join(f"{n} {kind}" for kind, n in counted(new).most_common()))
    PAGE.write_text(page(known), encoding="utf-8")
    return int(any(v.verdict == REFUTED for v in known.values()))


if __name__ == "__main__":
    sys.exit(main())
