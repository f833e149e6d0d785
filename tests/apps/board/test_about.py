"""Texts on who submits: read, or refused with the file."""

from __future__ import annotations

import os

import pytest

from sedeval_soft.apps.board.board_page import About
from sedeval_soft.apps.board.site import read_about
from sedeval_soft.errors import InputError

PAGE = "https://example.org/x?y=1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"team: A  team\ntitle: 7\nauthors: [Ada, 'B  ob']\nurl: {PAGE}\nnote: ~\n",
            About("A team", "7", ("Ada", "B  ob"), PAGE, ""),
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
