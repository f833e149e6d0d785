"""One law: tables counted in parts, by this process or others, are scored as tables in memory.

The same bytes, and where a table is wrong the same words.
"""

import gzip
import random
from pathlib import Path

import pytest
from parted import count_in_parts

from sedeval_soft import EvaluationError, InputError, Limits, Settings, __version__
from sedeval_soft.api.sources import sides_of
from sedeval_soft.evaluation.partition import Execute, processes
from sedeval_soft.evaluation.shard import count_rows
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.memory import RoomError, memory_limited
from sedeval_soft.report import render
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

SIDES = [Path(__file__).parents[2] / "sample_data" / name for name in ("ref.tsv", "sys.tsv")]
LABELS = ("car", "dog", "rain")
HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
FORMS = ("tsv", "tsv.gz", "jsonl", "wide.tsv", "parquet", "wide.parquet", "arrow")
SETTINGS = {
    "everything": Settings(only=("all",), measures=("all",), max_efpr=100.0),
    "groups and scenes": Settings(
        classes=LABELS, only=("segment", "event", "intersection"), thresholds={"car": 0.25},
        means=("harmonic", "groups.geometric", "scenes.mean", "files.harmonic"),
        groups={"two": ("rain", "car")}, scenes={"some": ("*r[0-3]*",), "any": ("*",)},
    ),
    "a group that is not there": Settings(groups={"none": ("cat",)}),
    "strict": Settings(strict=True, only=("event",)),
    "intervals": Settings(ci="bca", replicates=3, worst=2, only=("segment", "clip")),
    "post-processing": Settings(median_filter=2.0, min_gap=1.5, min_duration={"car": 1.0}, only=("all",)),
    "median filters": Settings(
        only=("intersection",), psds_median_filters=(2.0, 0.0), groups={"car": ("car",)}, classes=LABELS
    ),
    "PSDS without cross triggers, in scenes": Settings(
        only=("event",), psds="dcase-psds1", scenes={"some": ("*r[0-3]*",)}, events="rows"
    ),
    "PSDS by median filters": Settings(
        only=("segment.optimal", "intersection.hard"), alpha_ct=0.5, alpha_st=1.0,
        psds_median_filters=(2.0, 0.0),
    ),
    "regions": Settings(
        only=("all",), measures=("all",), worst=2, max_efpr=100.0,
        regions={f"r{k}.wav": [(0.4 * k, 1.7), (2.2, 3 + k)] for k in range(5)},
    ),
    "after some events": Settings(
        only=("segment", "event", "clip"), after_shots=2, region_edges="onset"
    ),
    "by overlap": Settings(
        classes=LABELS, match_by="iou", iou=0.3, only=("event",), measures=("all",), events="rows",
        satisfice="error_rate<=0.9", thresholds={"car": 0.25}, reference_sweep=True, worst=2,
    ),
    "sed_eval": Settings(compat="sed_eval", segment_length=0.5),
    "an ignored class": Settings(
        ignore_class=("rain",), only=("all",), measures=("all",), psds="dcase-psds2", worst=2,
        groups={"dogs": ("dog",)}, classes=LABELS[:2],
    ),
    "mean": Settings(pool="mean", segment_length=0.7, inclusive=True, events="rows"),
}  # fmt: skip


@pytest.fixture(scope="module")
def everybody():
    """All who can work on parts, by name; clusters are an app's."""
    with processes(2) as two:
        yield {"serial": Execute(), "processes": two}


def written(folder: Path, role: str, seed: int, form: str, number: int, *, steps: tuple) -> str:
    """Write a table in so many shards, rows of a recording in any of them.

    steps: time steps of recordings, each has one of them. Returns the pattern that the shards fit.
    """
    rng = random.Random(f"{role} {seed}")  # noqa: S311
    wide = form.startswith("wide")
    columns = LABELS if wide else ("event_label", "soft_value")
    head = "\t".join(["filename", "onset", "offset", *columns])
    lines: list[list[str]] = [[] for _ in range(number)]
    for k in range(rng.randrange(7)):
        name, step = (f"{'in/' * (k % 2)}r{k}.wav" if role == "system" else f"r{k}"), rng.choice(steps)
        for at in range(rng.randrange(6)):
            values = [str(rng.randrange(9) / 8) for _ in LABELS]
            fields = [name, str(at * step), str((at + rng.choice((1, 1, 2))) * step)]
            more = values if wide else [rng.choice(LABELS), values[0]]
            lines[rng.randrange(number)].append("\t".join([*fields, *more]))
        if rng.random() < 0.2:
            lines[rng.randrange(number)].append(name + "\t" * (2 + len(columns)))
    for k, shard in enumerate(lines):
        rng.shuffle(shard)
        text = "".join(f"{line}\n" for line in [head, *shard])
        write(folder / f"{role}-{k}", form.removeprefix("wide."), text)
    return f"{folder}/{role}-*"


def write(path: Path, form: str, text: str) -> None:
    plain = path.with_name(f"{path.name}.tsv")
    plain.write_text(text)
    if form != "tsv":
        data = gzip.compress(text.encode()) if form == "tsv.gz" else form_of(form).write(read_rows(plain))
        plain.unlink()
        path.with_name(f"{path.name}.{form}").write_bytes(data)


def printed(shard) -> str:
    scores = score_shard(shard, __version__)
    return render([scores], "json") + scores.per_file().to_json()


