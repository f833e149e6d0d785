"""Commands for results and their meaning: `merge`, `diff`, `explain` and `presets`."""

from __future__ import annotations

from functools import partial
from typing import Any

import click
from click.exceptions import Exit

import sedeval_soft as library
from sedeval_soft import api, report
from sedeval_soft.cli import options
from sedeval_soft.cli.command import argument, command, setting
from sedeval_soft.cli.output import Presentation, emit, progress

MERGE_EXAMPLES = """
  soft-sed-eval shard1/ref.tsv shard1/sys.tsv --save-tally 1.tally
  soft-sed-eval shard2/ref.tsv shard2/sys.tsv --save-tally 2.tally
  soft-sed-eval merge 1.tally 2.tally --ci
"""

EXPLAIN_EXAMPLES = """
  soft-sed-eval explain segment.soft.f1.macro
  soft-sed-eval explain event.optimal.f1 'segment.hard.recall[car]'
  soft-sed-eval explain intersection.hard.psds --format json
"""

PRESETS_EXAMPLES = """
  soft-sed-eval presets
  soft-sed-eval presets show dcase2019-task4 > mine.yaml
  soft-sed-eval ref.tsv sys.tsv --preset dcase2019-task4
  soft-sed-eval presets schema > settings.schema.json
"""

DIFF_EXAMPLES = """
  soft-sed-eval diff old.json new.json
  soft-sed-eval diff old.json new.json --tolerance 1e-9
  soft-sed-eval diff old.json new.json --score segment.soft.f1.macro
  soft-sed-eval ref.tsv sys.tsv --format json | soft-sed-eval diff old.json -
"""

CALLED = "0 done, 2 wrong call."


@command(
    MERGE_EXAMPLES,
    argument("TALLY...", "tallies", nargs=-1, required=True),
    *(setting("means"), *options.PARTS, *options.SURE, *options.RESULTS, *options.LIMITED),
    status=options.REQUIRED,
)
def merge(
    tallies: tuple[str, ...], asked: api.Request, limits: library.Limits, save_tally: str | None,
    **shown: Any,  # noqa: ANN401 - as `Presentation` takes them
) -> None:  # fmt: skip
    """Score tallies of --save-tally together, as if counted at once.

    The tallies must have the same settings and different files. The scores are the same to the last digit
    however the files were split, and in whatever order the tallies come.
    """
    view = Presentation(**shown)
    with progress(quiet=view.quiet) as show:
        names = {"names": view.names, "wanted": view.wanted, "averages": view.averages}
        scores, shard = api.score_tallies(tallies, asked, limits, progress=show, **names)
    save = partial(api.save_tally, save_tally, shard) if save_tally else None
    view.finish([scores], save=save)


@command(
    DIFF_EXAMPLES,
    argument("A"),
    argument("B"),
    click.Option(["--tolerance"], type=float, default=0.0, show_default=True, metavar="NUMBER",
        help="How much scores, and the ends of their intervals, may differ."),
    click.Option(["--score", "only"], multiple=True, metavar="NAME",
        help="Compare only this score, such as segment.soft.f1.macro. Repeatable.  [default: all]"),
    *options.result_forms(("text", "json"), help="For people, or for programs."),
    status="0 all scores are the same, 1 scores differ, 2 a file cannot be compared.",
)  # fmt: skip
def diff(a: str, b: str, tolerance: float, only: tuple[str, ...], form: str, output: str | None) -> None:
    """Compare two results of --format json, score by score.

    Also says which settings and inputs differ. Systems are paired by name; if each file has just one, these
    two are compared, whatever their names.
    """
    if a == b == "-":
        raise click.UsageError("Only one of A and B can be standard input.")
    report.refuse_replacing({"-o": output}, {"first file": a, "second file": b})
    from sedeval_soft.tools.diff import changes, changes_text, read_results

    results = read_results(a), read_results(b)
    document = changes(*results, (a, b), tolerance, only)
    emit(report.json_document(document) if form == "json" else changes_text(document), output)
    raise Exit(0 if document["same"] else 1)


@command(
    EXPLAIN_EXAMPLES,
    argument("SCORE...", "scores", nargs=-1, type=str),
    click.Option(["--format", "form"], type=click.Choice(("text", "json")), default="text", show_default=True,
        help="For people, or for programs."),
    status=CALLED,
)  # fmt: skip
def explain(scores: tuple[str, ...], form: str) -> None:
    """Explain scores: formula, source, and when they are undefined.

    Also says what other tools compute differently. SCORE is the name of a score, with or without its
    average, or what a table calls it (`KLD`, `f1`); it may be of a class (`[car]`) or a group
    (`@traffic`). Words of screens are also explained: `soft`, `optimal`, `macro`, `event`, `PSDS1`.
    """
    emit(report.explanations([name.strip() for name in scores], form) if scores else report.list_scores())


@command(PRESETS_EXAMPLES, cls=click.Group, status=CALLED, invoke_without_command=True)
@click.pass_context
def presets(ctx: click.Context) -> None:
    """List the settings of challenges that --preset takes.

    Of each: the challenge and its year, and the score that ranks systems. `published` lists the evaluators
    that challenges published.
    """
    if ctx.invoked_subcommand is None:
        from sedeval_soft.settings_files import list_presets

        emit(list_presets())


@command(PRESETS_EXAMPLES, argument("NAME", type=str), status=CALLED)
def show(name: str) -> None:
    """Print the settings of a preset as a file that --config takes, with their source."""
    from sedeval_soft.settings_files import text_of_preset

    emit(text_of_preset(name))


@command(PRESETS_EXAMPLES, status=CALLED)
def schema() -> None:
    """Print the JSON Schema of settings files, for editors that complete and check them."""
    from sedeval_soft.settings_files import schema_text

    emit(schema_text())


presets.add_command(show)
presets.add_command(schema)
