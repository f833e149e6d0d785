"""The PSD-ROC, reliability diagrams, and scores over thresholds of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.errors import SettingsError
from sedeval_soft.names import did_you_mean
from sedeval_soft.plotting.look import Look
from sedeval_soft.plotting.needs import family_for
from sedeval_soft.plotting.panels import Line, Plan, draw_panels, say_nothing, strokes, unit_of
from sedeval_soft.plotting.sheet import Entry, Sheet
from sedeval_soft.plotting.subject import Subject, Subjects

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

_EDGE = 0.02


def draw_psd_roc(subjects: Subjects, look: Look) -> Figure:
    """Draw the effective true positive rate over effective false positives per hour; the area is PSDS."""
    from matplotlib.lines import Line2D

    end = subjects.settings.criterion("max_efpr")
    styles = strokes(2 * len(subjects.systems))
    entries: list[Entry] = []
    lines: list[tuple[Floats, Floats, dict[str, Any]]] = []
    notes = []
    for system in subjects.systems:
        curves = system.curves
        for roc, of in ((curves.psd_roc, "PSDS"), (curves.pi_psd_roc, "piPSDS")):
            if roc is None:
                continue
            if not np.isfinite(roc.etpr).any():
                notes.append(f"{system.name}: no class has a reference, so there is no {of}.")
                continue
            style = {**styles[len(lines)], "marker": "none"}
            lines.append((np.append(roc.efpr, end), np.append(roc.etpr, roc.etpr[-1]), style))
            entries.append(Entry(Line2D([], [], **style), system.name, f"{of} {roc.value:.3f}"))
    width = look.inches()
    sheet = Sheet(look, width, min(0.72 * width, 3.6 * unit_of()), notes=notes)
    figure, (axes,) = sheet.laid_out(entries)
    axes.set(xlim=(0, end), ylim=(-_EDGE, 1 + _EDGE))
    axes.set_xlabel("effective false positives per hour")
    axes.set_ylabel("effective true positive rate")
    axes.grid(True)
    for x, y, style in lines:
        axes.plot(x, y, drawstyle="steps-post", **style)
    if not lines:
        say_nothing(axes)
    return figure


def draw_reliability(subjects: Subjects, look: Look) -> Figure:
    """Draw the mean of the reference over that of the system's values, bin by bin."""
    family = family_for("reliability", subjects.settings)
    stem, kind = ".".join(family), 1 if subjects.wish.binning == "mass" else 0
    bins = {system.name: system.curves.reliability.get(stem, {}) for system in subjects.systems}

    def line(system: Subject, label: str | None) -> Line | None:
        found = bins[system.name].get(label) if label is not None else None
        if found is None:
            return None
        error = system.value(f"{stem}.{_ERRORS[kind]}[{label}]")
        return Line(
            found[kind].score, found[kind].reference, "marked", "\u2013" if error is None else f"{error:.3f}"
        )

    def frame(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#b0b0b0", linestyle="-", linewidth=0.6 * unit_of(), zorder=1)
        axes.grid(True)
        axes.set(xlim=(-_EDGE, 1 + _EDGE), ylim=(-_EDGE, 1 + _EDGE))

    heading = ("expected calibration error", "adaptive calibration error")[kind]
    of = "mean of the reference" if family[1] == "soft" else "share active in the reference"
    labels = (f"mean of the system's values ({family[0]}s)", of)
    return draw_panels(subjects, look, Plan(line, frame, labels, heading=heading, square=True))


_ERRORS = ("expected_calibration_error", "adaptive_calibration_error")


def draw_sweep(subjects: Subjects, look: Look) -> Figure:
    """Draw scores over thresholds of the reference."""
    from matplotlib.lines import Line2D

    several = len(subjects.systems) > 1
    names = _swept(subjects)
    pairs = [(system, name) for name in names for system in subjects.systems]
    entries, lines, undefined = [], [], []
    for (system, name), style in zip(pairs, strokes(len(pairs)), strict=True):
        sweep = system.scores.sweep
        values = np.array(
            [np.nan if v is None else v for v in (sweep.scores.get(name, ()) if sweep else ())],
            dtype=np.float64,
        )
        called = (f"{system.name}: {name}" if len(names) > 1 else system.name) if several else name
        if sweep is None or not np.isfinite(values).any():
            undefined.append(called)
            continue
        lines.append((np.array(sweep.thresholds), values, {**style, "linewidth": 0.7 * unit_of()}))
        entries.append(Entry(Line2D([], [], **lines[-1][2]), called))
    width = look.inches()
    notes = [f"Undefined: {', '.join(undefined)}."] if undefined else []
    sheet = Sheet(look, width, min(0.72 * width, 3.6 * unit_of()), notes=notes)
    figure, (axes,) = sheet.laid_out(entries)
    for x, y, style in lines:
        # Values are known at the marks only; the thin lines lead the eye.
        axes.plot(x, y, **style)
    rate = all(".error_rate." in name for name in names)
    axes.set(
        xlim=(0.05, 0.95),
        ylim=(-_EDGE, None if any("error_rate" in n or "n_ref" in n for n in names) else 1.02),
    )
    axes.set_xticks([k / 10 for k in range(1, 10)])
    axes.set_xlabel("threshold of the reference")
    axes.set_ylabel(names[0] if several and len(names) == 1 else "error rate" if rate else "score")
    axes.grid(True, axis="y")
    if not lines:
        say_nothing(axes)
    return figure


def _swept(subjects: Subjects) -> list[str]:
    """Return the names of the scores that are drawn; raises SettingsError for one that is not there."""
    known: dict[str, Any] = {}
    for system in subjects.systems:
        known |= {} if system.scores.sweep is None else dict.fromkeys(system.scores.sweep.scores)
    for name in subjects.wish.scores:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise SettingsError(f"--score {name} is not swept{hint}")
    found = [name for name in known if name.endswith(".f1.macro")]
    if len(subjects.systems) > 1:
        found = found[:1]
    return list(subjects.wish.scores) or found
