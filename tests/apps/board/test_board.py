"""The board: submissions, the pages of its site, incremental builds, and hostile input."""

import base64
import hashlib
import html
import io
import json
import os
import re
import shutil
import signal
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from called import REFERENCE, SAMPLES, call
from styled import Page, undefined_properties

import sedeval_soft
from sedeval_soft import InputError, SettingsError, UnknownScoreError, compare, evaluate
from sedeval_soft.apps.board import site as module
from sedeval_soft.apps.board.board_page import About, slugs
from sedeval_soft.apps.board.site import MARK, find_submissions, read_about
from sedeval_soft.checks import NO_DURATIONS
from sedeval_soft.memory import RoomError, given_limit, memory_limited
from sedeval_soft.report import OutputError
from sedeval_soft.tables import Limits

SOFT = "segment.soft.f1.macro"
HOSTILE = (
    *("<script>alert(1)", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "'; alert(1); '"),
    *("<title><style><b>", "{{ 7*7 }}{% raw %}", '=HYPERLINK("x")', "a\u202eb", "Ünïcödé 鳥", " ", "con"),
)
"""Names that some program might interpret; none contains a `/`, as no file name can."""

EVENTS = "filename\tonset\toffset\tevent_label\n"
BAD = (
    "filename\tonset\toffset\tevent_label\tvalue\ncafe.wav\t1\t0\tcar\t0.5\n"
    "cafe.wav\t1\t2\t<script>alert(1)</script>\t0.5\ncafe.wav\t2\t3\tcar\t7\n"
)
"""A table that cannot be scored; the name of its class is markup."""


