"""What the site makes of the pages: the changelog is one, links to code leave it, formulas are drawn.

mkdocs calls these functions; it runs them without a network.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from html import unescape
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
"""Where the repository and this site are published, if anywhere."""

FROM_ROOT = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages that are in the root of the repository, where people and GitHub look for them."""

FIRST = ("index.md", "install.md", "tutorial/", "guides/", "explanations/readings.md")
UNSEARCHED = ("changelog.md", "performance.md", "licences.md")
"""Pages that a search shows before others, and pages that it leaves out."""

_CODE = r"^ *(?P<fence>```+)[^\n]*\n.*?^ *(?P=fence) *$|(?P<tick>`+)(?!`).*?(?<!`)(?P=tick)(?!`)"
_TARGET = r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>(?:#[^)\s]*)?)\)"
_LINK = re.compile(f"{_CODE}|{_TARGET}", re.DOTALL | re.MULTILINE)
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: Any) -> Any:  # noqa: ANN401 - mkdocs' own
    """Tell the addresses of the site and of the repository, if there are any."""
    config.site_url = URLS.get("Documentation", config.site_url)
    if "Repository" in URLS:
        config.extra["social"] = [{"icon": "fontawesome/brands/git-alt", "link": URLS["Repository"]}]
    return config


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401 - mkdocs' own
    """Add the pages that lie in the root."""
    for page, name in FROM_ROOT.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:  # noqa: ANN401, ARG001
    """Return a page with links as they are on the site (to pages or the repository); set its search rank.

    Files of a repository that is nowhere published are named, not linked.
    """
    here = page.file.src_uri
    if here.startswith(FIRST):
        page.meta["search"] = {"boost": 2}
    elif here in UNSEARCHED:
        page.meta["search"] = {"exclude": True}
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
            if "Repository" not in URLS:
                return (
                    match["text"] if match["text"].strip("`") == target else f"{match['text']} (`{target}`)"
                )
            return f"[{match['text']}]({URLS['Repository']}/blob/main/{target}{match['anchor']})"
        path = posixpath.relpath(inside, posixpath.dirname(here) or ".")
        return f"[{match['text']}]({path}{match['anchor']})"

    return _LINK.sub(link, markdown).replace("<repository>", URLS.get("Repository", "<repository>"))


def on_page_content(html: str, page: Page, config: Any, files: Files) -> str:  # noqa: ANN401, ARG001
    """Return a page with its formulas as MathML, which browsers draw by themselves."""

    def formula(match: re.Match[str]) -> str:
        display = "block" if match[2] == "[" else "inline"
        return convert(unescape(match[3]).strip(), display=display)

    return _FORMULA.sub(formula, html)
