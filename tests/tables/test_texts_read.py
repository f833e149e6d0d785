"""Texts of every layout that is read, and of many that are not: their rows, or the places of their problems.

`readings.tsv` has tables, `documents.tsv` documents of annotation tools: the user's options (form, columns,
label, rate), whether the recording is named after the table (`table`), as it is the only one (`only`), and
what is found, see `drawn.found`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from called import call
from drawn import cases, found

import sedeval_soft
from sedeval_soft.errors import InputError
from sedeval_soft.tables import LIMITS, read_rows

DOCUMENTS = cases("documents.tsv")


@pytest.mark.parametrize(
    "case", [*cases("readings.tsv"), *DOCUMENTS], ids=lambda case: f"{case['file']} {case['text'][:40]}"
)
def test_a_text_is_its_rows_or_is_refused_at_its_places(case, tmp_path):
    rate = float(case["rate"]) if case["rate"] else None
    said = LIMITS.reading(columns=case["columns"] or None, label=case["label"] or None, sample_rate=rate)
    limits = replace(said, by_table=case["of"] != "", only=case["of"] == "only")
    path = tmp_path / case["file"]
    path.write_bytes(case["text"].encode("utf-8", "surrogateescape"))
    assert found(path, case["form"], limits) == json.loads(case["found"])


def written(folder: Path, name: str) -> Path:
    """Write a document as it is without options."""
    (folder / name).write_text(next(case["text"] for case in DOCUMENTS if case["file"] == name))
    return folder / name


@pytest.mark.parametrize("name", ["tiers.TextGrid", "origin.eaf", "series.json", "people.jams"])
def test_assumptions_about_a_document_are_printed_and_refused_if_strict(name, tmp_path):
    path = written(tmp_path, name)
    assumed = read_rows(path).origin.assumed
    for sides, strict in ((("validate", path), 1), ((path, path), 2)):
        done = call(*sides)
        assert assumed and all(text in done.out + done.err for text in assumed), done
        assert call(*sides, "--strict").code == strict


def test_a_textgrid_in_utf_16_is_read_as_in_utf_8(tmp_path):
    text = (
        (Path(__file__).parent / "documents" / "short.TextGrid").read_text().replace("robin", "\u00e9t\u00e9")
    )
    for form, mark in (("utf-8", ""), ("utf-16-le", "\ufeff"), ("utf-16-be", "\ufeff")):
        (tmp_path / form).write_bytes((mark + text).encode(form))
    expected = found(tmp_path / "utf-8")
    assert "\u00e9t\u00e9" in expected[3]
    assert found(tmp_path / "utf-16-le") == found(tmp_path / "utf-16-be") == expected


MANY = 2**20
LARGE = {
    "deep.eaf": ("<ANNOTATION_DOCUMENT>" + "<a>" * 100_000, "", "malformed-file"),
    "refs.eaf": ("song", "x" * MANY, "too-many-name_length"),
    "tiers.TextGrid": ("2.5", "1" * 2**16, "malformed-file"),
    "tiers.TextGrid ": ("2.5", "1" * 2**16 + "x", "malformed-file"),
    "tiers.TextGrid  ": ("good", "g" + " " * MANY + "x", "too-many-name_length"),
    "deep.json": ("[" * 2**16 + "]" * 2**16, "", "malformed-file"),
    "deeper.json": ('[{"annotations": [], "data": ' + "[" * 2**16 + "]" * 2**16 + "}]", "", "malformed-file"),
    "series.json": ("car", "x" * MANY, "too-many-name_length"),
    "quotes.jams": ('{"annotations": [NaN, "' + '\\"' * 2**16, "", "malformed-file"),
}
"""Texts that are far too large, or a text of a document and its replacement, and the code of the refusal."""


@pytest.mark.parametrize("name", LARGE)
def test_a_document_that_is_far_too_large_gets_one_short_error(name, tmp_path):
    old, new, code = LARGE[name]
    path = written(tmp_path, name.strip()) if new else tmp_path / name
    path.write_text(path.read_text().replace(old, new) if new else old)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert caught.value.problems[0].code == code
    assert len(str(caught.value)) < 900 and all(str(each).isprintable() for each in caught.value.problems)
    assert [*sedeval_soft.validate(path).counts] == [code]
