"""Any scores as Hugging Face's `evaluate` has metrics, and as its `Trainer` calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sedeval_soft.adapters.wanted import settings_for
from sedeval_soft.api import Evaluator
from sedeval_soft.errors import SettingsError

DEFAULT = ("segment.soft.f1.micro", "segment.soft.f1.macro", "segment.soft.error_rate.micro")

PADDING = -100
"""What stands for no label in padded batches of `Trainer`."""

Numbers = dict[str, float | int | None]
Array = npt.NDArray[Any]


class SoundEventMetric:
    """A metric with the methods of `evaluate.EvaluationModule`: predictions and references in, a dict out.

    Each item is a recording, an array of shape (n_segments, n_classes). Recordings may differ in length.

    scores: names of scores, the keys of what `compute` returns. settings: as of `sedeval_soft.evaluate`.
    """

    def __init__(self, scores: Sequence[str] = DEFAULT, **settings: Any) -> None:  # noqa: ANN401 - see Settings
        self._settings = settings_for(scores, settings)
        self.scores = tuple(scores)
        self._start()

    def _start(self) -> None:
        self._evaluator = Evaluator(self._settings)
        self._count = 0

    def add(self, *, prediction: Any, reference: Any) -> None:  # noqa: ANN401 - what numpy makes an array of
        """Count one recording."""
        self._count += 1
        sides = (np.asarray(side, dtype=np.float64) for side in (reference, prediction))
        self._evaluator.update(*sides, files=f"item-{self._count:09}")

    def add_batch(self, *, predictions: Iterable[Any], references: Iterable[Any]) -> None:
        """Count several recordings."""
        ours, theirs = list(references), list(predictions)
        if len(ours) != len(theirs):
            raise SettingsError(f"{len(theirs)} predictions and {len(ours)} references; expected as many")
        for reference, prediction in zip(ours, theirs, strict=True):
            self.add(prediction=prediction, reference=reference)

    def compute(
        self, *, predictions: Iterable[Any] | None = None, references: Iterable[Any] | None = None
    ) -> Numbers:
        """Return the scores of all recordings by name, None where undefined, and begin anew."""
        if (predictions is None) != (references is None):
            raise SettingsError("expected both predictions and references, or neither")
        try:
            if predictions is not None and references is not None:
                self.add_batch(predictions=predictions, references=references)
            found = self._evaluator.compute()
            return {name: found[name] for name in self.scores}
        finally:
            self._start()


def trainer_metrics(
    scores: Sequence[str] = DEFAULT,
    *,
    from_logits: bool = True,
    **settings: Any,  # noqa: ANN401 - fields of Settings
) -> Callable[[Any], Numbers]:
    """Return what `Trainer(compute_metrics=...)` of `transformers` takes.

    It scores `predictions` (the first of them if there are several) and `label_ids`, (n_recordings,
    n_segments, n_classes) each. Segments whose labels are -100, as `Trainer` pads them, are left out.
    from_logits: whether predictions go through a sigmoid first. scores, settings: as of `SoundEventMetric`.
    """
    metric = SoundEventMetric(scores, **settings)

    def compute_metrics(evaluated: Any) -> Numbers:  # noqa: ANN401 - an EvalPrediction
        outputs, labels = evaluated.predictions, np.asarray(evaluated.label_ids, dtype=np.float64)
        raw = np.asarray(outputs[0] if isinstance(outputs, tuple) else outputs, dtype=np.float64)
        if raw.shape != labels.shape or raw.ndim != 3:
            raise SettingsError(
                f"predictions of shape {raw.shape}, labels of shape {labels.shape}; expected one shape, "
                "(recordings, segments, classes)"
            )
        kept = [np.any(item != PADDING, axis=-1) for item in labels]
        probabilities = _sigmoid(raw) if from_logits else raw
        return metric.compute(
            predictions=[item[rows] for item, rows in zip(probabilities, kept, strict=True)],
            references=[item[rows] for item, rows in zip(labels, kept, strict=True)],
        )

    return compute_metrics


def _sigmoid(logits: Array) -> Array:
    # By the hyperbolic tangent nothing overflows.
    half: Array = 0.5 * (1.0 + np.tanh(0.5 * logits))
    return half
