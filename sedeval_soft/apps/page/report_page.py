"""The page of a report: its data gathered, its template filled."""

from __future__ import annotations

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from sedeval_soft.apps.page.explorer import explorer
from sedeval_soft.apps.page.page_data import (
    Packer,
    ReportInput,
    curves,
    packed_bytes,
)
from sedeval_soft.apps.page.sounds import Sounds
from sedeval_soft.apps.page.timeline import timelines
from sedeval_soft.comparison import Board, board_document
from sedeval_soft.errors import visible
from sedeval_soft.evaluation import document
from sedeval_soft.report import (
    OUTCOMES,
    Family,
    board_page,
    fill,
    in_order,
    measure_label,
    missed_classes,
    page_of,
    plotly_script,
    ranked_first,
    script_hash,
    shown_families,
    shown_of_board,
    shown_scores,
)
from sedeval_soft.settings import in_form

ASSETS = Path(__file__).parent / "assets"

_AVERAGES = {
    "macro": ("f1", "fbeta", "precision", "recall"),
    "micro": ("f1", "fbeta", "precision", "recall", "error_rate", "kl_divergence"),
}
"""The top of a page for each basis and reading: averages, and their measures."""

_OVERALL = ("psds", "pipsds")
"""The rows below: scores of all classes together."""

_KINDS = {
    "missed": "a reference event without a detection that could be meant for it",
    "background": "a detection without a reference event that it could be meant for",
    "onset": "a detection of the right class whose onset is wrong",
    "offset": "a detection of the right class whose offset is wrong",
    "both_boundaries": "a detection of the right class whose onset and offset are wrong",
    "split": "one reference event in two or more detections",
    "merge": "two or more reference events in one detection",
    "duplicate": "one more detection of an event that is detected already",
    "confusion": "a detection at the right time, of the wrong class",
    "confusion_and_boundary": "a detection of the wrong class that shares half of the time with the event",
}
"""The description of each kind of error of events on a page."""

_STYLES = ("page.css", "timeline.css")
_SCRIPTS = ("page.js", "explorer.js", "sections.js", "curves.js", "maps.js", "sound.js", "timeline.js")
"""The scripts of the page, in this order; `page.js` defines functions for the others."""

_IMAGES = "; img-src data: blob:"

_MOST_CELLS = 30_000
"""The most cells with which all tables of a system are text in the page; the page's list has all scores."""


