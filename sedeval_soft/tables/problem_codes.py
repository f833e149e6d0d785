"""Every kind of problem by its code: how bad it is, what it means, and what to do about it.

Codes are stable: scripts and CI look for them. Readers and checks name a code; its meaning is here only.
"""

from __future__ import annotations

from dataclasses import dataclass

from sedeval_soft.errors import Problem, Severity
from sedeval_soft.tables.limits import NAMES

ANY = 0.0
"""The share of rows that one row is always above."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a code stands for: severity, meaning, and what is done about it where a problem says no better.

    misread: of what share of the rows (of `early-end`: of the recordings) it must be so for `evaluate` and
    `board` to take the table for misread, and warn: 0 where one is enough, None where they do not. What may
    be meant so in an ordinary table, and what costs a row but not the meaning of the table, is None.
    """

    severity: Severity
    meaning: str
    mend: str
    misread: float | None = None


_FILES: dict[str, Rule] = {
    "unreadable-file": Rule("error", "The file cannot be opened or read.", "check its name and permissions"),
    "broken-gzip": Rule("error", "Begins like gzip, but cannot be decompressed.", "compress it again"),
    "utf-16": Rule("error", "The text is UTF-16.", "save it as UTF-8"),
    "not-utf-8": Rule("error", "A byte is not UTF-8: often Latin-1 or Windows-1252.", "save it as UTF-8"),
    "nul-byte": Rule("error", "A NUL byte: this is not text.", "remove it, or export the table as text"),
    "empty-file": Rule("error", "There is not a line in the file.", "write a header at least"),
    "empty-folder": Rule("error", "A folder without any table.", "name the folder that the tables are in"),
    "repeated-recording": Rule("error", "Two tables of a folder or an archive have one recording.",
                               "leave one of them"),
    "operating-points": Rule("warning", "The names of a folder's tables hold thresholds: `evaluate` takes "
                             "them as operating points of one system.",
                             "say that they are: `--operating-points FOLDER` in place of SYSTEM"),
    "mixed-tables": Rule("error", "A folder of both long and wide tables, or of tables with and without "
                         "values.", "write all in one form"),
    "broken-archive": Rule("error", "An archive that cannot be unpacked, or with a member that is refused.",
                           "pack plain files again"),
    "archive-link": Rule("error", "A link or a device in an archive.", "pack plain files"),
    "encrypted": Rule("error", "A member of an archive that is encrypted.", "pack it without a password"),
    "nested-archive": Rule("error", "An archive within an archive.", "pack the tables themselves"),
    "unsafe-name": Rule("error", "A name that leads out of an archive or folder, or that no file can have.",
                        "rename it"),
    "cannot-hold": Rule("error", "The form asked of `convert` cannot hold the table.",
                        "convert to another form"),
    "malformed-file": Rule("error", "A file of another form than a table of text that breaks its rules.",
                           "export it again"),
    "mixed-line-ends": Rule("note", "Lines end in more than one way (LF, CRLF, CR).", "end all in LF"),
}  # fmt: skip

_FORM: dict[str, Rule] = {
    "not-a-table": Rule("error", "The first line is neither a header nor a row.", "add a header"),
    "ambiguous-table": Rule("error", "The table could be read in two ways.", "add a header that says which"),
    "missing-column": Rule("error", "A column that is needed is not in the header.", "name it in the header"),
    "repeated-column": Rule("error", "Two columns could play one role, or have one name.",
                            "rename or remove one of them"),
    "unnamed-column": Rule("error", "A column of a wide table has no name.", "give it the name of its class"),
    "unclear-file-column": Rule("error", "No column is known to name the recordings, and one that plays no "
                                "role has several texts.",
                                "say what it is with `--columns`"),
    "unclear-value-column": Rule("error", "There are no values, and a column that plays no role has numbers "
                                 "in [0, 1].", "say what it is with `--columns`"),
    "raven-table": Rule("error", "A selection table of Raven's: a row for each view of a selection.",
                        "write one row a selection"),
    "ignored-column": Rule("note", "A column that plays no role is read past.", "remove it, or correct its "
                           "name"),
    "no-rows": Rule("note", "There is not a single row: an output without events.",
                    "check that the system wrote its output"),
    "field-count": Rule("error", "A line has more or fewer fields than the table has columns.",
                        "write one field for each column"),
    "mixed-delimiters": Rule("error", "A line is divided by another character than the table.",
                             "divide all lines alike"),
    "misquoted": Rule("error", "A quote is not closed on its line, or text follows it.",
                      "close the quote, or double those that are part of a name"),
    "swapped-columns": Rule("warning", "Two columns seem to stand in each other's place.",
                            "swap them, or their names in the header", misread=ANY),
    "swapped-times": Rule("error", "No onset is before its offset: the two seem to be swapped.",
                          "swap onset and offset"),
}  # fmt: skip

