r"""Choose a presentation.

Every output carries the signature, the line that makes it repeatable; `delimited` says how csv and tsv do.
Every output can be encoded: a byte of a file's name that is no text is shown as `\udcff`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sedeval_soft.core.value import Scores, document
from sedeval_soft.report.averages import with_averages

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml")


def render(
    systems: Sequence[Scores],
    form: str = "text",
    *,
    averages: Collection[str] = (),
    color: bool = False,
    width: int | None = None,
) -> str:
    """Return the scores of one or more systems as text in one of `FORMATS`.

    averages: show only these of `micro`, `macro` and `weighted`; all if none is named.
    color, width: draw the tables of `text` for a terminal so many cells wide (None: as wide as they are).
    Raises ValueError for another form or average, or for no system.
    """
    if not systems:
        raise ValueError("there is no system to show")
    if averages:
        systems = [with_averages(scores, averages) for scores in systems]
    if form == "text":
        from sedeval_soft.report.text import text

        return text(systems, color=color, width=width)
    if form == "markdown":
        from sedeval_soft.report.markdown import markdown

        return markdown(systems)
    if form in {"csv", "tsv"}:
        from sedeval_soft.report.delimited import delimited

        return _encodable(delimited(systems, "," if form == "csv" else "\t"))
    if form == "json":
        import msgspec

        return msgspec.json.format(_json(systems), indent=2).decode() + "\n"
    if form == "yaml":
        return _yaml(systems)
    raise ValueError(f"{form!r} is not one of {', '.join(FORMATS)}")


def _json(systems: Sequence[Scores]) -> bytes:
    """Return the JSON document. What is not finite becomes null, as what is undefined is: no NaN gets out."""
    import msgspec

    whole = document(systems)
    try:
        return msgspec.json.encode(whole)
    except UnicodeEncodeError:
        return msgspec.json.encode(_cleaned(whole))


def _yaml(systems: Sequence[Scores]) -> str:
    """Return the very document that JSON has, so that the two cannot differ, as YAML."""
    import msgspec
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes what is not printable: PyYAML writes U+0085 so that it reads back as a blank."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = None if value.isprintable() else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    same = msgspec.json.decode(_json(systems))
    return str(yaml.dump(same, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10**6))


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    """Return a part of a document with every text in it encodable."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, dict):
        return {key: _cleaned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
