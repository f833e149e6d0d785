"""`soft-sed-eval validate SYSTEM...`: all that is wrong with a table, without scoring it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click
from click.exceptions import Exit

from sedeval_soft.cli import options
from sedeval_soft.cli.options import FILE, PATH, GroupedCommand, epilog, option, refuse
from sedeval_soft.cli.output import check_files, each_of, emit, to_standard_output
from sedeval_soft.fields import OUTPUT

EXAMPLES = """
  soft-sed-eval validate sys.tsv
  soft-sed-eval validate sys.tsv --reference ref.tsv --durations durations.tsv
  soft-sed-eval validate sys.tsv --preset dcase2019-task4 --format github
  soft-sed-eval validate sys.tsv --reference ref.tsv --fix mended.tsv
  soft-sed-eval validate *.tsv --strict
"""

FORMATS = ("text", "json", "sarif", "github")

_HELD = "What the table is held against"

VALIDATE = (
    click.Argument(["systems"], metavar="SYSTEM...", nargs=-1, required=True, type=PATH),
    option(_HELD, "--reference", type=PATH, metavar="REFERENCE",
           help="Table that it will be scored against: names of files and classes, lengths of recordings."),
    option(_HELD, "--durations", type=PATH, metavar="TSV", help="Table of filename and duration."),
    option(_HELD, "--preset", metavar="NAME",
           help="Challenge whose classes there can be, as `soft-sed-eval presets` lists them."),
    option(_HELD, "--config", type=FILE, metavar="YAML",
           help="File of settings; its `classes` are the allowed ones."),
    option(OUTPUT, "--max-problems", type=click.IntRange(min=1), default=100, show_default=True, metavar="N",
           help="How many problems are told; all are counted."),
    option(OUTPUT, "--strict", is_flag=True, help="Exit with 1 for warnings and notes, too."),
    option(OUTPUT, "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
           help="Form of the report: for people, for programs, for code scanning, for GitHub Actions."),
    option(OUTPUT, "-o", "--output", type=PATH, metavar="FILE",
           help="Write the report to a file; it is complete or not touched."),
    option(OUTPUT, "--fix", type=PATH, metavar="FILE",
           help="Write a corrected copy, with safe corrections only; report these, and the problems that "
           "remain."),
    *options.INTAKE,
)  # fmt: skip


@click.command(
    cls=GroupedCommand,
    params=[*VALIDATE],
    epilog=epilog(EXAMPLES, "0 no errors, 1 errors (with --strict: any problem), 2 cannot be validated."),
)
def validate(systems: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Find all problems of a system's output: not just the first, and more than stops its scoring.

    SYSTEM is a table or a folder as `soft-sed-eval` takes them; several are looked at one by one. Errors
    cannot be scored; what a warning is about is scored, but is probably not what was meant.
    """
    from sedeval_soft.tools.validate import render_validation
    from sedeval_soft.tools.validate import validate as validated

    _check_call(systems, given)
    how = {name: given[name] for name in ("durations", "preset", "max_problems", "fix")}
    with options.limits_of(given) as limits:
        classes = _classes(given["config"])
        results = [
            validated(system, given["reference"], classes=classes, limits=limits, **how) for system in systems
        ]
    emit("".join(render_validation(result, given["form"]) for result in results), given["output"])
    raise Exit(1 if any(not result.ok or (given["strict"] and result.counts) for result in results) else 0)


def _check_call(systems: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """Raise UsageError or SettingsError for paths and options that do not go together."""
    several, form, output, fix = len(systems) > 1, given["form"], given["output"], given["fix"]
    refuse(
        (
            given["preset"] and given["config"],
            "--preset and --config both set classes; expected one of them.",
        ),
        (
            [*systems, given["reference"]].count("-") > 1,
            "Only one of SYSTEM and --reference can be standard input.",
        ),
        (several and fix is not None, "--fix is of one SYSTEM: it writes one copy."),
        (
            several and form in {"json", "sarif"},
            f"--format {form} is a document of one SYSTEM; expected text or github.",
        ),
        (
            fix is not None and to_standard_output(fix),
            "--fix writes a file; standard output has the report.",
        ),
        (
            fix and output and os.path.realpath(output) == os.path.realpath(fix),
            "-o and --fix write one file; expected two.",
        ),
    )
    read = {"reference": given["reference"], "table of durations": given["durations"]}
    read |= each_of("system output", systems) | options.settings_files(given["config"])
    check_files({"-o": output, "--fix": fix}, read)


def _classes(config: str | None) -> tuple[str, ...] | None:
    """Return the classes that a settings file names, None where it names none."""
    if config is None:
        return None
    from sedeval_soft.settings import Settings
    from sedeval_soft.settings_files import load_settings

    return Settings.of(**load_settings(config)).classes
