"""The tables that both trees are run on, all small: the sample, noise of every shape, every form."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

FORMS = dict(
    line.split()
    for line in (
        *("long long.tsv", "csv long.csv", "wide wide.tsv", "wide-csv wide.csv", "sed-eval sed_eval.txt"),
        *(
            "maestro maestro/",
            "score-dir scores/",
            "parquet table.parquet",
            "arrow table.arrow",
        ),
        *(
            "jsonl table.jsonl",
            "rttm table.rttm",
            "audacity audacity/",
        ),
    )
)
"""What `convert --to` writes, and where."""

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
"""Classes of the tables with noise, by the names of the tables."""

HEADER = ("filename", "onset", "offset", "event_label", "value")


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write a table separated by tabs."""
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [header, *rows]))


def make(folder: Path, tree: Path, side: Callable[[Path], Any]) -> None:
    """Write all inputs into a new folder. side: the process that converts tables, for a folder."""
    folder.mkdir()
    for path in (tree / "sample_data").glob("*.tsv"):
        shutil.copy(path, folder)
    for name in ("samples", "documents", "dialects"):
        shutil.copytree(tree / "tests" / "tables" / name, folder / name)
    for name, labels in CHALLENGES.items():
        noise(folder, name, labels, np.random.default_rng(len(name)))
    frames(folder, np.random.default_rng(7))
    derived(folder, np.random.default_rng(3))
    forms(folder, side(folder))


def noise(folder: Path, name: str, labels: Sequence[str], random: np.random.Generator) -> None:
    """Write rows of two sides that overlap, in no order, with values; and half of them without values."""
    files = [f"{'ab'[number % 2]}/f{number}.wav" for number in range(5)]
    for role in ("ref", "sys"):
        rows = []
        for _ in range(120):
            onset = random.uniform(0, 28)
            times = f"{onset:.3f}", f"{min(30.0, onset + 0.1 + random.exponential(1.5)):.3f}"
            file, label = files[random.integers(5)], labels[random.integers(len(labels))]
            rows.append([file, *times, label, f"{random.uniform():.3f}"])
        # One event of each class in each file is found by both sides, near enough.
        shift = 0.0 if role == "ref" else 0.07
        rows += [[file, 28.4 + shift, 29.5 + shift, label, 0.9] for file in files for label in labels]
        write(folder / f"{name}_{role}.tsv", HEADER, rows)
        write(folder / f"{name}_{role}_events.tsv", HEADER[:4], [row[:4] for row in rows[::2]])
    write(folder / f"{name}_durations.tsv", ("filename", "duration"), [(file, 30) for file in files])


def frames(folder: Path, random: np.random.Generator) -> None:
    """Write frames of 0.2 s: of both sides, wide, with values of two digits, so that many are equal."""
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
        answers = []
        for number in range(6):
            span = {"start": number, "end": round(number + 1 + random.uniform(0, 9), 2)}
            text = "[]" if number == (4 if role == "ref" else 5) else json.dumps([span])
            answers.append({"id": f"q{number}", "audio": "a.wav", "query": "dog", "answer": text})
        (folder / f"answers_{role}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answers))
    lines = [{"labels": f"00:0{number}-00:09", "response": f"00:0{9 - number}-00:12"} for number in range(9)]
    (folder / "script.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def derived(folder: Path, random: np.random.Generator) -> None:
    """Write shards, points, lists, empty sides, annotators and bad tables, made of the tables with noise."""
    rows = [line.split("\t") for line in (folder / "plain_sys.tsv").read_text().splitlines()[1:]]
    for role in ("ref", "sys"):
        header, *lines = (folder / f"plain_{role}.tsv").read_text().splitlines()
        (folder / f"shards_{role}").mkdir()
        for shard in "ab":
            text = "\n".join([header, *(line for line in lines if line.startswith(shard))]) + "\n"
            (folder / f"shards_{role}" / f"{shard}.tsv").write_text(text)
    (folder / "points").mkdir()
    for threshold in (0.2, 0.5, 0.8):
        chosen = [row[:4] for row in rows if float(row[4]) > threshold]
        write(folder / "points" / f"out_{threshold}.tsv", HEADER[:4], chosen)
    files = sorted({row[0] for row in rows})
    regions = [(file, start, start + 8.5) for file in files[:4] for start in (1, 15)]
    write(folder / "regions.tsv", HEADER[:3], regions)
    write(folder / "folds.tsv", ("filename", "fold"), [(file, f"fold{file[3]}") for file in files])
    (folder / "files.txt").write_text("\n".join(files[:3]) + "\n")
    write(folder / "one_side.tsv", HEADER, [[row[0].replace("f1", "new"), *row[1:]] for row in rows])
    beyond = [[files[0], 40, 45, "dog", 0.8], [files[1], 31, 33, "car", 1]]
    write(folder / "beyond.tsv", HEADER, [*rows, *beyond])
    others = [[*row[:3], row[3].replace("dog", "cat"), row[4]] for row in rows]
    write(folder / "other_classes.tsv", HEADER, others)
    write(folder / "silent.tsv", HEADER, [])
    write(folder / "declared.tsv", HEADER[:4], [(file, "", "", "") for file in files])
    write(folder / "bad.tsv", HEADER[:4], [("cafe.wav", 3.5, 2.0, "car"), ("cafe.wav", "x", 2.0, "car")])
    write(folder / "percent.tsv", HEADER, [[*row[:4], float(row[4]) * 100] for row in rows])
    header, *events = (line.split("\t") for line in (folder / "events.tsv").read_text().splitlines())
    for number in range(4):
        write(folder / f"annotator{number}.tsv", header, [row for row in events if random.uniform() > 0.2])
    (folder / "submissions").mkdir()
    for name in ("sys.tsv", "sys_b.tsv", "bad.tsv"):
        shutil.copy(folder / name, folder / "submissions")
    (folder / "settings.yaml").write_text(
        "segment_length: 0.5\nthreshold: 0.4\nonly: [segment, event.soft]\n"
        "groups:\n  people: [footsteps, people talking, children voices]\n"
    )


def forms(folder: Path, side: Any) -> None:
    """Write the sample in every form that the earlier tree writes."""
    (folder / "forms").mkdir()
    for form, name in FORMS.items():
        for role in ("ref", "sys"):
            made = side.run(f"convert {role}.tsv forms/{role}_{name} --to {form}", "made")
            if made.codes != [0]:
                raise SystemExit(f"{form}: {made.written['stderr'].decode()}")
    for archive, extension in (("zip", "zip"), ("gztar", "tar.gz")):
        scores = folder / "forms" / "sys_scores"
        shutil.make_archive(str(folder / "forms" / f"sys_{extension[:3]}"), archive, scores)
    side.process.communicate()
