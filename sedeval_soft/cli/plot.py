"""`soft-sed-eval plot KIND REFERENCE SYSTEM... -o FILE`: figures for papers and talks."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.cli.options import (
    INTAKE,
    PARTS,
    PATH,
    QUIET,
    READ,
    SETTINGS,
    SURE,
    TUNING,
    GroupedCommand,
    add,
    number,
    option,
)
from sedeval_soft.cli.output import each_of, progress, refuse_overwriting, remark, to_standard_output
from sedeval_soft.cli.settings import (
    check_once,
    check_resampling,
    limits_of,
    move_rule,
    settings_files,
    settings_of,
)
from sedeval_soft.fields import DEFAULT_ONLY
from sedeval_soft.plots.registry import KINDS, OPTIONS, RESAMPLED, SUFFIXES, kinds_with

if TYPE_CHECKING:
    from sedeval_soft.tables.limits import Limits

SHOWN, LOOK = "What is shown", "How it looks"

EPILOG = """\b
Examples:
  soft-sed-eval plot matrix ref.tsv sys.tsv -o matrix.pdf
  soft-sed-eval plot pr ref.tsv sys.tsv sys_b.tsv -o pr.pdf
  soft-sed-eval plot classes ref.tsv sys.tsv --ci --sort score -o classes.svg
  soft-sed-eval plot timeline ref.tsv sys.tsv --file cafe.wav -o cafe.pdf
  soft-sed-eval plot surface ref.tsv sys.tsv --style talk -o surface.png

\b
Exit status: 0 done, 2 the call or the input is wrong.
"""


def _of(name: str) -> str:
    """Return of which kinds of figures a wish is, for the help."""
    return f"  [{', '.join(kinds_with(name))}]"


def _width(text: str) -> float | str:
    """Return inches, or how many columns of a paper."""
    return text if text in ("single", "double") else number(text)


WISHES = (
    option(SHOWN, "--class", "class_names", multiple=True, metavar="NAME",
           help="Draw this class only, in a panel of its own if there are several systems; scores stay those "
           "of all. Repeatable." + _of("class_names")),
    option(SHOWN, "--max-classes", type=click.IntRange(min=1), metavar="N",
           help="Draw the N classes with the largest reference at most." + _of("max_classes")),
    option(SHOWN, "--score", "scores", multiple=True, metavar="NAME",
           help="What is shown: MEASURE.AVERAGE of a matrix, BASIS.READING.MEASURE of classes (repeatable), "
           "BASIS.READING.MEASURE.AVERAGE of a sweep (repeatable).  [default: f1, macro]"),
    option(SHOWN, "--sort", type=click.Choice(("given", "name", "score", "size")),
           help="Order of classes." + _of("sort")),
    option(SHOWN, "--file", metavar="FILENAME", help="The recording that is shown." + _of("file")),
    option(SHOWN, "--start", type=number, metavar="SECONDS", help="From here on." + _of("start")),
    option(SHOWN, "--end", type=number, metavar="SECONDS", help="Up to here." + _of("end")),
    option(SHOWN, "--of", type=click.Choice(("segments", "files", "classes")),
           help="Which parts are the worst." + _of("of")),
    option(SHOWN, "--worst", type=click.IntRange(min=1), metavar="N",
           help="How many of the worst.  [default: 10]  [worst]"),
    option(SHOWN, "--binning", type=click.Choice(("width", "mass")),
           help="Bins of equal width, or of equally many segments.  [default: width]" + _of("binning")),
)  # fmt: skip

LOOKS = (
    option(LOOK, "-o", "--output", required=True, type=PATH, metavar="FILE",
           help="Where the figure goes; its form is what the name ends with: .pdf, .png or .svg. - is "
           "standard output, whose form is --format."),
    option(LOOK, "--format", "form", type=click.Choice(SUFFIXES), help="Form on standard output."),
    option(LOOK, "--style", default="paper", show_default=True, metavar="STYLE",
           help="paper, talk or poster; or the name or file of a style of matplotlib, over paper."),
    option(LOOK, "--width", type=_width, metavar="INCHES|single|double",
           help="Width: inches, or one or both columns of a paper.  [default: what suits the figure]"),
    option(LOOK, "--height", type=number, metavar="INCHES", help="Height.  [default: what suits the figure]"),
    option(LOOK, "--dpi", type=int, default=300, show_default=True, metavar="N", help="Dots per inch."),
    option(LOOK, "--title", metavar="TEXT", help="Title above the figure.  [default: none, as in papers]"),
    option(LOOK, "--name", "names", multiple=True, metavar="TEXT",
           help="What a system is called. Once for each, in their order.  [default: file names]"),
    QUIET,
)  # fmt: skip

_HELP = f"""Draw a figure of one or more systems, as papers and talks have them.

