"""Folders of submissions for tests: the sample's tables, and what strangers may hand in."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from sedeval_soft.tools.site import Site, build_site

SAMPLES = Path(__file__).parents[2] / "sample_data"
REFERENCE = SAMPLES / "ref.tsv"

HOSTILE = (
    "<script>alert(1)",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'; alert(1); '",
    "<title><style><b>",
    "{{ 7*7 }}{% raw %}",
    '=HYPERLINK("x")',
    "a\u202eb",
    "Ünïcödé 鳥",
    " ",
    "a..b",
    "con",
)
"""Names that something might obey; none has a `/`, which no name of a file can have."""


def submissions(folder: Path, *names: str) -> Path:
    """Make a folder of submissions with some of the sample's tables in it: sys, sys_b, events."""
    made = folder / "submissions"
    made.mkdir(parents=True)
    for name in names or ("sys", "sys_b", "events"):
        shutil.copy(SAMPLES / f"{name}.tsv", made)
    return made


def bad(path: Path) -> Path:
    """Write a table that cannot be scored, with a class that is markup."""
    rows = (
        "filename\tonset\toffset\tevent_label\tvalue",
        "cafe.wav\t1\t0\t<script>alert(1)</script>\t0.5",
        "cafe.wav\t1\t2\tcar\t0.5",
        "cafe.wav\t2\t3\tcar\t7",
    )
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def built(folder: Path, of: Path, **asked: Any) -> Site:
    """Build the site of some submissions in a folder, without reports unless these are asked for."""
    return build_site(of, REFERENCE, folder / "site", **{"reports": False, "replicates": 100, **asked})


def board_json(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "site" / "board.json").read_text(encoding="utf-8"))


def page(folder: Path, name: str = "index.html") -> str:
    return (folder / "site" / name).read_text(encoding="utf-8")


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file below a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
