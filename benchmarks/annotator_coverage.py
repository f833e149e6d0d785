"""Measure how often intervals over annotators and files hold the truth, on simulated annotators.

    python benchmarks/annotator_coverage.py [SIMULATIONS [ANNOTATORS ...]]

Annotators differ in how many events they miss, make up, and how far they are off at both ends; events in how
hard they are to hear, for all annotators and for the system alike. The truth is the mean score over many
sets of so many annotators, each with files of its own.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
import numpy.typing as npt

from sedeval_soft.apps.annotators.annotate import settings_for
from sedeval_soft.apps.annotators.crowd import Crowd
from sedeval_soft.apps.annotators.references import References, Scoring
from sedeval_soft.apps.annotators.systems import effects_in_all, scores_of_sets, sets_of, two_way
from sedeval_soft.evaluation.resample import key_of
from sedeval_soft.measures.registry import ScoreName
from sedeval_soft.tables.event_table import EventTable, Origin

Floats = npt.NDArray[np.float64]

SCORES = ("segment.soft.f1.micro", "segment.soft.f1.macro", "segment.hard.f1.macro", "event.soft.f1.micro")
ANNOTATORS, FILES = (3, 4, 5, 6, 7, 8), (20, 50)
SIMULATIONS, POINTS = 400, 2000
CLASSES = ("a", "b", "c")
LENGTH, EVENTS = 30.0, 6.0
KEYS = [key_of(ScoreName.parse(name)) for name in SCORES]
CUT = np.array([key.reading != "soft" for key in KEYS])
SETTINGS = settings_for(SCORES, None, {"classes": CLASSES})


def rows(
    n_files: int,
    file: npt.NDArray[np.int64],
    label: npt.NDArray[np.int64],
    onset: Floats,
    offset: Floats,
    *values: Floats,
) -> EventTable:
    """Return events as a table, those within the files that last long enough."""
    onset, offset = np.clip(np.round(onset, 3), 0, LENGTH), np.clip(np.round(offset, 3), 0, LENGTH)
    some = np.flatnonzero(offset - onset > 0.05)
    some = some[np.lexsort((onset[some], file[some]))]
    codes = (file[some].astype(np.int32), label[some].astype(np.int32))
    names = tuple(f"{i:06}" for i in range(n_files))
    return EventTable(
        names, CLASSES, codes[0], onset[some], offset[some], tuple(each[some] for each in values), Origin(""),
        codes[1],
    )  # fmt: skip


def drawn(rng: np.random.Generator, n: int, n_files: int) -> tuple[Crowd, EventTable]:
    """Return annotators drawn from all there might be, and a system, on files drawn likewise."""
    busy = rng.gamma(3, EVENTS / 3, n_files)
    count = rng.poisson(busy)
    file = np.repeat(np.arange(n_files), count)
    size = len(file)
    label = rng.choice(3, size, p=(0.5, 0.3, 0.2))
    onset, length = rng.uniform(0, LENGTH - 3, size), rng.gamma(4, 0.6, size)
    clear = rng.normal(0, 1.0, size) + rng.normal(0, 0.7, n_files)[file]

    def made_up(rate: float) -> tuple[npt.NDArray[np.int64], ...]:
        where = np.repeat(np.arange(n_files), rng.poisson(rate, n_files))
        return where, rng.integers(3, size=len(where))

    def annotator() -> EventTable:
        hears, rate, jitter = rng.normal(1.6, 0.8), rng.gamma(2, 0.25), 0.2 * np.exp(rng.normal(0, 0.5))
        wider, by_class = rng.normal(0, 0.15), rng.normal(0, 0.5, 3)
        heard = rng.random(size) < 1 / (1 + np.exp(-(hears + clear + by_class[label])))
        where, what = made_up(rate)
        begin = onset[heard] - wider + rng.normal(0, jitter, heard.sum())
        end = (onset + length)[heard] + wider + rng.normal(0, jitter, heard.sum())
        more = rng.uniform(0, LENGTH - 3, len(where))
        return rows(
            n_files, np.concatenate((file[heard], where)), np.concatenate((label[heard], what)),
            np.concatenate((begin, more)), np.concatenate((end, more + rng.gamma(4, 0.5, len(where)))),
        )  # fmt: skip

    def system() -> EventTable:
        logit = 1.0 + 0.8 * clear + rng.normal(0, 1, size)
        hit = logit > -0.5
        where, what = made_up(1.0)
        value = np.concatenate((1 / (1 + np.exp(-logit[hit])), rng.uniform(0.2, 0.7, len(where))))
        begin = onset[hit] + rng.normal(0, 0.15, hit.sum())
        more = rng.uniform(0, LENGTH - 3, len(where))
        end = (onset + length)[hit] + rng.normal(0, 0.2, hit.sum())
        return rows(
            n_files, np.concatenate((file[hit], where)), np.concatenate((label[hit], what)),
            np.concatenate((begin, more)), np.concatenate((end, more + rng.gamma(4, 0.5, len(where)))),
            np.round(value, 3),
        )  # fmt: skip

    tables = {str(k): annotator() for k in range(n)}
    lengths = {f"{i:06}": LENGTH for i in range(n_files)}
    return Crowd.of_tables(tables, SETTINGS, lengths, missing="silent", continuous=True), system()


def interval(job: tuple[int, int, int]) -> Floats:
    """Return the ends of the intervals of one simulation, (2, n_keys); job: annotators, files, seed."""
    n, n_files, seed = job
    crowd, system = drawn(np.random.default_rng([seed, n, n_files]), n, n_files)
    members = {size: sets_of(n, size, 0) for size in (n - 2, n - 1, n)}
    scoring = Scoring(References(crowd, "mean", 0.5), SETTINGS, KEYS, (*crowd.tables, system))
    scores = {size: scores_of_sets(scoring, each)[0] for size, each in members.items()}
    whole = scores[n][:, 0]
    each = effects_in_all(scores, members, CUT)
    ends = np.zeros(len(KEYS)), np.ones(len(KEYS))
    found = two_way(whole[:, 0], whole[:, 1:], each, 0.95, *ends)
    return np.stack((found.low, found.high))


def point(job: tuple[int, int, int]) -> Floats:
    """Return the scores of one simulation, (n_keys,)."""
    n, n_files, seed = job
    crowd, system = drawn(np.random.default_rng([seed, n, n_files]), n, n_files)
    who, weights = np.ones(n, dtype=bool), np.ones((1, n_files))
    scoring = Scoring(References(crowd, "mean", 0.5), SETTINGS, KEYS, (*crowd.tables, system))
    return next(scoring.against(who, [n], weights))[:, 0]


def main() -> None:
    """Print the coverage of each score, by the number of annotators and of files."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    print("annotators files", *SCORES)
    with ProcessPoolExecutor() as pool:
        for n, n_files in product([*map(int, sys.argv[2:])] or ANNOTATORS, FILES):
            others = [(n, n_files, simulations + k) for k in range(POINTS)]
            truth = np.mean([*pool.map(point, others, chunksize=20)], axis=0)
            jobs = [(n, n_files, k) for k in range(simulations)]
            ends = np.array([*pool.map(interval, jobs, chunksize=10)])
            held = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean(axis=0)
            print(f"{n:10} {n_files:5}", *(f"{share:.3f}" for share in held), flush=True)


if __name__ == "__main__":
    main()