REFERENCE and SYSTEM are tables as `soft-sed-eval` takes them. KIND is one of

\b
{chr(10).join(f"  {name:12}  {kind.summary}" for name, kind in KINDS.items())}

Several systems are overlaid, one line each, or stand side by side. What cannot be drawn, such as curves of
a class without reference, is said in the figure.
"""


@click.command(cls=GroupedCommand, epilog=EPILOG, help=_HELP)
@click.argument("kind", metavar="KIND", type=click.Choice(tuple(KINDS)))
@click.argument("reference", metavar="REFERENCE", type=PATH)
@click.argument("systems", metavar="SYSTEM...", required=True, nargs=-1, type=PATH)
@add(WISHES, LOOKS, SETTINGS, TUNING, SURE, READ, PARTS[:1], INTAKE)
@click.pass_context
def plot(ctx: click.Context, /, kind: str, reference: str, systems: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Draw a figure; the help is made from the list of kinds."""
    move_rule(given)
    _check(ctx, kind, [reference, *systems], given)
    with limits_of(given) as limits:
        _plot(kind, reference, systems, given, limits)


def _check(ctx: click.Context, kind: str, read: Sequence[str], given: Mapping[str, Any]) -> None:
    """Refuse paths and options that do not go together."""
    if read.count("-") > 1:
        raise click.UsageError("Only one of REFERENCE and SYSTEM can be standard input.", ctx)
    systems = read[1:]
    check_once(systems, "SYSTEM")
    if given["names"] and len(given["names"]) != len(systems):
        raise click.UsageError(
            f"Expected a --name for each SYSTEM, {len(systems)}; found {len(given['names'])}.", ctx
        )
    if given["worst"] and kind != "worst":
        raise click.UsageError(f"--worst is of the kind worst; {kind} has no use for it.", ctx)
    if given["ci"] and kind not in RESAMPLED:
        raise click.UsageError(f"--ci: {kind} shows no intervals; expected {' or '.join(RESAMPLED)}.", ctx)
    if to_standard_output(given["output"]):
        if given["form"] is None:
            raise click.UsageError(f"-o {given['output']}: expected --format, {', '.join(SUFFIXES)}.", ctx)
        if sys.stdout.isatty():
            raise click.UsageError(f"-o {given['output']}: a figure is nothing for a terminal.", ctx)


def _plot(kind: str, reference: str, paths: Sequence[str], given: dict[str, Any], limits: Limits) -> None:
    """Evaluate, draw and write."""
    from sedeval_soft.api.plotting import names_of, scored_systems
    from sedeval_soft.plots.data import Wish
    from sedeval_soft.plots.registry import figure_of, rendered
    from sedeval_soft.plots.requirements import check_kind
    from sedeval_soft.plots.style import Look
    from sedeval_soft.report import write_atomic

    wish = Wish(**{name: given.pop(name) for name in OPTIONS})
    look = Look(**{name: given.pop(name) for name in ("style", "width", "height", "dpi", "title")})
    output, form, quiet = (given.pop(name) for name in ("output", "form", "quiet"))
    durations, folds, names = (given.pop(name) for name in ("durations", "folds", "names"))
    read: dict[str, str | None] = {"reference": reference, **each_of("system output", paths)}
    read |= {"table of durations": durations, "table of folds": folds, **settings_files(given["config"])}
    refuse_overwriting(output, read)
    form = _form(output, form)
    check_kind(kind, wish, len(paths))
    systems = dict(zip(names_of(paths, names or None), paths, strict=True))
    named_only = bool(given["only"])
    settings = settings_of(given, [], just=False, curves=False, folds=folds)
    # Of several systems a matrix has intervals, whether they are asked for or not.
    if not (kind == "matrix" and len(paths) > 1):
        check_resampling(given, settings)
    with progress(quiet=quiet) as show:
        scored = scored_systems(
            kind, reference, systems, settings, wish,
            default=settings.only == DEFAULT_ONLY and not named_only,
            durations=durations, folds=folds, limits=limits, progress=show,
        )  # fmt: skip
    if not quiet:
        for warning in dict.fromkeys(text for system in scored.all for text in system.scores.warnings):
            remark(f"warning: {warning}")
    data = rendered(figure_of(kind, scored, look), form, look, kind, scored)
    if to_standard_output(output):
        sys.stdout.buffer.write(data)
    else:
        write_atomic(output, data)


def _form(output: str, form: str | None) -> str:
    """Return the form of the figure; raises SettingsError where name and option say different things."""
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.plots.registry import form_of

    if to_standard_output(output):
        return str(form)
    named = form_of(output)
    if form not in (None, named):
        raise SettingsError(f"--format {form}: -o {output} ends with .{named}; expected one of them")
    return named
