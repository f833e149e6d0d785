"""Regions of some classes: each class as if it were evaluated alone, in its own regions."""

from __future__ import annotations

import random

import numpy as np
import pytest
from called import REFERENCE, SYSTEM, call
from tables import wide_rows

from sedeval_soft import SettingsError, evaluate

LABELS = ("car", "dog", "cat")


def rows(rng, n):
    table = {name: [] for name in ("filename", "onset", "offset", "event_label", "value")}
    for _ in range(n):
        onset = rng.randrange(28) / 10
        row = (
            rng.choice("ab"),
            onset,
            onset + rng.randrange(1, 9) / 10,
            rng.choice(LABELS),
            rng.choice((0.4, 0.7, 1.0)),
        )
        for column, cell in zip(table.values(), row, strict=True):
            column.append(cell)
    return table


@pytest.mark.parametrize("seed", range(6))
def test_a_class_scores_as_it_does_alone_in_its_regions(seed):
    rng = random.Random(seed)  # noqa: S311
    reference, system = rows(rng, 12), rows(rng, 14)
    regions = {"a": [[0, 3.7]], "b": [[0, 3.7, "cat"]]}
    for label in LABELS[:2]:
        for file in "ab":
            begin = rng.randrange(30) / 10
            regions[file].append([begin, begin + rng.randrange(1, 20) / 10, label])
    asked = {"only": ["segment", "event", "intersection"], "classes": LABELS, "segment_length": 0.1}
    if seed % 2:
        regions["a"] = regions["a"][1:]
    found = evaluate(reference, system, regions=regions, **asked)
    compared = 0
    for label in LABELS:
        own = {
            file: [each[:2] for each in of if label in each[2:] or not each[2:]]
            for file, of in regions.items()
        }
        own = {file: of for file, of in own.items() if of}
        alone = evaluate(reference, system, regions=own, **asked)
        for name, value in alone.items():
            measure = name.split(".")[2].partition("[")[0]
            if f"[{label}]" in name and measure not in WITH_SILENCE:
                assert found[name] == pytest.approx(value, abs=1e-12), name
                compared += 1
    assert compared > 100


WITH_SILENCE = {
    "tn", "accuracy", "balanced_accuracy", "specificity", "npv", "kl_divergence", "mcc",
}  # fmt: skip
"""Measures of all time: a class that was looked for in some of it has no true negatives."""


def test_a_table_says_which_classes_were_looked_for(tmp_path):
    # Only dog was looked for in a: its car is nothing that a system must find, nor is one a false alarm.
    for name, text in {
        "ref.tsv": "a\t0\t2\tdog\na\t5\t6\tcar\nb\t0\t1\tcar\n",
        "sys.tsv": "a\t0\t2\tdog\na\t1\t3\tcar\nb\t0\t1\tcar\nb\t0\t4\tdog\n",
        "weak.tsv": "filename\tevent_labels\na\tdog\nb\tcar,cow\n",
        "strong.tsv": "filename\tonset\toffset\tevent_label\na\t0\t9\tdog\nb\t0\t9\tcar\n",
        "more.tsv": "filename\tonset\toffset\tnote\na\t0\t9\tdog\n",
    }.items():
        head = (
            "" if name in ("weak.tsv", "strong.tsv", "more.tsv") else "filename\tonset\toffset\tevent_label\n"
        )
        (tmp_path / name).write_text(head + text)
    sides = tmp_path / "ref.tsv", tmp_path / "sys.tsv"
    for name in ("weak.tsv", "strong.tsv"):
        for score in ("event.hard.f1.macro", "segment.hard.f1.macro", "clip.hard.f1.macro"):
            asked = ("--regions", tmp_path / name, "--score", score)
            assert float(call(*sides, *asked).out) == 1.0, (name, score)
    assert evaluate(*sides)["event.hard.f1.macro"] < 1
    frame = {"filename": ["a", "b"], "onset": [0, 0], "offset": [9, 9], "event_label": ["dog", "car"]}
    assert evaluate(*sides, regions=frame)["event.hard.f1.micro"] == 1.0
    refused = call(*sides, "--regions", tmp_path / "more.tsv")
    assert refused.code == 2 and ":1:4: column 'note' cannot be in a table of regions" in refused.err


def test_values_in_columns_are_cut_by_class():
    reference = wide_rows(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    system = wide_rows(np.array([[1.0, 0.9], [0.0, 0.0], [0.9, 1.0]]))
    first, second = reference.classes
    file = reference.files[0]
    found = evaluate(
        reference, system, regions={file: [[0, 1, first], [2, 3, second]]}, segment_length=1.0, only="segment"
    )
    assert found[f"segment.hard.f1[{first}]"] == found[f"segment.hard.f1[{second}]"] == 1.0
    assert found["segment.soft.f1.micro"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "asked", [{"region_edges": "onset"}, {"pool": "mean"}, {"only": "ranking"}, {"measures": "curves"}]
)
def test_what_looks_at_all_classes_or_at_silence_is_refused(asked):
    with pytest.raises(SettingsError, match="regions of some classes"):
        evaluate(REFERENCE, SYSTEM, regions={"cafe.wav": [[0, 9, "speech"]]}, **asked)
