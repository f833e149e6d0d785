"""The report as a file: what it embeds, what it says without scripts, and what becomes of hostile names."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
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

SAMPLE = Path(__file__).parents[3] / "sample_data"
TABLES = SAMPLE / "ref.tsv", SAMPLE / "sys.tsv"
BASES = ("segment", "event", "intersection")


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
    write_report(*TABLES, path)
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
    scores = evaluate(*TABLES, only=BASES, measures=groups, worst=10)
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


def test_intervals_are_those_of_the_evaluator(path):
    given = {"ci": "bootstrap", "replicates": 50}
    write_report(*TABLES, path, **given)
    found = {s["name"]: (s["low"], s["high"]) for s in embedded(path)["document"]["systems"][0]["scores"]}
    expected = evaluate(*TABLES, only=BASES, **given).scores
    ends = {name: (score.low, score.high) for name, score in expected.items()}
    assert {name: found[name] for name in ends} == ends
    assert path.read_text(encoding="utf-8").count('class="signature"') == 2


def test_what_is_explored_follows_the_settings(path):
    rng = np.random.default_rng(2)
    sides = [wide_rows(rng.random((40, 3)), files=4, name=name) for name in ("ref", "sys")]
    sides[1] = {"sys": sides[1]}
    write_report(*sides, path, compat="sed_eval")
    assert explorer(path) is None
    write_report(*sides, path, matching="greedy")
    assert [*explorer(path)["bases"]] == ["segment"]
    # Values are thresholds, too.
    sides[1] = {"sys": wide_rows(np.round(rng.random((40, 3)), 2), files=4)}
    grid = np.array(sorted({k / 100 for k in range(101)} | {0.123}))
    for inclusive, (k, threshold) in itertools.product((False, True), ((37, 0.36), (0, 0.0), (101, 1.0))):
        if inclusive and not k:
            continue
        write_report(*sides, path, threshold=0.123, inclusive=inclusive)
        data = explorer(path)
        assert np.array_equal(data["grid"], grid) and grid[k] == threshold
        at = data["bases"]["segment"][data["thresholds"].index(0.123)]
        how = {"threshold": threshold, "reference_threshold": 0.123, "inclusive": inclusive}
        scores = evaluate(sides[0], sides[1]["sys"], **how)
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


def test_several_systems_share_a_page(path):
    systems = TABLES[1], SAMPLE / "sys_b.tsv"
    assert call("report", TABLES[0], *systems, "--replicates", "50", "-o", path).code == 0
    data = embedded(path)
    # Names are those of the files; the document has what was called.
    assert [system["name"] for system in data["systems"]] == ["sys.tsv", "sys_b.tsv"]
    text = path.read_text(encoding="utf-8")
    assert "<h1>2 systems against ref.tsv</h1>" in text and ">sys_b.tsv</th>" in text
    assert data["document"]["board"]["entries"][0]["system"] == str(systems[0])
    assert "Leaderboard by segment.soft.f1.macro" in text


def test_names_of_two_files_that_are_alike_are_whole(path):
    rows = long_rows([("f", 0, 1, "car", 0.9)])
    for names, shown in (
        (["/a/sys.tsv", "/b/sys.tsv"], ["/a/sys.tsv", "/b/sys.tsv"]),
        (["/a/sys.tsv"], ["sys.tsv"]),
    ):
        write_report(rows, dict.fromkeys(names, rows), path)
        assert [system["name"] for system in embedded(path)["systems"]] == shown
    assert "<h1>sys.tsv against rows</h1>" in path.read_text(encoding="utf-8")


HARD = (
    long_rows([("a", 0, 1, "car"), ("a", 2, 3, "dog")]),
    long_rows([("a", 0, 1, "car"), ("a", 4, 6, "dog")]),
)


def test_tables_without_values_show_the_hard_reading_only(path):
    write_report(HARD[0], {"s": HARD[1]}, path)
    data, text = embedded(path), path.read_text(encoding="utf-8")
    (system,) = data["systems"]
    assert system["families"] == [f"{basis}.hard" for basis in BASES]
    assert system["explorer"] is None and not system["curves"]["families"]
    assert {name.split(".")[1] for name in re.findall(r'data-score="([^"]+)"', text)} == {"hard"}
    assert "soft reading" not in text and "optimal reading" not in text
    # Programs get all of them.
    assert {score["reading"] for score in data["document"]["systems"][0]["scores"]} > {"hard", "soft"}
    write_report(HARD[0], {"s": HARD[1]}, path, only=["segment.hard", "segment.soft"])
    assert embedded(path)["systems"][0]["families"] == ["segment.hard", "segment.soft"]


def test_a_threshold_that_cannot_matter_is_not_offered(path):
    soft = long_rows([("a", 0, 1, "car", 0.7), ("a", 4, 6, "dog", 0.4)])
    for sides, moves in (((HARD[0], soft), (False, True)), ((soft, HARD[1]), (True, False))):
        write_report(sides[0], {"s": sides[1]}, path)
        assert tuple(explorer(path)["moves"].values()) == moves
        assert bool(embedded(path)["systems"][0]["curves"]["families"]) == moves[1]


def test_counts_are_written_as_counts(page):
    worst = page.read_text(encoding="utf-8").split('id="worst"')[1].split("</section>")[0]
    counts = re.findall(r"<td>(\d[\d.]*)(?=<)", worst)
    assert {"15.93", "0", "0.03", "28"} <= set(counts)
    assert not [count for count in counts if count.endswith(".00") or len(count.partition(".")[2]) > 2]


def test_operating_points_have_a_page(path):
    table = SAMPLE / "events.tsv"
    write_report(TABLES[0], {"s": {0.5: table}}, path)
    # There is no other threshold to go to.
    assert explorer(path) is None
    write_report(TABLES[0], {"s": {0.5: table, 0.7: table}}, path)
    data = explorer(path)
    assert data["moves"] == {"reference": False, "system": True}
    assert "segment" not in data["bases"] and len(data["bases"]["event"]) == len(data["thresholds"]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", ""), "-o names no file"),
        (("-o", str(TABLES[0])), "this is the reference"),
        (("-o", "-"), "-o -: expected the path of a file"),
        (("-o", "no/such/folder/page.html"), "no/such/folder/page.html"),
    ],
)
def test_says_what_cannot_be(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    called = call("report", *TABLES, *arguments)
    assert (called.code, called.out) == (2, "") and said in called.err
    with pytest.raises(SettingsError, match="one or more"):
        write_report(TABLES[0], {}, "page.html")
    with pytest.raises(InputError):
        write_report(TABLES[0], SAMPLE / "missing.tsv", "page.html")
    assert not list(tmp_path.iterdir())


def test_the_score_that_ranks_comes_first_and_is_marked_and_one_class_is_told_once(path):
    (scores,) = write_report(*TABLES, path, rank_by="event.soft.f1.micro")
    text = path.read_text(encoding="utf-8")
    first, second, *_ = re.findall(r'data-score="([^"]+)">([^<]+)<', text)
    assert first == ("event.soft.f1.micro", f"{scores['event.soft.f1.micro']:.3f}")
    assert second[0].startswith("event.soft.")
    assert embedded(path)["systems"][0]["rows"][0] == "event soft"
    marked = re.findall(r'★</span> <span class="value" data-score="([^"]+)"', text)
    assert marked == ["event.soft.f1.micro"]
    one = long_rows([("a", 0, 1, "car", 0.9), ("a", 2, 3, "car", 0.2)])
    write_report(one, {"s": one}, path)
    shown = re.findall(r'data-score="([^"]+)"', path.read_text(encoding="utf-8"))
    assert shown and not [name for name in shown if name.endswith(".macro")]
