"""Answers to calls as other tools would have them: their options, their verbs, their lists of files.

Imported only where a call is wrong. Each answer names what does the same here.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import click

from sedeval_soft.core.paths import is_file, is_there
from sedeval_soft.core.peers import called
from sedeval_soft.core.visible import visible

_FIRST = "The reference is the first argument: soft-sed-eval REFERENCE SYSTEM."
_SECOND = "The system's output is the second argument: soft-sed-eval REFERENCE SYSTEM."
_PAIRS = (
    "{} is a list of pairs of files, as sed_eval's evaluator takes. Here REFERENCE and SYSTEM may be "
    "folders: put the references into one and the outputs into another, under the same names."
)
_FORM = "--format json (or csv, tsv, yaml, markdown, latex, junit) is the form of the results."

OPTIONS: dict[str, str] = {
    **dict.fromkeys(("reference", "ref", "gt", "ground_truth", "groundtruth", "reference_file"), _FIRST),
    **dict.fromkeys(("reference_event_list", "annotations", "truth", "r"), _FIRST),
    **dict.fromkeys(("system", "sys", "prediction", "predictions", "pred", "estimated", "est"), _SECOND),
    **dict.fromkeys(("estimated_event_list", "estimated_file", "hypothesis", "hyp", "detections"), _SECOND),
    **dict.fromkeys(("scores", "input", "i"), _SECOND),
    **dict.fromkeys(
        ("file_list", "file_pair_list"), "REFERENCE and SYSTEM may be folders of one table each."
    ),
    **dict.fromkeys(("json", "csv", "tsv", "yaml", "markdown", "latex", "xml", "junit", "f"), _FORM),
    **dict.fromkeys(("output_format", "fmt", "output_type", "form"), _FORM),
    **dict.fromkeys(("html", "web", "page"), "--report FILE writes a page of HTML."),
    **dict.fromkeys(("plot", "plots", "figure", "figures"), "soft-sed-eval plot draws figures."),
    **dict.fromkeys(
        ("metric", "metrics", "print", "m"),
        "--score NAME prints just one number, --list-scores all names; --measures adds groups of measures.",
    ),
    **dict.fromkeys(("fail_under", "min_f1", "assert", "min", "gate"), "--require 'NAME>=NUMBER' is a gate."),
    **dict.fromkeys(
        ("workers", "num_workers", "num_jobs", "n_jobs", "processes", "threads", "j"),
        "--jobs N counts large tables in N processes.",
    ),
    **dict.fromkeys(("memory", "max_memory", "mem"), "--memory-limit SIZE is the most memory to take."),
    **dict.fromkeys(
        ("metadata", "audio_durations", "duration", "durations_file", "lengths"),
        "--durations TSV is a table of filename and duration.",
    ),
    **dict.fromkeys(
        ("t",), "--threshold cuts values; --onset-collar and --offset-collar are tolerances of events."
    ),
    **dict.fromkeys(("v", "V"), "--version shows the version."),
    **dict.fromkeys(("h", "?"), "--help shows all options."),
    **dict.fromkeys(("verbose", "debug"), "All results are printed anyway; -q leaves out warnings."),
    **dict.fromkeys(("c",), "--config YAML is a file of settings; --classes names classes."),
    **dict.fromkeys(
        ("significance", "p_value", "pvalue", "test"), "Several SYSTEM are compared, with p-values."
    ),
    **dict.fromkeys(
        ("tune", "optimize", "optimise"), "soft-sed-eval tune finds thresholds for --thresholds."
    ),
}
"""By what other tools, and other programs, call an option: what to take here."""

WORDS: dict[str, str] = {
    **dict.fromkeys(("score", "eval", "run"), "soft-sed-eval REFERENCE SYSTEM scores; it needs no command."),
    **dict.fromkeys(
        ("compare", "rank", "test"),
        "soft-sed-eval REFERENCE SYSTEM SYSTEM... compares systems; it needs no command.",
    ),
    **dict.fromkeys(("leaderboard", "challenge", "site"), "soft-sed-eval board makes a leaderboard."),
    **dict.fromkeys(
        ("report", "html", "page"), "soft-sed-eval REFERENCE SYSTEM --report FILE writes a page."
    ),
    **dict.fromkeys(("check", "lint", "verify"), "soft-sed-eval validate finds all problems of an output."),
    **dict.fromkeys(
        ("threshold", "thresholds", "optimize", "optimise"), "soft-sed-eval tune finds thresholds of classes."
    ),
    **dict.fromkeys(
        ("list", "scores", "metrics"), "soft-sed-eval --list-scores prints the names of all scores."
    ),
    **dict.fromkeys(("figure", "figures", "draw"), "soft-sed-eval plot draws figures."),
    **dict.fromkeys(("preset", "config", "configs"), "soft-sed-eval presets lists settings of challenges."),
    **dict.fromkeys(("help",), "soft-sed-eval --help shows all options and commands."),
    **dict.fromkeys(("version",), "soft-sed-eval --version shows the version."),
}
"""By a word where a command might stand: what to take here."""

NUMBERS: dict[str, str] = {
    "--ci": "--ci takes a method; --replicates N says how often files are drawn anew.",
    "--folds": "--folds takes a table of filename and fold; --cross-tune K deals files into K parts.",
    "--durations": "--durations takes a table of filename and duration.",
}
"""By an option that may stand before a number, which it does not take: what does."""

_LOOKED_AT = 65536


def said(error: click.ClickException, arguments: Sequence[str]) -> str:
    """Return the message of a wrong call, with what another tool's option or verb is called here."""
    hint = ""
    if isinstance(error, click.NoSuchOption):
        hint = _of_option(error.option_name, error.ctx)
        if hint:
            # Options that look alike would lead elsewhere.
            error = click.NoSuchOption(error.option_name, ctx=error.ctx)
    else:
        hint = of_words(arguments)
    text = io.StringIO()
    error.show(text)
    # click lists choices behind tabs, which would be shown as escapes.
    told = text.getvalue().removesuffix("\n").replace("\n\t", "\n    ")
    return f"{told}\n{hint}" if hint else told


