"""Annotations that crowsetta reads are read alike; those that it writes are read."""

from pathlib import Path

import pytest
from drawn import facts

from sedeval_soft.tables import read_rows

crowsetta = pytest.importorskip("crowsetta", reason="needs crowsetta: pip install --group parity")

FILES = Path(__file__).parents[1] / "tables" / "dialects"


def events(path: Path) -> list[tuple[str, float, float, str]]:
    """Return the events of a table, in order."""
    return sorted(row[:4] for row in facts(read_rows(path))[1])


@pytest.mark.parametrize("name", ["rec1", "rec2"])
def test_selections_of_raven_are_those_of_crowsetta_but_for_their_views(name):
    path = FILES / "raven" / f"{name}.Table.1.selections.txt"
    boxes = crowsetta.formats.bbox.Raven.from_file(path, annot_col="Species").to_bbox()
    each = {("", float(box.onset), float(box.offset), box.label) for box in boxes}
    assert events(path) == sorted(each)
    assert len(boxes) == 2 * len(each), "crowsetta has a box for each view"


def test_sequences_that_crowsetta_writes_are_read(tmp_path):
    sequences = crowsetta.formats.seq.GenericSeq.from_file(FILES / "crowsetta.csv")
    sequences.to_file(tmp_path / "sequences.csv")
    each = [
        (str(annotation.notated_path), float(onset), float(offset), str(label))
        for annotation in sequences.annots
        for onset, offset, label in zip(
            annotation.seq.onsets_s, annotation.seq.offsets_s, annotation.seq.labels, strict=True
        )
    ]
    assert events(tmp_path / "sequences.csv") == sorted(each)


def test_simple_sequences_are_read_as_crowsetta_reads_them(tmp_path):
    path = tmp_path / "rec1.csv"
    path.write_text("onset_s,offset_s,label\n0.5,1.5,a\n2.25,4.0,b\n")
    sequence = crowsetta.formats.seq.SimpleSeq.from_file(path)
    each = zip(sequence.onsets_s.tolist(), sequence.offsets_s.tolist(), sequence.labels, strict=True)
    assert events(path) == [("", onset, offset, str(label)) for onset, offset, label in each]
