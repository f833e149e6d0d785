"""Settings from files and options, and options that do not go together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

from sedeval_soft.tables.paths import is_file

if TYPE_CHECKING:
    from sedeval_soft.settings import Settings
    from sedeval_soft.tables.limits import Limits


def settings_of(
    given: dict[str, Any], asked: list[str], *, just: bool, curves: bool, folds: object = None
) -> Settings:
    """Join the settings file or preset and the options that were given, which win.

    asked: names of scores, whose groups of measures are computed; just: nothing but these is needed.
    curves: those are needed. folds: over which thresholds are tuned, unless something else is said.
    """
    from dataclasses import replace

    from sedeval_soft.fields import DEFAULT_ONLY, RULES
    from sedeval_soft.measures.registry import group_of
    from sedeval_soft.settings import GROUPS, Settings

    values = _from_files(given.pop("preset"), given.pop("config"))
    values |= {name: value for name, value in given.items() if value is not None and value != ()}
    if given.get("classes"):
        from sedeval_soft.settings_files import split_classes

        values["classes"] = split_classes(given["classes"])
    if isinstance(given.get("thresholds"), str) and given["thresholds"] not in RULES:
        from sedeval_soft.settings_files import load_thresholds

        values["thresholds"] = load_thresholds(given["thresholds"], inclusive=bool(values.get("inclusive")))
    families = [".".join(name.split(".")[:2]) for name in asked]
    if just and not given["only"]:
        values["only"] = tuple(dict.fromkeys(families))
    elif "only" not in values:
        # What must be met is evaluated beside what is printed anyway; PSDS is asked for in its own way.
        more = [f for f, name in zip(families, asked, strict=True) if "psds" not in name]
        values["only"] = (
            *DEFAULT_ONLY,
            *dict.fromkeys(f for f in more if f.split(".")[0] not in DEFAULT_ONLY),
        )
    if folds is not None and values.get("thresholds") is None and values.get("cross_tune") is None:
        values["cross_tune"] = "folds"
    settings = Settings.of(**values)
    needed = {*settings.measures, "curves"} if curves else {*settings.measures}
    if not given.get("measures"):
        needed |= {*map(group_of, asked)}
    return replace(settings, measures=tuple(group for group in GROUPS if group in needed))


def _from_files(preset: str | None, config: str | None) -> dict[str, Any]:
    """Return the settings of a preset or of a file, none where neither is given."""
    if preset is None and config is None:
        return {}
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.settings_files import checked_preset, load_preset, load_settings

    if preset is not None and config is not None:
        extends = f"`extends: {checked_preset(preset)}` in {config} has both"
        raise SettingsError(f"--preset and --config are given; expected one of them: {extends}")
    return load_settings(str(config)) if preset is None else load_preset(preset)


def settings_files(config: str | None) -> dict[str, str | None]:
    """Return the files that settings are read from, by what they are: results must not replace them."""
    found: tuple[str, ...] = ()
    if config is not None and is_file(config):  # anything else can be read once only
        from sedeval_soft.errors import EvaluationError
        from sedeval_soft.settings_files import files_of_settings

        with contextlib.suppress(EvaluationError):  # told where they are read to be used
            found = files_of_settings(config)
    extended = {f"settings file that {by} extends": path for by, path in pairwise(found)}
    return {"settings file": config, **extended}


@contextlib.contextmanager
def limits_of(given: dict[str, Any]) -> Iterator[Limits]:
    """Yield the limits of inputs, taken out of what was given; memory is limited, too, until the end."""
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.memory import memory_limited
    from sedeval_soft.tables.limits import Limits, size_of, with_columns

    limits, memory = Limits.of(given.pop("limits")), given.pop("memory_limit")
    limits = with_columns(limits, list(given.pop("columns", ())) or None)
    most = None if memory is None else size_of(memory)
    if memory is not None and not most:
        raise SettingsError(f"--memory-limit {memory!r} is not a size; expected one such as 4G or 512M")
    with memory_limited(most):
        yield limits


def check_wanted(names: list[str], settings: Settings, *, points: bool, parted: bool) -> None:
    """Refuse names of scores that are computed only when asked for, and were not.

    points: the system is one of operating points. parted: there are folds or groups of files, whose names
    are not known before they are read.
    """
    from sedeval_soft.cli.present import check_part
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.measures.names import ScoreName
    from sedeval_soft.measures.registry import group_of
    from sedeval_soft.plan import Plan

    plan = Plan.of(settings)
    for name in names:
        parsed = ScoreName.parse(name)
        basis, reading, measure = parsed.basis, parsed.reading, parsed.measure
        if not parted:
            check_part(parsed, settings)
        if measure == "pipsds" and not settings.psds_median_filters:
            raise SettingsError(f"{name} needs --psds-median-filters")
        if measure == "psds" and not plan.psds:
            raise SettingsError(f"{name} needs --psds NAME, or one of --alpha-ct, --alpha-st and --max-efpr")
        if group_of(name) not in ("", *settings.measures):
            if points:
                raise SettingsError(f"{name} needs values; --operating-point has lists of events without")
            left_out = f"is left out by --measures {' --measures '.join(settings.measures)}"
            needed = f"needs --measures {group_of(name)}"
            raise SettingsError(f"{name} {left_out if settings.measures else needed}")
        if measure.startswith("satisficed_") and settings.satisfice is None:
            raise SettingsError(f"{name} needs --satisfice 'MEASURE>=NUMBER'")
        if reading == "tuned" and not settings.tunes:
            raise SettingsError(f"{name} needs --thresholds, --cross-tune or --folds")
        if not (reading in plan.psds if "psds" in measure else plan.scores(basis, reading)):
            raise SettingsError(f"{name} is left out by --only {' --only '.join(settings.only)}")


def check_resampling(
    given: Mapping[str, Any], settings: Settings, *, runs: bool = False, chance: bool = False
) -> None:
    """Refuse options that shape intervals of one system, or of `runs` of it, where there are none.

    chance: whether there are chance levels, which have a seed, too.
    """
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.fields import STEERING

    # The confidence is that of intervals over runs, too.
    others = (*(["confidence"] if runs else []), *(["seed"] if chance else []))
    names = [name for name in STEERING if given.get(name) is not None and name not in others]
    if names and settings.ci is None:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in names)
        expected = "--runs has the jackknife's interval over runs" if runs else "expected --ci, too"
        raise SettingsError(f"{options}: there are no intervals from resampling files; {expected}")


def check_intervals(wanted: Sequence[str], settings: Settings) -> None:
    """Refuse intervals of scores for which the method is not valid, where nothing else is asked for."""
    if settings.ci is None:
        return
    from sedeval_soft.errors import SettingsError
    from sedeval_soft.evaluation.resample import skips_optimal
    from sedeval_soft.measures.names import ScoreName

    if not skips_optimal(settings):
        return
    optimal = [name for name in wanted if ScoreName.parse(name).reading == "optimal"]
    if optimal or all(part.endswith(".optimal") for part in settings.only):
        raise SettingsError(
            f"--ci jackknife is not valid for {', '.join(optimal) or 'optimal readings'}: best thresholds "
            "are not smooth in the files; use --ci bootstrap, or --fixed-thresholds"
        )


# Arguments and options that do not go together, whichever command they are of.


def move_rule(given: dict[str, Any]) -> None:
    """Let `--threshold` with a rule or a file be `--thresholds`; raises UsageError where both are given."""
    if not isinstance(given["threshold"], str):
        return
    if given["thresholds"] is not None:
        raise click.UsageError("--threshold with a rule or a file is --thresholds; both are given.")
    given |= {"threshold": None, "thresholds": given["threshold"]}


def check_once(paths: Sequence[str], argument: str) -> None:
    """Raise UsageError where a path is among those of an argument more than once."""
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{argument} {twice} is given twice; expected each once.")


def check_objective(objective: str | None, settings: Settings, folds: str | None) -> None:
    """Raise UsageError where something is to be tuned for, and nothing is tuned."""
    if objective and settings.cross_tune is None and not folds:
        raise click.UsageError("--objective is of --cross-tune, --folds and soft-sed-eval tune.")
