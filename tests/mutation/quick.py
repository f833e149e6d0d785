"""A plugin of pytest that tries mutants: each in a fork of the session, on the tests that reach it.

What was collected and imported once is there in every fork. Tests that reach a function are found by
running all of them once. For each mutant those that caught another of the same function come first, then
those that are fast and reach little else. Nothing is shrunk, examples are few and always the same, and
of what is repeated for seeds the first two are enough. What is caught here is caught by the whole suite;
what survives here may be caught by that.
"""

from __future__ import annotations

import functools
import gc
import json
import os
import random
import re
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, Phase, is_hypothesis_test, settings
from mutmut.mutation.trampoline import set_mutant_under_test
from mutmut.state import state
from mutmut.utils.format_utils import mangled_name_from_mutant_name

EXAMPLES = 25
"""How many examples of a property are tried at most."""

LATER_SEED = re.compile(r"test_registry\.py::test_law\[[2-9]-")
MEMORY = 6 << 30

KILLED, SURVIVED, TIMED_OUT, NO_TESTS = "killed", "survived", "timed out", "no tests"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out later seeds; let properties try a few examples and say no more than that one fails."""
    left_out = [item for item in items if LATER_SEED.search(item.nodeid)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not LATER_SEED.search(item.nodeid)]
    for item in items:
        tested = getattr(item, "obj", None)
        if tested is None or not is_hypothesis_test(tested):
            continue
        tested = getattr(tested, "__func__", tested)
        own = getattr(tested, "_hypothesis_internal_use_settings", settings())
        tested._hypothesis_internal_use_settings = settings(
            own,
            max_examples=min(own.max_examples, EXAMPLES),
            phases=[Phase.explicit, Phase.generate],
            database=None,
            derandomize=True,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )


@dataclass
class Reached:
    """Which tests reach which function, with the processor seconds that they take."""

    items: list[pytest.Item]
    seconds: list[float] = field(default_factory=list)
    tests: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    caught: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def look(self) -> list[str]:
        """Run every test once; return those that fail without any mutant."""
        set_mutant_under_test("stats")
        failed = []
        for number, item in enumerate(self.items):
            state()._stats.clear()
            before = time.process_time()
            reports = runtestprotocol(item, log=False, nextitem=None)
            self.seconds.append(time.process_time() - before)
            if any(report.failed for report in reports):
                failed.append(item.nodeid)
                continue
            for function in state()._stats:
                self.tests[function].append(number)
        set_mutant_under_test("")
        return failed

    def keep(self, path: Path) -> None:
        """Write down what was found, for another time with the same tests."""
        ids = [item.nodeid for item in self.items]
        path.write_text(json.dumps([ids, self.seconds, self.tests]), encoding="utf-8")

    def kept(self, path: Path) -> bool:
        """Take what was found another time; return whether there is anything of the same tests."""
        if not path.exists():
            return False
        ids, seconds, tests = json.loads(path.read_text(encoding="utf-8"))
        if ids != [item.nodeid for item in self.items]:
            return False
        self.seconds, self.tests = seconds, tests
        return True

    @functools.cached_property
    def reach(self) -> Counter[int]:
        """How many functions each test reaches."""
        return Counter(number for numbers in self.tests.values() for number in numbers)

    def chosen(self, function: str, budget: float) -> list[int]:
        """Return the tests to try on a mutant of a function, the most promising first."""
        caught = self.caught[function]
        # A test that reaches little else looks more closely.
        cost = {k: self.seconds[k] * self.reach[k] for k in self.tests.get(function, [])}
        found = sorted(cost, key=lambda k: (-caught[k], cost[k]))
        spent, kept = 0.0, []
        for number in found:
            spent += self.seconds[number]
            if kept and spent > budget:
                break
            kept.append(number)
        return kept


def _try(name: str, chosen: Iterable[int], reached: Reached, out: int) -> None:
    """Run tests with a mutant in this process, until one fails; say which and end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    set_mutant_under_test(name)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for number in chosen:
        # Whoever has used so much more time than without the mutant does not end: the signal ends it.
        signal.setitimer(signal.ITIMER_PROF, 4 * reached.seconds[number] + 3)
        if any(r.failed for r in runtestprotocol(reached.items[number], log=False, nextitem=None)):
            os.write(out, str(number).encode())
            os._exit(1)
    os._exit(0)


class Trials:
    """Some processes that try mutants at once, and what became of each."""

    def __init__(self, reached: Reached, at_once: int, budget: float) -> None:
        self.reached, self.at_once, self.budget = reached, at_once, budget
        self.running: dict[int, tuple[str, int]] = {}
        self.became: dict[str, tuple[str, str]] = {}

    def begin(self, name: str) -> None:
        """Try a mutant as soon as there is room."""
        chosen = self.reached.chosen(mangled_name_from_mutant_name(name), self.budget)
        if not chosen:
            self.became[name] = NO_TESTS, ""
            return
        while len(self.running) >= self.at_once:
            self.end_one()
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                _try(name, chosen, self.reached, write)
            finally:
                os._exit(1)
        os.close(write)
        self.running[process] = name, read

    def end_one(self) -> None:
        """Wait for one to end."""
        process, status = os.wait()
        name, read = self.running.pop(process)
        said = os.read(read, 16)
        os.close(read)
        code = os.waitstatus_to_exitcode(status)
        if said:
            self.reached.caught[mangled_name_from_mutant_name(name)][int(said)] += 1
        by = self.reached.items[int(said)].nodeid if said else ""
        became = SURVIVED if code == 0 else TIMED_OUT if code == -signal.SIGPROF else KILLED
        self.became[name] = became, by


def mutants(patterns: list[str]) -> list[str]:
    """Return the names of all mutants whose name begins with one of some patterns (none: all), in order."""
    found = []
    for path in sorted(Path("sedeval_soft").rglob("*.py.meta")):
        found += json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
    return [name for name in found if not patterns or any(re.match(p, name) for p in patterns)]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try the mutants instead of running the tests."""
    asked = json.loads(os.environ["MUTATION"])
    names = [name for name in mutants(asked["only"]) if not asked["names"] or name in asked["names"]]
    if asked["sample"]:
        names = sorted(random.Random(asked["seed"]).sample(names, min(asked["sample"], len(names))))  # noqa: S311
    reached = Reached(session.items)
    began = time.monotonic()
    looked = Path(asked["looked"]) if asked["looked"] else None
    if not (looked and reached.kept(looked)):
        for nodeid in reached.look():
            print(f"left out, since it fails without any mutant: {nodeid}", file=sys.stderr)
        if looked:
            reached.keep(looked)
    print(f"{len(session.items)} tests looked at in {time.monotonic() - began:.0f} s", file=sys.stderr)
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper):
            each.cache_clear()  # what was found without mutants must be found anew
    gc.collect()
    gc.freeze()
    trials = Trials(reached, asked["at_once"], asked["budget"])
    for number, name in enumerate(names):
        trials.begin(name)
        if number % 25 == 0:
            _keep(trials, asked["output"])
            counted = Counter(became for became, _ in trials.became.values())
            print(f"{number}/{len(names)} {dict(counted)} {time.monotonic() - began:.0f} s", file=sys.stderr)
    while trials.running:
        trials.end_one()
    _keep(trials, asked["output"])
    return True


def _keep(trials: Trials, output: str) -> None:
    Path(output).write_text(json.dumps(trials.became, indent=0, ensure_ascii=False), encoding="utf-8")
