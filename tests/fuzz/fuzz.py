"""Fuzz a target with atheris: `python tests/fuzz/fuzz.py reader -max_total_time=600`; see README.md."""

import pkgutil
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sedeval_soft"]):
    import targets

    import sedeval_soft.tables

    # Readers are imported where they are needed, and nothing is looked at that is imported later.
    for module in pkgutil.iter_modules(sedeval_soft.tables.__path__, "sedeval_soft.tables."):
        import_module(module.name)

SECONDS, MEGABYTES = 10, 1024
"""What no input may take: time, and memory, that of the process, the fuzzer's own included."""


def measured(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Return a target that fails where it takes longer or more memory than an input may."""

    def run(data: bytes) -> None:
        begin = time.monotonic()
        target(data)
        taken, most = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        assert taken < SECONDS, f"took {taken:.1f} s"
        assert most < MEGABYTES, f"memory grew to {most} MB"

    return run


def main() -> None:
    """Run the target that is named first; the other arguments are libFuzzer's."""
    if len(sys.argv) < 2 or sys.argv[1] not in targets.TARGETS:
        sys.exit(f"usage: fuzz.py {'|'.join(targets.TARGETS)} [LIBFUZZER OPTIONS] [CORPUS...]")
    name = sys.argv.pop(1)
    seeds = Path(__file__).parent / "corpus" / name
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    # What is found goes to the first folder, which must not be that of the seeds.
    own = [] if given else [tempfile.mkdtemp(prefix="soft-sed-eval-corpus-")]
    # The longer time is for what never ends; inputs of a second and more are told.
    limits = [f"-timeout={2 * SECONDS}", f"-rss_limit_mb={MEGABYTES}", "-report_slow_units=1"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], *own, str(seeds)], measured(targets.TARGETS[name]))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
