"""Every broken table gets an error that says where and what; nothing else ever escapes."""

from __future__ import annotations

import gzip

import pytest
from called import call

from sedeval_soft.errors import MAX_PROBLEMS, InputError
from sedeval_soft.tables import read_rows

HEAD = b"filename\tonset\toffset\tevent_label\tsoft_value\n"
GOOD = b"a.wav\t0.0\t1.0\tcar\t0.5\n"


def _row(*fields: str) -> bytes:
    return "\t".join(fields).encode() + b"\n"


BROKEN = {
    "value_above_1": (HEAD + GOOD + _row("a.wav", "1", "2", "car", "1.5"), 3, 5, ("1.5", "[0, 1]")),
    "value_in_percent": (HEAD + _row("a.wav", "1", "2", "car", "85"), 2, 5, ("85", "percent")),
    "value_negative": (HEAD + GOOD + _row("a.wav", "1", "2", "car", "-0.1"), 3, 5, ("-0.1", "[0, 1]")),
    "value_nan": (HEAD + GOOD * 4 + _row("a.wav", "1", "2", "car", "nan"), 6, 5, ("nan", "not finite")),
    "value_empty": (HEAD + _row("a.wav", "1", "2", "car", ""), 2, 5, ("soft_value is empty",)),
    "value_text": (HEAD + _row("a.wav", "1", "2", "car", "high"), 2, 5, ("'high'", "not a number")),
    "value_underscore": (HEAD + _row("a.wav", "1_0", "20", "car", "1"), 2, 2, ("'1_0'", "not a number")),
    "decimal_comma": (HEAD + _row("a.wav", "1,5", "2", "car", "1"), 2, 2, ("'1,5'", "decimal comma")),
    "onset_infinite": (HEAD + _row("a.wav", "inf", "inf", "car", "1"), 2, 2, ("inf", "not finite")),
    "onset_huge": (HEAD + _row("a.wav", "1e999", "1e999", "car", "1"), 2, 2, ("1e999", "too large")),
    "onset_negative": (HEAD + GOOD + _row("a.wav", "-1", "2", "car", "1"), 3, 2, ("-1", "negative")),
    "onset_empty": (HEAD + _row("a.wav", "", "2", "car", "1"), 2, 2, ("onset is empty",)),
    "offset_before_onset": (
        HEAD + GOOD + _row("a.wav", "3.5", "2.0", "car", "1"),
        3,
        3,
        ("offset 2.0 is before onset 3.5",),
    ),
    "label_empty": (HEAD + GOOD + _row("a.wav", "1", "2", "  ", "1"), 3, 4, ("event_label is empty",)),
    "filename_empty": (HEAD + GOOD + _row("", "1", "2", "car", "1"), 3, 1, ("filename is empty",)),
    "too_few_fields": (HEAD + GOOD + _row("a.wav", "1", "2", "car"), 3, None, ("4 fields", "5 fields")),
    "too_many_fields": (
        HEAD + GOOD + _row("a.wav", "1", "2", "car", "1", "x"),
        3,
        None,
        ("6 fields", "5 fields"),
    ),
    "blank_lines_are_counted": (
        HEAD + b"\n\n" + GOOD + b"\n" + _row("a.wav", "1", "2", "car", "7"),
        6,
        5,
        ("7",),
    ),
    "crlf_lines_are_counted": (
        (HEAD + GOOD + GOOD).replace(b"\n", b"\r\n") + b"a.wav\t1\t2\tcar\t2\r\n",
        4,
        5,
        ("outside",),
    ),
    "not_a_table": (b"hello world\nthis is text\n", 1, None, ("neither a header nor a row",)),
    "unknown_header": (b"on;off;what\n0;1;car\n", 1, None, ("neither a header nor a row",)),
    "misspelt_header": (b"filename\tonsett\toffset\tevent_label\n", 1, 2, ("'onset'", "'onsett'")),
    "header_without_labels": (b"onset\toffset\tvalue\n0\t1\t0.5\n", 1, None, ("none of labels",)),
    "header_without_classes": (b"filename\tonset\toffset\na\t0\t1\n", 1, None, ("event_label",)),
    "two_onsets": (b"start\tbegin\toffset\tlabel\n0\t0\t1\tcar\n", 1, 2, ("'start' and 'begin'",)),
    "wide_class_twice": (b"onset\toffset\tcar\tcar\n0\t1\t1\t1\n", 1, 4, ("'car'", "once")),
    "wide_class_without_name": (b"onset\toffset\tcar\t\n0\t1\t1\t1\n", 1, 4, ("column 4",)),
    "wide_cell_empty": (b"onset\toffset\tcar\tdog\n0\t1\t0.5\t\n", 2, 4, ("dog is empty",)),
    "wide_cell_text": (b"onset\toffset\tcar\tdog\n0\t1\tyes\t0\n", 2, 3, ("'yes'",)),
    "long_or_wide": (b"onset\toffset\tspeech\tevent\n0\t1\t0.5\t0\n", 1, 4, ("'event'", "wide table")),
    "ambiguous_without_header": (b"a\t0\t1\t0.5\n", 1, None, ("could be", "header")),
    "offset_in_milliseconds": (
        HEAD + GOOD + _row("a.wav", "1", "1e10", "car", "1"),
        3,
        3,
        ("1e10", "over 31536000 s"),
    ),
    "full_width_digits": (HEAD + _row("a.wav", "\uff11", "2", "car", "1"), 2, 2, ("not a number",)),
    "quote_unclosed_in_label": (
        HEAD + GOOD + _row("a.wav", "1", "2", '"car', "1") + GOOD * 3,
        3,
        4,
        ("quote", "not closed"),
    ),
    "quote_unclosed_in_last_field": (
        HEAD.replace(b"soft_value", b"note") + _row("a", "1", "2", "car", '"yes'),
        2,
        5,
        ("not closed",),
    ),
    "quote_closed_lines_later": (
        HEAD + _row("a", "1", "2", '"car', "1") + GOOD + _row("a", "1", "2", 'dog"', "1"),
        2,
        4,
        ("not closed",),
    ),
    "quote_over_lines_in_a_column_that_is_ignored": (
        b'onset,offset,event_label,note\n0,1,car,"a\n2,3,dog,b"\n',
        2,
        4,
        ("not closed",),
    ),
    "quote_in_header": (b'onset,offset,"event_label\n0,1,car\n', 1, 3, ("not closed",)),
    "quote_in_header_of_another_table": (b'"onset,offset,event_label\n0,1,car\n', 1, 1, ("not closed",)),
    "quote_in_number": (b'onset,offset,car\n0,1,0.5\n1,"2,0.5\n', 3, 2, ("not closed",)),
    "text_after_quote": (b'onset,offset,label\n0,1,"a"b\n', 2, 3, ("'b' follows",)),
    "separator_in_number": (HEAD + GOOD + b"a.wav\t\x1c.0\t1\tcar\t1\n", 3, 2, ("is not a number",)),
    "empty": (b"", None, None, ("is empty",)),
    "only_delimiters": (b",,\n,,\n", None, None, ("is empty",)),
    "only_blanks": (b" \n\n  \n", None, None, ("is empty",)),
    "utf_16": ("onset\toffset\tlabel\n".encode("utf-16"), 1, None, ("UTF-16",)),
    "latin_1": (HEAD + GOOD + "a.wav\t0\t1\tcafé\t1\n".encode("latin-1"), 3, 4, ("0xe9", "UTF-8")),
    "nul_byte": (HEAD + GOOD + b"a.wav\t0\t1\tc\0r\t1\n", 3, 4, ("NUL",)),
    "binary": (bytes(range(256)) * 4, None, None, ()),
    "gzip_cut_short": (gzip.compress(HEAD + GOOD * 99)[:40], None, None, ("gzip",)),
}
"""Tables that cannot be scored: their bytes, and the line, column and words of the first problem."""


