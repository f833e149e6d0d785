"""What the site makes of the pages: the changelog is one, links to code leave it, formulas are drawn.

mkdocs calls these functions; it runs them without a network.
"""

from __future__ import annotations

import posixpath
import re
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
SOURCE = "https://github.com/soft-sed-eval/soft-sed-eval/blob/main/"
FROM_ROOT = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages that lie in the root of the repository, where people and GitHub look for them."""

_CODE = r"^ *(?P<fence>```+)[^\n]*\n.*?^ *(?P=fence) *$|(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)"
_TARGET = r"(?<=\]\()(?P<path>[^)#\s:]+)(?P<anchor>(?:#[^)\s]*)?)(?=\))"
_LINK = re.compile(f"{_CODE}|{_TARGET}", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - mkdocs' own
    """Add the pages that lie in the root."""
    for page, name in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:  # noqa: ANN401, ARG001
    """Return a page with links as they are on the site: to pages, or to the repository."""
    here = page.file.src_uri
    origin = FROM_ROOT.get(here, f"docs/{here}")
    pages = {name: page for page, name in FROM_ROOT.items()}

    def link(match: re.Match[str]) -> str:
        if not match["path"]:
            return match[0]  # code stays as it is
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), match["path"]))
        if target in pages:
            inside = pages[target]
        elif target.startswith("docs/"):
            inside = target.removeprefix("docs/")
        else:
            return SOURCE + target + match["anchor"]
        return posixpath.relpath(inside, posixpath.dirname(here) or ".") + match["anchor"]

    return _LINK.sub(link, markdown)


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:  # noqa: ANN401, ARG001
    """Return a page with its formulas as MathML, which browsers draw by themselves."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[2] == "[" else "inline"
        return convert(unescape(match[3]).strip(), display=display)

    return _FORMULA.sub(formula, html)
