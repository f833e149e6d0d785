"""Tables in any format, read as rows and written back.

- `read_rows` reads a file by `forms`, and a folder of tables or shards as one table by `joined_tables`.
- `forms.tsv` has a row for each format, with the module that reads it. `text` reads tables of text.
- `rows` makes rows of columns from all readers, and explains wrong ones; `problem_codes.tsv` has the meaning
  of each code. `columnar` has columns of data in memory, Parquet and Arrow; annotations are events of an
  `annotation_document`.
- `columns.tsv` has the known names of columns: to have another one known, add it there. `dialects.tsv` has
  the headers of tools that give names another meaning, `headerless.tsv` tables without header.
- `fit` makes rows fit a format, lists the losses, and writes tables of text.

Modules are imported only when they are needed: start-up is a feature.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

from sedeval_soft.faces import face

if TYPE_CHECKING:
    from sedeval_soft.tables.columns import is_number
    from sedeval_soft.tables.date_times import beginnings
    from sedeval_soft.tables.event_table import UNNAMED, EventTable, Origin
    from sedeval_soft.tables.file_groups import Partition, part_by_file
    from sedeval_soft.tables.filenames import AUDIO_EXTENSIONS, listing, match_names, named_alike, stem_of
    from sedeval_soft.tables.fit import in_steps
    from sedeval_soft.tables.forms import OTHER_EXTENSIONS, TEXT_EXTENSIONS
    from sedeval_soft.tables.joined_tables import stem_of as table_stem
    from sedeval_soft.tables.joined_tables import visible_entries
    from sedeval_soft.tables.limits import LIMITS, Limits, over_limit
    from sedeval_soft.tables.lines import decode
    from sedeval_soft.tables.source import extension_of, mend_command, open_source, spelled, unreadable
    from sedeval_soft.tables.ticks import TICKS_PER_SECOND, Ticks, to_seconds, to_ticks


EMPTY = (
    "is empty; expected a table, of a system that detects nothing a header alone, as "
    "filename,onset,offset,event_label"
)
"""The message about a file without any line: perhaps the system never wrote it."""


def read_rows(
    source: str | os.PathLike[str],
    *,
    stdin: BinaryIO | None = None,
    form: str = "",
    limits: Limits | None = None,
    may_be_empty: bool = False,
) -> EventTable:
    """Read a table, a folder of tables (one per recording, named after it), or standard input for `-`.

    A pattern such as `ref/*.parquet` is a table in shards; fsspec reads URLs.

    form: the name of the required format in the registry; found out if empty. limits: the most that the table
    may have. may_be_empty: whether a file without any line is a table without rows. Raises InputError with
    the place and the problem.
    """
    from sedeval_soft.errors import InputError, Problem
    from sedeval_soft.tables.event_table import EventTable, Origin
    from sedeval_soft.tables.forms import read_table
    from sedeval_soft.tables.limits import LIMITS
    from sedeval_soft.tables.source import is_pattern, open_source

    name, limits = os.fspath(source), limits or LIMITS
    if name not in {"", "-"} and os.path.isdir(name):
        from sedeval_soft.tables.joined_tables import read_folder

        return read_folder(name, form, limits)
    if is_pattern(name):
        from sedeval_soft.tables.joined_tables import read_shards

        return read_shards(name, form, limits)
    opened = open_source(name, stdin, limits)
    rows = read_table(opened, form, limits)
    if rows is not None:
        return rows
    if may_be_empty:
        return EventTable.empty(Origin(opened.name, opened.sha256, "empty"))
    raise InputError(Problem(name, EMPTY, code="empty-file"))


__getattr__ = face(__name__)
