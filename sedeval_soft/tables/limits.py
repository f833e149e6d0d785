"""Limits of an input, over which it is refused: users upload files of any content."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from typing import Any

from sedeval_soft.errors import InputError, Problem, SettingsError
from sedeval_soft.tables.columns import ColumnNames, column_names
from sedeval_soft.tables.event_table import LONGEST, Origin

OPTION = "--limit"
"""The option that raises a limit, as `--limit NAME=NUMBER`."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d*)?([eE]\+?\d{1,3})?", re.ASCII)

_RATE = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e12}
"""Sample rates in Hz, as a JSON Schema."""

_OVER = "too-many-"
"""The beginning of the codes of problems with limits."""

_ROWS_SPARED = 500_000
"""Rows of which it does not matter how few bytes they are in."""

_WHOLE = 1 << 62
"""No limit can be above this: counts are 64 bits wide."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an input may have.

    size: bytes, decompressed. ratio: decompressed bytes for each compressed one. rows: of all tables of an
    input. classes, files: different names.

    duration: seconds of a recording. name_length: characters of a file name or label.

    members: files in a folder or an archive. line_length: bytes of a line.

    Beside the limits, the object has facts about an input that are known before it is read.

    columns: the user's roles of columns. label: the class of all rows of a table without any. sample_rate: in
    Hz if times are in samples, else 0.

    offered: the ones of these that a preset or a settings file gives to tables that may need it; others are
    refused if no table needs them.

    forms: required formats of tables, by side or of both ("").

    points: folders are operating points. side: `reference` or `system`, if known. by_table: the recording is
    named after its table, as in a folder, unless the table names it. only: there is but one such table.
    """

    size: int = 1 << 36
    ratio: int = 64
    rows: int = 1 << 31
    classes: int = 5_000
    files: int = 10_000_000
    duration: float = 31_536_000.0
    name_length: int = 4096
    members: int = 60_000
    line_length: int = 1 << 24
    columns: ColumnNames = field(default=(), kw_only=True, repr=False)
    label: str = field(default="", kw_only=True, repr=False)
    sample_rate: float = field(default=0.0, kw_only=True, repr=False)
    forms: tuple[tuple[str, str], ...] = field(default=(), kw_only=True, repr=False)
    points: bool = field(default=False, kw_only=True, repr=False)
    by_table: bool = field(default=False, kw_only=True, repr=False)
    offered: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    only: bool = field(default=False, kw_only=True, repr=False)
    side: str = field(default="", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        """Refuse invalid limits."""
        for name in NAMES:
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            most, unit = (LONGEST, " s") if name == "duration" else (_WHOLE, "")
            if not is_number or not 0 < value <= most:
                raise SettingsError(f"limit {name} must be above 0, at most {most:g}{unit}, not {value!r}")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Limits:
        """Return the limits, some set by `NAME=NUMBER`; raises SettingsError with all that are wrong."""
        values: dict[str, float] = {}
        problems: list[str] = []
        for text in texts:
            name, _, number = (part.strip() for part in text.partition("="))
            name = name.replace("-", "_")
            if name not in NAMES or not number:
                problems.append(f"{OPTION} {text!r}: expected NAME=NUMBER with one of {', '.join(NAMES)}")
                continue
            value: float | None = float(number) if _NUMBER.fullmatch(number) else None
            value = size_of(number) if name in {"size", "line_length"} else value
            if value is None or value > _WHOLE:
                wrong = f"{number!r} is not a number such as 1000, 1e6 or (of sizes) 2G"
                problems.append(f"{OPTION} {text!r}: {wrong}")
            else:
                values[name] = value if name == "duration" else int(value)
        if problems:
            raise SettingsError("\n".join(problems))
        return cls(**values)  # type: ignore[arg-type]  # whole where they must be

    def check(self, source: str, name: str, number: float, what: str) -> None:
        """Raise InputError, naming the option that raises the limit, if the number is over the limit."""
        if number > getattr(self, name):
            raise self.refusal(source, name, f"has {number:.15g} {what}", number)

    def check_dense(self, source: str, rows: int, packed: int) -> None:
        """Raise InputError if there are far more rows than bytes of the file: each counts as some."""
        if rows > max(_ROWS_SPARED, packed * self.ratio // LIMITS.ratio):
            needed = LIMITS.ratio * rows / max(1, packed)
            why = f"has {rows} rows in {packed} bytes: of {LIMITS.ratio} bytes a row {needed:.0f} for each"
            raise self.refusal(source, "ratio", why, needed)

    def refusal(
        self, source: str, name: str, why: str, needed: float | None = None, line: int | None = None
    ) -> InputError:
        """Return the error of an input that is over a limit.

        why: the finding, as it follows the name of the input. needed: the limit that the input would need, if
        it is known: often reading ends before.
        """
        raised = f"{math.ceil(needed):.15g}" if needed and math.isfinite(needed) else "NUMBER"
        most = f"{getattr(self, name):.15g} or fewer"
        message = f"{why}; expected {most} ({OPTION} {name}={raised} raises this)"
        return InputError(Problem(source, message, line, code=f"{_OVER}{name}"))

    def few_enough(self, source: str, files: Iterable[str]) -> list[str]:
        """Return files of a folder or a pattern; raises InputError, before all are listed, for too many."""
        few = list(islice(files, self.members + 1))
        if len(few) > self.members:
            raise self.refusal(source, "members", f"has more than {self.members} files")
        return few

    def too_long(self, seconds: float) -> str:
        """Return the message for a time over the limit of durations, and the option that raises it."""
        days = f"{self.duration / 86_400:.6g} days"
        raised = f"; {OPTION} duration={math.ceil(seconds)} raises this" if 0 < seconds <= LONGEST else ""
        return f"is over {self.duration:.15g} s ({days}{raised})"

    def reading(
        self,
        *,
        columns: object = None,
        label: object = None,
        sample_rate: object = None,
        forms: tuple[tuple[str, str], ...] = (),
        operating_points: object = None,
    ) -> Limits:
        """Return the limits with the user's settings for reading tables, see `fields.ReadingKeywords`.

        None changes nothing. forms: as `forms_by_side` returns them. Raises SettingsError for invalid
        settings.
        """
        from sedeval_soft.settings import in_form

        said: dict[str, Any] = {"forms": forms} if forms else {}
        said |= {} if columns is None else {"columns": column_names(columns)}
        if label is not None:
            if not isinstance(label, str) or not label.strip() or "\0" in label:
                raise SettingsError(f"label must be the name of a class, not {label!r:.60}")
            said["label"] = label.strip()
        if sample_rate is not None:
            said["sample_rate"] = in_form("sample_rate", sample_rate, [_RATE])
        if operating_points is not None:
            said["points"] = in_form("operating_points", operating_points, [{"type": "boolean"}])
        return replace(self, **said) if said else self

    def form(self, role: str) -> str:
        """Return the required format of a side's table; empty if the user gives none."""
        forms = dict(self.forms)
        return forms.get("reference" if role == "reference" else "system", forms.get("", ""))

    def options(self, role: str) -> tuple[str, ...]:
        """Return the user's settings for reading a side's table, for signatures: `label=speech`."""
        spelled = {"": "ignore", "soft_value": "value"}
        columns = ",".join(f"{spelled.get(role, role)}={name}" for role, name in self.columns)
        rate = repr(self.sample_rate) if self.sample_rate else ""
        said = {"columns": columns, "label": self.label, "sample_rate": rate, "from": self.form(role)}
        return tuple(f"{name}={text}" for name, text in said.items() if text)

    def as_read(self, origin: Origin, role: str) -> Origin:
        """Return the origin of a side's rows, with the user's settings for reading them."""
        offered = tuple(f"--{name.replace('_', '-')} " for name in self.offered)
        lacking = tuple(text for text in origin.lacking if not text.startswith(offered))
        return replace(origin, options=self.options(role), lacking=lacking)


NAMES = tuple(each.name for each in fields(Limits) if not each.kw_only)
"""The names of limits."""

LIMITS = Limits()
"""The default limits."""


def over_limit(error: InputError) -> bool:
    """Return whether an input was refused for its size: nothing more of it should be looked at."""
    return any(problem.code.startswith(_OVER) for problem in error.problems)


def size_of(text: str) -> int | None:
    """Return the bytes in a text such as `4G` or `512 MiB`, None for other texts."""
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * _UNITS[match[2].lower()] if match else math.inf
    return int(size) if size <= _WHOLE else None
