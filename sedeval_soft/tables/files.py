"""Which files an argument names: the tables of a folder, the shards of a pattern, lists at some thresholds.

The names of tables may hold thresholds: `baseline_0.1.csv`, `0.010.tsv`, `predictions_th_0.01.tsv`, as
psds_eval, DESED and others publish operating points.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath

from sedeval_soft.errors import InputError, Problem
from sedeval_soft.tables.forms import MEMBER_EXTENSIONS, TEXT_EXTENSIONS
from sedeval_soft.tables.limits import LIMITS, Limits, for_members
from sedeval_soft.tables.paths import is_file
from sedeval_soft.tables.source import is_pattern, is_url, spelled

_NUMBER = re.compile(r"((?<!\d)(?<!\d\.)\d+(?:\.\d+)?(?:[eE]-?\d+)?(?!\d|\.\d))")
"""A number in a name, as it stands there; neither part of a longer one nor of a version such as 1.0.2."""

_EXTENSIONS = re.compile(r"(?:\.[A-Za-z]\w*)+$")
"""The end of a name that is no part of a number: `.csv`, `.tsv.gz`."""


def is_table(name: str) -> bool:
    """Return whether a file is a table, by its name."""
    return _extension(name) in TEXT_EXTENSIONS | MEMBER_EXTENSIONS


def stem_of(name: str) -> str:
    """Return the recording that a table is named after."""
    last = PurePosixPath(name).name
    return PurePosixPath(last[:-3] if last.lower().endswith(".gz") else last).stem


def _extension(name: str) -> str:
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def visible_entries(folder: str, limits: Limits) -> list[Path]:
    """Return what is in a folder by name, hidden files left out; raises OSError, InputError over a limit."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, limits.members + 1)]
    if len(names) > limits.members:
        raise limits.refusal(spelled(folder), "members", f"has more than {limits.members} files")
    return [Path(folder) / name for name in sorted(names) if not name.startswith(".")]


def tables_of_folder(name: str, limits: Limits) -> list[Path]:
    """Return the tables of a folder by name, none where there are none: those of text, if any are."""
    try:
        paths = [path for path in visible_entries(name, limits) if path.is_file()]
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(Problem(name, message, code="unreadable-file")) from error
    tables = [path for path in paths if _extension(path.name) in TEXT_EXTENSIONS]
    return tables or [path for path in paths if _extension(path.name) in MEMBER_EXTENSIONS]


def tables_in(name: str, limits: Limits = LIMITS) -> list[Path]:
    """Return the tables of a folder by name; raises InputError where there are none or two of one name."""
    paths = tables_of_folder(name, limits)
    if not paths:
        raise no_table(name)
    names: dict[str, str] = {}
    for path in paths:
        check_distinct(name, names, stem_of(path.name), path.name)
    return paths


def no_table(name: str) -> InputError:
    """Return the error of a folder, or an archive, without any table."""
    expected = f"expected files ending in {', '.join(sorted(TEXT_EXTENSIONS))}"
    return InputError(Problem(name, f"holds no table; {expected}", code="empty-folder"))


