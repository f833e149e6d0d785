"""Which files are submissions, what they are called, and when they are taken for others."""

from __future__ import annotations

import os

import pytest
from submitted import HOSTILE, SAMPLES, submissions

from sedeval_soft.errors import InputError
from sedeval_soft.html.board_page import slugs
from sedeval_soft.tables.limits import Limits
from sedeval_soft.tools.submissions import find_submissions


def names(folder):
    return [each.name for each in find_submissions(folder)[0]]


def test_a_file_is_called_by_its_stem_and_a_folder_by_its_name(tmp_path):
    for name in ("a.tsv", "b.csv.gz", "c.zip", "d.parquet", "e.tar.gz", "f.TXT"):
        (tmp_path / name).write_text("x")
    (tmp_path / "g.v2").mkdir()
    (tmp_path / ".hidden.tsv").write_text("x")
    assert names(tmp_path) == ["a", "b", "c", "d", "e", "f", "g.v2"]


def test_what_would_be_called_alike_is_called_by_its_whole_name(tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("a.tsv", "a.csv", "b.tsv", "b.tsv.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    found = names(tmp_path)
    assert found == ["a", "a.csv", "a.tsv", "b.csv", "b.tsv", "b.tsv.csv"]
    assert len({*found}) == len(found)


def test_names_that_are_no_text_are_spelled_and_still_different(tmp_path):
    (tmp_path / "a\udcff.tsv").write_text("x")
    (tmp_path / "a\\udcff.tsv").write_text("x")
    found = find_submissions(tmp_path)[0]
    assert len({each.name for each in found}) == 2
    assert all(each.name.isascii() and each.digest for each in found)


def test_what_is_no_table_is_told(tmp_path):
    for name in ("README.md", "a.tsv", "a.yaml", "nobody.yaml", "image.png"):
        (tmp_path / name).write_text("x")
    found, ignored = find_submissions(tmp_path)
    assert [(each.name, each.description and each.description.name) for each in found] == [("a", "a.yaml")]
    assert ignored == ["README.md", "image.png", "nobody.yaml"]


def test_the_hash_of_a_folder_is_of_names_and_bytes(tmp_path):
    folder = tmp_path / "subs" / "team"
    folder.mkdir(parents=True)

    def digest():
        return find_submissions(tmp_path / "subs")[0][0].digest

    seen = {digest()}
    (folder / "a.tsv").write_text("1")
    seen.add(digest())
    (folder / "a.tsv").write_text("2")
    seen.add(digest())
    (folder / "a.tsv").rename(folder / "b.tsv")
    seen.add(digest())
    (folder / "a.tsv").write_text("2")
    seen.add(digest())
    assert len(seen) == 5


def test_links_and_pipes_are_refused_and_never_opened(tmp_path):
    made = submissions(tmp_path, "sys")
    (made / "link.tsv").symlink_to(SAMPLES / "ref.tsv")
    (made / "gone.tsv").symlink_to(tmp_path / "nothing")
    (made / "folder").symlink_to(SAMPLES)
    (made / "inside").mkdir()
    (made / "inside" / "a.tsv").symlink_to(SAMPLES / "ref.tsv")
    os.mkfifo(made / "pipe.tsv")
    found = {each.name: each for each in find_submissions(made)[0]}
    assert {*found} == {"sys", "link", "gone", "inside", "pipe"}  # a link without extension is no table
    for name in ("link", "gone", "inside"):
        assert "is a link, which is not followed" in found[name].problem.message
    assert "neither a file nor a folder" in found["pipe"].problem.message
    assert found["sys"].problem is None


def test_limits_hold_before_anything_is_read(tmp_path):
    made = submissions(tmp_path, "sys")
    (found,) = find_submissions(made, Limits(size=1000))[0]
    assert found.problem.code == "too-many-size"
    with pytest.raises(InputError, match="members"):
        find_submissions(SAMPLES, Limits(members=2))


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match="cannot be read as a folder of submissions"):
        find_submissions(tmp_path / "nothing")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be read as a folder of submissions"):
        find_submissions(tmp_path / "file")


def test_pages_have_names_that_are_safe_and_different_everywhere():
    given = [*HOSTILE, "team_a", "Team_A", "team-b", "x" * 300, "NUL", "nul", "a.b", "\udcff"]
    places = slugs(given)
    made = [place.report for place in places.values()]
    assert len({path.casefold() for path in made}) == len(given)
    assert places["team-b"].report == "reports/team-b.html"
    for path in made:
        assert len(path) < 120
        assert path.isascii() and not {*path} & {*" <>\"'&\\:?*|%#"}
    # They hang on the name alone, as long as no other differs from it by case only.
    assert slugs(["team-b"])["team-b"] == places["team-b"]
    assert slugs([HOSTILE[0]])[HOSTILE[0]] == places[HOSTILE[0]]
