"""No address is told that nobody has registered: whoever registers it has our readers run their code."""

import re
import tomllib
from urllib.parse import urlsplit

from documents import ROOT

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
"""Hosts of other people's papers, standards and projects, and who owns a repository or an action."""

SHARED = {"github.com", "gitlab.com", "huggingface.co", "pypi.org", "test.pypi.org"}
"""Hosts at which everybody may have a name."""

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
    """Return the hosts, with an owner where a host is shared, and the owners of actions that a text names."""
    urls = (urlsplit(re.sub(r"^git@([^:/]+):?", r"ssh://\1/", url)) for url in URL.findall(text))
    used = (name for name in USED.findall(text) if not name.startswith(("./", "<")) and "://" not in name)
    return {
        *(f"{url.netloc}/{url.path.split('/')[1]}" if url.netloc in SHARED else url.netloc for url in urls),
        *(host.replace(":", "/") for host in HOST.findall(text)),
        *(name.split("/")[0] for name in used),
        *(match["name"] for match in INSTALLED.finditer(text)),
    }


def test_every_address_is_of_others_who_have_it():
    paths = [path for place in PLACES for path in (ROOT / place).rglob("*")]
    paths = [path for path in (*paths, *ROOT.iterdir()) if path.is_file() and path.suffix in TEXTS]
    paths = [path for path in paths if "__pycache__" not in path.parts and path.name != ".git"]
    assert len(paths) > 200
    # Where this is published, if it is: said in one place, by whoever has the address.
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
