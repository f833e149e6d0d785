"""Make golden numbers of LAT-Bench's script: `python make_lat_bench.py PATH/eval-TAG.py OUT.npz`.

The script is examples/train/multimodal/eval/eval-TAG.py of https://github.com/alanshaoTT/LAT-Audio-Repo at
commit 2fca544cdc5f905d1322ca86276b000bb6171cec. It is imported from the path, and needs numpy.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np
from random_answers import answer_files

NUMBER = 10_000
NAMES = ("mIoU", "R@0.3", "R@0.5", "R@0.7")


def main(script: str, out: str) -> None:
    """Run the script on files of random answers, and keep what it returns."""
    spec = importlib.util.spec_from_file_location("eval_tag", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    evaluator = module.TAGEvaluator()
    path = Path(tempfile.mkdtemp(), "answers.jsonl")
    counts, scores = [], []
    for _, lines in answer_files(NUMBER):
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        found = evaluator.evaluate(str(path))
        found = {**found, **found["recall"]}
        counts.append((found["total"], found["valid"]))
        scores.append([found.get(name, np.nan) for name in NAMES])
    np.savez_compressed(out, counts=np.array(counts, dtype=np.int16), scores=np.array(scores))


if __name__ == "__main__":
    main(*sys.argv[1:])
