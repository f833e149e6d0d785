"""Writes tests/data/published/dcase2023.json: numbers of the baseline of DCASE 2023 task 4B. Not a test.

    python tests/apps/published/make_dcase2023.py dcase2023_task4b_baseline

with a checkout of https://github.com/marmoi/dcase2023_task4b_baseline at commit 1f9e1a04, and sed_eval 0.2.1
with dcase_util. Frames go through the baseline's `process_event` and sed_eval as in its `task4b.py`, the
files of a case as one fold; labels are put into frames as in its `extract_features.py`, which needs librosa.
The best macro F, which is sed_scores_eval's, is not among the numbers.
"""

import platform
import sys
import types
import warnings
from importlib.metadata import version

import numpy as np
from golden_numbers import write_numbers
from random_tables import Draws, Options, random_cases

COMMIT = "1f9e1a04d03ee17d4124b3e860867e6b0ae27662"
SEED, COUNT = "dcase2023", 10_000
CLASSES = ["birds_singing", "car", "metro leaving", "announcement"]
TABLES = {"files": 3, "events": 5, "grids": [1], "length": 20, "classes": CLASSES}
"""Labels are of whole seconds, as MAESTRO's."""


def frames_of(case):
    """Return the labels and the scores of a case: rows with values, and (n_frames, n_classes) by file."""
    draws = Draws(f"values {case.number}")
    labels = [row._replace(score=draws.below(11) / 10) for row in case.reference]
    frames = {}
    for name in dict.fromkeys(row.file for row in labels):
        near = np.zeros((draws.between(90, 100), len(CLASSES)))
        for row in case.system:
            if row.file == name:
                shift = draws.between(-3, 3)
                first, last = (max(0, int(time * 5) + shift) for time in (row.onset, row.offset))
                near[first:last, CLASSES.index(row.label)] = 0.5
        noise = [[draws.below(100) / 100 for _ in CLASSES] for _ in near]
        frames[name] = near + 0.55 * np.array(noise)
    return labels, frames


def main():
    """Write the file."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, sys.argv[1])
    for name in ("sed_scores_eval", "sed_scores_eval.segment_based"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["sed_scores_eval"].segment_based = sys.modules["sed_scores_eval.segment_based"]
    import config
    import evaluate
    import sed_eval

    hop = config.hop_size / config.sample_rate
    results = []
    for case in random_cases(SEED, COUNT, Options(**TABLES)):
        rows, frames = frames_of(case)
        if not frames:
            results.append({"stops": 1})
            continue
        label = [np.zeros((len(each), config.classes_num_soft)) for each in frames.values()]
        scores = [np.zeros_like(each) for each in label]
        for k, name in enumerate(frames):
            for column, each in enumerate(CLASSES):
                scores[k][:, config.class_labels_soft[each]] = frames[name][:, column]
            for row in rows:
                if row.file == name:
                    first = int(np.floor(row.onset * config.sample_rate / config.hop_size))
                    last = int(np.ceil(row.offset * config.sample_rate / config.hop_size))
                    label[k][first:last, config.class_labels_soft[row.label]] = row.score
        events = [
            evaluate.process_event(config.labels_soft, np.concatenate(side).T, config.posterior_thresh, hop)
            for side in (label, scores)
        ]
        metrics = sed_eval.sound_event.SegmentBasedMetrics(config.labels_hard, time_resolution=1.0)
        metrics.evaluate(reference_event_list=events[0], estimated_event_list=events[1])
        by_class = metrics.results_class_wise_metrics()
        values = [by_class[name]["f_measure"]["f_measure"] for name in by_class]
        results.append({
            "Micro ER": metrics.overall_error_rate()["error_rate"],
            "Micro F1": metrics.overall_f_measure()["f_measure"],
            "Macro F1": sum(np.nan_to_num(values)) / config.classes_num_hard,
        })  # fmt: skip
    about = {
        "made_by": "tests/apps/published/make_dcase2023.py",
        "repository": "marmoi/dcase2023_task4b_baseline",
        "commit": COMMIT,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "sed_eval", "dcase_util")},
        },
        "seed": SEED,
        "tables": TABLES,
        "options": [{}],
    }
    write_numbers("dcase2023.json", about, results)


if __name__ == "__main__":
    main()
