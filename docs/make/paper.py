"""Write the tables of Harju & Mesaros 2023 into paper.md, side by side with the paper's; takes two minutes.

    python docs/make/paper.py [FOLDER]

FOLDER holds MAESTRO Real's development set: `soft_gt_dev.csv` and `development_folds`; without one it is that
in ../shared. Where there is none, labels are simulated: tables are printed, and the page stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from sedeval_soft import Scores, evaluate, mean_of_runs, simulate
from sedeval_soft.apps.simulate.run import Betas
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.event_table import EventTable

BEGIN = "<!-- tables: made by `python docs/make/paper.py` -->\n"
END = "<!-- end of the tables -->\n"
PAGE = Path(__file__).parents[1] / "explanations" / "paper.md"
DATA = Path(__file__).parents[3] / "shared" / "data" / "maestro"

RUNS = 10
KLD = "segment.soft.kl_divergence.micro"
COLUMNS = [(reading, average) for reading in ("hard", "optimal", "soft") for average in ("micro", "macro")]

TABLE_1 = [
    ((0.1, 0.2, 0.8, 0.9), (0.6, 0.1, 0.9, 0.2), (50.0, 50.0, 50.0, 66.7, 60.0, 63.2, 0.446)),
    ((0.1, 0.2, 0.8, 0.9), (0.2, 0.3, 0.9, 0.6), (100.0, 100.0, 100.0, 85.0, 85.0, 85.0, 0.083)),
    ((0.4, 0.4, 0.5, 0.7), (0.5, 0.5, 0.4, 0.4), (0.0, 0.0, 0.0, 88.9, 80.0, 84.2, 0.061)),
]
"""Points of reference and prediction, reconstructed from a picture, and the paper's percentages and KLD."""

TABLE_2 = {
    "betas": (23.2, 9.1, 27.4, 18.0, 35.5, 23.0),
    "shuffled-betas": (7.2, 4.6, 26.4, 18.1, 17.1, 14.1),
    "data-sampling": (30.9, 10.9, 25.0, 17.8, 39.0, 25.9),
}
"""The paper's F of the three sampled systems in percent, in the order of `COLUMNS`."""

FITS: dict[str, dict[str, Any]] = {
    "moments": {},
    "likelihood, 1e-7": {"fit": "likelihood"},
    "likelihood, 1e-9": {"fit": "likelihood", "epsilon": 1e-9},
}

EPSILONS = (1e-7, 1e-9, 1e-12)
"""How far from 0 and 1 values are held where single permutations are looked at."""

PERMUTATIONS = 5000

SHAPES = (0.01, 0.1, 1.0, 5.0, 20.0)
"""alpha = beta of the systems of Figure 3."""

Train = Callable[[str, int, Mapping[str, Any]], EventTable]
"""Makes a system of a kind and a seed, and what it takes besides."""


def reference(folder: Path) -> EventTable:
    """Return the soft reference: 11 classes, one row per second."""
    rows = read_rows(folder / "soft_gt_dev.csv")
    if not rows.has_steps:
        raise TypeError("MAESTRO's soft reference is a wide table")
    return rows


def simulated(n_files: int = 12, n_seconds: int = 180, n_classes: int = 5) -> EventTable:
    """Return labels for those who have no data: events of random lengths, each with a share of the votes."""
    rng = np.random.default_rng(0)
    n = n_files * n_seconds
    columns = []
    for k in range(n_classes):
        length = rng.geometric(0.15, n) * (np.arange(n) % 2 * (1 + k) + (np.arange(n) % 2 == 0))
        vote = np.where(np.arange(n) % 2 == 0, rng.beta(2.0, 1.0 + k, n), 0.0)
        columns.append(np.repeat(np.round(vote, 2), length)[:n])
    return EventTable(
        files=tuple(f"file{i:02}.wav" for i in range(n_files)),
        classes=tuple(f"class {k}" for k in range(n_classes)),
        file=np.repeat(np.arange(n_files, dtype=np.int32), n_seconds),
        onset=np.tile(np.arange(n_seconds, dtype=np.float64), n_files),
        offset=np.tile(np.arange(1.0, n_seconds + 1.0), n_files),
        values=tuple(columns),
    )


def parts(rows: EventTable, names: Sequence[str]) -> EventTable:
    """Return the rows of some files."""
    code = {name: i for i, name in enumerate(rows.files)}
    place = np.full(len(rows.files), -1, dtype=np.int32)
    place[[code[name] for name in names]] = np.arange(len(names))
    kept = np.flatnonzero(place[rows.file] >= 0)
    return replace(
        rows,
        files=tuple(names),
        file=place[rows.file[kept]],
        onset=rows.onset[kept],
        offset=rows.offset[kept],
        values=tuple(column[kept] for column in rows.values),
    )


