"""Texts on who submits: read, or refused with the file and what was expected."""

from __future__ import annotations

import os

import pytest

from sedeval_soft.apps.board.board_page import About
from sedeval_soft.apps.board.site import read_about
from sedeval_soft.errors import InputError

READ = {
    "team: A  team\ntitle: 7\nauthors: [Ada, 'B  ob']\nurl: https://example.org/x?y=1\nnote: ~\n": About(
        "A team", "7", ("Ada", "B  ob"), "https://example.org/x?y=1", ""
    ),
    "authors: Ada\n": About(authors="Ada"),
    "authors:\n": About(),
    "# nothing\n": About(),
}
REFUSED = {
    "- a\n": "expected the keys team, title, authors, url, note",
    "titel: x\n": "`titel`",
    "team: [a]\n": r"`\$.team`",
    f"note: {'x' * 301}\n": r"<= 300 - at `\$.note`",
    f"# {'x' * (1 << 16)}\n": "expected a file of 65536 bytes or fewer",
    "url: javascript:alert(1)\n": "is not the address of a page",
    "url: 'https://example.org/<script>'\n": "is not the address of a page",
}


def test_a_text_is_read_or_refused(tmp_path):
    path = tmp_path / "about.yaml"
    for text, expected in READ.items():
        path.write_text(text, encoding="utf-8")
        assert read_about(path, "x") == expected
    for text, words in REFUSED.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=f"^team/about.yaml.*{words}"):
            read_about(path, "team/about.yaml")


def test_links_devices_and_missing_files_are_not_read(tmp_path):
    (tmp_path / "about.yaml").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("team: secret\n")
    os.mkfifo(tmp_path / "pipe")
    for name, words in {"about.yaml": "is a link", "pipe": "or a device", "none": "cannot be read"}.items():
        with pytest.raises(InputError, match=f"^x: .*{words}"):
            read_about(tmp_path / name, "x")
