"""Write the table of all codes of problems into codes.md, from the registry."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.core.codes import RULES

MARK = "<!-- codes: made by `python docs/make/codes.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "codes.md"


def page(text: str) -> str:
    """Return the page with the table of codes below the mark."""
    lines = ["", "| code | severity | meaning | mend |", "|---|---|---|---|"]
    for code, rule in RULES.items():
        lines.append(f"| `{code}` | {rule.severity} | {rule.meaning} | {rule.mend} |")
    return text[: text.index(MARK) + len(MARK)] + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
