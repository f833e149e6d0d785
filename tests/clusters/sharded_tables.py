"""The sample's tables in shards."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

SAMPLES = Path(__file__).parents[2] / "sample_data"


def split(folder: Path, role: str, number: int, form: str = "tsv") -> list[Path]:
    """Write a table of the sample as so many shards; rows of a recording are in all of them."""
    head, *lines = (SAMPLES / f"{role}.tsv").read_text().splitlines(keepends=True)
    folder.mkdir(exist_ok=True)
    paths = []
    for k in range(number):
        path = folder / f"{role}-{k}.tsv"
        path.write_text(head + "".join(lines[k::number]))
        if form != "tsv":
            made = form_of(form).write(read_rows(path))
            path.unlink()
            path = path.with_suffix(f".{form}")
            path.write_bytes(made)
        paths.append(path)
    return paths


def sample(folder: Path, form: str = "tsv", numbers: tuple[int, int] = (3, 4)) -> tuple[str, str]:
    """Write both tables of the sample as shards; return the patterns that they fit."""
    for role, number in zip(("ref", "sys"), numbers, strict=True):
        split(folder, role, number, form)
    return f"{folder}/ref-*.{form}", f"{folder}/sys-*.{form}"
