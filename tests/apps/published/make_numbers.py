"""Write the golden numbers of one published script in tests/data/published again. Run by hand.

    python tests/apps/published/make_numbers.py NAME [CHECKOUT]

A file of numbers names the repository and the commit of its script, and the packages of its environment.
It also has the seed, tables and options. CHECKOUT is the folder of that repository that contains the script.
Each script is called unchanged; its function here names the exceptions. Python 3.8 is enough.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import os
import platform
import sys
import tempfile
import types
import warnings
from ast import literal_eval
from datetime import datetime, timedelta
from importlib.metadata import version
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[2] / "golden"))

from golden_numbers import FOLDER, STOPS, read_numbers, write_numbers
from random_answers import answer_files, windows
from random_tables import DESED, MAESTRO, case_of, data_sets, speech_cases


def from_file(name, checkout=""):
    """Make the numbers of a golden file again from its own seed, tables and options."""
    sys.path.insert(0, checkout)
    golden = read_numbers(f"{name}.json")
    scored = globals()[name](golden)
    results = []
    for number in range(golden["count"]):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            results.append(scored(number, Path(folder), printed))
    versions = {each: version(each) for each in golden["versions"] if each != "python"}
    about = {key: golden[key] for key in golden if key not in ("count", "shown", "digests")}
    write_numbers(
        f"{name}.json", {**about, "versions": {"python": platform.python_version(), **versions}}, results
    )


def few_shot(golden):
    """Each case has a folder of its own; subsets are in the order of their names, not of the disk.

    CHECKOUT is evaluation_metrics; use Python 3.8 with the packages of its requirements.txt.
    """
    import evaluation

    listed = os.listdir
    evaluation.os.listdir = lambda path: sorted(listed(path))
    subsets = {"file0.wav": "HB", "file1.wav": "PB"}

    def scored(number, folder, printed):
        case, report = case_of(golden, number), folder / "report"
        report.mkdir()
        for name in case.files:
            place = folder / "reference" / subsets[name] / (name[:-4] + ".csv")
            place.parent.mkdir(parents=True, exist_ok=True)
            rows = (f"{name},{r.onset!r},{r.offset!r},{r.label}\n" for r in case.reference if r.file == name)
            place.write_text("Audiofilename,Starttime,Endtime,Q\n" + "".join(rows))
        rows = [f"{row.file},{row.onset!r},{row.offset!r}\n" for row in case.system]
        (folder / "system.csv").write_text("Audiofilename,Starttime,Endtime\n" + "".join(rows))
        try:
            evaluation.evaluate(
                *map(str, (folder / "system.csv", folder / "reference")), "team", "VAL", str(report)
            )
        except IndexError:
            return STOPS
        said = [line.partition(" ") for line in printed.getvalue().splitlines()]
        parts = [(f"{name} ", literal_eval(counts)) for name, _, counts in said if name[:4] == "file"]
        parts += [("", literal_eval(scores)) for name, _, scores in said if name == "Overall_scores:"]
        written = json.loads(next(report.glob("*.json")).read_text())
        for part in ("scores_per_subset", "scores_per_audiofile"):
            parts += [(f"{part} {name} ", written[part][name]) for name in sorted(written[part])]
        return {stem + word: value for stem, numbers in parts for word, value in numbers.items()}

    return scored


def calls(case, folder):
    """Write the tables of a case of BioDCASE; two data sets have files of the same names."""
    paths = [folder / "system.csv", folder / "reference.csv"]
    for path, rows in zip(paths, (case.system, case.reference), strict=True):
        lines = ["dataset,filename,annotation,start_datetime,end_datetime"]
        for row in rows:
            hours, odd = divmod(int(row.file[4]), 2)
            begin = datetime(2014, 2, 18, 21 + hours)
            times = (begin + timedelta(microseconds=round(1e6 * t)) for t in (row.onset, row.offset))
            texts = (time.isoformat(timespec="microseconds") + "+00:00" for time in times)
            place = ("kerguelen2014", "casey2017")[odd], f"2014-02-18T{21 + hours}-00-00_000.wav"
            lines.append(",".join([*place, row.label, *texts]))
        path.write_text("".join(f"{line}\n" for line in lines))
    return [*map(str, paths)]


def biodcase(golden):
    """Take the script's tables before it prints them with six digits. CHECKOUT is evaluation."""
    import evaluation

    evaluation.tqdm = lambda rows, **_: rows
    count = evaluation.compute_confusion_matrix

    def scored(number, folder, printed):
        tables = []
        evaluation.compute_confusion_matrix = lambda *given: tables.append(count(*given)) or tables[-1]
        evaluation.run(*calls(case_of(golden, number), folder))
        titles = [text for text in printed.getvalue().splitlines() if text.startswith(("Results", "Final"))]
        return {
            f"{title} {label} {word}": int(value) if word in ("tp", "fp", "fn") else float(value)
            for title, table in zip(titles, tables, strict=True)
            for label, row in table.iterrows()
            for word, value in row.items()
        }

    return scored


