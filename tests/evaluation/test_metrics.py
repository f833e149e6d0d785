"""Names of scores that trackers of experiments take."""

import re

from tables import long_rows

from sedeval_soft import evaluate

# What MLflow 3 takes as the name of a metric: alphanumerics, underscores, dashes, periods, spaces, slashes
# and colons.
TAKEN = re.compile(r"[\w\-. /:]+", re.ASCII)


def test_metrics_are_the_defined_scores_by_names_that_trackers_take():
    reference = long_rows([("a", 0.0, 2.0, "dog (big)", 0.7), ("b", 0.0, 1.0, "scène", 1.0)])
    scores = evaluate(reference, reference, scenes={"home": ["a*"]})
    metrics = scores.metrics()
    assert all(TAKEN.fullmatch(name) for name in metrics)
    assert len(metrics) == sum(value is not None for value in scores.values())
    assert metrics["segment/soft/f1/macro"] == metrics["segment/soft/f1/dog _big_"] == 1.0
    assert metrics["segment/soft/tp/micro/home"] == scores["segment.soft.tp.micro@home"]
    assert scores.metrics(".")["segment.soft.f1.sc_ne"] == 1.0
