"""The site: what is on it, what is done anew, and what of strangers' it withstands."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from submitted import HOSTILE, REFERENCE, SAMPLES, bad, board_json, built, hashes, page, submissions

from sedeval_soft import InputError, SettingsError, compare, evaluate
from sedeval_soft.report.write import OutputError
from sedeval_soft.timeline.alignment_report import NO_DURATIONS
from sedeval_soft.tools import site as module
from sedeval_soft.tools.site import MARK

SOFT = "segment.soft.f1.macro"


class Tags(HTMLParser):
    """Collects the elements of a page, its links, and the text that is shown."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.shown, self.events = [], [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src"}]
        self.events += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.shown += data


def test_the_board_is_that_of_the_command(tmp_path):
    """Ranks, ties, intervals, places and p-values are those of `compare`, to the last digit."""
    made = submissions(tmp_path)
    site = built(tmp_path, made)
    systems = {name: made / f"{name}.tsv" for name in ("events", "sys", "sys_b")}
    expected = compare(REFERENCE, systems, replicates=100)
    assert site.board.entries == expected.entries
    shown = board_json(tmp_path)["submissions"]
    assert [each["name"] for each in shown] == [entry.system for entry in expected.entries]
    for each, entry, scores in zip(shown, expected.entries, expected.systems, strict=True):
        assert (each["value"], each["low"], each["high"]) == (entry.value, entry.low, entry.high)
        assert each["scores"]["event.hard.f1.macro"] == scores["event.hard.f1.macro"]


def test_only_what_changed_is_scored_again(tmp_path):
    made = submissions(tmp_path)
    assert built(tmp_path, made).scored == ("events", "sys", "sys_b")
    before = hashes(tmp_path / "site")
    assert built(tmp_path, made).scored == ()
    assert hashes(tmp_path / "site") == before
    with (made / "sys_b.tsv").open("a") as file:
        file.write("cafe.wav\t1.0\t2.0\tcar\t0.5\n")
    changed = built(tmp_path, made)
    assert changed.scored == ("sys_b",)
    apart = tmp_path / "apart"
    apart.mkdir()
    built(apart, made)
    assert hashes(tmp_path / "site") == hashes(apart / "site"), "incremental and new are the same bytes"


@pytest.mark.parametrize(
    ("change", "scored"),
    [
        ({"segment_length": 0.5}, True),
        ({"rank_by": "event.hard.f1.macro"}, True),
        ({"durations": str(SAMPLES / "durations.tsv")}, True),
        ({"folds": str(SAMPLES / "folds.tsv")}, True),
        ({"seed": 3, "replicates": 50, "confidence": 0.8, "ties": "bootstrap"}, False),
    ],
    ids=lambda change: "-".join(change) if isinstance(change, dict) else "",
)
def test_what_shapes_scores_and_comparisons_has_them_made_again(tmp_path, change, scored):
    made = submissions(tmp_path)
    built(tmp_path, made)
    again = built(tmp_path, made, **change).scored
    assert again == ("events", "sys", "sys_b") or not scored
    apart = tmp_path / "apart"
    apart.mkdir()
    built(apart, made, **change)
    assert hashes(tmp_path / "site") == hashes(apart / "site")


def test_another_reference_version_or_partition_has_all_scored_again(tmp_path, monkeypatch):
    made = submissions(tmp_path, "sys", "sys_b")
    folds, other = tmp_path / "folds.tsv", tmp_path / "ref.tsv"
    head, *lines = (SAMPLES / "folds.tsv").read_text().splitlines()
    folds.write_text("\n".join([head, *lines]) + "\n")
    other.write_text(REFERENCE.read_text() + "cafe.wav\t1.0\t2.0\tcar\t0.5\n")

    def is_new(reference=REFERENCE, **asked):
        given = {"reports": False, "replicates": 100, **asked}
        once, twice = (module.build_site(made, reference, tmp_path / "site", **given).scored for _ in "12")
        return once == ("sys", "sys_b") and twice == ()

    assert is_new() and is_new(other)
    monkeypatch.setattr("sedeval_soft.tools.submissions.__version__", "9.9.9")
    assert is_new(other)
    asked = {"folds": str(folds), "rank_by": "segment.tuned.f1.macro"}
    assert is_new(**asked)
    folds.write_text("\n".join([head, *lines[::-1]]) + "\n\n")
    assert is_new(**asked)
    assert is_new(by="{scene}.wav") and is_new(by="{scene}fe.wav")


