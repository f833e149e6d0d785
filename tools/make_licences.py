"""Make the page of licences of what the package needs: `python tools/make_licences.py`.

They are read from the metadata of what is installed here; run it where the extras are installed, too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"

HEAD = """# Licences

soft-sed-eval is under the MIT licence ([LICENSE](../LICENSE)). It contains no code from others. The
documentation site has one script from others, `docs/javascripts/iframe-worker.js` (MIT). The packages that
soft-sed-eval installs and imports have licences of their own. They are listed here as in the metadata of the
packages; `python tools/make_licences.py` reads them. Pages that `report` and `board` write contain
plotly.js, which comes with the package plotly and is under the MIT licence, too.
"""

_FROM_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""Licences as classifiers name them, by the short names of SPDX; which BSD licence it is they do not say."""

_WORDS = {"BSD 3-Clause": "BSD-3-Clause", "Apache Software License": "Apache-2.0", "MIT License": "MIT"}
_LONGEST = 40


def page() -> str:
    """Return the page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [Requirement(text).name for text in project["dependencies"]]
    extra = {
        name: [r.name for r in map(Requirement, texts) if r.name != project["name"]]
        for name, texts in project["optional-dependencies"].items()
    }
    parts = [
        HEAD,
        "## What it needs\n",
        _table(dict.fromkeys(needed, "")),
        "## What extras add\n",
        _table({package: name for name, packages in extra.items() for package in packages}),
        "## What these need in turn\n",
        "With the newest releases, on Linux and Python 3.11; extras left out.\n",
        _table(dict(_behind(needed))),
    ]
    return "\n".join(parts)


def licence_of(name: str) -> str:
    """Return the licence of an installed package as short as its metadata has it."""
    found = distribution(name).metadata
    if expression := found.get("License-Expression"):
        return expression
    classified = [
        value.rpartition(" :: ")[2]
        for value in found.get_all("Classifier", [])
        if value.startswith("License :: ") and value != "License :: OSI Approved"
    ]
    said = re.sub(r"\s+", " ", found.get("License") or "").strip()
    if said and len(said) <= _LONGEST:
        return _WORDS.get(said, said)
    return ", ".join(_FROM_CLASSIFIERS.get(text, text) for text in classified) or "see the package"


def _table(packages: Mapping[str, str]) -> str:
    """Return a table of packages, and of why they are there, where that is said."""
    told = any(packages.values())
    lines = (
        ["| package | licence | for |", "|---|---|---|"] if told else ["| package | licence |", "|---|---|"]
    )
    for name in sorted(packages, key=str.lower):
        cells = [f"`{name}`", licence_of(name), *([packages[name]] if told else [])]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _behind(needed: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what packages need that are needed, however far behind, and which of them needs it."""
    seen = {canonicalize_name(name) for name in needed}
    waiting = list(needed)
    while waiting:
        by = waiting.pop(0)
        for name in _requires(distribution(by)):
            if canonicalize_name(name) not in seen:
                seen.add(canonicalize_name(name))
                waiting.append(name)
                yield distribution(name).metadata["Name"], f"`{by}`"


def _requires(of: Distribution) -> Iterator[str]:
    for text in of.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            try:
                distribution(requirement.name)
            except PackageNotFoundError:
                continue  # asked for on other machines only
            yield requirement.name


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
