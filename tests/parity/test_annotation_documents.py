"""Documents of annotation tools are read as the tools' own libraries read them."""

from pathlib import Path
from random import Random

import pytest
from drawn import facts

from sedeval_soft.tables import read_rows

pytestmark = pytest.mark.filterwarnings("ignore")

SEEDS = range(3)
LABELS = ("robin", "people talking", 'a "loud" horn', "rouge-gorge \u00e9", "R&B <3", "x = [1]: 2.5")


def drawn(seed, n=20):
    """Return ordered onsets, offsets and labels of events that do not overlap, on whole milliseconds."""
    random = Random(seed)  # noqa: S311
    cuts = sorted(random.sample(range(60_000), 2 * n))
    return [(b / 1000, e / 1000, random.choice(LABELS)) for b, e in zip(cuts[::2], cuts[1::2], strict=True)]


def ours(path):
    """Return onset, offset and label of the rows of a document, and the other facts of each."""
    rows = facts(read_rows(path))[1]
    return sorted((onset, offset, label) for _, onset, offset, label, _ in rows), rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("form", ["long_textgrid", "short_textgrid"])
def test_textgrids_are_read_as_praatio_reads_them(seed, form, tmp_path):
    textgrid = pytest.importorskip("praatio.textgrid")
    path, grid = str(tmp_path / "a.TextGrid"), textgrid.Textgrid()
    grid.addTier(textgrid.IntervalTier("events [1]", drawn(seed), 0, 60))
    points = [(onset, label) for onset, _, label in drawn(seed + 100)]
    grid.addTier(textgrid.PointTier('"points"', points, 0, 60))
    grid.save(path, format=form, includeBlankSpaces=True)
    tiers = textgrid.openTextgrid(path, includeEmptyIntervals=False).tiers
    # The library leaves doubled quotes in labels of points.
    theirs = sorted(
        (float(e[0]), float(e[-2]), e[-1].replace('""', '"')) for tier in tiers for e in tier.entries
    )
    assert ours(path)[0] == theirs and len(theirs) == 40


@pytest.mark.parametrize("seed", SEEDS)
def test_documents_of_elan_are_read_as_pympi_reads_them(seed, tmp_path):
    elan = pytest.importorskip("pympi.Elan")
    path, document = str(tmp_path / "a.eaf"), elan.Eaf(author="")
    document.add_linked_file("file:///x/rec1.wav", mimetype="audio/x-wav")
    document.add_linguistic_type("refers", "Symbolic_Association", timealignable=False)
    document.add_tier("events")
    document.add_tier("kinds", ling="refers", parent="events")
    for onset, offset, label in drawn(seed):
        begin, end = round(onset * 1000), round(offset * 1000)
        document.add_annotation("events", begin, end, label)
        document.add_ref_annotation("kinds", "events", begin, f"kind of {label}")
    document.to_file(path)
    read, (found, rows) = elan.Eaf(path), ours(path)
    theirs = [each[:3] for tier in ("events", "kinds") for each in read.get_annotation_data_for_tier(tier)]
    assert found == sorted((begin / 1000, end / 1000, label) for begin, end, label in theirs)
    assert ({row[0] for row in rows}, len(theirs)) == ({"rec1.wav"}, 40)


