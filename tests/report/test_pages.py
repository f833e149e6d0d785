"""Pages of systems and boards: all scores are shown, nothing is cut, and what a reader must know is said.

What a page looks like to the letter is in tests/data/report; here are the rules behind it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from resampled import RANK_BY, board, with_folds, with_intervals, with_worst
from rich.cells import cell_len
from rich.text import Text
from samples import (
    FAMILIES,
    MAESTRO,
    UNICODE,
    build,
    registered,
    revalued,
    score,
    tables,
    with_all_bases,
    without,
)

from sedeval_soft import evaluate, mean_of_runs
from sedeval_soft.comparison.board import Agreement, Difference
from sedeval_soft.errors import visible
from sedeval_soft.evaluation.details import Folds, Spread
from sedeval_soft.measures import registry
from sedeval_soft.measures.names import AVERAGES
from sedeval_soft.report import FORMATS, render, render_board
from sedeval_soft.report.board import board_page, p_value
from sedeval_soft.report.page import ends, families, page_of
from sedeval_soft.report.render import with_averages
from sedeval_soft.report.table import Table, exact, number, short
from sedeval_soft.report.text import cells, escaped, plain_table, split

HARD = (("segment", "hard"),)
SEGMENTS = (("segment", "hard"), ("segment", "optimal"))
NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip())
TABLE = {
    "filename": ["street_1", "street_1", "park"],
    "onset": [0.0, 1.0, 0.0],
    "offset": [1.0, 2.0, 1.0],
    "event_label": ["car", "dog", "car"],
    "soft_value": [0.5, 0.75, 1.0],
}
GROUP, SCENE = "traffic *|, =1", "street\u00e9"


@pytest.fixture(scope="module")
def parts():
    return evaluate(TABLE, TABLE, groups={GROUP: ["car"]}, scenes={SCENE: "street_*"})


def colourless(text):
    """Return what a terminal shows, line by line."""
    return [Text.from_ansi(line).plain for line in text.splitlines()]


def table_of(found, title):
    """Return the one table of a system or a board whose title begins so."""
    all_tables = tables(found) if hasattr(found, "settings") else board_page(found).tables
    (table,) = (table for table in all_tables if table.title.startswith(title))
    return table


def cells_of(table, *names):
    """Return the row of some names as {(heading, column): cell}."""
    row = next(row for row in table.rows if row[: len(names)] == names)
    columns = zip([*[""] * table.names, *(table.headings or [""] * len(row))], table.head, strict=False)
    return dict(zip(columns, row, strict=True))


def column(table, name):
    """Return the cells below the first column of a name."""
    return [row[table.head.index(name)] for row in table.rows]


@pytest.mark.parametrize("shown", ["text", "markdown", "terminal 60", "terminal 80", "terminal 200"])
def test_every_score_is_shown(shown):
    scores = registered(MAESTRO[:3])
    form, _, width = shown.partition(" ")
    text = render([scores], color=True, width=int(width)) if width else render([scores], form)
    assert {*re.findall(r"\b1\d{5}\b", text)} == {str(value) for value in scores.values()}
    assert len(scores) > 300


def test_every_end_of_an_interval_is_shown():
    scores = with_intervals(registered(("car",)))
    text = render([scores])
    values = {end for score in scores.scores.values() if score.low for end in (score.low, score.high)}
    assert len(values) > 200
    assert all(f"{end:.4f}" in text or f"{end:.2f}" in text for end in values)


def test_what_the_layout_does_not_know_is_in_tables_of_others():
    extra = (
        score("phrase", "soft", "roc_gap", "macro", 0.777701, of_class=False),
        score("phrase", "soft", "roc_gap", "car", 0.777702, of_class=True),
        score("segment", "hard", "f1", "micro-joint", 0.777713, of_class=False),
        score("segment", "hard", "reach", "speech", 0.777704, of_class=True),
    )
    scores = build(families=HARD)
    scores = replace(scores, scores={**scores.scores, **{s.name: s for s in extra}})
    others = table_of(scores, "Other averages")
    assert others.head == ("basis", "reading", "average", "F1", "roc_gap")
    assert others.rows == (
        ("segment", "hard", "micro-joint", "0.7777", ""),
        ("phrase", "soft", "macro", "", "0.7777"),
    )
    assert table_of(scores, "Classes, phrase-based, soft reading, other").rows == (("car", "0.7777"),)
    assert table_of(scores, "Classes, segment-based, hard reading, other").rows == (("speech", "0.7777"),)


def test_tables_have_columns_for_what_there_is_and_no_rows_of_nothing():
    lonely = without(build(), lambda s: not (s.reading == "soft" and s.average == "macro"))
    assert all(table.rows and all(any(row[table.names :]) for row in table.rows) for table in tables(lonely))
    text = render([without(build(), lambda s: s.average is not None or s.measure in {"n_ref", "f1"})])
    assert not any(word in text for word in ("Summary", "F1", "left out of macro"))
    nothing = without(build(), lambda _: True)
    assert render([nothing]).count("\n\n") == 1
    assert render([nothing], "csv").count("\n") == 2


def test_families_come_in_the_order_of_the_registry_and_then_others():
    scores = with_all_bases()
    found = families(replace(scores, scores=dict(reversed(scores.scores.items()))))
    known = list(dict.fromkeys((family.basis, family.reading) for family in registry.FAMILIES))
    assert found == [*(f for f in known if f in found), *(f for f in found if f not in known)]


def test_systems_are_distinguished_by_name():
    text = render([build(), build(system="other\x1b.tsv")])
    assert "System: sys.tsv\n" in text and "System: other\\x1b.tsv\n" in text
    assert "System: " not in render([build()])


def test_the_dash_and_classes_without_reference_are_explained_where_there_are_any():
    assert "is undefined" not in render([build(("-", "car"))])
    for form in ("text", "markdown"):
        text = render([build(MAESTRO, silent=MAESTRO[1:3], missed=("car",))], form)
        assert "is undefined" in text
        assert "left out of macro averages: car, people talking." in text
    assert "\n\\- is undefined" in text, "no item of a list"


def test_warnings_are_not_in_text_but_everywhere_else_that_has_a_place():
    for form in ("text", "json", "yaml", "markdown"):
        assert ("no rows for file" in render([build()], form)) == (form != "text")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("form", FORMATS)
def test_no_nan_and_no_infinity_gets_out(form, value):
    text = render([revalued(build(), lambda *_: value)], form)
    assert not re.search(r"\b(nan|inf(inity)?)\b", text, re.IGNORECASE)


def test_numbers():
    assert [number(v) for v in (None, 3, 0.25, -1e-9, -0.0, -0.25, 12345.5)] == [
        *("-", "3", "0.2500", "0.0000", "0.0000", "-0.2500", "12345.5000"),
    ]
    assert [exact(v) for v in (None, 3, 0.1, 1 / 3)] == ["-", "3", "0.1", "0.3333333333333333"]
    assert [short(v) for v in (1.0, 0.2, 1e-06)] == ["1", "0.2", "1e-06"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_read_back_from_text(cut):
    scores = revalued(
        build(("car",), (("segment", "optimal"),)), lambda _, s: cut if s.measure == "threshold" else 0
    )
    line = next(line for line in render([scores]).splitlines() if line.startswith("car "))
    assert float(line.split()[-1]) == cut


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_any_name_is_shown_whole_and_lines_up(labels):
    scores = build(labels, HARD)
    names = [visible(label) for label in labels]
    block = render([scores]).split("Classes, segment-based, hard reading\n")[1].split("\n\n")[0].splitlines()
    assert [line.startswith(name) for name, line in zip(names, block[1:], strict=True)] == [True] * len(names)
    assert len({cells(line) for line in block}) == 1
    markdown = render([scores], "markdown")
    assert all(f"| {escaped(label)} |" in markdown for label in labels)
    for text in (render([scores]), markdown):
        assert all(char.isprintable() or char == "\n" for char in text)


@settings(max_examples=30)
@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), st.integers(20, 200))
def test_a_terminal_shows_names_whole(labels, width):
    lines = colourless(render([build(labels, HARD)], color=True, width=width))
    shown = [line.removeprefix(" ") for line in lines]
    assert all(any(line.startswith(visible(label)) for line in shown) for label in labels)
    assert "…" in "".join(labels) or "…" not in "".join(lines)


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("labels", [MAESTRO, UNICODE, ("x",), None])
def test_tables_fit_the_terminal(labels, width):
    of_board = render_board(board(), color=True, width=width)
    text = of_board if labels is None else render([build(labels)], color=True, width=width)
    drawn = [line for line in colourless(text)[6:-2] if line.startswith(" ")]
    assert max(map(cell_len, drawn)) <= width
    assert all(sum(name in line for line in drawn) >= len(FAMILIES) for name in labels or ())


def test_a_table_is_not_torn_into_many():
    table = render([build(("x" * 75,), HARD)], color=True, width=80)
    assert table.count("x" * 75) == 2


def test_rows_of_a_table_that_is_split_all_have_their_ends():
    text = render([with_intervals(build(families=SEGMENTS))], color=True, width=80)
    summary = text.split("Averages weighted")[0]
    assert summary.count("2.5 %") == 2 * summary.count("Summary") == 4
    assert "\x1b[2m" in summary


def test_markup_of_rich_is_not_obeyed_and_colours_can_be_off(monkeypatch):
    scores = build(("[red]x[/red]", "[link=http://a]b[/link]", "[/]", ":smile:"), HARD, missed=("[/]",))
    shown = "\n".join(colourless(render([scores], color=True, width=80)))
    assert all(name in shown for name in scores.classes)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", render([scores], color=True, width=80))


def test_a_heading_has_room_and_stays_with_its_columns_where_a_table_is_split():
    table = Table("T", ("n", "a", "b"), (("x", "1", "2"),), headings=("weighted", "m"))
    assert plain_table(table) == "T\n   weighted  m\nn         a  b\nx         1  2\n"
    table = Table("T", ("n", *"abcdef"), (("x", *"123456"),), headings=(*"ggghhh",))
    assert split(table, [1] * 7, 80) == [table]
    first, second = split(table, [1] * 7, 12)
    assert (first.head, first.groups) == (("n", "a", "b", "c"), (("", 1), ("g", 3)))
    assert (second.head, second.groups) == (("n", "d", "e", "f"), (("", 1), ("h", 3)))
    assert [part.head[1:] for part in split(table, [1] * 7, 7)] == [("a", "b"), ("c",), ("d", "e"), ("f",)]
    assert len(split(table, [1] * 7, 0)) == 6


def test_markdown_escapes_what_markdown_and_html_obey():
    labels = ("a|b", "<b>x</b>", "[x](y)", "![i](u)", "`c`", "*e*", "_e_", "~~s~~", "&lt;", "# h", "\\|")
    markdown = render([build(labels, HARD)], "markdown")
    table = markdown.split("### Classes, segment-based, hard reading\n\n")[1].split("\n\n")[0].splitlines()
    assert len(table) == 2 + len(labels)
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table}) == 1
    assert "<" not in re.sub(r"\\<", "", markdown)
    assert not re.search(r"(?<!\\)&", markdown)


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "tsv"])
def test_simple_forms_need_no_other_package(form):
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from samples import build; from sedeval_soft.report import render\n"
        f"render([build()], {form!r})\n"
        "print(*{'rich', 'yaml', 'msgspec', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "\n"


def test_a_confusion_that_no_table_holds_is_left_to_json():
    rng = np.random.default_rng(0)
    for n_classes in (50, 51):
        y, p = rng.random((2, 20, n_classes))
        scores = evaluate(y, p, only=("segment.hard",), measures=("confusion",))
        text = render([scores])
        assert ("Confusion of classes" in text) == (n_classes == 50)
        assert ("The confusion of 51 classes is in JSON" in text) == (n_classes == 51)
        assert len(scores.to_dict()["systems"][0]["confusion"][0]["pairs"]) == n_classes


def test_a_score_without_interval_has_empty_cells_below_it():
    scores = with_intervals(build(families=SEGMENTS, missed=("car",)))
    optimal = table_of(scores, "Classes, segment-based, optimal reading")
    assert column(optimal, "class") == ["car", "   2.5 %", "  97.5 %", "speech", "   2.5 %", "  97.5 %"]
    assert column(optimal, "P")[:3] == ["-", "", ""]
    assert column(optimal, "threshold")[4:] == ["", ""]
    mixed = replace(
        scores,
        scores={
            **build(families=SEGMENTS).scores,
            "segment.hard.f1.micro": scores.score("segment.hard.f1.micro"),
        },
    )
    assert table_of(mixed, "Summary").details == {1, 2}
    assert sum("rows 2.5 % and 97.5 %" in note for note in page_of(mixed).notes) == 1
    assert not any("the ends of" in note for note in page_of(build()).notes)


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, ("2.5 %", "97.5 %")), (0.9, ("5 %", "95 %")), (0.99, ("0.5 %", "99.5 %")),
        (0.6827, ("15.865 %", "84.135 %")), (0.9999, ("0.005 %", "99.995 %")),
    ],
)  # fmt: skip
def test_ends_have_exact_short_names(confidence, expected):
    assert ends(confidence) == expected


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, "95 % bootstrap percentiles, 1000 replicates of 5 files, seed 0"),
        (
            {"ci": "bca", "confidence": 0.9, "replicates": 200, "seed": 7, "fixed_thresholds": True},
            "90 % BCa, 200 replicates of 5 files, seed 7, thresholds fixed",
        ),
        ({"ci": "jackknife"}, "95 % delete-one jackknife over 5 files"),
    ],
)
def test_header_says_how_intervals_are_found(chosen, expected):
    assert dict(page_of(with_intervals(build(), **chosen)).lines)["intervals"] == expected


def test_header_says_what_intervals_of_repeated_trainings_are_of():
    runs = mean_of_runs(TABLE, {"first": TABLE, "second": TABLE}, confidence=0.9, only=("segment.soft",))
    lines = dict(page_of(runs).lines)
    assert lines["runs"] == "2, means over trainings; 90 % intervals by the jackknife over runs"
    assert "intervals" not in lines
    assert runs.signature.endswith(" | runs=2 confidence=0.9")


def test_many_folds_have_no_columns_of_their_own():
    scores = with_folds(build(families=SEGMENTS), [f"f{i}" for i in range(11)])
    assert table_of(scores, "Folds").head[-1] == "deviation"
    assert dict(page_of(scores).lines)["folds"] == "11, of 1 to 11 files"
    assert "csv has what each fold scores." in render([scores])
    main = tuple(s for s in scores.folds.spreads if s.name == "segment.hard.f1.micro")
    few = replace(scores, folds=replace(scores.folds, spreads=main))
    assert page_of(few).notes[-1] == "What each fold scores is in csv, JSON and YAML."
    assert tables(scores)[:-1] == tables(build(families=SEGMENTS)), "folds have no other tables"


def test_only_main_scores_have_their_spread_in_the_table_and_all_where_there_are_none():
    scores = with_folds(registered(("car", "speech")))
    measures = ("P", "R", "F1", "F2", "ER", "KLD")
    expected = {(measure, average) for measure in measures for average in ("micro", "macro")}
    assert {row[2:4] for row in table_of(scores, "Folds").rows} == expected | {
        ("PSDS", "overall"),
        ("piPSDS", "overall"),
    }
    assert any("Spreads of all averages are in JSON" in note for note in page_of(scores).notes)
    scores = with_folds(build(families=SEGMENTS))
    rare = tuple(s for s in scores.folds.spreads if ".accuracy." in s.name)
    rows = table_of(replace(scores, folds=replace(scores.folds, spreads=rare)), "Folds").rows
    assert [row[2:4] for row in rows[:3]] == [("acc", "micro"), ("acc", "macro"), ("acc", "weighted")]
    asked = render([scores], averages=["weighted"]).split("Folds: ")[1]
    assert "weighted" in asked and "micro" not in asked


def test_folds_of_classes_and_with_odd_names_are_shown():
    scores = build(("a|b", "speech"), HARD)
    spread = Spread("segment.hard.f1[a|b]", (None, 0.25), None, None)
    scores = replace(scores, folds=Folds(("one\x1b", "|two"), (1, 1), (spread,)))
    table = table_of(scores, "Folds")
    assert table.rows[0] == (
        *("segment", "hard", "F1", "a|b", f"{scores[spread.name]:.4f}"),
        *("-", "-", "-", "0.2500"),
    )
    assert table.head[3] == "of"
    assert "folds \\|two" in render([scores], "markdown")


def test_each_part_has_a_summary_and_scenes_have_classes(parts):
    titles = [table.title for table in tables(parts)]
    after = titles[titles.index(f"Summary, group {GROUP}") :]
    assert after[1] == f"Summary, scene {SCENE}"
    assert f"Classes, event-based, soft reading, scene {SCENE}" in after
    assert all(f"scene {SCENE}" in title for title in after[1:])
    alone = tables(evaluate(TABLE, TABLE))
    assert tables(parts)[: len(alone)] == alone
    f1 = cells_of(table_of(parts, f"Summary, group {GROUP}"), "segment", "soft")
    assert f1["macro", "F1"] == f"{parts[f'segment.soft.f1.macro@{GROUP}']:.4f}"
    classes = table_of(parts, f"Classes, segment-based, soft reading, scene {SCENE}")
    assert list(zip(column(classes, "class"), column(classes, "N_ref"), strict=True)) == [
        ("car", "0.50"),
        ("dog", "0.75"),
    ]
    for form in FORMATS:
        text = render([parts], form).replace("\\", "")
        assert (GROUP in text and SCENE in text) or form == "latex"


def test_what_is_in_no_summary_is_shown_where_there_is_nothing_else():
    ranked = evaluate(TABLE, TABLE, only="ranking", groups={GROUP: ["car"]})
    assert "1-err" in table_of(ranked, f"Other averages, group {GROUP}").head


@pytest.mark.parametrize("wanted", [("micro",), ("macro",), ("weighted",), ("micro", "weighted"), AVERAGES])
def test_only_asked_averages_are_shown(wanted, parts):
    for form, options in (("text", {}), ("markdown", {}), ("text", {"color": True, "width": 100})):
        text = render([parts], form, averages=wanted, **options).rpartition("soft-sed-eval")[0]
        assert {average for average in AVERAGES if re.search(rf"\b{average}\b", text)} == {*wanted}
    group = table_of(with_averages(parts, wanted), f"Summary, group {GROUP}")
    shown = [average for average in wanted if average != "weighted" or not {"micro", "macro"} <= {*wanted}]
    assert [heading for heading, _ in group.groups] == ["", *shown]
    whole = registered(("car",))
    assert {*whole} - {*with_averages(whole, wanted)} == {
        name for name in whole if name.endswith(tuple(f".{a}" for a in AVERAGES if a not in wanted) or ("?",))
    }


def test_leaderboard_has_all_that_an_entry_says():
    found = board()
    table = table_of(found, f"Leaderboard by {RANK_BY}")
    assert [row[:2] for row in table.rows] == [
        *(("1", "alpha.tsv"), ("2=", "beta.tsv"), ("2=", "gamma.tsv"), ("4", "baseline.tsv")),
    ]
    entry = found.entries[1]
    assert cells_of(table, "2=", "beta.tsv") == {
        ("", "rank"): "2=",
        ("", "system"): "beta.tsv",
        ("score", "value"): f"{entry.value:.4f}",
        ("score", "2.5 %"): f"{entry.low:.4f}",
        ("score", "97.5 %"): f"{entry.high:.4f}",
        ("difference", "value"): "-0.0100",
        ("difference", "2.5 %"): "-0.0300",
        ("difference", "97.5 %"): "+0.0100",
        ("p", "bootstrap"): "0.0415",
        ("p", "exchange"): "0.0212",
        ("p", "Holm"): "0.1245",
        ("place", "stable"): "81.2 %",
        ("place", "range"): "1-3",
    }
    many = table_of(board([f"s{i}" for i in range(11)]), "Leaderboard")
    assert [row[0] for row in many.rows[:4]] == [" 1", " 2=", " 2=", " 4"]


def test_what_is_not_known_is_not_made_up():
    found = board()
    entry = replace(found.entries[3], value=None, low=None, high=None, stability=None, best_place=None)
    entry = replace(entry, worst_place=None, difference=Difference(None, None, None, None, None, None))
    found = replace(found, entries=(*found.entries[:3], entry))
    row = table_of(found, "Leaderboard").rows[3]
    assert row[2:] == ("-", "", "", "-", "", "", "-", "-", "-", "", "")
    assert "- is undefined" in render_board(found)


@pytest.mark.parametrize(
    ("p", "shown"),
    [
        *((1.0, "1.0000"), (0.04999, "0.0500"), (1 / 1001, "0.0010"), (0.0001, "0.0001")),
        *((0.00009, "9.0e-05"), (1 / 1_000_001, "1.0e-06"), (3.2e-200, "3.2e-200"), (0.0, "< 1e-300")),
        *((None, "-"), (float("nan"), "-")),
    ],
)
def test_p_values_are_never_zero(p, shown):
    assert p_value(p) == shown


def test_header_of_a_board_says_what_is_ranked_and_how_it_was_resampled():
    lines = dict(board_page(board()).lines)
    assert lines["ranked by"] == f"{RANK_BY}; higher is better"
    assert lines["against"] == "alpha.tsv, the first of the ranking"
    assert lines["resampled"] == "1000 replicates of 5 files, seed 0; 95 % confidence"
    other = board(baseline="gamma.tsv", replicates=1, ci="bca", fixed_thresholds=True)
    lines = dict(board_page(replace(other, rank_by="segment.hard.error_rate.micro")).lines)
    assert lines["ranked by"].endswith("; lower is better")
    assert lines["against"] == "gamma.tsv, the baseline"
    assert lines["resampled"].startswith("1 replicate of")
    assert lines["intervals"] == "BCa, thresholds fixed"
    systems = [text for role, text in board_page(board()).lines if role == "system"]
    assert [text.partition(":")[0] for text in systems] == [s.system for s in board().systems]
    many = dict(board_page(board([f"s{i}" for i in range(11)])).lines)
    assert "system" not in many and many["systems"].startswith("11;")


def test_systems_stand_side_by_side_in_main_scores():
    found = board()
    table = table_of(found, "Systems side by side: macro F1, micro ER, micro KLD")
    row, scores = cells_of(table, "gamma.tsv"), found.systems[2]
    assert row["segment soft", "F1"] == f"{scores['segment.soft.f1.macro']:.4f}"
    assert row["segment soft", "KLD"] == f"{scores['segment.soft.kl_divergence.micro']:.4f}"
    assert ("event soft", "KLD") not in row
    assert "Systems side by side: micro F1, micro ER" in render_board(found, averages=["micro"])
    bare = replace(found, systems=tuple(without(scores, lambda _: True) for scores in found.systems))
    assert "side by side" not in render_board(bare)
    assert "tau" not in render_board(replace(found, agreement=Agreement((), ())))


def test_mcnemar_names_the_classes_that_differ_up_to_a_number():
    found = board()
    table = table_of(found, "Classes in which a system and alpha.tsv differ: McNemar")
    assert {row[0] for row in table.rows} == {"gamma.tsv", "baseline.tsv"}
    assert table.rows[0] == ("baseline.tsv", "class 1", "13", "43", "1.0e-07", "4.0e-07")
    assert "4 of 6 pairs of a class and a system have a Holm-adjusted p below 0.05; JSON" in render_board(
        found
    )
    edge = replace(found, discordances=tuple(replace(d, p_adjusted=0.05) for d in found.discordances))
    assert not any("McNemar" in table.title for table in board_page(edge).tables)
    assert "0 of 6" in render_board(edge)
    assert "McNemar" not in render_board(replace(found, discordances=()))
    many = board(n_classes=17)
    assert len(table_of(many, "Classes in which").rows) == 20
    assert "34 of 51 pairs" in render_board(many) and ", 14 more than are shown" in render_board(many)


def test_notes_of_a_board_explain_what_is_there():
    text = render_board(board())
    assert "= marks a rank that is shared: at 95 % confidence these systems cannot" in text
    assert "minus that of alpha.tsv, better above 0;" in text
    assert "adjusted for 3 comparisons. No p of these can be below 0.0010, 1 in replicates + 1." in text
    two = render_board(board(("a", "b")))
    assert "= marks" not in two and "1 comparison." in two
    assert "better below 0" in render_board(replace(board(), rank_by="segment.hard.error_rate.micro"))
    first, *others = board().systems
    for systems, note in (
        ((with_folds(first), *others), "Scores of groups, scenes and folds are in JSON and YAML."),
        ((*others, with_worst(first)), "What costs most in each system is in JSON and YAML."),
    ):
        assert note not in text
        assert note in board_page(replace(board(), systems=systems)).notes


def test_what_cannot_be_shown_is_refused():
    for form in FORMATS:
        with pytest.raises(ValueError, match="no system"):
            render([], form)
    for call in (lambda *a, **b: render([build()], *a, **b), lambda *a, **b: render_board(board(), *a, **b)):
        with pytest.raises(ValueError, match="'html' is not one of text, json"):
            call("html")
        with pytest.raises(ValueError, match="'mean' is not one of micro, macro, weighted"):
            call(averages=["mean"])
    with pytest.raises(ValueError, match="no system"):
        render_board(replace(board(), systems=()))
