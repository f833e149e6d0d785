"""DCASE 2024 task 4 as it ranks: PSDS 1 on DESED, and mean partial AUC on MAESTRO Real, added.

One table of each side has both data sets. A file is of the data set in whose classes it has an event: files
without one are left out, as in the baseline. The scores are ours by the two presets; sed_scores_eval, which
the baseline calls, gives the same to rounding where no two scores of a class are equal.
"""

from __future__ import annotations

from itertools import compress

import numpy as np

from sedeval_soft.arrays import Bools
from sedeval_soft.errors import SettingsError
from sedeval_soft.evaluation.evaluate import count_rows
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.published.base import Inputs, Number, Published
from sedeval_soft.settings import Settings
from sedeval_soft.settings_files import load_preset
from sedeval_soft.tables.event_table import EventTable

_PARTS = {
    "desed": {"psds1": "intersection.hard.psds"},
    "maestro": {
        "segment_mpauc": "segment.hard.partial_auc.macro",
        "segment_mauc": "segment.hard.roc_auc.macro",
        "segment_f1_macro_thresopt": "segment.optimal.f1.macro",
    },
}
"""By data set: our score beside each name of the baseline's."""


def compute(inputs: Inputs) -> dict[str, Number]:
    """Return the sum that ranks, and what the baseline tests of each data set."""
    numbers: dict[str, Number] = {}
    for part, names in _PARTS.items():
        settings = Settings.of(**load_preset(f"dcase2024-task4-{part}"))
        sides = _of_part(inputs, settings, part)
        durations = inputs.durations
        if durations is not None:
            durations = {name: durations[name] for name in sides[0].files if name in durations}
        scores = score_shard(count_rows(*sides, settings, durations), "")
        numbers |= {name: scores[score] for name, score in names.items()}
    ranked = numbers["psds1"], numbers["segment_mpauc"]
    total = None if None in ranked else sum(value for value in ranked if value is not None)
    return {"psds1 + segment_mpauc": total, **numbers}


def _of_part(inputs: Inputs, settings: Settings, part: str) -> tuple[EventTable, EventTable]:
    """Return both tables of the files of a data set."""
    active = _active(inputs.reference, settings)
    files = set(compress(inputs.reference.files, active))
    if not files:
        raise SettingsError(
            f"no file of the reference has an event of a class of {part.upper()}; expected one table of both "
            "data sets. --preset dcase2024-task4-desed and dcase2024-task4-maestro score them one by one"
        )
    system = inputs.system.only_files(np.array([name in files for name in inputs.system.files], dtype=bool))
    return inputs.reference.only_files(active), system


def _active(reference: EventTable, settings: Settings) -> Bools:
    """Return which files have an event of the classes that are evaluated, (n_files,)."""
    row, label = reference.active(settings.threshold, inclusive=False)
    evaluated = np.array([name in (settings.classes or ()) for name in reference.classes], dtype=bool)
    files = np.zeros(len(reference.files), dtype=bool)
    files[reference.file[row[evaluated[label]]]] = True
    return files


PUBLISHED = {
    "dcase2024-task4": Published(
        name="dcase2024-task4",
        title="DCASE 2024 task 4, PSDS 1 on DESED and mean partial AUC on MAESTRO",
        project="DCASE-REPO/DESED_task",
        version="c6bcb45b8b986ccde5c56bb86eefaf9d19b2320c",
        script="recipes/dcase2024_task4_baseline/local/sed_trainer_pretrained.py",
        ranking="psds1 + segment_mpauc",
        compute=compute,
        same={"psds1": "intersection.hard.psds", "segment_mpauc": "segment.hard.partial_auc.macro"},
    )
}
