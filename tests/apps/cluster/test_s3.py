"""Shards in a bucket of S3, as a server on this machine has it."""

from __future__ import annotations

import pytest
from parted import count_in_parts
from sharded_tables import SAMPLES, parts_of

from sedeval_soft import InputError, Settings, evaluate
from sedeval_soft.evaluation.system_scores import score_shard
from sedeval_soft.report import render

pytest.importorskip("distributed", reason="needs dask and distributed: pip install --group distributed")
pytest.importorskip("s3fs", reason="needs s3fs: pip install --group distributed")
server = pytest.importorskip("moto.server", reason="needs moto: pip install --group distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def bucket():
    """A bucket with the sample's tables in shards; who is begun now finds it, too."""
    import fsspec

    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    more = {
        "FSSPEC_S3_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in more.items():
            patch.setenv(name, value)
        fsspec.config.set_conf_env(fsspec.config.conf)
        files = fsspec.filesystem("s3")
        files.mkdir("archive")
        for role in ("ref", "sys"):
            for k, text in enumerate(parts_of(role, 3)):
                files.pipe(f"archive/{role}/part-{k}.tsv", text.encode())
        yield "s3://archive"
    running.stop()
    fsspec.config.conf.pop("s3", None)


def test_a_cluster_reads_a_bucket(bucket, cluster):
    sides = (f"{bucket}/ref/*.tsv", f"{bucket}/sys/*.tsv")
    here = evaluate(*sides)
    shard = count_in_parts(*sides, Settings(), scheduler=cluster.scheduler_address)
    assert render([score_shard(shard, here.version)], "json") == render([here], "json")
    assert dict(here) == dict(evaluate(SAMPLES / "ref.tsv", SAMPLES / "sys.tsv"))


def test_names_that_are_not_in_a_bucket(bucket):
    for name in (f"{bucket}/none.tsv", "s3://nobucket/none.tsv"):
        with pytest.raises(InputError, match=rf"^{name}: cannot be read"):
            evaluate(name, f"{bucket}/none.tsv")
