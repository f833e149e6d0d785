"""Write the table of all codes of problems into codes.md, from the registry."""

from __future__ import annotations

from pathlib import Path

from sedeval_soft.tables.problem_codes import RULES

MARK = "<!-- codes: made by `python docs/make/codes.py` -->\n"
PAGE = Path(__file__).parents[1] / "reference" / "codes.md"


def page(text: str) -> str:
    """Return the page with the table of codes below the mark."""
    lines = ["", "| code | severity | `evaluate`, `board` | meaning |", "|---|---|---|---|"]
    for code, rule in RULES.items():
        lines.append(f"| `{code}` | {rule.severity} | {_evaluated(code)} | {rule.meaning} |")
    return text[: text.index(MARK) + len(MARK)] + "\n".join(lines) + "\n"


def _evaluated(code: str) -> str:
    """Return what is done about a problem where the table is scored."""
    rule = RULES[code]
    if rule.severity == "error":
        return "refuse"
    if rule.misread is None:
        return "-"
    of = "recordings" if code == "early-end" else "rows"
    return "warn" if rule.misread == 0 else f"warn from {rule.misread:.0%} of the {of}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
