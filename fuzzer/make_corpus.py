"""Write the seeds: small tables in every form, archives, settings files: `python fuzzer/make_corpus.py`."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from targets import EXTENSIONS

from sedeval_soft.tables.forms import FORMS
from sedeval_soft.tables.frames import rows_from_data

CORPUS = Path(__file__).parent / "corpus"
DOCUMENTS = Path(__file__).parents[1] / "tests" / "tables" / "documents"
LONG = (
    b"filename\tonset\toffset\tevent_label\tsoft_value\n"
    b"a.wav\t0\t1.5\tcar\t0.25\na.wav\t1.5\t3\tdog\t1\nb.wav\t\t\t\t\n"
)
PLAIN = {
    "header": LONG,
    "bare": b"0\t1\tcar\n1\t2.5\tdog\n",
    "named": b"a.wav\t0\t1\tcar\nb.wav\t1\t2\tdog\n",
    "wide": b"onset,offset,car,dog\n0,1,0.5,0\n1,2,0,1\n",
    "quoted": b'onset;offset;label\n0;1;"a;b"\n1;2;"say ""no"""\n',
    "scene": b"a.wav\thome\t0\t1\tcar\n",
    "mark": b"\xef\xbb\xbf" + LONG,
    "ends": LONG.replace(b"\n", b"\r\n"),
    "nothing": b"",
}
SETTINGS = {
    "settings": b"segment_length: 0.5\nthreshold: 0.3\nclasses: [car, dog]\ngroups: {traffic: [car]}\n",
    "post": b"median_filter: {car: 0.5}\nmin_gap: 0.2\nonly: [segment.soft]\nbeta: 2\n",
    "thresholds": b"thresholds:\n  car: 0.5\n  dog: -1.0\nobjective: segment.f1\ninclusive: false\n",
    "lines": b"car: 0.4\ndog: 0.6\n",
    "anchors": b"a: &x [1, 2]\nb: *x\n",
}


def seed(extension: str, data: bytes) -> bytes:
    """Return the input that is a file of this extension."""
    return bytes([EXTENSIONS.index(extension)]) + data


def seeds() -> dict[str, bytes]:
    """Return the inputs of the reader by name."""
    found = {f"text_{name}": seed(".tsv", data) for name, data in PLAIN.items()}
    columns = {
        "onset": [0.0, 1.0],
        "offset": [1.0, 2.0],
        "event_label": ["car", "dog"],
        "soft_value": [0.5, 1.0],
    }
    rows = rows_from_data(columns, "seed")
    for form in FORMS:
        extension = next((of for of in form.extensions if of in EXTENSIONS), "")
        if form.written and extension:
            found[f"form_{form.name}"] = seed(extension, form.write(rows))
    for path in sorted(DOCUMENTS.iterdir()):
        found[f"document_{path.name}"] = seed(path.suffix, path.read_bytes())
    found["packed"] = seed(".tsv.gz", gzip.compress(LONG, mtime=0))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tsv", LONG)
    found["zip"] = seed(".zip", stream.getvalue())
    for mode, extension in (("w", ".tar"), ("w:gz", ".tar.gz")):
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode=mode) as archive:
            member = tarfile.TarInfo("a.tsv")
            member.size = len(LONG)
            archive.addfile(member, io.BytesIO(LONG))
        found[extension.strip(".")] = seed(extension, stream.getvalue())
    return found


def main() -> None:
    """Write all seeds."""
    for target, inputs in (("reader", seeds()), ("settings", SETTINGS)):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in inputs.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
