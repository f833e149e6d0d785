"""`--per-file`: a row for each file, in every form."""

from __future__ import annotations

import io
import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from documents import schema

from sedeval_soft import evaluate
from sedeval_soft.report import FORMATS

SCORES = ("segment.soft.f1.macro", "event.hard.error_rate.micro", "segment.hard.recall[car]")
NAMES = tuple(part for name in SCORES for part in ("--score", name))


def many(folder, count, length):
    """Write tables of many files, of which the system has less and less; names are of the given length."""
    names = [f"{'a street' * length}"[: length - 7] + f"{k:03d}.wav" for k in range(count)]
    head = "filename\tonset\toffset\tevent_label\tvalue\n"
    for table, value in (("ref", 1.0), ("sys", 0.0)):
        rows = "".join(f"{name}\t0\t2\tcar\t{value or 1 - k / count}\n" for k, name in enumerate(names))
        (folder / f"{table}.tsv").write_text(head + rows)
    return folder / "ref.tsv", folder / "sys.tsv", names


@pytest.mark.parametrize("names", [(), NAMES])
def test_forms_for_programs_have_what_the_data_frame_has(names):
    frame = evaluate(REFERENCE, SYSTEM).per_file(*names[1::2])
    for form, separator in (("csv", ","), ("tsv", "\t")):
        done = call(REFERENCE, SYSTEM, "--per-file", *names, "--format", form)
        table = pd.read_csv(io.StringIO(done.out), sep=separator)
        assert list(table.columns) == ["system", *frame.columns]
        assert {*table["system"]} == {Path(SYSTEM).name}
        plain = frame.set_index("filename").astype("float64")
        read = table.set_index("filename")[plain.columns]
        pd.testing.assert_frame_equal(read, plain, check_exact=True, check_dtype=False)
    done = call(REFERENCE, SYSTEM, "--per-file", *names, "--format", "json")
    document = done.document
    jsonschema.Draft202012Validator(schema("soft-sed-eval-files-1")).validate(document)
    assert yaml.safe_load(call(REFERENCE, SYSTEM, "--per-file", *names, "--format", "yaml").out) == document
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    assert [dict(row, system=Path(SYSTEM).name) for row in rows] == document["files"]


@pytest.mark.parametrize("form", FORMATS)
def test_each_form_has_a_row_for_each_file_of_each_system(form):
    # Of a file of unknown length there would be a warning, which names it once more.
    told = ("--durations", SAMPLES / "durations.tsv", "--per-file", "--only", "segment", "--format", form)
    done = call(REFERENCE, SYSTEM, OTHER, *told, "--quiet")
    assert (done.code, done.err) == (0, "")
    for file in ("cafe.wav", "metro.wav", "night.wav", "park.wav", "street.wav"):
        # A warning names a file in quotes.
        assert done.out.count(file) - done.out.count(f"'{file}'") == 2, file


@pytest.mark.parametrize("length", [8, 30, 120])
def test_a_screen_has_the_worst_files_in_forty_lines_of_eighty_cells(tmp_path, length):
    *tables, names = many(tmp_path, 100, length)
    shown = call(*tables, "--per-file").out.splitlines()
    assert len(shown) <= 40 and max(map(len, shown)) <= 80
    found = [line.partition(".wav")[0][-3:] for line in shown if ".wav" in line]
    assert found == [f"{k:03d}" for k in range(99, 69, -1)]
    assert "... and 70 more: -v shows all files" in "\n".join(shown)
    assert call(*tables, "--per-file", "-v").out.count(".wav") == 100
    # A name of which there is room for the most part is whole, and columns are left out for it.
    assert length > 32 or all(any(line.startswith(name) for line in shown) for name in names[-30:])
    for form in ("csv", "markdown"):
        done = call(*tables, "--per-file", "--format", form)
        assert all(name in done.out for name in names)


def test_a_score_of_which_low_values_are_better_has_the_highest_first():
    asked = ("--score", "segment.hard.error_rate.micro", "--score", "event.soft.f1.micro")
    done = call(REFERENCE, SYSTEM, "--per-file", *asked)
    files = [line.split()[0] for line in done.out.splitlines() if ".wav" in line]
    assert files == ["metro.wav", "cafe.wav", "street.wav", "park.wav", "night.wav"]
    assert "the highest segment.hard.error_rate.micro first" in done.out


def test_the_score_that_ranks_says_which_files_are_the_worst():
    done = call(REFERENCE, SYSTEM, "--per-file", "--rank-by", "event.hard.f1.macro")
    assert "the lowest event.hard.f1.micro first" in done.out
    assert re.search(r"^ +event +segment$", done.out, re.MULTILINE)
    done = call(SAMPLES / "events.tsv", SAMPLES / "events.tsv", "--per-file")
    assert "hard F1" in done.out and "soft" not in done.out.partition("\n\nsoft-sed-eval")[0]


@pytest.mark.parametrize("form", FORMATS)
def test_no_files_are_no_rows(form, tmp_path):
    for name in ("none.tsv", "nothing.tsv"):
        (tmp_path / name).write_text("filename\tonset\toffset\tevent_label\n")
    done = call(tmp_path / "none.tsv", tmp_path / "nothing.tsv", "--per-file", "--format", form, "--quiet")
    assert (done.code, done.err) == (0, "") and "nan" not in done.out.lower()


def test_tallies_that_were_merged_have_the_same_files(tmp_path):
    whole = call(REFERENCE, SYSTEM, "--per-file", "--format", "tsv", "--save-tally", tmp_path / "1.tally")
    merged = call("merge", tmp_path / "1.tally", "--per-file", "--format", "tsv")
    assert whole.code == merged.code == 0 and whole.out == merged.out


REFUSED = {
    "--format github": "it cannot go with",
    "--ci": "it cannot go with",
    "--worst 3": "it cannot go with",
    "--average weighted": "micro and macro averages",
    "--only ranking": "precision, recall, F and error rate",
    "--score segment.optimal.threshold[car]": "single files have no such score",
    "--measures curves --score segment.hard.roc_auc.macro": "single files have no such score",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_single_files_do_not_have_is_refused(options):
    done = call(REFERENCE, SYSTEM, "--per-file", *options.split())
    assert (done.code, done.out) == (2, "") and REFUSED[options] in done.err
