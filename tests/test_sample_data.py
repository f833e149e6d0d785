"""The script writes exactly these sample tables, and their README describes them correctly."""

import re
import subprocess
import sys
from pathlib import Path

from sedeval_soft import evaluate

FOLDER = Path(__file__).parent.parent / "sample_data"


def test_the_script_writes_these_bytes(tmp_path):
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    written = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(written) > 5
    assert written == {path.name: path.read_bytes() for path in FOLDER.glob("*.tsv")}


def test_the_readme_quotes_the_ranking_which_the_readings_do_not_share():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    quoted = dict(re.findall(r"^\| `(sys\w*\.tsv)` \| (0\.\d+ \| 0\.\d+) \|$", text, flags=re.MULTILINE))
    names = [f"segment.{reading}.f1.micro" for reading in ("hard", "soft")]
    scores = {name: evaluate(FOLDER / "ref.tsv", FOLDER / name) for name in ("sys.tsv", "sys_b.tsv")}
    assert quoted == {name: " | ".join(f"{of[each]:.3f}" for each in names) for name, of in scores.items()}
    (hard, soft), (hard_b, soft_b) = ([of[each] for each in names] for of in scores.values())
    assert hard_b > hard + 0.01 and soft > soft_b + 0.1