def of_words(arguments: Sequence[str]) -> str:
    """Return what to take where an argument is no file, but a verb, a number, or a list of files."""
    for option, value in pairwise(arguments):
        if option in NUMBERS and value.isdecimal() and not is_there(value):
            return NUMBERS[option]
    first = arguments[0] if arguments else ""
    if is_file(first):
        return _PAIRS.format(visible(first)) if len(arguments) == 1 and _has_pairs(Path(first)) else ""
    return "" if is_there(first) else WORDS.get(first.lower(), "")


def _of_option(name: str, context: click.Context | None) -> str:
    """Return what an option of another tool is called here, as far as the command has it."""
    plain = name.strip("-").replace("-", "_").lower()
    found = called(plain)
    if found is None:
        hint = OPTIONS.get(plain, "")
        ours = re.findall(r"--[a-z][a-z-]+", hint)
    else:
        ours = [_option(setting) for setting in found.settings]
        off = "=False" if ours[0].startswith("--no-") else ""
        whose = f"{found.whose()} {plain}{off} is {' and '.join(ours)} here{found.also()}."
        hint = whose[:1].upper() + whose[1:] if found.tool.endswith("s") else whose
    if context is None or context.command.name == "evaluate":
        return hint
    known = {flag for each in context.command.params for flag in each.opts}
    return hint if ours and known.issuperset(ours) else ""


def _option(setting: str) -> str:
    """Return the option that is a setting."""
    return f"--no-{setting}" if setting in ("onset", "offset") else f"--{setting.replace('_', '-')}"


def _has_pairs(path: Path) -> bool:
    """Return whether the first line of a file names two files, found beside it or from here."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(_LOOKED_AT).decode("utf-8").strip()
        fields = re.split(r"[\t,;]", line)
        return len(fields) == 2 and all(
            is_file(path.parent / name.strip()) or is_file(name.strip()) for name in fields
        )
    except (OSError, ValueError):
        return False
