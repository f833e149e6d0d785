"""Where a table goes that a command has made: a file, a folder, or standard output."""

from __future__ import annotations

import sys
from typing import Any

import click

from sedeval_soft.cli.output import remark, to_standard_output


def hand_over(made: Any, output: str | None, *, force: bool, quiet: bool, **how: Any) -> None:  # noqa: ANN401
    """Write rows, or a table that is read first, where they are wanted, and say what the form loses.

    how: the arguments of `prepare`; without `to` standard output gets long TSV. force: what is there may be
    replaced. Raises SettingsError where a terminal would get what is no text.
    """
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.tools.convert import prepare, write

    printed = to_standard_output(output)
    target = "-" if printed or output is None else output
    prepared = prepare(made, target, **how)
    if printed:
        if not prepared.form.text and sys.stdout.isatty():
            raise SettingsError(
                f"{prepared.form.name} is no text for a terminal; expected the name of a file"
            )
        click.echo(prepared.content(), nl=False)
    else:
        write(prepared, target, force=force)
    if not quiet:
        for loss in prepared.conversion.losses:
            remark(f"warning: {prepared.form.name} loses {loss}")
