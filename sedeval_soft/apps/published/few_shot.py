"""DCASE few-shot bioacoustic event detection, 2021 to 2024: what its script counts.

A reference event is POS or, with the label UNK, one that nobody is sure of. Detections and POS events pair by
intersection over union above 0.3, as many as can be; detections left over pair with UNK events likewise, and
then count neither way. The order in which the script pairs decides which detections are left over, so that
order is kept here. The script differs from its rules. Detections within the five shots count. The end of the
shots is read off another row unless rows are by onset. Files without detections miss all POS, including the
shots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published, check_lists, rows_by_file
from sedeval_soft.arrays import Array, Bools, Index
from sedeval_soft.errors import SettingsError
from sedeval_soft.measures import maximum_matching
from sedeval_soft.tables import EventTable, stem_of

LEAST = 0.00001
"""The value of a score in a harmonic mean if the score would be 0, or is undefined."""

SHOTS = 5
MIN_IOU = 0.3

_POS, _UNK = 0, 1
_AT_ONCE = 4_000_000  # pairs compared at a time


class Counts(NamedTuple):
    """The counts of a file, or of several."""

    tp: int
    fp: int
    fn: int

    def scores(self) -> tuple[float, float, float]:
        """Return precision, recall and F, none of which is 0: a harmonic mean takes them."""
        tp, fp, fn = self
        if not tp:
            return LEAST, LEAST, LEAST
        return max(tp / (tp + fp), LEAST), tp / (fn + tp), tp / (tp + 0.5 * (fp + fn))


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the printed numbers, counts of files with detections and overall scores; then the report's."""
    check_lists(inputs.reference, inputs.system)
    files, subset_of = _files(inputs)
    kinds = np.array([_kind(name) for name in inputs.reference.classes], dtype=np.int32)
    ours = _by_file(replace(inputs.reference, label=kinds[inputs.reference.row_label]))
    theirs = _by_file(inputs.system)
    counted: dict[str, Counts] = {}
    numbers: dict[str, Number] = {}
    for stem in sorted(theirs):
        if stem not in files:
            raise SettingsError(f"the system has the file {stem!r}, the reference has not: the script stops")
        reference = ours.get(stem, EventTable.empty(inputs.reference.origin))
        counted[stem] = _counts(files[stem], reference, theirs[stem])
        tp, fp, fn = counted[stem]
        words = {"TP": tp, "FP": fp, "FN": fn, "total_n_pos_events": tp + fn}
        numbers |= {f"{files[stem]} {word}": number for word, number in words.items()}
    for stem in files:
        missed = int(np.sum(ours[stem].row_label == _POS)) if stem in ours else 0
        counted.setdefault(stem, Counts(0, 0, missed))
    by_subset: dict[str, Counts] = {}
    for stem, counts in counted.items():
        total = by_subset.get(subset_of[stem], Counts(0, 0, 0))
        by_subset[subset_of[stem]] = Counts(*map(sum, zip(total, counts, strict=True)))
    subsets = {name: by_subset[name].scores() for name in sorted(by_subset)}
    if not subsets:
        raise SettingsError("the reference has no file: the script stops")
    precision, recall, f = (
        len(subsets) / np.sum(1.0 / np.array(column)) for column in zip(*subsets.values(), strict=True)
    )
    overall = {"precision": precision, "recall": recall, RANKING: np.round(f * 100, 3)}
    numbers |= {name: float(value) for name, value in overall.items()}
    report = {f"scores_per_subset {name}": scores for name, scores in subsets.items()} | {
        f"scores_per_audiofile {files[stem]}": counted[stem].scores() for stem in files
    }
    for name, scores in report.items():
        for word, value in zip(("precision", "recall", "f-measure"), scores, strict=True):
            numbers[f"{name} {word}"] = value
    return numbers


def _files(inputs: Inputs) -> tuple[dict[str, str], dict[str, str]]:
    """Return the names of the reference's files without folders, and their subsets, by stem, sorted.

    The script has a folder for each subset and a table for each of its files, called as the file.
    """
    rule = inputs.options["subsets"]
    if rule not in {"folder", "none"}:
        raise SettingsError(f"subsets must be folder, the last one of a file's path, or none; not {rule!r}")
    parts: dict[str, tuple[str, str]] = {}
    for name in inputs.reference.files:
        folder, _, last = name.replace("\\", "/").rpartition("/")
        subset = "" if rule == "none" else (inputs.scenes or {}).get(name, folder.rpartition("/")[2])
        parts[stem_of(name)] = subset, last
    if len(parts) < len(inputs.reference.files):
        raise SettingsError(
            "two files of the reference have one name in two folders; the script takes one of them"
        )
    ordered = sorted(parts.items(), key=lambda item: item[1])
    return {stem: last for stem, (_, last) in ordered}, {stem: subset for stem, (subset, _) in ordered}


def _kind(label: str) -> int:
    """Return the script's reading of a row's label: any class is the one of the file."""
    return {"UNK": _UNK, "NEG": -1}.get(label, _POS)


def _by_file(table: EventTable) -> Mapping[str, EventTable]:
    """Return the rows of each file that has any by its stem, in the order of the table."""
    return {stem_of(name): table.take(rows) for name, rows in rows_by_file(table).items() if len(rows)}


