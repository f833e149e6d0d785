"""Tables counted in parts, by this process or others, are scored as tables in memory.

Results have the same bytes, and errors the same words. A run needs less memory, and leaves no files behind.
"""

import gzip
import os
import random
import resource
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from called import REFERENCE, SYSTEM, unmeasured
from documents import ROOT
from parted import count_in_parts

from sedeval_soft import EvaluationError, InputError, Limits, Settings, __version__
from sedeval_soft.api import sides_of
from sedeval_soft.evaluation import Execute, count_rows, score_shard
from sedeval_soft.evaluation.partition import processes
from sedeval_soft.memory import RoomError, memory_limited
from sedeval_soft.report import render
from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

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
    """Yield everything that can count parts, by name; tests of apps try clusters."""
    with processes(2) as two:
        yield {"serial": Execute(), "processes": two}


def written(folder: Path, role: str, seed: int, form: str, number: int, *, steps: tuple) -> str:
    """Write a table in some number of shards, each row to any of them; return the pattern of their paths.

    steps: time steps, one of which each recording has.
    """
    rng = random.Random(f"{role} {seed}")  # noqa: S311
    wide, of = form.startswith("wide"), form.removeprefix("wide.")
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
        plain = folder / f"{role}-{k}.tsv"
        plain.write_text("".join(f"{line}\n" for line in [head, *shard]))
        if of != "tsv":
            data = (
                gzip.compress(plain.read_bytes()) if of == "tsv.gz" else form_of(of).write(read_rows(plain))
            )
            plain.unlink()
            (folder / f"{role}-{k}.{of}").write_bytes(data)
    return f"{folder}/{role}-*"


def printed(shard) -> str:
    scores = score_shard(shard, __version__)
    return render([scores], "json") + scores.per_file().to_json()


def in_memory(reference, system, settings, lengths=None, limits=None):
    sides = sides_of(str(reference), str(system), settings, limits or Limits())
    return printed(count_rows(*sides, settings, lengths))


def in_parts(*given, **how):
    return printed(count_in_parts(*given, **how))


def outcome(count, *given, **how):
    """Return the results, or the error if the tables cannot be scored."""
    try:
        return count(*given, **how)
    except EvaluationError as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("chosen", SETTINGS)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_same_scores_and_errors(chosen, seed, everybody, tmp_path):
    """Tables have any format and number of shards; lengths of recordings are given or not."""
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
    for pair in (shards, single, (single[0], shards[1]), (REFERENCE, tmp_path / "ref")):
        assert outcome(in_parts, *pair, Settings()) == outcome(in_memory, *pair, Settings())


def test_values_that_all_together_memory_cannot_hold_are_refused(monkeypatch):
    monkeypatch.setattr("sedeval_soft.evaluation.partition._EVENT", 1 << 40)
    with memory_limited(1 << 34):
        assert in_parts(
            REFERENCE, SYSTEM, Settings(only=("segment.hard", "segment.soft", "event.hard", "event.soft"))
        )
        for asked in (Settings(), Settings(ci="bootstrap")):
            with pytest.raises(RoomError, match=r"best thresholds .* --only segment\.hard --only segment"):
                in_parts(REFERENCE, SYSTEM, asked)


# --- the command: processes, memory, and what a run leaves behind ---------------------------------

IN_PARTS = """
import os, signal, sys
from sedeval_soft.cli import main
from sedeval_soft.evaluation import partition, shard

shard._LARGE, shard._IN_MEMORY = 1, 1 << 40
count, WHAT = partition.count_part, os.environ.get("WHAT")

def slowly(settings, part, **how):
    sys.stderr.write("counting\\n")
    if WHAT == "wait":
        import time
        for _ in range(600):
            time.sleep(0.1)
    if WHAT == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return count(settings, part, **how)

if WHAT:
    slowly.__module__ = "__main__"
    partition.count_part = slowly
if __name__ == "__main__":
    main()
"""
"""The command, with tables of any size treated as large."""


