"""Names of files and classes: those that are unknown or missing, and those that hide something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sedeval_soft.core.codes import problem
from sedeval_soft.core.errors import Problem
from sedeval_soft.core.filenames import match_names
from sedeval_soft.core.hints import did_you_mean
from sedeval_soft.core.rows import UNNAMED, LongRows
from sedeval_soft.formats.columns import is_number
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.tables import Table

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_SHOWN = 80


def shown(name: str) -> str:
    """Return a name in quotes, what cannot be seen escaped, the end of a long one left out."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


def folded(name: str) -> str:
    """Return a name as it is compared where case, blanks, `-` and `_` shall make no difference."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def check_names(table: Table, log: Log) -> None:
    """Look at the names of one table by themselves."""
    rows = table.rows
    for role, names in (("filename", table.files), ("event_label", table.classes)):
        hidden = [name for name in names if not name.isprintable()]
        for name in hidden[: log.most]:
            message = f"{shown(name)} holds a character that is not seen"
            log.add(problem("control-character", table.name, message, *place_of(table, role, name)))
    by_look: dict[str, str] = {}
    for name in table.classes:
        other = by_look.setdefault(folded(name), name)
        if other != name:
            message = f"class {shown(name)} is another than {shown(other)}"
            log.add(problem("similar-classes", table.name, message, *place_of(table, "event_label", name)))
    if isinstance(rows, LongRows) and rows.classes and all(map(is_number, rows.classes)):
        line = table.sniffed.skip or 1
        log.add(
            problem(
                "numeric-labels", table.name, "all classes are numbers", line, table.column("event_label")
            )
        )
    decimal = rows.files and all(is_number(name) and "." in name for name in rows.files)
    if decimal and not table.sniffed.layout.has_header:
        message = "all file names are decimal numbers: these could be onset, offset, value and label"
        log.add(
            problem("swapped-columns", table.name, message, table.lines_of([0])[0], table.column("filename"))
        )
    for name in rows.origin.ignored:
        layout = table.sniffed.layout
        column = layout.names.index(name) + 1
        hint = did_you_mean(name.lower(), ("soft_value", "value", "score", "filename"), n=1, cutoff=0.8)
        at = (table.sniffed.skip or None, column)
        log.add(problem("ignored-column", table.name, f"column {shown(name)} is read past{hint}", *at))


def place_of(table: Table, role: str, name: str) -> tuple[int | None, int | None]:
    """Return the line and column where a name stands first."""
    rows = table.rows
    if role == "event_label" and not isinstance(rows, LongRows):
        return table.sniffed.skip, table.column(name)
    names, codes = (rows.files, rows.file) if role == "filename" else (rows.classes, _labels(table))
    column = table.column(role)
    if column is None:
        return None, None
    if name not in names:
        return table.named[role][name], column
    used = np.flatnonzero(codes == names.index(name))
    return (table.lines_of(used[:1])[0] if len(used) else table.line_of_declared(name)), column


def _labels(table: Table) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    rows = table.rows
    return rows.label if isinstance(rows, LongRows) else np.zeros(0, dtype=np.int32)


def check_classes(tables: Sequence[Table], known: Sequence[str], where: str, source: str, log: Log) -> None:
    """Compare the classes of some tables with those that are known; where: in words."""
    named = list(dict.fromkeys(name for table in tables for name in table.classes))
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    unknown = [name for name in named if name not in set(known)]
    spelt = {name: by_look[folded(name)] for name in unknown if len(by_look.get(folded(name), ())) == 1}

    def problems() -> Iterable[Problem]:
        hints = len(unknown) * len(known) <= _COMPARED
        for name in unknown:
            if name not in spelt:
                hint = did_you_mean(name, known, n=1, cutoff=0.6) if hints else ""
                message = f"class {shown(name)} is not {where}{hint}"
                yield _told("unknown-class", tables, name, message)

    log.add_many("unknown-class", len(unknown) - len(spelt), problems())
    for name, (right,) in spelt.items():
        message = f"class {shown(name)} is not {where}, {shown(right)} is"
        log.add(_told("class-spelling", tables, name, message, f"write {shown(right)}"))
    found = {*named, *(right for (right,) in spelt.values())}
    for name in known:
        if name not in found:
            log.add(problem("missing-class", source, f"class {shown(name)} of those {where} is never named"))


def _told(code: str, tables: Sequence[Table], name: str, message: str, mend: str = "") -> Problem:
    """Return the problem of a name of a file or class where it stands first."""
    role = "filename" if code.endswith("file") else "event_label"
    for table in tables:
        if name in (table.files if role == "filename" else table.classes):
            return problem(code, table.name, message, *place_of(table, role, name), mend)
    return problem(code, tables[0].name, message, mend=mend)


def check_files(
    tables: Sequence[Table], reference: Sequence[str], where: str, source: str, log: Log
) -> Mapping[str, str]:
    """Compare the files of some tables with those of the reference; return by what names it knows them."""
    named = list(dict.fromkeys(name for table in tables for name in table.files))
    match = match_names(reference, named)
    known = set(reference)
    extra = [n for n in named if match.canonical[n] not in known and n not in set(match.ambiguous)]
    missing = sorted(known - set(match.canonical.values()))

    def unknown() -> Iterable[Problem]:
        hints = len(extra) * len(missing) <= _COMPARED
        for name in extra:
            hint = did_you_mean(name, missing, n=1) if hints else ""
            message = f"file {shown(name)} is not {where}{hint}"
            yield _told("unknown-file", tables, name, message)

    log.add_many("unknown-file", len(extra), unknown())
    for name in match.ambiguous:
        message = f"file {shown(name)} could be more than one file of those {where}"
        log.add(_told("ambiguous-file", tables, name, message))
    log.add_many(
        "missing-file",
        len(missing),
        (problem("missing-file", source, f"there are no rows for file {shown(name)}") for name in missing
         if name != UNNAMED),
    )  # fmt: skip
    return match.canonical


def check_swapped(tables: Sequence[Table], files: Sequence[str], classes: Sequence[str], log: Log) -> bool:
    """Find classes where files belong, and files where classes do; return whether it is so."""
    for table in tables:
        rows = table.rows
        looks = {*files} & {*rows.classes} and {*classes} & {*rows.files}
        if looks and isinstance(rows, LongRows) and not ({*files} & {*rows.files}):
            message = "classes of the reference stand as file names, and its files as classes"
            place = (table.lines_of([0])[0], table.column("filename"))
            log.add(problem("swapped-columns", table.name, message, *place))
            return True
    return False
