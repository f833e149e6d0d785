"""The request of one call, before any table is read: settings, further tables, and how tables are read."""

from __future__ import annotations

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sedeval_soft.api.evaluation import settings_for_scores, settings_of_points
from sedeval_soft.api.sources import is_points, limits_from, with_listed
from sedeval_soft.errors import EvaluationError, SettingsError
from sedeval_soft.fields import FIELDS, READING, RULES
from sedeval_soft.memory import memory_limited
from sedeval_soft.plan import without_effect
from sedeval_soft.settings import Settings, checked
from sedeval_soft.tables.limits import Limits, size_of

if TYPE_CHECKING:
    from sedeval_soft.evaluation.scores import Scores


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a call beside the two sides.

    - values: settings by name, which override `preset` and the file `config`; thresholds, files and regions
    may be paths.
    - reading: how tables are read, by the names of `fields.READING`.
    - durations, folds, by: tables, as for `evaluate`.
    - limits: the most that inputs may have, as `NAME=NUMBER`.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    reading: Mapping[str, Any] = field(default_factory=dict)
    preset: str | None = None
    config: str | None = None
    durations: str | None = None
    folds: str | None = None
    by: str | None = None
    limits: Sequence[str] = ()
    memory_limit: str | None = None

    @cached_property
    def below(self) -> dict[str, Any]:
        """The settings of the preset or of the settings file. It is read once: it may be a pipe."""
        if self.preset is self.config is None:
            return {}
        from sedeval_soft import settings_files as files

        if self.preset is not None and self.config is not None:
            extends = f"`extends: {files.checked_preset(self.preset)}` in {self.config} has both"
            raise SettingsError(f"--preset and --config are both given; expected one of them: {extends}")
        if self.config is not None:
            return files.load_settings(self.config)
        return files.load_preset(str(self.preset))

    @cached_property
    def rank_by(self) -> str | None:
        """The name of the score that ranks, if one is chosen."""
        name: str | None = self.values.get("rank_by") or self.below.get("rank_by")
        if not name:
            return name
        from sedeval_soft.report.requirements import parse_name

        return parse_name(name, self.computed)

    @property
    def tables(self) -> dict[str, str | None]:
        """Durations, folds and scenes, as the library takes them."""
        return {"durations": self.durations, "folds": self.folds, "by": self.by}

    @property
    def expected(self) -> dict[str, Any]:
        """What `validate` compares a table with: classes and files of the settings file, or of the preset."""
        below = self.below if self.config is not None else {}
        classes = below.get("classes")
        return {
            "files": self.values.get("files") or below.get("files"),
            "classes": None if classes is None else checked("classes", classes),
            "map": below.get("map"),
            "map_to": below.get("map_to"),
            "durations": self.durations,
            "preset": self.preset,
        }

    def settings(
        self, names: Sequence[str] = (), *, just: bool = False, averages: Sequence[str] = ()
    ) -> Settings:
        """Return the settings, with the measures and means that scores and averages of some names need.

        just: nothing but these scores is needed. Thresholds are tuned over the folds unless the call chooses
        otherwise. Raises SettingsError, and InputError for a file.
        """
        values, below = dict(self.values), {n: v for n, v in self.below.items() if n not in READING}
        both = below | values
        if both.get("thresholds") not in (None, *RULES) and "thresholds" in values:
            from sedeval_soft.settings_files import load_thresholds

            inclusive = bool(both.get("inclusive"))
            values["thresholds"] = load_thresholds(values["thresholds"], inclusive=inclusive)
        tuned = not just or any(".tuned." in name for name in names)
        if self.folds is not None and tuned and not (both.get("thresholds") or both.get("cross_tune")):
            values["cross_tune"] = "folds"
        if just and "only" not in values:
            values["only"] = tuple(dict.fromkeys(".".join(name.split(".")[:2]) for name in names))
        limits = Limits.of(self.limits)
        below = with_listed(below, limits)
        return settings_for_scores(names, None, values, below=below, averages=averages, limits=limits)

    def checked(
        self,
        names: Sequence[str] = (),
        *,
        beside: Sequence[str] = (),
        systems: Sequence[Any] = (),
        also: Sequence[str] = (),
        ranks: bool = False,
        **how: Any,  # noqa: ANN401 - as for `settings`
    ) -> Settings:
        """Return the settings for systems as `settings` does, and check them as `check` does.

        beside: names of further scores that are computed if they can be. ranks: the score that ranks is
        needed, too, if one is chosen.
        """
        names = [*names, *filter(None, [self.rank_by if ranks else None])]
        settings = settings_of_points(self.settings([*names, *beside], **how), systems)
        settings = replace(settings, rank_by=self.rank_by) if ranks else settings
        self.check(settings, names, points=any(map(is_points, systems)), also=also)
        return settings

    def check(
        self, settings: Settings, names: Sequence[str] = (), *, points: bool = False, also: Sequence[str] = ()
    ) -> None:
        """Raise SettingsError for scores that are not computed, and for settings that change none.

        settings: by which everything is computed that is shown. points: the system has operating points.
        also: settings that have an effect on something else.
        """
        from sedeval_soft.evaluation.scores import not_computed

        for name in names:
            reason = not_computed(name, settings, _option, points=points)
            if reason:
                raise SettingsError(f"{name} {reason}")
        given = (name for name, value in self.values.items() if value is not None and name not in also)
        for name, needed in without_effect(settings, given).items():
            raise SettingsError(f"{FIELDS[name].flag} has no effect in this call: it needs {needed}")

    def computed(self) -> list[str]:
        """Return the names of the scores that are computed, none where the settings are wrong."""
        from sedeval_soft.evaluation.scores import not_computed
        from sedeval_soft.measures.registry import score_names

        try:
            settings = self.settings()
        except EvaluationError:  # raised where the settings are used
            return []
        names = score_names(means=settings.means)
        return [name for name in names if not not_computed(name, settings, _option)]

    def with_doubts(self, scores: Scores) -> Scores:
        """Return scores with warnings of thresholds that were found on these tables, or by other settings."""
        path: str = self.values.get("thresholds", RULES[0])
        if path in RULES:
            return scores
        from sedeval_soft.evaluation.signature import doubts_of_tuning
        from sedeval_soft.settings_files import signature_of_thresholds

        doubts = doubts_of_tuning(path, signature_of_thresholds(path), scores.settings, scores.inputs)
        return replace(scores, warnings=(*scores.warnings, *doubts))

    def files(self, sides: Mapping[str, str | Sequence[str] | None]) -> dict[str, str | Sequence[str] | None]:
        """Return all files that are read, by their role: results must not replace them. sides: some."""
        rule, by, extended = self.values.get("thresholds"), self.by, list[str]()
        if self.config is not None and os.path.isfile(self.config):  # anything else can be read once only
            from sedeval_soft.settings_files import load_settings

            with contextlib.suppress(EvaluationError):  # raised where the settings are used
                load_settings(self.config, extended)
        return {
            **sides,
            "table of durations": self.durations,
            "table of folds": self.folds,
            "table of scenes": by if by and "{" not in by else None,
            "list of files": self.values.get("files"),
            "table of regions": self.values.get("regions"),
            "table of classes": self.values.get("map"),
            "file of thresholds": None if rule in RULES else rule,
            "settings file": self.config,
            **{f"settings file that {path} extends": other for path, other in pairwise(extended)},
        }

    @contextlib.contextmanager
    def opened(self) -> Iterator[Limits]:
        """Yield the limits of inputs, with how tables are read; memory is limited, too, until the end."""
        most = None if self.memory_limit is None else size_of(self.memory_limit)
        if self.memory_limit is not None and not most:
            expected = "expected one such as 4G or 512M"
            raise SettingsError(f"--memory-limit {self.memory_limit!r} is not a size; {expected}")
        with memory_limited(most):
            yield limits_from(Limits.of(self.limits), self.reading, self.below)


def _option(name: str, *values: str) -> str:
    """Return how a setting with some values is typed: `--only segment --only event`, `--set beta=2`."""
    flag = FIELDS[name].flag if name in FIELDS else f"--{name}"
    if values and FIELDS[name].seldom:
        return f"--set {shlex.quote(f'{name}={values[0]}')}"
    return " ".join(f"{flag} {shlex.quote(value)}" for value in values) or flag
