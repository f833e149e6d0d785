"""Writes tests/data/published/dcase2024.json: numbers of the baseline of DCASE 2024 task 4. Not a test.

    python tests/apps/published/make_dcase2024.py

with sed_scores_eval 0.0.4, which `recipes/dcase2024_task4_baseline/local/sed_trainer_pretrained.py` of
https://github.com/DCASE-REPO/DESED_task at commit c6bcb45b calls; it is called here as it is there, for the
files with an event, and MAESTRO's labels above 0.5. PSDS is computed of the first cases only.
"""

import numpy as np
from made_numbers import STOPS, make
from random_tables import Draws, Options, random_cases

COMMIT = "c6bcb45b8b986ccde5c56bb86eefaf9d19b2320c"
SEED, COUNT, PSDS = "dcase2024", 3_000, 400
DESED = ["Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying",
         "Running_water", "Speech", "Vacuum_cleaner"]  # fmt: skip
MAESTRO = ["birds_singing", "car", "people talking", "footsteps", "children voices", "wind_blowing",
           "brakes_squeaking", "large_vehicle", "cutlery and dishes", "metro approaching",
           "metro leaving"]  # fmt: skip
TABLES = {"files": 3, "events": 12, "grids": [1], "length": 20, "apart": True, "repeated": 0}
"""Of DESED; those of MAESTRO have its classes. The grid is of seconds in both."""


def joined(events):
    """Return events (onset, offset, class) with those of a class that touch as one."""
    result = []
    for onset, offset, label in sorted(events, key=lambda event: (event[2], event)):
        if result and result[-1][2] == label and onset <= result[-1][1]:
            result[-1] = (result[-1][0], max(offset, result[-1][1]), label)
        else:
            result.append((onset, offset, label))
    return result


def tables_of(seed, number):
    """Return by data set the events by file, and the scores by file, (20, 21); scores of MAESTRO may tie."""
    sides = {}
    draws = Draws(f"scores {seed} {number}")
    for part, classes in (("desed", DESED), ("maestro", MAESTRO)):
        options = Options(**{**TABLES, "classes": tuple(classes)})
        (case,) = random_cases(f"{seed} {part}", number + 1, options, number)
        events = {f"{part}_{name}": [] for name in case.files}
        for row in case.reference:
            events[f"{part}_{row.file}"].append((row.onset, row.offset, row.label))
        if number % 10:
            # Without an event of each class sed_scores_eval stops.
            events[f"{part}_all"] = [(float(k), float(k + 2), label) for k, label in enumerate(classes)]
        events = {name: joined(rows) for name, rows in events.items()}
        scores = {}
        for name, rows in events.items():
            values = np.array([[draws.below(1 << 30) for _ in range(21)] for _ in range(20)]) / (1 << 31)
            for onset, offset, label in rows:
                values[int(onset) : int(offset), (DESED + MAESTRO).index(label)] += draws.below(5) / 10
            scores[name] = np.round(values, 1) if part == "maestro" and number % 2 else values
        sides[part] = (events, scores)
    return sides


def scored(number, psds):
    """Return areas of a case; its PSDS, of one of the first cases, is added to a list."""
    from sed_scores_eval import intersection_based, segment_based
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    arguments = {}
    for part, (known, scores) in tables_of(SEED, number).items():
        events = {name: rows for name, rows in known.items() if rows}
        classes = sorted(DESED if part == "desed" else MAESTRO)
        columns = [(DESED + MAESTRO).index(label) for label in classes]
        frames = {
            name: create_score_dataframe(scores[name][:, columns], np.arange(21.0), classes)
            for name in events
        }
        arguments[part] = {
            "scores": frames,
            "ground_truth": events,
            "audio_durations": dict.fromkeys(events, 20.0),
        }
    found = [
        {row[2] for rows in each["ground_truth"].values() for row in rows} for each in arguments.values()
    ]
    stops, value = (len(found[0]), len(found[1])) != (len(DESED), len(MAESTRO)), np.nan
    if number < PSDS and not stops:
        criteria = {"dtc_threshold": 0.7, "gtc_threshold": 0.7, "cttc_threshold": None}
        weights = {"alpha_ct": 0, "alpha_st": 1, "max_efpr": 100}
        value = intersection_based.psds(**arguments["desed"], **criteria, **weights, num_jobs=1)[0]
    psds += [None if np.isnan(value) else float(value)] * (number < PSDS)
    areas = arguments["maestro"]
    return STOPS if stops else {
        "segment_mpauc": segment_based.auroc(**areas, segment_length=1.0, max_fpr=0.1)[0]["mean"],
        "segment_mauc": segment_based.auroc(**areas, segment_length=1.0)[0]["mean"],
    }  # fmt: skip


if __name__ == "__main__":
    found = []
    make(
        lambda number, _: scored(number, found), range(COUNT), "DCASE-REPO/DESED_task", COMMIT,
        ["numpy", "sed_scores_eval"], seed=SEED, tables=TABLES, options=[{}], psds1=found,
    )  # fmt: skip
