"""Write the seeds, small tables in every format, lists and archives: `python tests/fuzz/make_corpus.py`."""

import gzip
import io
import shutil
import zipfile
from pathlib import Path

from targets import DIVIDER, EXTENSIONS, KINDS, LISTS, LONG, OPTIONS, TALLIES, tarred, zipped

from sedeval_soft.settings_files import PRESETS, text_of_preset
from sedeval_soft.tables.columnar import rows_from_data
from sedeval_soft.tables.forms import FORMS

CORPUS = Path(__file__).parent / "corpus"
EVENTS = b"filename\tonset\toffset\tevent_label\na.wav\t0\t1\tcar\n"
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
SAID = {
    "numbers": (".csv", 1, b"0,1,car,x\n1,2,dog,y\n"),
    "numbers_of_files": (".csv", 2, b"a.wav,0,1\nb.wav,1,2\n"),
    "one_class": (".csv", 3, b"filename,start,end\na.wav,0,1\n"),
    "names": (".csv", 4, b"id,onset,offset,label,p,x\na.wav,0,1,car,0.5,z\n"),
}
"""Tables that options read."""

TABLES = {
    "folder_bare": ("folder", {"a.txt": b"0\t1\tcar\n", "b/c.txt": b"1\t2\tdog\n"}),
    "folder_wide": ("folder", {"a.tsv": b"onset\toffset\tcar\n0\t1\t0.5\n", "b.tsv": b""}),
    "points": ("points", {"out_0.1.tsv": EVENTS, "out_0.5.tsv": EVENTS}),
    "points_assumed": ("folder", {"out_0.1.tsv": EVENTS, "out_0.5.tsv": EVENTS}),
    "shards": ("pattern", {"a.tsv": EVENTS, "b.csv": b"filename,onset,offset,label\nb.wav,0,1,dog\n"}),
    "zip": (".zip", {"a.tsv": EVENTS, "x/b.tsv": EVENTS.replace(b"a.wav", b"b.wav")}),
    "tar": (".tar", {"a.txt": b"0\t1\tcar\n", "b.txt": b""}),
}
NAMES = {
    "plain": (".txt", b"# a list\na.wav\n\nb.wav\n"),
    "header": (".csv", b"filename,fold\na.wav,1\nb.wav,2\n"),
    "dcase_fold": (".txt", b"audio/a.wav\thome\naudio/b.wav\tpark\n"),
    "table": (".tsv", LONG),
    "durations": (".tsv", b"filename\tduration\na.wav\t10\nb.wav\t12.5\n"),
    "milliseconds": (".csv", b"file,duration_ms\na.wav,10000\n"),
    "bare": (".csv", b"a.wav,10\nb.wav,12\n"),
    "uem": (".uem", b";; a comment\na.wav 1 0.000 10.0\nb.wav 1 0 12\n"),
    "scenes": (".tsv", b"filename\tscene_label\na.wav\thome\nb.wav\tpark\n"),
    "rttm": (".rttm", b"SPEAKER a.wav 1 0 1 <NA> <NA> car <NA> <NA>\n"),
}
SETTINGS = {
    "settings": b"segment_length: 0.5\nthreshold: 0.3\nclasses: [car, dog]\ngroups: {traffic: [car]}\n",
    "post": b"median_filter: {car: 0.5}\nmin_gap: 0.2\nonly: [segment.soft]\nbeta: 2\n",
    "thresholds": b"thresholds:\n  car: 0.5\n  dog: -1.0\nobjective: segment.f1\ninclusive: false\n",
    "lines": b"car: 0.4\ndog: 0.6\n",
    "anchors": b"a: &x [1, 2]\nb: *x\n",
    "reading": b"columns: {filename: id, value: p, ignore: [x, y]}\nlabel: speech\nfrom: {system: jams}\n",
    "reading_lists": b"columns: [filename=id, value=p]\nfrom: [reference=raven, system=jams]\n",
    "files": b"extends: dcase2023-task4b\nfiles: fold1.txt\noperating-points: true\n",
    "listed": b"files: [a.wav, b.wav]\nscenes: {home: ['a*']}\n",
}


def seed(extension: str, data: bytes, options: int = 0) -> bytes:
    """Return an input of `reader`: a file with this extension, read with some options."""
    return bytes([EXTENSIONS.index(extension), options]) + data


def seeds() -> dict[str, bytes]:
    """Return the inputs of the reader by name."""
    found = {f"text_{name}": seed(".tsv", data) for name, data in PLAIN.items()}
    found |= {f"said_{name}": seed(end, data, said) for name, (end, said, data) in SAID.items()}
    columns = {"onset": [0.0, 1.0], "offset": [1.0, 2.0], "event_label": ["car", "dog"]}
    rows = rows_from_data({**columns, "soft_value": [0.5, 1.0]}, "seed")
    forms = [options.get("source_form") for options in OPTIONS]
    for form in FORMS:
        extension = next((of for of in form.extensions if of in EXTENSIONS), "")
        if form.written and extension:
            data = form.write(rows)
            found[f"form_{form.name}"] = seed(extension, data)
            found[f"from_{form.name}"] = seed(extension, data, forms.index(form.name))
    for folder in ("documents", "dialects", "samples"):
        for path in sorted((CORPUS.parents[1] / "tables" / folder).iterdir()):
            if path.is_file():
                extension = path.suffix if path.suffix in EXTENSIONS else ".txt"
                found[f"{folder.removesuffix('s')}_{path.name}"] = seed(extension, path.read_bytes())
    tar = tarred([("a.tsv", LONG)])
    return found | {
        "packed": seed(".tsv.gz", gzip.compress(LONG, mtime=0)),
        "zip": seed(".zip", zipped([("a.tsv", LONG)])),
        "tar": seed(".tar", tar),
        "tar.gz": seed(".tar.gz", gzip.compress(tar, mtime=0)),
    }


def members() -> dict[str, bytes]:
    """Return the inputs of `tallies`: each member of each tally, and one whole tally."""
    found = {"whole": b"\0\xff" + TALLIES[0]}
    for i, tally in enumerate(TALLIES):
        with zipfile.ZipFile(io.BytesIO(tally)) as archive:
            for k, info in enumerate(archive.infolist()):
                found[f"tally{i}_member{k}"] = bytes([i, k]) + archive.read(info)
    return found


def main() -> None:
    """Write all seeds."""
    presets = {f"preset_{name}": text_of_preset(name).encode() for name in PRESETS}
    several = {
        name: bytes([KINDS.index(kind)])
        + DIVIDER.join(b"%s\n%s" % (called.encode(), table) for called, table in tables.items())
        for name, (kind, tables) in TABLES.items()
    }
    listed = {name: bytes([LISTS.index(end)]) + data for name, (end, data) in NAMES.items()}
    for target, inputs in {
        "reader": seeds(), "folders": several, "lists": listed, "settings": SETTINGS | presets,
        "tallies": members(),
    }.items():  # fmt: skip
        shutil.rmtree(CORPUS / target, ignore_errors=True)
        (CORPUS / target).mkdir(parents=True)
        for name, data in inputs.items():
            (CORPUS / target / name).write_bytes(data)


if __name__ == "__main__":
    main()
