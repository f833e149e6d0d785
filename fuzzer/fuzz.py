"""Fuzz a target with atheris: `python fuzzer/fuzz.py reader -max_total_time=600 corpus`; see README.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sedeval_soft"]):
    import targets

TARGETS = {"reader": targets.reader, "settings": targets.settings}


def main() -> None:
    """Run the target that is named first; the other arguments are libFuzzer's."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(f"usage: fuzz.py {'|'.join(TARGETS)} [LIBFUZZER OPTIONS] [CORPUS...]")
    name = sys.argv.pop(1)
    seeds = Path(__file__).parent / "corpus" / name
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    # What is found goes to the first folder, which must not be that of the seeds.
    own = [] if given else [tempfile.mkdtemp(prefix="soft-sed-eval-corpus-")]
    atheris.Setup([*sys.argv, *own, str(seeds)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
