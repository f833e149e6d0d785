"""`soft-sed-eval plot KIND REFERENCE SYSTEM... -o FILE`: figures for papers and talks."""

from __future__ import annotations

from typing import Any

import click

import sedeval_soft as library
from sedeval_soft import api, report
from sedeval_soft.apps.plots.registry import KINDS, RESAMPLED, kinds_with
from sedeval_soft.cli import options
from sedeval_soft.cli.command import PATH, Option, argument, command, number, number_or, refuse, setting
from sedeval_soft.cli.options import QUIET
from sedeval_soft.cli.output import progress, warn
from sedeval_soft.fields import DEFAULT_ONLY, OF_CURVES, STEERING

SHOWN, LOOK = "Content", "Layout"

EXAMPLES = """
  soft-sed-eval plot matrix ref.tsv sys.tsv -o matrix.pdf
  soft-sed-eval plot pr ref.tsv sys.tsv sys_b.tsv -o pr.pdf
  soft-sed-eval plot classes ref.tsv sys.tsv --ci --sort score -o classes.svg
  soft-sed-eval plot timeline ref.tsv sys.tsv --file cafe.wav -o cafe.pdf
  soft-sed-eval plot pr ref.tsv sys.tsv -o pr.tsv
"""


def _of(name: str) -> str:
    """Return the kinds of figures that have an option, for the help."""
    return f"  [{', '.join(kinds_with(name))}]"


WISHES = (
    Option(SHOWN, "--class", "class_names", multiple=True, metavar="NAME", brief="Draw only this class.",
           help="Draw only this class, in a panel of its own if there are several systems; averages are "
           "still over all classes. Repeatable." + _of("class_names")),
    Option(SHOWN, "--max-classes", type=click.IntRange(min=1), metavar="N",
           help="Draw at most N classes, those that are most active in the reference." + _of("max_classes")),
    Option(SHOWN, "--score", "scores", multiple=True, metavar="NAME",
           brief="Score that is shown, such as segment.soft.f1.",
           help="Score that is shown: MEASURE.AVERAGE in a matrix, BASIS.READING.MEASURE in classes "
           "(repeatable).  [default: f1, macro]"),
    Option(SHOWN, "--sort", type=click.Choice(("given", "name", "score", "size")),
           help="Order of classes." + _of("sort")),
    Option(SHOWN, "--file", metavar="FILENAME", brief="The recording of a timeline.",
           help="The recording that is shown." + _of("file")),
    Option(SHOWN, "--start", type=number, metavar="SECONDS", help="Show it from here on." + _of("start")),
    Option(SHOWN, "--end", type=number, metavar="SECONDS", help="Show it up to here." + _of("end")),
)  # fmt: skip

LOOKS = (
    Option(LOOK, "-o", "--output", required=True, type=PATH, metavar="FILE",
           brief="Where the figure goes: .pdf, .png, .svg, .tsv.",
           help="Where the figure goes. The end of the name says its form: .pdf, .png or .svg; .tsv or "
           ".parquet for the numbers of its curves."),
    Option(LOOK, "--width", type=number_or("single", "double"), metavar="INCHES|single|double",
           help="Width in inches, or that of one or both columns of a paper.  [default: what suits the "
           "figure]"),
    Option(LOOK, "--height", type=number, metavar="INCHES",
           help="Height in inches.  [default: what suits the figure]"),
    Option(LOOK, "--dpi", type=int, default=300, show_default=True, metavar="N", help="Dots per inch."),
    Option(LOOK, "--name", "names", multiple=True, metavar="TEXT",
           brief="Name of a system; once for each.",
           help="Name of a system; given once for each, in the same order.  [default: file names]"),
    QUIET,
)  # fmt: skip

_HELP = f"""Draw a figure of one or more systems, for papers and talks.

\b
KIND is one of
{chr(10).join(f"  {name:12}  {kind.summary}" for name, kind in KINDS.items())}

REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. Several systems are overlaid, one line each,
or stand side by side. A draft of the caption on standard error says what is not drawn, such as the curve of a
class that is not in the reference.
"""


@command(
    EXAMPLES,
    argument("KIND", type=click.Choice(tuple(KINDS))),
    argument("REFERENCE"),
    argument("SYSTEM...", "systems", required=True, nargs=-1),
    *(*WISHES, *LOOKS),
    *options.seldom(options.SETTINGS, "threshold", "only", "segment_length"),
    *(*options.TUNING, *options.SURE, setting("compat"), *options.seldom(options.READ, "preset")),
    *options.seldom((options.PARTS[0],)),
    options.POINTS,
    *options.INTAKE,
    help=_HELP,
)
def plot(
    kind: str, reference: str, systems: tuple[str, ...], asked: api.Request, limits: library.Limits,
    output: str, names: tuple[str, ...], quiet: bool,
    **shown: Any,  # noqa: ANN401 - the fields of `Wish`
) -> None:  # fmt: skip
    """Draw a figure; the help is made from the list of kinds."""
    data = output.endswith(OF_CURVES)
    curves = [name for name, each in KINDS.items() if each.group in ("curves", "calibration")]
    refuse(
        (len(asked.values.get("psds", ())) > 1, "--psds: a figure shows one; expected it once."),
        ("ci" in asked.values and kind not in RESAMPLED,
         f"--ci: {kind} shows no intervals; expected {' or '.join(RESAMPLED)}."),
        (data and kind not in curves, f"-o {output}: only {', '.join(curves)} have the numbers of curves."),
    )  # fmt: skip
    from sedeval_soft.apps.plots.run import Wish, figure_of, scored_systems
    from sedeval_soft.apps.plots.style import form_of

    wish = Wish(**shown)
    settings = asked.settings()
    how: dict[str, Any] = {"durations": asked.durations, "folds": asked.folds, "limits": limits}
    how["default"] = settings.only == DEFAULT_ONLY and "only" not in asked.values
    if not data:
        form_of(output)
    with progress(quiet=quiet) as show:
        scored = scored_systems(kind, reference, systems, names or None, settings, wish, progress=show, **how)
    # Of several systems a matrix has intervals, whether they are asked for or not; a timeline has events.
    sure = kind == "errors" or (kind == "matrix" and len(systems) > 1)
    asked.check(scored.settings, also=(*STEERING * sure, *["events"] * (kind == "timeline")))
    warn([text for system in scored.all for text in system.scores.warnings], quiet=quiet)
    if data:
        report.write_curves(output, {system.name: system.scores.curves for system in scored.all})
        return
    figure = figure_of(scored, output)
    if not quiet:
        click.echo(f"caption: {figure.get_label()}", err=True)
