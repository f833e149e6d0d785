"""The pages of a board of submissions, and its numbers as JSON."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from sedeval_soft import __version__
from sedeval_soft.comparison.board import About, Board, Record
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.html.report_page import ASSETS, fill
from sedeval_soft.measures.registry import OVERALL, ScoreName, measure_of
from sedeval_soft.report.escape import json_text
from sedeval_soft.report.page import measure_label
from sedeval_soft.report.table import number
from sedeval_soft.settings import Settings

SCHEMA = "soft-sed-eval-board/1"

_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,79}", re.IGNORECASE | re.ASCII)
"""Names that are names of files everywhere as they are; Windows has devices of the names left out."""

_MOST_WARNINGS = 500

_RANKS = (
    *("rank", "tied", "place", "value", "low", "high"),
    *("best_place", "worst_place", "stability"),
)
_DIFFERENCES = ("value", "low", "high", "p_adjusted")
"""Fields of an entry and of a difference that the JSON document has."""


class Place(NamedTuple):
    """Where a submission is in a site: the report of its scores, what is wrong with it, all its scores."""

    report: str
    problems: str
    data: str


def slugs(names: Sequence[str]) -> dict[str, Place]:
    """Return the places of submissions, different from all others also where case does not count."""
    times = Counter(name.casefold() for name in names if _PLAIN.fullmatch(name))
    places = {}
    for name in names:
        slug = name
        if times[name.casefold()] != 1 or not _PLAIN.fullmatch(name):
            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            stem = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
            # A dot, which no plain name has, sets these apart from plain ones.
            slug = f"{stem or 'submission'}.{digest}"
        places[name] = Place(f"reports/{slug}.html", f"problems/{slug}.html", f"data/{slug}.json")
    return places


@dataclass(frozen=True, slots=True)
class Shown:
    """A submission on a board: what came of it, who submits, where its pages are, what its bytes hash to."""

    record: Record
    about: About
    place: Place
    digest: str

    @property
    def report(self) -> str | None:
        """Return where its report is, None where it has none."""
        return self.place.report if self.place.report in self.record.pages else None


@dataclass(frozen=True, slots=True)
class BoardPages:
    """A board of submissions, ranked, None where none is valid, and its pages.

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
    shown: Sequence[Shown]
    board: Board | None

    @property
    def signature(self) -> str | None:
        """The signature of the scores."""
        return None if self.board is None else self.board.systems[0].signature

    def _ranked(self) -> list[dict[str, Any]]:
        """Return of each submission that is ranked its entry, what is shown of it, and its scores."""
        by_name = {each.record.name: each for each in self.shown}
        return [
            {
                "entry": entry,
                "each": by_name[entry.system],
                "scores": {name: scores.get(name) for name in self.columns},
            }
            for entry, scores in (
                zip(self.board.entries, self.board.systems, strict=True) if self.board else ()
            )
        ]

    def json(self) -> str:
        """Return what the index shows as JSON, numbers exact."""
        settings, board = self.settings, self.board

        def told(each: Shown) -> dict[str, Any]:
            return {"name": each.record.name, "hash": each.digest, **asdict(each.about)}

        document = {
            "schema": SCHEMA,
            "version": __version__,
            "title": self.title,
            "rank_by": self.rank_by,
            "direction": measure_of(self.rank_by).direction,
            "columns": list(self.columns),
            "test": self.test,
            "compared_to": board and board.compared_to,
            "baseline": board and board.baseline,
            **_fields(settings, ("confidence", "replicates", "seed")),
            "reference": {"name": self.reference, "sha256": self.sha256},
            "settings": settings.to_dict(),
            "signature": self.signature,
            "warnings": list(self.warnings),
            "submissions": [
                {
                    **told(row["each"]),
                    **_fields(row["entry"], _RANKS),
                    "difference": row["entry"].difference and _fields(row["entry"].difference, _DIFFERENCES),
                    "scores": row["scores"],
                    "warnings": list(row["each"].record.scored.warnings),
                    "data": row["each"].place.data,
                    "report": row["each"].report,
                }
                for row in self._ranked()
            ],
            "invalid": [
                {
                    **told(each),
                    "page": each.place.problems,
                    "problems": each.record.n_problems,
                    "told": [asdict(problem) for problem in each.record.problems],
                }
                for each in self.shown
                if each.record.scored is None
            ],
        }
        return json_text(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)) + "\n"

    def index(self) -> str:
        """Return the page that ranks submissions."""
        entries = self.board.entries if self.board else ()
        warnings, default = self._warnings(), Settings().to_dict()
        ends = [end for each in entries for end in (each.low, each.high, each.value) if end is not None]
        least, span = min(ends, default=0.0), max(ends, default=0.0) - min(ends, default=0.0)
        values = {
            "facts": self,
            "rows": self._ranked(),
            "groups": self._groups() if self.board else {},
            "intervals": any(each.low is not None and each.high is not None for each in entries),
            "places": len(entries) > 1 and any(each.best_place is not None for each in entries),
            # Where a value lies in the drawing of an interval.
            "at": lambda value: round(4 + 92 * (value - least) / (span or 1.0), 2),
            "warned": {name: len(texts) for name, texts in warnings.items()},
            "warnings": [(name, text) for name, of in warnings.items() for text in of][:_MOST_WARNINGS],
            "lower": measure_of(self.rank_by).direction == "lower",
            "level": f"{100 * self.settings.confidence:g} %",
            "settings": {
                name: json.dumps(value, ensure_ascii=False)
                for name, value in self.settings.to_dict().items()
                if value != default[name]
            },
        }
        # A browser runs this script of ours, whatever else is in the page.
        digest = b64encode(sha256((ASSETS / "board.js").read_bytes()).digest()).decode("ascii")
        return self._filled("board.html.j2", values, f"'sha256-{digest}'", ["board.js"])

    def problems(self, each: Shown) -> str:
        """Return the page of a submission that could not be scored."""
        return self._filled("problems.html.j2", {"record": each.record, "reference": self.reference})

    def _filled(
        self, template: str, values: dict[str, Any], runs: str = "'none'", scripts: Sequence[str] = ()
    ) -> str:
        policy = (
            f"default-src 'none'; script-src {runs}; style-src 'unsafe-inline'; base-uri 'none'; "
            "form-action 'none'"
        )
        common = {"title": self.title, "policy": policy, "version": __version__}
        return fill(template, values | common, ("colours.css", "board.css"), scripts)

    def _groups(self) -> dict[str, list[dict[str, Any]]]:
        """Return the columns that the index shows by the heading above them, and how their best looks."""
        systems: Sequence[Scores] = self.board.systems if self.board else ()
        groups: dict[str, list[dict[str, Any]]] = {}
        for text in self.columns:
            name, direction = ScoreName.parse(text), measure_of(text).direction
            part = name.class_name or name.average or ""
            which = ["" if part == OVERALL else part, f"@{name.group}" if name.group else ""]
            values = [value for scores in systems if (value := scores.get(text)) is not None]
            ranked = len(systems) > 1 and values and direction != "none"
            column = {
                "name": text,
                "label": measure_label(self.settings, name.measure),
                "part": " ".join(filter(None, which)),
                "direction": direction,
                "best": number(min(values) if direction == "lower" else max(values)) if ranked else None,
            }
            groups.setdefault(f"{name.basis} {name.reading}", []).append(column)
        return groups

    def _warnings(self) -> dict[str, list[str]]:
        """Return the warnings of each submission alone by its name, those of all by the empty name."""
        texts = {each.record.name: each.record.scored.warnings for each in self.shown if each.record.scored}
        every = set.intersection(*map(set, texts.values())) if len(texts) > 1 else set()
        alone = {name: [text for text in of if text not in every] for name, of in texts.items()}
        common = [text for text in next(iter(texts.values()), ()) if text in every]
        if self.board is not None:
            first = self.board.systems[0]
            common += [text for text in first.warnings if text not in alone[first.system]]
        return {"": [*dict.fromkeys((*self.warnings, *common))], **alone}


def _fields(source: object, names: Sequence[str]) -> Mapping[str, Any]:
    return {name: getattr(source, name) for name in names}