def folds_of(folder: Path) -> list[tuple[list[str], list[str]]]:
    """Return the files that each fold trains on, and those that it tests."""
    found = []
    for fold in range(1, 6):
        lists = []
        for kind in ("train", "test"):
            lines = (
                (folder / "development_folds" / f"fold{fold}_{kind}.csv").read_text(encoding="utf-8").split()
            )
            lists.append([f"{line.rpartition('/')[2]}.wav" for line in lines[1:]])
        found.append((lists[0], lists[1]))
    return found


def over_folds(soft: EventTable, folds: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Train:
    """Return what makes systems that learn from the training files of each fold."""
    sides = [(parts(soft, train), parts(soft, test)) for train, test in folds]

    def made(kind: str, seed: int, own: Mapping[str, Any]) -> EventTable:
        drawn = [
            simulate(kind, test, train=train, classes=soft.classes, seed=seed, **own) for train, test in sides
        ]
        return EventTable.join(drawn)

    return made


def scored(soft: EventTable, system: EventTable) -> Scores:
    """Return the scores of a system; as in the paper a value at the threshold is active."""
    return evaluate(soft, system, only=("segment",), inclusive=True)


def runs_of(soft: EventTable, made: Callable[[int], EventTable], n_runs: int) -> Scores:
    """Return the mean scores of some runs, with their intervals."""
    runs = {f"run {seed}": made(seed) for seed in range(n_runs)}
    return mean_of_runs(soft, runs, only=("segment",), inclusive=True)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _head(*names: str) -> str:
    return _row(*names) + "|" + "---|" * len(names) + "\n"


def _mean(scores: Scores, name: str, paper: float | None = None, factor: float = 100.0) -> str:
    """Return a mean with half its interval, and whether the paper's number, as it is rounded, is within."""
    score = scores.score(name)
    if score.value is None:
        return "-"
    digits = 1 if factor == 100.0 else 3
    if score.low is None or score.high is None:
        return f"{factor * score.value:.{digits}f}"
    # As in the paper, with z where our intervals have Student's t.
    from scipy.special import stdtrit

    z_per_t = NormalDist().inv_cdf(0.975) / float(stdtrit(len(scores.runs) - 1, 0.975))
    half = factor * (score.high - score.low) / 2 * z_per_t
    mean = factor * score.value
    within = paper is not None and abs(mean - paper) <= half + 0.05
    return f"{mean:.{digits}f} ± {half:.{digits}f}{' (in)' if within else ''}"


def table_1() -> str:
    """Return the paper's Table 1: three cases of four segments."""
    names = [f"{r} {m}" for r in ("hard", "soft") for m in ("P", "R", "F")]
    text = _head("case", "reference", "prediction", *names, "KLD", "paper")
    measures = [f"segment.{r}.{m}.micro" for r in ("hard", "soft") for m in ("precision", "recall", "f1")]
    for case, (y, p, paper) in enumerate(TABLE_1, 1):
        scores = evaluate(np.array([y]).T, np.array([p]).T, inclusive=True)
        cells = [f"{100 * (scores[name] or 0.0):.1f}" for name in measures] + [f"{scores[KLD]:.3f}"]
        theirs = [f"{value:.1f}" for value in paper[:-1]] + [f"{paper[-1]:.3f}"]
        same = "the same" if cells == theirs else ", ".join(theirs)
        text += _row(str(case), *(" ".join(map(str, points)) for points in (y, p)), *cells, same)
    return text


def figure_1() -> str:
    """Return the paper's Figure 1: the second of two predictions off by e."""
    text = _head("e", "soft P", "soft R", "soft F", "hard F", "2 / (2 + e), below 0 2 (1 + e) / (2 + e)")
    for e in (-0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8):
        scores = evaluate(np.array([[0.8], [0.2]]), np.array([[0.8], [0.2 + e]]))
        names = [f"segment.soft.{m}.micro" for m in ("precision", "recall", "f1")]
        closed = 2 / (2 + e) if e >= 0 else 2 * (1 + e) / (2 + e)
        cells = [f"{scores[name]:.4f}" for name in (*names, "segment.hard.f1.micro")]
        text += _row(f"{e:g}", *cells, f"{closed:.4f}")
    return text


def _noise(soft: EventTable, r: float, seed: int) -> EventTable:
    return simulate("beta-noise", soft, r=r, seed=seed)


def figure_3(soft: EventTable, n_runs: int = RUNS) -> str:
    """Return the paper's Figure 3: beta noise of several shapes, and 0.5 all the time."""
    text = _head("system", "KLD", *(f"{reading} {average} F" for reading, average in COLUMNS))
    systems: dict[str, Scores] = {
        f"beta({r:g}, {r:g})": runs_of(soft, partial(_noise, soft, r), n_runs) for r in SHAPES
    }
    systems["constant 0.5"] = scored(soft, simulate("constant", soft))
    for name, scores in systems.items():
        cells = [_mean(scores, f"segment.{reading}.f1.{average}") for reading, average in COLUMNS]
        text += _row(name, _mean(scores, KLD, factor=1.0), *cells)
    return text


def table_2(soft: EventTable, made: Train, n_runs: int = RUNS, *, paper: bool = True) -> str:
    """Return the sampled systems of the paper's Table 2, and the paper's numbers."""
    text = _head("system", "fit", *(f"{reading} {average}" for reading, average in COLUMNS), "KLD")
    for kind, theirs in TABLE_2.items():
        if paper:
            text += _row(f"**{kind}**", "paper", *(f"**{value:.1f}**" for value in theirs), "")
        for fit, own in (FITS if kind != "data-sampling" else {"": {}}).items():
            scores = runs_of(soft, partial(made, kind, own=own), n_runs)
            text += sampled(kind, fit, scores, theirs if paper else (None,) * len(COLUMNS))
    return text


def sampled(kind: str, fit: str, scores: Scores, paper: Sequence[float | None]) -> str:
    """Return the row of a sampled system; paper: the paper's numbers, None for none."""
    cells = [
        _mean(scores, f"segment.{reading}.f1.{average}", value)
        for (reading, average), value in zip(COLUMNS, paper, strict=True)
    ]
    return _row(kind, fit, *cells, _mean(scores, KLD, factor=1.0))


def shuffles(soft: EventTable, *, paper: bool = True) -> str:
    """Return what all kinds of permutations give shuffled beta distributions, fitted to all files."""
    values = np.array(soft.values)
    labels = {"hard": values >= 0.5, "soft": values}
    classes, rng = np.arange(len(values)), np.random.default_rng(0)
    orders = np.array([rng.permutation(classes) for _ in range(PERMUTATIONS)])
    text = _head("values held", "F", "lowest", "5 %", "median", "95 %", "paper", "lower than the paper's")
    for epsilon in EPSILONS:
        fitted = Betas.likeliest(values, epsilon)
        drawn = np.array([fitted.draw(rng, k, values.shape[1]) for k in classes])
        for reading, y in labels.items():
            p = drawn >= 0.5 if reading == "hard" else drawn
            # What a class has in common with what is drawn from the distribution of any.
            common = np.array([np.minimum(row, p).sum(axis=1) for row in y])
            n_ref, n_sys = y.sum(axis=1), p.sum(axis=1)
            tp = common[classes, orders]
            found = {
                "micro": 2 * tp.sum(axis=1) / (n_ref.sum() + n_sys.sum()),
                "macro": (2 * tp / (n_ref + n_sys[orders])).mean(axis=1),
            }
            for average, scores in found.items():
                theirs = TABLE_2["shuffled-betas"][COLUMNS.index((reading, average))]
                lower = f"{100 * (100 * scores <= theirs + 0.05).mean():.1f} %"
                ends = (f"{100 * end:.1f}" for end in np.quantile(scores, [0.0, 0.05, 0.5, 0.95]))
                beside = (f"{theirs:.1f}", lower) if paper else ("-", "-")
                text += _row(f"{epsilon:g}", f"{reading} {average}", *ends, *beside)
    return text


def tables(soft: EventTable, made: Train, n_runs: int = RUNS, *, paper: bool) -> str:
    """Return all tables of the page."""
    found = [
        ("Table 1: three cases", table_1()),
        ("Figure 1: one prediction off by e", figure_1()),
        ("Figure 3: beta noise", figure_3(soft, n_runs)),
        ("Table 2: sampled systems", table_2(soft, made, n_runs, paper=paper)),
        ("Shuffled betas: single permutations", shuffles(soft, paper=paper)),
    ]
    return "\n" + "\n".join(f"### {title}\n\n{table}" for title, table in found) + "\n"


def page(text: str, made: str) -> str:
    """Return the page with these tables between the marks."""
    return text[: text.index(BEGIN) + len(BEGIN)] + made + text[text.index(END) :]


def main(arguments: Sequence[str], n_runs: int = RUNS) -> None:
    """Write the page, or print the tables of simulated labels."""
    folder = Path(arguments[0]) if arguments else DATA
    if (folder / "soft_gt_dev.csv").exists():
        soft = reference(folder)
        made = tables(soft, over_folds(soft, folds_of(folder)), n_runs, paper=True)
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
        return
    soft = simulated()
    even, odd = soft.files[::2], soft.files[1::2]
    sys.stdout.write(
        f"There is no MAESTRO Real in {folder}: these tables are of SIMULATED labels, which the\n"
    )
    sys.stdout.write("paper's numbers have nothing to do with. The page stays as it is.\n")
    sys.stdout.write(tables(soft, over_folds(soft, [(even, odd), (odd, even)]), n_runs, paper=False))


if __name__ == "__main__":
    main(sys.argv[1:])
