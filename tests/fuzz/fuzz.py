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

    # Import all readers now: atheris does not instrument imports after this block.
    for module in pkgutil.iter_modules(sedeval_soft.tables.__path__, "sedeval_soft.tables."):
        import_module(module.name)

SECONDS, MEGABYTES = 10, 1024
"""Limits of every input: time, and memory of the whole process, including the fuzzer's."""


def measured(target: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Return a target that fails if an input takes more time or memory than the limits."""

    def run(data: bytes) -> None:
        begin = time.monotonic()
        target(data)
        taken, most = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        assert taken < SECONDS, f"took {taken:.1f} s"
        assert most < MEGABYTES, f"memory grew to {most} MB"

    return run


def main() -> None:
    """Run the target that the first argument names; the other arguments are libFuzzer's."""
    if len(sys.argv) < 2 or sys.argv[1] not in targets.TARGETS:
        sys.exit(f"usage: fuzz.py {'|'.join(targets.TARGETS)} [LIBFUZZER OPTIONS] [CORPUS...]")
    name = sys.argv.pop(1)
    seeds = Path(__file__).parent / "corpus" / name
    given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    # The fuzzer writes new inputs to the first folder, which must not be the folder of the seeds.
    own = [] if given else [tempfile.mkdtemp(prefix="soft-sed-eval-corpus-")]
    # The longer limit stops endless inputs; libFuzzer reports inputs of a second and more.
    limits = [f"-timeout={2 * SECONDS}", f"-rss_limit_mb={MEGABYTES}", "-report_slow_units=1"]
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], *own, str(seeds)], measured(targets.TARGETS[name]))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