def in_memory(reference, system, settings, lengths=None, limits=None):
    sides = sides_of(str(reference), str(system), settings, limits or Limits())
    return printed(count_rows(*sides, settings, lengths))


def in_parts(*given, **how):
    return printed(count_in_parts(*given, **how))


def outcome(count, *given, **how):
    """Return the results of tables, or the error of tables that cannot be scored."""
    try:
        return count(*given, **how)
    except EvaluationError as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_scores_and_errors(chosen, seed, everybody, tmp_path):
    """Of tables of any form, in shards, with lengths of recordings or without."""
    rng = random.Random(f"{chosen} {seed}")  # noqa: S311
    forms = rng.choices(FORMS, k=2)
    # Median filters need steps that fit them.
    steps = rng.choice([(1.0,), (0.5, 0.2), (1.0, 1 / 3, 1 / 7)][: 1 if "filters" in chosen else 3])
    sides = [
        written(tmp_path, role, rng.random(), form, rng.randint(1, 3), steps=steps)
        for role, form in zip(("reference", "system"), forms, strict=True)
    ]
    lengths = {f"a/r{k}.flac": 3.0 + k for k in range(rng.randrange(9))} or None
    how = {"n_parts": rng.randint(1, 9), "execute": everybody[rng.choice(["serial", "serial", "processes"])]}
    found = outcome(in_parts, *sides, SETTINGS[chosen], lengths, **how)
    assert found == outcome(in_memory, *sides, SETTINGS[chosen], lengths)


ROW = "a\t0\t1\tcar\t0.5\n"
TEXTS = {
    "one bad number late": ROW * 50 + "a\t0\tx\tcar\t0.5\n" + ROW * 9,
    "a few of several kinds": (
        ROW * 20 + "a\t2\t1\tcar\t0.5\n" + ROW * 30 + "a\t0\t1\t\t0.5\na\t0\t1\tb\t7\n"
    ) * 2,
    "more than are told": (ROW * 9 + "a\t0\t1\tcar\n") * 30,
    "ends of lines of all kinds": ROW * 20 + "a\t0\t1\tcar\t1\r" * 20 + "a\t0\t1\tcar\t1\r\n" * 20 + "a\tx\n",
    "no text": ROW * 800 + "a\t0\t1\tc\udcff\t0.5\n",
    "an open quote": ROW * 40 + 'a\t0\t1\t"car\t0.5\n' + ROW * 10,
    "a nul": ROW * 800 + "a\t0\t1\tc\0\t0.5\n" + ROW * 10,
    "blank lines before": "\n" * 400 + ROW * 9 + "a\t0\t1\tcar\n",
    "nothing": "",
    "no table": "what is this\n",
    "no file names": "0\t1\tcar\n" * 30,
    "names that are all unlike": ROW + "x/a.wav\t0\t1\tcar\t1\ny/a.wav\t0\t1\tcar\t1\nb.wav\t0\t1\tcar\t1\n",
    "values that are rounded": "".join(f"f{k % 3}\t{k}\t{k + 1}\tcar\t1.0000001\n" for k in range(60)),
    "a byte order mark": "\ufeff" + HEAD + ROW * 9,
}  # fmt: skip


@pytest.mark.parametrize("headed", [True, False])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_odd_texts_are_read_alike(text, headed, tmp_path):
    path = tmp_path / "t.tsv"
    path.write_bytes((HEAD * headed + text).encode("utf-8", "surrogateescape"))
    assert outcome(in_parts, path, path, Settings()) == outcome(in_memory, path, path, Settings())


@pytest.mark.parametrize(
    "limits",
    [{"rows": 9}, {"files": 2}, {"classes": 2}, {"duration": 2.0}, {"name_length": 1}, {"members": 1}],
)
@pytest.mark.parametrize("form", ["tsv", "wide.tsv", "parquet"])
def test_limits_hold_over_all_blocks_and_shards(limits, form, tmp_path):
    pattern = written(tmp_path, "reference", 13, form, 2, steps=(1.0,))
    for count in (in_memory, in_parts):
        with pytest.raises(InputError, match="raises this"):
            count(pattern, pattern, Settings(), limits=Limits(**limits))


def test_recordings_named_after_their_files(tmp_path):
    for role in ("ref", "sys"):
        (tmp_path / role).mkdir()
        for name in ("x", "y"):
            (tmp_path / role / f"{name}.tsv").write_text("onset\toffset\tevent_label\n0\t1\tcar\n")
    (tmp_path / "sys" / "y.tsv").write_text("")
    shards, single = ([tmp_path / role / name for role in ("ref", "sys")] for name in ("*.tsv", "x.tsv"))
    for pair in (shards, single, (single[0], shards[1]), (SIDES[0], tmp_path / "ref")):
        assert outcome(in_parts, *pair, Settings()) == outcome(in_memory, *pair, Settings())


def test_values_that_all_together_memory_cannot_hold_are_refused(monkeypatch):
    from sedeval_soft.evaluation import partition

    monkeypatch.setattr(partition, "_EVENT", 1 << 40)
    with memory_limited(1 << 34):
        assert in_parts(*SIDES, Settings(only=("segment.hard", "segment.soft", "event.hard", "event.soft")))
        for asked in (Settings(), Settings(ci="bootstrap")):
            with pytest.raises(RoomError, match=r"best thresholds .* --only segment\.hard --only segment"):
                in_parts(*SIDES, asked)
