"""The page about training, and its example with Lightning, run."""

from __future__ import annotations

from pathlib import Path

import pytest
from documents import blocks, script
from libraries import need

ROOT = Path(__file__).parents[3]
THEIR_WARNINGS = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
pytestmark = THEIR_WARNINGS


def test_the_example_with_lightning_learns():
    need("lightning")
    before, after = script("examples/train_with_lightning").main()
    assert set(before) == {"f1_macro", "f1_micro", "error_rate", "divergence"}
    assert before["f1_macro"] < 0.6 and min(after["f1_macro"], after["f1_micro"]) > 0.9
    assert after["error_rate"] < 0.2 < before["error_rate"]
    assert after["divergence"] < before["divergence"] / 10


@pytest.mark.parametrize("page", ["docs/guides/training.md"])
def test_what_the_pages_show_runs(page):
    for name in ("torch", "torchmetrics", "jax"):
        need(name)
    text = (ROOT / page).read_text(encoding="utf-8")
    assert blocks(text, "py")
    known: dict[str, object] = {}
    # Later blocks use what earlier ones of either kind made, as a reader does who runs all of them.
    for code in blocks(text, "py(?:thon)?"):
        exec(compile(code, page, "exec"), known)  # noqa: S102 - our own document
