"""The report as a file: what it embeds, what it says without scripts, and what becomes of hostile names."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from called import call
from embedded import embedded
from tables import long_rows, wide_rows

import sedeval_soft
from sedeval_soft import InputError, SettingsError
from sedeval_soft.api.report import write_report
from sedeval_soft.evaluation import curves
from sedeval_soft.html import page_data
from sedeval_soft.html.page_data import chosen
from sedeval_soft.html.report_page import Choices

SAMPLE = Path(__file__).parents[2] / "sample_data"


class Shape(HTMLParser):
    """What a browser would make of a page: its elements, ids and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.texts: list[str] = []
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in {"src", "href", "action", "data", "srcset"}:
                self.addresses.append(value)
            if name.startswith("on"):
                self.handlers.append(value)

    def handle_data(self, data):
        self.texts.append(data)


def rows(side, rng, n=40):
    return wide_rows(rng.random((n, 3)), files=4, name=side)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", path)
    return path


def test_is_one_file_that_needs_nothing_else(page):
    shape = Shape(page.read_text(encoding="utf-8"))
    assert [address for address in shape.addresses if not address.startswith("#")] == []
    assert len(shape.ids) == len(set(shape.ids))
    assert not shape.handlers
    inside = {address[1:].split("=")[0] for address in shape.addresses}
    assert inside <= set(shape.ids)


def test_scores_of_the_matrix_are_those_of_the_evaluator(page):
    text = page.read_text(encoding="utf-8")
    scores = sedeval_soft.evaluate(
        SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", only=("segment", "event", "intersection")
    )
    found = dict(re.findall(r'data-score="([^"]+)">([^<]+)<', text))
    assert len(found) == 27
    assert {name: f"{scores[name]:.4f}" for name in found} == found


def test_embeds_the_document_that_json_would_have(page):
    of = sedeval_soft.evaluate(
        SAMPLE / "ref.tsv",
        SAMPLE / "sys.tsv",
        only=("segment", "event", "intersection"),
        measures=("curves", "calibration", "confusion"),
        worst=10,
    )
    document = of.to_dict()
    names = {item["role"]: item["path"] for item in document["inputs"]}
    assert set(names) == {"reference", "system"}
    assert embedded(page)["document"]["systems"][0]["scores"] == document["systems"][0]["scores"]
    assert embedded(page)["document"]["signature"] == document["signature"]


def test_is_the_same_for_the_same_input(page, tmp_path):
    write_report(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ &amp; <b>bold</b>",
    "\u2028line\u2029 \u202egnp.exe",
    "javascript:alert(1)//",
    "]]><!--",
]


def test_hostile_names_are_texts(tmp_path):
    table = [(f"{name}.wav", i, i + 1.0, name, 0.7) for i, name in enumerate(HOSTILE)]
    plain = [(f"file{i}.wav", i, i + 1.0, f"class{i}", 0.7) for i in range(len(HOSTILE))]
    shapes = []
    for which in (table, plain):
        path = tmp_path / "page.html"
        name = HOSTILE[1] if which is table else "system"
        write_report(long_rows(which), {name: long_rows(which)}, path, choices=Choices(title=name))
        shapes.append(Shape(path.read_text(encoding="utf-8")))
    assert shapes[0].tags == shapes[1].tags
    assert not shapes[0].handlers
    assert "\u202e" not in path.read_text(encoding="utf-8")
    assert any("<script>alert(1)</script>" in text for text in shapes[0].texts)


@pytest.mark.parametrize(
    ("reference", "system"),
    [
        ([("a", 0, 1, "car", 0.5)], [("a", 0, 1, "car", 0.5)]),
        ([("a", 0, 1, "car", 0.9)], []),
        ([], [("a", 0, 1, "car", 0.9)]),
        ([("a", 0, 1, "car")], [("a", 0, 1, "dog")]),
        ([("a", 0, 0.000001, "car", 1e-300)], [("b", 0, 100000, "car", 1.0)]),
    ],
)
def test_small_and_odd_inputs_have_a_page(reference, system, tmp_path):
    (scores,) = write_report(
        long_rows(reference, files=["a"]), {"s": long_rows(system, files=["a"])}, tmp_path / "page.html"
    )
    data = embedded(tmp_path / "page.html")
    assert data["systems"][0]["explorer"]["classes"] == list(scores.classes)


def test_other_arithmetic_is_not_explored(tmp_path):
    rng = np.random.default_rng(1)
    sides = rows("ref", rng), {"sys": rows("sys", rng)}
    write_report(*sides, tmp_path / "compat.html", compat="sed_eval")
    assert embedded(tmp_path / "compat.html")["systems"][0]["explorer"] is None
    write_report(*sides, tmp_path / "greedy.html", matching="greedy")
    greedy = embedded(tmp_path / "greedy.html")["systems"][0]["explorer"]
    assert greedy["event"] is None
    assert greedy["segment"] is not None


