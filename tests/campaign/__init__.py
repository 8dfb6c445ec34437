"""The reliability campaign: what docs/reliability.md guarantees, tried as hard as the time allows.

    python -m tests.campaign                        every experiment at full size, then the scorecard
    python -m tests.campaign integers forks         some of them
    python -m tests.campaign fuzz --hours 8 --save  random programs for a time; the figures are kept
    python -m tests.campaign --small                at the size at which `tests/project/test_campaign.py` runs them

An experiment is a module of `values/`, `processes/` or `cache/` with `run(full) -> list[Row]`.  Each
runs in a process of its own, so that a signal that ends the process is a failure in the scorecard and not the end of
it.
"""
