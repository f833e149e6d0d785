"""Every score as other libraries call their metrics: scikit-learn's scorers, Hugging Face's metrics.

They call `sedeval_soft.evaluate` and `Evaluator`, and import none of these libraries.

- `scorer(score, **settings)`: for `cross_val_score`, `GridSearchCV` and the like.
- `SoundEventMetric(scores, **settings)`: `add`, `add_batch` and `compute`, as a metric of `evaluate`.
- `trainer_metrics(scores, **settings)`: for `Trainer(compute_metrics=...)` of `transformers`.
"""

from sedeval_soft.adapters.hugging_face import SoundEventMetric, trainer_metrics
from sedeval_soft.adapters.scikit_learn import scorer

__all__ = ["SoundEventMetric", "scorer", "trainer_metrics"]