@pytest.mark.parametrize("which", [".json", "comparisons"])
def test_damage_to_what_is_stored_is_mended(tmp_path, which):
    made = submissions(tmp_path, "sys", "sys_b")
    bad(made / "bad.tsv")
    built(tmp_path, made)
    before = hashes(tmp_path / "site")
    for damage in ("cut", "flipped", "empty", "other"):
        for path in (tmp_path / "site.cache").iterdir():
            if which in path.name:
                data = bytearray(path.read_bytes())
                half = len(data) // 2
                flipped = bytes([*data[:half], data[half] ^ 1, *data[half + 1 :]])
                contents = {
                    "cut": bytes(data[:half]),
                    "flipped": flipped,
                    "empty": b"",
                    "other": b'{"key": 1}',
                }
                path.write_bytes(contents[damage])
        built(tmp_path, made)
        assert hashes(tmp_path / "site") == before
    assert built(tmp_path, made).scored == ()


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_a_record_of_another_submission_is_not_taken(tmp_path, kind):
    made = submissions(tmp_path, "sys", "sys_b")
    if kind == "invalid":
        for name in ("sys", "sys_b"):
            bad(made / f"{name}.tsv")
    built(tmp_path, made)
    before = hashes(tmp_path / "site")
    one, other = sorted((tmp_path / "site.cache").glob("[0-9a-f]*[0-9a-f].json"))[:2]
    shutil.copy(one, other)
    assert len(built(tmp_path, made).scored) == 1
    assert hashes(tmp_path / "site") == before


