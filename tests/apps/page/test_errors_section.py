"""The section of a report that says where the score went: bars, worst examples, and why there are none."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from embedded import embedded

import sedeval_soft
from sedeval_soft import Choices, write_report

SAMPLE = Path(__file__).parents[3] / "sample_data"
REF, SYS = SAMPLE / "ref.tsv", SAMPLE / "sys.tsv"


def section(path, reference, system, **settings) -> str:
    write_report(reference, system, path, **settings)
    text = path.read_text(encoding="utf-8")
    return html.unescape(re.search(r'<section id="errors".*?</section>', text, re.DOTALL)[0])


def bars(text: str) -> list[tuple[str, list[str]]]:
    """Return the kinds of errors in their order, and what the bar and each example link to."""
    rows = re.findall(r'<tr><th scope="row">(.*?)<span.*?</th>(.*?)</tr>', text, re.DOTALL)
    return [(kind, list(map(unquote, re.findall(r'href="#timeline=([^"]*)"', row)))) for kind, row in rows]


def table(path, *rows):
    path.write_text("".join(f"{row}\n" for row in ("filename\tonset\toffset\tevent_label", *rows)))
    return path


def test_bars_are_shares_and_gains_as_diagnose_has_them(tmp_path):
    text = section(tmp_path / "page.html", REF, SYS)
    kinds = [k for k in sedeval_soft.diagnose(REF, SYS, only="event.hard").table("event", "hard") if k.count]
    assert [kind for kind, _ in bars(text)] == [each.kind.replace("_", " ") for each in kinds]
    widest = max(max(each.share, each.gain) for each in kinds)
    drawn = re.findall(r"--part: ([\d.]+); --gain: ([\d.]+)", text)
    for each, (part, gain) in zip(kinds, drawn, strict=True):
        assert float(part) == pytest.approx(each.share / widest, abs=1e-4)
        assert float(gain) == pytest.approx(each.gain / widest, abs=1e-4)
        cells = f"{each.share:.3f}", f"{each.gain:.3f}", f"{each.fn:.0f}", f"{each.fp:.0f}"
        assert "".join(f"<td>{cell}</td>" for cell in cells) in text


def test_the_worst_example_costs_most_and_is_wrong_longest(tmp_path):
    ref = table(
        tmp_path / "ref.tsv",
        # Missed: of one second, of five, of three. The file with two of them is not the worst.
        "a\t0\t1\tdog", "b\t0\t5\tdog", "a\t5\t8\tdog",
        # Split in two pieces, then in three: this costs more, though less of it is wrong.
        "c\t0\t100\tcar", "d\t0\t10\tcar",
        # Merged: two events, then three.
        "e\t0\t40\tcat", "e\t50\t90\tcat", "f\t0\t4\tcat", "f\t5\t9\tcat", "f\t10\t14\tcat",
        # Onsets that are late by one second, and by three.
        "g\t0\t9\tbell", "h\t0\t9\tbell",
        # Taken for another class: all of both is wrong, 8 s, and not the 10 s that both last less.
        "k\t0\t4\tsaw", "m\t0\t5\tsaw",
    )  # fmt: skip
    system = table(
        tmp_path / "sys.tsv",
        "c\t0\t30\tcar", "c\t60\t90\tcar", "d\t0\t3\tcar", "d\t4\t6\tcar", "d\t7\t9\tcar",
        "e\t0\t90\tcat", "f\t0\t14\tcat",
        "g\t1\t9\tbell", "h\t3\t9\tbell",
        "k\t0\t4\tfan", "m\t0\t5\tfan",
    )  # fmt: skip
    worst = dict(bars(section(tmp_path / "page.html", ref, system, events="rows")))
    assert worst["missed"] == ["b@0.0@dog", "b@0.0@dog", "a@5.0@dog", "a@0.0@dog"]
    assert worst["split"] == ["d@0.0@car", "d@0.0@car", "c@0.0@car"]
    assert worst["merge"] == ["f@0.0@cat", "f@0.0@cat", "e@0.0@cat"]
    assert worst["onset"] == ["h@0.0@bell", "h@0.0@bell", "g@0.0@bell"]
    assert worst["confusion"] == ["m@0.0@saw", "m@0.0@saw", "k@0.0@saw"]


def test_examples_are_in_files_that_the_page_shows(tmp_path):
    path = tmp_path / "page.html"
    rows = [f"f{k}\t{k}\t{k + 1}\tdog" for k in range(60)]
    sides = table(tmp_path / "ref.tsv", *rows), table(tmp_path / "sys.tsv", *rows[20:])
    kinds = bars(section(path, *sides, only="event.hard", choices=Choices(timelines=1)))
    examples = [at.split("@")[0] for _, links in kinds for at in links]
    assert len({*examples}) == 3
    timelines = embedded(path)["systems"][0]["timelines"]
    assert {*examples} <= {file["name"] for file in timelines["files"]}
    assert [each["why"] for each in timelines["files"]][-3:] == ["errors", "errors", "random"]


ONE = "a\t0\t1\tcar"
CROWD = [f"a\t{k / 10}\t{k / 10 + 600}\tclass {k % 50}" for k in range(3500)]


@pytest.mark.parametrize(
    ("ours", "theirs", "settings", "said"),
    [
        ([ONE], [ONE], {}, "no errors"),
        (["a"], [ONE], {}, "no events"),
        ([ONE], [ONE], {"only": "segment"}, "--only event.hard"),
        ([ONE], [ONE], {"compat": "sed_eval"}, "--set compat"),
        ([ONE], [ONE], {"matching": "greedy"}, "--set matching=greedy"),
        (CROWD, CROWD, {"events": "rows", "only": "event.hard"}, "Too many"),
    ],
)  # fmt: skip
def test_where_there_are_no_kinds_of_errors_it_says_why(ours, theirs, settings, said, tmp_path):
    sides = table(tmp_path / "ref.tsv", *ours), table(tmp_path / "sys.tsv", *theirs)
    text = section(tmp_path / "page.html", *sides, **settings)
    assert said in text and "<table>" not in text
