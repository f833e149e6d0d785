"""What a board of submissions shows, as data: who is where, and the numbers of the index as JSON."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.comparison.board import About, Board, Entry, Record
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.html.report_page import ASSETS, fill
from sedeval_soft.measures.names import ScoreName
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.report.board import p_value
from sedeval_soft.report.escape import json_text
from sedeval_soft.report.layout import measure_label
from sedeval_soft.report.table import UNDEFINED, exact, number, signed
from sedeval_soft.settings import Settings

SCHEMA = "soft-sed-eval-board/1"

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
"""Names that are names of files everywhere, as they are."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)", re.IGNORECASE)
"""Names that Windows has devices for."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the pages of a submission are in a site."""

    slug: str

    @property
    def report(self) -> str:
        """The report of its scores."""
        return f"reports/{self.slug}.html"

    @property
    def problems(self) -> str:
        """What is wrong with it."""
        return f"problems/{self.slug}.html"

    @property
    def data(self) -> str:
        """All its scores."""
        return f"data/{self.slug}.json"


@dataclass(frozen=True, slots=True)
class Shown:
    """A submission on a board: what came of it, who submits, where its pages are, what its bytes hash to."""

    record: Record
    about: About
    place: Place
    digest: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is said of a whole board.

    columns: names of the scores beside the one that ranks. test: by which submissions are told apart.
    reference, sha256: name and hash of what they are scored against. warnings: what the organiser was told.
    """

    title: str
    rank_by: str
    columns: tuple[str, ...]
    settings: Settings
    test: str
    reference: str
    sha256: str | None
    warnings: tuple[str, ...]


def slugs(names: Sequence[str]) -> dict[str, Place]:
    """Return the places of submissions, different from all others also where case does not count."""
    plain = {name: _PLAIN.fullmatch(name) is not None and not _RESERVED.fullmatch(name) for name in names}
    times = Counter(name.casefold() for name in names if plain[name])
    found = {}
    for name in names:
        if plain[name] and times[name.casefold()] == 1:
            found[name] = Place(name)
            continue
        digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        stem = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
        # A dot, which no plain name has, sets these apart from plain ones.
        found[name] = Place(f"{stem or 'submission'}.{digest}")
    return found


def render_board_json(shown: Sequence[Shown], board: Board | None, facts: Facts) -> str:
    """Return what the index shows as JSON, numbers exact."""
    by_name = {each.record.name: each for each in shown}
    ranked = [] if board is None else list(zip(board.entries, board.systems, strict=True))
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "title": facts.title,
        "rank_by": facts.rank_by,
        "direction": measure_of(facts.rank_by).direction,
        "columns": list(facts.columns),
        "test": facts.test,
        "compared_to": None if board is None else board.compared_to,
        "baseline": None if board is None else board.baseline,
        "confidence": facts.settings.confidence,
        "replicates": facts.settings.replicates,
        "seed": facts.settings.seed,
        "reference": {"name": facts.reference, "sha256": facts.sha256},
        "settings": facts.settings.to_dict(),
        "signature": None if board is None else board.systems[0].signature,
        "warnings": list(facts.warnings),
        "submissions": [_ranked(entry, scores, by_name[entry.system], facts) for entry, scores in ranked],
        "invalid": [
            {
                **_of(each),
                "page": each.place.problems,
                "problems": each.record.n_problems,
                "told": [asdict(problem) for problem in each.record.problems],
            }
            for each in shown
            if each.record.scored is None
        ],
    }
    return json_text(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)) + "\n"


def _of(each: Shown) -> dict[str, Any]:
    return {"name": each.record.name, "hash": each.digest, **asdict(each.about)}


def _ranked(entry: Entry, scores: Scores, each: Shown, facts: Facts) -> dict[str, Any]:
    off = entry.difference
    return {
        **_of(each),
        "rank": entry.rank,
        "tied": entry.tied,
        "place": entry.place,
        "value": entry.value,
        "low": entry.low,
        "high": entry.high,
        "best_place": entry.best_place,
        "worst_place": entry.worst_place,
        "stability": entry.stability,
        "difference": off
        and {"value": off.value, "low": off.low, "high": off.high, "p_adjusted": off.p_adjusted},
        "scores": {name: value_of(scores, name) for name in facts.columns},
        "warnings": list(each.record.scored.warnings) if each.record.scored else [],
        "data": each.place.data,
        "report": each.place.report if each.place.report in each.record.pages else None,
    }


def value_of(scores: Scores, name: str) -> float | int | None:
    """Return a score, None where it is undefined or not there."""
    found = scores.scores.get(name)
    return None if found is None else found.value


_STYLES = ("colours.css", "board.css")

_MOST_WARNINGS = 500


def render_index(shown: Sequence[Shown], board: Board | None, facts: Facts) -> str:
    """Return the page that ranks submissions; board: None where none is valid."""
    by_name = {each.record.name: each for each in shown}
    columns = _columns(facts) if board is not None else []
    rows = [] if board is None else _rows(board, by_name, columns)
    values = {
        "title": facts.title,
        "facts": facts,
        "board": board,
        "columns": columns,
        "groups": _groups(columns),
        "rows": rows,
        "intervals": any(row["interval"] for row in rows),
        "places": len(rows) > 1 and any(row["places"] for row in rows),
        "differences": len(rows) > 1,
        "invalid": [each for each in shown if each.record.scored is None],
        "warnings": _warnings(shown, board, facts.warnings),
        "shown": shown,
        "signature": "" if board is None else board.systems[0].signature,
        "lower": measure_of(facts.rank_by).direction == "lower",
        "level": f"{100 * facts.settings.confidence:g} %",
        "settings": _changed(facts.settings),
        "policy": _policy("board.js"),
        "version": __version__,
    }
    return fill("board.html.j2", values, _STYLES, ["board.js"])


def render_problems(each: Shown, facts: Facts) -> str:
    """Return the page of a submission that could not be scored."""
    values = {
        "each": each,
        "record": each.record,
        "title": facts.title,
        "reference": facts.reference,
        "policy": _policy(None),
        "version": __version__,
    }
    return fill("problems.html.j2", values, _STYLES, [])


@dataclass(frozen=True, slots=True)
class _Column:
    """A score that the index shows: its name, heading, label, and whether low values are better."""

    name: str
    heading: str
    label: str
    of: str
    direction: str


def _columns(facts: Facts) -> list[_Column]:
    found = []
    for text in facts.columns:
        name = ScoreName.parse(text)
        of = name.class_name or name.average or ""
        parts = ["" if of == "overall" else of, f"@{name.group}" if name.group else ""]
        label = measure_label(facts.settings, name.measure)
        direction = measure_of(text).direction
        heading = f"{name.basis} {name.reading}"
        found.append(_Column(text, heading, label, " ".join(filter(None, parts)), direction))
    return sorted(found, key=lambda c: [each.heading for each in found].index(c.heading))


def _groups(columns: Sequence[_Column]) -> list[tuple[str, int]]:
    """Return the headings over columns, and over how many."""
    headings = [column.heading for column in columns]
    return [(heading, headings.count(heading)) for heading in dict.fromkeys(headings)]


def _rows(board: Board, by_name: dict[str, Shown], columns: Sequence[_Column]) -> list[dict[str, Any]]:
    """Return what the rows of the index show."""
    best = {column.name: _best(board.systems, column) for column in columns}
    own = _own_warnings([*by_name.values()])[1]
    ends = [end for entry in board.entries for end in (entry.low, entry.high, entry.value) if end is not None]
    least, most = (min(ends), max(ends)) if ends else (0.0, 0.0)

    def at(value: float | int | None) -> float | None:
        return None if value is None else round(4 + 92 * (value - least) / ((most - least) or 1.0), 2)

    rows = []
    for entry, scores in zip(board.entries, board.systems, strict=True):
        each = by_name[entry.system]
        cells = []
        for column in columns:
            value = value_of(scores, column.name)
            text = number(value)
            cells.append({"text": text, "exact": _sortable(value), "best": text == best[column.name]})
        rows.append(
            {
                "entry": entry,
                "each": each,
                "value": number(entry.value),
                "exact": _sortable(entry.value),
                "interval": _interval(entry),
                "whisker": (at(entry.low), at(entry.value), at(entry.high)),
                "places": _places(entry),
                "p": "" if entry.difference is None else p_value(entry.difference.p_adjusted),
                "difference": "" if entry.difference is None else signed(entry.difference.value),
                "difference_exact": _sortable(entry.difference.value) if entry.difference else "0",
                "cells": cells,
                "warnings": len(own[entry.system]),
                "report": each.place.report if each.place.report in each.record.pages else None,
                "baseline": entry.system == board.baseline,
            }
        )
    return rows


def _best(systems: Sequence[Scores], column: _Column) -> str | None:
    """Return how the best value of a column looks, None where none is better than others."""
    known = [value for scores in systems if (value := value_of(scores, column.name)) is not None]
    if len(systems) < 2 or not known or column.direction == "none":
        return None
    return number(min(known) if column.direction == "lower" else max(known))


def _sortable(value: float | int | None) -> str:
    text = exact(value)
    return "" if text == UNDEFINED else text


def _interval(entry: Entry) -> str:
    if entry.low is None or entry.high is None:
        return ""
    return f"{number(float(entry.low))}\N{EN DASH}{number(float(entry.high))}"


def _places(entry: Entry) -> str:
    if entry.best_place is None or entry.worst_place is None:
        return ""
    ends = dict.fromkeys((str(entry.best_place), str(entry.worst_place)))
    return "\N{EN DASH}".join(ends)


def _own_warnings(shown: Sequence[Shown]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the warnings that are of all submissions, said once, and of each those that are its own."""
    found = {each.record.name: each.record.scored.warnings for each in shown if each.record.scored}
    every = set.intersection(*({*texts} for texts in found.values())) if len(found) > 1 else set()
    common = [text for text in next(iter(found.values()), ()) if text in every]
    return common, {name: [text for text in texts if text not in every] for name, texts in found.items()}


def _warnings(shown: Sequence[Shown], board: Board | None, told: Sequence[str]) -> list[tuple[str, str]]:
    """Return warnings with the submission that each is of, empty for those of all."""
    common, own = _own_warnings(shown)
    of_all = dict.fromkeys((*told, *common))
    if board is not None:
        first = board.systems[0]
        of_all |= dict.fromkeys(text for text in first.warnings if text not in own[first.system])
    found = [("", text) for text in of_all]
    found += [(name, text) for name, texts in own.items() for text in texts]
    return found[:_MOST_WARNINGS]


def _changed(settings: Settings) -> list[tuple[str, str]]:
    """Return the settings that are not those that hold where nothing is said, as they are written."""
    default = Settings().to_dict()
    return [
        (name, json.dumps(value, ensure_ascii=False))
        for name, value in settings.to_dict().items()
        if value != default[name]
    ]


def _policy(script: str | None) -> str:
    """Return what a browser may do with a page: run one script of ours, whatever else is in it."""
    runs = "'none'"
    if script is not None:
        digest = sha256((ASSETS / script).read_bytes()).digest()
        runs = f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
    rest = "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {runs}; {rest}"