def table(path: Path, seed: int, n_files: int, *, shuffled: bool = True) -> None:
    rng = random.Random(seed)  # noqa: S311
    cells = product(range(n_files), range(200), [f"class {k}" for k in range(6)])
    rows = [f"r{f:03}.wav\t{k}.0\t{k + 1}.0\t{label}\t{rng.randrange(11) / 10}\n" for f, k, label in cells]
    if shuffled:
        rng.shuffle(rows)
    path.write_text(HEAD + "".join(rows))


@pytest.fixture
def folder(tmp_path):
    """Make a folder with two tables, their rows in no order, and a folder for temporary files."""
    for seed, name in enumerate(("ref.tsv", "sys.tsv")):
        table(tmp_path / name, seed, 4)
    (tmp_path / "temporary").mkdir()
    (tmp_path / "in_parts.py").write_text(IN_PARTS)
    return tmp_path


def started(folder: Path, program: list[str], *options: str, what: str = "", **given: object):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder / "temporary"), "WHAT": what}
    given |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder, "env": env}
    return subprocess.Popen([sys.executable, *program, "ref.tsv", "sys.tsv", *options], **given)


def called(folder: Path, program: list[str], *options: str, **given: object) -> tuple[int, str, str]:
    """Return exit code and output of a run, which must leave no temporary files."""
    process = started(folder, program, *options, **given)
    out, err = process.communicate(timeout=300)
    assert list((folder / "temporary").iterdir()) == []
    return process.returncode, out, err


PLAIN, PARTED = ["-m", "sedeval_soft"], ["in_parts.py"]


def capped(most: int, kind: int = resource.RLIMIT_DATA) -> dict:
    """Return arguments of `Popen` that limit a resource of the program."""
    return {"preexec_fn": lambda: resource.setrlimit(kind, (most, most))}


@pytest.mark.slow
def test_far_less_memory_than_the_tables_take(folder):
    """A run in parts works under a cap of memory at which a plain run fails."""
    for seed, name in enumerate(("ref.tsv", "sys.tsv")):
        table(folder / name, seed, 1200, shuffled=False)
    only = [f"--only={part}" for part in ("segment.hard", "segment.soft", "event.hard")]
    asked, limit, cap = (*only, "--format", "json"), ("--memory-limit", "220M"), capped(400 << 20)
    plain, refused = called(folder, PLAIN, *asked), called(folder, PLAIN, *asked, **cap)
    assert (plain[0], refused[0] == 0) == (0, False), "the cap shows nothing"
    assert called(folder, PLAIN, *asked, *limit, **cap) == plain


@pytest.mark.parametrize(
    ("jobs", "number", "word"),
    [
        (1, signal.SIGTERM, "terminated"),
        pytest.param(2, signal.SIGINT, "interrupted", marks=pytest.mark.slow),
        # A process that is killed cannot remove its files or print a message.
        pytest.param(2, signal.SIGKILL, None, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_stopped_leaves_nothing(number, jobs, word, folder):
    limit = ("--memory-limit", "800M") if jobs == 1 else ()
    process = started(folder, PARTED, f"--jobs={jobs}", *limit, what="wait", start_new_session=True)
    assert "counting" in process.stderr.readline()
    assert list((folder / "temporary").iterdir())
    # Ctrl-C goes to all processes of a terminal.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    # All processes can write, so output ends when the last of them ends.
    out, err = process.communicate(timeout=30)
    if word:
        assert (process.returncode, out) == (128 + number, "")
        assert err.replace("counting\n", "") == f"soft-sed-eval: {word}\n"
        assert list((folder / "temporary").iterdir()) == []


def test_a_worker_that_is_killed_is_an_error(folder):
    code, out, err = called(folder, PARTED, "--jobs", "2", what="die")
    assert (code, out, "a worker process ended early" in err, "Traceback" in err) == (2, "", True, False)


def test_a_full_disk_is_an_error(folder, monkeypatch):
    for name in {*os.environ} - {*unmeasured()}:
        monkeypatch.delenv(name)  # a run that measures coverage also writes files
    code, out, err = called(folder, PARTED, "--jobs", "2", **capped(10_000, resource.RLIMIT_FSIZE))
    assert (code, out, "File too large" in err, len(err.splitlines())) == (2, "", True, 1)
