"""The tables that both trees are run on: the sample, MAESTRO, DCASE 2019, and tables of every form."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np

FORMS = {
    "long": "long.tsv",
    "csv": "long.csv",
    "wide": "wide.tsv",
    "wide-csv": "wide.csv",
    "sed-eval": "sed_eval.txt",
    "maestro": "maestro/",
    "score-dir": "scores/",
    "parquet": "table.parquet",
    "arrow": "table.arrow",
    "arrow-stream": "table.arrows",
    "jsonl": "table.jsonl",
    "jams": "jams/",
    "rttm": "table.rttm",
    "elan": "elan/",
    "audacity": "audacity/",
}
"""What `convert --to` writes, and where."""

Run = Callable[[list[str], Path], subprocess.CompletedProcess[bytes]]


def make(folder: Path, sample: Path, shared: Path | None, run: Run) -> None:
    """Write all inputs below a folder; run: calls the command of the earlier tree in a folder."""
    folder.mkdir(parents=True)
    for path in sample.glob("*.tsv"):
        shutil.copy(path, folder)
    _forms(folder, run)
    _generated(folder)
    _annotators(folder)
    _submissions(folder)
    _settings(folder)
    if shared is not None:
        _maestro(folder, shared / "maestro", run)
        _dcase2019(folder, shared / "dcase2019_task4")


def _forms(folder: Path, run: Run) -> None:
    (folder / "forms").mkdir()
    for form, name in FORMS.items():
        for role in ("ref", "sys"):
            target = f"forms/{role}_{name}"
            made = run(["convert", f"{role}.tsv", target, "--to", form, "--quiet"], folder)
            if made.returncode:
                raise SystemExit(f"{form}: {made.stderr.decode()}")
    shutil.make_archive(str(folder / "forms" / "sys_scores"), "zip", folder / "forms" / "sys_scores")
    shutil.make_archive(str(folder / "forms" / "sys_scores_tar"), "gztar", folder / "forms" / "sys_scores")


def _generated(folder: Path) -> None:
    """Write noise: wide frames, overlapping rows in no order, shards, and events of three thresholds."""
    random = np.random.default_rng(7)
    labels = ["alarm", "dog", "speech", "two words"]
    for role in ("frames_ref", "frames_sys"):
        lines = ["filename\tonset\toffset\t" + "\t".join(labels)]
        for file in range(6):
            for step in range(150):
                values = "\t".join(f"{value:.3f}" for value in random.beta(0.4, 0.8, len(labels)))
                lines.append(f"f{file}.wav\t{step * 0.2:.1f}\t{(step + 1) * 0.2:.1f}\t{values}")
        (folder / f"{role}.tsv").write_text("\n".join(lines) + "\n")
    for role in ("rows_ref", "rows_sys"):
        (folder / f"{role}_shards").mkdir()
        lines = []
        for _ in range(800):
            onset = random.uniform(0, 60)
            offset = min(60.0, onset + random.exponential(3))
            row = (random.integers(9), onset, offset, labels[random.integers(4)], random.uniform())
            lines.append("f{}.wav\t{:.3f}\t{:.3f}\t{}\t{:.4f}".format(*row))
        header = "filename\tonset\toffset\tevent_label\tvalue"
        (folder / f"{role}.tsv").write_text("\n".join([header, *lines]) + "\n")
        for shard in range(4):
            text = "\n".join([header, *lines[shard::4]]) + "\n"
            (folder / f"{role}_shards" / f"{shard}.tsv").write_text(text)
    lengths = "".join(f"f{file}.wav\t60\n" for file in range(9))
    (folder / "rows_durations.tsv").write_text("filename\tduration\n" + lengths)
    scenes = "".join(f"f{file}.wav\tscene{file % 3}\n" for file in range(9))
    (folder / "rows_folds.tsv").write_text("filename\tfold\n" + scenes)
    rows = [line.split("\t") for line in (folder / "rows_sys.tsv").read_text().splitlines()[1:]]
    for threshold in (0.2, 0.5, 0.8):
        text = "".join("\t".join(row[:4]) + "\n" for row in rows if float(row[4]) > threshold)
        (folder / f"point_{threshold}.tsv").write_text("filename\tonset\toffset\tevent_label\n" + text)
    events = "".join("\t".join(row[:4]) + "\n" for row in rows[::5])
    (folder / "hard_sys.tsv").write_text("filename\tonset\toffset\tevent_label\n" + events)
    (folder / "silent.tsv").write_text("filename\tonset\toffset\tevent_label\tvalue\n")
    (folder / "bad.tsv").write_text("filename\tonset\toffset\tevent_label\na.wav\t3.5\t2.0\tcar\n")
    (folder / "headless.tsv").write_text("0.0\t1.5\tcar\n2.0\t3.0\tdog\n")


def _annotators(folder: Path) -> None:
    random = np.random.default_rng(3)
    rows = (folder / "events.tsv").read_text().splitlines()
    for annotator in range(4):
        chosen = [row for row in rows[1:] if random.uniform() > 0.2]
        (folder / f"annotator{annotator}.tsv").write_text("\n".join([rows[0], *chosen]) + "\n")


def _submissions(folder: Path) -> None:
    (folder / "submissions").mkdir()
    for name in ("sys.tsv", "sys_b.tsv", "bad.tsv"):
        shutil.copy(folder / name, folder / "submissions")


def _settings(folder: Path) -> None:
    (folder / "settings.yaml").write_text(
        "segment_length: 0.5\nthreshold: 0.4\nonly: [segment, event.soft]\n"
        "groups:\n  people: [footsteps, people talking, children voices]\n"
    )


def _maestro(folder: Path, data: Path, run: Run) -> None:
    """Link MAESTRO's reference and write a system that knows it but for noise."""
    (folder / "maestro_ref.csv").symlink_to(data / "soft_gt_dev.csv")
    call = [
        "simulate",
        "perturb",
        "maestro_ref.csv",
        "--noise",
        "0.15",
        "--seed",
        "1",
        "-o",
        "maestro_sys.tsv",
    ]
    made = run(call, folder)
    if made.returncode:
        raise SystemExit(made.stderr.decode())
    lines = ["filename\tfold"]
    for fold in range(1, 6):
        names = (data / "development_folds" / f"fold{fold}_test.csv").read_text().splitlines()
        lines += [f"{row.split(chr(47))[-1]}.wav\tfold{fold}" for row in names[1:]]
    (folder / "maestro_folds.tsv").write_text("\n".join(dict.fromkeys(lines)) + "\n")


def _dcase2019(folder: Path, data: Path) -> None:
    for path in data.glob("*.csv"):
        (folder / path.name).symlink_to(path)
    # The metadata name a file once for each of its events.
    lines = (data / "dcase2019t4_meta.csv").read_text().splitlines()
    (folder / "dcase2019_durations.tsv").write_text("\n".join(dict.fromkeys(lines)) + "\n")
