"""Write the table of coverage into uncertainty.md: how often intervals of few files hold the true score.

    python docs/make/coverage.py              the table, from the numbers in evaluation/coverage.tsv
    python docs/make/coverage.py --measure    the numbers anew: some ten minutes

Sets of files are drawn from a population whose score is known, as it is that of very many files. Files
differ in which of four classes there are, in how much sounds, in how well the system tells what does, and,
class by class, in how high its values are: so best thresholds differ from file to file.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sedeval_soft.evaluation import intervals as coverage
from sedeval_soft.evaluation.count import tally_pair
from sedeval_soft.evaluation.intervals import bca, jackknife, percentile
from sedeval_soft.evaluation.resample import Replicates, bootstrap, leave_one_out
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.measures.tally import Tally
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import EventTable, Origin
from sedeval_soft.timeline.recordings import align

Floats = npt.NDArray[np.float64]
Shares = dict[tuple[str, str], list[float]]

BEGIN = "<!-- coverage: made by `python docs/make/coverage.py` -->\n"
END = "<!-- end of the table of coverage -->\n"
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanations" / "uncertainty.md"
DATA = ROOT / "sedeval_soft" / "evaluation" / "coverage.tsv"

FILES = coverage.MEASURED_WITH
SIMULATIONS, REPLICATES, POPULATION = 800, 500, 20_000
CONFIDENCE = 0.95
CLASSES = ("a", "b", "c", "d")
PRESENT = np.array([0.9, 0.8, 0.7, 0.6])
"""How many files have each class."""
SEGMENTS = 30
LEVELS, CHANCES = (0.2, 0.4, 0.6, 0.8, 1.0), (0.15, 0.15, 0.2, 0.2, 0.3)
SHIFT = 0.4
READINGS = ("hard", "soft", "optimal")
KEYS = [ScoreName("segment", reading, "f1", "macro") for reading in READINGS]
SETTINGS = Settings.of(only="segment", classes=CLASSES, ci="bootstrap")

METHODS = ("bootstrap", "bca", "expanded", "jackknife")
KINDS = (*READINGS, "difference")


def drawn(rng: np.random.Generator, n_files: int) -> tuple[Floats, Floats, Floats]:
    """Return a reference and the values of two systems alike, (n_files, segments, classes) each."""
    shape = (n_files, SEGMENTS, len(CLASSES))
    by_class = (n_files, 1, len(CLASSES))
    sounds = (rng.random(by_class) < PRESENT) & (rng.random(shape) < rng.beta(2, 3, by_class))
    reference = np.where(sounds, rng.choice(LEVELS, shape, p=CHANCES), 0.0)

    def system() -> Floats:
        slope, shift = rng.gamma(4, 1, (n_files, 1, 1)), rng.normal(-0.3, SHIFT, by_class)
        logit = slope * (reference - 0.5) + shift + rng.normal(0, 1, shape)
        values: Floats = np.round(1 / (1 + np.exp(-logit)), 3)
        return values

    return reference, system(), system()


def tally_of(reference: Floats, system: Floats) -> Tally:
    """Count what scores need of files."""
    n_files = len(reference)
    place = np.arange(n_files * SEGMENTS)
    step = place % SEGMENTS
    codes, times = (place // SEGMENTS).astype(np.int32), (step * 1.0, step + 1.0)

    def rows(values: Floats) -> EventTable:
        columns = tuple(np.ascontiguousarray(values[:, :, c]).reshape(-1) for c in range(len(CLASSES)))
        return EventTable(
            tuple(f"{i:06}" for i in range(n_files)), CLASSES, codes, *times, columns, Origin("")
        )

    return tally_pair(align(rows(reference), rows(system), SETTINGS))


def scores(reference: Floats, systems: tuple[Floats, ...], rows: list[Floats]) -> list[Floats]:
    """Return the scores of each block of weights of files, (n_weights, n_kinds) each."""
    replicates = [Replicates.of(tally_of(reference, system), SETTINGS) for system in systems]
    found = []
    for block in rows:
        one, *other = (of.values(block, KEYS) for of in replicates)
        second = other[0] if other else one
        found.append(np.vstack([one, one[1:2] - second[1:2]]).T)
    return found


def measured(simulations: int = SIMULATIONS, files: tuple[int, ...] = FILES) -> Shares:
    """Return the share of intervals that hold the truth, by method, kind and number of files."""
    reference, system, _ = drawn(np.random.default_rng(2026), POPULATION)
    (truth,) = scores(reference, (system,), [np.ones((1, POPULATION))])
    shares: Shares = {(name, kind): [] for name in METHODS for kind in KINDS}
    del shares["jackknife", "optimal"]
    for n in files:
        rng = np.random.default_rng([2027, n])
        held = {name: np.zeros(len(KINDS)) for name in METHODS}
        for seed in range(simulations):
            reference, *systems = drawn(rng, n)
            again, without = next(bootstrap(n, REPLICATES, seed)), next(leave_one_out(n))
            rows = [again, without, np.ones((1, n))]
            values, left_out, (estimate,) = scores(reference, tuple(systems), rows)
            intervals = {
                "bootstrap": percentile(values, CONFIDENCE),
                "bca": bca(values, estimate, left_out, CONFIDENCE),
                "expanded": bca(values, estimate, left_out, CONFIDENCE, expanded=True),
                "jackknife": jackknife(estimate, left_out, CONFIDENCE),
            }
            for name, (low, high) in intervals.items():
                held[name] += (low <= truth[0]) & (truth[0] <= high)
        for name, counts in held.items():
            for kind, count in zip(KINDS, counts.tolist(), strict=True):
                if (name, kind) in shares:
                    shares[name, kind].append(round(count / simulations, 3))
    return shares


def data(shares: Shares) -> str:
    """Return the text of the file of these numbers."""
    rows = [("ci", "reading", *FILES), *((*key, *held) for key, held in shares.items())]
    return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def table() -> str:
    """Return the table: a row for each method and kind of score, a column for each number of files."""
    names = ["`--ci`", "segment-based macro F1", *(f"{n} files" for n in FILES)]
    found = f"| {' | '.join(names)} |\n|---|---|{'--:|' * len(FILES)}\n"
    for (name, kind), held in coverage.MEASURED.items():
        cells = [f"{100 * share:.1f} %" for share in held]
        says = "soft, difference of two systems" if kind == "difference" else kind
        found += f"| `{name}` | {says} | {' | '.join(cells)} |\n"
    return found


def page(text: str) -> str:
    """Return the page with the table between the marks."""
    return f"{text[: text.index(BEGIN) + len(BEGIN)]}\n{table()}\n{text[text.index(END) :]}"


if __name__ == "__main__":
    if "--measure" in sys.argv[1:]:
        DATA.write_text(data(measured()), encoding="utf-8")
    else:
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
