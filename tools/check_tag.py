"""Check that a tag may be released: `python tools/check_tag.py v1.2.3`.

Everything that names the version must name this one, the changelog must say when it was released, and
pyproject.toml where it is published.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """Return what speaks against releasing a tag; nothing is imported, so that it needs no installation."""
    own = re.search(r'^__version__ = "(.+)"$', _text(root / "sedeval_soft" / "__init__.py"), re.MULTILINE)
    version = own[1] if own else "unknown"
    found = [] if tag == f"v{version}" else [f"the tag is {tag}, the package's version {version}"]
    dated = rf"^## {re.escape(version)} - \d{{4}}-\d\d-\d\d$"
    if not re.search(dated, _text(root / "CHANGELOG.md"), re.MULTILINE):
        found.append(f"CHANGELOG.md has no date for {version}")
    citation = _text(root / "CITATION.cff")
    cited = re.search(r"""^version: ["']?([^"'\s]+)""", citation, re.MULTILINE)
    if citation and (cited is None or cited[1] != version):
        found.append(f"CITATION.cff names {cited[1] if cited else 'no version'}, not {version}")
    urls = tomllib.loads(_text(root / "pyproject.toml")).get("project", {}).get("urls", {})
    if "Repository" not in urls:
        found.append(
            "pyproject.toml has no [project.urls] with a Repository: nobody is told where this is from"
        )
    elsewhere = re.search(r"""^repository-code: ["']?([^"'\s]+)""", citation, re.MULTILINE)
    if elsewhere and elsewhere[1] != urls.get("Repository"):
        found.append(f"CITATION.cff names the repository {elsewhere[1]}, pyproject.toml does not")
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tools/check_tag.py TAG")
    sys.exit("\n".join(problems(sys.argv[1])) or 0)
