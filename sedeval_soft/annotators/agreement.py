"""How far annotators agree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sedeval_soft.annotators.opinions import Opinions
from sedeval_soft.measures.detection import f_beta

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def alpha(values: Floats, given: Bools) -> float:
    """Return Krippendorff's alpha with the squared difference, NaN where it is undefined.

    values: (n_annotators, n_units). given: the same shape, whether there is a value; units with fewer than
    two are left out. With values 0 and 1 this is the nominal alpha, with others that of intervals. It is
    undefined where all values are equal, or where no unit has two. Source: Krippendorff 2011.
    """
    kept = given.sum(axis=0) >= 2
    given = given[:, kept]
    m = given.sum(axis=0).astype(np.float64)
    n = m.sum()
    if not n:
        return float("nan")
    known = values[:, kept]
    # Alpha does not change with what is added to all values; sums of small ones are exact.
    centre = known[given].mean()
    known = np.where(given, known - centre, 0.0)
    if known[given].max() == known[given].min():
        return float("nan")
    total, squares = known.sum(axis=0), (known * known).sum(axis=0)
    observed = ((m * squares - total * total) / (m - 1.0)).sum() / n
    expected = (n * squares.sum() - total.sum() ** 2) / (n * (n - 1.0))
    return float(1.0 - observed / expected)


def alphas(opinions: Opinions, threshold: float) -> tuple[Floats, Floats]:
    """Return alpha of labels above the threshold, and of values: of each class, then of all together.

    Each of shape (n_classes + 1,).
    """
    n_annotators, n_classes, n_segments = opinions.values.shape
    found = np.empty((2, n_classes + 1))
    for i, values in enumerate(((opinions.values > threshold).astype(np.float64), opinions.values)):
        found[i, :-1] = [alpha(values[:, k], opinions.labelled) for k in range(n_classes)]
        given = np.repeat(opinions.labelled[:, None], n_classes, axis=1)
        flat = n_annotators, n_classes * n_segments
        found[i, -1] = alpha(values.reshape(flat), given.reshape(flat))
    return found[0], found[1]


def soft_f(opinions: Opinions, a: int, b: int) -> tuple[float, float, int]:
    """Return micro and macro soft F of two annotators, and how many segments both labelled.

    F = 2 sum min / (sum + sum), which does not depend on who is the reference; NaN where neither says
    anything. The macro average is over the classes that either of them uses.
    """
    both = opinions.labelled[a] & opinions.labelled[b]
    y, p = opinions.values[a][:, both], opinions.values[b][:, both]
    tp, n_a, n_b = np.minimum(y, p).sum(axis=1), y.sum(axis=1), p.sum(axis=1)
    used = n_a + n_b > 0
    micro = float(f_beta(tp.sum(), n_a.sum(), n_b.sum()))
    of_classes = f_beta(tp[used], n_a[used], n_b[used])
    return micro, float(of_classes.mean()) if used.any() else float("nan"), int(both.sum())