@pytest.mark.parametrize("name", BROKEN)
def test_broken_table_is_refused_with_its_place(name, tmp_path):
    data, line, column, words = BROKEN[name]
    path = tmp_path / f"{name}.tsv"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    first = caught.value.problems[0]
    assert first.source == str(path)
    if name != "binary":
        assert (first.line, first.column) == (line, column), first
    assert all(word in first.message for word in words)
    assert str(first).isprintable()
    good = tmp_path / "good.tsv"
    good.write_bytes(HEAD + GOOD)
    done = call(good, path)
    assert (done.code, done.out) == (2, "")
    place = ":".join(str(part) for part in (path, line, column) if part is not None)
    assert place in done.err


def test_many_problems_are_shown_ten_at_a_time(tmp_path):
    path = tmp_path / "many.tsv"
    path.write_bytes(HEAD + b"a.wav\t2\t1\tcar\t1\n" * 50)
    with pytest.raises(InputError) as caught:
        read_rows(path)
    assert [problem.line for problem in caught.value.problems] == list(range(2, 2 + MAX_PROBLEMS))
    assert "more problems" in str(caught.value)


def test_long_and_hostile_text_is_shortened_and_escaped(tmp_path):
    path = tmp_path / "hostile.tsv"
    path.write_bytes(HEAD + b"a.wav\t\x1b[31mred" + b"x" * 500 + b"\t1\tcar\t1\n")
    with pytest.raises(InputError) as caught:
        read_rows(path)
    message = str(caught.value)
    assert "\x1b" not in message
    assert "\\x1b[31mred" in message
    assert len(message) < 300


def test_missing_files_and_folders_are_input_errors(tmp_path):
    for path in (tmp_path / "missing.tsv", tmp_path):
        with pytest.raises(InputError):
            read_rows(path)
