"""The command `diagnose`: the causes of a lost score."""

from __future__ import annotations

import sys
from dataclasses import replace
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from sedeval_soft.cli import options
from sedeval_soft.cli.command import argument, command, option, refuse, setting
from sedeval_soft.cli.output import check_files, emit, sign, to_standard_output, warn
from sedeval_soft.fields import OUTPUT, STEERING

if TYPE_CHECKING:
    from sedeval_soft.api.request import Request

EXAMPLES = """
  soft-sed-eval diagnose ref.tsv sys.tsv
  soft-sed-eval diagnose ref.tsv old.tsv new.tsv
  soft-sed-eval diagnose ref.tsv sys.tsv --only event.hard --format json
"""

FORMS = ("text", "json", "csv", "tsv", "markdown")


@command(
    EXAMPLES,
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", nargs=-1, required=True),
    *options.seldom(options.COUNTING, "segment_length", "onset_collar", "offset_collar", "classes"),
    *options.seldom((setting("threshold"), setting("only")), "threshold", "only"),
    *options.seldom(options.SURE, "ci"),
    *options.READ,
    option(OUTPUT, "--no-suggestions", is_flag=True, brief="Try no thresholds and no post-processing.",
        help="Try no other thresholds and no post-processing: that takes a dozen evaluations."),
    *options.result_forms(FORMS, metavar="FORM", brief="text, json, csv, tsv or markdown.",
        help="Form of the results: text, json, csv, tsv or markdown."),
    options.QUIET,
    *options.INTAKE,
)  # fmt: skip
def diagnose(
    reference: str, systems: tuple[str, ...], asked: Request, no_suggestions: bool, form: str,
    output: str | None, quiet: bool,
) -> None:  # fmt: skip
    """Say where a score went: what each kind of error costs.

    Every miss and every false alarm has one kind, and the shares of kinds add up to 1 - F. For two systems it
    shows where each of them is better.
    """
    refuse((len(systems) > 2, "Expected one SYSTEM, or two to compare."))
    check_files({"-o": output}, asked.files({"reference": reference, "system output": systems}))
    from sedeval_soft.apps.diagnosis import diagnose as diagnosed
    from sedeval_soft.apps.diagnosis.screen import WIDTH, render_diagnoses

    with asked.opened() as limits:
        settings = asked.settings()
        asked.check(settings, also=STEERING)
        how: dict[str, Any] = {
            "durations": asked.durations,
            "limits": limits,
            "suggestions": not no_suggestions,
        }
        how["settings"] = settings if settings.ci else replace(settings, ci="bootstrap")
        diagnoses = [diagnosed(reference, system, **how) for system in systems]
    warn([text for each in diagnoses for text in each.scores.warnings], quiet=quiet)
    screen: dict[str, Any] = {}
    if to_standard_output(output) and sys.stdout.isatty():
        screen = {"color": True, "width": max(get_terminal_size().columns, WIDTH)}
    emit(render_diagnoses(diagnoses, form, **screen), output)
    sign([each.scores for each in diagnoses], form, output, quiet=quiet)
