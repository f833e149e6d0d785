"""The report as a file: embedded data, the page without scripts, and hostile names."""

import base64
import hashlib
import html
import re
import zlib
from itertools import product
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from called import call
from embedded import embedded
from styled import Page, undefined_properties
from tables import long_rows, wide_rows

from sedeval_soft import Choices, InputError, SettingsError, diagnose, evaluate, write_report
from sedeval_soft.apps.page import page_data

SAMPLE = Path(__file__).parents[3] / "sample_data"
TABLES = SAMPLE / "ref.tsv", SAMPLE / "sys.tsv"
BASES = ("segment", "event", "intersection")
INTERVALS = {"ci": "bootstrap", "replicates": 20}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(*TABLES, path, **INTERVALS)
    return path


def test_the_page_lets_its_own_scripts_run_and_no_other(page):
    """The policy allows scripts by their hashes, as a browser checks them, and no request to a server."""
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
    """A browser draws an undefined colour as black, without a message."""
    for path in (page, SAMPLE.parent / "docs" / "tutorial" / "explorer.html"):
        assert undefined_properties(path.read_text(encoding="utf-8")) == set()


def explorer(path):
    return embedded(path)["systems"][0]["explorer"]


def test_has_the_document_that_json_would_have_and_its_scores(page):
    groups = ("curves", "calibration", "confusion")
    scores = evaluate(*TABLES, only=BASES, measures=groups, worst=10, **INTERVALS)
    documents = embedded(page)["document"], scores.to_dict()
    found, expected = ({each["name"]: each for each in made["systems"][0]["scores"]} for made in documents)
    # The scores asked for have intervals; other scores of the report, of curves for example, have none.
    plain, none = evaluate(*TABLES, only=BASES), {"low": None, "high": None}
    assert found == {name: each if name in plain else each | none for name, each in expected.items()}
    assert len({re.sub(" ci=.* fixed_thresholds=no", "", made["signature"]) for made in documents}) == 1
    shown = dict(re.findall(r'data-score="([^"]+)">([^<]+)<', page.read_text(encoding="utf-8")))
    assert {name: f"{scores[name]:.3f}" for name in shown} == shown
    # The page shows the scores asked for, except intersections; only soft segments have a KLD.
    averages = map(".".join, product(("f1", "precision", "recall"), ("micro", "macro")))
    parts = product(BASES[:2], ("hard", "optimal", "soft"), [*averages, "error_rate.micro"])
    assert set(shown) == {*map(".".join, parts), "segment.soft.kl_divergence.micro"}


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
    pages = []
    for names in ([f"class{k}" for k in range(len(HOSTILE))], HOSTILE):
        rows = long_rows([(f"{name}.wav", i, i + 1.0, name, 0.7) for i, name in enumerate(names)])
        write_report(rows, {names[1]: rows}, path, choices=Choices(title=names[1]))
        pages.append(Page(path.read_text(encoding="utf-8")))
    assert pages[0].tags == pages[1].tags and not pages[1].handlers
    assert "<script>alert(1)</script>" in pages[1].shown
    texts = path.read_text(encoding="utf-8"), *embedded(path)["systems"][0]["timelines"]["classes"]
    assert len(texts) == 1 + len(HOSTILE) and not {*"".join(texts)} & {"\u202e", "\x1b", "\udc80"}


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
    # The values of the system are thresholds as well.
    reference, system = (wide_rows(np.round(rng.random((40, 3)), k), files=2) for k in (9, 2))
    grid = np.array(sorted({k / 100 for k in range(101)} | {0.123}))
    for inclusive, k, threshold in ((False, 0, 0.0), (False, 101, 1.0), (True, 37, 0.36), (True, 101, 1.0)):
        write_report(reference, {"s": system}, path, threshold=0.123, inclusive=inclusive, only="segment")
        data = explorer(path)
        assert np.array_equal(data["grid"], grid) and grid[k] == threshold
        at = data["bases"]["segment"][data["thresholds"].index(0.123)]
        tp, n_sys = (at[name].reshape(3, -1)[:, k].sum() for name in ("tp", "n_sys"))
        n_ref = at["n_ref"].sum()
        errors = n_ref + n_sys - at["paired"][k] - tp
        scores = evaluate(
            *(reference, system),
            only="segment.hard",
            threshold=threshold,
            reference_threshold=0.123,
            inclusive=inclusive,
        )
        found = {"n_ref": n_ref, "tp": tp, "n_sys": n_sys, "error_rate": errors / n_ref}
        assert found == {name: scores[f"segment.hard.{name}.micro"] for name in found}


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


ALL = {"hard", "optimal", "soft"}