_FIELDS: dict[str, Rule] = {
    "empty-name": Rule("error", "The name of a file or class is empty.", "write the name"),
    "empty-number": Rule("error", "A time or value is empty.", "write the number"),
    "not-a-number": Rule("error", "A text stands where a number belongs.", "write a number in plain digits"),
    "decimal-comma": Rule("error", "A number has a decimal comma.", "write a decimal point"),
    "not-finite": Rule("error", "NaN or infinity stands where a number belongs.", "write a finite number"),
    "negative-time": Rule("error", "A time is negative.", "count seconds from the start of the recording"),
    "time-too-long": Rule("error", "A time is longer than any recording.", "write seconds"),
    "offset-before-onset": Rule("error", "A row ends before it begins.", "correct the one that is wrong"),
    "value-out-of-range": Rule("error", "A value is outside [0, 1].", "scale the values to [0, 1]"),
    "control-character": Rule("warning", "A name holds a control character or one that is not seen.",
                              "remove it from the name"),
}  # fmt: skip

_VALUES: dict[str, Rule] = {
    "values-in-percent": Rule("error", "All values could be percentages.", "divide all values by 100"),
    "values-are-logits": Rule("error", "Values lie far on both sides of [0, 1]: they could be logits.",
                              "apply the sigmoid function"),
    "values-all-hard": Rule("note", "All values are 0 or 1: scores may have been cut at a threshold.",
                            "write the scores before the threshold"),
    "values-all-equal": Rule("note", "All values are the same.", "check that these are scores"),
    "value-rounded": Rule("note", "Values just beyond [0, 1] were taken for 0 or 1.", "clip them to [0, 1]"),
}  # fmt: skip

_TIMES: dict[str, Rule] = {
    "zero-length": Rule("warning", "A row ends where it begins: it fills no segment.", "remove it, or give "
                        "it a length", misread=0.5),
    "duplicate-row": Rule("warning", "A row stands there twice.", "remove one of the two", misread=0.1),
    "overlapping-rows": Rule("warning", "Two rows of one file and class overlap.",
                             "join them, or correct their times", misread=0.5),
    "touching-rows": Rule("note", "One row ends where another of its file, class and value begins.",
                          "join them if they are one event"),
    "gap": Rule("warning", "A wide table leaves a gap between rows.", "write a row for all times",
                misread=0.5),
    "late-start": Rule("warning", "A wide table does not begin at 0.", "write rows from 0 on"),
    "early-end": Rule("warning", "A wide table ends before its recording does.",
                      "write rows up to the end", misread=1.0),
    "after-end": Rule("warning", "A row ends after its recording does.",
                      "correct the time: segments after the end are not evaluated", misread=ANY),
    "time-unit": Rule("warning", "Times seem to be in milliseconds, frames or samples.", "write seconds",
                      misread=ANY),
    "long-recording": Rule("warning", "A recording is longer than a day.", "check that times are seconds",
                           misread=ANY),
}  # fmt: skip

_NAMES: dict[str, Rule] = {
    "missing-filename-column": Rule("error", "There are no file names, but many recordings.",
                                    "add a column filename"),
    "unknown-class": Rule("warning", "A class is not in the reference, or not among those of the challenge.",
                          "correct its name, or leave its rows out", misread=ANY),
    "class-spelling": Rule("warning", "A class differs from a known one in case, blanks, `-` or `_` only.",
                           "write it as the reference does", misread=ANY),
    "similar-classes": Rule("warning", "Two classes of a table differ in case, blanks, `-` or `_` only.",
                            "write both alike if they are one", misread=ANY),
    "missing-class": Rule("note", "A class of the reference or the challenge is never named.",
                          "check that the system knows it"),
    "numeric-labels": Rule("note", "All classes are numbers.", "write their names"),
    "unknown-file": Rule("warning", "A file is not in the reference: all its events are false alarms.",
                         "correct its name, or leave its rows out", misread=ANY),
    "missing-file": Rule("warning", "A file of the reference is missing: all its events are misses.",
                         "write its rows, or a line of its name alone if it has no events", misread=ANY),
    "ambiguous-file": Rule("warning", "A file name could be more than one file of the reference.",
                           "write it as the reference does", misread=ANY),
}  # fmt: skip

_LIMITS: dict[str, Rule] = {
    f"too-many-{name}": Rule(
        "error",
        f"The input exceeds the limit `{name}`.",
        "raise the limit if the file can be trusted",
    )
    for name in NAMES
}

RULES: dict[str, Rule] = {**_FILES, **_FORM, **_FIELDS, **_VALUES, **_TIMES, **_NAMES, **_LIMITS}
"""All codes, in the order of the documentation."""


def problem(
    code: str,
    source: str,
    message: str,
    line: int | None = None,
    column: int | None = None,
    mend: str = "",
) -> Problem:
    """Return a problem of a kind, with the kind's severity, and its mend where there is no better one."""
    rule = RULES[code]
    return Problem(source, message, line, column, code, rule.severity, mend or rule.mend)
