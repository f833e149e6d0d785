"""The guides for users of sed_scores_eval and psds_eval: their calls beside ours give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from documents import ROOT, blocks, examples, make_workplace, run

PAGES = {"from-sed-scores-eval": "sed_scores_eval", "from-psds-eval": "psds_eval"}


def area(x, y, max_x=None, decreasing_y=False):
    """Return psds_eval's sum of rectangles, which its own code cannot make with numpy 2.4."""
    limit = x.max() if max_x is None else max_x
    kept = x < limit
    return float((np.diff(np.append(x[kept], limit)) * y[kept]).sum())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", PAGES)
def test_calls_side_by_side(page, tmp_path, monkeypatch):
    peer = pytest.importorskip(PAGES[page], reason="needs the other tool: pip install --group parity")
    if page == "from-psds-eval":
        monkeypatch.setattr(peer.PSDSEval, "_auc", staticmethod(area))
    text = (ROOT / "docs" / "guides" / f"{page}.md").read_text(encoding="utf-8")
    environment = make_workplace(tmp_path)
    for example in examples(text):
        assert run(example.command, tmp_path, environment)[0] == 0, example.command
    monkeypatch.chdir(tmp_path)
    codes = blocks(text, "py")
    assert codes
    for code in codes:
        assert code.count("assert ") >= 2
        exec(compile(code, page, "exec"), {})  # noqa: S102 - our own document
