"""Choose a presentation.

Every output carries the signature, the line that makes it repeatable. In csv and tsv it is the last
line and begins with `# `, so that the first line is the head that any reader expects; pandas reads it
with `comment="#"`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sedeval_soft.core.value import Scores, document

FORMATS = ("text", "json", "csv", "tsv", "markdown", "yaml")


def render(
    systems: Sequence[Scores], form: str = "text", *, color: bool = False, width: int | None = None
) -> str:
    """Return the scores of one or more systems as text in one of `FORMATS`.

    color, width: draw the tables of `text` for a terminal so many cells wide.
    """
    if form == "text":
        from sedeval_soft.report.text import text

        return text(systems, color=color, width=width)
    if form == "markdown":
        from sedeval_soft.report.markdown import markdown

        return markdown(systems)
    if form in {"csv", "tsv"}:
        from sedeval_soft.report.delimited import delimited

        return delimited(systems, "," if form == "csv" else "\t")
    if form == "json":
        import msgspec

        # What is not finite would become null, as what is undefined is: NaN cannot get out.
        return msgspec.json.format(msgspec.json.encode(document(systems)), indent=2).decode() + "\n"
    if form == "yaml":
        import yaml

        return str(yaml.safe_dump(document(systems), sort_keys=False, allow_unicode=True, width=10**6))
    raise ValueError(f"{form!r} is not one of {', '.join(FORMATS)}")
