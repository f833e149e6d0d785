"""The page about training, and its example with Lightning, run."""

from __future__ import annotations

import pytest
from documents import ROOT, blocks, script
from libraries import need

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def test_the_example_with_lightning_learns():
    need("lightning")
    before, after = script("examples/train_with_lightning").main()
    assert set(before) == {"f1_macro", "f1_micro", "error_rate", "divergence"}
    assert before["f1_macro"] < 0.6 and min(after["f1_macro"], after["f1_micro"]) > 0.9
    assert after["error_rate"] < 0.2 < before["error_rate"]
    assert after["divergence"] < before["divergence"] / 10


def test_the_python_of_the_page_runs():
    for name in ("torch", "torchmetrics", "jax"):
        need(name)
    # Later blocks use what earlier ones of either kind made, as a reader does who runs all of them.
    code = blocks((ROOT / "docs/guides/training.md").read_text(encoding="utf-8"), "py(?:thon)?")
    assert code
    exec(compile("\n".join(code), "docs/guides/training.md", "exec"), {})  # noqa: S102 - our own document
