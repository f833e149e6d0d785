"""One table, or a folder of them, looked at from all sides without scoring it; and a report of that.

A report is text, JSON, SARIF, or annotations of GitHub's: what is wrong, and where.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Unpack
from urllib.parse import quote

from sedeval_soft import __version__
from sedeval_soft.api.sources import (
    Durations,
    Listed,
    listed_files,
    path_of,
    read_lengths,
    reading_from,
    to_rows,
)
from sedeval_soft.checks.placed_tables import SEVERITIES, Log, Places, Table, read_tables
from sedeval_soft.checks.validate import Expected, check_tables
from sedeval_soft.errors import InputError, Problem, SettingsError, Severity, counted, visible
from sedeval_soft.fields import ReadingKeywords
from sedeval_soft.report.escape import github_message, github_property, json_text
from sedeval_soft.report.write import write_atomic
from sedeval_soft.settings import Settings, checked, in_form
from sedeval_soft.settings_files import checked_preset, classes_of_preset
from sedeval_soft.tables.joined_tables import thresholds_in
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tables.problem_codes import RULES, problem
from sedeval_soft.tables.source import spelled

MAX_PROBLEMS = 100

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Validation:
    """The outcome of a validation.

    source: what was looked at, as the user named it. problems: those that are told, by place. counts: how
    many there are of each code, told or not. form: how the table was read; rows, files, classes: how many it
    has. mends: what was corrected in a copy. characters: where the fields of problems stand in their lines.
    """

    source: str
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    form: str = ""
    rows: int = 0
    files: int = 0
    classes: int = 0
    mends: tuple[str, ...] = ()
    characters: Places = field(default_factory=dict)

    @property
    def more(self) -> int:
        """Return how many problems are not told."""
        return sum(self.counts.values()) - len(self.problems)

    def count(self, severity: Severity) -> int:
        """Return how many problems have a severity, told or not."""
        return sum(number for code, number in self.counts.items() if RULES[code].severity == severity)

    def span(self, problem: Problem) -> tuple[int, int] | None:
        """Return the first character of a problem's field and the one after its last, if it has one."""
        return self.characters.get((problem.source, problem.line or 0, problem.column or 0))

    @property
    def ok(self) -> bool:
        """Whether the table can be scored: there may be warnings and notes."""
        return not self.count("error")


def validate(
    system: str | os.PathLike[str],
    reference: Any = None,  # noqa: ANN401 - as for evaluate
    *,
    durations: Durations | None = None,
    classes: Sequence[str] | None = None,
    preset: str | None = None,
    max_problems: int = MAX_PROBLEMS,
    fix: str | os.PathLike[str] | None = None,
    stdin: BinaryIO | None = None,
    files: Listed | None = None,
    limits: Limits | None = None,
    **values: Unpack[ReadingKeywords],
) -> Validation:
    """Return all that is wrong with a table or a folder of them, and what looks wrong; nothing is scored.

    reference: a table that it is held against, as for `evaluate`: names of files and classes, lengths of
        recordings. durations: seconds by file name, or the path of a table of them. classes: those that
        there can be; preset: the name of a challenge, whose classes they are. max_problems: how many are
        told; all are counted.
    fix: where a corrected copy is written, of mends that are safe only; what is told then is what is left
        to do in the copy, and `mends` lists what was done. files: the recordings that will be scored, as for
        `evaluate`: names of others are not looked at. limits: the most that the table may have. Other
        keywords say how tables are read, as for `evaluate`.

    Raises InputError where the table cannot be opened or the reference be read, SettingsError for arguments.
    """
    limits = reading_from(limits, values)
    path_of(system, "system", "the path of a table, or of a folder of tables")
    in_form("max_problems", max_problems, [{"type": "integer", "minimum": 1, "maximum": 10**9}])
    whose = "in the settings"
    if preset is not None:
        checked_preset(preset)
        if classes is not None:
            raise SettingsError("classes and a preset are given; expected one of them")
        whose, classes = f"in {preset}", classes_of_preset(preset)
    rows = None if reference is None else to_rows(reference, "reference", Settings(), limits)
    chosen = None if classes is None else checked("classes", classes)
    lengths = read_lengths(durations, limits) or {}
    mends: tuple[str, ...] = ()
    if fix is not None:
        known = chosen or (rows.classes if rows is not None else ())
        system, stdin, mends = _write_copy(system, fix, known, stdin, limits)
    log, name, form = Log(max_problems), spelled(os.fspath(system)), ""
    tables = read_tables(system, log, stdin, limits)
    both = [*(table.rows for table in tables), *(() if rows is None else (rows,))]
    vain = [{*limits.as_read(each.origin, "").lacking} for each in both]
    log.add(*(problem("no-effect", name, text) for text in sorted(set.intersection(*vain) if tables else ())))
    listed = () if files is None else listed_files(files, limits)
    tables = check_tables(name, tables, Expected(rows, chosen, whose, lengths, listed), log)
    if tables:
        # How the first table with rows was read.
        first = next((table for table in tables if len(table.rows)), tables[0])
        form = first.rows.origin.form
        if tables[0].name != name:
            at_thresholds = limits.points or "operating-points" in log.counts
            form = f"{_of_several(tables, at_thresholds=at_thresholds)}, {form}"
    problems = log.worst()
    return Validation(
        source=name,
        problems=problems,
        counts=dict(log.counts),
        form=form,
        rows=sum(len(table.rows) for table in tables),
        files=len({file for table in tables for file in table.rows.files}),
        classes=len({label for table in tables for label in table.rows.classes}),
        mends=mends,
        characters=log.characters(problems),
    )


