"""The targets of the fuzzer read or refuse its seeds, and some of these with something done to them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from random import Random

import pytest
from test_corrupted_tables import with_bytes_changed

FUZZER = Path(__file__).parents[1] / "fuzz"
SEEDS = {folder.name: sorted(folder.iterdir()) for folder in (FUZZER / "corpus").iterdir()}


@pytest.fixture(scope="module")
def targets():
    spec = importlib.util.spec_from_file_location("targets", FUZZER / "targets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TARGETS


@pytest.mark.parametrize("name", SEEDS)
def test_each_seed_is_read_or_refused(name, targets):
    random = Random(0)  # noqa: S311 - not for secrets
    assert SEEDS[name]
    for k, seed in enumerate(SEEDS[name]):
        data = seed.read_bytes()
        targets[name](data if k % 4 else data[:2] + with_bytes_changed(data[2:], random))


def test_no_target_is_without_seeds(targets):
    assert {*SEEDS} == {*targets}