@pytest.mark.parametrize("seed", SEEDS)
def test_jams_are_read_as_jams_reads_them(seed, tmp_path):
    jams = pytest.importorskip("jams")
    path, document = str(tmp_path / "a.jams"), jams.JAMS()
    document.file_metadata.duration = 60
    annotation = jams.Annotation("segment_open", time=0, duration=60)
    for k, (onset, offset, label) in enumerate(drawn(seed)):
        value = {"value": label, "confidence": k / 20 if k % 2 else None}
        annotation.append(time=onset, duration=offset - onset, **value)
    document.annotations.append(annotation)
    document.save(path)
    theirs, (found, rows) = jams.load(path).annotations[0].data, ours(path)
    assert found == sorted((o.time, round(o.time + o.duration, 6), o.value) for o in theirs)
    values = {round(o.time, 6): 1.0 if o.confidence is None else o.confidence for o in theirs}
    assert {row[1]: row[4] for row in rows} == values


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("predicted", [False, True])
def test_documents_of_soundevent_are_read_as_it_reads_them(seed, predicted, tmp_path):
    pytest.importorskip("soundevent")
    pytest.importorskip("shapely")
    from soundevent import data, io
    from soundevent.geometry import compute_bounds

    paths = [tmp_path / name for name in ("a.wav", "b.wav")]
    recordings = [data.Recording(path=each, duration=60, channels=1, samplerate=22050) for each in paths]
    clips = [data.Clip(recording=each, start_time=0, end_time=60) for each in recordings]
    made, (low, high) = {0: [], 1: []}, (500.0, 4000.0)
    for k, (onset, offset, label) in enumerate(drawn(seed)):
        shapes = (
            data.TimeInterval(coordinates=[onset, offset]),
            data.BoundingBox(coordinates=[onset, low, offset, high]),
            data.Polygon(coordinates=[[[offset, low], [onset, high], [onset, low]]]),
            data.LineString(coordinates=[[onset, low], [offset, high]]),
            data.TimeStamp(coordinates=onset),
            data.Point(coordinates=[onset, low]),
        )
        sound = data.SoundEvent(recording=recordings[k % 2], geometry=shapes[k % len(shapes)])
        tag = data.Tag(key="species", value=label)
        scored = {"sound_event": sound, "score": 1, "tags": [data.PredictedTag(tag=tag, score=k / 20)]}
        plain = {"sound_event": sound, "tags": [tag]}
        event = data.SoundEventPrediction(**scored) if predicted else data.SoundEventAnnotation(**plain)
        made[k % 2].append(event)
    of_clip = data.ClipPrediction if predicted else data.ClipAnnotation
    sets = [of_clip(clip=clip, sound_events=made[k]) for k, clip in enumerate(clips)]
    tasks = [data.AnnotationTask(clip=clip) for clip in clips]
    if predicted:
        whole = data.PredictionSet(clip_predictions=sets)
    else:
        whole = data.AnnotationProject(name="x", clip_annotations=sets, tasks=tasks)
    io.save(whole, tmp_path / "a.json", audio_dir=tmp_path)
    read = io.load(tmp_path / "a.json", audio_dir=tmp_path)
    theirs = []
    for each in (
        of
        for clip in (read.clip_predictions if predicted else read.clip_annotations)
        for of in clip.sound_events
    ):
        onset, _, offset, _ = compute_bounds(each.sound_event.geometry)
        name, tag = each.sound_event.recording.path.name, each.tags[0]
        label, value = (tag.tag.value, tag.score) if predicted else (tag.value, None)
        theirs.append((name, onset, offset, label, value))
    assert sorted(ours(tmp_path / "a.json")[1], key=repr) == sorted(theirs, key=repr) and len(theirs) == 20


# We read annotations as crowsetta does, and read those that it writes.

FILES = Path(__file__).parents[1] / "tables" / "dialects"


@pytest.fixture
def crowsetta():
    return pytest.importorskip("crowsetta", reason="needs crowsetta: pip install --group parity")


def events(path: Path) -> list[tuple[str, float, float, str]]:
    """Return the events of a table, in order."""
    return sorted(row[:4] for row in facts(read_rows(path))[1])


@pytest.mark.parametrize("name", ["rec1", "rec2"])
def test_selections_of_raven_are_those_of_crowsetta_but_for_their_views(name, crowsetta):
    path = FILES / "raven" / f"{name}.Table.1.selections.txt"
    boxes = crowsetta.formats.bbox.Raven.from_file(path, annot_col="Species").to_bbox()
    each = {("", float(box.onset), float(box.offset), box.label) for box in boxes}
    assert events(path) == sorted(each)
    assert len(boxes) == 2 * len(each), "crowsetta has a box for each view"


def test_sequences_that_crowsetta_writes_are_read(crowsetta, tmp_path):
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


def test_simple_sequences_are_read_as_crowsetta_reads_them(crowsetta, tmp_path):
    path = tmp_path / "rec1.csv"
    path.write_text("onset_s,offset_s,label\n0.5,1.5,a\n2.25,4.0,b\n")
    sequence = crowsetta.formats.seq.SimpleSeq.from_file(path)
    each = zip(sequence.onsets_s.tolist(), sequence.offsets_s.tolist(), sequence.labels, strict=True)
    assert events(path) == [("", onset, offset, str(label)) for onset, offset, label in each]
