"""sed_scores_eval's collar- and intersection-based numbers on random scores, as plain Python.

Cases have frames of 0.2 s and reference events on a grid of 0.05 s. Each class has events in every file,
which neither touch nor overlap, as sed_scores_eval demands. All products of these times with criteria of one
decimal are whole microseconds, so its rounding decides nothing, and exact comparison gives the same results.

Scores are on a coarse grid, so that thresholds tie between frames, files and classes, or are all distinct.
Results by class contain floats, ints and lists, but no arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from tables import long_rows

from sedeval_soft.tables import EventTable

LABELS = ("car", "dog", "talk")
FRAME = 0.2

CRITERIA = (
    {"dtc": 0.5, "gtc": 0.5, "cttc": 0.3},
    {"dtc": 0.7, "gtc": 0.7, "cttc": 0.3},
    {"dtc": 0.1, "gtc": 0.1, "cttc": 0.3},
    {"dtc": 0.3, "gtc": 0.9, "cttc": 0.6},
    {"dtc": 1.0, "gtc": 1.0, "cttc": 1.0},
)
WEIGHTS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 1.0), (0.25, 0.5))
"""alpha_ct, alpha_st."""


@dataclass(frozen=True)
class Case:
    """Scores by file, (n_frames, n_classes); reference events by file, (onset, offset, label), in seconds.

    frame: seconds. ends: by file, the seconds from the last frame to the end of the recording. The default
    of a minute makes one false positive a rate of about 20 an hour, so that a limit of 100 matters.
    """

    scores: dict[str, np.ndarray]
    truth: dict[str, list[tuple[float, float, str]]]
    labels: Sequence[str] = LABELS
    frame: float = FRAME
    ends: dict[str, float] | None = None

    def edges(self, name: str) -> np.ndarray:
        """Return the edges of the frames of a file in seconds."""
        return np.round(np.arange(len(self.scores[name]) + 1) * self.frame, 6)

    def durations(self) -> dict[str, float]:
        """Return the durations of the files in seconds."""
        ends = self.ends or dict.fromkeys(self.scores, 60.0)
        return {name: round(float(self.edges(name)[-1]) + ends[name], 6) for name in self.scores}

    def sides(self) -> tuple[EventTable, EventTable]:
        """Return reference and system as the package takes them."""
        edges = [self.edges(name) for name in self.scores]
        system = EventTable(
            *(tuple(self.scores), tuple(self.labels)),
            file=np.repeat(np.arange(len(edges), dtype=np.int32), [len(each) - 1 for each in edges]),
            onset=np.concatenate([each[:-1] for each in edges]),
            offset=np.concatenate([each[1:] for each in edges]),
            values=tuple(np.concatenate([*self.scores.values()]).T.copy()),
        )
        return long_rows([(name, *event) for name, events in self.truth.items() for event in events]), system

    def both(self) -> dict[str, Any]:
        """Return scores and ground truth, as all functions of sed_scores_eval take them."""
        tables = {}
        for name, values in self.scores.items():
            times = {"onset": self.edges(name)[:-1], "offset": self.edges(name)[1:]}
            tables[name] = pd.DataFrame(times | dict(zip(self.labels, values.T, strict=True)))
        return {"scores": tables, "ground_truth": self.truth}


def made(seed: int, levels: int | None = None, labels: Sequence[str] = LABELS) -> Case:
    """Make a case; with levels, scores are multiples of 1/levels, else all distinct within a class.

    Scores follow the reference, so that events are found: random scores hardly meet any criterion.
    """
    rng, scores, truth = np.random.default_rng(seed), {}, {}
    for name in ("file0", "file1", "file2"):
        n = int(rng.integers(20, 45))
        truth[name] = [event for label in labels for event in _events(rng, label, n * FRAME)]
        middles = (np.arange(n) + 0.5) * FRAME
        values = np.cumsum(rng.normal(0, 0.15, (n, len(labels))), axis=0)
        values += 0.5 - values.mean(axis=0)
        for onset, offset, label in truth[name]:
            active = (middles > onset + rng.normal(0, 0.2)) & (middles < offset + rng.normal(0, 0.3))
            # Raise scores of its class, and less those of another: cross-triggers.
            values[active, labels.index(label)] += rng.choice([0.1, 0.4, 0.6])
            values[active, rng.integers(len(labels))] += rng.choice([0.0, 0.3])
        values = np.clip(values, 0, 1) * 0.98 + rng.random(values.shape) * 0.02
        scores[name] = values if levels is None else np.round(values * levels) / levels
    return Case(scores, truth, labels)


def _events(rng: np.random.Generator, label: str, seconds: float) -> list[tuple[float, float, str]]:
    """Return some events of a class that neither touch nor overlap."""
    n = int(rng.integers(1, 4))
    edges = np.sort(rng.choice(np.arange(round(seconds * 20)), size=2 * n, replace=False)) / 20
    return [(float(onset), float(offset), label) for onset, offset in edges.reshape(-1, 2)]


def best(case: Case, basis: str, **how: float) -> dict[str, Any]:
    """Return the best F of a basis: scores by class and average, and thresholds and counts by class."""
    from sed_scores_eval import collar_based, intersection_based

    module = collar_based if basis == "event" else intersection_based
    f, precision, recall, thresholds, counts = module.best_fscore(**case.both(), **_spelled(how))
    found = {name: {"f1": f[name], "precision": precision[name], "recall": recall[name]} for name in f}
    for name, threshold in thresholds.items():
        own = counts[name]
        found[name] |= {"threshold": threshold, "tp": own["tps"], "fp": own["fps"], "n_ref": own["n_ref"]}
    return found


def _spelled(how: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}_threshold" if name in CRITERIA[0] else name: value for name, value in how.items()}


def psds(case: Case, lengths: tuple[float, ...] = (), **how: float) -> tuple[float, dict[str, float]]:
    """Return PSDS over all thresholds, or piPSDS if there are median filters, also of each class.

    how: criteria, weights and the highest rate. sed_scores_eval takes cttc only if alpha_ct is not 0.
    """
    from sed_scores_eval import intersection_based

    arguments = {**case.both(), "audio_durations": case.durations(), **_spelled(how)}
    if not how["alpha_ct"]:
        arguments["cttc_threshold"] = None
    function = intersection_based.psds
    if lengths:
        arguments["median_filter_lengths_in_sec"] = list(lengths)
        function = intersection_based.median_filter_independent_psds
    value, by_class, *_ = function(**arguments)
    return value, by_class


def median_filtered(case: Case, seconds: float) -> dict[str, np.ndarray]:
    """Return the peer's median-filtered scores in the middle of each frame, and 0 if it has none there."""
    from sed_scores_eval.base_modules.postprocessing import medfilt

    values = {}
    for name, table in medfilt(case.both()["scores"], seconds).items():
        edges = np.append(table["onset"].to_numpy(), table["offset"].to_numpy()[-1])
        row = np.searchsorted(edges, case.edges(name)[:-1] + FRAME / 2, side="right") - 1
        inside = (row >= 0) & (row < len(table))
        columns = np.maximum(table[list(LABELS)].to_numpy(), 0)
        values[name] = np.where(inside[:, None], columns[np.clip(row, 0, len(table) - 1)], 0.0)
    return values
