"""What a board of submissions shows, as data: who is where, and the numbers of the index as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import msgspec

from sedeval_soft import __version__
from sedeval_soft.board.about import About
from sedeval_soft.board.records import Record
from sedeval_soft.core.board import Board, Entry
from sedeval_soft.core.value import Scores
from sedeval_soft.measures.registry import measure_of
from sedeval_soft.report.escape import json_text
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
                "problems": each.record.n_faults,
                "told": [msgspec.to_builtins(fault) for fault in each.record.faults],
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