def biodcase_ranking(golden):
    """Call only `run`; do the rest as the script does, except that F of means 0 and 0 is NaN.

    The script stops there with newer pandas. CHECKOUT is evaluation, on the branch submission_evaluation.
    """
    import evaluation_submissions as script

    script.tqdm = lambda rows, **_: rows

    def scored(number, folder, _):
        case = case_of(golden, number)
        if not (case.system and case.reference):
            return STOPS
        results = script.run(*calls(case, folder))
        means = results[["recall", "precision", "dataset"]].groupby("dataset").mean().astype(float)
        means["f1"] = 2 * (means["precision"] * means["recall"]) / (means["precision"] + means["recall"])
        order = [*sorted({*means.index} - {"joined"}), "joined"]
        return {f"{name} {word}": float(means.loc[name, word]) for name in order for word in means.columns}

    return scored


def dcase2024(golden):
    """Call what the baseline calls of sed_scores_eval, for files with events; few cases have PSDS."""
    from sed_scores_eval import intersection_based, segment_based
    from sed_scores_eval.base_modules.scores import create_score_dataframe

    first, golden["psds1"] = len(golden["psds1"]), []

    def scored(number, *_):
        arguments, stops = {}, False
        for part, (known, scores) in data_sets(golden, number).items():
            events = {name: rows for name, rows in known.items() if rows}
            classes = sorted(DESED if part == "desed" else MAESTRO)
            columns = [(DESED + MAESTRO).index(label) for label in classes]
            frames = {
                name: create_score_dataframe(scores[name][:, columns], np.arange(21.0), classes)
                for name in events
            }
            lengths = dict.fromkeys(events, 20.0)
            arguments[part] = {"scores": frames, "ground_truth": events, "audio_durations": lengths}
            stops |= len({row[2] for rows in events.values() for row in rows}) != len(classes)
        if number < first:
            how = {
                "dtc_threshold": 0.7, "gtc_threshold": 0.7, "cttc_threshold": None,
                "alpha_ct": 0, "alpha_st": 1, "max_efpr": 100, "num_jobs": 1,
            }  # fmt: skip
            value = np.nan if stops else intersection_based.psds(**arguments["desed"], **how)[0]
            golden["psds1"].append(None if np.isnan(value) else float(value))
        areas = arguments["maestro"]
        return STOPS if stops else {
            "segment_mpauc": segment_based.auroc(**areas, segment_length=1.0, max_fpr=0.1)[0]["mean"],
            "segment_mauc": segment_based.auroc(**areas, segment_length=1.0)[0]["mean"],
        }  # fmt: skip

    return scored


