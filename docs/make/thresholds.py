"""Write the tables of MAESTRO Real into thresholds.md; needs the data in ../shared, and half a minute."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sedeval_soft import Scores, evaluate
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable

BEGIN = "<!-- tables: made by `python docs/make/thresholds.py` -->\n"
END = "<!-- end of the tables -->\n"
PAGE = Path(__file__).parents[1] / "explanations" / "thresholds.md"
DATA = Path(__file__).parents[3] / "shared" / "data" / "maestro"

NOISE = 0.2
DRAWS = 10
READINGS = ("hard", "tuned", "optimal")
BASES = ("segment", "event")


def noisy(soft: EventTable, seed: int = 0) -> EventTable:
    """Return a system that has the reference with normal noise, held within [0, 1]."""
    rng = np.random.default_rng(seed)
    values = (np.clip(column + rng.normal(0.0, NOISE, len(column)), 0.0, 1.0) for column in soft.values)
    return replace(soft, values=tuple(values))


def drawn(soft: EventTable, folds: dict[str, str], seed: int) -> EventTable:
    """Return a system that draws whole seconds of the reference at random from the folds that train it."""
    rng = np.random.default_rng(seed)
    fold = np.array([folds[file] for file in soft.files])[soft.file]
    step = np.empty(len(soft), dtype=np.int64)
    for own in np.unique(fold):
        here = np.flatnonzero(fold == own)
        step[here] = rng.choice(np.flatnonzero(fold != own), len(here))
    return replace(soft, values=tuple(column[step] for column in soft.values))


def folds_of(soft: EventTable, folder: Path) -> dict[str, str]:
    """Return the fold of each file: the one that tests it."""
    found = {}
    for fold in "12345":
        lines = (folder / f"fold{fold}_test.csv").read_text(encoding="utf-8").split()
        found |= {f"{line.rpartition('/')[2]}.wav": fold for line in lines[1:]}
    return {file: found[file] for file in soft.files}


def scored(folder: Path = DATA) -> tuple[Scores, list[Scores]]:
    """Return the scores of the noisy system, and of each draw, tuned over the folds of the data."""
    soft = read_rows(folder / "soft_gt_dev.csv")
    if not soft.has_steps:
        raise TypeError("MAESTRO's soft reference is a wide table")
    folds = folds_of(soft, folder / "development_folds")
    systems = [noisy(soft), *(drawn(soft, folds, seed) for seed in range(DRAWS))]
    first, *others = (evaluate(soft, system, folds=folds, only=BASES) for system in systems)
    return first, others


def tables(first: Scores, draws: list[Scores]) -> str:
    """Return both tables, the drawn system's first."""
    return f"{draws_table(draws)}\n{table(first)}"


def draws_table(draws: list[Scores]) -> str:
    """Return the mean and the standard deviation of macro and micro F over draws."""
    text = "| data sampling | reading | macro F1 | micro F1 |\n|---|---|--:|--:|\n"
    for basis in BASES:
        for reading in READINGS:
            cells = []
            for average in ("macro", "micro"):
                values = [scores[f"{basis}.{reading}.f1.{average}"] or 0.0 for scores in draws]
                cells.append(f"{np.mean(values):.4f} ± {np.std(values, ddof=1):.4f}")
            text += f"| {basis} | {reading} | {' | '.join(cells)} |\n"
    return text


def table(scores: Scores) -> str:
    """Return macro F of each basis and reading, all files together and in each fold."""
    folds = scores.folds.names if scores.folds is not None else ()
    names = ["noisy reference", "reading", "macro F1", *(f"fold {fold}" for fold in folds)]
    text = f"| {' | '.join(names)} |\n|---|---|{'--:|' * (len(names) - 2)}\n"
    for basis in BASES:
        for reading in READINGS:
            name = f"{basis}.{reading}.f1.macro"
            cells = [scores[name], *(scores[f"{name}@{fold}"] for fold in folds)]
            text += f"| {basis} | {reading} | {' | '.join(f'{cell:.4f}' for cell in cells)} |\n"
    return text


def page(text: str, made: str) -> str:
    """Return the page with this table between the marks."""
    return f"{text[: text.index(BEGIN) + len(BEGIN)]}\n{made}\n{text[text.index(END) :]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), tables(*scored())), encoding="utf-8")
