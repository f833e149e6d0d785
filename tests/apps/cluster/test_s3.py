"""Shards in a bucket of S3, as a server on this machine has it."""

from __future__ import annotations

import pytest
from sharded_tables import SAMPLES, shards

from sedeval_soft import InputError, evaluate

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install --group distributed")
pytest.importorskip("s3fs", reason="needs s3fs: pip install --group distributed")
server = pytest.importorskip("moto.server", reason="needs moto: pip install --group distributed")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


def test_a_bucket_is_read(monkeypatch):
    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": f"http://{host}:{port}"})
    files = fsspec.filesystem("s3")
    files.mkdir("archive")
    for name, text in shards("archive/").items():
        files.pipe(name, text.encode())
    found = evaluate("s3://archive/ref-*.tsv", "s3://archive/sys-*.tsv")
    assert dict(found) == dict(evaluate(SAMPLES / "ref.tsv", SAMPLES / "sys.tsv"))
    for name in ("s3://archive/none.tsv", "s3://nobucket/none.tsv"):
        with pytest.raises(InputError, match=rf"^{name}: cannot be read"):
            evaluate(name, name)
    running.stop()
