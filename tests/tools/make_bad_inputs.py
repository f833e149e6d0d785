"""Bad inputs: what is wrong with each, and where it must be found. Written by hand, not by the code.

    python tests/tools/make_bad_inputs.py FOLDER

writes them all into a folder, with a list of what is expected of each.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

HEAD = "filename\tonset\toffset\tevent_label\tsoft_value\n"
GOOD = "a.wav\t0.0\t1.0\tcar\t0.5\n"
WIDE = "filename\tonset\toffset\tcar\tdog\n"
EVENTS = "filename\tonset\toffset\tevent_label\n"

REFERENCE = (
    "filename\tonset\toffset\tevent_label\tsoft_value\n"
    "a.wav\t0.0\t9.5\tcar\t0.5\na.wav\t3.0\t4.5\tstreet_dog\t1\nb.wav\t1.0\t8.0\tcar\t0.75\n"
)
WIDE_REFERENCE = (
    "filename\tonset\toffset\tcar\tdog\na.wav\t0\t1\t0.5\t0\na.wav\t1\t2\t0.5\t0\na.wav\t2\t3\t0\t0.5\n"
)
DURATIONS = "filename\tduration\na.wav\t10\nb.wav\t10\n"

REF = ("--reference", "reference.tsv")
WIDE_REF = ("--reference", "wide_reference.tsv")


@dataclass(frozen=True)
class Bad:
    """A table, or tables of a folder by name; the code of a problem in it, and where it must be found.

    options: what it is validated with. scored: whether `soft-sed-eval` takes it. inside: the file of a
    folder that the problem is in.
    """

    data: bytes | dict[str, bytes]
    code: str
    line: int | None
    column: int | None
    options: tuple[str, ...] = ()
    scored: bool = False
    inside: str = ""


def bad(
    data: str | bytes,
    code: str,
    line: int | None,
    column: int | None = None,
    *options: str,
    scored: bool = False,
) -> Bad:
    """Return a bad input of one file."""
    return Bad(data if isinstance(data, bytes) else data.encode(), code, line, column, options, scored)


def doubtful(data: str | bytes, code: str, line: int | None, column: int | None = None, *options: str) -> Bad:
    """Return an input that is scored all the same."""
    return bad(data, code, line, column, *options, scored=True)


def row(*fields: str) -> str:
    """Return a line of tab-separated fields."""
    return "\t".join(fields) + "\n"


A = "a.wav"

FILES: dict[str, Bad] = {
    "empty": bad("", "empty-file", None),
    "only_blank_lines": bad(" \n\n  \n", "empty-file", None),
    "only_delimiters": bad(",,\n,,\n", "empty-file", None),
    "gzip_cut_short": bad(gzip.compress((HEAD + GOOD * 99).encode())[:40], "broken-gzip", None),
    "gzip_of_nonsense": bad(b"\x1f\x8b" + b"nonsense" * 9, "broken-gzip", None),
    "utf_16": bad((HEAD + GOOD).encode("utf-16"), "utf-16", 1),
    "utf_16_big_endian": bad(b"\xfe\xff" + (HEAD + GOOD).encode("utf-16-be"), "utf-16", 1),
    "utf_16_without_mark": bad((HEAD + GOOD).encode("utf-16-le"), "utf-16", 1),
    "latin_1_label": bad((HEAD + GOOD + row(A, "1", "2", "café", "1")).encode("latin-1"), "not-utf-8", 3, 4),
    "latin_1_file": bad((HEAD + row("é.wav", "1", "2", "car", "1")).encode("latin-1"), "not-utf-8", 2, 1),
    "latin_1_header": bad("onset\toffset\tcafé\n0\t1\t0.5\n".encode("latin-1"), "not-utf-8", 1, 3),
    "latin_1_far_down": bad((HEAD + GOOD * 5000 + row(A, "1", "2", "é", "1")).encode("latin-1"), "not-utf-8",
        5002, 4),
    "nul_in_label": bad(HEAD + GOOD + row(A, "1", "2", "c\0r", "1"), "nul-byte", 3, 4),
    "nul_in_number": bad(HEAD + row(A, "1\0", "2", "car", "1"), "nul-byte", 2, 2),
    "nul_line_of_returns": bad((HEAD + GOOD + "x\0y\n").replace("\n", "\r"), "nul-byte", 3, 1),
    "mixed_line_ends": doubtful(HEAD + GOOD + "a.wav\t1\t2\tcar\t0.5\r\n", "mixed-line-ends", 3),
    "mixed_returns": doubtful(HEAD + "a.wav\t1\t2\tcar\t0.5\r" + GOOD, "mixed-line-ends", 2),
}  # fmt: skip

FORM: dict[str, Bad] = {
    "prose": bad("hello world\nthis is text\n", "not-a-table", 1),
    "json_lines_cut_off": bad('{"onset": 0, "offset": 1, "label": "a"}\n{"onset": 0, \n', "malformed-file",
        2),
    "json_lines_without_label": bad('{"onset": 0, "offset": 1, "label": null}\n', "malformed-file", 1),
    "html": bad("<html><body>404 Not Found</body></html>\n", "not-a-table", 1),
    "unknown_header": bad("on;off;what\n0;1;car\n", "not-a-table", 1),
    "label_times_value": bad("car\t0\t1\t0.5\n", "ambiguous-table", 1),
    "long_or_wide": bad("onset\toffset\tspeech\tevent\n0\t1\t0.5\t0\n", "ambiguous-table", 1, 4),
    "misspelt_onset": bad("filename\tonsett\toffset\tevent_label\n", "missing-column", 1, 2),
    "misspelt_offset": bad("filename\tonset\toffse\tevent_label\n", "missing-column", 1, 3),
    "values_without_labels": bad("onset\toffset\tvalue\n0\t1\t0.5\n", "missing-column", 1),
    "no_labels": bad("filename\tonset\toffset\na\t0\t1\n", "missing-column", 1),
    "two_onsets": bad("start\tbegin\toffset\tlabel\n0\t0\t1\tcar\n", "repeated-column", 1, 2),
    "class_twice": bad("onset\toffset\tcar\tcar\n0\t1\t1\t1\n", "repeated-column", 1, 4),
    "class_without_name": bad("onset\toffset\tcar\t\n0\t1\t1\t1\n", "unnamed-column", 1, 4),
    "recordings_by_another_name": bad("take\tonset\toffset\tlabel\nx\t0\t1\tcar\ny\t0\t1\tcar\n",
        "unclear-file-column", 1, 1),
    "values_by_another_name": bad(EVENTS[:-1] + "\tp\n" + GOOD, "unclear-value-column", 1, 5),
    "raven_selections": bad(row("Selection", "View", "Begin Time (s)", "End Time (s)", "Annotation")
        + row("1", "Waveform 1", "0", "1", "car"), "raven-table", 1),
    "column_read_past": doubtful(HEAD[:-1] + "\tsoft_valu\n" + GOOD[:-1] + "\t1\n", "ignored-column", 1, 6),
    "header_alone": doubtful(HEAD, "no-rows", 1),
    "too_few_fields": bad(HEAD + GOOD + row(A, "1", "2", "car"), "field-count", 3),
    "too_many_fields": bad(HEAD + GOOD + row(A, "1", "2", "car", "1", "x"), "field-count", 3),
    "one_field_of_text": bad("onset,offset,label\n0,1,car\nsome words\n", "field-count", 3),
    "tabs_then_commas": bad(HEAD + GOOD + "a.wav,1,2,car,0.5\n", "mixed-delimiters", 3),
    "commas_then_tabs": bad((HEAD + GOOD).replace("\t", ",") + GOOD, "mixed-delimiters", 3),
    "commas_then_semicolons": bad("onset,offset,label\n0,1,car\n1;2;car\n", "mixed-delimiters", 3),
    "semicolons_then_tabs": bad("onset;offset;label\n0;1;car\n\n1\t2\tcar\n", "mixed-delimiters", 4),
    "quote_not_closed": bad(HEAD + GOOD + row(A, "1", "2", '"car', "1") + GOOD * 3, "misquoted", 3, 4),
    "quote_not_closed_in_header": bad('onset,offset,"event_label\n0,1,car\n', "misquoted", 1, 3),
    "text_after_quote": bad('onset,offset,label\n0,1,"a"b\n', "misquoted", 2, 3),
    "onset_and_offset_swapped": bad(EVENTS + row(A, "2", "1", "car") + row(A, "5.5", "4", "car"),
        "swapped-times", 1, 3),
    "swapped_without_header": bad("2\t1\tcar\n3\t2\tcar\n9\t1\tdog\n", "swapped-times", None, 2),
    "label_and_value_swapped": bad(HEAD + row(A, "1", "2", "0.5", "car") + row(A, "2", "3", "0.25", "dog"),
        "swapped-columns", 1, 4),
    "value_in_place_of_label": doubtful("0.0\t1.0\t2.5\tcar\n0.5\t1.5\t3.5\tdog\n", "swapped-columns", 1, 1),
    "file_and_label_swapped": doubtful(EVENTS + row("car", "1", "2", A) + row("car", "3", "4", A),
        "swapped-columns", 2, 1, *REF),
}  # fmt: skip

FIELDS: dict[str, Bad] = {
    "file_empty": bad(HEAD + GOOD + row("", "1", "2", "car", "1"), "empty-name", 3, 1),
    "label_blank": bad(HEAD + GOOD + row(A, "1", "2", "  ", "1"), "empty-name", 3, 4),
    "onset_empty": bad(HEAD + row(A, "", "2", "car", "1"), "empty-number", 2, 2),
    "value_empty": bad(HEAD + row(A, "1", "2", "car", ""), "empty-number", 2, 5),
    "cell_empty": bad("onset\toffset\tcar\tdog\n0\t1\t0.5\t\n", "empty-number", 2, 4),
    "value_in_words": bad(HEAD + row(A, "1", "2", "car", "high"), "not-a-number", 2, 5),
    "cell_yes": bad("onset\toffset\tcar\tdog\n0\t1\tyes\t0\n", "not-a-number", 2, 3),
    "underscore_in_number": bad(HEAD + row(A, "1_0", "20", "car", "1"), "not-a-number", 2, 2),
    "full_width_digits": bad(HEAD + row(A, "\uff11", "2", "car", "1"), "not-a-number", 2, 2),
    "clock_times": bad(EVENTS + row(A, "00:01:02.5", "00:01:04", "car"), "not-a-number", 2, 2),
    "hexadecimal": bad(HEAD + row(A, "0", "0x10", "car", "1"), "not-a-number", 2, 3),
    "formula_for_a_number": bad(HEAD + row(A, "=1+1", "2", "car", "1"), "not-a-number", 2, 2),
    "escape_for_a_number": bad(HEAD + row(A, "\x1b[31m1", "2", "car", "1"), "not-a-number", 2, 2),
    "header_again": bad(HEAD + GOOD + HEAD + GOOD, "not-a-number", 3, 2),
    "decimal_comma": bad(HEAD + row(A, "1,5", "2", "car", "1"), "decimal-comma", 2, 2),
    "decimal_comma_value": bad(HEAD + GOOD + row(A, "1", "2", "car", "0,75"), "decimal-comma", 3, 5),
    "decimal_commas_between_commas": bad("filename,onset,offset,event_label\na.wav,1,5,2,0,car\n",
        "decimal-comma", 2, 2),
    "decimal_comma_quoted": bad('onset,offset,label\n"1,5","2,5",car\n', "decimal-comma", 2, 1),
    "decimal_comma_without_header": bad("0;1,5;car\n2;3;dog\n", "decimal-comma", 1, 2),
    "decimal_commas_without_header": bad("a.wav\t0,5\t1,5\tcar\n", "decimal-comma", 1, 2),
    "nan": bad(HEAD + GOOD * 4 + row(A, "1", "2", "car", "NaN"), "not-finite", 6, 5),
    "infinite": bad(HEAD + row(A, "0", "inf", "car", "1"), "not-finite", 2, 3),
    "negative_onset": bad(HEAD + GOOD + row(A, "-1", "2", "car", "1"), "negative-time", 3, 2),
    "negative_offset": bad(HEAD + GOOD + row(A, "0", "-0.5", "car", "1"), "negative-time", 3, 3),
    "onset_of_1e12": bad(HEAD + GOOD + row(A, "1e12", "1e12", "car", "1"), "time-too-long", 3, 2),
    "offset_of_1e10": bad(HEAD + GOOD + row(A, "1", "1e10", "car", "1"), "time-too-long", 3, 3),
    "onset_of_1e999": bad(HEAD + row(A, "1e999", "1e999", "car", "1"), "time-too-long", 2, 2),
    "offset_before_onset": bad(HEAD + GOOD + row(A, "3.5", "2", "car", "1"), "offset-before-onset", 3, 3),
    "blank_lines_count": bad(HEAD + "\n\n" + GOOD + "\n" + row(A, "2", "1", "car", "1"),
        "offset-before-onset", 6, 3),
    "declared_files_count": bad(HEAD + "quiet.wav\n" + row(A, "2", "1", "car", "1"), "offset-before-onset", 3,
        3),
    "returns_count": bad((HEAD + GOOD + row(A, "2", "1", "car", "1")).replace("\n", "\r"),
        "offset-before-onset", 3, 3),
    "value_above_1": bad(HEAD + GOOD + row(A, "1", "2", "car", "1.5"), "value-out-of-range", 3, 5),
    "value_below_0": bad(HEAD + GOOD + row(A, "1", "2", "car", "-0.1"), "value-out-of-range", 3, 5),
    "cell_above_1": bad(WIDE + row(A, "0", "1", "0.5", "7"), "value-out-of-range", 2, 5),
    "escape_in_label": doubtful(HEAD + GOOD + row(A, "1", "2", "\x1b[31mred\x1b[0m", "0.5"),
        "control-character", 3, 4),
    "bell_in_file": doubtful(HEAD + GOOD + row("a\a.wav", "1", "2", "car", "0.5"), "control-character", 3, 1),
    "right_to_left_label": doubtful(HEAD + GOOD + row(A, "1", "2", "c\u202erac", "0.5"), "control-character",
        3, 4),
    "escape_in_class_column": doubtful("onset\toffset\tc\x1b]0;x\x07ar\n0\t1\t0.5\n", "control-character", 1,
        3),
}  # fmt: skip

VALUES: dict[str, Bad] = {
    "percent": bad(HEAD + "".join(row(A, str(i), str(i + 1), "car", str(20 * i + 5)) for i in range(4)),
        "values-in-percent", 1, 5),
    "percent_wide": bad(WIDE + row(A, "0", "1", "85", "3") + row(A, "1", "2", "0", "99.5"),
        "values-in-percent", 1),
    "logits": bad(HEAD + "".join(row(A, str(i), str(i + 1), "car", v) for i, v in enumerate(("-4.5", "2.25",
        "0.5"))), "values-are-logits", 1, 5),
    "logits_without_header": bad("0\t1\tcar\t-3\n1\t2\tcar\t3.5\n", "values-are-logits", None, 4),
    "decisions": doubtful(HEAD + row(A, "0", "1", "car", "1") + row(A, "4", "5", "dog", "0"),
        "values-all-hard", 1, 5),
    "decisions_wide": doubtful(WIDE + row(A, "0", "1", "1", "0"), "values-all-hard", 1),
    "constant": doubtful(HEAD + "".join(row(A, str(2 * i), str(2 * i + 1), "car", "0.5") for i in range(10)),
        "values-all-equal", 1, 5),
    "rounding": doubtful(HEAD + GOOD + row(A, "1", "2", "car", "1.0000001"), "value-rounded", None),
}  # fmt: skip

TIMES: dict[str, Bad] = {
    "no_length": doubtful(HEAD + GOOD + row(A, "2", "2", "car", "0.7"), "zero-length", 3, 3),
    "twice": doubtful(HEAD + GOOD + row(A, "2", "3", "car", "1") + "\n" + GOOD, "duplicate-row", 5, 2),
    "twice_in_other_digits": doubtful(HEAD + GOOD + row(A, "0", "1.00", "car", ".5"), "duplicate-row", 3, 2),
    "twice_wide": doubtful(WIDE + row(A, "0", "1", "0.5", "0") + row(A, "0", "1", "0.5", "0"),
        "duplicate-row", 3, 2),
    "overlap": doubtful(HEAD + GOOD + row(A, "0.75", "2", "car", "1"), "overlapping-rows", 3, 2),
    "overlap_far_back": doubtful(EVENTS + row(A, "0", "9", "car") + row(A, "1", "2", "dog") + row(A, "3", "4",
        "car"), "overlapping-rows", 4, 2),
    "overlap_behind_a_declared_file": doubtful(EVENTS + "quiet.wav\n\n" + row(A, "3", "5", "car") + row(A,
        "4", "6", "car"), "overlapping-rows", 5, 2),
    "overlap_in_quotes": doubtful('filename,onset,offset,event_label\n"a, b",0,2,"car"\n\n"a, b",1,3,"car"\n',
        "overlapping-rows", 4, 2),
    "overlap_wide": doubtful(WIDE + row(A, "0", "1", "0.5", "0") + row(A, "0.5", "1.5", "0.5", "0"),
        "overlapping-rows", 3, 2),
    "touching_events": doubtful(EVENTS + row(A, "0", "1", "car") + row(A, "5", "6", "dog") + row(A, "1", "2",
        "car"), "touching-rows", 4, 2),
    "gap": doubtful(WIDE + row(A, "0", "1", "0.5", "0") + row(A, "1", "2", "0", "1") + row(A, "3", "4", "0",
        "1"), "gap", 4, 2),
    "late_start": doubtful(WIDE + row(A, "0", "1", "0.5", "0") + row("b.wav", "1", "2", "0.5", "1"),
        "late-start", 3, 2),
    "early_end": doubtful(WIDE + row(A, "0", "1", "0.5", "0") + row("b.wav", "0", "1", "0.5", "1"),
        "early-end", 2, 3, *REF),
    "after_the_duration": doubtful(HEAD + row(A, "9", "11", "car", "0.5"), "after-end", 2, 3, "--durations",
        "durations.tsv"),
    "after_a_wide_reference": doubtful(HEAD + row(A, "1", "3.5", "car", "0.5"), "after-end", 2, 3, *WIDE_REF),
    "milliseconds": doubtful(HEAD + row(A, "0", "9100", "car", "0.5") + row("b.wav", "10", "8100", "car",
        "1"), "time-unit", 2, 3, *REF),
    "frames": doubtful(EVENTS + row(A, "0", "475", "car") + row("b.wav", "50", "500", "car"), "time-unit", 3,
        3, *REF),
    "minutes": doubtful(EVENTS + row(A, "0", "0.15", "car") + row("b.wav", "0.01", "0.13", "car"),
        "time-unit", 2, 3, *REF),
    "milliseconds_by_themselves": doubtful("250\t1730\tcar\n2000\t4520\tdog\n", "time-unit", 2, 2),
    "three_days": doubtful(EVENTS + row(A, "259100.5", "259200.25", "car"), "long-recording", 2, 3),
}  # fmt: skip

NAMES: dict[str, Bad] = {
    "no_file_names": bad("0\t1\tcar\n", "missing-filename-column", None, None, *REF),
    "no_file_names_for_durations": bad("0\t1\tcar\n", "missing-filename-column", None, None, "--durations",
        "durations.tsv"),
    "unknown_class": doubtful(HEAD + GOOD + row("b.wav", "1", "2", "street_dgo", "1"), "unknown-class", 3, 4,
        *REF),
    "unknown_class_column": doubtful("filename\tonset\toffset\tcar\tcat\na.wav\t0\t1\t0.5\t0.25\n",
        "unknown-class", 1, 5, *WIDE_REF),
    "class_of_no_challenge": doubtful(EVENTS + row(A, "0", "1", "Speech") + row(A, "3", "4", "Dogs"),
        "unknown-class", 3, 4, "--preset", "dcase2019-task4"),
    "class_in_capitals": doubtful(HEAD + row(A, "0", "1", "Car", "0.5"), "class-spelling", 2, 4, *REF),
    "class_with_blank": doubtful(HEAD + row(A, "0", "1", "street dog", "0.5"), "class-spelling", 2, 4, *REF),
    "class_column_in_capitals": doubtful("filename\tonset\toffset\tcar\tDog\na.wav\t0\t1\t0.5\t0\n",
        "class-spelling", 1, 5, *WIDE_REF),
    "class_in_two_spellings": doubtful(EVENTS + row(A, "0", "1", "car") + row(A, "2", "3", "CAR"),
        "similar-classes", 3, 4),
    "class_left_out": doubtful(HEAD + GOOD + row("b.wav", "0", "1", "car", "0.5"), "missing-class", None,
        None, *REF),
    "labels_are_numbers": doubtful(EVENTS + row(A, "0", "1", "3") + row(A, "2", "3", "7"), "numeric-labels",
        1, 4),
    "unknown_file": doubtful(HEAD + GOOD + row("bb.wav", "1", "2", "car", "1"), "unknown-file", 3, 1, *REF),
    "unknown_declared_file": doubtful(HEAD + GOOD + "\nz.wav\n", "unknown-file", 4, 1, *REF),
    "missing_file": doubtful(HEAD + GOOD, "missing-file", None, None, *REF),
    "missing_file_of_durations": doubtful(HEAD + GOOD, "missing-file", None, None, "--durations",
        "durations.tsv"),
    "ambiguous_file": doubtful(HEAD + row("x/a.wav", "0", "1", "car", "0.5") + row("y/a.wav", "0", "1", "car",
        "0.5"), "ambiguous-file", 2, 1, *REF),
    "path_as_a_name": doubtful(HEAD + GOOD + row("../../etc/passwd", "1", "2", "car", "1"), "unknown-file", 3,
        1, *REF),
    "markup_as_a_name": doubtful(HEAD + GOOD + row(A, "2", "3", "<script>alert(1)</script>", "1"),
        "unknown-class", 3, 4, *REF),
    "formula_as_a_name": doubtful(HEAD + GOOD + row(A, "2", "3", "=cmd|'/c calc'!A0", "1"), "unknown-class",
        3, 4, *REF),
    "annotation_as_a_name": doubtful(HEAD + GOOD + row(A, "2", "3", "::error file=x::%0Ahello", "1"),
        "unknown-class", 3, 4, *REF),
}  # fmt: skip

LONG, TABLE = (HEAD.partition("\t")[2] + GOOD.partition("\t")[2]).encode(), b"onset\toffset\tcar\n0\t1\t0.5\n"

FOLDERS: dict[str, Bad] = {
    "folder_of_nothing": Bad({}, "empty-folder", None, None),
    "folder_of_other_things": Bad({"notes.md": b"hello"}, "empty-folder", None, None),
    "folder_with_two_of_one": Bad({"a.tsv": LONG, "a.csv": LONG}, "repeated-recording", None, None),
    "folder_with_rows_of_one_in_two": Bad({"a.tsv": (HEAD + GOOD).encode(), "b.tsv": (HEAD + GOOD).encode()},
        "repeated-recording", None, None),
    "folder_of_long_and_wide": Bad({"a.tsv": LONG, "b.tsv": TABLE}, "mixed-tables", None, None),
    "folder_with_a_bad_table": Bad({"a.tsv": LONG, "b.tsv": LONG + b"3\t2\tcar\t0.5\n"},
        "offset-before-onset", 3, 2, inside="b.tsv"),
    "folder_with_two_bad_tables": Bad({"a.tsv": b"junk\n", "b.tsv": LONG + b"2\t3\tcar\t5\n"},
        "value-out-of-range", 3, 4, inside="b.tsv"),
    "folder_with_an_overlap": Bad({"a.tsv": LONG, "b.tsv": LONG + b"\n0.5\t3\tcar\t0.5\n"},
        "overlapping-rows", 4, 1, scored=True, inside="b.tsv"),
    "folder_with_an_unknown_class": Bad({"a.tsv": LONG, "b.tsv": LONG + b"2\t3\tcow\t0.5\n"}, "unknown-class",
        3, 3, REF, scored=True, inside="b.tsv"),
}  # fmt: skip


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def encrypted(archive: bytes) -> bytes:
    """Return a zip archive whose only member says that it is encrypted."""
    data = bytearray(archive)
    for begin, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(begin) + flags] |= 1
    return bytes(data)


def linked(name: str, target: str) -> bytes:
    """Return a tar archive with a symbolic link."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        archive.addfile(member)
    return stream.getvalue()


