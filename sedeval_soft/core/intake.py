"""How an input is taken in: how much of it before it is refused, and what its columns are.

Limits are there because files come from strangers. Columns are named by the user where a table calls them as
no other does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from sedeval_soft.errors import InputError, Problem, SettingsError
from sedeval_soft.tables.event_table import LONGEST

OPTION = "--limit"
"""The option that raises a limit, as `--limit NAME=NUMBER`."""

COLUMNS = "--columns"
"""The option that says which column of a table plays which role, as `--columns ROLE=COLUMN`."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]?)(?:i?b)?", re.ASCII | re.IGNORECASE)
_NUMBER = re.compile(r"\d+(\.\d*)?([eE]\+?\d{1,3})?", re.ASCII)

_OVER = "too-many-"
"""How the codes of problems with limits begin."""

_WHOLE = 1 << 62
"""No limit can be above this: counts are 64 bits wide."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an input may have.

    size: bytes, decompressed. ratio: decompressed bytes for each compressed one. rows: of all tables of an
    input. classes, files: different names. duration: seconds of a recording. name_length: characters of a
    file name or label. members: files in a folder or an archive. line_length: bytes of a line.
    """

    size: int = 1 << 36
    ratio: int = 250
    rows: int = 1 << 31
    classes: int = 100_000
    files: int = 10_000_000
    duration: float = 31_536_000.0
    name_length: int = 4096
    members: int = 1_000_000
    line_length: int = 1 << 24

    def __post_init__(self) -> None:
        """Refuse what no limit can be."""
        for name in NAMES:
            found = getattr(self, name)
            number = isinstance(found, int | float) and not isinstance(found, bool)
            most, unit = (LONGEST, " s") if name == "duration" else (_WHOLE, "")
            if not number or not 0 < found <= most:
                raise SettingsError(f"limit {name} must be above 0, at most {most:g}{unit}, not {found!r}")

    @classmethod
    def of(cls, texts: Iterable[str]) -> Limits:
        """Return the limits, some set by `NAME=NUMBER`; raises SettingsError with all that are wrong."""
        values: dict[str, float] = {}
        problems: list[str] = []
        for text in texts:
            name, equals, number = (part.strip() for part in text.partition("="))
            name = name.replace("-", "_")
            value = _number(name, number)
            if not equals or name not in NAMES:
                problems.append(f"{OPTION} {text!r}: expected NAME=NUMBER with one of {', '.join(NAMES)}")
            elif value is None:
                problems.append(
                    f"{OPTION} {text!r}: {number!r} is not a number such as 1000, 1e6 or (of sizes) 2G"
                )
            else:
                values[name] = value
        if not problems:
            return cls(**values)  # type: ignore[arg-type]  # whole where they must be
        raise SettingsError("\n".join(problems))

    def check(self, source: str, name: str, found: float, what: str, line: int | None = None) -> None:
        """Raise InputError, naming the option that raises the limit, where more is found than that."""
        if found > getattr(self, name):
            raise self.refusal(source, name, f"has {_plain(found)} {what}", found, line)

    def refusal(
        self, source: str, name: str, found: str, needed: float | None = None, line: int | None = None
    ) -> InputError:
        """Return the error of an input that is over a limit.

        found: what was found, as what follows the input's name. needed: what the limit would have to be, if
        it is known: often reading ends before that is.
        """
        most = _plain(getattr(self, name))
        known = needed is not None and math.isfinite(needed)
        raised = _plain(math.ceil(needed or 0)) if known else "NUMBER"
        message = f"{found}; expected {most} or fewer ({OPTION} {name}={raised} raises this)"
        return InputError(Problem(source, message, line, code=f"{_OVER}{name}"))

    def too_long(self) -> str:
        """Return what is said of a time that is over the limit of durations, and what raises it."""
        days = f"{self.duration / 86_400:.6g} days"
        raised = f"; {OPTION} duration=SECONDS raises this" if self.duration < LONGEST else ""
        return f"is over {self.duration:.15g} s ({days}{raised})"


COLUMN_ROLES: Mapping[str, str] = {
    "filename": "filename",
    "onset": "onset",
    "offset": "offset",
    "event_label": "event_label",
    "value": "soft_value",
    "ignore": "",
}
"""What a column can be said to be, and the role that readers know it by: none where it is to be read past."""

