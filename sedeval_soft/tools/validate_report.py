"""A validation as text, JSON, SARIF, or annotations of GitHub's: what is wrong with a table, and where."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sedeval_soft import __version__
from sedeval_soft.errors import Problem, Severity, counted, visible
from sedeval_soft.report.escape import github_message, github_property, json_text
from sedeval_soft.tables.problem_codes import RULES
from sedeval_soft.tools.validate_tables import SEVERITIES, Validation

SCHEMA = "soft-sed-eval-validation/1"

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_PAGE = "https://github.com/soft-sed-eval/soft-sed-eval/blob/main/docs/reference/codes.md"

_ANNOTATIONS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render_validation(validation: Validation, form: str = "text") -> str:
    """Return a validation in one of the forms `VALIDATION_FORMATS`."""
    return _FORMS[form](validation)


def _text(validation: Validation) -> str:
    """Return a line for each problem, as compilers write them, and one that sums up."""
    lines = [f"{_place(p)}: {p.severity} {p.code}: {_said(p)}" for p in validation.problems]
    if validation.more:
        lines.append(f"... and {validation.more} more: {_not_told(validation)}")
    lines += (f"mended: {visible(mend)}" for mend in validation.mends)
    return "\n".join([*lines, _summary(validation)]) + "\n"


def _said(problem: Problem) -> str:
    return visible(f"{problem.message}; {problem.mend}" if problem.mend else problem.message)


def _place(problem: Problem) -> str:
    parts = (_path(problem.source), problem.line, problem.column)
    return ":".join(str(part) for part in parts if part is not None)


def _path(name: str) -> str:
    """Return the path of a file so that a line that begins with it is no command to whatever reads it."""
    return visible(f"./{name}" if name.startswith((":", "#")) else name)


def _not_told(validation: Validation) -> str:
    told = [problem.code for problem in validation.problems]
    left = {code: number - told.count(code) for code, number in sorted(validation.counts.items())}
    return ", ".join(f"{number} {code}" for code, number in left.items() if number)


def _summary(validation: Validation) -> str:
    counts = [counted(n, s) for s in SEVERITIES if (n := validation.count(s))]
    sizes = f"rows: {validation.rows}, files: {validation.files}, classes: {validation.classes}"
    found = ", ".join(counts) or "no problems"
    return f"{_path(validation.source)}: {found}" + (
        f" ({validation.form}; {sizes})" if validation.form else ""
    )


def _json(validation: Validation) -> str:
    document = {
        "schema": SCHEMA,
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
    driver: dict[str, Any] = {
        "name": "soft-sed-eval",
        "semanticVersion": __version__,
        "informationUri": _PAGE,
        "rules": [
            {
                "id": code,
                "shortDescription": {"text": RULES[code].meaning},
                "help": {"text": f"{RULES[code].mend[:1].upper()}{RULES[code].mend[1:]}."},
                "helpUri": f"{_PAGE}#codes",
                "defaultConfiguration": {"level": RULES[code].severity},
            }
            for code in used
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(problem, used.index(problem.code), validation) for problem in validation.problems
        ],
        "properties": {"counts": dict(sorted(validation.counts.items())), "more": validation.more},
    }
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(problem: Problem, rule: int, validation: Validation) -> dict[str, Any]:
    from urllib.parse import quote

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
        "ruleIndex": rule,
        "level": problem.severity,
        "message": {"text": _said(problem)},
        "locations": [{"physicalLocation": location}],
    }
    if problem.column is not None:
        result["properties"] = {"field": problem.column}
    return result


def _github(validation: Validation) -> str:
    """Return workflow commands that annotate the lines of files in a pull request."""
    lines = [_annotation(problem, validation) for problem in validation.problems]
    if validation.more:
        lines.append(
            f"::notice title={github_property('more problems')}::{github_message(_not_told(validation))}"
        )
    return "".join(f"{line}\n" for line in lines)


def _annotation(problem: Problem, validation: Validation) -> str:
    properties: dict[str, object] = {"file": problem.source, "line": problem.line}
    span = _characters(problem, validation)
    if span is not None:
        properties |= {"col": span[0], "endColumn": max(span[0], span[1] - 1)}
    properties["title"] = problem.code
    given = ",".join(f"{name}={github_property(str(v))}" for name, v in properties.items() if v is not None)
    return f"::{_ANNOTATIONS[problem.severity]} {given}::{github_message(_said(problem))}"


def _characters(problem: Problem, validation: Validation) -> tuple[int, int] | None:
    """Return the first character of a problem's field and the one after its last; None where it has none."""
    if problem.line is None or problem.column is None:
        return None
    return validation.characters.get((problem.source, problem.line, problem.column))


_FORMS: dict[str, Callable[[Validation], str]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}

VALIDATION_FORMATS = tuple(_FORMS)