def count(value: float) -> str:
    """Return a count as it is if it is whole, else with two decimals, or two digits if it is tiny."""
    if 1e-9 < abs(value) < 0.095:
        return f"{value:.2g}"
    return f"{value:.2f}".removesuffix(".00")


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices for a page.

    - title: its title; None for the names of the systems.
    - timelines: how many files are shown over time for each of two reasons: costing most, and drawn at
      random.
    - files: names of more. plotly: the address of plotly.js, None to embed it.
    - home: the address and the title of a page that this one belongs to.
    """

    title: str | None = None
    timelines: int = 12
    files: tuple[str, ...] = ()
    plotly: str | None = None
    home: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        """Check what users choose."""
        if self.title is not None:
            in_form("title", self.title, [{"type": "string"}])
        in_form("timelines", self.timelines, [{"type": "integer", "minimum": 0, "maximum": 10**9}])
        in_form("files", self.files, [{"type": "array", "items": {"type": "string"}}])


def render(
    inputs: Sequence[ReportInput], board: Board | None, choices: Choices, sounds: Sounds | None = None
) -> str:
    """Return the page of some systems, at least one; board: they as they were ranked; sounds: of files."""
    pack, first = Packer(), inputs[0].scores
    names = file_names([each.scores.system for each in inputs])
    against = file_names([item.name for item in first.inputs if item.role == "reference"])
    systems, embedded = [], []
    for each, name in zip(inputs, names, strict=True):
        scores, page = each.scores, page_of(shown_scores(each.scores))
        families = in_order(scores, of=shown_families)
        headline = _headline(each, families)
        embedded.append(
            {
                "name": name,
                "families": [".".join(family) for family in families],
                "rows": [" ".join(family) for family in headline["rows"]],
                "silent": missed_classes(scores, families),
                "explorer": explorer(each, pack),
                "curves": curves(each, pack),
                "timelines": timelines(each, pack, choices.timelines, choices.files, len(inputs), sounds),
            }
        )
        cells = sum(len(table.rows) * len(table.head) for table in page.tables)
        systems.append(
            {
                "name": name,
                "scores": scores,
                "page": page,
                "headline": headline,
                "readings": Counter(basis for basis, _ in families),
                "signatures": each.signatures,
                "errors": each.errors,
                "why_no_errors": each.why_no_errors,
                "whole": page.tables and cells <= _MOST_CELLS,
            }
        )
    data = {
        "systems": embedded,
        "labels": {
            score.measure: measure_label(first.settings, score.measure)
            for each in inputs
            for score in each.scores.scores.values()
        },
        "audio": sounds is not None,
        "document": board_document(board) if board else document([each.scores for each in inputs]),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    ranked = None if board is None else board_page(shown_of_board(board))
    tables = () if ranked is None else ranked.tables
    for each, name in zip(inputs, names, strict=True):
        tables = tuple(table.with_cells(visible(each.scores.system), visible(name)) for table in tables)
    compared = [names[0] if len(inputs) == 1 else f"{len(inputs)} systems", *against]
    values = {
        "title": visible(choices.title or " against ".join(compared)),
        "first": first,
        "systems": systems,
        "outcomes": OUTCOMES,
        "kinds": _KINDS,
        "board": tables,
        "board_notes": () if ranked is None else ranked.notes,
        "warnings": list(dict.fromkeys(text for each in inputs for text in each.scores.warnings)),
        # Packed as arrays are, no text in it can end the surrounding element.
        "data": packed_bytes(text.encode("utf-8", "backslashreplace")),
        "packed": pack.text(),
        "sounds": [b64encode(sound).decode("ascii") for sound in (sounds.inside if sounds else {}).values()],
        "home": choices.home,
        "plotly_address": choices.plotly,
        "plotly": None if choices.plotly else packed_bytes(plotly_script()),
    }
    # plotly.js draws into images of its own.
    more = f"'self'{_IMAGES}" if choices.plotly else f"{script_hash(plotly_script())}{_IMAGES}"
    if sounds is not None and (sounds.inside or sounds.beside):
        more += "; media-src blob:" if sounds.inside else "; media-src 'self'"
    return fill(ASSETS, "page.html.j2", values | {"count": count}, _STYLES, _SCRIPTS, more)


def file_names(names: Sequence[str]) -> list[str]:
    """Return names without the folders of paths, or whole where two would be alike."""
    ends = [PurePath(name).name or name for name in names]
    return ends if len({*ends}) == len({*names}) else [*names]


def _headline(inputs: ReportInput, families: Sequence[Family]) -> dict[str, Any]:
    """Return the few scores that a person should see first; families: bases and readings that are shown.

    - ranking: the score that ranks systems, if any.
    - rows: bases and readings, the ranking score's first.
    - groups: averages, and the number of columns of each.
    - columns: an average, a measure and its heading each.
    - overall: scores of all classes together, with their names.
    """
    scores = inputs.scores
    asked = [family for family in families if family[0] in inputs.bases] or families
    # Of one class all averages are the same.
    averages = _AVERAGES if len(scores.classes) > 1 else {"micro": _AVERAGES["micro"]}
    kinds = [(average, measure) for average, measures in averages.items() for measure in measures]
    present = {
        (family, kind)
        for family in asked
        for kind in kinds
        if ".".join((*family, kind[1], kind[0])) in scores
    }
    kinds = [kind for kind in kinds if any((family, kind) in present for family in asked)]
    ranking = scores.scores.get(scores.settings.rank_by or "")
    rows = [family for family in asked if any((family, kind) in present for kind in kinds)]
    overall = [
        (f"{measure_label(scores.settings, score.measure)}, {score.reading}", score)
        for score in scores.scores.values()
        if score.measure in _OVERALL
        and (score.basis, score.reading) in families
        and score.average is not None
        and score.group is None
    ]
    rows = ranked_first(rows, ranking)
    return {
        "ranking": ranking,
        "rows": rows,
        "groups": Counter(average for average, _ in kinds).items(),
        "columns": [(*kind, measure_label(scores.settings, kind[1])) for kind in kinds],
        "overall": overall,
    }