def test_pages_that_were_changed_or_lost_are_made_again(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    built(tmp_path, made)
    before = hashes(tmp_path / "site")
    (tmp_path / "site" / "data" / "sys.json").write_text("{}")
    (tmp_path / "site" / "index.html").unlink()
    assert built(tmp_path, made).scored == ("sys",)
    assert hashes(tmp_path / "site") == before


def test_a_submission_that_is_gone_leaves_nothing(tmp_path):
    made = submissions(tmp_path)
    bad(made / "bad.tsv")
    built(tmp_path, made)
    (tmp_path / "site" / "CNAME").write_text("example.org")
    (tmp_path / "site" / "data" / "mine.txt").write_text("kept")
    for name in ("sys.tsv", "bad.tsv"):
        (made / name).unlink()
    built(tmp_path, made)
    left = {*hashes(tmp_path / "site")}
    assert left == {
        *(MARK, "index.html", "board.json", "board.csv", "CNAME", "data/mine.txt"),
        *("data/sys_b.json", "data/events.json"),
    }
    assert "sys<" not in page(tmp_path)
    kept = [path.suffix for path in (tmp_path / "site.cache").iterdir()]
    assert sorted(kept) == [".json", ".json", ".json"]


def test_an_invalid_submission_stops_nobody_and_has_all_its_problems_on_a_page(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    bad(made / "bad.tsv")
    (made / "empty.tsv").write_text("")
    (made / "nothing").mkdir()
    (made / "binary.zip").write_bytes(b"PK\x03\x04nonsense")
    (made / "link.tsv").symlink_to(REFERENCE)
    site = built(tmp_path, made)
    assert {*site.invalid} == {"bad", "empty", "nothing", "binary", "link"}
    assert [entry.system for entry in site.board.entries] == ["sys", "sys_b"]
    told = {each["name"]: each for each in board_json(tmp_path)["invalid"]}
    assert told["bad"]["problems"] == site.invalid["bad"] == len(told["bad"]["told"])
    codes = [problem["code"] for problem in told["bad"]["told"]]
    assert {"value-out-of-range", "offset-before-onset", "unknown-class"} <= {*codes}
    severities = [problem["severity"] for problem in told["bad"]["told"]]
    assert severities == sorted(severities, key=("error", "warning", "note").index)
    text = page(tmp_path, "problems/bad.html")
    assert all(f"<code>{code}</code>" in text for code in codes)
    assert "line 2, field 3" in text
    shown = Tags(page(tmp_path))
    assert "problems/bad.html" in shown.links and "could not be scored" in shown.shown
    assert str(tmp_path) not in "".join(page(tmp_path, name) for name in hashes(tmp_path / "site"))


def test_a_defect_that_one_brings_about_is_told_of_that_one_and_not_kept(tmp_path, monkeypatch):
    made = submissions(tmp_path, "sys", "sys_b")
    real = module.score_submission.__globals__["score_shard"]

    def failing(shard, *args, **kwargs):
        if shard.system == "sys":
            raise ZeroDivisionError("<b>oops</b>")
        return real(shard, *args, **kwargs)

    monkeypatch.setattr("sedeval_soft.tools.submissions.score_shard", failing)
    site = built(tmp_path, made)
    assert {*site.invalid} == {"sys"}
    assert "defect of this program: ZeroDivisionError: &lt;b&gt;oops" in page(tmp_path, "problems/sys.html")
    monkeypatch.undo()
    assert built(tmp_path, made).scored == ("sys",)
    assert not (tmp_path / "site" / "problems" / "sys.html").exists()


def test_files_that_one_submission_makes_up_change_no_other(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    before = {entry.system: entry for entry in built(tmp_path, made).board.entries}
    rows = "".join(f"made up {k}.wav\t0\t1\tcar\t0.9\n" for k in range(500))
    (made / "worse.tsv").write_text((made / "sys_b.tsv").read_text() + rows)
    site = built(tmp_path, made)
    assert site.scored == ("worse",)
    after = {entry.system: entry for entry in site.board.entries}
    for name, entry in before.items():
        assert (after[name].low, after[name].high) == (entry.low, entry.high)
    assert after["sys_b"].difference.p_exchange == before["sys_b"].difference.p_exchange
    assert after["worse"].low is not None and after["worse"].value < after["sys_b"].value


def test_of_one_file_nothing_is_drawn(tmp_path):
    made = tmp_path / "submissions"
    made.mkdir()
    reference = tmp_path / "one.tsv"
    head = "filename\tonset\toffset\tevent_label\n"
    reference.write_text(f"{head}a.wav\t0\t1\tcar\na.wav\t3\t4\tdog\n")
    (made / "x.tsv").write_text(reference.read_text())
    (made / "y.tsv").write_text(f"{head}a.wav\t0\t1\tcar\nother.wav\t0\t1\tcar\n")
    site = module.build_site(made, reference, tmp_path / "site", reports=False)
    assert [(entry.rank, entry.low, entry.difference.p_exchange if entry.difference else None)
            for entry in site.board.entries] == [(1, None, None), (2, None, None)]  # fmt: skip
    assert "nothing is said of how sure they are" in page(tmp_path)
    assert board_json(tmp_path)["test"] == "none"


def test_the_reference_is_no_submission(tmp_path):
    made = submissions(tmp_path, "sys", "ref")
    out = tmp_path / "site"
    site = module.build_site(made, made / "ref.tsv", out, reports=False, replicates=100)
    assert [entry.system for entry in site.board.entries] == ["sys"] and site.ignored == ("ref.tsv",)


def test_classes_that_are_no_text_stop_nobody(tmp_path):
    made = submissions(tmp_path, "sys")
    row = {"filename": "cafe.wav", "onset": 0, "offset": 1, "event_label": "\ud800"}
    (made / "odd.jsonl").write_text(json.dumps(row) + "\n")
    site = built(tmp_path, made)
    assert {entry.system for entry in site.board.entries} | {*site.invalid} == {"sys", "odd"}
    assert built(tmp_path, made).scored == ()


def test_without_any_valid_submission_there_is_a_page_all_the_same(tmp_path):
    made = submissions(tmp_path, "sys")
    built(tmp_path, made)
    bad(made / "sys.tsv")
    assert built(tmp_path, made).board is None
    assert "There is no submission that could be scored" in page(tmp_path)
    assert not (tmp_path / "site" / "board.csv").exists()
    (made / "sys.tsv").unlink()
    site = built(tmp_path, made)
    assert site.board is None and not site.invalid
    assert board_json(tmp_path)["submissions"] == []


def test_names_from_strangers_are_text(tmp_path):
    made = submissions(tmp_path, "sys")
    for name in HOSTILE:
        shutil.copy(SAMPLES / "sys.tsv", made / f"{name}.tsv")
        quoted = json.dumps(f"</title></style></script>{name}<script>alert(2)</script>")
        (made / f"{name}.yaml").write_text(
            f"team: {quoted}\ntitle: {quoted}\nauthors: [{quoted}, {quoted}]\nnote: {quoted}\n",
            encoding="utf-8",
        )
        bad(made / f"bad-{name}.tsv")
    site = built(tmp_path, made)
    assert len(site.board.entries) == len(HOSTILE) + 1 and len(site.invalid) == len(HOSTILE)
    assert site.warnings == (NO_DURATIONS,)
    allowed = {"html", "head", "meta", "title", "style", "body", "a", "header", "h1", "p", "code", "main"}
    allowed |= {"section", "h2", "label", "input", "span", "div", "table", "thead", "tr", "td", "th", "tbody"}
    allowed |= {"abbr", "b", "i", "svg", "line", "rect", "ul", "ol", "li", "details", "summary", "script"}
    for name in hashes(tmp_path / "site"):
        assert re.fullmatch(r"[A-Za-z0-9./_-]+", name)
        if not name.endswith(".html"):
            continue
        parsed = Tags(page(tmp_path, name))
        assert {*parsed.tags} <= allowed
        assert not parsed.events
        assert parsed.tags.count("script") == (1 if name == "index.html" else 0)
        for link in parsed.links:
            assert re.fullmatch(r"#[a-z]+|(\.\./)?[A-Za-z0-9./_-]+", link), link
            if not link.startswith("#"):
                assert (tmp_path / "site" / name).parent.joinpath(link).is_file(), link
    index = Tags(page(tmp_path))
    assert "<script>alert(1)" in index.shown and "<script>alert(2)</script>" in index.shown
    assert "<script>alert(1)</script>" in Tags(page(tmp_path, "problems/bad-con.html")).shown
    assert "\u202e" not in index.shown
    rows = list(csv.reader(io.StringIO(page(tmp_path, "board.csv"))))
    assert all(not re.match(r"[=+@]", row[0]) for row in rows)


def test_pages_run_their_own_script_only(tmp_path):
    made = submissions(tmp_path, "sys")
    bad(made / "bad.tsv")
    built(tmp_path, made)
    (script,) = re.findall(r"<script>(.*?)</script>", page(tmp_path), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for name, source in (("index.html", f"sha256-{digest}"), ("problems/bad.html", "none")):
        text = page(tmp_path, name)
        assert f"script-src &#39;{source}&#39;" in text and "default-src &#39;none&#39;" in text


def test_a_reports_folder_has_a_report_for_each_with_one_plotly(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    built(tmp_path, made, reports=True)
    files = {*hashes(tmp_path / "site")}
    assert {"reports/sys.html", "reports/sys_b.html"} <= files
    (plotly,) = [name for name in files if name.startswith("assets/")]
    report = page(tmp_path, "reports/sys.html")
    assert f'src="../{plotly}"' in report
    assert len(report) < (tmp_path / "site" / plotly).stat().st_size
    assert "reports/sys.html" in Tags(page(tmp_path)).links
    assert "../index.html" in Tags(report).links
    before = hashes(tmp_path / "site")
    assert built(tmp_path, made, reports=True).scored == ()
    (tmp_path / "site" / "reports" / "sys.html").write_text("forged")
    assert built(tmp_path, made, reports=True).scored == ("sys",)
    assert hashes(tmp_path / "site") == before
    built(tmp_path, made)
    assert not [name for name in hashes(tmp_path / "site") if name.startswith(("reports/", "assets/"))]


def test_a_report_that_cannot_be_made_costs_nobody_a_rank(tmp_path, monkeypatch):
    made = submissions(tmp_path, "sys", "sys_b")

    def failing(*args, **kwargs):
        raise ValueError("oops")

    monkeypatch.setattr(module, "write_report", failing)
    site = built(tmp_path, made, reports=True)
    assert len(site.board.entries) == 2
    assert "sys: there is no report: oops" in site.warnings
    monkeypatch.undo()
    assert built(tmp_path, made, reports=True).scored == ("sys", "sys_b")
    assert (tmp_path / "site" / "reports" / "sys.html").exists()


def test_who_submits_is_shown_and_what_is_wrong_with_it_is_told(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b", "events")
    (made / "sys.yaml").write_text("team: Team 1\nauthors: [Ann, Bob]\nurl: https://example.org/a?b=1&c=2\n")
    (made / "sys_b.yaml").write_text("teem: Team 2\n")
    (made / "events.yaml").write_text("url: javascript:alert(1)\n")
    site = built(tmp_path, made)
    assert len(site.board.entries) == 3
    assert any("sys_b.yaml" in text and "did you mean 'team'" in text for text in site.warnings)
    assert any("events.yaml" in text and "not the address of a page" in text for text in site.warnings)
    shown = Tags(page(tmp_path))
    assert "Ann, Bob" in shown.shown and "https://example.org/a?b=1&c=2" in shown.links
    assert not [link for link in shown.links if link.startswith("javascript")]
    # Who submits is not what is scored.
    (made / "sys.yaml").write_text("team: Another\n")
    assert built(tmp_path, made).scored == ()
    assert "Another" in page(tmp_path)


def test_a_folder_of_tables_is_a_submission(tmp_path):
    made = submissions(tmp_path, "sys")
    head, *rows = (made / "sys.tsv").read_text().splitlines()
    place = head.split("\t").index("filename")
    (made / "team").mkdir()
    for name in {row.split("\t")[place] for row in rows}:
        own = [row for row in rows if row.split("\t")[place] == name]
        (made / "team" / f"{Path(name).stem}.tsv").write_text("\n".join([head, *own]) + "\n")
    site = built(tmp_path, made)
    one, other = site.board.entries
    assert one.value == other.value and one.rank == other.rank == 1 and one.tied
    next((made / "team").iterdir()).unlink()
    assert built(tmp_path, made).scored == ("team",)


def test_ranks_by_the_score_alone_where_tests_would_take_long(tmp_path):
    made = submissions(tmp_path)
    shutil.copy(made / "sys.tsv", made / "same.tsv")
    site = built(tmp_path, made, rank_by="segment.optimal.f1.macro")
    entries = site.board.entries
    assert [entry.place for entry in entries] == [entry.rank for entry in entries]
    same = {entry.system: entry for entry in entries}
    assert same["sys"].tied and same["same"].tied and same["sys"].rank == same["same"].rank
    assert all(entry.low is None and entry.best_place is None for entry in entries)
    assert "nothing is said of how sure they are" in page(tmp_path)
    assert board_json(tmp_path)["test"] == "none"
    asked = built(tmp_path, made, rank_by="segment.optimal.f1.macro", ties="exchange")
    systems = {name: made / f"{name}.tsv" for name in ("events", "same", "sys", "sys_b")}
    assert (
        asked.board.entries
        == compare(REFERENCE, systems, rank_by="segment.optimal.f1.macro", replicates=100).entries
    )


def test_a_paired_bootstrap_may_tell_them_apart(tmp_path):
    made = submissions(tmp_path)
    entries = built(tmp_path, made, ties="bootstrap").board.entries
    systems = {name: made / f"{name}.tsv" for name in ("events", "sys", "sys_b")}
    expected = compare(REFERENCE, systems, replicates=100).entries
    for ours, theirs in zip(entries[1:], expected[1:], strict=True):
        assert ours.difference.p_exchange == theirs.difference.p_bootstrap
    assert "paired bootstrap" in page(tmp_path)


def test_a_baseline_stays_the_baseline_whoever_is_called_alike(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    assert built(tmp_path, made, baseline="sys_b").board.baseline == "sys_b"
    (made / "sys_b.csv").write_text((made / "sys.tsv").read_text())
    assert built(tmp_path, made, baseline="sys_b.tsv").board.baseline == "sys_b.tsv"
    (made / "sys_b.csv").unlink()
    assert built(tmp_path, made, baseline="sys_b.tsv").board.baseline == "sys_b"


def test_the_former_site_stays_where_a_build_fails(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    built(tmp_path, made)
    before = hashes(tmp_path / "site")
    with pytest.raises(SettingsError, match="baseline"):
        built(tmp_path, made, baseline="nobody")
    with pytest.raises(SettingsError, match="zebra"):
        built(tmp_path, made, scores=("segment.soft.f1[zebra]",))
    with pytest.raises(SettingsError, match="ties must be one of exchange, bootstrap, none, not 'coin'"):
        built(tmp_path, made, ties="coin")
    with pytest.raises(SettingsError, match="scores must be a list of names"):
        built(tmp_path, made, scores="segment.soft.f1.macro")
    with pytest.raises(InputError):
        module.build_site(made, tmp_path / "nothing.tsv", tmp_path / "site")
    assert hashes(tmp_path / "site") == before


def test_folders_of_others_are_not_touched(tmp_path):
    made = submissions(tmp_path, "sys")
    for name in ("index.html", "data"):
        folder = tmp_path / name.partition(".")[0] / "site"
        folder.mkdir(parents=True)
        (folder / name).mkdir() if name == "data" else (folder / name).write_text("mine")
        with pytest.raises(OutputError, match="is not a site of this command"):
            module.build_site(made, REFERENCE, folder)
    with pytest.raises(SettingsError, match="in the folder of submissions"):
        module.build_site(made, REFERENCE, made / "site")
    with pytest.raises(SettingsError, match="in the folder of submissions"):
        module.build_site(made, REFERENCE, tmp_path / "s", cache=made / "cache")
    with pytest.raises(SettingsError, match="which is published"):
        module.build_site(made, REFERENCE, tmp_path / "s", cache=tmp_path / "s" / "cache")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        module.build_site(made, REFERENCE, tmp_path / "file")
    with pytest.raises(OutputError, match="cannot be written"):
        module.build_site(made, REFERENCE, "a\0b")


def test_progress_is_told_of_each_submission_and_of_nothing_else(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    (made / "bad.tsv").write_text("nothing\n")
    told = []
    built(tmp_path, made, progress=lambda done, total: told.append((done, total)))
    # Those that are as they were are done, too.
    built(tmp_path, made, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)] * 2


def test_columns_are_those_that_are_asked_for(tmp_path):
    made = submissions(tmp_path, "sys", "sys_b")
    names = ("event.hard.f1[car]", "segment.hard.roc_auc.macro", SOFT)
    built(tmp_path, made, scores=names)
    document = board_json(tmp_path)
    assert document["columns"] == [*names[:2]]
    scores = evaluate(REFERENCE, made / "sys.tsv", measures=("curves",))
    (shown,) = [each for each in document["submissions"] if each["name"] == "sys"]
    assert shown["scores"] == {name: scores[name] for name in names[:2]}
    assert "event hard" in page(tmp_path)
    rows = list(csv.DictReader(page(tmp_path, "board.csv").splitlines()))
    assert float(rows[0][names[0]]) == document["submissions"][0]["scores"][names[0]]


def test_all_scores_of_a_submission_are_those_of_the_command(tmp_path):
    made = submissions(tmp_path, "sys")
    built(tmp_path, made)
    document = json.loads(page(tmp_path, "data/sys.json"))
    ours = {score["name"]: score["value"] for score in document["systems"][0]["scores"]}
    assert ours == dict(evaluate(REFERENCE, made / "sys.tsv"))
    assert [item["path"] for item in document["inputs"]] == ["ref.tsv", "sys.tsv"]
