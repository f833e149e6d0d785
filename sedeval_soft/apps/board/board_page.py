"""The pages of a board of submissions, and its numbers as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import msgspec

from sedeval_soft import __version__
from sedeval_soft.comparison import Board, Entry
from sedeval_soft.errors import Problem
from sedeval_soft.evaluation import Input, Score, Scores
from sedeval_soft.measures import OVERALL, ScoreName, measure_of
from sedeval_soft.report import decimal, fill, json_text, measure_label
from sedeval_soft.settings import Settings
from sedeval_soft.tables import Origin

_ASSETS = Path(__file__).parent / "assets"

SCHEMA = "soft-sed-eval-board/1"

_PLAIN = re.compile(r"(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,79}", re.IGNORECASE | re.ASCII)
"""Names that are names of files everywhere as they are; Windows has devices of the names left out."""

_MOST_WARNINGS = 500

_RANKS = (
    *("rank", "letters", "place", "value", "low", "high"),
    *("best_place", "worst_place", "stability"),
)
_DIFFERENCES = ("value", "low", "high", "p_adjusted")
"""Fields of an entry and of a difference that the JSON document has."""


Text = Annotated[str, msgspec.Meta(max_length=300)]


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of a submission about its authors; empty without such a file. url: of a page on the web."""

    team: Text = ""
    title: Text = ""
    authors: Annotated[tuple[Text, ...], msgspec.Meta(max_length=100)] | Text = ()
    url: Text = ""
    note: Text = ""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a submission as it is stored: its scores, or its problems.

    problems: the first of `n_problems`. pages: SHA-256 of the files of the site that are made of it alone, by
    path. lasting: whether the next build has the same outcome.
    - tally: the bytes by which it is compared with others.
    - scores: the scores that a board shows, by name; it and the other fields are as in `Scores`.
    """

    problems: tuple[Problem, ...] = ()
    n_problems: int = 0
    pages: dict[str, str] = {}
    lasting: bool = True
    tally: bytes = b""
    scores: dict[str, Score] = {}
    classes: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    length: float = 0.0
    n_segments: int = 0
    inputs: tuple[Input, ...] = ()
    warnings: tuple[str, ...] = ()
    signature: str = ""
    short_signature: str = ""
    version: str = ""

    def scores_of(self, system: str, settings: Settings) -> Scores | None:
        """Return the scores of a system by its name; settings: by which it was scored."""
        values = {name: getattr(self, name) for name in OF_SCORES}
        return Scores(system=system, settings=settings, **values) if self.scores else None


OF_SCORES = tuple(name for name in Outcome.__struct_fields__ if name in Scores.__match_args__)
"""The fields of an outcome that `Scores` has as well."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A file or a folder that was submitted, and its outcome.

    - name: unique among submissions. slug: the same in names of files.
    - path: of the file or folder.
    - digest: of all its bytes, and of the names of a folder's files; empty if it cannot be read.
    - about: who submits. key: a hash of all inputs of the outcome. outcome: the result.
    - scores: None if it could not be scored.
    """

    name: str
    slug: str
    path: Path
    digest: str
    about: About
    outcome: Outcome
    key: str = ""
    scores: Scores | None = None

    def page(self, folder: str) -> str:
        """Return where in the site its page of `reports` is, of `problems`, or all its scores, `data`."""
        return f"{folder}/{self.slug}.{'json' if folder == 'data' else 'html'}"


def slugs(names: Sequence[str]) -> dict[str, str]:
    """Return the names of submissions for names of files, which differ also where case does not count."""
    times = Counter(name.casefold() for name in names if _PLAIN.fullmatch(name))
    slugs = {}
    for name in names:
        slugs[name] = name
        if times[name.casefold()] != 1 or not _PLAIN.fullmatch(name):
            digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
            stem = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
            # A dot, which no plain name has, sets these apart from plain ones.
            slugs[name] = f"{stem or 'submission'}.{digest}"
    return slugs


@dataclass(frozen=True, slots=True)
class BoardPages:
    """A ranked board of submissions, None without a valid one, and its pages.

    columns: names of the scores beside the ranking score. test: for differences between submissions.
    reference: of all submissions. warnings: for the organiser.
    """

    title: str
    rank_by: str
    columns: tuple[str, ...]
    settings: Settings
    test: str
    reference: Origin
    warnings: tuple[str, ...]
    submissions: Sequence[Submission]
    board: Board | None

    def _ranked(self) -> list[tuple[Entry, Submission]]:
        by_name = {each.name: each for each in self.submissions}
        return [(entry, by_name[entry.system]) for entry in self.board.entries] if self.board else []

    def json(self) -> str:
        """Return the content of the index as JSON, numbers exact."""
        settings, board = self.settings, self.board
        submissions = []
        for entry, each in self._ranked():
            scores: Mapping[str, float | int | None] = each.scores or {}
            off = entry.difference
            submissions.append(
                {
                    **_who(each),
                    **{name: getattr(entry, name) for name in _RANKS},
                    "difference": off and {name: getattr(off, name) for name in _DIFFERENCES},
                    "scores": {name: scores.get(name) for name in self.columns},
                    "warnings": list(each.scores.warnings) if each.scores else [],
                    "data": each.page("data"),
                    "report": each.page("reports") if each.page("reports") in each.outcome.pages else None,
                }
            )
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
            "confidence": settings.confidence,
            "replicates": settings.replicates,
            "seed": settings.seed,
            "reference": {"name": self.reference.name, "sha256": self.reference.sha256},
            "settings": settings.to_dict(),
            "signature": board and board.systems[0].signature,
            "warnings": list(self.warnings),
            "submissions": submissions,
            "invalid": [
                {
                    **_who(each),
                    "page": each.page("problems"),
                    "problems": each.outcome.n_problems,
                    "told": [asdict(problem) for problem in each.outcome.problems],
                }
                for each in self.submissions
                if each.scores is None
            ],
        }
        return json_text(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)) + "\n"

    def index(self) -> str:
        """Return the page that ranks submissions."""
        entries = self.board.entries if self.board else ()
        warnings, default = self._warnings(), Settings().to_dict()
        ends = [end for each in entries for end in (each.low, each.high, each.value) if end is not None]
        measure = measure_of(self.rank_by)
        # Bars begin at 0, and a score that goes to 1 has all of the room to 1.
        least, most = min([0.0, *ends]), max([0.0, *ends, *([1.0] if measure.high == 1 else [])])
        tested = self.test != "none" and len(entries) > 1
        all_alike = tested and len({each.rank for each in entries}) == 1
        values = {
            "facts": self,
            "rows": self._ranked(),
            "groups": self._groups(),
            "intervals": any(each.low is not None and each.high is not None for each in entries),
            "places": len(entries) > 1 and any(each.best_place is not None for each in entries),
            # Where a value lies in the drawing of a score and its interval.
            "at": lambda value: round(1 + 98 * (value - least) / ((most - least) or 1.0), 2),
            # Where no two differ, that is said once.
            "letters": tested and not all_alike,
            "all_alike": all_alike,
            # Where no test can tell anything, all adjusted p-values are 1.
            "tests_differ": any(
                each.difference and (each.difference.p_adjusted or 0) < 1 for each in entries
            ),
            "of_the_board": ranking_warnings(self.board, self.submissions),
            "warned": {name: len(texts) for name, texts in warnings.items()},
            "warnings": [(name, text) for name, of in warnings.items() for text in of][:_MOST_WARNINGS],
            "lower": measure.direction == "lower",
            "level": f"{100 * self.settings.confidence:g} %",
            "settings": {
                name: json.dumps(value, ensure_ascii=False)
                for name, value in self.settings.to_dict().items()
                if value != default[name]
            },
        }
        return self._filled("board.html.j2", values, ["board.js"])

    def problems(self, submission: Submission) -> str:
        """Return the page of a submission that could not be scored."""
        groups: dict[tuple[str, str], list[Problem]] = {}
        for each in submission.outcome.problems:
            groups.setdefault((each.severity, each.code), []).append(each)
        values = {"submission": submission, "reference": self.reference.name, "groups": groups.values()}
        return self._filled("problems.html.j2", values)

    def _filled(self, template: str, values: dict[str, Any], scripts: Sequence[str] = ()) -> str:
        common = {"title": self.title, "version": __version__}
        return fill(_ASSETS, template, values | common, ["board.css"], scripts)

    def _groups(self) -> dict[str, list[dict[str, Any]]]:
        """Return the columns that the index shows by the heading above them, and how their best looks."""
        systems: Sequence[Scores] = self.board.systems if self.board else ()
        groups: dict[str, list[dict[str, Any]]] = {}
        for text in self.columns:
            name, direction = ScoreName.parse(text), measure_of(text).direction
            part = name.class_name or (name.average or "").removeprefix(OVERALL)
            values = [value for scores in systems if (value := scores.get(text)) is not None]
            ranked = len(systems) > 1 and values and direction != "none"
            most = max([*values, 1.0] if measure_of(text).high == 1 else values, default=0.0)
            column = {
                "name": text,
                "label": measure_label(self.settings, name.measure),
                "part": f"{part} @{name.group}".strip() if name.group else part,
                "direction": direction,
                # Soft counts are no whole numbers, and nobody needs three digits of them.
                "digits": 2 if direction == "none" and measure_of(text).high is None else 3,
                # As long as the bar of a value is 1; None where a longer bar would not be better.
                "most": most if direction == "higher" and most > 0 and min(values) >= 0 else None,
                "best": decimal(min(values) if direction == "lower" else max(values)) if ranked else None,
            }
            groups.setdefault(f"{name.basis} {name.reading}", []).append(column)
        return groups

    def _warnings(self) -> dict[str, list[str]]:
        """Return the warnings of each submission alone by its name, the common ones by the empty name.

        The warnings on the ranking are not among them: the page shows them with the table.
        """
        texts = {each.name: each.scores.warnings for each in self.submissions if each.scores}
        every = set.intersection(*map(set, texts.values())) if len(texts) > 1 else set()
        alone = {name: [text for text in of if text not in every] for name, of in texts.items()}
        common = [text for text in next(iter(texts.values()), ()) if text in every]
        return {"": [*dict.fromkeys((*self.warnings, *common))], **alone}


def ranking_warnings(board: Board | None, submissions: Sequence[Submission]) -> tuple[str, ...]:
    """Return the warnings of a board on its own ranking, which all of its systems have after their own."""
    if board is None:
        return ()
    own = {each.name: each.outcome.warnings for each in submissions}
    return board.systems[0].warnings[len(own[board.systems[0].system]) :]


def _who(submission: Submission) -> dict[str, Any]:
    """Return who submits what."""
    return {"name": submission.name, "hash": submission.digest, **msgspec.structs.asdict(submission.about)}
