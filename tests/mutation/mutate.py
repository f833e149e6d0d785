"""Tries whether the tests notice changes of the measures: makes mutants, runs tests on each, and counts.

    python tests/mutation/mutate.py                              all, which takes an hour or more
    python tests/mutation/mutate.py --only sedeval_soft.timeline.events
    python tests/mutation/mutate.py --sample 150 --at-least 90   some, drawn by --seed
    python tests/mutation/mutate.py --again                      those that survived, with new tests

mutmut makes the mutants, by [tool.mutmut] of pyproject.toml, in mutants/; quick.py tries them. What became of
each is written to mutants.json; `mutmut show NAME` shows one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "mutants.json"
NOTICED = {"killed", "timed out"}


def made(at_once: int) -> None:
    """Write the sources with all mutants in them, and the tests, to mutants/."""
    from mutmut.__main__ import copy_also_copy_files, copy_src_dir, create_mutants, setup_source_paths

    os.environ["MUTANT_UNDER_TEST"] = "mutant_generation"
    shutil.rmtree("mutants", ignore_errors=True)
    Path("mutants").mkdir()
    copy_src_dir()
    copy_also_copy_files()
    setup_source_paths()
    create_mutants(at_once)


def tried(asked: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Try mutants; return what became of each, and which test caught it."""
    import pytest
    from mutmut.configuration import config

    own = config()
    os.chdir("mutants")
    arguments = ["-q", "-s", "--rootdir=.", "-p", "mutation.quick", *own.pytest_add_cli_args]
    sys.path.insert(0, "tests")
    os.environ["MUTATION"] = json.dumps(asked)
    if pytest.main([*arguments, *(asked["tests"] or own.pytest_add_cli_args_test_selection)]) > 1:
        sys.exit("the tests could not be run")
    os.chdir(ROOT)
    return json.loads(Path(asked["output"]).read_text(encoding="utf-8"))


def told(became: dict[str, tuple[str, str]]) -> float:
    """Print what became of mutants, by module; return how many of a hundred were noticed."""
    modules: dict[str, Counter[str]] = {}
    for name, (what, _) in became.items():
        module, _, function = name.rpartition(".x")
        modules.setdefault(module, Counter())[what] += 1
        if what not in NOTICED:
            print(f"{what}: {module}.x{function}")
    for module, counted in sorted(modules.items()):
        print(f"{module}: {dict(counted)}")
    counted = Counter(what for what, _ in became.values())
    noticed = sum(counted[what] for what in NOTICED)
    score = 100 * noticed / max(len(became), 1)
    print(f"noticed {noticed} of {len(became)}: {score:.1f} % ({dict(counted)})")
    return score


def main() -> None:
    """Make and try mutants, and print how many were killed, by module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], help="begin of names, a regular expression")
    parser.add_argument("--sample", type=int, default=0, help="how many are drawn; all without")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds of tests for a mutant")
    parser.add_argument("--looked", help="a file that keeps which tests reach what, for another time")
    parser.add_argument("--tests", action="append", default=[], help="files of tests, instead of all chosen")
    parser.add_argument("--again", action="store_true", help="those of mutants.json that were not noticed")
    parser.add_argument("--at-least", type=float, default=0.0, help="per cent that must be noticed")
    asked = vars(parser.parse_args())
    os.chdir(ROOT)
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if asked["again"] else {}
    names = [name for name, (what, _) in before.items() if what not in NOTICED]
    made(asked["at_once"])
    became = before | tried({**asked, "names": names, "output": str(ROOT / "mutants" / "became.json")})
    RESULTS.write_text(json.dumps(became, indent=0, ensure_ascii=False), encoding="utf-8")
    if told(became) < asked["at_least"]:
        sys.exit(f"fewer than {asked['at_least']} % of the mutants were noticed")


if __name__ == "__main__":
    main()
