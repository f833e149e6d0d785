"""Appearance of a hit, a miss and a false alarm: one colour and one pattern each, in all pages and figures.

Readers with any kind of colour blindness can distinguish the colours, from one another and from the greys of
values, and can read them as text on a page. In grey the patterns differ: a hit is filled, a miss hatched in
one direction, a false alarm in two.
"""

from __future__ import annotations

from typing import NamedTuple


class Outcome(NamedTuple):
    """Its colours on light and on dark ground, and its pattern as plotly and matplotlib name it."""

    light: str
    dark: str
    pattern: str


HIT = Outcome("#0067a8", "#56b4e9", "")
MISS = Outcome("#b35900", "#ffa657", "/")
FALSE_ALARM = Outcome("#8430a0", "#c48cf2", "x")

OUTCOMES = {"hit": HIT, "miss": MISS, "false-alarm": FALSE_ALARM}
"""All three, by their names in pages: `var(--miss)` is the colour there, `--miss-pattern` the pattern."""


def stylesheet() -> str:
    """Return a page's style properties for the colours and the patterns."""
    light = "".join(f"--{name}: {each.light}; " for name, each in OUTCOMES.items())
    dark = "".join(f"--{name}: {each.dark}; " for name, each in OUTCOMES.items())
    patterns = "".join(f'--{name}-pattern: "{each.pattern}"; ' for name, each in OUTCOMES.items())
    return (
        f":root {{ {light}{patterns}}}\n"
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark}}} }}\n'
        f':root[data-theme="dark"] {{ {dark}}}\n'
    )