def test_intervals_are_those_of_the_evaluator(tmp_path):
    given = {"ci": "bootstrap", "replicates": 50}
    write_report(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", tmp_path / "page.html", **given)
    only = ("segment", "event", "intersection")
    expected = sedeval_soft.evaluate(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", only=only, **given)
    found = {s["name"]: s for s in embedded(tmp_path / "page.html")["document"]["systems"][0]["scores"]}
    assert {name: (found[name]["low"], found[name]["high"]) for name in expected} == {
        name: (score.low, score.high) for name, score in expected.scores.items()
    }
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count('class="signature"') == 2


def test_large_sets_are_explored_by_hundredths(tmp_path, monkeypatch):
    monkeypatch.setattr(page_data, "_ROOM", 0)
    rng = np.random.default_rng(2)
    write_report(rows("ref", rng), {"sys": rows("sys", rng)}, tmp_path / "page.html", threshold=0.123)
    data = embedded(tmp_path / "page.html")["systems"][0]["explorer"]
    assert not data["exact"]
    grid = np.array(sorted({k / 100 for k in range(101)} | {0.123}))
    assert all(np.array_equal(levels, grid) for levels in data["levels"])
    assert data["segment"]["classes"][0]["count"].sum() == data["segment"]["n"]


def test_curves_keep_their_ends_and_go_everywhere():
    x = np.linspace(0, 1, 10_001)
    columns = {"threshold": x, "f1": x**8, "precision": np.where(x < 0.5, 0.2, 0.9)}
    at = chosen(columns)
    assert len(at) <= 300
    assert at[0] == 0
    assert at[-1] == 10_000
    kept = columns["f1"][at]
    assert np.abs(np.interp(x, x[at], kept) - columns["f1"]).max() < 0.01


class TestCommand:
    def test_writes_a_page_beside_the_results(self, tmp_path, page):
        path = tmp_path / "report.html"
        called = call(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", "--report", path)
        assert called.code == 0
        assert called.out == call(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv").out
        assert path.read_bytes() == page.read_bytes()

    def test_a_score_alone_has_the_whole_page(self, tmp_path):
        path = tmp_path / "report.html"
        name = "segment.soft.f1.macro"
        called = call(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", "--score", name, "--report", path)
        assert called.out == call(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", "--score", name).out
        assert embedded(path)["systems"][0]["explorer"]["intersection"] is not None

    def test_several_systems_share_a_page(self, tmp_path):
        path = tmp_path / "report.html"
        systems = SAMPLE / "sys.tsv", SAMPLE / "sys_b.tsv"
        called = call(SAMPLE / "ref.tsv", *systems, "--replicates", "50", "--report", path)
        assert called.code == 0
        data = embedded(path)
        assert [system["name"] for system in data["systems"]] == list(map(str, systems))
        assert data["document"]["board"]["entries"][0]["system"] == str(systems[0])
        assert "Leaderboard by segment.soft.f1.macro" in path.read_text(encoding="utf-8")

    def test_operating_points_have_a_page(self, tmp_path):
        path = tmp_path / "report.html"
        points = ("--operating-point", f"0.5={SAMPLE / 'events.tsv'}")
        called = call(SAMPLE / "ref.tsv", *points, "--report", path)
        assert called.code == 0
        data = embedded(path)["systems"][0]["explorer"]
        assert data["segment"] is None
        assert len(data["event"]) == len(data["thresholds"]) == 1

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--report", "-"), "--report -: expected the path of a file"),
            (("--timeline", "a.wav"), "--timeline is of --report"),
            (("--report", ""), "--report names no file"),
            (("--report", str(SAMPLE / "ref.tsv")), "this is the reference"),
            (("--report", "same.html", "-o", "same.html"), "-o writes this file"),
            (("--report", "no/such/folder/page.html"), "no/such/folder/page.html"),
        ],
    )
    def test_says_what_cannot_be(self, arguments, said, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        called = call(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", *arguments)
        assert called.code == 2
        assert said in called.err
        assert called.out == ""
        assert not list(tmp_path.iterdir())

    def test_runs_have_none(self, tmp_path):
        systems = SAMPLE / "sys.tsv", SAMPLE / "sys_b.tsv"
        called = call(SAMPLE / "ref.tsv", *systems, "--runs", "--report", tmp_path / "page.html")
        assert called.code == 2
        assert "--report is of systems" in called.err


def test_says_what_is_wrong_with_arguments(tmp_path):
    with pytest.raises(SettingsError, match="found none"):
        write_report(SAMPLE / "ref.tsv", {}, tmp_path / "page.html")
    with pytest.raises(InputError):
        write_report(SAMPLE / "ref.tsv", SAMPLE / "missing.tsv", tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_where_many_classes_compete_what_is_of_all_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(curves, "_MOST_PAIRS", 0)
    write_report(SAMPLE / "ref.tsv", SAMPLE / "sys.tsv", tmp_path / "page.html")
    data = embedded(tmp_path / "page.html")["systems"][0]["explorer"]
    assert {of["paired"] for of in data["event"]} == {None}
    assert all(of["classes"] for of in data["event"])
