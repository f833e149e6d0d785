"""Measures, families of measures, and undefined values in averages over classes.

Each measure is one object: columns of tables, `explain`, the docs' tables and hints at misspelt names are
made from it.

Undefined values are NaN inside the package and None in its output. Arrays have the classes last; axes before
them (replicates) are kept.

A system cannot take a class out of an average:

- Macro averages leave out a class without reference (n_ref = 0), whatever its value.
- A value left undefined by the system's output counts as the worst value, `Measure.missing`. Examples:
  precision of a class that was never detected, a correlation with values that are all the same.
- A value left undefined by the reference alone is -inf in measures with such a `missing`, and is left out: a
  correlation with a constant reference. In measures without `missing`, every NaN is such a value.
- An average over no class is undefined.
- Harmonic and geometric means leave out and count the same classes as the macro average; a 0 among them makes
  them 0. Only measures from 0 up with "higher is better" have these means: one class without errors would
  hide all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np

from sedeval_soft.arrays import Array, Floats
from sedeval_soft.settings import CLASS_MEANS

Direction = Literal["higher", "lower", "none"]


class Averaged(NamedTuple):
    """Values of one measure: all classes and their averages; None for an average that has no meaning.

    - classes: (..., n_classes). micro, macro, weighted: (...).
    - overall: (...) of a measure that is not an average but defined over all classes together.
    - n_ref: (..., n_classes) the reference by which averages are weighted, None without averages.
    - missing: the value that an undefined value (NaN) of a class counts in averages.
    - harmonic, geometric: (...), computed on demand.
    - levels: the number of levels that a soft reading is averaged over, and the number of distinct levels.
    """

    classes: Array | None
    micro: Array | None = None
    macro: Array | None = None
    weighted: Array | None = None
    overall: Array | None = None
    n_ref: Array | None = None
    missing: float | None = None
    levels: tuple[int, int] | None = None

    @property
    def harmonic(self) -> Array | None:
        """The harmonic mean over the classes of the macro average, (...)."""
        return self._mean("harmonic")

    @property
    def geometric(self) -> Array | None:
        """The geometric mean over the classes of the macro average, (...)."""
        return self._mean("geometric")

    def first(self) -> Averaged:
        """Return the values of the first weights of arrays (n_weights, ...)."""
        columns = {name: of[0] for name, of in self._asdict().items() if isinstance(of, np.ndarray)}
        return self._replace(**columns)

    def _mean(self, kind: str) -> Array | None:
        if self.classes is None or self.n_ref is None:
            return None
        return mean_of(kind, self.classes, self.n_ref > 0, self.missing)


Table = dict[str, Averaged]
"""The values of measures by name."""

Tables = dict[tuple[str, str], Table]
"""The tables of each basis and reading."""


WeightedTables = Callable[[Floats], Tables]
"""Returns the tables of weighted files, (n_weights, ...); weights: (n_weights, n_owners), whole numbers."""


def ratio(numerator: Array, denominator: Array) -> Floats:
    """Divide; NaN (undefined) if the denominator is 0."""
    # Beside a size of 1e-300 a quotient may be too large for a float: infinite, and so undefined when shown.
    with np.errstate(over="ignore"):
        quotient: Floats = np.asarray(numerator / np.where(denominator, denominator, np.nan))
    return quotient


def mean_of(kind: str, values: Array, weight: Array, undefined: float | None = None) -> Floats:
    """Return a mean over the last axis, (...): `mean`, `harmonic` or `geometric`; NaN without values.

    values: (..., n); NaN and -inf are left out. weight: (..., n) how often each counts. undefined: the value
    that NaN counts, None to leave NaN out. The mean of no value is then -inf: only the reference makes values
    -inf.

    Harmonic and geometric means take values from 0 up, and are 0 if a value that counts is 0. Means of equal
    values are exactly that value, and no mean is beyond the smallest or largest value.
    """
    values, weight = np.broadcast_arrays(np.asarray(values, dtype=np.float64), weight)
    if undefined is not None:
        values = np.where(np.isnan(values), undefined, values)
    counted = (weight > 0) & (values > -np.inf)
    weight = np.where(counted, weight, 0.0)
    total = weight.sum(axis=-1)
    if kind == "mean":
        mean = ratio((np.where(counted, values, 0.0) * weight).sum(axis=-1), total)
        return mean if undefined is None else np.where(np.isnan(mean), -np.inf, mean)
    least = np.where(counted, values, np.inf).min(axis=-1, initial=np.inf)
    most = np.where(counted, values, -np.inf).max(axis=-1, initial=-np.inf)
    known = np.isfinite(least) & (least > 0)
    unit = np.where(known, least, 1.0)
    some = np.where(counted & known[..., None], values, unit[..., None])
    if kind == "harmonic":
        # Divided by the smallest, so that no inverse is too large; infinite values add nothing beside it.
        with np.errstate(over="ignore"):
            mean = unit * ratio(total, (weight / (some / unit[..., None])).sum(axis=-1))
    else:
        mean = np.exp(ratio((weight * np.log(some)).sum(axis=-1), total))
    mean = np.clip(mean, np.where(known, least, 0.0), np.where(known, most, np.inf))
    none = np.nan if undefined is None else -np.inf
    return np.where(total > 0, np.where(least > 0, mean, 0.0), none)


def averaged(classes: Array, micro: Array | None, n_ref: Array, undefined: float | None = None) -> Averaged:
    """Complete the values of classes and their micro average by macro and weighted ones.

    The macro average is the mean over classes with a reference. Both means are taken at once: small
    evaluations make hundreds of them.
    """
    n_ref = np.asarray(n_ref)
    weight = np.array((n_ref > 0, n_ref), dtype=np.float64)
    weight = weight.reshape(2, *(1,) * (classes.ndim - n_ref.ndim), *n_ref.shape)
    by_class, by_reference = mean_of("mean", classes, weight, undefined)
    return Averaged(classes, micro, by_class, by_reference, n_ref=n_ref, missing=undefined)


class Measure(NamedTuple):
    """One measure: its name, its formula as text and as code, and its description.

    - name: as in score names. summary: one line. formula: in the letters of `explanation`.
    - value: the formula, applied to the statistics of classes or of all classes pooled; NaN if undefined.
      None if all measures of a family are computed together, as for curves.
    - low, high: the range, None if unbounded. direction: which way is better, `none` for counts.
    - undefined: the case without a value.
    - missing: the worst value, counted in averages for a value left undefined by the system's output; None if
      there cannot be one.
    - source: the publication that defined it.
    - averages: its averages, beside the value of each class. has_classes: whether single classes have a
      value. has_part_means: whether it has means over files and scenes: not if the system's output decides
      which of them have a value.
    - short: its name in the head of a column. aliases: names in other tools. table: its table, see
      `report.page`.
    - needs: an option that computes it, besides the options of its family.
    - exact: whether every digit is shown.
    - letters: letters of its formula with another meaning than in other formulas.
    """

    name: str
    summary: str
    formula: str
    value: Callable[[Any], Array] | None = None
    low: float | None = 0.0
    high: float | None = 1.0
    direction: Direction = "higher"
    undefined: str = "never"
    missing: float | None = None
    source: str = "this project"
    averages: tuple[str, ...] = ("micro", "macro", "weighted")
    has_classes: bool = True
    has_part_means: bool = True
    short: str = ""
    aliases: tuple[str, ...] = ()
    table: str = ""
    needs: str = ""
    exact: bool = False
    letters: Mapping[str, str] = {}

    @property
    def best(self) -> float | None:
        """Return the value of a perfect system, None for counts and thresholds."""
        return {"higher": self.high, "lower": self.low, "none": None}[self.direction]

    @property
    def means(self) -> tuple[str, ...]:
        """Return the averages over classes that the measure has on demand."""
        return CLASS_MEANS if "macro" in self.averages and self.has_mean("harmonic") else ()

    def has(self, average: str | None) -> bool:
        """Return whether it has an average, if only on demand; None: the value of a class."""
        return self.has_classes if average is None else average in (*self.averages, *self.means)

    def has_mean(self, kind: str) -> bool:
        """Return whether a `mean`, `harmonic` or `geometric` mean of its values measures quality."""
        if not self.has_part_means:
            return False
        if kind == "mean":
            # Means leave out a measure that is infinite for good systems and bad ones.
            return self.direction != "none" and self.low is not None
        return self.direction == "higher" and self.low == 0


def scores_of(measures: Iterable[Measure], classes: Any, pooled: Any) -> Table:  # noqa: ANN401
    """Return the values of measures by name, each with its averages.

    classes: the statistics of each class, (..., n_classes), with their `n_ref`, the weights of averages.
    pooled: the statistics of all classes together, (...). A micro average is the formula applied to `pooled`.
    """
    table: Table = {}
    for measure in measures:
        if measure.value is None:
            raise TypeError(f"{measure.name} is computed together with others")
        own = measure.value(classes) if measure.has_classes else None
        together = {name: measure.value(pooled) for name in ("micro", "overall") if name in measure.averages}
        if own is None or "macro" not in measure.averages:
            table[measure.name] = Averaged(own, together.get("micro"), overall=together.get("overall"))
        else:
            table[measure.name] = averaged(own, together.get("micro"), classes.n_ref, measure.missing)
    return table


class Family(NamedTuple):
    """Measures of one basis in one reading.

    summary: the form in which system and reference are read. group: the value of the setting `measures` that
    adds them; empty for measures that are always computed with their basis and reading.
    """

    basis: str
    reading: str
    summary: str
    measures: tuple[Measure, ...]
    group: str = ""
