"""Names of files and classes: those that are unknown or missing, and those that hide something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sedeval_soft.core.codes import problem
from sedeval_soft.core.errors import Problem
from sedeval_soft.core.filenames import match_names
from sedeval_soft.core.hints import did_you_mean, folded
from sedeval_soft.core.misread import are_swapped, decimal_files, similar_names
from sedeval_soft.formats.columns import is_number
from sedeval_soft.tables.event_table import UNNAMED
from sedeval_soft.validation.found import Log
from sedeval_soft.validation.tables import Table

_COMPARED = 200_000
"""How many pairs of names are compared, letter by letter, to guess what was meant."""

_SHOWN = 80


def shown(name: str) -> str:
    """Return a name in quotes, what cannot be seen escaped, the end of a long one left out."""
    return repr(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


def check_names(table: Table, log: Log) -> None:
    """Look at the names of one table by themselves."""
    rows = table.rows
    for role, names in (("filename", table.files), ("event_label", table.classes)):
        hidden = [name for name in names if not name.isprintable()]
        _tell("control-character", [table], role, hidden, lambda n: f"{shown(n)} is not all to be seen", log)
    like = similar_names(table.classes)
    said = "class {} is another than {}"
    _tell("similar-classes", [table], "event_label", list(like),
          lambda n: said.format(shown(n), shown(like[n])), log)  # fmt: skip
    if not rows.is_wide and rows.classes and all(map(is_number, rows.classes)):
        line = table.sniffed.skip or 1
        at = table.column("event_label")
        log.add(problem("numeric-labels", table.name, "all classes are numbers", line, at))
    message = decimal_files(rows, has_header=table.sniffed.layout.has_header)
    if message is not None and len(rows):
        first = table.lines_of([0])[0]
        log.add(problem("swapped-columns", table.name, message, first, table.column("filename")))
    ignored = [
        (name, i + 1)
        for i, (name, role) in enumerate(zip(*_columns(table), strict=True))
        if role is None and table.sniffed.layout.has_header and i not in table.sniffed.layout.settled
    ]
    log.add_many("ignored-column", len(ignored), (_ignored(table, *column) for column in ignored))


def _columns(table: Table) -> tuple[Sequence[str], Sequence[str | None]]:
    return table.sniffed.layout.names, table.sniffed.layout.roles


def _ignored(table: Table, name: str, column: int) -> Problem:
    hint = did_you_mean(name.lower(), ("soft_value", "value", "score", "filename"), n=1, cutoff=0.8)
    message = f"column {shown(name)} is read past{hint}"
    return problem("ignored-column", table.name, message, table.sniffed.skip or None, column)


def _tell(
    code: str,
    tables: Sequence[Table],
    role: str,
    names: Sequence[str],
    said: Callable[[str], str],
    log: Log,
    mend: Callable[[str], str] = lambda _: "",
) -> None:
    """Tell of some names of files or classes, where each stands first."""
    places = places_of(tables, role, names[: log.most])
    log.add_many(
        code,
        len(names),
        (
            problem(code, source, said(name), line, column, mend(name))
            for name, (source, line, column) in places.items()
        ),
    )


def places_of(
    tables: Sequence[Table], role: str, names: Sequence[str]
) -> dict[str, tuple[str, int | None, int | None]]:
    """Return the table, line and column where each of some names stands first."""
    places: dict[str, tuple[str, int | None, int | None]] = {}
    for table in tables:
        left = {name for name in names if name not in places}
        if not left:
            break
        places |= {name: (table.name, *at) for name, at in _places_in(table, role, left).items()}
    return {name: places.get(name, (tables[0].name, None, None)) for name in names}


def _places_in(table: Table, role: str, names: set[str]) -> dict[str, tuple[int | None, int | None]]:
    rows, column = table.rows, table.column(role)
    if role == "event_label" and rows.is_wide:
        known = names & {*rows.classes}
        return {name: (table.sniffed.skip, table.column(name)) for name in known}
    of = rows.files if role == "filename" else rows.classes
    if column is None:
        return dict.fromkeys(names & {*of}, (None, None))
    codes = rows.file if role == "filename" else rows.row_label
    first = {name: _first(codes, code) for code, name in enumerate(of) if name in names}
    used = {name: row for name, row in first.items() if row is not None}
    lines: dict[str, int] = {n: line for n, line in table.named.get(role, {}).items() if n in names}
    if len(used) < len(first):
        declared = table.lines_of_declared()
        lines |= {name: declared[name] for name in first if name not in used and name in declared}
    lines |= dict(zip(used, table.lines_of(list(used.values())), strict=True))
    return {name: (line, column) for name, line in lines.items()}


def _first(codes: npt.NDArray[np.int32], code: int) -> int | None:
    """Return the first row of a code, None where there is none."""
    found = codes == code
    row = int(np.argmax(found)) if len(found) else 0
    return row if len(found) and bool(found[row]) else None


def check_classes(tables: Sequence[Table], known: Sequence[str], where: str, source: str, log: Log) -> None:
    """Compare the classes of some tables with those that are known; where: in words."""
    named = list(dict.fromkeys(name for table in tables for name in table.classes))
    by_look: dict[str, list[str]] = {}
    for name in known:
        by_look.setdefault(folded(name), []).append(name)
    strange = _without(named, known)
    spelt = {name: by_look[folded(name)][0] for name in strange if len(by_look.get(folded(name), ())) == 1}
    unknown = _without(strange, spelt)
    hints = len(unknown) * len(known) <= _COMPARED
    _tell(
        "unknown-class",
        tables,
        "event_label",
        unknown,
        lambda n: f"class {shown(n)} is not {where}{did_you_mean(n, known, n=1) if hints else ''}",
        log,
    )
    _tell(
        "class-spelling",
        tables,
        "event_label",
        list(spelt),
        lambda n: f"class {shown(n)} is not {where}, {shown(spelt[n])} is",
        log,
        lambda n: f"write {shown(spelt[n])}",
    )
    missing = _without(known, [*named, *spelt.values()])
    log.add_many(
        "missing-class",
        len(missing),
        (
            problem("missing-class", source, f"class {shown(name)} of those {where} is never named")
            for name in missing
        ),
    )


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the names that are not among others, in their order."""
    left_out = set(others)
    return [name for name in names if name not in left_out]


