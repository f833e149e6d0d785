"""Clusters on this machine, and failing files that processes started by tests also find."""

import importlib
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent

if os.environ.get("SOFT_SED_EVAL_DISTRIBUTED"):
    # If these are demanded, a missing package is an error, not a skipped test.
    for name in ("distributed", "fsspec", "s3fs", "moto", "pyspark"):
        importlib.import_module(name)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """Let fsspec find `flaky://` in this process and in all processes that it starts."""
    told = tmp_path_factory.mktemp("installed") / "flaky_files-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: flaky-files\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[fsspec.specs]\nflaky = flaky_files:FlakyFiles\n")
    fsspec = pytest.importorskip("fsspec")
    more = [str(HERE), str(told.parent), str(HERE.parents[2])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([*more, os.environ.get("PYTHONPATH", "")]))
        for path in more[1::-1]:
            patch.syspath_prepend(path)
        fsspec.register_implementation("flaky", "flaky_files.FlakyFiles", clobber=True)
        yield


@pytest.fixture(scope="module")
def cluster(installed):
    """Start a cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")
    given = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 60}
    with distributed.LocalCluster(n_workers=2, **given) as workers:
        yield workers
