"""The entry point and its group of commands; without a command's name it is `evaluate`.

Exit codes: 0 done; 1 a requirement was not met; 2 the call or the input is wrong.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NoReturn

import click
from click_default_group import DefaultGroup

from sedeval_soft import __version__
from sedeval_soft.cli.evaluate import evaluate
from sedeval_soft.cli.merge import merge
from sedeval_soft.cli.output import hold_streams, remark
from sedeval_soft.cli.tune import tune
from sedeval_soft.cli.validate import validate

PROGRAM = "soft-sed-eval"
DEBUG_VARIABLE = "SOFT_SED_EVAL_DEBUG"


class _Group(DefaultGroup):  # type: ignore[misc]  # untyped package
    """A group whose help is that of its default command, followed by the list of commands."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] REFERENCE SYSTEM...")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        evaluate.format_options(ctx, formatter)
        if len(self.commands) > 1:
            self.format_commands(ctx, formatter)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        evaluate.format_help_text(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        evaluate.format_epilog(ctx, formatter)


@click.group(
    cls=_Group, default="evaluate", default_if_no_args=False, context_settings={"max_content_width": 100}
)
@click.version_option(__version__, prog_name=PROGRAM)
def group() -> None:
    """Hold the commands together; the help comes from `evaluate`."""


group.add_command(evaluate)
group.add_command(merge)
group.add_command(tune)
group.add_command(validate)


def main() -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    hold_streams()
    try:
        code = group.main(prog_name=PROGRAM, standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        code = _say("interrupted", 130)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read us has gone: there is nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except MemoryError:
        code = _say("there is not enough memory for this input", 2)
    except Exception as error:
        code = _explain(error)
    _leave(code if isinstance(code, int) else 0)


def _leave(code: int) -> NoReturn:
    """End the process at once, all output written.

    Threads of pyarrow's that still let go of Python objects can abort an interpreter that is being taken
    down; and taking it down takes time.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.flush()
    os._exit(code)


def _say(message: str, code: int) -> int:
    remark(f"{PROGRAM}: {message}")
    return code


def _explain(error: Exception) -> int:
    """Print an error of the package as it is, any other as a defect; return the exit code."""
    from sedeval_soft.core.errors import EvaluationError

    if isinstance(error, EvaluationError):
        return _say(str(error), 2) if "\n" not in str(error) else _say(f"several problems:\n{error}", 2)
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        # Files are read and written elsewhere, by name: this is standard output.
        return _say(f"standard output: cannot be written: {error.strerror}", 2)
    if os.environ.get(DEBUG_VARIABLE):
        raise error
    return _say(
        f"defect: {type(error).__name__}: {error}\n"
        f"Please report it; {DEBUG_VARIABLE}=1 shows where it happened.",
        2,
    )