def check_files(
    tables: Sequence[Table], reference: Sequence[str], where: str, source: str, log: Log
) -> Mapping[str, str]:
    """Compare the files of some tables with those of the reference; return by what names it knows them."""
    named = list(dict.fromkeys(name for table in tables for name in table.files))
    match = match_names(reference, named)
    known, doubtful = set(reference), set(match.ambiguous)
    extra = [name for name in named if match.canonical[name] not in known and name not in doubtful]
    missing = sorted(known - set(match.canonical.values()) - {UNNAMED})
    hints = len(extra) * len(missing) <= _COMPARED
    _tell(
        "unknown-file",
        tables,
        "filename",
        extra,
        lambda n: f"file {shown(n)} is not {where}{did_you_mean(n, missing, n=1) if hints else ''}",
        log,
    )
    _tell(
        "ambiguous-file",
        tables,
        "filename",
        match.ambiguous,
        lambda n: f"file {shown(n)} could be more than one file of those {where}",
        log,
    )
    log.add_many(
        "missing-file",
        len(missing),
        (problem("missing-file", source, f"there are no rows for file {shown(name)}") for name in missing),
    )
    return match.canonical


def check_swapped(tables: Sequence[Table], files: Sequence[str], classes: Sequence[str], log: Log) -> bool:
    """Find classes where files belong, and files where classes do; return whether it is so."""
    for table in tables:
        rows = table.rows
        if not rows.is_wide and are_swapped(rows.files, rows.classes, files, classes):
            message = "classes of the reference stand as file names, and its files as classes"
            place = (table.lines_of([0])[0], table.column("filename"))
            log.add(problem("swapped-columns", table.name, message, *place))
            return True
    return False
