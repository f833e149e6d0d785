"""Make the page of licences of what the package needs: `python tools/make_licences.py`.

They are read from the metadata of what is installed here; run it where the extras are installed, too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "licences.md"

HEAD = """# Licences

soft-sed-eval is under the MIT licence ([LICENSE](../LICENSE)). It contains no code from others; the
documentation site has one script from others, `docs/javascripts/iframe-worker.js` (MIT). Pages that `report`
and `board` write contain plotly.js (MIT), which comes with the package plotly. The packages that are
installed have licences of their own, listed here as in their metadata (`python tools/make_licences.py`).
`pip-licenses` lists the packages that these need in turn.
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
        "## Required packages\n",
        _table(dict.fromkeys(needed, "")),
        "## Extras\n",
        _table({package: name for name, packages in extra.items() for package in packages}),
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
