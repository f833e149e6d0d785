"""Calls of sed_scores_eval and psds_eval in the guide for their users give the same numbers as ours."""

import numpy as np
import pytest
from documents import ROOT, blocks, examples, make_workplace, run_all

PAGE = ROOT / "docs" / "guides" / "other-tools.md"


def area(x, y, max_x=None, decreasing_y=False):
    """Return psds_eval's sum of rectangles, which its own code cannot make with numpy 2.4."""
    limit = x.max() if max_x is None else max_x
    kept = x < limit
    return float((np.diff(np.append(x[kept], limit)) * y[kept]).sum())


@pytest.mark.filterwarnings("ignore")
def test_calls_side_by_side(tmp_path, monkeypatch):
    reason = "needs the other tools: pip install --group parity"
    pytest.importorskip("sed_scores_eval", reason=reason)
    peer = pytest.importorskip("psds_eval", reason=reason)
    monkeypatch.setattr(peer.PSDSEval, "_auc", staticmethod(area))
    text = PAGE.read_text(encoding="utf-8")
    commands = [example.command for example in examples(text)]
    make_workplace(tmp_path)
    assert all(code == 0 for code, _ in run_all(commands, tmp_path))
    monkeypatch.chdir(tmp_path)
    codes = blocks(text, "py")
    assert len(codes) == 2
    for code in codes:
        assert code.count("assert ") >= 2
        exec(compile(code, PAGE.name, "exec"), {})  # noqa: S102 - our own document