def check_distinct(name: str, tables: dict[str, str], stem: str, table: str) -> None:
    """Enter a table by the recording it is named after; raises InputError where another one is, too."""
    if stem in tables:
        message = f"{tables[stem]} and {table} are both of recording {stem!r}"
        raise InputError(Problem(name, message, code="repeated-recording"))
    tables[stem] = table


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file with some rows of a table.

    name: to be read by, and told by. size: its bytes. label: its name below the folder that all shards are
    in, wherever that is. alone: whether it is the whole table, and no shard. only: whether there is no other.
    """

    name: str
    size: int
    label: str
    alone: bool = False
    only: bool = False

    def limits(self, limits: Limits) -> Limits:
        """Return the limits of a shard, which names a recording unless it is the whole table."""
        return limits if self.alone else for_members(limits, only=self.only)


def shards_of(name: str, limits: Limits = LIMITS) -> list[ShardFile]:
    """Return the shards of a table by name; of one that is a single file or a folder, that.

    name: a path, a URL, or a pattern of either, such as `ref/*.parquet`. Raises InputError where a pattern
    fits no file.
    """
    if is_url(name):
        from sedeval_soft.tables.remote import found_by, size_of_remote

        if not is_pattern(name):
            return [ShardFile(name, size_of_remote(name), name, alone=True)]
        files = found_by(name, limits)
    elif not is_pattern(name):
        return [ShardFile(name, _size(name), name, alone=True)]
    else:
        try:
            # Names are told as they were typed, which a Path would change.
            fitting = filter(is_file, glob.iglob(name, recursive=True))  # noqa: PTH207
            paths = list(islice(fitting, limits.members + 1))
        except (OSError, ValueError) as error:
            message = f"cannot be looked for: {error}"
            raise InputError(Problem(spelled(name), message, code="unreadable-file")) from error
        if len(paths) > limits.members:
            raise limits.refusal(spelled(name), "members", f"has more than {limits.members} files")
        files = [(path, _size(path)) for path in sorted(paths)]
    if not files:
        expected = "expected a pattern of names of tables such as 'ref/*.parquet'"
        raise InputError(Problem(spelled(name), f"fits no file; {expected}", code="empty-folder"))
    limits.check(spelled(name), "size", sum(size for _, size in files), "bytes in all shards")
    split = [path.split("/") for path, _ in files]
    same = [len(set(parts)) == 1 for parts in zip(*(parts[:-1] for parts in split), strict=False)]
    common = [*same, False].index(False)
    return [
        ShardFile(path, size, "/".join(parts[common:]), only=len(files) == 1)
        for (path, size), parts in zip(files, split, strict=True)
    ]


def _size(name: str) -> int:
    try:
        return Path(name).stat().st_size
    except (OSError, ValueError):
        return 0


def thresholds_in(names: Sequence[str]) -> list[float] | None:
    """Return the threshold that each of some names holds, None where they do not say.

    They say so where they differ in one number alone, which is in [0, 1], and another one in each.
    """
    split = [_NUMBER.split(_EXTENSIONS.sub("", PurePath(name).name)) for name in names]
    if not split or len({len(parts) for parts in split}) > 1:
        return None
    columns = list(zip(*split, strict=True))
    # Numbers stand at odd places. Of a single name nothing differs: it must hold no other number.
    varying = [at for at, texts in enumerate(columns) if len(set(texts)) > 1 or (len(split) == 1 and at % 2)]
    if len(varying) != 1 or not varying[0] % 2:
        return None
    thresholds = [float(text) for text in columns[varying[0]]]
    distinct = len(set(thresholds)) == len(thresholds)
    return thresholds if distinct and all(0 <= each <= 1 for each in thresholds) else None


def seem_thresholds(names: Sequence[str]) -> bool:
    """Return whether names of several tables hold thresholds, though nobody said so.

    Of `part-0.tsv` and `part-1.tsv` the numbers are in [0, 1], too: one must be a fraction.
    """
    thresholds = thresholds_in(names) if len(names) > 1 else None
    return thresholds is not None and any(threshold % 1 for threshold in thresholds)


def points_in(path: str, limits: Limits = LIMITS) -> dict[float, str]:
    """Return the tables of a folder, or those that a pattern fits, by the thresholds in their names.

    Raises InputError where there are none, and where a name does not hold one threshold.
    """
    if is_pattern(path):
        names = [file.name for file in shards_of(path, limits)]
    else:
        names = [str(table) for table in tables_in(path, limits)]
    thresholds = thresholds_in(names)
    if thresholds is None:
        first = ", ".join(spelled(PurePath(name).name) for name in names[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        message = (
            f"does not say by its names at which thresholds its tables are ({first}{more}); expected names "
            "that differ in one number in [0, 1] alone, such as 'baseline_0.1.csv' and 'baseline_0.5.csv'; "
            "--operating-point THRESHOLD=TABLE takes any"
        )
        raise InputError(Problem(spelled(path), message))
    return dict(zip(thresholds, names, strict=True))
