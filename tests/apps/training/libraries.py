"""The installed array libraries, and simulated soft labels."""

import importlib
import os

import numpy as np
import pytest

import sedeval_soft
from sedeval_soft.apps.training import functional as soft

if os.environ.get("SOFT_SED_EVAL_TRAINING"):
    # If these are demanded, as by .ci/run, a missing library is an error, not a skipped test.
    for needed in ("torch", "torchmetrics", "jax", "lightning"):
        importlib.import_module(needed)

LIBRARIES = {
    "numpy": ("numpy", "asarray"),
    "array_api_strict": ("array_api_strict", "asarray"),
    "torch": ("torch", "tensor"),
    "jax": ("jax.numpy", "asarray"),
}
"""The function that makes an array, by library."""

TOLERANCE = {"float64": 1e-12, "float32": 1e-6}
AVERAGES = ("micro", "macro", "weighted", None)
SCORES = {
    "precision": soft.soft_precision,
    "recall": soft.soft_recall,
    "f1": soft.soft_f1,
    "fbeta": lambda *sides, **given: soft.soft_fbeta(*sides, beta=2.0, **given),
    "error_rate": soft.soft_error_rate,
    "kl_divergence": soft.kl_divergence,
    "soft_f1_loss": lambda *sides, **given: 1.0 - soft.product_soft_f1(*sides, **given),
}
"""Functions by the names of measures in the evaluator."""


def array(name: str, values: np.ndarray) -> object:
    """Return values as an array of a library; skip the test if it is not installed."""
    if name == "jax":
        pytest.importorskip("jax").config.update("jax_enable_x64", True)
    module, function = LIBRARIES[name]
    return getattr(pytest.importorskip(module), function)(values)


def back(found: object) -> np.ndarray:
    """Return a result as an array of NumPy."""
    found = found.detach() if hasattr(found, "detach") else found
    strict = type(found).__module__.startswith("array_api_strict")
    return np.asarray(np.from_dlpack(found) if strict else found)


def soft_labels(seed: int, shape: tuple[int, ...], *, hard: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return two sides: neither has class 1, the system lacks class 2, and the reference lacks class 3."""
    rng = np.random.default_rng(seed)
    # Values include ties and both ends, as in tables, and are exact in single precision.
    y, p = np.round(rng.random(shape) ** 3 * 8) / 8, np.round(rng.random(shape) ** 2 * 16) / 16
    y[..., 1] = p[..., 1] = p[..., 2] = y[..., 3] = 0.0
    return (np.round(y), np.round(p)) if hard else (y, p)


def evaluated(y: np.ndarray, p: np.ndarray, **settings: object) -> sedeval_soft.Scores:
    """Return the evaluator's scores of arrays of any shape, with classes on the last axis."""
    flat = (side.reshape(-1, side.shape[-1]) for side in (y, p))
    return sedeval_soft.evaluate(*flat, only=["segment.soft"], measures=["divergence"], **settings)


def expected(scores: sedeval_soft.Scores, measure: str, average: str | None) -> np.ndarray:
    """Return scores of the evaluator in the shape of a result, undefined ones as NaN."""
    stem = f"segment.soft.{measure}"
    names = [f"{stem}[{label}]" for label in scores.classes] if average is None else [f"{stem}.{average}"]
    values = np.array([np.nan if scores[name] is None else scores[name] for name in names])
    return values if average is None else values[0]
