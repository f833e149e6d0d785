"""Links in the repository work on GitHub; all addresses in it are registered by somebody we know.

mkdocs checks the links of the site. If we named an address that nobody has registered, anybody could
register it and have our readers run their code.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from documents import ROOT, without_code

PAGES = sorted((ROOT / "docs").rglob("*.md")) + [
    path
    for room in ("", "configs", "sample_data", "tests/fuzz", "benchmarks", "tests")
    for path in sorted((ROOT / room).glob("*.md"))
]
LINK = re.compile(r"\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")


def plain(heading: str) -> str:
    """Return the words of a heading, without marks of Markdown."""
    return re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))


@cache
def anchors(path: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = without_code(path.read_text(encoding="utf-8"))
    headings = map(plain, re.findall(r"^#{1,6} (.+?)\s*$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def broken(path: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    wrong = []
    for target in LINK.findall(without_code(text)):
        name, _, anchor = target.partition("#")
        other = (path.parent / name).resolve() if name else path
        found = other.exists() and other.is_relative_to(ROOT)
        known = not anchor or other.suffix != ".md" or (found and anchor in anchors(other))
        if not (re.match(r"[a-z]+:", target) or (found and known)):
            wrong.append(target)
    return wrong


def test_links_lead_somewhere():
    assert len(PAGES) > 30
    texts = {path: path.read_text(encoding="utf-8") for path in PAGES}
    assert sum(len(LINK.findall(text)) for text in texts.values()) > 100
    assert {path: wrong for path, text in texts.items() if (wrong := broken(path, text))} == {}


def test_broken_links_are_found():
    lost = ["nowhere.md", "../../elsewhere.md", "reference/codes.md#nothing"]
    fine = ["reference/codes.md#exit-codes", "https://x.y"]
    text = "".join(f"[a]({target}) `[b](c)` " for target in (*lost, *fine))
    assert broken(ROOT / "docs" / "index.md", text) == lost


def test_every_page_has_one_title():
    texts = {path: without_code(path.read_text(encoding="utf-8")) for path in (ROOT / "docs").rglob("*.md")}
    assert [path for path, text in texts.items() if len(re.findall(r"^# ", text, re.MULTILINE)) != 1] == []


# The repository names no address that nobody has registered.

OTHERS = {
    *(
        "arxiv.org",
        "data-apis.org",
        "dcase.community",
        "distributed.dask.org",
        "docs.oasis-open.org",
        "doi.org",
    ),
    *("import-linter.readthedocs.io", "json-schema.org", "keepachangelog.com", "semver.org", "www.w3.org"),
    *("libsndfile.github.io", "python-soundfile.readthedocs.io"),
    *("github.com/squidfunk", "actions", "pypa"),
    *("github.com/alanshaoTT", "pyannote.github.io", "biodcase.github.io", "github.com/marinebioCASE"),
    *("github.com/c4dm", "github.com/birdnet-team", "github.com/DCASE-REPO", "github.com/TUT-ARG"),
    *("github.com/line", "github.com/marmoi"),
}
"""Hosts of other people's papers, standards and projects, and owners of repositories and actions."""

SHARED = {"github.com", "gitlab.com", "huggingface.co", "pypi.org", "test.pypi.org"}
"""Hosts at which anybody can register a name."""

PLACES = ("sedeval_soft", "docs", "tools", "configs", "benchmarks", "sample_data", ".github", ".ci")
TEXTS = {
    *("", ".bash", ".cff", ".css", ".fish", ".html", ".j2", ".js", ".json", ".md", ".py", ".sh", ".svg"),
    *(".toml", ".1", ".tsv", ".txt", ".yaml", ".yml"),
}

URL = re.compile(r"(?:https?|git|ssh)://\w[^\s\"'`<>()]+|git@[\w.:/-]+")
HOST = re.compile(
    r"\b[\w-]+\.(?:github|gitlab|readthedocs)\.io\b|\b(?:github|gitlab)\.com[:/][\w.-]+", re.ASCII
)
USED = re.compile(r"^ *(?:- )?(?:uses|repo|repository): +([^\s#]+)", re.MULTILINE)
INSTALLED = re.compile(r"install[^\n]*?[\s'\"](?P<name>soft-sed-eval(?:\[|==|['\"]|$))", re.MULTILINE)


def foreign(text: str) -> set[str]:
    """Return the hosts that a text names, shared hosts with the owner, and the owners of actions."""
    urls = (urlsplit(re.sub(r"^git@([^:/]+):?", r"ssh://\1/", url)) for url in URL.findall(text))
    used = (name for name in USED.findall(text) if not name.startswith(("./", "<")) and "://" not in name)
    return {
        *(f"{url.netloc}/{url.path.split('/')[1]}" if url.netloc in SHARED else url.netloc for url in urls),
        *(host.replace(":", "/") for host in HOST.findall(text)),
        *(name.split("/")[0] for name in used),
        *(match["name"] for match in INSTALLED.finditer(text)),
    }


def test_every_address_is_of_others_who_have_it():
    every = [*ROOT.iterdir(), *(path for place in PLACES for path in (ROOT / place).rglob("*"))]
    texts = [path for path in every if path.is_file() and path.suffix in TEXTS]
    paths = [path for path in texts if not {"__pycache__", ".git"} & {*path.parts}]
    assert len(paths) > 200
    # The addresses of this project, if it is published, are in pyproject.toml only.
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    ours = {each for url in urls.values() for each in foreign(url)}
    told = {path.relative_to(ROOT).as_posix(): foreign(path.read_text("utf-8", "replace")) for path in paths}
    assert OTHERS <= set().union(*told.values()), "no longer named: take it out"
    assert {name: strange for name, found in told.items() if (strange := found - OTHERS - ours)} == {}


def test_addresses_are_found():
    for text, found in {
        "git clone https://github.com/a/b && cd b": "github.com/a",
        "pip install git+https://github.com/a/b": "github.com/a",
        "git@github.com:a/b.git": "github.com/a",
        "see a-b.github.io/b": "a-b.github.io",
        "      - uses: a/b@main # new": "a",
        "  - repo: a/b": "a",
        "[page](https://a.b/c)": "a.b",
        "pip install 'soft-sed-eval[torch]'": "soft-sed-eval[",
        "pipx install soft-sed-eval": "soft-sed-eval",
        "uses: ./a\nrepo: <repository>\npip install ./soft-sed-eval\npip install '.[torch]'": None,
    }.items():
        assert foreign(text) == {found} - {None}, text
