"""DCASE 2024 task 4 as it ranks: PSDS 1 on DESED, and mean partial AUC on MAESTRO Real, added.

One table of each side has both data sets. A file is of the data set in whose classes it has an event: files
without one are left out, as in the baseline. Areas below the ROC equal the areas of sed_scores_eval, which
the baseline calls, to the last bit: it goes right before it goes up for equal scores. PSDS and the best F are
ours by the two presets, and equal to it to rounding.
"""

from __future__ import annotations

from itertools import compress

import numpy as np

from sedeval_soft.apps.published.base import Inputs, Number, Published
from sedeval_soft.arrays import Bools
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation import Shard, count_rows, score_shard
from sedeval_soft.measures import Curve
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables import EventTable
from sedeval_soft.timeline import positive


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the sum that ranks, and the baseline's test scores of each data set."""
    desed, maestro = shard_of(inputs, "desed"), shard_of(inputs, "maestro")
    psds, areas = score_shard(desed, "")["intersection.hard.psds"], mean_areas(maestro)
    partial = areas["segment_mpauc"]
    return {
        "psds1 + segment_mpauc": None if psds is None or partial is None else psds + partial,
        "psds1": psds,
        **areas,
        "segment_f1_macro_thresopt": score_shard(maestro, "")["segment.optimal.f1.macro"],
    }


def shard_of(inputs: Inputs, part: str) -> Shard:
    """Return the statistics by the preset of a data set, `desed` or `maestro`, in its files."""
    settings = Settings.of(**load_preset(f"dcase2024-task4-{part}"))
    sides = _of_part(inputs, settings, part)
    durations = inputs.durations
    if durations is not None:
        durations = {name: durations[name] for name in sides[0].files if name in durations}
    return count_rows(*sides, settings, durations)


def mean_areas(shard: Shard) -> dict[str, Number]:
    """Return the means over classes of areas below the ROC of segments, up to the highest rate and all."""
    settings = shard.settings
    samples = shard.tally.samples
    scores, active = samples["segment.system"], positive(samples["segment.reference"], settings)
    # In the order of their names: so they are averaged.
    classes = sorted(range(len(shard.tally.classes)), key=lambda k: shard.tally.classes[k])
    curves = [Curve.of_cells(scores[k], active[k]) for k in classes]
    areas = {
        name: np.mean([_staircase(curve, limit) for curve in curves])
        for name, limit in (("segment_mpauc", settings.max_fpr), ("segment_mauc", None))
    }
    # A class without a segment of either kind has no area, and the mean is NaN.
    return {name: None if np.isnan(area) else float(area) for name, area in areas.items()}


def _staircase(curve: Curve, limit: float | None) -> float:
    """Return the area below a ROC in steps, of the part up to a false positive rate."""
    tpr, fpr = curve.recall[::-1], curve.false_positive_rate[::-1]
    if np.isnan(tpr).any() or np.isnan(fpr).any():
        return float("nan")
    if limit is None:
        tpr = tpr[:-1]
    else:
        end = int(np.searchsorted(fpr, limit, side="right"))
        tpr, fpr = tpr[:end], np.append(fpr[:end], limit)
    # Added one by one, as a sum in Python is.
    return float(np.cumsum(tpr * np.diff(fpr))[-1] / (limit or 1))


def _of_part(inputs: Inputs, settings: Settings, part: str) -> tuple[EventTable, EventTable]:
    """Return both tables of the files of a data set."""
    active, classes = _active(inputs.reference, settings)
    files = set(compress(inputs.reference.files, active))
    if not files:
        raise SettingsError(
            f"no file of the reference has an event of a class of {part.upper()}; expected one table of both "
            "data sets. --preset dcase2024-task4-desed and dcase2024-task4-maestro score them one by one"
        )
    missing = [name for name in settings.classes or () if name not in classes]
    if missing:
        raise SettingsError(
            f"the reference of {part.upper()} has no event of the class {missing[0]!r}: the script stops"
        )
    system = inputs.system.only_files(np.array([name in files for name in inputs.system.files], dtype=bool))
    return inputs.reference.only_files(active), system


def _active(reference: EventTable, settings: Settings) -> tuple[Bools, set[str]]:
    """Return which files have an event of the classes that are evaluated, (n_files,), and of which it is."""
    row, label = reference.active(settings.threshold, inclusive=False)
    evaluated = np.array([name in (settings.classes or ()) for name in reference.classes], dtype=bool)
    files = np.zeros(len(reference.files), dtype=bool)
    files[reference.file[row[evaluated[label]]]] = True
    return files, {reference.classes[k] for k in np.unique(label).tolist()}


EVALUATOR = Published(
    name="dcase2024-task4",
    title="DCASE 2024 task 4, PSDS 1 on DESED and mean partial AUC on MAESTRO",
    project="DCASE-REPO/DESED_task",
    version="c6bcb45b8b986ccde5c56bb86eefaf9d19b2320c",
    script="recipes/dcase2024_task4_baseline/local/sed_trainer_pretrained.py",
    ranking="psds1 + segment_mpauc",
    compute=compute,
    takes=("durations",),
    same={"psds1": "intersection.hard.psds", "segment_mpauc": "segment.hard.partial_auc.macro"},
)
