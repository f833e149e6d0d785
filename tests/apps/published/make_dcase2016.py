"""Writes tests/data/published/dcase2016.json: numbers of the baseline of DCASE 2016 task 3. Not a test.

    python tests/apps/published/make_dcase2016.py DCASE2016-baseline-system-python

with a checkout of https://github.com/TUT-ARG/DCASE2016-baseline-system-python at commit 8e311066, and numpy
and scikit-learn, which it imports. Its `src/evaluation.py` is of Python 2: the example at its end, which
prints, is cut off, and `numpy.negative` of truth values, which numpy refuses since 1.13, is `logical_not`, as
it was. The rest runs as it is. What the task's script does around it is done here: file by file, a metric for
each scene with the labels of the scene, and the averages that it prints.
"""

import platform
import sys
import types
import warnings
from pathlib import Path

import numpy as np
from golden_numbers import STOPS, write_numbers
from random_tables import Options, random_cases

COMMIT = "8e311066e3b670c52f4fcfe2a7060c18c9969cf8"
SEED, COUNT = "dcase2016", 12_000
TABLES = {"shortest": 0, "alone": 0.08, "repeated": 0.15, "least": 1}
OPTIONS = [
    {},
    {"scenes": "folder"},
    {"use_offset_condition": 1.0},
    {"time_resolution": 0.5, "t_collar": 0.1},
    {"time_resolution": 0.1, "t_collar": 0.25, "use_offset_condition": 1.0, "scenes": "folder"},
]
"""Of the cases in turn."""


def oracle(folder):
    """Return the module of the baseline that scores."""
    source = (Path(folder) / "src" / "evaluation.py").read_text()
    source = source[: source.index("def main(argv)")].replace("numpy.negative(", "numpy.logical_not(")
    module = types.ModuleType("evaluation")
    exec(compile(source, "evaluation.py", "exec"), module.__dict__)  # noqa: S102 - what it is for
    return module


def events(rows, name):
    """Return the rows of a file as the script reads them."""
    return [
        {"event_onset": row.onset, "event_offset": row.offset, "event_label": row.label}
        for row in rows
        if row.file == name
    ]


def scored(module, case, options):
    """Return what the script prints, by the words it prints."""
    by_scene = {}
    for name in dict.fromkeys(row.file for row in case.reference):
        by_scene.setdefault(name.split("/")[0] if options.get("scenes") else "", []).append(name)
    lines, parts = {}, {}
    for scene, names in sorted(by_scene.items()):
        labels = sorted({row.label for row in case.reference if row.file in names})
        segment = module.DCASE2016_EventDetection_SegmentBasedMetrics(
            class_list=labels, time_resolution=options.get("time_resolution", 1.0)
        )
        event = module.DCASE2016_EventDetection_EventBasedMetrics(
            class_list=labels,
            t_collar=options.get("t_collar", 0.2),
            use_onset_condition=True,
            use_offset_condition=bool(options.get("use_offset_condition", 0.0)),
        )
        for name in names:
            for metric in (segment, event):
                metric.evaluate(events(case.reference, name), events(case.system, name))
        segment, event = segment.results(), event.results()
        line = {"Main ER": segment["overall"]["ER"], "Seg/Overall F1": segment["overall"]["F"]}
        line["Seg/Overall ER"] = segment["overall"]["ER"]
        line.update(("Seg/Overall ER/" + key, segment["overall"][key]) for key in "SDI")
        line["Seg/Class F1"] = segment["class_wise_average"]["F"]
        line["Seg/Class ER"] = segment["class_wise_average"]["ER"]
        line["Event/Overall F1"] = event["overall"]["F"]
        line["Event/Overall ER"] = event["overall"]["ER"]
        line.update(("Event/Overall ER/" + key, event["overall"][key]) for key in "SDI")
        line["Event/Class F1"] = event["class_wise_average"]["F"]
        line["Event/Class ER"] = event["class_wise_average"]["ER"]
        prefix = scene + " " if scene else ""
        lines[prefix] = line
        for label in labels:
            for basis, results in (("Segment-based", segment), ("Event-based", event)):
                found = results["class_wise"][label]
                start = f"{prefix}{label} {basis} "
                parts[start + "Nref"], parts[start + "Nsys"] = int(found["Nref"]), int(found["Nsys"])
                parts[start + "F1"], parts[start + "ER"] = found["F"], found["ER"]
    numbers = {prefix + name: value for prefix, line in lines.items() for name, value in line.items()}
    for name in next(iter(lines.values())):
        if "ER/" not in name:
            numbers["Average " + name] = np.mean([line[name] for line in lines.values()])
    return {**numbers, **parts}


def main():
    """Write the file."""
    warnings.simplefilter("ignore")
    module = oracle(sys.argv[1])
    results = []
    for case in random_cases(SEED, COUNT, Options(**TABLES)):
        for rows in (case.reference, case.system):
            rows[:] = [row._replace(file=in_scene(row.file)) for row in rows]
        try:
            results.append(scored(module, case, OPTIONS[case.number % len(OPTIONS)]))
        except (ValueError, ZeroDivisionError, StopIteration):
            results.append(STOPS)
    about = {
        "made_by": "tests/apps/published/make_dcase2016.py",
        "repository": "TUT-ARG/DCASE2016-baseline-system-python",
        "commit": COMMIT,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "seed": SEED,
        "tables": TABLES,
        "options": OPTIONS,
    }
    write_numbers("dcase2016.json", about, results)


def in_scene(name):
    """Return a file's name in the folder of its scene; file0 and file2 are of one."""
    return ("street/" if name[4] in "13" else "home/") + name


if __name__ == "__main__":
    main()
