"""A validation as text, JSON, SARIF, or annotations of GitHub's: what is wrong with a table, and where."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from sedeval_soft import __version__
from sedeval_soft.errors import Problem, Severity, counted, visible
from sedeval_soft.report.escape import github_message, github_property, json_text
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tools.validate import Validation
from sedeval_soft.tools.validate_tables import SEVERITIES

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PAGE = "https://github.com/soft-sed-eval/soft-sed-eval/blob/main/docs/reference/codes.md"

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
"""GitHub's words for severities."""


def render_validation(validation: Validation, form: str = "text") -> str:
    """Return a validation in one of the forms `VALIDATION_FORMATS`."""
    return VALIDATION_FORMATS[form](validation)


def _message(problem: Problem) -> str:
    return visible(f"{problem.message}; {problem.mend}" if problem.mend else problem.message)


def _characters(problem: Problem, validation: Validation) -> tuple[int, int] | None:
    """Return the first character of a problem's field and the one after its last; None where it has none."""
    if problem.line is None or problem.column is None:
        return None
    return validation.characters.get((problem.source, problem.line, problem.column))


def _more(validation: Validation) -> str:
    """Return how many problems of which codes are not told."""
    codes = [problem.code for problem in validation.problems]
    more = {code: number - codes.count(code) for code, number in sorted(validation.counts.items())}
    return ", ".join(f"{number} {code}" for code, number in more.items() if number)


def _path(name: str) -> str:
    """Return the path of a file so that a line that begins with it is no command to whatever reads it."""
    return visible(f"./{name}" if name.startswith((":", "#")) else name)


def _text(validation: Validation) -> str:
    """Return a line for each problem, as compilers write them, and one that sums up."""
    lines = []
    for p in validation.problems:
        place = ":".join(str(part) for part in (_path(p.source), p.line, p.column) if part is not None)
        lines.append(f"{place}: {p.severity} {p.code}: {_message(p)}")
    if validation.more:
        lines.append(f"... and {validation.more} more: {_more(validation)}")
    lines += [f"mended: {visible(mend)}" for mend in validation.mends]
    numbers = [(validation.count(severity), severity) for severity in SEVERITIES]
    summary = ", ".join(counted(n, severity) for n, severity in numbers if n) or "no problems"
    if validation.form:
        sizes = f"rows: {validation.rows}, files: {validation.files}, classes: {validation.classes}"
        summary += f" ({validation.form}; {sizes})"
    return "\n".join([*lines, f"{_path(validation.source)}: {summary}"]) + "\n"


def _json(validation: Validation) -> str:
    document = {
        "schema": "soft-sed-eval-validation/1",
        "version": __version__,
        "source": validation.source,
        "form": validation.form or None,
        "rows": validation.rows,
        "files": validation.files,
        "classes": validation.classes,
        **{f"{severity}s": validation.count(severity) for severity in SEVERITIES},
        "counts": dict(sorted(validation.counts.items())),
        "more": validation.more,
        "mends": list(validation.mends),
        "problems": [
            {
                "file": problem.source,
                "line": problem.line,
                "column": problem.column,
                "characters": _characters(problem, validation),
                "code": problem.code,
                "severity": problem.severity,
                "text": problem.message,
                "mend": problem.mend,
            }
            for problem in validation.problems
        ],
    }
    return json_text(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _sarif(validation: Validation) -> str:
    """Return SARIF 2.1.0. Its columns are characters, ours are fields: the field goes to the properties."""
    used = [code for code in RULES if code in validation.counts]
    rules = [
        {
            "id": code,
            "shortDescription": {"text": RULES[code].meaning},
            "help": {"text": f"{RULES[code].mend[:1].upper()}{RULES[code].mend[1:]}."},
            "helpUri": f"{_PAGE}#codes",
            "defaultConfiguration": {"level": RULES[code].severity},
        }
        for code in used
    ]
    driver = {
        "name": "soft-sed-eval",
        "semanticVersion": __version__,
        "informationUri": _PAGE,
        "rules": rules,
    }
    results = []
    for problem in validation.problems:
        # A path from the root is no reference by itself.
        scheme = "file://" if problem.source.startswith("/") else ""
        location: dict[str, Any] = {"artifactLocation": {"uri": scheme + quote(problem.source)}}
        if problem.line is not None:
            location["region"] = {"startLine": problem.line}
            span = _characters(problem, validation)
            if span is not None:
                location["region"] |= {"startColumn": span[0], "endColumn": span[1]}
        result: dict[str, Any] = {
            "ruleId": problem.code,
            "ruleIndex": used.index(problem.code),
            "level": problem.severity,
            "message": {"text": _message(problem)},
            "locations": [{"physicalLocation": location}],
        }
        if problem.column is not None:
            result["properties"] = {"field": problem.column}
        results.append(result)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"counts": dict(sorted(validation.counts.items())), "more": validation.more},
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _github(validation: Validation) -> str:
    """Return workflow commands that annotate the lines of files in a pull request."""
    lines = []
    for problem in validation.problems:
        properties: dict[str, object] = {"file": problem.source, "line": problem.line}
        span = _characters(problem, validation)
        if span is not None:
            properties |= {"col": span[0], "endColumn": max(span[0], span[1] - 1)}
        properties["title"] = problem.code
        given = ",".join(f"{key}={github_property(str(v))}" for key, v in properties.items() if v is not None)
        lines.append(f"::{_LEVELS[problem.severity]} {given}::{github_message(_message(problem))}\n")
    if validation.more:
        title = github_property("more problems")
        lines.append(f"::notice title={title}::{github_message(_more(validation))}\n")
    return "".join(lines)


VALIDATION_FORMATS = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
