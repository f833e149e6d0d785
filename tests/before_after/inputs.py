"""The tables for both trees, all small: the sample, noise of every shape, every format."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FORMS = {
    "long": "long.tsv",
    "csv": "long.csv",
    "wide": "wide.tsv",
    "wide-csv": "wide.csv",
    "sed-eval": "sed_eval.txt",
    "maestro": "maestro/",
    "score-dir": "scores/",
    "audacity": "audacity/",
    "parquet": "table.parquet",
    "arrow": "table.arrow",
    "jsonl": "table.jsonl",
    "rttm": "table.rttm",
}
"""The formats of `convert --to`, and the name of the file or folder for each."""

DESED = [
    *("Alarm_bell_ringing", "Blender", "Cat", "Dishes", "Dog", "Electric_shaver_toothbrush", "Frying"),
    *("Running_water", "Speech", "Vacuum_cleaner"),
]
MAESTRO = [
    *("birds_singing", "car", "people talking", "footsteps", "children voices", "wind_blowing"),
    *("brakes_squeaking", "large_vehicle", "cutlery and dishes", "metro approaching", "metro leaving"),
]
CHALLENGES = {
    "plain": ["car", "dog", "speech", "two words"],
    "maestro": MAESTRO[:4],
    "desed": DESED[:4],
    "whales": ["bmabz", "d", "bp"],
    "calls": ["bma", "bmb", "bmd", "bp20"],
    "shots": ["Q", "UNK"],
    "voice": ["speech"],
    "both": [*DESED, *MAESTRO],
}
"""The classes of the tables with noise, by the name of the table."""

HEADER = ("filename", "onset", "offset", "event_label", "value")


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table separated by tabs; make its folder if there is none."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [header, *rows]))


def write_objects(path: Path, objects: Sequence[dict[str, Any]]) -> None:
    """Write a line of JSON for each object."""
    path.write_text("".join(json.dumps(each) + "\n" for each in objects))


def rows_of(path: Path) -> list[list[str]]:
    """Return the rows of a table without its header."""
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def make(folder: Path, tree: Path, side: Callable[[Path], Any]) -> None:
    """Write all inputs into a new folder. side: makes the process that converts tables in a folder."""
    shutil.copytree(tree / "sample_data", folder)
    for name in ("samples", "documents", "dialects"):
        shutil.copytree(tree / "tests" / "tables" / name, folder / name)
    for name, labels in CHALLENGES.items():
        noise(folder, name, labels, np.random.default_rng(len(name)))
    frames(folder, np.random.default_rng(7))
    derived(folder, np.random.default_rng(3))
    forms(folder, side(folder))


def noise(folder: Path, name: str, labels: Sequence[str], random: np.random.Generator) -> None:
    """Write overlapping rows of two sides, unsorted, with values; and half of them without values."""
    files = [f"{'ab'[number % 2]}/f{number}.wav" for number in range(5)]
    for role in ("ref", "sys"):
        rows = []
        for _ in range(120):
            onset = random.uniform(0, 28)
            times = f"{onset:.3f}", f"{min(30.0, onset + 0.1 + random.exponential(1.5)):.3f}"
            file, label = files[random.integers(5)], labels[random.integers(len(labels))]
            rows.append([file, *times, label, f"{random.uniform():.3f}"])
        # Both sides have one event of each class in each file, at nearly the same time.
        shift = 0.0 if role == "ref" else 0.07
        rows += [[file, 28.4 + shift, 29.5 + shift, label, 0.9] for file in files for label in labels]
        write(folder / f"{name}_{role}.tsv", HEADER, rows)
        write(folder / f"{name}_{role}_events.tsv", HEADER[:4], [row[:4] for row in rows[::2]])
    write(folder / f"{name}_durations.tsv", ("filename", "duration"), [(file, 30) for file in files])


def frames(folder: Path, random: np.random.Generator) -> None:
    """Write wide tables of frames of 0.2 s for both sides; values have two digits, so many are equal."""
    labels = CHALLENGES["maestro"]
    truth = random.beta(0.4, 0.8, (4, 60, len(labels)))
    for role in ("ref", "sys"):
        seen = truth if role == "ref" else np.clip(truth + random.normal(0, 0.25, truth.shape), 0, 1)
        rows = [
            [f"f{file}.wav", *(f"{number * 0.2:.1f}" for number in (step, step + 1)), *np.round(values, 2)]
            for file, steps in enumerate(seen)
            for step, values in enumerate(steps)
        ]
        write(folder / f"frames_{role}.tsv", [*HEADER[:3], *labels], rows)
        np.savez(folder / f"frames_{role}.npz", **{f"f{file}": steps for file, steps in enumerate(seen)})
        silent = 4 if role == "ref" else 5
        spans = [{"start": k, "end": round(k + 1 + random.uniform(0, 9), 2)} for k in range(6)]
        answers = [
            {"id": f"q{k}", "audio": "a.wav", "query": "dog", "answer": json.dumps([span] * (k != silent))}
            for k, span in enumerate(spans)
        ]
        write_objects(folder / f"answers_{role}.jsonl", answers)
    lines = [{"labels": f"00:0{number}-00:09", "response": f"00:0{9 - number}-00:12"} for number in range(9)]
    write_objects(folder / "script.jsonl", lines)


def derived(folder: Path, random: np.random.Generator) -> None:
    """Write shards, points, lists, empty sides, annotators and bad tables, made of the tables with noise."""
    sides = {name: rows_of(folder / f"plain_{name}.tsv") for name in ("ref", "sys")}
    rows, events = sides["sys"], rows_of(folder / "events.tsv")
    files = sorted({row[0] for row in rows})
    beyond = [[files[0], 40, 45, "dog", 0.8], [files[1], 31, 33, "car", 1]]
    bad = [("cafe.wav", 3.5, 2.0, "car"), ("cafe.wav", "x", 2.0, "car")]
    tables = {
        **{
            f"shards_{name}/{shard}": (HEADER, [row for row in side if row[0].startswith(shard)])
            for name, side in sides.items()
            for shard in "ab"
        },
        **{
            f"points/out_{threshold}": (HEADER[:4], [row[:4] for row in rows if float(row[4]) > threshold])
            for threshold in (0.2, 0.5, 0.8)
        },
        "regions": (HEADER[:3], [(file, start, start + 8.5) for file in files[:4] for start in (1, 15)]),
        "folds": (("filename", "fold"), [(file, f"fold{file[3]}") for file in files]),
        "one_side": (HEADER, [[row[0].replace("f1", "new"), *row[1:]] for row in rows]),
        "beyond": (HEADER, [*rows, *beyond]),
        "other_classes": (HEADER, [[*row[:3], row[3].replace("dog", "cat"), row[4]] for row in rows]),
        "silent": (HEADER, []),
        "declared": (HEADER[:4], [(file, "", "", "") for file in files]),
        "percent": (HEADER, [[*row[:4], float(row[4]) * 100] for row in rows]),
        **dict.fromkeys(("bad", "submissions/bad"), (HEADER[:4], bad)),
        **{
            f"annotator{number}": (HEADER[:4], [row for row in events if random.uniform() > 0.2])
            for number in range(4)
        },
    }
    for name, (header, lines) in tables.items():
        write(folder / f"{name}.tsv", header, lines)
    for name in ("sys.tsv", "sys_b.tsv"):
        shutil.copy(folder / name, folder / "submissions")
    (folder / "files.txt").write_text("\n".join(files[:3]) + "\n")
    (folder / "settings.yaml").write_text(
        "segment_length: 0.5\nthreshold: 0.4\nonly: [segment, event.soft]\n"
        "groups:\n  people: [footsteps, people talking, children voices]\n"
    )


def forms(folder: Path, side: Any) -> None:
    """Write the sample in every format that the earlier tree writes."""
    (folder / "forms").mkdir()
    for form, name in FORMS.items():
        for role in ("ref", "sys"):
            codes, written = side.run(f"convert {role}.tsv forms/{role}_{name} --to {form}", "made")
            assert codes == [0], f"{form}: {written['stderr'].decode()}"
    for archive, extension in (("zip", "zip"), ("gztar", "tar.gz")):
        scores = folder / "forms" / "sys_scores"
        shutil.make_archive(str(folder / "forms" / f"sys_{extension[:3]}"), archive, scores)
    side.process.communicate()
