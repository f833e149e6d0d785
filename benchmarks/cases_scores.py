"""Cases of measures that need every value: against only sorting, and against scikit-learn class by class."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from importlib.util import find_spec

import inputs
import numpy as np
from case import Bench, Result, check, faster, megabytes, within
from timing import call, in_turn

PEER = "sklearn"
GROUPS = ("curves", "divergence", "calibration")


def scores(bench: Bench) -> Iterator[Result]:
    """Score curves, divergences, calibration and ranking of values that were pooled already."""
    n = bench.size.cells
    case = f"curves, divergence, calibration, ranking, hard and soft, {n:,} segments x {inputs.N_CLASSES}"
    tracemalloc.start()
    reference, system = inputs.score_arrays(n)
    pooled = Pooled(reference, system, ("segment.hard", "segment.soft", "ranking"))
    tracemalloc.reset_peak()
    pooled.scored()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    costs = in_turn(call(pooled.scored), call(lambda: [np.sort(values) for values in system]), bench.runs)
    yield within(case, costs, "numpy.sort of each class's values", 12.0)
    name = f"{case}: peak memory with both arrays"
    size = system.nbytes
    yield Result(name, megabytes(peak), f"scores, {megabytes(size)}", peak / size, 6.0)
    yield _against_scikit_learn(bench)


class Pooled:
    """Two sides on one grid, and what the basis itself counts of them, which is not measured here."""

    def __init__(self, reference: inputs.Floats, system: inputs.Floats, only: tuple[str, ...]) -> None:
        """Count once; arrays (n_classes, n_segments)."""
        from sedeval_soft.evaluation.count import Cells, count_cells, count_rankings, with_columns
        from sedeval_soft.measures.tally import Tally
        from sedeval_soft.plan import Plan
        from sedeval_soft.settings import Settings

        n_segments = np.array([system.shape[1]])
        self.settings = Settings.of(only=only, measures=GROUPS, classes=inputs.CLASSES)
        self.cells = Cells("segment", reference, system, np.append(0, n_segments), n_segments)
        sizes = {
            "length": n_segments * 1_000_000,
            "n_segments": n_segments,
            "n_evaluated_segments": n_segments,
        }
        plan = Plan.of(self.settings)
        columns = count_cells(self.cells, self.cells, plan)
        columns |= count_rankings(self.cells, np.ones(len(inputs.CLASSES), dtype=bool), plan)
        samples = {"segment.reference": reference, "segment.system": system}
        tally = Tally((inputs.FILE,), inputs.CLASSES, {}, sizes, samples, {}, "pooled")
        self.tally = with_columns(tally, columns)

    def scored(self) -> dict[str, float | int | None]:
        """Count divergences and ranking again, and score everything."""
        from sedeval_soft.evaluation.scores import score_tally

        self._count()
        return {name: score.value for name, score in score_tally(self.tally, self.settings).items()}

    def _count(self) -> None:
        from sedeval_soft.evaluation.count import count_rankings
        from sedeval_soft.measures.divergence import PROPER, SOFT, count_divergence
        from sedeval_soft.plan import Plan
        from sedeval_soft.timeline.recordings import positive

        settings, cells = self.settings, self.cells
        readings: dict[str, inputs.Floats] = {"hard": positive(cells.reference, settings)}
        if settings.wants("segment", "soft"):
            readings["soft"] = cells.reference
        for reading, ours in readings.items():
            names = SOFT if reading == "soft" else PROPER
            count_divergence(ours, cells.system, cells.start, names, settings.epsilon)
        count_rankings(cells, np.ones(len(inputs.CLASSES), dtype=bool), Plan.of(settings))


def _against_scikit_learn(bench: Bench) -> Result:
    n = bench.size.peer_cells
    case = f"curves, calibration, ranking, hard, {n:,} segments x {inputs.N_CLASSES}"
    if find_spec(PEER) is None:
        return Result(case, "-", "scikit-learn is not installed")
    reference, system = inputs.score_arrays(n)
    reference = np.where(reference > 0.5, 1.0, 0.0)
    pooled = Pooled(reference, system, ("segment.hard", "ranking.hard"))
    theirs: dict[str, float] = {}
    costs = in_turn(
        call(pooled.scored), call(lambda: theirs.update(peer(reference, system))), bench.runs, once=True
    )
    ours = pooled.scored()
    for name, value in theirs.items():
        check(f"{case}, {name}", ours[name], value)
    return faster(case, costs, "scikit-learn, class by class", 3)


def peer(reference: inputs.Floats, system: inputs.Floats) -> dict[str, float]:
    """Return what scikit-learn has of our scores; arrays (n_classes, n_segments)."""
    from sklearn import metrics
    from sklearn.calibration import calibration_curve

    of_classes: dict[str, list[float]] = {}
    for y, p in zip(reference, system, strict=True):
        fpr, tpr, _ = metrics.roc_curve(y, p)
        crossed = int(np.argmax(tpr + fpr >= 1))
        before, after = (tpr + fpr - 1)[crossed - 1 : crossed + 1]
        true, predicted = calibration_curve(y, p, n_bins=15)
        for name, value in (
            ("average_precision", metrics.average_precision_score(y, p)),
            ("roc_auc", metrics.roc_auc_score(y, p)),
            ("partial_auc_mcclish", metrics.roc_auc_score(y, p, max_fpr=0.1)),
            ("equal_error_rate", np.interp(0, (before, after), fpr[crossed - 1 : crossed + 1])),
            ("cross_entropy", metrics.log_loss(y, p)),
            ("brier", metrics.brier_score_loss(y, p)),
            ("maximum_calibration_error", np.abs(true - predicted).max()),
        ):
            of_classes.setdefault(name, []).append(float(value))
    found = {f"segment.hard.{name}.macro": float(np.mean(values)) for name, values in of_classes.items()}
    kept = reference.any(axis=0)
    y, p = reference.T[kept], system.T[kept]
    return found | {
        "ranking.hard.coverage": float(metrics.coverage_error(y, p)),
        "ranking.hard.ranking_loss": float(metrics.label_ranking_loss(y, p)),
        "ranking.hard.label_ranking_average_precision": float(
            metrics.label_ranking_average_precision_score(y, p)
        ),
    }