def _of_several(tables: Sequence[Table], *, at_thresholds: bool) -> str:
    """Return what the tables of a folder are, in words."""
    points = thresholds_in([table.name for table in tables]) if at_thresholds else None
    if points:
        return f"{counted(len(points), 'operating point')} at {min(points)!r} to {max(points)!r}"
    return f"folder of {counted(len(tables), 'table')}"


def _write_copy(
    system: str | os.PathLike[str],
    fix: str | os.PathLike[str],
    classes: Sequence[str],
    stdin: BinaryIO | None,
    limits: Limits,
) -> tuple[str | os.PathLike[str], BinaryIO | None, tuple[str, ...]]:
    """Write a corrected copy if one can be made; return what is to be looked at then, and what was done."""
    from sedeval_soft.checks.fix import mended

    name, copy = os.fspath(system), path_of(fix, "fix")
    if name not in {"", "-"} and os.path.isdir(system):
        raise SettingsError(f"--fix mends one table; {name} is a folder")
    try:
        same = Path(copy).samefile(name)
    except (OSError, ValueError):
        same = copy == name
    if same:
        raise SettingsError(f"--fix {copy}: this is the system output; expected another file")
    if name == "-":
        stdin = BytesIO((stdin or sys.stdin.buffer).read())
    try:
        text, mends = mended(system, classes, stdin, limits)
    except InputError as error:
        if any(each.code == "unreadable-file" for each in error.problems):
            raise
        text, mends = None, (f"no copy was written: {error.problems[0].message}",)
    if text is not None:
        write_atomic(fix, text)
        return fix, None, mends
    if stdin is not None:
        stdin.seek(0)
    return system, stdin, mends


def render_validation(validation: Validation, form: str = "text") -> str:
    """Return a validation in one of the forms `VALIDATION_FORMATS`."""
    return VALIDATION_FORMATS[form](validation)


def _message(problem: Problem) -> str:
    return visible(f"{problem.message}; {problem.mend}" if problem.mend else problem.message)


def _more(validation: Validation) -> str:
    """Return how many problems of which codes are not told."""
    more = Counter(validation.counts)
    more.subtract(problem.code for problem in validation.problems)
    return ", ".join(f"{number} {code}" for code, number in sorted(more.items()) if number)


