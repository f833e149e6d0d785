"""Safe names in outputs: users do not choose the names in their files, and viewers may obey them.

Control characters move a terminal's cursor and rewrite its screen; marks of direction reverse a text; a
spreadsheet runs a cell that begins like a formula; a browser runs markup. GitHub runs lines of a log that
begin with `::`, or contain `##[`. Only JSON keeps every name exactly.
"""

from __future__ import annotations

import json
import re

from sedeval_soft.errors import escaped, visible, without_commands

_OBEYED = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # controls of ASCII and of ISO 8859, DEL
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of direction, embedded and overriding ones
    "\u2028\u2029\ufeff\ufff9-\ufffb"  # ends of lines and paragraphs, a mark of byte order, annotations
    "\U000e0000-\U000e007f"  # tags, which nobody sees
    "\ud800-\udfff]"  # bytes of a name that are no text
)
"""Characters with an effect on a viewer."""

_LOGGED = re.compile(r"#(?=#\w*\[)")
"""The begin of a command anywhere in a line of a log."""

_FORMULA = re.compile(r"(^|[;|,])(?=[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Begin of a cell that spreadsheets run, in signs of either width; some spreadsheets skip leading blanks.

Many divide a table at semicolons, bars or commas by the settings of their users: a cell may begin behind any.
"""


def harmless(text: str) -> str:
    """Return a name with control characters, marks of direction and bytes that are not text as escapes.

    Other characters that are not printable stay: letters of some scripts are joined by invisible marks.
    """
    return without_commands(_OBEYED.sub(lambda match: escaped(match[0]), text))


def cell(text: str) -> str:
    """Return a name as a cell of a table for spreadsheets: harmless, and never a formula."""
    # Behind an apostrophe, which it does not show, a spreadsheet takes everything for text.
    return _FORMULA.sub(r"\1'", harmless(text))


def json_text(text: str) -> str:
    """Return an equivalent JSON document without characters that a terminal obeys."""
    # Outside of strings there are none but ends of lines and blanks.
    text = _LOGGED.sub(r"\\u0023", text)
    if text.isascii() and "\x7f" not in text:
        return text
    return _OBEYED.sub(lambda match: match[0] if match[0] == "\n" else json.dumps(match[0])[1:-1], text)


def github_message(text: str) -> str:
    """Return a text for the message of a GitHub annotation; its lines stay lines."""
    coded = {"%": "%25", "\r": "%0D", "\n": "%0A"}
    return "".join(coded.get(c) or visible(c) for c in text)


def github_property(text: str) -> str:
    """Return a text for a property of a GitHub annotation, such as its file or title."""
    return github_message(text).replace(":", "%3A").replace(",", "%2C")
