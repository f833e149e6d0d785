"""All presentations equal their golden files in tests/data/report and tests/data/screens.

`PYTHONPATH=tests:tests/report python tests/report/test_golden.py` writes these files. Run it after an
intended change of a presentation, and read the difference before you commit it. The scores of `samples` have
no meaning.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call
from samples import (
    FAMILIES,
    LINES,
    MAESTRO,
    UNICODE,
    WIDTH,
    board,
    build,
    compared,
    lines_of,
    of_runs,
    render_board,
    with_all,
    with_folds,
    with_intervals,
    with_sections,
    with_worst,
)
from shared_data import FOLDER as SHARED

from sedeval_soft import evaluate
from sedeval_soft.comparison import Board
from sedeval_soft.comparison.board import Difference
from sedeval_soft.evaluation import Scores
from sedeval_soft.measures.explanation import WORDS
from sedeval_soft.report import (
    Verdict,
    codabench,
    commands,
    explanations,
    job_summary,
    junit,
    render,
    with_averages,
    write_curves,
)
from sedeval_soft.report.delimited import COLUMNS

DATA = Path(__file__).parents[1] / "data"

# Scores built by hand, in all forms.

PAIR = {"families": (("segment", "hard"), ("segment", "soft")), "silent": ("speech",), "missed": ("car",)}
HARD, SOFT = (("segment", "hard"),), (("segment", "soft"),)
NAMES = ("a|b", "=1,+1\x1b[31m", "<b>", "鳥の声")
VERDICTS = [
    Verdict(NAMES[1], "segment.soft.f1.macro>=0.9", 0.8, met=False),
    Verdict(NAMES[1], "segment.soft.f1[a|b]>=0.9", None, met=False),
    Verdict(NAMES[1], "segment.soft.f1.micro>=0.5", 0.75, met=True),
] * 2
"""A repeated requirement counts once."""

ROWS = {
    "filename": ["street_1", "street_1", "park"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
EXPLAINED = (
    *("segment.soft.f1.macro", "segment.hard.f1.macro", "event.soft.f1.micro", "clip.soft.error_rate.micro"),
    *("intersection.hard.psds", "segment.optimal.f1.micro", "segment.tuned.f1.micro"),
    *("segment.hard.fbeta[car]", "segment.soft.f1.macro@traffic", "segment.soft.f1"),
    *("ranking.hard.subset_accuracy", "segment.soft.pearson[a|b]", "segment.soft.soft_f1_loss.micro"),
)


def lower_is_better() -> Board:
    """Return a board: the last system has no score, and one class just misses a significant difference."""
    made = board(("alpha.tsv", "beta.tsv", "gamma.tsv"), "gamma.tsv", 1, ci="bca", fixed_thresholds=True)
    nothing = dict.fromkeys(("value", "low", "high", "stability", "best_place", "worst_place"))
    return replace(
        made,
        systems=(with_worst(with_folds(made.systems[0])), *made.systems[1:]),
        entries=(
            *made.entries[:2],
            replace(made.entries[2], **nothing, difference=Difference(*[None] * 6)),
        ),
        discordances=tuple(replace(each, p_adjusted=0.05) for each in made.discordances),
        rank_by="segment.hard.error_rate.micro",
    )


def of_parts() -> Scores:
    scores = evaluate(ROWS, ROWS, groups={"traffic *|, +1": ["car"]}, scenes={"street\u00e9": "street_*"})
    return replace(scores, signature="made anew each time")


def pair(**chosen: object) -> Scores:
    return with_intervals(build(**PAIR), **chosen)


MADE: dict[str, Callable[[], Scores | Board | list[Scores]]] = {
    "one.txt": lambda: build(("speech",)),
    "seventeen.txt": lambda: build(MAESTRO, silent=MAESTRO[5:7], missed=MAESTRO[8:9]),
    "unicode.txt": lambda: build(UNICODE, FAMILIES[:3]),
    "settings.txt": lambda: build(
        families=(("event", "hard"),),
        only=("event",),
        inclusive=True,
        threshold=0.123456789,
        reference_threshold=1 / 3,
        onset=False,
        offset_collar_rate=0.125,
        beta=0.5,
        compat="sed_eval",
    ),
    **dict.fromkeys(("bases.txt", "bases.md"), lambda: with_all(("car", "speech"))),
    "systems.txt": lambda: [build(**PAIR), build(**PAIR, system="another.tsv")],
    **dict.fromkeys(("pair.json", "pair.csv", "pair.md", "pair.tex"), lambda: build(**PAIR)),
    "intervals.txt": lambda: pair(ci="bca", confidence=0.9),
    "intervals.md": lambda: pair(ci="jackknife"),
    "intervals.csv macro": pair,
    "intervals.tex macro": lambda: pair(ci="bca"),
    "folds.txt micro": lambda: with_folds(build(families=HARD)),
    "folds.many.txt": lambda: with_folds(build(families=HARD), [f"fold {i}" for i in range(11)]),
    "runs.txt": lambda: of_runs(build(families=SOFT)),
    "worst.txt": lambda: with_worst(build(families=SOFT, worst=2)),
    "worst.md": lambda: with_worst(build(families=(("event", "hard"),), worst=2), "event"),
    "all.json": lambda: with_worst(with_folds(with_intervals(build((), SOFT), worst=2))),
    "sections.txt": lambda: with_sections(build(families=HARD)),
    "sections.csv micro": lambda: with_sections(build(families=HARD)),
    "parts.txt": of_parts,
    "markup.md": lambda: build(("a|b", "<b>", "[x](y)", "~~z~~ &amp;", *UNICODE), **PAIR),
    "board.many.txt": lambda: board([f"s{i}.tsv" for i in range(11)], n_classes=17),
    "board.lower.txt": lower_is_better,
    "board.txt": board,
    "board.md": lambda: board(NAMES, NAMES[1], families=SOFT, ci="bca"),
    "board.csv": lambda: board(NAMES, families=SOFT),
    "board.json macro": lambda: board(families=SOFT),
    "board.tex": lambda: board(NAMES, families=PAIR["families"]),
    "board.lower.tex": lambda: replace(board(families=SOFT), rank_by="segment.soft.error_rate.micro"),
}
"""By file name, which gives the form and the averages: a function that builds the scores."""

FORMS = {"txt": "text", "md": "markdown", "tex": "latex", "json": "json", "csv": "csv"}


def rendered(name: str) -> str:
    path, *averages = name.split()
    found, form = MADE[name](), FORMS[path.rpartition(".")[2]]
    systems = found.systems if isinstance(found, Board) else found if isinstance(found, list) else [found]
    if averages:
        systems = tuple(with_averages(scores, averages) for scores in systems)
    if isinstance(found, Board):
        return render_board(replace(found, systems=systems), form, verbose=2)
    return render(systems, form, verbose=2)


def curves(path: Path) -> pd.DataFrame:
    """Write the curves of two files with two classes, and read them back."""
    y, p = np.array([[[0.5, 0], [1, 0.5], [0, 0], [1, 0]], [[0, 1], [0.5, 0.5], [1, 0], [0, 0.5]]])
    scores = evaluate(
        *(y, p),
        only="all",
        measures=["curves", "calibration"],
        bins=2,
        psds="dcase-psds1",
        psds_median_filters=[1],
    )
    write_curves(str(path), {"s": scores.curves, "=2": scores.curves})
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    texts = pd.read_csv(path, sep="\t", dtype=str)
    return texts.assign(**{name: texts[name].map(float) for name in COLUMNS[6:]})


def curves_text() -> str:
    with TemporaryDirectory() as folder:
        return curves(Path(folder) / "c.tsv").round(9).to_csv(sep="\t", index=False)


# The default screen, from tables.

DCASE = SHARED / "dcase2019_task4"
HEAD = ["filename", "onset", "offset", "event_label", "value"]
Rows = list[tuple[object, ...]]


def classes_of(n: int, length: int = 6) -> tuple[Rows, Rows]:
    """Return a reference of n classes of ten seconds, and a system that detects less of each next class."""
    rows = [(f"f{k % 3}", 20 * k, 20 * k + 10, f"class {k:0{length}}", 0.9) for k in range(n)]
    return rows, [
        (file, on, on + 10 * (1 - k / n), name, 0.8) for k, (file, on, _, name, _) in enumerate(rows)
    ]


def of_rows(
    *sides: Rows, by_class: bool = False, width: int = WIDTH, color: bool = False, **chosen: object
) -> str:
    tables = (pd.DataFrame(rows, columns=HEAD) for rows in sides)
    return render([evaluate(*tables, **chosen)], width=width, color=color, by_class=by_class)


def called(*arguments: object) -> str:
    return call(*arguments, "-q").out


MISSED = (
    [("a", 0, 2, "low", 1), ("a", 3, 5, "none", 1), ("a", 6, 8, "zero", 1), ("a", 8, 9, "faint", 0.4)],
    [("a", 0, 2, "low", 0.4), ("a", 6, 8, "zero", 0), ("a", 8, 9, "faint", 0.9), ("a", 9, 9.5, "more", 1)],
)
"""Classes without detections or without a reference, each for a different reason."""

NOTES: dict[str, dict[str, object]] = {
    "plain": {},
    "mean": {"inclusive": True, "pool": "mean", "threshold": 1},
    "high": {"threshold": 1},
    "soft": {"only": "segment.soft"},
    "events": {"only": "event.hard"},
    "processed": {"min_duration": 3, "only": "segment"},
    "one": {"classes": "low", "only": "segment"},
    "cut": {"reference_threshold": 0.3, "rank_by": "event.soft.f1.micro"},
}
OFTEN = [("a", 0, 50, "often", 1.0)]
RARE = [*OFTEN, ("a", 3, 5, "rare", 1.0)], [*OFTEN, ("a", 0, 100, "rare", 0.2)]
"""Below 0.2, optimal F of "rare" is 4/102 and micro F is 104/202; hard micro F is 100/102."""

RIGHT = [("f", 0, 10, "a", 0.9), ("f", 9, 10, "b", 1.0)]
SMALL = RIGHT, [*RIGHT, ("f", 0, 9, "b", 0.3)]
"""Soft TP of "b" is 1; the reference has 1, the system 1 + 9 * 0.3: P 1/3.7, F 2/4.7."""

EVENTS = pd.DataFrame([("a", 0.0, 1.0, "car"), ("a", 5.0, 6.0, "car")], columns=HEAD[:4])


def untested() -> Board:
    """Return a board without tests between systems, as a site may have it."""
    made = compared(2, n_files=4)
    of = replace(made.entries[1].difference, p_bootstrap=None, p_exchange=None, p_adjusted=None)
    return replace(made, entries=(made.entries[0], replace(made.entries[1], difference=of)))


SCREENS: dict[str, Callable[[], str]] = {
    "sample": lambda: called(REFERENCE, SYSTEM),
    "intervals": lambda: called(REFERENCE, SYSTEM, "--ci", "--replicates", "100"),
    "preset": lambda: called(REFERENCE, SYSTEM, "--preset", "dcase2019-task4"),
    "chance": lambda: called("chance", REFERENCE, SYSTEM, "--only", "segment", "--draws", "5"),
    "folds": lambda: called(REFERENCE, SYSTEM, "--folds", SAMPLES / "folds.tsv", "--only", "segment"),
    "words": lambda: called(REFERENCE, SYSTEM, "--ci", "--replicates", "100", "--words"),
    "points": lambda: render([evaluate(EVENTS, {0.2: EVENTS, 0.6: EVENTS[:1]})]),
    "scenes": lambda: called(REFERENCE, SYSTEM, "--by", SAMPLES / "folds.tsv"),
    "psds": lambda: called(REFERENCE, SYSTEM, "--psds", "dcase-psds1"),
    "everything": lambda: called(
        *(REFERENCE, SYSTEM, "--only", "all", "--measures", "all", "--worst", "3"),
        *("--set", "reference_sweep=true"),
    ),
    "one-class": lambda: called(REFERENCE, SYSTEM, "--classes", "car"),
    "runs": lambda: called(REFERENCE, SYSTEM, OTHER, "--runs"),
    "systems": lambda: called(REFERENCE, SYSTEM, OTHER, "--replicates", "100"),
    "fifty-classes": lambda: of_rows(*classes_of(50)),
    "no-class": lambda: render([evaluate(EVENTS[:0], EVENTS[:0])]),
    "long-names": lambda: of_rows(*classes_of(4, 90)),
    "width-60": lambda: of_rows(*classes_of(4), width=60),
    "width-100": lambda: of_rows(*classes_of(4, 30), width=100),
    "width-140": lambda: of_rows(*classes_of(4, 30), width=140),
    "color": lambda: of_rows(*classes_of(4), color=True),
    "hard": lambda: called(DCASE / "dcase2019t4_gt.csv", DCASE / "baseline_0.5.csv"),
    "board-baseline": lambda: render_board(compared(12, baseline="system 11")),
    "board-lower": lambda: render_board(compared(rank_by="segment.hard.error_rate.micro")),
    "board-untied": lambda: render_board(compared(4, n_files=3, worse=0.1)),
    "board-untested": lambda: render_board(untested()),
    **{f"notes-{name}": partial(of_rows, *MISSED, by_class=True, **chosen) for name, chosen in NOTES.items()},
    "note-optimal": lambda: of_rows(*RARE, only="segment"),
    "note-small-values": lambda: of_rows(*SMALL, only="segment", classes="b"),
    "note-none": lambda: of_rows(*SMALL, only="segment"),
    "note-many": lambda: of_rows([("a", k, k + 1, f"class {k}", 1) for k in range(30)], []),
}

OUTPUTS: dict[str, Callable[[], str]] = {
    **{f"report/{name.split()[0]}": partial(rendered, name) for name in MADE},
    "report/curves.tsv": curves_text,
    "report/required.xml": lambda: junit([pair(ci="bca"), build(system=NAMES[1], families=SOFT)], VERDICTS),
    "report/required.md": lambda: job_summary([build(system=NAMES[1], families=SOFT)], None, VERDICTS),
    "report/board.scores.md": lambda: job_summary(
        (found := board(families=SOFT)).systems, found, (), ["segment.soft.f1.macro"]
    ),
    "report/scores.json": lambda: codabench(build(families=SOFT))[0],
    "report/scores.txt": lambda: codabench(build(families=SOFT), lines=True)[0],
    "report/annotations.txt": lambda: commands(VERDICTS, ["odd", "odd", NAMES[1]]),
    "report/explained.txt": lambda: explanations([*EXPLAINED, *WORDS]),
    "report/explained.json": lambda: explanations([*EXPLAINED[:5], "soft"], "json"),
    **{f"screens/{name}.txt": screen for name, screen in SCREENS.items()},
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_as_it_was(name):
    if name == "screens/hard.txt" and not DCASE.exists():
        pytest.skip("needs ../shared/data/dcase2019_task4, which is not part of a checkout")
    text = OUTPUTS[name]()
    assert text == (DATA / name).read_bytes().decode(), "if this is wanted, write the golden files anew"
    if name.startswith("screens/"):
        lines = lines_of(text, int(name[14:-4]) if "width" in name else WIDTH)
        assert len(lines) <= LINES and all(line == line.rstrip() for line in lines)


def test_folders_have_these_outputs_and_no_others():
    files = [path for folder in ("report", "screens") for path in (DATA / folder).iterdir()]
    assert {path.relative_to(DATA).as_posix() for path in files} == {*OUTPUTS}


def test_parquet_has_the_curves_of_the_text_to_the_last_digit_and_names_as_they_are(tmp_path):
    text, exact = (curves(tmp_path / name) for name in ("c.tsv", "c.parquet"))
    assert [*exact.columns] == [*text.columns] == [*COLUMNS]
    assert {*exact["system"]} == {"s", "=2"} and {*text["system"]} == {"s", "'=2"}
    pd.testing.assert_frame_equal(
        text, exact.assign(system=text["system"]), check_exact=True, check_dtype=False
    )


if __name__ == "__main__":
    for name, output in OUTPUTS.items():
        if name != "screens/hard.txt" or DCASE.exists():
            (DATA / name).write_bytes(output().encode())
