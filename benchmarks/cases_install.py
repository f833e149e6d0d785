"""Cases of the installed package: how large it is, how soon it is imported, and how long a small run takes.

Sizes are those of the files that the installed packages list, of a tool and of all that it needs: what a new
environment would hold beside Python itself, without compiled modules.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from case import COMMAND, Bench, Result, check, faster, megabytes, processes
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from timing import process

OURS = "soft-sed-eval"
PEERS = {"sed_eval": "import sed_eval", "sed_scores_eval": "import sed_scores_eval"}
"""The other tools, and how their users begin."""

SAMPLES = Path(__file__).parents[1] / "sample_data"

_SED_EVAL = """
import sys, dcase_util, sed_eval
reference, system = (dcase_util.containers.MetaDataContainer().load(name) for name in sys.argv[1:])
labels = sorted({*reference.unique_event_labels, *system.unique_event_labels})
metrics = sed_eval.sound_event.SegmentBasedMetrics(labels, time_resolution=1.0)
for name in reference.unique_files:
    metrics.evaluate(reference.filter(filename=name), system.filter(filename=name))
print(metrics.results_overall_metrics()["f_measure"]["f_measure"])
"""
"""What a user of sed_eval writes to score two tables of events."""


def install(bench: Bench) -> Iterator[Result]:
    """Weigh what is installed, import it, and score a small pair of tables, against other tools."""
    own = size_of(OURS)
    for peer, code in PEERS.items():
        if find_spec(peer) is None:
            yield Result(f"installed, with all that it needs: {peer}", "-", f"{peer} is not installed")
            continue
        theirs = size_of(peer)
        case = f"installed, with all that it needs, beside {peer}"
        yield Result(case, megabytes(own), f"{peer}, {megabytes(theirs)}", own / theirs)
        ours = [sys.executable, "-c", "import sedeval_soft; print(sedeval_soft.evaluate.__name__)"]
        costs = processes(bench, ours, [sys.executable, "-W", "ignore", "-c", code], "evaluate")
        yield faster(f"`from sedeval_soft import evaluate`, beside {peer}", costs, code, 1)
    if find_spec("sed_eval") is not None:
        yield _small_run(bench)


def size_of(name: str) -> int:
    """Return the bytes of an installed package and of all that it needs, without compiled modules."""
    seen: set[str] = set()
    waiting, total = [name], 0
    while waiting:
        wanted = canonicalize_name(waiting.pop())
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            found = distribution(wanted)
        except PackageNotFoundError:
            continue  # asked for on other machines only
        total += sum(_bytes(Path(str(file.locate()))) for file in found.files or ())
        for text in found.requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return total


def _bytes(path: Path) -> int:
    """Return the size of a file; an editable install lists one that leads to the source."""
    if path.suffix == ".pth" and path.name.startswith("_editable_impl_"):
        root = Path(path.read_text(encoding="utf-8").strip()) / "sedeval_soft"
        return sum(_bytes(own) for own in root.rglob("*") if own.is_file())
    return path.stat().st_size if path.is_file() and path.suffix != ".pyc" else 0


def _small_run(bench: Bench) -> Result:
    """Score the sample, cut into events, as whole processes: most of it is starting."""
    tables = [_events(name, bench.folder) for name in ("ref.tsv", "sys.tsv")]
    ours = [COMMAND, *tables, "--score", "segment.hard.f1.micro"]
    theirs = [sys.executable, "-W", "ignore", "-c", _SED_EVAL, *tables]
    costs = processes(bench, ours, theirs, ".")
    output = bench.folder / "output.txt"
    found = float(output.read_text(encoding="utf-8"))
    process(theirs, output)()
    check("small run", found, float(output.read_text(encoding="utf-8")))
    return faster("the sample's events, segment-based F, as a process", costs, "sed_eval in Python", 1)


def _events(name: str, folder: Path) -> Path:
    """Write the rows of a sample's table that are above 0.5 as a list of events; return its path."""
    with (SAMPLES / name).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if float(row["soft_value"] or 0) > 0.5]
    path = folder / name
    with path.open("w", encoding="utf-8", newline="") as file:
        columns = ["filename", "onset", "offset", "event_label"]
        writer = csv.DictWriter(file, columns, delimiter="\t", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