def _text(validation: Validation) -> str:
    """Return a line for each problem, as compilers write them, and one that sums up."""

    def path(name: str) -> str:
        """Return a path so that a line that begins with it is no command to whatever reads it."""
        return visible(f"./{name}" if name.startswith((":", "#")) else name)

    lines = []
    for p in validation.problems:
        place = ":".join(str(part) for part in (path(p.source), p.line, p.column) if part is not None)
        lines.append(f"{place}: {p.severity} {p.code}: {_message(p)}")
    if validation.more:
        lines.append(f"... and {validation.more} more: {_more(validation)}")
    lines += [f"mended: {visible(mend)}" for mend in validation.mends]
    numbers = [(validation.count(severity), severity) for severity in SEVERITIES]
    summary = ", ".join(counted(n, severity) for n, severity in numbers if n) or "no problems"
    if validation.form:
        sizes = f"rows: {validation.rows}, files: {validation.files}, classes: {validation.classes}"
        summary += f" ({validation.form}; {sizes})"
    return "\n".join([*lines, f"{path(validation.source)}: {summary}"]) + "\n"


def _json(validation: Validation) -> str:
    sizes = {name: getattr(validation, name) for name in ("rows", "files", "classes")}
    document = {
        "schema": "soft-sed-eval-validation/1",
        "version": __version__,
        "source": validation.source,
        "form": validation.form or None,
        **sizes,
        **{f"{severity}s": validation.count(severity) for severity in SEVERITIES},
        "counts": dict(sorted(validation.counts.items())),
        "more": validation.more,
        "mends": validation.mends,
        "problems": [
            {"file": p.source, "line": p.line, "column": p.column, "characters": validation.span(p),
             "code": p.code, "severity": p.severity, "text": p.message, "mend": p.mend}
            for p in validation.problems
        ],
    }  # fmt: skip
    return json_text(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _sarif(validation: Validation) -> str:
    """Return SARIF 2.1.0. Its columns are characters, ours are fields: the field goes to the properties."""
    used = {code: rule for code, rule in RULES.items() if code in validation.counts}
    rules = [
        {
            "id": code,
            "shortDescription": {"text": rule.meaning},
            "help": {"text": f"{rule.mend[:1].upper()}{rule.mend[1:]}."},
            "defaultConfiguration": {"level": rule.severity},
        }
        for code, rule in used.items()
    ]
    results = []
    for p in validation.problems:
        # A path from the root is no reference by itself.
        scheme = "file://" if p.source.startswith("/") else ""
        location: dict[str, Any] = {"artifactLocation": {"uri": scheme + quote(p.source)}}
        if p.line is not None:
            span = validation.span(p)
            columns = {} if span is None else {"startColumn": span[0], "endColumn": span[1]}
            location["region"] = {"startLine": p.line, **columns}
        results.append(
            {
                "ruleId": p.code,
                "ruleIndex": [*used].index(p.code),
                "level": p.severity,
                "message": {"text": _message(p)},
                "locations": [{"physicalLocation": location}],
                **({} if p.column is None else {"properties": {"field": p.column}}),
            }
        )
    driver = {"name": "soft-sed-eval", "semanticVersion": __version__}
    run = {
        "tool": {"driver": {**driver, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"counts": dict(sorted(validation.counts.items())), "more": validation.more},
    }
    return json_text(json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2)) + "\n"


def _github(validation: Validation) -> str:
    """Return workflow commands that annotate the lines of files in a pull request."""
    lines = []
    for p in validation.problems:
        begin, end = validation.span(p) or (None, 0)
        column = {} if begin is None else {"col": begin, "endColumn": max(begin, end - 1)}
        properties = {"file": p.source, "line": p.line, **column, "title": p.code}
        given = ",".join(f"{key}={github_property(str(v))}" for key, v in properties.items() if v is not None)
        level = "notice" if p.severity == "note" else p.severity
        lines.append(f"::{level} {given}::{github_message(_message(p))}\n")
    if validation.more:
        lines.append(f"::notice title=more problems::{github_message(_more(validation))}\n")
    return "".join(lines)


VALIDATION_FORMATS = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