def birdnet(golden):
    """Import only the part that evaluates, as the package imports models, and give it tables in memory.

    This does not compare how pandas reads floats from text. Every other case has known lengths of files.
    """
    import pandas as pd

    package = types.ModuleType("birdnet_analyzer")
    package.__path__ = [str(Path(sys.path[0]) / "birdnet_analyzer")]
    sys.modules["birdnet_analyzer"] = package
    module = importlib.import_module("birdnet_analyzer.evaluation")
    processor = sys.modules["birdnet_analyzer.evaluation.preprocessing.data_processor"]
    metrics = ("auroc", "precision", "recall", "f1", "ap", "accuracy")

    def frame(rows, length):
        columns = ["Recording", "Start Time", "End Time", "Class", "Confidence"]
        table = pd.DataFrame(rows, columns=columns).astype({"Start Time": float, "End Time": float})
        return table if length is None else table.assign(Duration=length)

    def scored(number, *_):
        case = case_of(golden, number)
        options = {**golden["options"][number % len(golden["options"])]}
        options["score_unannotated_as_empty"] = bool(options.get("score_unannotated_as_empty"))
        length = case.length if number % 2 else None
        ours = frame(case.reference, length).drop(columns="Confidence")
        tables = {"annotations": ours, "predictions": frame(case.system, length)}
        processor.read_and_concatenate_files_in_directory = lambda name: tables[name].copy()
        try:
            result = module.process_data(*tables, metrics_list=metrics, **options)
        except KeyError as error:
            # No recording has a window, so the table of windows has no columns.
            if error.args != ("filename",):
                raise
            return STOPS
        how = {"per_class_metrics": True, "include_support": True}
        by_class = result.pa.calculate_metrics(result.predictions, result.labels, **how)
        numbers = {f"Overall {name}": value for name, value in result.metrics_df["Overall"].items()}
        for label in result.classes:
            numbers.update((f"{label}: {name}", value) for name, value in by_class[label].items())
            numbers[f"{label}: Support"] = int(numbers[f"{label}: Support"])
        return numbers

    return scored


def amr(golden):
    """Call the script without its pool of processes. CHECKOUT is training."""
    script = importlib.import_module("standalone_eval.eval")
    in_pool = script.compute_mr_ap
    script.compute_mr_ap = lambda *rows, **_: in_pool(*rows, num_workers=1)

    def scored(number, *_):
        reference, system = windows(number)
        try:
            return dict(script.eval_submission(system, reference, verbose=False)["brief"])
        except (TypeError, ValueError, IndexError, KeyError, AssertionError):
            return STOPS

    return scored


def lat_bench(script):
    """CHECKOUT is examples/train/multimodal/eval/eval-TAG.py of alanshaoTT/LAT-Audio-Repo at 2fca544c."""
    spec = importlib.util.spec_from_file_location("eval_tag", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path, counts, scores = Path(tempfile.mkdtemp(), "answers.jsonl"), [], []
    for _, lines in answer_files(10_000):
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        found = module.TAGEvaluator().evaluate(str(path))
        found = {**found, **found["recall"]}
        counts.append((found["total"], found["valid"]))
        scores.append([found.get(name, np.nan) for name in ("mIoU", "R@0.3", "R@0.5", "R@0.7")])
    arrays = {"counts": np.array(counts, dtype=np.int16), "scores": np.array(scores)}
    np.savez_compressed(FOLDER / "lat_bench.npz", **arrays)


def pyannote_vad():
    """Use pyannote.metrics 4.2.0, pyannote.core 6.1.0 and Python 3.11: later ones add floats differently."""
    from pyannote.core import Annotation, Segment, Timeline
    from pyannote.metrics.detection import DetectionErrorRate

    numbers = []
    for case, collar, skip_overlap, regions in speech_cases(10_000):
        metric = DetectionErrorRate(collar=collar, skip_overlap=skip_overlap)
        for name in case.files:
            sides = Annotation(uri=name), Annotation(uri=name)
            for side, rows in zip(sides, (case.reference, case.system), strict=True):
                for track, row in enumerate(rows):
                    if row.file == name:
                        side[Segment(row.onset, row.offset), track] = row.label
            metric(*sides, uem=Timeline([Segment(*each) for each in regions[name]]) if regions else None)
        rates = ((name, kind) for name in ("false alarm", "miss") for kind in ("", "%"))
        columns = [("detection error rate", "%"), ("total", ""), *rates]
        numbers.append([metric.report().loc["TOTAL"][column] for column in columns])
    np.savez_compressed(FOLDER / "pyannote_vad.npz", numbers=np.array(numbers, dtype=np.float64))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] in ("lat_bench", "pyannote_vad"):
        globals()[sys.argv[1]](*sys.argv[2:])
    else:
        from_file(*sys.argv[1:])
