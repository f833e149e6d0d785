"""The sample's tables in shards."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.tables import read_rows
from sedeval_soft.tables.forms import form_of

SAMPLES = Path(__file__).parents[3] / "sample_data"


def parts_of(role: str, number: int) -> list[str]:
    """Return the text of so many shards of a table; rows of a recording are in all of them."""
    head, *lines = (SAMPLES / f"{role}.tsv").read_text().splitlines(keepends=True)
    return [head + "".join(lines[k::number]) for k in range(number)]


def sample(folder: Path, form: str = "tsv", numbers: tuple[int, int] = (3, 4)) -> tuple[str, str]:
    """Write both tables of the sample as shards; return the patterns that they fit."""
    folder.mkdir(exist_ok=True)
    for role, number in zip(("ref", "sys"), numbers, strict=True):
        for k, text in enumerate(parts_of(role, number)):
            path = folder / f"{role}-{k}.tsv"
            path.write_text(text)
            if form != "tsv":
                path.with_suffix(f".{form}").write_bytes(form_of(form).write(read_rows(path)))
                path.unlink()
    return f"{folder}/ref-*.{form}", f"{folder}/sys-*.{form}"
