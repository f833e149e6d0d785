"""The report as a file: what it embeds, what it says without scripts, and what becomes of hostile names."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from called import call
from embedded import embedded
from styled import undefined_properties
from tables import long_rows, wide_rows

from sedeval_soft import Choices, InputError, SettingsError, evaluate, write_report
from sedeval_soft.apps.page import page_data
from sedeval_soft.apps.page.report_page import count

SAMPLE = Path(__file__).parents[3] / "sample_data"
TABLES = SAMPLE / "ref.tsv", SAMPLE / "sys.tsv"
BASES = ("segment", "event", "intersection")
INTERVALS = {"ci": "bootstrap", "replicates": 20}


class Shape(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and texts."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.tags, self.attributes, self.texts = [], [], []
        self.handle_data = self.texts.append
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def values(self, *names):
        return [value for name, value in self.attributes if name in names]

    @property
    def handlers(self):
        return [name for name, _ in self.attributes if name.startswith("on")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(*TABLES, path, **INTERVALS)
    return path


def test_the_page_lets_its_own_scripts_run_and_no_other(page):
    """By their hashes, as the browser of tests/browser takes them; and it asks nobody for anything."""
    text = page.read_text(encoding="utf-8")
    policy = html.unescape(re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1])
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    scripts = [script.encode() for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL)]
    plotly = zlib.decompress(base64.b64decode(re.search(r'id="plotly">([^<]*)<', text)[1]))
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in (*scripts, plotly)]
    assert len(scripts) > 3 and rules.pop("script-src") == [f"'sha256-{each}'" for each in hashes]
    assert rules == {
        "default-src": ["'none'"], "base-uri": ["'none'"], "form-action": ["'none'"],
        "style-src": ["'unsafe-inline'"], "img-src": ["data:", "blob:"],
    }  # fmt: skip


def test_every_property_of_styles_that_a_page_uses_is_defined(page):
    """A colour that is not would be black, and no message says so."""
    for path in (page, SAMPLE.parent / "docs" / "tutorial" / "explorer.html"):
        assert undefined_properties(path.read_text(encoding="utf-8")) == set()


def explorer(path):
    return embedded(path)["systems"][0]["explorer"]


def test_is_one_file_that_needs_nothing_else(page):
    shape = Shape(page)
    addresses, ids = shape.values("src", "href", "action", "data", "srcset"), shape.values("id")
    assert [address for address in addresses if not address.startswith("#")] == []
    assert len(ids) == len(set(ids)) and not shape.handlers
    assert {address[1:].split("=")[0] for address in addresses} <= set(ids)


def test_has_the_document_that_json_would_have_and_its_scores(page):
    groups = ("curves", "calibration", "confusion")
    scores = evaluate(*TABLES, only=BASES, measures=groups, worst=10, **INTERVALS)
    found, expected = embedded(page)["document"], scores.to_dict()
    assert found["systems"][0]["scores"] == expected["systems"][0]["scores"]
    assert found["signature"] == expected["signature"]
    shown = dict(re.findall(r'data-score="([^"]+)">([^<]+)<', page.read_text(encoding="utf-8")))
    counts = {"f1.macro", "precision.macro", "recall.macro"} | {
        f"{measure}.micro" for measure in ("f1", "precision", "recall", "error_rate")
    }
    # What was asked for, intersections not; KLD has the soft reading of segments only.
    families = [(basis, reading) for basis in BASES[:2] for reading in ("hard", "optimal", "soft")]
    expected = {f"{basis}.{reading}.{name}" for basis, reading in families for name in counts}
    assert set(shown) == expected | {"segment.soft.kl_divergence.micro"}
    assert {name: f"{scores[name]:.3f}" for name in shown} == shown


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"'><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "$x^2$ &amp; <b>bold</b>",
    "\u2028line\u2029 \u202egnp.exe",
    "javascript:alert(1)//",
    "]]><!--",
    "\udc80\x1b[31m",
    "x" * 300,
]


def test_hostile_names_are_texts(path):
    shapes = []
    for names in (HOSTILE, [f"class{k}" for k in range(len(HOSTILE))]):
        rows = long_rows([(f"{name}.wav", i, i + 1.0, name, 0.7) for i, name in enumerate(names)])
        write_report(rows, {names[1]: rows}, path, choices=Choices(title=names[1]))
        shapes.append(Shape(path))
        timelines = embedded(path)["systems"][0]["timelines"]
        texts = [*timelines["classes"], *(file["name"] for file in timelines["files"])]
        assert len(texts) == 2 * len(HOSTILE)
        assert not {*"".join((path.read_text(encoding="utf-8"), *texts))} & {"\u202e", "\x1b", "\udc80"}
    assert shapes[0].tags == shapes[1].tags and not shapes[0].handlers
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
def test_small_and_odd_inputs_have_a_page(reference, system, path):
    (scores,) = write_report(long_rows(reference, ["a"]), {"s": long_rows(system, ["a"])}, path)
    values = any(item.has_values for item in scores.inputs)
    assert explorer(path)["classes"] == list(scores.classes) if values else explorer(path) is None


def test_what_is_explored_follows_the_settings(path):
    rng = np.random.default_rng(2)
    # Values are thresholds, too.
    reference, system = (wide_rows(np.round(rng.random((40, 3)), k), files=2) for k in (9, 2))
    grid = np.array(sorted({k / 100 for k in range(101)} | {0.123}))
    for inclusive, k, threshold in ((False, 0, 0.0), (False, 101, 1.0), (True, 37, 0.36), (True, 101, 1.0)):
        write_report(reference, {"s": system}, path, threshold=0.123, inclusive=inclusive, only="segment")
        data = explorer(path)
        assert np.array_equal(data["grid"], grid) and grid[k] == threshold
        at = data["bases"]["segment"][data["thresholds"].index(0.123)]
        how = {"threshold": threshold, "reference_threshold": 0.123, "inclusive": inclusive}
        scores = evaluate(reference, system, **how)
        names = ("n_ref", "tp", "n_sys", "error_rate")
        n_ref, tp, n_sys, error_rate = (scores[f"segment.hard.{name}.micro"] for name in names)
        found = (at[name].reshape(3, -1)[:, k].sum() for name in ("tp", "n_sys"))
        assert (at["n_ref"].sum(), *found) == (n_ref, tp, n_sys)
        assert (n_ref + n_sys - at["paired"][k] - tp) / n_ref == error_rate


def test_curves_keep_their_ends_and_go_everywhere():
    x = np.linspace(0, 1, 10_001)
    columns = {"threshold": x, "f1": x**8, "precision": np.where(x < 0.5, 0.2, 0.9)}
    at = page_data.chosen(columns)
    assert len(at) <= 300 and (at[0], at[-1]) == (0, 10_000)
    assert np.abs(np.interp(x, x[at], columns["f1"][at]) - columns["f1"]).max() < 0.01


@pytest.mark.parametrize(("names", "shown"), [(["/a/s", "/b/s"], ["/a/s", "/b/s"]), (["/a/s"], ["s"])])
def test_names_of_two_files_that_are_alike_are_whole(names, shown, path):
    rows = long_rows([("f", 0, 1, "car")])
    write_report(rows, dict.fromkeys(names, rows), path)
    assert [system["name"] for system in embedded(path)["systems"]] == shown


HARD = [long_rows([("a", 0, 1, "car"), ("a", at, 6, "dog")]) for at in (2, 4)]
SOFT = [long_rows([("a", 0, 1, "car", 0.7), ("a", at, 6, "dog", 0.4)]) for at in (2, 4)]
POINTS = [dict.fromkeys(cuts, SAMPLE / "events.tsv") for cuts in ((0.5,), (0.5, 0.7))]


HARD_ONLY, ALL = {"hard"}, {"hard", "optimal", "soft"}


@pytest.mark.parametrize(
    ("sides", "settings", "moves", "bases", "readings"),
    [
        ((HARD[0], HARD[1]), {}, None, [], HARD_ONLY),
        ((HARD[0], HARD[1]), {"only": ["segment.hard", "segment.soft"]}, None, [], {"hard", "soft"}),
        ((HARD[0], SOFT[1]), {}, (False, True), [*BASES], ALL),
        ((SOFT[0], HARD[1]), {}, (True, False), [*BASES], ALL),
        ((SOFT[0], SOFT[1]), {"matching": "greedy"}, (True, True), ["segment"], ALL),
        ((SOFT[0], SOFT[1]), {"compat": "sed_eval"}, None, [], ALL),
        ((TABLES[0], POINTS[0]), {}, None, [], ALL),
        ((TABLES[0], POINTS[1]), {}, (False, True), ["event"], ALL),
    ],
)
def test_only_what_can_differ_is_shown_and_explored(sides, settings, moves, bases, readings, path):
    write_report(sides[0], {"s": sides[1]}, path, **settings)
    data = embedded(path)["systems"][0]
    found = data["explorer"] or {"moves": {}, "bases": []}
    assert (tuple(found["moves"].values()) or None, [*found["bases"]]) == (moves, bases)
    assert {family.split(".")[1] for family in data["families"]} == readings
    assert bool(data["curves"]["families"]) == any(sides[1] is each for each in (SOFT[1], POINTS[1]))


def test_counts_are_written_as_counts():
    values = (28.0, 15.934, 0.0, 0.0312, 0.1, 1e-12)
    assert [count(value) for value in values] == ["28", "15.93", "0", "0.031", "0.10", "0"]


OPTIONS = [
    ("-o", ""), ("-o", TABLES[0]), ("-o", "-"), ("-o", "no/such/folder/page.html"),
    ("-o", "page.html", "--audio", "none"), ("-o", "page.html", "--audio", TABLES[0]),
]  # fmt: skip


def test_nothing_is_written_by_wrong_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for options in OPTIONS:
        called = call("report", *TABLES, *options)
        assert (called.code, called.out) == (2, "") and options[-2] in called.err, options
    for systems, more, error in (
        ({}, {}, SettingsError), (TABLES[1], {"audio": "none"}, SettingsError), ("none.tsv", {}, InputError),
    ):  # fmt: skip
        with pytest.raises(error):
            write_report(TABLES[0], systems, "page.html", **more)
    assert not list(tmp_path.iterdir())


def test_the_score_that_ranks_comes_first_and_is_marked(path):
    (scores,) = write_report(*TABLES, path, rank_by="event.soft.f1.micro")
    text = path.read_text(encoding="utf-8")
    first, second, *_ = re.findall(r'data-score="([^"]+)">([^<]+)<', text)
    assert first == ("event.soft.f1.micro", f"{scores['event.soft.f1.micro']:.3f}")
    assert second[0].startswith("event.soft.")
    assert re.findall(r'★</span> <span class="value" data-score="([^"]+)"', text) == [first[0]]


def test_of_one_class_there_is_one_average(path):
    write_report(SOFT[0], {"s": SOFT[1]}, path, classes=["car"])
    shown = re.findall(r'data-score="([^"]+)"', path.read_text(encoding="utf-8"))
    assert shown and not [name for name in shown if name.endswith(".macro")]
