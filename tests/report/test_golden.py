"""Every letter of the presentations, as in the golden files of tests/data/report.

`PYTHONPATH=tests:tests/report python tests/report/test_screens.py` writes these files anew. Run it after a
wanted change of a presentation, and read the difference before you commit it. The scores of `samples` have no
meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from samples import (
    MAESTRO,
    UNICODE,
    board,
    build,
    of_runs,
    render_board,
    with_all,
    with_folds,
    with_intervals,
    with_sections,
    with_worst,
)

from sedeval_soft import evaluate
from sedeval_soft.comparison.board import Board, Difference
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.explanation import WORDS
from sedeval_soft.report import render
from sedeval_soft.report.delimited import COLUMNS, write_curves
from sedeval_soft.report.explanation import explanations
from sedeval_soft.report.services import Verdict, codabench, commands, job_summary, junit
from sedeval_soft.report.shown import with_averages

FOLDER = Path(__file__).parents[1] / "data" / "report"

_PAIR = {"families": (("segment", "hard"), ("segment", "soft")), "silent": ("speech",), "missed": ("car",)}
_SEGMENT = {"families": (("segment", "hard"), ("segment", "optimal"), ("segment", "soft"))}
_OTHER = {
    "only": ("event",),
    "inclusive": True,
    "threshold": 0.123456789,
    "reference_threshold": 1 / 3,
    "onset": False,
    "offset_collar_rate": 0.125,
    "beta": 0.5,
    "compat": "sed_eval",
}


def _intervals(**chosen: object) -> Scores:
    return with_intervals(build(**_PAIR), **chosen)


_SOFT = (("segment", "soft"),)
NAMES = ("a|b", "=1,+1\x1b[31m", "<b>", "鳥の声")
VERDICTS = [
    Verdict(NAMES[1], "segment.soft.f1.macro>=0.9", 0.8, met=False),
    Verdict(NAMES[1], "segment.soft.f1[a|b]>=0.9", None, met=False),
    Verdict(NAMES[1], "segment.soft.f1.micro>=0.5", 0.75, met=True),
]
ROWS = {
    "filename": ["street_1", "street_1", "park"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
LOWER = "segment.hard.error_rate.micro"
"""A score of which low values are better."""


def _lower() -> Board:
    """Return a board on which the last system has no score, and one class is just not sure to differ."""
    made = board(("alpha.tsv", "beta.tsv", "gamma.tsv"), "gamma.tsv", 1, ci="bca", fixed_thresholds=True)
    nothing = dict.fromkeys(("value", "low", "high", "stability", "best_place", "worst_place"))
    last = replace(made.entries[2], **nothing, difference=Difference(*[None] * 6))
    sure = tuple(replace(each, p_adjusted=0.05) for each in made.discordances)
    systems = (with_worst(with_folds(made.systems[0])), *made.systems[1:])
    entries = (*made.entries[:2], last)
    return replace(made, systems=systems, entries=entries, discordances=sure, rank_by=LOWER)


def _of_parts() -> Scores:
    groups, scenes = {"traffic *|, +1": ["car"]}, {"street\u00e9": "street_*"}
    return replace(evaluate(ROWS, ROWS, groups=groups, scenes=scenes), signature="made anew each time")


EXPLAINED = (
    *("segment.soft.f1.macro", "segment.hard.f1.macro", "event.soft.f1.micro", "clip.soft.error_rate.micro"),
    *(
        "intersection.hard.psds",
        "segment.optimal.f1.micro",
        "segment.tuned.f1.micro",
        "segment.hard.fbeta[car]",
    ),
    *("segment.soft.f1.macro@traffic", "segment.soft.f1", "ranking.hard.subset_accuracy"),
    *("segment.soft.pearson[a|b]", "segment.soft.soft_f1_loss.micro"),
)

MARKUP = ("a|b", "<b>", "[x](y)", "~~z~~ &amp;")

_HARD = (("segment", "hard"),)
MADE: dict[str, Callable[[], Scores | Board | list[Scores]]] = {
    "one.txt": lambda: build(("speech",)),
    "seventeen.txt": lambda: build(MAESTRO, silent=MAESTRO[5:7], missed=MAESTRO[8:9]),
    "unicode.txt": lambda: build(UNICODE, **_SEGMENT),
    "settings.txt": lambda: build(families=(("event", "hard"),), **_OTHER),
    **dict.fromkeys(("bases.txt", "bases.md"), lambda: with_all(("car", "speech"))),
    "systems.txt": lambda: [build(**_PAIR), build(**_PAIR, system="another.tsv")],
    **dict.fromkeys(("pair.json", "pair.csv", "pair.md", "pair.tex"), lambda: build(**_PAIR)),
    "intervals.txt": lambda: _intervals(ci="bca", confidence=0.9),
    "intervals.md": lambda: _intervals(ci="jackknife"),
    "intervals.csv macro": _intervals,
    "intervals.tex macro": lambda: _intervals(ci="bca"),
    "folds.txt micro": lambda: with_folds(build(families=_HARD)),
    "folds.many.txt": lambda: with_folds(build(families=_HARD), [f"fold {i}" for i in range(11)]),
    "runs.txt": lambda: of_runs(build(families=_SOFT)),
    "worst.txt": lambda: with_worst(build(families=_SOFT, worst=2)),
    "worst.md": lambda: with_worst(build(families=(("event", "hard"),), worst=2), "event"),
    "all.json": lambda: with_worst(with_folds(with_intervals(build((), _SOFT), worst=2))),
    "sections.txt": lambda: with_sections(build(families=_HARD)),
    "sections.csv micro": lambda: with_sections(build(families=_HARD)),
    "parts.txt": _of_parts,
    "markup.md": lambda: build((*MARKUP, *UNICODE), **_PAIR),
    "board.many.txt": lambda: board([f"s{i}.tsv" for i in range(11)], n_classes=17),
    "board.lower.txt": _lower,
    "board.txt": board,
    "board.md": lambda: board(NAMES, NAMES[1], families=_SOFT, ci="bca"),
    "board.csv": lambda: board(NAMES, families=_SOFT),
    "board.json macro": lambda: board(families=_SOFT),
    "board.tex": lambda: board(NAMES, families=_PAIR["families"]),
    "board.lower.tex": lambda: replace(board(families=_SOFT), rank_by="segment.soft.error_rate.micro"),
}
"""What is rendered in the form that a name says, and which averages of it."""

FORMS = {"txt": "text", "md": "markdown", "tex": "latex", "json": "json", "csv": "csv"}


def curves(path: Path) -> pd.DataFrame:
    """Return the curves of two files of two classes as they are written, every number as it is read."""
    y, p = np.array([[[0.5, 0], [1, 0.5], [0, 0], [1, 0]], [[0, 1], [0.5, 0.5], [1, 0], [0, 0.5]]])
    asked = {"only": "all", "measures": ["curves", "calibration"], "psds": "dcase-psds1"}
    scores = evaluate(y, p, **asked, bins=2, psds_median_filters=[1])
    write_curves(str(path), {"s": scores.curves, "=2": scores.curves})
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    texts = pd.read_csv(path, sep="\t", dtype=str)
    return texts.assign(**{name: texts[name].map(float) for name in COLUMNS[6:]})


def curves_text() -> str:
    with TemporaryDirectory() as folder:
        return curves(Path(folder) / "c.tsv").round(9).to_csv(sep="\t", index=False)


def rendered(name: str) -> str:
    path, *averages = name.split()
    found = MADE[name]()
    form = FORMS[path.rpartition(".")[2]]
    systems = found.systems if isinstance(found, Board) else found if isinstance(found, list) else [found]
    if averages:
        systems = tuple(with_averages(scores, averages) for scores in systems)
    if isinstance(found, Board):
        return render_board(replace(found, systems=systems), form, verbose=2)
    return render(systems, form, verbose=2)


OUTPUTS: dict[str, Callable[[], str]] = {
    **{name.split()[0]: partial(rendered, name) for name in MADE},
    "curves.tsv": curves_text,
    # A requirement that is asked for twice is one.
    "required.xml": lambda: junit(
        [_intervals(ci="bca"), build(system=NAMES[1], families=_SOFT)], VERDICTS * 2
    ),
    "required.md": lambda: job_summary([build(system=NAMES[1], families=_SOFT)], None, VERDICTS * 2),
    "board.scores.md": lambda: job_summary(
        (found := board(families=_SOFT)).systems, found, (), ["segment.soft.f1.macro"]
    ),
    "scores.json": lambda: codabench(build(families=_SOFT))[0],
    "scores.txt": lambda: codabench(build(families=_SOFT), lines=True)[0],
    "annotations.txt": lambda: commands(VERDICTS * 2, ["odd", "odd", NAMES[1]]),
    "explained.txt": lambda: explanations([*EXPLAINED, *WORDS]),
    "explained.json": lambda: explanations([*EXPLAINED[:5], "soft"], "json"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_as_it_was(name):
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        assert OUTPUTS[name]() == file.read(), "if this is wanted, write the golden files anew"


def test_folder_has_these_outputs_and_no_others():
    assert OUTPUTS
    assert {path.name for path in FOLDER.iterdir()} == set(OUTPUTS)


def test_parquet_has_the_curves_of_the_text_to_the_last_digit_and_names_as_they_are(tmp_path):
    text, exact = (curves(tmp_path / name) for name in ("c.tsv", "c.parquet"))
    assert [*exact.columns] == [*text.columns] == [*COLUMNS]
    assert {*exact["system"]} == {"s", "=2"} and {*text["system"]} == {"s", "'=2"}
    pd.testing.assert_frame_equal(
        text, exact.assign(system=text["system"]), check_exact=True, check_dtype=False
    )