@pytest.mark.parametrize(
    ("sides", "settings", "moves", "bases", "readings"),
    [
        ((HARD[0], HARD[1]), {}, None, [], {"hard"}),
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


def test_nothing_is_written_by_wrong_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for options in (
        ("-o", ""), ("-o", TABLES[0]), ("-o", "-"), ("-o", "no/such/folder/page.html"),
        ("-o", "page.html", "--audio", "none"), ("-o", "page.html", "--audio", TABLES[0]),
    ):  # fmt: skip
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
    (first, value), (second, _), *_ = re.findall(r'data-score="([^"]+)">([^<]+)<', text)
    assert (first, value) == ("event.soft.f1.micro", f"{scores['event.soft.f1.micro']:.3f}")
    assert second.startswith("event.soft.")
    assert re.findall(r'★</span> <span class="value" data-score="([^"]+)"', text) == [first]


def test_of_one_class_there_is_one_average(path):
    write_report(SOFT[0], {"s": SOFT[1]}, path, classes=["car"])
    shown = re.findall(r'data-score="([^"]+)"', path.read_text(encoding="utf-8"))
    assert shown and not [name for name in shown if name.endswith(".macro")]


# The section about where the score went: bars, worst examples, and the reason if there are none.


def section(path, reference, system, **settings) -> str:
    write_report(reference, {"s": system}, path, **settings)
    text = path.read_text(encoding="utf-8")
    return html.unescape(re.search(r'<section id="errors".*?</section>', text, re.DOTALL)[0])


def bars(text: str) -> list[tuple[str, list[str]]]:
    """Return the kinds of errors in order, and for each the links of its bar and its examples."""
    rows = re.findall(r'<tr><th scope="row">(.*?)<span.*?</th>(.*?)</tr>', text, re.DOTALL)
    return [(kind, list(map(unquote, re.findall(r'href="#timeline=([^"]*)"', row)))) for kind, row in rows]


def test_bars_are_shares_and_gains_as_diagnose_has_them(path):
    text = section(path, *TABLES)
    kinds = [k for k in diagnose(*TABLES, only="event.hard").table("event", "hard") if k.count]
    assert [kind for kind, _ in bars(text)] == [each.kind.replace("_", " ") for each in kinds]
    drawn = re.findall(r"--part: ([\d.]+); --gain: ([\d.]+)", text)
    wanted = np.array([(each.share, each.gain) for each in kinds])
    assert np.array(drawn, dtype=float) == pytest.approx(wanted / wanted.max(), abs=1e-4)
    cells = [(f"{k.share:.3f}", f"{k.gain:.3f}", f"{k.fn:.0f}", f"{k.fp:.0f}") for k in kinds]
    assert all(f"<td>{'</td><td>'.join(row)}</td>" in text for row in cells)


def test_the_worst_example_costs_most_and_is_wrong_longest(path):
    reference = long_rows([
        # Missed events of 1 s, 5 s and 3 s. The file with two of them is not the worst.
        ("a", 0, 1, "dog"), ("b", 0, 5, "dog"), ("a", 5, 8, "dog"),
        # Events split into two pieces, then into three: the second costs more, though less of it is wrong.
        ("c", 0, 100, "car"), ("d", 0, 10, "car"),
        # Two events merged, then three.
        ("e", 0, 40, "cat"), ("e", 50, 90, "cat"),
        ("f", 0, 4, "cat"), ("f", 5, 9, "cat"), ("f", 10, 14, "cat"),
        # Onsets one second late, then three seconds late.
        ("g", 0, 9, "bell"), ("h", 0, 9, "bell"),
        # Another class: both events are wrong throughout, for 8 s in k and 10 s in m.
        ("k", 0, 4, "saw"), ("m", 0, 5, "saw"),
    ])  # fmt: skip
    system = long_rows([
        ("c", 0, 30, "car"), ("c", 60, 90, "car"), ("d", 0, 3, "car"), ("d", 4, 6, "car"), ("d", 7, 9, "car"),
        ("e", 0, 90, "cat"), ("f", 0, 14, "cat"),
        ("g", 1, 9, "bell"), ("h", 3, 9, "bell"),
        ("k", 0, 4, "fan"), ("m", 0, 5, "fan"),
    ])  # fmt: skip
    # The bar links to its first example.
    assert dict(bars(section(path, reference, system, events="rows"))) == {
        "missed": ["b@0.0@dog", "b@0.0@dog", "a@5.0@dog", "a@0.0@dog"],
        "split": ["d@0.0@car", "d@0.0@car", "c@0.0@car"],
        "merge": ["f@0.0@cat", "f@0.0@cat", "e@0.0@cat"],
        "onset": ["h@0.0@bell", "h@0.0@bell", "g@0.0@bell"],
        "confusion": ["m@0.0@saw", "m@0.0@saw", "k@0.0@saw"],
    }


def test_examples_are_in_files_that_the_page_shows(path):
    rows = [(f"f{k}", k, k + 1, "dog") for k in range(60)]
    sides = long_rows(rows), long_rows(rows[20:])
    kinds = bars(section(path, *sides, only="event.hard", choices=Choices(timelines=1)))
    examples = {at.split("@")[0] for _, links in kinds for at in links}
    files = embedded(path)["systems"][0]["timelines"]["files"]
    assert examples <= {file["name"] for file in files} and len(examples) == 3
    assert [file["why"] for file in files][-3:] == ["errors", "errors", "random"]


ONE = ("a", 0, 1, "car")
CROWD = [("a", k / 10, k / 10 + 600, f"class {k % 50}") for k in range(3500)]


@pytest.mark.parametrize(
    ("ours", "theirs", "settings", "said"),
    [
        ([ONE], [ONE], {}, "no errors"),
        ([], [ONE], {}, "no events"),
        ([ONE], [ONE], {"only": "segment"}, "--only event.hard"),
        ([ONE], [ONE], {"compat": "sed_eval"}, "--set compat"),
        ([ONE], [ONE], {"matching": "greedy"}, "--set matching=greedy"),
        (CROWD, CROWD, {"events": "rows", "only": "event.hard"}, "Too many"),
    ],
)  # fmt: skip
def test_where_there_are_no_kinds_of_errors_it_says_why(ours, theirs, settings, said, path):
    text = section(path, long_rows(ours, ["a"]), long_rows(theirs), **settings)
    assert said in text and "<table>" not in text