OTHERS: dict[str, Bad] = {
    "archive_with_a_link": Bad(linked("a.tsv", "/etc/passwd"), "archive-link", None, None),
    "archive_encrypted": Bad(encrypted(zipped({"a.tsv": LONG})), "encrypted", None, None),
    "parquet_cut_off": Bad(b"PAR1" + bytes(20) + b"PAR1", "malformed-file", None, None),
    "archive_cut_off": Bad(zipped({"a.tsv": LONG})[:60], "broken-archive", None, None),
    "archive_in_archive": Bad(zipped({"a.zip": zipped({"a.tsv": LONG})}), "nested-archive", None, None),
    "archive_leading_out": Bad(zipped({"../a.tsv": LONG}), "unsafe-name", None, None),
    "archive_of_nothing": Bad(zipped({}), "empty-folder", None, None),
    "archive_with_a_bad_table": Bad(zipped({"a.tsv": LONG + b"3\t2\tcar\t0.5\n"}), "offset-before-onset", 3,
        2, inside="a.tsv"),
}  # fmt: skip

BAD: dict[str, Bad] = OTHERS | FILES | FORM | FIELDS | VALUES | TIMES | NAMES | FOLDERS


def write(folder: Path) -> dict[str, Path]:
    """Write all bad inputs, and what they are held against, into a folder; return their paths."""
    (folder / "reference.tsv").write_text(REFERENCE, encoding="utf-8")
    (folder / "wide_reference.tsv").write_text(WIDE_REFERENCE, encoding="utf-8")
    (folder / "durations.tsv").write_text(DURATIONS, encoding="utf-8")
    return {name: put(folder, name) for name in BAD}


def put(folder: Path, name: str) -> Path:
    """Write one bad input into a folder, and return its path."""
    data = BAD[name].data
    if isinstance(data, bytes):
        path = folder / f"{name}.tsv"
        path.write_bytes(data)
        return path
    path = folder / name
    path.mkdir()
    for inner, content in data.items():
        (path / inner).write_bytes(content)
    return path


def main() -> None:
    """Write the folder that was named, and the list of what is expected."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    listed = [
        {
            "file": path.name,
            "inside": BAD[name].inside,
            "code": BAD[name].code,
            "line": BAD[name].line,
            "column": BAD[name].column,
            "options": BAD[name].options,
        }
        for name, path in write(folder).items()
    ]
    (folder / "expected.json").write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
