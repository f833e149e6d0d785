"""Write the tables of MAESTRO Real into maestro.md; needs the data in ../shared, and about a minute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sedeval_soft import Scores, evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable

BEGIN = "<!-- tables: made by `python docs/make/maestro.py` -->\n"
END = "<!-- end of the tables -->\n"
PAGE = Path(__file__).parents[1] / "explanations" / "maestro.md"
DATA = Path(__file__).parents[3] / "shared" / "data" / "maestro"

DRAWS = 10

MEASURES = {"P": "precision", "R": "recall", "F1": "f1", "ER": "error_rate"}
BASES = ("segment", "event", "intersection")
READINGS = ("hard", "optimal", "soft")
FAMILIES = [(basis, reading) for basis in BASES for reading in READINGS]


def reference(folder: Path = DATA) -> EventTable:
    """Return the soft reference: 11 classes, one row per second."""
    rows = read_rows(folder / "soft_gt_dev.csv")
    if not rows.has_steps:
        raise TypeError("MAESTRO's soft reference is a wide table")
    return rows


def drawn(soft: EventTable, seed: int) -> EventTable:
    """Return a system that draws whole time steps of the reference at random, with replacement."""
    step = np.random.default_rng(seed).integers(0, len(soft), len(soft))
    return replace(soft, values=tuple(column[step] for column in soft.values))


def scored(soft: EventTable, system: EventTable) -> Scores:
    """Return the scores of all readings; touching hard labels are one event, as touching values are."""
    return evaluate(soft, system, only=BASES, events="merge")


def psds(soft: EventTable, system: EventTable, reading: str) -> float:
    """Return the first PSDS of DCASE."""
    family = f"intersection.{reading}"
    value = evaluate(soft, system, only=(family,), psds="dcase-psds1", events="merge")[f"{family}.psds"]
    return float("nan") if value is None else value


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _head(*names: str) -> str:
    return _row(*names) + "|" + "---|" * len(names) + "\n"


def _number(values: Sequence[float | None]) -> str:
    """Return one number, exact ones without decimals; several as their mean with the standard deviation."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return "-"
    if set(known) in ({0.0}, {1.0}):
        return f"{known[0]:g}"
    spread = f" ± {np.std(known, ddof=1):.4f}" if len(known) > 1 else ""
    return f"{np.mean(known):.4f}{spread}"


def scores_table(results: Mapping[str, Sequence[Scores]]) -> str:
    """Return the nine readings of each system, of several runs of one as mean and spread."""
    columns = [(name, form) for form in ("micro", "macro") for name in MEASURES]
    text = _head("system", "basis", "reading", *(f"{name} {form}" for name, form in columns))
    for system, runs in results.items():
        for basis, reading in FAMILIES:
            scores = [f"{basis}.{reading}.{MEASURES[name]}.{form}" for name, form in columns]
            cells = (_number([run[score] for run in runs]) for score in scores)
            text += _row(system, basis, reading, *cells)
    return text


def psds_row(name: str, soft: EventTable, systems: Sequence[EventTable]) -> str:
    """Return the PSDS of one system, or of several as mean and spread."""
    readings = ("hard", "soft")
    return _row(name, *(_number([psds(soft, system, reading) for system in systems]) for reading in readings))


def drawn_table(soft: EventTable) -> str:
    """Return the readings of the system that draws, over all draws."""
    return scores_table({"drawn": [scored(soft, drawn(soft, seed)) for seed in range(DRAWS)]})


def copies_table(soft: EventTable, hard: EventTable) -> str:
    """Return the readings of the hard labels and of the reference itself."""
    return scores_table({"hard labels": [scored(soft, hard)], "reference": [scored(soft, soft)]})


def psds_table(soft: EventTable, hard: EventTable, n_draws: int = DRAWS) -> str:
    """Return the PSDS of all three."""
    text = _head("system", "hard", "soft")
    text += psds_row("drawn", soft, [drawn(soft, seed) for seed in range(n_draws)])
    text += psds_row("hard labels", soft, [hard])
    return text + psds_row("reference", soft, [soft])


def tables(soft: EventTable, hard: EventTable) -> str:
    """Return all tables of the page."""
    parts = (drawn_table(soft), copies_table(soft, hard), psds_table(soft, hard))
    return "\n" + "\n".join(parts) + "\n"


def page(text: str, made: str) -> str:
    """Return the page with these tables between the marks."""
    return text[: text.index(BEGIN) + len(BEGIN)] + made + text[text.index(END) :]


if __name__ == "__main__":
    made = tables(reference(), read_rows(DATA / "gt_dev.csv"))
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
