"""Measure this package against its floors and its peers, and print the ratios as Markdown.

    python benchmarks/run.py [--case NAME]... [--runs N] [--quick] [--output FILE] [--json FILE]
                             [--against FILE]

Inputs are seeded and made in a temporary folder. The two sides of a case run in turn on the same
machine; times are medians, ratios are taken pair by pair. Needs the package and what its tests
need; cases against a peer that is not installed say so. See cases.py for what is compared.

Ratios that are kept (`--json`) can be held against: `--against benchmarks/released.json` names the
cases that are slower now than in the last release, by more than what one run differs from another.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from case import FULL, QUICK, Bench, DisagreementError, Result
from cases import CASES
from timing import CommandError

PACKAGES = (
    "soft-sed-eval", "numpy", "pyarrow", "scipy", "click", "sed_eval", "sed_scores_eval", "psds_eval",
    "scikit-learn", "pandas",
)  # fmt: skip


SLACK = 0.35
"""By how much a ratio may be worse than before: on shared machines ratios move by a fifth."""


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
    if options.json:
        options.json.write_text(json.dumps(kept(results), indent=1) + "\n", encoding="utf-8")
    if options.against:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        worse = slower(results, before)
        print("\n".join(worse) or "No case is slower than before.", file=sys.stderr)
        failed = failed or bool(worse)
    return int(failed)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    made.add_argument("--case", action="append", choices=list(CASES), help="run only this case (repeatable)")
    made.add_argument("--runs", type=_positive, default=7, help="runs of each side (default: 7)")
    made.add_argument("--quick", action="store_true", help="tiny inputs, one run: only to see that it works")
    made.add_argument("--output", type=Path, metavar="FILE", help="write the document to FILE too")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the ratios to FILE")
    made.add_argument(
        "--against",
        type=Path,
        metavar="FILE",
        help=f"fail for ratios worse than those of FILE by {SLACK:.0%}%",
    )
    return made


def kept(results: Iterable[Result]) -> dict[str, float]:
    """Return the ratios of cases by their names, of ours over the other: less is better."""
    return {
        result.case: 1 / result.ratio if result.at_least else result.ratio
        for result in results
        if result.ratio is not None
    }


def slower(results: Iterable[Result], before: Mapping[str, float]) -> list[str]:
    """Return what is said of cases whose ratio is worse than before by more than chance explains."""
    return [
        f"{case}: {ratio:.3g} times the other, before {before[case]:.3g}"
        for case, ratio in kept(results).items()
        if case in before and ratio > before[case] * (1 + SLACK)
    ]


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
        digits = int(result.ratio < 10) if result.at_least else 2
        # A ratio that misses its target by little does not look as if it met it.
        while digits < 4 and replace(result, ratio=float(f"{result.ratio:.{digits}f}")).met != result.met:
            digits += 1
        ratio = f"{result.ratio:.{digits}f}x{' faster' * result.at_least}"
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
