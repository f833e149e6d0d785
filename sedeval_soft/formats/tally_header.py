"""What a tally file says of itself: a text in JSON, and what each of its parts must be.

Names may hold what no UTF-8 has (undecodable file names, kept as surrogates): the text keeps them so.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar

import msgspec

from sedeval_soft.core.scores import Input
from sedeval_soft.errors import EvaluationError, counted
from sedeval_soft.formats.members import MemberError
from sedeval_soft.settings import Settings
from sedeval_soft.tables.event_table import LONGEST
from sedeval_soft.timeline.alignment_report import Findings

FORMAT, VERSION = "soft-sed-eval tally", 2

_LISTS = (
    "missing",
    "extra",
    "dropped",
    "unlisted",
    "doubtful",
    "notes",
    "reference_classes",
    "system_classes",
)

_T = TypeVar("_T")

Kind = Literal["bool", "int32", "int64", "float64"]


class Samples(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The type of the values of cells, and how many cells there are."""

    kind: Kind
    cells: int


class Events(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many lifetimes there are, and whether they are nested."""

    events: int
    nested: bool


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tally without its numbers: of all classes (no group), or of a group of them."""

    group: str | None
    classes: tuple[str, ...]
    recipe: str | None
    expected: tuple[str, ...] | None
    per_class: dict[str, Kind]
    per_file: dict[str, Kind]
    samples: dict[str, Samples]
    events: dict[str, Events]


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A shard without its numbers. settings: as `Settings.of` takes them."""

    format: str
    version: int
    written_by: str
    settings: dict[str, Any]
    system: str
    files: tuple[str, ...]
    findings: dict[str, Any]
    inputs: list[dict[str, Any]]
    durations: dict[str, float] | None
    parts: tuple[Part, ...]


def written(header: Header) -> bytes:
    """Return a header as text."""
    plain = msgspec.to_builtins(header)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")


def parsed(text: bytes) -> Header:
    """Return the header that a text is; raises MemberError where it is none, or one of another format."""
    try:
        plain = json.loads(text.decode("utf-8", "surrogatepass"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MemberError(f"its header is not JSON: {error}") from error
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise MemberError(f"is not a {FORMAT}")
    version = plain.get("version")
    if isinstance(version, int) and version > VERSION:
        raise MemberError(
            f"was written by a newer version of soft-sed-eval, {_short(plain.get('written_by'))}, in format "
            f"{version}; expected format {VERSION}"
        )
    if version != VERSION or isinstance(version, bool):
        raise MemberError(f"has format version {_short(version)}; expected {VERSION}")
    return _converted(plain, Header)


def plain_settings(settings: Settings) -> dict[str, Any]:
    """Return what `Settings.of` makes equal settings of, and in the same order where one shows."""
    return {name: getattr(settings, name) for name in settings.__slots__}


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Return the settings of a header; raises MemberError where they are none."""
    try:
        return Settings.of(**values)
    except (EvaluationError, TypeError, ValueError, ArithmeticError) as error:
        raise MemberError(f"its settings cannot be: {error}") from error


def plain_findings(findings: Findings) -> dict[str, Any]:
    """Return findings as lists in order."""
    lists: dict[str, Any] = {name: sorted(getattr(findings, name)) for name in _LISTS}
    rows = {role: (int(n), float(seconds)) for role, (n, seconds) in sorted(findings.beyond.items())}
    after_end = {name: (int(n), float(seconds)) for name, (n, seconds) in sorted(findings.after_end.items())}
    grid = {
        role: (int(n), int(near), float(seconds))
        for role, (n, near, seconds) in sorted(findings.off_grid.items())
    }
    tables = msgspec.to_builtins(dict(sorted(findings.tables.items())))
    return lists | {"beyond": rows, "after_end": after_end, "tables": tables, "off_grid": grid}


def findings_of(values: Mapping[str, Any]) -> Findings:
    """Return the findings of a header; raises MemberError where they are none."""
    _refuse_names("findings", values, Findings.__slots__)
    found = _converted(values, Findings)
    for role, (count, seconds) in found.beyond.items():
        if count < 0 or not math.isfinite(seconds) or role not in {"reference", "system"}:
            rows = counted(count, f"{_short(role)} row")
            raise MemberError(f"its findings have {rows} {seconds} s after the end of a file")
    for role, table in found.tables.items():
        fault = table.fault() if role in {"reference", "system"} else "a table of neither side"
        if fault is not None:
            raise MemberError(f"its findings of {_short(role)} have {_short(fault)}")
    for role, (n_rows, near, seconds) in found.off_grid.items():
        if not 0 <= near <= n_rows or not 0 <= seconds < math.inf or role not in {"reference", "system"}:
            raise MemberError(
                f"its findings have {near} of {n_rows} {_short(role)} rows {seconds} s off the grid"
            )
    for name, (count, seconds) in found.after_end.items():
        if count < 1 or not 0 <= seconds <= LONGEST:
            rows = counted(count, "system row")
            raise MemberError(f"its findings have {rows} of {_short(name)} {seconds} s after the end")
    return found


def plain_inputs(inputs: Sequence[Input]) -> list[dict[str, Any]]:
    """Return inputs as plain values."""
    return [{name: getattr(item, name) for name in Input.__slots__} for item in inputs]


def inputs_of(values: Sequence[Mapping[str, Any]]) -> tuple[Input, ...]:
    """Return the inputs of a header; raises MemberError where they are none."""
    for value in values:
        _refuse_names("inputs", value, Input.__slots__)
    inputs = tuple(_converted(value, Input) for value in values)
    for item in inputs:
        if min(item.rows, item.files, item.classes) < 0:
            raise MemberError(f"its input {_short(item.name)} has fewer than 0 rows, files or classes")
    return inputs


def check_names(header: Header) -> None:
    """Raise MemberError where files or durations of a header cannot be."""
    for before, after in pairwise(header.files):
        if before >= after:
            raise MemberError(
                f"its files are not sorted and distinct: {_short(after)} follows {_short(before)}"
            )
    for name, seconds in (header.durations or {}).items():
        if not 0 <= seconds <= LONGEST:
            raise MemberError(f"its duration of {_short(name)} is {seconds}; expected 0 to {LONGEST:g} s")


def _converted(plain: object, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.MsgspecError, ValueError, ArithmeticError, RecursionError) as error:
        raise MemberError(f"its header is not that of a tally: {error}") from error


def _refuse_names(what: str, values: Mapping[str, Any], known: Sequence[str]) -> None:
    if set(values) != set(known):
        named = ", ".join(map(_short, sorted(set(values) ^ set(known))))
        raise MemberError(f"its {what} lack or have what is not theirs: {named}")


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no number in JSON")


def _short(value: object) -> str:
    return repr(value)[:60]
