"""The command `diagnose`: where a score went."""

from __future__ import annotations

import sys
from dataclasses import replace
from shutil import get_terminal_size
from typing import Any

from sedeval_soft.cli import options
from sedeval_soft.cli.options import QUIET, argument, command, option, refuse
from sedeval_soft.cli.output import check_files, each_of, emit, to_standard_output, warn
from sedeval_soft.cli.signed import sign
from sedeval_soft.fields import OUTPUT

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
    *options.seldom(
        (options.setting("threshold", type=options.number), options.setting("only")), "threshold", "only"
    ),
    *options.seldom(options.SURE, "ci"),
    *options.READ,
    option(OUTPUT, "--no-suggestions", is_flag=True, brief="Try no thresholds and no post-processing.",
        help="Try no other thresholds and no post-processing: that takes a dozen evaluations."),
    *options.result_forms(FORMS, metavar="FORM", brief="text, json, csv, tsv or markdown.",
        help="Form of the results: text, json, csv, tsv or markdown."),
    QUIET,
    *options.INTAKE,
)  # fmt: skip
def diagnose(reference: str, systems: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Say where a score went: what each kind of error costs.

    Every miss and every false alarm has one kind, and the shares of kinds add up to 1 - F. Of two systems it
    prints what each won where.
    """
    refuse((len(systems) > 2, "Expected one SYSTEM, or two to compare."))
    from sedeval_soft.apps.diagnosis import diagnose as diagnosed
    from sedeval_soft.apps.diagnosis.screen import WIDTH, render_diagnoses

    output, form = given["output"], given["form"]
    read = {"reference": reference, "table of durations": given["durations"], "list of files": given["files"]}
    check_files(
        {"-o": output}, read | each_of("system output", systems) | options.settings_files(given["config"])
    )
    with options.limits_of(given) as limits:
        settings = options.settings_of(given)
        settings = settings if settings.ci else replace(settings, ci="bootstrap")
        how: dict[str, Any] = {"durations": given["durations"], "limits": limits}
        how["suggestions"] = not given["no_suggestions"]
        diagnoses = [diagnosed(reference, system, settings=settings, **how) for system in systems]
    warn([text for each in diagnoses for text in each.scores.warnings], quiet=given["quiet"])
    screen: dict[str, Any] = {}
    if to_standard_output(output) and sys.stdout.isatty():
        screen = {"color": True, "width": max(get_terminal_size().columns, WIDTH)}
    emit(render_diagnoses(diagnoses, form, **screen), output)
    sign([each.scores for each in diagnoses], form, output, quiet=given["quiet"])