def _counts(name: str, reference: EventTable, system: EventTable) -> Counts:
    """Count a file that has detections; reference: its labels are the script's reading of rows."""
    order, label = _order(reference.onset), reference.row_label
    positive = np.flatnonzero(label[order] == _POS)
    if len(positive) < SHOTS:
        raise SettingsError(f"{name} has {len(positive)} POS of {SHOTS} shots: the script stops")
    # The number of the row in the file, which the script takes for its place in order of onset.
    number = order[positive[SHOTS - 1]]
    end = reference.offset[order[number]]
    order = order[reference.offset[order] > end]
    pos, unk = (reference.take(order[label[order] == kind]) for kind in (_POS, _UNK))
    # Onsets of detections are text to the script: 10.0 comes before 9.0.
    texts = np.array([np.format_float_positional(time, trim="0") for time in system.onset], dtype=object)
    system = system.take(_order(texts))
    matched = _matched(*_pairs(pos, system), len(system))
    left_over = system.take(~matched)
    unsure = maximum_matching(*_pairs(unk, left_over), len(unk), len(left_over)) >= 0
    tp = int(np.sum(matched))
    return Counts(tp, len(system) - tp - int(np.sum(unsure)), len(pos) - tp)


def _pairs(reference: EventTable, system: EventTable) -> tuple[Index, Index]:
    """Return what overlaps enough, by detection, then by event: positions of events, and of detections."""
    parts = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    step = max(1, _AT_ONCE // max(1, len(reference)))
    for begin in range(0, len(system), step):
        onset, offset = (time[begin : begin + step, None] for time in (system.onset, system.offset))
        common = np.minimum(offset, reference.offset) - np.maximum(onset, reference.onset)
        span = np.maximum(offset, reference.offset) - np.minimum(onset, reference.onset)
        with np.errstate(invalid="ignore"):
            right, left = np.nonzero(common / span > MIN_IOU)
        parts.append((left, right + begin))
    return np.concatenate([left for left, _ in parts]), np.concatenate([right for _, right in parts])


def _order(keys: Array) -> Index:
    """Return the order of times or texts as numpy had it when the script was written, also of equal ones.

    Floats are sorted in another way today, objects in the same.
    """
    return np.argsort(keys.astype(object), kind="quicksort")


def _matched(left: Index, right: Index, n_system: int) -> Bools:
    """Return which detections are paired, (n_system,), with pairs made in the order of the script's library.

    Each detection takes its first free event; then those still free find alternating paths (Hopcroft and Karp
    1973). left, right: (n_edges,) by detection, then by event.
    """
    near: dict[int, list[int]] = {}
    for event, detection in zip(left.tolist(), right.tolist(), strict=True):
        near.setdefault(detection, []).append(event)
    partner: dict[int, int] = {}
    for detection, events in near.items():
        event = next((event for event in events if event not in partner), None)
        if event is not None:
            partner[event] = detection
    try:
        while _take_paths(near, partner):
            pass
    except RecursionError:
        raise SettingsError("hundreds of calls overlap one after the other: the script stops") from None
    matched = np.zeros(n_system, dtype=bool)
    matched[[*partner.values()]] = True
    return matched


def _take_paths(near: dict[int, list[int]], partner: dict[int, int]) -> bool:
    """Pair along shortest alternating paths that share nothing; return whether there was one.

    near: the events that each detection may pair with. partner: the detection of each paired event.
    """
    paired = {*partner.values()}
    # The event through which each detection was reached, None for free ones; the detections before an event.
    through: dict[int, int | None] = {each: None for each in near if each not in paired}
    before: dict[int, list[int]] = {}
    layer, free = [*through], list[int]()
    while layer and not free:
        reached: dict[int, list[int]] = {}
        for detection in layer:
            for event in near[detection]:
                if event not in before:
                    reached.setdefault(event, []).append(detection)
        before |= reached
        free = [event for event in reached if event not in partner]
        layer = [partner[event] for event in reached if event in partner]
        through |= {partner[event]: event for event in reached if event in partner}

    def take_path(event: int) -> bool:
        """Pair along a path from an event back to a free detection; no other path may use its nodes."""
        for detection in before.pop(event, ()):
            if detection in through:
                last = through.pop(detection)
                if last is None or take_path(last):
                    partner[event] = detection
                    return True
        return False

    for event in free:
        take_path(event)
    return bool(free)


RANKING = "fmeasure (percentage)"

EVALUATOR = Published(
    name="few-shot",
    title="DCASE 2021 to 2024, few-shot bioacoustic event detection",
    project="c4dm/dcase-few-shot-bioacoustic",
    version="33a2119cecb9ecd0c892b9b87e8476bdbe8c023c",
    script="evaluation_metrics/evaluation.py",
    ranking=RANKING,
    compute=compute,
    takes=("scenes",),
    preset="dcase2021-2024-few-shot",
    same={
        label: f"event.hard.{measure}.micro@scenes.harmonic"
        for label, measure in (("precision", "precision"), ("recall", "recall"), (RANKING, "f1"))
    },
    percent={RANKING: 3},
    options={"subsets": "folder"},
    label="POS",
)