class Board:
    """A folder of submissions, at first tables of the samples, and the site built from it."""

    def __init__(self, folder, *names):
        self.folder, self.made, self.site = folder, folder / "submissions", folder / "site"
        self.made.mkdir(parents=True)
        for name in names:
            shutil.copy(SAMPLES / f"{name}.tsv", self.made)

    def add(self, name, text=BAD):
        (self.made / name).write_text(text, encoding="utf-8")

    def build(self, reference=REFERENCE, site=None, **asked):
        asked = {"reports": False, "replicates": 100, **asked}
        return module.build_site(self.made, reference, self.site if site is None else site, **asked)

    def call(self, *options, reference=REFERENCE):
        given = ("--reference", reference, "-o", self.site, "--no-reports", *options)
        return call("board", self.made, *given)

    def page(self, name="index.html"):
        return (self.site / name).read_text(encoding="utf-8")

    def document(self, name="board.json"):
        return json.loads(self.page(name))

    def invalid(self):
        """Return the invalid submissions of the document, by name."""
        return {each["name"]: each for each in self.document()["invalid"]}

    def content(self, site=None):
        """Return the bytes of every file of the site."""
        site = site or self.site
        return {str(path.relative_to(site)): path.read_bytes() for path in site.rglob("*") if path.is_file()}

    def content_anew(self, **asked):
        """Return the content of a site that is built from scratch from the current submissions."""
        for name in ("apart", "apart.cache"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.build(site=self.folder / "apart", **asked)
        return self.content(self.folder / "apart")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Evaluate submissions in this process, which is faster; `monkeypatch.undo()` ends this."""
    monkeypatch.setattr(module, "apart", lambda function, *given, **_: function(*given))


@pytest.fixture
def three(tmp_path):
    return Board(tmp_path, "sys", "sys_b", "events")


@pytest.fixture
def two(tmp_path):
    return Board(tmp_path, "sys", "sys_b")


@pytest.fixture
def one(tmp_path):
    return Board(tmp_path, "sys")


class Tags(Page):
    """A page, with the rows of its tables as texts of cells."""

    def __init__(self, text):
        self.rows = [[""]]
        super().__init__(text)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        self.rows += [[""]] if tag in ("tr", "ul") else []
        self.rows[-1] += [""] if tag in ("td", "th") else []

    def handle_data(self, data):
        super().handle_data(data)
        self.rows[-1][-1] = " ".join((self.rows[-1][-1] + data).split())

    def column(self, heading):
        """Return the cells below a heading of the leaderboard; nothing if it lacks the heading."""
        _, _, heads, *rows = self.rows
        of_board = [row for row in rows if len(row) == len(heads)]
        return [row[heads.index(heading)] for row in of_board] if heading in heads else []


# Files that are submissions, and their names.


@pytest.mark.parametrize(
    ("files", "teams", "ignored"),
    [
        # Named by stem, or by whole name if stems are equal; the text about the team belongs to it.
        (
            "a.tsv b.csv.gz c.zip d.parquet e.tar.gz f.TXT g.v2/ .hidden.tsv a.yaml",
            {"a": "a.yaml", "b": "", "c": "", "d": "", "e": "", "f": "", "g.v2": ""},
            "",
        ),
        (
            "a/ a.tsv a.csv b.tsv b.tsv.csv b.csv b.csv.yaml a.yaml",
            {"a": "a.yaml", "a.csv": "", "a.tsv": "", "b.csv": "b.csv.yaml", "b.tsv": "", "b.tsv.csv": ""},
            "",
        ),
        ("crnn.tsv crnn.csv crnn.yaml", {"crnn.csv": "", "crnn.tsv": ""}, "crnn.yaml"),
        ("README.md a.tsv nobody.yaml b\udcff.tsv", {"a": ""}, "README.md b\\udcff.tsv nobody.yaml"),
    ],
)
def test_submissions_have_names_and_texts_on_who_submits_by_the_names_of_files(
    files, teams, ignored, tmp_path
):
    for name in files.split():
        path = tmp_path / name
        path.mkdir() if name.endswith("/") else path.write_bytes(b"team: " + os.fsencode(name))
    submissions, others, warnings = find_submissions(tmp_path)
    found = {each.name: each.about.team for each in submissions}
    assert (found, sorted(others), warnings) == (teams, ignored.split(), [])
    for path in (tmp_path / "nothing", tmp_path / "a.tsv", ""):
        with pytest.raises(InputError, match="cannot be read as a folder of submissions"):
            find_submissions(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "team: A  team\ntitle: 7\nauthors: [Ada, 'B  ob']\nurl: https://example.org/x?y=1\nnote: ~\n",
            About("A team", "7", ("Ada", "B  ob"), "https://example.org/x?y=1", ""),
        ),
        ("authors: Ada\n", About(authors="Ada")),
        ("authors:\n", About()),
        ("# nothing\n", About()),
        ("- a\n", "team, title, authors, url, note"),
        ("titel: x\n", "`titel`"),
        ("team: [a]\n", r"`\$.team`"),
        (f"note: {'x' * 301}\n", r"`\$.note`"),
        (f"# {'x' * (1 << 16)}\n", "65536"),
        ("url: javascript:alert(1)\n", "javascript"),
        ("url: 'https://example.org/<script>'\n", "<script>"),
        ("link", "link"), ("pipe", "device"), ("none", "cannot be read"),
    ],
)  # fmt: skip
def test_a_text_is_read_or_refused(text, expected, tmp_path):
    (tmp_path / "about.yaml").write_text(text)
    (tmp_path / "link").symlink_to(tmp_path / "about.yaml")
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / (text if text.isalpha() else "about.yaml")
    if isinstance(expected, About):
        assert read_about(path, "x") == expected
    else:
        with pytest.raises(InputError, match=f"(?s)^x: .*{expected}|^x:[0-9:]* .*{expected}"):
            read_about(path, "x")


@pytest.mark.parametrize("place", [f"site/{MARK}", "site/problems/bad.html", "site.cache/comparisons.json"])
def test_links_in_a_site_and_its_cache_are_not_followed(place, one):
    one.add("bad.tsv")
    one.build()
    link, kept = one.folder / place, one.folder / "kept"
    before = link.read_bytes()
    link.symlink_to(link.rename(kept))
    with pytest.raises(OutputError, match="is a link, which is not followed"):
        one.build()
    assert link.is_symlink() and before == kept.read_bytes()


def test_links_and_pipes_are_refused_and_never_opened_and_limits_hold(one):
    (one.made / "inside").mkdir()
    for name, target in {"link.tsv": REFERENCE, "folder": SAMPLES, "inside/a.tsv": REFERENCE}.items():
        (one.made / name).symlink_to(target)
    os.mkfifo(one.made / "pipe.tsv")
    problems = {each.name: each.outcome.problems for each in find_submissions(one.made)[0]}
    # A link without extension is not a table.
    assert {name: [each.message[:9] for each in own] for name, own in problems.items()} == {
        "sys": [], "link": ["is a link"], "inside": ["is a link"], "pipe": ["is neithe"],
    }  # fmt: skip
    one.build({"onset": [0.0], "offset": [1.0], "event_label": ["car"]}, limits=Limits(size=1000))
    assert one.invalid()["sys"]["told"][0]["code"] == "too-many-size"
    with pytest.raises(InputError, match="members"):
        find_submissions(SAMPLES, Limits(members=2))


def test_pages_have_names_that_are_safe_and_different_everywhere():
    given = [*HOSTILE, "team_a", "Team_A", "team-b", "x" * 300, "NUL", "nul", "a.b", "\udcff"]
    found = slugs(given)
    assert len({slug.casefold() for slug in found.values()}) == len(given)
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,100}", slug) for slug in found.values())
    # A slug depends on its own name alone, unless another name differs from it by case only.
    assert (slugs(["team-b"]), found["team-b"]) == ({"team-b": "team-b"}, "team-b")
    assert slugs([HOSTILE[0]])[HOSTILE[0]] == found[HOSTILE[0]]


# Ranks and scores.


@pytest.mark.parametrize(
    ("rank_by", "settings"),
    [
        (SOFT, {}),
        (
            "event.hard.f1.macro@offset_collar=0.1,offset_collar_rate=0",
            {"rank_by": "event.hard.f1.macro", "offset_collar": 0.1, "offset_collar_rate": 0.0},
        ),
    ],
)
def test_the_board_is_that_of_compare(rank_by, settings, three):
    """Ranks, ties, intervals, places and p-values are equal to the last digit, and so are all scores."""
    tables = {path.stem: path for path in sorted(three.made.iterdir())}
    expected = compare(REFERENCE, tables, replicates=100, **settings)
    for _ in range(2):  # first from tables, then from stored statistics
        ticks = []
        board = three.build(rank_by=rank_by, progress=lambda *done, ticks=ticks: ticks.append(done)).board
        assert (board.entries, board.rank_by) == (expected.entries, rank_by)
        assert ticks == [(1, 3), (2, 3), (3, 3)]
    shown = three.document()["submissions"]
    columns = {name for name in shown[0]["scores"] if not name.startswith("event")}
    for each, entry, scores in zip(shown, expected.entries, expected.systems, strict=True):
        found = tuple(each[key] for key in ("name", "value", "low", "high"))
        assert found == (entry.system, entry.value, entry.low, entry.high)
        assert {name: each["scores"][name] for name in columns} == {name: scores[name] for name in columns}
    document = three.document("data/sys.json")
    scores = {score["name"]: score["value"] for score in document["systems"][0]["scores"]}
    assert settings or scores == dict(evaluate(REFERENCE, SAMPLES / "sys.tsv"))
    assert [item["path"] for item in document["inputs"]] == ["ref.tsv", "sys.tsv"]


def test_ranks_by_the_score_alone_where_tests_would_take_long_or_are_not_wanted(two):
    shutil.copy(two.made / "sys.tsv", two.made / "same.tsv")
    slow = {"rank_by": "segment.optimal.f1.macro"}
    for asked in (slow, {"ties": "none"}):
        entries = two.build(**asked).board.entries
        assert all(each.place == each.rank and each.low is each.best_place is None for each in entries)
        assert (len({entry.rank for entry in entries}), two.document()["test"]) == (2, "none")
    assert two.build(**slow, ties="exchange").board.entries[0].low is not None


def test_a_place_is_by_the_score_and_letters_stand_beside_it(tmp_path):
    """System a finds all 30 events, b the first 19, c the last 18, and d four."""
    board = Board(tmp_path)
    for name, first, last in (("a", 0, 30), ("b", 0, 19), ("c", 12, 30), ("d", 0, 4)):
        board.add(f"{name}.tsv", EVENTS + "".join(f"{k}.wav\t0\t1\tcar\n" for k in range(first, last)))
    entries = board.build(shutil.copy(board.made / "a.tsv", tmp_path), replicates=1000).board.entries
    shown, document = Tags(board.page()), board.document()
    ends = [(entry.best_place, entry.worst_place) for entry in entries]
    assert [best != worst for best, worst in ends[:3:2]] == [False, True]
    spreads = [f" {best}\N{EN DASH}{worst}" if best != worst else "" for best, worst in ends]
    assert shown.column("Place range") == [f"{k}{spread}" for k, spread in enumerate(spreads, 1)]
    assert shown.column("Not significantly different (95 %)") == ["a", "b", "b", "c"]
    places = [(each["rank"], each["place"]) for each in document["submissions"]]
    assert places == [(1, 1), (2, 2), (2, 3), (4, 4)] and "by the score alone" not in board.page()
    # Hard tables have hard scores only.
    assert {name.split(".")[1] for name in document["columns"]} == {"hard"}


def test_a_warning_that_all_are_alike_for_want_of_files_is_above_the_table(two):
    names = "segment.soft.n_ref.micro", "segment.hard.n_sys.micro"
    site = two.build(scores=names)
    (warning,), page, shown = site.ranking, two.page(), Tags(two.page())
    assert not shown.column("Not significantly different (95 %)")
    assert page.index(warning.partition(" (")[0]) < page.index("<table")
    assert f"warning: {warning}" in two.call().err
    # The leaderboard shows a soft count with two digits, and a whole count with none.
    counts = [(f"{of[names[0]]:.2f}", f"{of[names[1]]}") for of in site.board.systems]
    assert [*zip(shown.column("N_ref micro"), shown.column("N_sys micro"), strict=True)] == counts


def test_files_that_one_submission_makes_up_change_no_other(two):
    before = {entry.system: entry for entry in two.build().board.entries}
    rows = "".join(f"made up {k}.wav\t0\t1\tcar\t0.9\n" for k in range(100))
    two.add("worse.tsv", (two.made / "sys_b.tsv").read_text() + rows)
    after = {entry.system: entry for entry in two.build().board.entries}
    worse = after.pop("worse")
    assert worse.low is not None and worse.value < after["sys_b"].value
    ours, theirs = (
        [(name, of.low, of.high, of.difference and of.difference.p_exchange) for name, of in each.items()]
        for each in (before, after)
    )
    assert ours == theirs


def test_a_folder_of_tables_is_a_submission_and_the_reference_is_none(one):
    (one.made / "team").mkdir()
    for name, of_file in pd.read_csv(one.made / "sys.tsv", sep="\t").groupby("filename"):
        of_file.to_csv(one.made / "team" / f"{Path(name).stem}.tsv", sep="\t", index=False)
    shutil.copy(REFERENCE, one.made)
    site = one.build(one.made / "ref.tsv")
    first, second = site.board.entries
    assert (second.value, second.rank, site.ignored) == (first.value, first.rank, ("ref.tsv",))
    (one.made / "team" / "cafe.tsv").unlink()
    assert one.build(one.made / "ref.tsv").scored == ("team",)


# Incremental builds.


def test_only_what_changed_is_made_again_and_what_is_gone_leaves_nothing(three):
    """After each change, the site is byte for byte the site that is built from scratch."""
    text, new = (three.made / "sys_b.tsv").read_text(), "cafe.wav\t1.0\t2.0\tcar\t0.5\n"
    for change, scored, asked in (
        (lambda: three.add("bad.tsv"), ("bad", "events", "sys", "sys_b"), {}),
        (lambda: three.add("sys_b.tsv", text), (), {}),
        (lambda: three.add("sys_b.tsv", text + new), ("sys_b",), {}),
        ((three.made / "bad.tsv").unlink, (), {}),
        ((three.made / "events.tsv").unlink, (), {}),
        (lambda: None, ("sys", "sys_b"), {"seed": 3}),
        (lambda: None, (), {"seed": 3, "confidence": 0.8}),
    ):
        change()
        assert three.build(**asked).scored == scored
        assert three.content() == three.content_anew(**asked)
    assert len([*(three.folder / "site.cache").iterdir()]) == 3
    (three.site / "CNAME").write_text("example.org")
    (three.site / "data" / "mine.txt").write_text("kept")
    before = three.content()
    three.build(**asked)
    assert three.content() == before


@pytest.mark.slow
def test_changes_that_shape_scores_have_them_made_again(one, monkeypatch):
    folds, other = one.folder / "folds.tsv", one.folder / "ref.tsv"
    shutil.copy(SAMPLES / "folds.tsv", folds)
    other.write_text(Path(REFERENCE).read_text() + "cafe.wav\t1.0\t2.0\tcar\t0.5\n")
    quick = {"only": ("segment",), "replicates": 20}
    tuned = quick | {"folds": str(folds), "rank_by": "segment.tuned.f1.macro"}
    for change in (
        {"segment_length": 0.5}, {"reference": other}, {"by": "{scene}.wav"}, {"title": "x", "reports": True},
        {"durations": str(SAMPLES / "durations.tsv")}, {"scores": ("segment.hard.f1.micro",)}, tuned,
    ):  # fmt: skip
        one.build(**quick)
        assert one.build(**{**quick, **change}).scored == ("sys",), change
    folds.write_text(folds.read_text() + "\n")
    assert one.build(**tuned).scored == ("sys",) and one.content() == one.content_anew(**tuned)
    monkeypatch.setattr(module, "__version__", "9.9.9")
    assert one.build(**tuned).scored == ("sys",)


def test_damage_to_what_is_stored_is_mended(two):
    two.add("bad.tsv")
    two.add("odd.jsonl", '{"filename": "cafe.wav", "onset": 0, "offset": 1, "event_label": "\\ud800"}\n')
    two.build()
    before, stored = two.content(), sorted((two.folder / "site.cache").glob("*.json"))
    # Stored documents are cut short, have other content, or belong to another submission.
    for damage in (lambda data: data[:-9], lambda _: b'{"key": 1}', lambda _: stored[0].read_bytes()):
        for path in stored[1:]:
            path.write_bytes(damage(path.read_bytes()))
        assert len(two.build().scored) == 3 and two.content() == before
    (two.site / "data" / "sys.json").write_text("{}")
    (two.site / "index.html").unlink()
    assert two.build().scored == ("sys",) and two.content() == before, "pages are made again"


# Submissions that cannot be scored.


def test_an_invalid_submission_stops_nobody_and_has_all_its_problems_on_a_page(two):
    two.add("bad.tsv")
    two.add("empty.tsv", "")
    two.add("bars.tsv", f"{EVENTS}a\t0,5\t1\tcar\n")
    two.add("binary.zip", "PK\x03\x04nonsense")
    (two.made / "nothing").mkdir()
    site, invalid = two.build(), two.invalid()
    assert {*site.invalid} == {"bad", "bars", "empty", "nothing", "binary"}
    assert [entry.system for entry in site.board.entries] == ["sys", "sys_b"]
    assert "soft-sed-eval validate bars.tsv --fix bars.fixed.tsv" in invalid["bars"]["told"][0]["message"]
    problems = invalid["bad"]["told"]
    assert invalid["bad"]["problems"] == site.invalid["bad"] == len({str(each) for each in problems})
    places = [(each["severity"], each["code"], each["line"], each["column"]) for each in problems]
    assert places[:2] == [("error", "offset-before-onset", 2, 3), ("error", "value-out-of-range", 4, 5)]
    assert "unknown-class" in {code for _, code, *_ in places[2:]}
    assert "line 2, field 3" in two.page("problems/bad.html")
    assert "problems/bad.html" in Tags(two.page()).links
    assert str(two.folder).encode() not in b"".join(two.content().values())


@pytest.mark.parametrize("error", [ZeroDivisionError("<b>oops</b>"), RoomError("<b>oops</b>")])
def test_defects_and_want_of_memory_cost_one_and_are_no_verdict(error, two, monkeypatch):
    real = module.score_shard

    def failing(shard, *args, **kwargs):
        if getattr(shard, "system", "sys") == "sys":
            raise error
        return real(shard, *args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(module, "score_shard", failing)
        assert {*two.build().invalid} == {"sys"}
    assert "&lt;b&gt;oops" in two.page("problems/sys.html")
    assert two.build().scored == ("sys",) and "problems/sys.html" not in two.content()
    monkeypatch.setattr(sedeval_soft, "write_report", failing, raising=False)
    site = two.build(reports=True)
    assert len(site.board.entries) == 2 and "sys: there is no report: <b>oops</b>" in site.warnings


def kills(submission, *given):
    if submission.name == "sys":
        os.kill(os.getpid(), signal.SIGKILL)
    return module.score_submission(submission, *given)


def never_ends(submission, *given):
    while submission.name == "sys":
        time.sleep(1)
    return module.score_submission(submission, *given)


@pytest.mark.skipif(sys.platform != "linux", reason="others do not limit memory, or have no such signals")
@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (kills, "the process that worked on it ended with status -9"),
        pytest.param(never_ends, "took more than 4 s (--time-limit sets how much)", marks=pytest.mark.slow),
    ],
)
def test_who_takes_too_much_or_is_lost_costs_nobody_else_and_is_scored_again(work, reason, two, monkeypatch):
    """A submission that lacks time or memory is not invalid: scored again, its files give the same site."""
    monkeypatch.undo()
    expected = two.content_anew()
    with monkeypatch.context() as patched, memory_limited(1 << 29):
        patched.setattr(module, "score_submission", work)
        # The time limit is to stop only the submission that never ends, however slow the machine is.
        site = two.build(time_limit=4 if work is never_ends else 60)
    assert site.first == {"sys": f"sys.tsv: {reason}"} and two.document("data/sys_b.json")["inputs"]
    assert two.build().scored == ("sys",) and two.content() == expected


def test_each_submission_has_limits_that_can_be_raised(one, monkeypatch):
    seen = []

    def watched(function, *given, seconds, **_):
        seen.append((seconds, given_limit()))
        return function(*given)

    monkeypatch.setattr(module, "apart", watched)
    one.build()
    (one.site / "data" / "sys.json").unlink()
    one.call("--time-limit", "1000", "--memory-limit", "6G")
    assert seen[0][0] == 600 and seen[0][1] <= 4 << 30 and seen[1:] == [(1000.0, 6 << 30)]


def test_reports_share_one_plotly_and_are_made_again_if_they_are_missing(one):
    one.build(reports=True)
    before, report = one.content(), one.page("reports/sys.html")
    (plotly,) = [name for name in before if name.startswith("assets/")]
    assert f'src="../{plotly}"' in report and len(report) < len(before[plotly])
    assert "reports/sys.html" in Tags(one.page()).links and "../index.html" in Tags(report).links
    (one.site / "reports" / "sys.html").write_text("forged")
    assert one.build(reports=True).scored == ("sys",) and one.content() == before
    one.build()
    assert not [name for name in one.content() if name.startswith(("reports/", "assets/"))]


def test_without_any_valid_submission_there_is_a_page_all_the_same(one):
    one.add("sys.tsv")
    assert one.build(baseline="sys").board is None
    assert {*one.content()} == {MARK, "index.html", "board.json", "problems/sys.html"}
    assert one.document()["submissions"] == []
    (one.made / "sys.tsv").unlink()
    assert not one.build().invalid


# Names and texts about teams in untrusted submissions.

ALLOWED = (
    "html head meta title style body a header h1 p code main section h2 label input span div table thead"
    " tr td th tbody abbr b i svg line rect ul ol li details summary script"
)


def test_names_from_strangers_are_text(one):
    for name in HOSTILE[::2]:
        shutil.copy(SAMPLES / "sys.tsv", one.made / f"{name}.tsv")
        quoted = json.dumps(f"</title></style></script>{name}<script>alert(2)</script>")
        one.add(f"{name}.yaml", "".join(f"{key}: {quoted}\n" for key in ("team", "title", "authors", "note")))
        one.add(f"bad-{name}.tsv")
    site, names = one.build(), {*one.content()}
    assert len(site.board.entries) - 1 == len(site.invalid) == len(HOSTILE[::2])
    assert site.warnings == (NO_DURATIONS,)
    assert all(re.fullmatch(r"[\w./-]+", name, re.ASCII) for name in names)
    pages = {name: Tags(one.page(name)) for name in names if name.endswith(".html")}
    for name, parsed in pages.items():
        assert {*parsed.tags} <= {*ALLOWED.split()} and not parsed.handlers
        # A browser draws an undefined colour as black, without a message; each bar sets its own `part`.
        assert undefined_properties(one.page(name)) <= {"part"}
        inside = {link for link in parsed.links if not re.fullmatch("#[a-z]+", link)}
        assert {os.path.normpath(Path(name).parent / link) for link in inside} <= names
        # A page runs only its own script.
        scripts = re.findall(r"<script>(.*?)</script>", one.page(name), re.DOTALL)
        digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts]
        policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', one.page(name))[1])
        allowed = f"'sha256-{digests[0]}'" if digests else "'none'"
        assert policy.startswith("default-src 'none'; ") and policy.endswith(f"; script-src {allowed}")
        assert parsed.tags.count("script") == len(digests) == (name == "index.html")
    shown = pages["index.html"].shown
    assert "<script>alert(1)" in shown and "<script>alert(2)</script>" in shown and "\u202e" not in shown
    assert "<script>alert(1)</script>" in pages["problems/bad-con.html"].shown
    assert not re.search("^[=+@]", one.page("board.csv"), re.MULTILINE)


# Builds that are refused.


def test_the_former_site_stays_where_a_build_fails(one):
    one.build()
    before = one.content()
    for error, words, asked in (
        (UnknownScoreError, "zebra", {"scores": ("segment.soft.f1[zebra]",)}),
        (SettingsError, "ties must be one of .*, not 'coin'", {"ties": "coin"}),
        (SettingsError, "neither high nor low", {"rank_by": "segment.hard.n_ref.micro"}),
        (UnknownScoreError, "segment.tuned.f1.macro", {"scores": ("segment.tuned.f1.macro",)}),
        (UnknownScoreError, "segment.soft.f1.macro", {"only": ("event",)}),
        (SettingsError, "baseline", {"baseline": "nobody"}),
        (SettingsError, "scores must be a list, not", {"scores": SOFT}),
        (InputError, "nothing.tsv", {"reference": one.folder / "nothing.tsv"}),
        (SettingsError, "in the folder of submissions", {"site": one.made / "site"}),
        (SettingsError, "in the folder of submissions", {"cache": one.made / "cache"}),
        (SettingsError, "which is published", {"cache": one.site / "cache"}),
        (SettingsError, "the other way round", {"site": one.folder / "w/site", "cache": one.folder / "w"}),
        (SettingsError, "the folder of submissions, or the other way round", {"site": one.folder}),
        (SettingsError, "time_limit in seconds must be above 0, at most 1e", {"time_limit": 0}),
        (OutputError, "cannot be written", {"site": REFERENCE}),
        *((OutputError, "cannot be written", {"site": name}) for name in ("a\0b", "")),
    ):
        with pytest.raises(error, match=words):
            one.build(**asked)
    for name in ("index.html", "data/x", "precious.txt"):
        (path := one.folder / name[:4] / name).parent.mkdir(parents=True)
        path.write_text("mine")
        with pytest.raises(OutputError, match="was not made by this command"):
            one.build(site=one.folder / name[:4])
    assert one.content() == before


# The command.


def test_the_command_says_what_came_of_the_submissions_and_prints_nothing(two):
    for name, text in {
        "a\n::error::\x1b[31mb.tsv": BAD,
        "long.tsv": "onset\toffset\tevent_label\n" + "x" * 500 + "\t1\tcar\n",
        "c\nd.md": "hello",
        "sys_b.yaml": "tem: A\n",
        "sys.yaml": "team: Team 1\nauthors: [Ann, Bob]\nurl: https://example.org/a?b=1&c=2\n",
    }.items():
        two.add(name, text)
    done = two.call()
    assert (done.code, done.out) == (0, "") and "\x1b" not in done.err
    *lines, _ = done.err.splitlines()
    words = r"warning: c\nd.md is not", "warning: sys_b.yaml: ", "invalid: a", "first: long.tsv:2:1: "
    assert [each for each in words if each not in done.err] == []
    assert all(line.startswith(("warning: ", "invalid: ")) and len(line) < 300 for line in lines)
    shown = Tags(two.page())
    assert "Ann, Bob" in shown.shown and "https://example.org/a?b=1&c=2" in shown.links
    # A text about a team is not scored.
    two.add("sys.yaml", "team: Another\n")
    again = two.call("--fail-on-invalid")
    assert (again.code, again.out, "Another" in two.page()) == (1, "", True)
    assert again.err.splitlines()[-1] == "4 submissions: 2 ranked, 2 invalid; 4 unchanged"
    two.add("part.tsv", f"{EVENTS}cafe.wav\t1\t2\tzoo\n")
    assert "invalid: part: 2 problems" in two.call("--strict").err
    assert two.call("--quiet").err == "" and two.call("-o", "-").code == 2


def test_options_are_settings_columns_and_the_baseline(two):
    # The full name of a file means that file, even if another submission has its stem as a name.
    two.add("sys_b.csv", (two.made / "sys.tsv").read_text())
    names, durations = ["event.hard.f1[car]", "segment.hard.roc_auc.macro"], SAMPLES / "durations.tsv"
    options = (
        "--rank-by event.hard.f1.micro --title <2026> --segment-length 0.5 --replicates 50"
        f" --baseline sys_b.tsv --ties exchange --seed 7 --strict --score {names[0]} --score {names[1]}"
        f" --durations {durations}"
    )
    done = two.call(*options.split(), "--cache", two.folder / "kept")
    assert done.code == 0, done.err
    assert [*(two.folder / "kept").iterdir()] and not (two.folder / "site.cache").exists()
    document = two.document()
    expected = {
        "rank_by": "event.hard.f1.micro", "columns": names, "test": "exchange", "baseline": "sys_b.tsv",
        "replicates": 50, "seed": 7, "segment_length": 0.5, "strict": True,
    }  # fmt: skip
    assert {name: (document["settings"] | document)[name] for name in expected} == expected
    asked = {"segment_length": 0.5, "durations": durations, "measures": ("curves",)}
    scores = evaluate(REFERENCE, two.made / "sys.tsv", **asked)
    shown = {each["name"]: each["scores"] for each in document["submissions"]}
    assert shown["sys"] == {name: scores[name] for name in names}
    table = pd.read_csv(io.StringIO(two.page("board.csv"))).set_index("system")
    assert table[names].T.to_dict() == shown
    assert "<title>&lt;2026&gt;</title>" in two.page() and 'class="b-badge">baseline' in two.page()
