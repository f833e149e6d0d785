"""A report of a validation: problems and their places as text, JSON, SARIF, or annotations for GitHub."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import quote

from sedeval_soft import __version__
from sedeval_soft.checks.placed_tables import SEVERITIES
from sedeval_soft.checks.validate import Validation
from sedeval_soft.errors import Problem, counted, visible
from sedeval_soft.report.escape import github_message, github_property, json_text
from sedeval_soft.tables.problem_codes import RULES

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render_validation(validation: Validation, form: str = "text") -> str:
    """Return a validation in one of the forms `VALIDATION_FORMATS`."""
    return VALIDATION_FORMATS[form](validation)


def _message(problem: Problem) -> str:
    mend = "" if "; expected " in problem.message else problem.mend  # the message has its own advice
    return visible(f"{problem.message}; {mend}" if mend else problem.message)


def _more(validation: Validation) -> str:
    """Return the number of problems that are not reported, by code."""
    more = Counter(validation.counts)
    more.subtract(problem.code for problem in validation.problems)
    return ", ".join(f"{number} {code}" for code, number in sorted(more.items()) if number)


def _text(validation: Validation) -> str:
    """Return a line for each problem, in the format of compilers, and a line of totals."""

    def path(name: str) -> str:
        """Return a path so that a line that begins with it is not a command to any reader."""
        return visible(f"./{name}" if name.startswith((":", "#")) else name)

    lines = []
    for p in validation.problems:
        place = ":".join(str(part) for part in (path(p.source), p.line, p.column) if part is not None)
        lines.append(f"{place}: {p.severity} {p.code}: {_message(p)}")
    if validation.more:
        lines.append(f"... and {validation.more} more: {_more(validation)}")
    lines += [f"mended: {visible(mend)}" for mend in validation.mends]
    numbers = [(validation.count(severity), severity) for severity in SEVERITIES]
    summary = ", ".join(counted(n, severity) for n, severity in numbers if n)
    verdict = "cannot be scored" if validation.count("error") else "can be scored"
    summary = f"{verdict}: {summary or 'no problems'}"
    if validation.form:
        rows = "rows without errors" if validation.count("error") else "rows"
        sizes = f"{rows}: {validation.rows}, files: {validation.files}, classes: {validation.classes}"
        summary += f" ({validation.form}; {sizes})"
    return "\n".join([*lines, f"{path(validation.source)}: {summary}"]) + "\n"


def _json(validation: Validation) -> str:
    sizes = {name: getattr(validation, name) for name in ("rows", "files", "classes")}
    document = {
        "schema": "soft-sed-eval-validation/1",
        "version": __version__,
        "source": validation.source,
        "form": validation.form or None,
        **sizes,
        **{f"{severity}s": validation.count(severity) for severity in SEVERITIES},
        "counts": dict(sorted(validation.counts.items())),
        "more": validation.more,
        "mends": validation.mends,
        "problems": [
            {"file": p.source, "line": p.line, "column": p.column,
             "code": p.code, "severity": p.severity, "text": p.message, "mend": p.mend}
            for p in validation.problems
        ],
    }  # fmt: skip
    return json_text(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _sarif(validation: Validation) -> str:
    """Return SARIF 2.1.0. Its columns are characters, ours are fields, which go to the properties."""
    used = {code: rule for code, rule in RULES.items() if code in validation.counts}
    rules = [
        {
            "id": code,
            "shortDescription": {"text": rule.meaning},
            "help": {"text": f"{rule.mend[:1].upper()}{rule.mend[1:]}."},
            "defaultConfiguration": {"level": rule.severity},
        }
        for code, rule in used.items()
    ]
    results = []
    for p in validation.problems:
        # A path from the root is not a reference.
        scheme = "file://" if p.source.startswith("/") else ""
        location: dict[str, Any] = {"artifactLocation": {"uri": scheme + quote(p.source)}}
        if p.line is not None:
            location["region"] = {"startLine": p.line}
        results.append(
            {
                "ruleId": p.code,
                "ruleIndex": [*used].index(p.code),
                "level": p.severity,
                "message": {"text": _message(p)},
                "locations": [{"physicalLocation": location}],
                **({} if p.column is None else {"properties": {"field": p.column}}),
            }
        )
    driver = {"name": "soft-sed-eval", "semanticVersion": __version__}
    run = {
        "tool": {"driver": {**driver, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"counts": dict(sorted(validation.counts.items())), "more": validation.more},
    }
    return json_text(json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2)) + "\n"


def _github(validation: Validation) -> str:
    """Return workflow commands that annotate the lines of files in a pull request."""
    lines = []
    for p in validation.problems:
        properties = {"file": p.source, "line": p.line, "title": p.code}
        given = ",".join(f"{key}={github_property(str(v))}" for key, v in properties.items() if v is not None)
        level = "notice" if p.severity == "note" else p.severity
        lines.append(f"::{level} {given}::{github_message(_message(p))}\n")
    if validation.more:
        lines.append(f"::notice title=more problems::{github_message(_more(validation))}\n")
    return "".join(lines)


VALIDATION_FORMATS = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
