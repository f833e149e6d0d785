"""What strangers say of their submissions: read, or refused with the file and what was expected."""

from __future__ import annotations

import os
import re

import pytest

from sedeval_soft.apps.board.board_page import About
from sedeval_soft.apps.board.site import read_about
from sedeval_soft.errors import InputError


def about(tmp_path, text):
    path = tmp_path / "about.yaml"
    path.write_text(text, encoding="utf-8")
    return read_about(path, "team/about.yaml")


def test_what_is_said_is_read(tmp_path):
    said = "team: A  team\ntitle: 7\nauthors: [Ada, 'B\\\n  ob']\nurl: https://example.org/x?y=1\nnote: ~\n"
    found = about(tmp_path, said.replace("\\\n  ", ""))
    assert found == About("A team", "7", ("Ada", "Bob"), "https://example.org/x?y=1", "")
    assert about(tmp_path, "authors: Ada\n").authors == "Ada"
    assert about(tmp_path, "authors:\n") == About()
    assert about(tmp_path, "# nothing\n") == About()


REFUSED = {
    "- a\n": "Expected `object`, got `array`; expected the keys team, title, authors, url, note",
    "titel: x\n": "Object contains unknown field `titel`",
    "team: [a]\n": "Expected `str`, got `array` - at `$.team`",
    f"note: {'x' * 301}\n": "Expected `str` of length <= 300 - at `$.note`",
    f"# {'x' * (1 << 16)}\n": "expected a file of 65536 bytes or fewer",
    "url: javascript:alert(1)\n": "is not the address of a page",
    "url: 'https://example.org/<script>'\n": "is not the address of a page",
}


def test_what_cannot_be_used_is_refused(tmp_path):
    for text, words in REFUSED.items():
        with pytest.raises(InputError, match=re.escape(words)) as caught:
            about(tmp_path, text)
        assert str(caught.value).startswith("team/about.yaml")


def test_links_devices_and_what_is_not_there_are_not_read(tmp_path):
    (tmp_path / "about.yaml").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("team: secret\n")
    os.mkfifo(tmp_path / "pipe")
    for name in ("about.yaml", "pipe"):
        with pytest.raises(InputError, match="is a link or a device"):
            read_about(tmp_path / name, "x")
    with pytest.raises(InputError, match="x: cannot be read: No such file"):
        read_about(tmp_path / "none", "x")
