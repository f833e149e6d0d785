"""The outputs that stand in tests/data/report, and the command that writes them anew.

    python tests/report/golden.py

Run it after a wanted change of a presentation, and read the difference before it is committed. The scores
are those of `samples`: numbers without meaning, chosen by a formula there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from resampled import board, of_runs, render_board, with_folds, with_intervals, with_sections, with_worst
from samples import MAESTRO, UNICODE, build, with_all_bases

from sedeval_soft import evaluate
from sedeval_soft.comparison.board import Board, Difference
from sedeval_soft.evaluation.scores import Scores
from sedeval_soft.measures.explanation import explained
from sedeval_soft.report import render
from sedeval_soft.report.explanation import explanation_json, explanation_text
from sedeval_soft.report.services import Verdict, codabench, commands, job_summary, junit

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
    groups, scenes = {"traffic *|, =1": ["car"]}, {"street\u00e9": "street_*"}
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

OUTPUTS: dict[str, Callable[[], str]] = {
    "one.txt": lambda: render([build(("speech",))]),
    "seventeen.txt": lambda: render([build(MAESTRO, silent=MAESTRO[5:7], missed=MAESTRO[8:9])]),
    "unicode.txt": lambda: render([build(UNICODE, **_SEGMENT)]),
    "settings.txt": lambda: render([build(families=(("event", "hard"),), **_OTHER)]),
    "bases.txt": lambda: render([with_all_bases()]),
    "bases.md": lambda: render([with_all_bases()], "markdown"),
    "systems.txt": lambda: render([build(**_PAIR), build(**_PAIR, system="another.tsv")]),
    "pair.json": lambda: render([build(**_PAIR)], "json"),
    "pair.csv": lambda: render([build(**_PAIR)], "csv"),
    "pair.md": lambda: render([build(**_PAIR)], "markdown"),
    "intervals.txt": lambda: render([_intervals(ci="bca", confidence=0.9)]),
    "intervals.md": lambda: render([_intervals(ci="jackknife")], "markdown"),
    "intervals.csv": lambda: render([_intervals()], "csv", averages=["macro"]),
    "folds.txt": lambda: render([with_folds(build(families=(("segment", "hard"),)))], averages=["micro"]),
    "runs.txt": lambda: render([of_runs(build(families=(("segment", "soft"),)))]),
    "worst.txt": lambda: render([with_worst(build(families=(("segment", "soft"),), worst=2))]),
    "worst.md": lambda: render(
        [with_worst(build(families=(("event", "hard"),), worst=2), "event")], "markdown"
    ),
    "all.json": lambda: render([with_worst(with_folds(with_intervals(build((), _SOFT), worst=2)))], "json"),
    "sections.txt": lambda: render([with_sections(build(families=(("segment", "hard"),)))]),
    "sections.csv": lambda: render(
        [with_sections(build(families=(("segment", "hard"),)))], "csv", averages=["micro"]
    ),
    "folds.many.txt": lambda: render(
        [with_folds(build(families=(("segment", "hard"),)), [f"fold {i}" for i in range(11)])]
    ),
    "parts.txt": lambda: render([_of_parts()]),
    "board.many.txt": lambda: render_board(board([f"s{i}.tsv" for i in range(11)], n_classes=17)),
    "board.lower.txt": lambda: render_board(_lower()),
    "board.txt": lambda: render_board(board()),
    "board.md": lambda: render_board(board(NAMES, NAMES[1], families=_SOFT, ci="bca"), "markdown"),
    "board.csv": lambda: render_board(board(NAMES, families=_SOFT), "csv"),
    "board.json": lambda: render_board(board(families=_SOFT), "json", averages=["macro"]),
    "pair.tex": lambda: render([build(**_PAIR)], "latex"),
    "intervals.tex": lambda: render([_intervals(ci="bca")], "latex", averages=["macro"]),
    "board.tex": lambda: render_board(board(NAMES, families=_PAIR["families"]), "latex"),
    "required.xml": lambda: junit([_intervals(ci="bca"), build(system=NAMES[1], families=_SOFT)], VERDICTS),
    "required.md": lambda: job_summary([build(system=NAMES[1], families=_SOFT)], None, VERDICTS),
    "board.scores.md": lambda: job_summary(
        (found := board(families=_SOFT)).systems, found, (), ["segment.soft.f1.macro"]
    ),
    "scores.json": lambda: codabench(build(families=_SOFT))[0],
    "scores.txt": lambda: codabench(build(families=_SOFT), lines=True)[0],
    "annotations.txt": lambda: commands([*VERDICTS, *VERDICTS], ["odd", "odd", NAMES[1]]),
    "explained.txt": lambda: explanation_text([explained(name) for name in EXPLAINED]),
    "explained.json": lambda: explanation_json([explained(name) for name in EXPLAINED[:5]]),
    "markup.md": lambda: render([build((*MARKUP, *UNICODE), **_PAIR)], "markdown"),
}


def write() -> None:
    """Write all outputs, and remove what is none of them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.iterdir():
        if path.name not in OUTPUTS:
            path.unlink()
    for name, output in OUTPUTS.items():
        (FOLDER / name).write_text(output(), encoding="utf-8", newline="")


if __name__ == "__main__":
    write()
