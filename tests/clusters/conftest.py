"""Clusters on this machine, and files that fail, for processes that tests start, too."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

if os.environ.get("SOFT_SED_EVAL_DISTRIBUTED"):
    # Where these are demanded nothing may be skipped for want of them.
    for name in ("distributed", "fsspec", "s3fs", "moto"):
        importlib.import_module(name)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Let fsspec find `flaky://` in this process and in all that it starts."""
    folder = tmp_path_factory.mktemp("installed")
    told = folder / "flaky_files-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: flaky-files\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[fsspec.specs]\nflaky = flaky_files:FlakyFiles\n")
    before = os.environ.get("PYTHONPATH")
    more = [str(HERE), str(folder), str(HERE.parents[1])]
    os.environ["PYTHONPATH"] = os.pathsep.join([*more, *([before] if before else [])])
    sys.path[:0] = more[:2]
    fsspec = pytest.importorskip("fsspec")
    fsspec.register_implementation("flaky", "flaky_files.FlakyFiles", clobber=True)
    yield
    del sys.path[:2]
    if before is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = before


@pytest.fixture(scope="module")
def cluster(installed):
    """A cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")
    given = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with distributed.LocalCluster(n_workers=2, **given) as workers:
        yield workers
