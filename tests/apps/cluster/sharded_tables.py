"""The sample's tables in shards."""

from pathlib import Path

from called import SAMPLES


def shards(place: str, number: int = 3) -> dict[str, str]:
    """Return the text of shards of both tables by name; every shard has rows of each recording."""
    texts = {}
    for role in ("ref", "sys"):
        head, *lines = (SAMPLES / f"{role}.tsv").read_text().splitlines(keepends=True)
        texts |= {f"{place}{role}-{k}.tsv": head + "".join(lines[k::number]) for k in range(number)}
    return texts


def sample(folder: Path) -> tuple[str, str]:
    """Write both tables of the sample as shards; return a pattern for each table."""
    for name, text in shards(f"{folder}/").items():
        Path(name).write_text(text)
    return f"{folder}/ref-*.tsv", f"{folder}/sys-*.tsv"
