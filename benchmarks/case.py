"""What a case is, and what all of them share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from timing import CommandError, Costs, in_turn, process

COMMAND = Path(sys.executable).with_name("soft-sed-eval")

TOLERANCE = 1e-9


class DisagreementError(Exception):
    """Two tools that should agree on an input do not: their times cannot be compared."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large the inputs are."""

    small_rows: int
    large_rows: int
    hour: int
    segment_events: int
    events: int
    cells: int
    peer_cells: int


FULL = Size(
    small_rows=10_000, large_rows=1_000_000, hour=3600, segment_events=3400, events=2000, cells=1_000_000,
    peer_cells=200_000,
)  # fmt: skip
QUICK = Size(
    small_rows=500, large_rows=3000, hour=60, segment_events=60, events=60, cells=2000, peer_cells=1000
)


@dataclass(frozen=True, slots=True)
class Bench:
    """Where and how a case runs."""

    folder: Path
    size: Size
    runs: int


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the document. ratio and target are None where nothing could be compared.

    at_least: the target is a speed-up over the peer, not an allowance over a floor.
    """

    case: str
    ours: str
    other: str
    ratio: float | None = None
    target: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        if self.ratio is None or self.target is None:
            return None
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target


Command = Sequence[str | Path]


def processes(
    bench: Bench, ours: Command, floor: Command, expected: str, *, runs: int | None = None
) -> Costs:
    """Run our command and its floor in turn; what ours printed last must contain `expected`."""
    output = bench.folder / "output.txt"
    costs = in_turn(process(ours, output), process(floor), runs or bench.runs)
    if expected not in output.read_text(encoding="utf-8"):
        raise CommandError(f"{' '.join(map(str, ours))}\nprinted nothing about {expected!r}")
    return costs


def check(case: str, ours: float | int | None, theirs: float) -> None:
    """Refuse to compare the times of tools that disagree."""
    if ours is None or not abs(ours - theirs) <= TOLERANCE:
        raise DisagreementError(f"{case}: ours is {ours!r}, theirs {theirs!r}")


def within(case: str, costs: Costs, floor: str, target: float | None) -> Result:
    """Return a result whose ratio may be so large at the most."""
    ours, other = costs.seconds
    return Result(case, seconds(ours), f"{floor}, {seconds(other)}", costs.ratio, target)


def faster(case: str, costs: Costs, peer: str, target: float | None) -> Result:
    """Return a result that must be so many times faster at the least."""
    ours, other = costs.seconds
    return Result(case, seconds(ours), f"{peer}, {seconds(other)}", 1 / costs.ratio, target, at_least=True)


def seconds(value: float) -> str:
    """Return a time as text."""
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.3g} ms"


def megabytes(size: float) -> str:
    """Return a size as text."""
    return f"{size / 1e6:,.0f} MB"


def hour(bench: Bench) -> str:
    """Return the length of the recording as text."""
    return "1 h" if bench.size.hour == FULL.hour else f"{bench.size.hour} s"
