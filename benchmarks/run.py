"""Measure this package against its floors and its peers, and print the ratios as Markdown.

    python benchmarks/run.py [--case NAME]... [--runs N] [--quick] [--output FILE]

Inputs are seeded and made in a temporary folder. The two sides of a case run in turn on the same
machine; times are medians, ratios are taken pair by pair. Needs the package and what its tests
need; cases against a peer that is not installed say so. See cases.py for what is compared.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from case import FULL, QUICK, Bench, DisagreementError, Result
from cases import CASES
from timing import CommandError

PACKAGES = (
    "soft-sed-eval", "numpy", "pyarrow", "scipy", "click", "sed_eval", "sed_scores_eval", "scikit-learn",
    "pandas",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen cases; return 1 if one could not be measured."""
    options = parser().parse_args(arguments)
    # sed_eval and sed_scores_eval warn of pkg_resources, of divisions by zero and more.
    warnings.simplefilter("ignore")
    results: list[Result] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="soft-sed-eval-") as folder:
        bench = Bench(Path(folder), QUICK if options.quick else FULL, 1 if options.quick else options.runs)
        for name in options.case or CASES:
            start = time.perf_counter()
            try:
                results.extend(CASES[name](bench))
            except (CommandError, DisagreementError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
            print(f"{name}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
            for path in Path(folder).iterdir():
                path.unlink()
    text = document(results, bench)
    print(text, end="")
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(failed)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    made.add_argument("--case", action="append", choices=list(CASES), help="run only this case (repeatable)")
    made.add_argument("--runs", type=_positive, default=7, help="runs of each side (default: 7)")
    made.add_argument("--quick", action="store_true", help="tiny inputs, one run: only to see that it works")
    made.add_argument("--output", type=Path, metavar="FILE", help="write the document to FILE too")
    return made


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, not {text}")
    return number


def document(results: Iterable[Result], bench: Bench) -> str:
    """Return the table of ratios, and what it was measured on."""
    quick = bench.size is QUICK
    runs = "1 run" if bench.runs == 1 else f"Medians of {bench.runs} runs in turn, a slow peer once"
    lines = [
        "| case | ours | other | ratio | target | met |",
        "|---|--:|---|--:|--:|---|",
        *(_row(result, quick=quick) for result in results),
        "",
        f"{runs}. {machine()}.",
        f"{versions()}.",
    ]
    if quick:
        lines.append("A trial with tiny inputs: the ratios mean nothing.")
    return "\n".join(lines) + "\n"


def _row(result: Result, *, quick: bool) -> str:
    ratio = target = "-"
    if result.ratio is not None:
        ratio = f"{result.ratio:.0f}x faster" if result.at_least else f"{result.ratio:.2f}x"
    if result.target is not None:
        target = f"at least {result.target:g}x" if result.at_least else f"at most {result.target:g}x"
    met = "-" if quick or result.met is None else "yes" if result.met else "**no**"
    return f"| {result.case} | {result.ours} | {result.other} | {ratio} | {target} | {met} |"


def machine() -> str:
    """Return the number and model of the processors and the system."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = information.read_text(encoding="utf-8").splitlines()
        model = next(
            (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model
        )
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.machine()}"


def versions() -> str:
    """Return Python's version and those of the packages that the cases use."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    return ", ".join(found)


if __name__ == "__main__":
    sys.exit(main())