_MORE_ROLES = {"label": "event_label", "soft_value": "soft_value"}
_NEXT_COLUMN = rf",(?=\s*(?:{'|'.join([*COLUMN_ROLES, *_MORE_ROLES])})\s*=)"


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """What the user says of columns.

    roles: pairs of a role and the name of a column that plays it; a role may have several names, as the
    tables of two sides may. ignored: names of columns that play no role, whatever they look like.
    """

    roles: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: object) -> ColumnNames:
        """Return what a text such as `filename=segment_id,value=p` says, some texts, or a mapping.

        columns: a mapping has the names of columns by role, one name or several. Raises SettingsError.
        """
        pairs = list(_pairs(columns))
        roles: list[tuple[str, str]] = []
        ignored: list[str] = []
        taken: dict[str, str] = {}
        for role, name in pairs:
            known = {**COLUMN_ROLES, **_MORE_ROLES}.get(role.strip().lower())
            if known is None:
                expected = f"expected one of {', '.join(COLUMN_ROLES)}"
                raise SettingsError(f"{COLUMNS} {role}={name}: there is no role {role!r}; {expected}")
            if not name.strip():
                raise SettingsError(
                    f"{COLUMNS} {role}=: the name of the column is missing; expected ROLE=COLUMN"
                )
            if taken.setdefault(name.strip().casefold(), known) != known:
                raise SettingsError(f"{COLUMNS}: column {name.strip()!r} has two roles; expected one")
            if known:
                roles.append((known, name.strip()))
            else:
                ignored.append(name.strip())
        return cls(tuple(dict.fromkeys(roles)), tuple(dict.fromkeys(ignored)))

    def of_role(self, role: str) -> tuple[str, ...]:
        """Return the names that were given for a role."""
        return tuple(name for known, name in self.roles if known == role)


def _pairs(columns: object) -> Iterable[tuple[str, str]]:
    """Yield pairs of role and name; raises SettingsError for what is no pair."""
    if isinstance(columns, Mapping):
        for role, names in columns.items():
            several = [names] if isinstance(names, str) else names
            if not isinstance(role, str) or not isinstance(several, list | tuple | set | frozenset):
                raise SettingsError(
                    f"columns: {role!r}: {names!r:.60} is no name of a column; expected a text"
                )
            for name in several:
                if not isinstance(name, str):
                    raise SettingsError(
                        f"columns: {role!r}: {name!r:.60} is no name of a column; expected a text"
                    )
                yield role, name
        return
    texts = [columns] if isinstance(columns, str) else columns
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise SettingsError(
            f"columns must be a text such as 'filename=segment_id,value=p', or a mapping, not {columns!r:.60}"
        )
    for text in texts:
        for part in re.split(_NEXT_COLUMN, text):
            role, equals, name = part.partition("=")
            if not equals:
                roles = ", ".join(COLUMN_ROLES)
                raise SettingsError(f"{COLUMNS} {part!r}: expected ROLE=COLUMN with one of {roles}")
            yield role.strip(), name


NO_COLUMNS = ColumnNames()
"""Where the user says nothing of columns."""


@dataclass(frozen=True, slots=True)
class Intake(Limits):
    """Limits, and what else is known of an input before it is read.

    columns: what the user says of them. by_table: the recording is named after its table, as in a folder,
    unless the table names it. only: there is but one such table.
    """

    columns: ColumnNames = NO_COLUMNS
    by_table: bool = False
    only: bool = False


def intake_of(limits: Limits) -> Intake:
    """Return limits with what else is known of an input: nothing where these are limits alone."""
    if isinstance(limits, Intake):
        return limits
    return Intake(**{name: getattr(limits, name) for name in NAMES})


def with_columns(limits: Limits, columns: object) -> Limits:
    """Return limits with what the user says of columns, None for nothing; raises SettingsError."""
    if columns is None:
        return limits
    return replace(intake_of(limits), columns=ColumnNames.of(columns))


def for_members(limits: Limits, *, only: bool = False) -> Intake:
    """Return the limits of tables each of which is one recording, named after it, or says what it is.

    only: there is but one, which may as well be of several recordings.
    """
    return replace(intake_of(limits), by_table=True, only=only)


def over_limit(error: InputError) -> bool:
    """Return whether an input was refused for its size: nothing more of it should be looked at."""
    return any(problem.code.startswith(_OVER) for problem in error.problems)


NAMES = tuple(field.name for field in fields(Limits))
"""The names of limits."""

LIMITS = Limits()
"""Those that hold where nothing else is said."""


def size_of(text: str) -> int | None:
    """Return the bytes that a text such as `4G` or `512 MiB` says, None where it says none."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    size = float(match[1]) * _UNITS[match[2].lower()]
    return int(size) if size <= _WHOLE else None


def _number(name: str, text: str) -> float | None:
    if name in {"size", "line_length"}:
        return size_of(text)
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    if name == "duration":
        return value
    return int(value) if value <= _WHOLE else None


def _plain(number: float) -> str:
    return f"{number:.15g}"
