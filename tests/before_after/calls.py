# ruff: noqa: E501 - a call is a line
# fmt: off
"""The calls to compare: every command, basis, reading and output format over every family of inputs.

A call is a line that a user could type in the folder of inputs; `OUT/` is a folder of its own, `< FILE` is
standard input. After `&&` the next command of the same call follows. `py` is an expression of the library.
"""

ALL = "--only all --measures all --format json"
PLAIN = "plain_ref.tsv plain_sys.tsv"
HARD = "plain_ref_events.tsv plain_sys_events.tsv"
FRAMES = "frames_ref.tsv frames_sys.tsv"
LENGTHS = "--durations plain_durations.tsv"

# Pairs of tables, each with all scores.
PAIRS = [
    "ref.tsv sys.tsv", "ref.tsv sys_b.tsv", "events.tsv sys.tsv", "events.tsv events.tsv", "ref.tsv events.tsv", "ref_wide.tsv sys.tsv",
    PLAIN, f"{PLAIN} {LENGTHS}", HARD, f"{HARD} {LENGTHS}", FRAMES, "plain_ref_events.tsv plain_sys.tsv", "plain_ref.tsv plain_sys_events.tsv",
    f"plain_ref_events.tsv plain_sys.tsv {LENGTHS}", "plain_ref.tsv silent.tsv", f"silent.tsv plain_sys.tsv {LENGTHS}", "silent.tsv plain_sys.tsv",
    "declared.tsv plain_sys.tsv", f"declared.tsv plain_sys.tsv {LENGTHS}", f"plain_ref.tsv declared.tsv {LENGTHS}", "plain_ref.tsv one_side.tsv",
    f"plain_ref.tsv one_side.tsv {LENGTHS}", "one_side.tsv plain_sys.tsv", "plain_ref.tsv beyond.tsv", f"plain_ref.tsv beyond.tsv {LENGTHS}",
    "plain_ref.tsv other_classes.tsv", "voice_ref.tsv voice_sys.tsv", "maestro_ref.tsv maestro_sys.tsv --durations maestro_durations.tsv",
    "shards_ref shards_sys", "shards_ref/*.tsv shards_sys/*.tsv", "answers_ref.jsonl answers_sys.jsonl",
    "samples/audacity.txt samples/audacity.txt", "dialects/raven dialects/raven", "dialects/few-shot.csv dialects/few-shot.csv",
]

# Settings, each for rows with values, events without values, and frames.
SETTINGS = [
    "--segment-length 0.25 --set pool=mean --threshold 0.3 --reference-threshold 0.6 --set inclusive=true", "--segment-length 1/3", "--set beta=2 --classes car,dog",
    "--set events=merge --set offset=false", "--set events=rows --set matching=greedy --onset-collar 0.5", "--set match_by=iou --set iou=0.3", "--regions regions.tsv",
    "--regions regions.tsv --set region_edges=onset", "--files files.txt", "--set ignore_class=dog", "--set 'after_shots=2 car'", "--median-filter 0.6 --set min_gap=0.4 --set min_duration=0.6",
    "--set t_norm=product --set entropy_unit=bits --set epsilon=1e-5", "--set t_norm=lukasiewicz", "--psds dcase-psds1", "--psds dcase-psds2 --set max_efpr=60", "--set dtc=0.3 --set gtc=0.7 --set cttc=0.1 --psds dcase-psds1",
    "--set max_fpr=0.3 --set max_fnr=0.2 --set bins=5", "--set means=harmonic,geometric,files.mean", "--set 'satisfice=precision>=0.6'", "--set 'satisfice=error_rate<=0.9'",
]

# Intervals, folds, tuned thresholds.
INTERVALS = [
    "--ci --replicates 60", "--ci bca --replicates 60", "--ci expanded --replicates 60 --set confidence=0.9", "--ci jackknife",
    "--ci --set fixed_thresholds=true --replicates 60", "--folds folds.tsv", "--by '{}/*' --set means=scenes.harmonic", "--cross-tune 3 --set objective=event.f1", "--folds folds.tsv --set objective=segment.error_rate",
    "--thresholds midpoint", "--thresholds prior", "--set", "reference_sweep=true", "--worst 4", "--per-file", "--jobs 2", "--memory-limit 400M --jobs 1",
]

PRESETS = {
    "dcase2016-task3": "plain", "dcase2017-task2": "plain", "dcase2017-task3": "plain", "dcase2019-task4": "desed", "dcase2019-2022-task4": "desed", "dcase2021-2024-few-shot --by {}/*": "shots",
    "dcase2023-task4b": "maestro", "dcase2024-task4-desed": "desed", "dcase2024-task4-maestro": "maestro", "biodcase2025-task2": "whales", "voice-activity": "voice",
    "maestro-soft": "maestro", "birdnet-analyzer": "plain",
}
PUBLISHED = {
    "few-shot": "shots_ref.tsv shots_sys.tsv", "biodcase2025-task2": "calls_ref.tsv calls_sys.tsv",
    "dcase2024-task4": "both_ref.tsv both_sys.tsv --durations both_durations.tsv", "birdnet-analyzer": PLAIN,
    "lat-bench": "script.jsonl script.jsonl", "pyannote-vad": "voice_ref.tsv voice_sys.tsv",
}
FORMS = ("long.csv", "wide.tsv", "wide.csv", "sed_eval.txt", "maestro", "scores", "table.parquet", "table.arrow", "table.jsonl", "table.rttm", "audacity")
SAMPLES = (
    *(f"samples/{name}" for name in ("answers.jsonl", "jams.jams", "jsonl-wide.ndjson", "jsonl.jsonl", "rttm.rttm")),
    *(f"documents/{name}" for name in ("annotation-set.json", "elan.eaf", "label-studio.json", "long.TextGrid", "one-line.jams", "prediction-set.json")),
    *(f"dialects/{name}" for name in ("audioset-strong.tsv", "birdnet-raven.txt", "birdnet.csv", "crowsetta.csv", "dcase-weak.tsv", "milliseconds.csv", "nips4bplus", "onset-duration.csv", "seld", "tut-2017.ann")),
)
KINDS = ("matrix", "classes", "pr", "roc", "det", "psd-roc", "f-thresholds", "reliability", "confusion", "errors")

CALLS = [
    *(f"{pair} {ALL}" for pair in PAIRS),
    *(f"{tables} {setting} {ALL}" for setting in SETTINGS for tables in (f"{PLAIN} {LENGTHS}", HARD)),
    *(f"{FRAMES} {setting} {ALL}" for setting in SETTINGS if not any(word in setting for word in ("plain", "regions", "files.txt", "dog"))),
    *(f"{PLAIN} {LENGTHS} {choice} --only all --measures curves --format json" for choice in INTERVALS),
    *(f"{HARD} {choice} --format json" for choice in INTERVALS if not choice.startswith(("--thr", "--cross", "--folds folds.tsv --s"))),
    *(f"{table}_ref.tsv {table}_sys.tsv --durations {table}_durations.tsv --preset {preset} --format json" for preset, table in PRESETS.items()),
    "desed_ref_events.tsv desed_sys_events.tsv --preset dcase2019-task4 --format json",
    "answers_ref.jsonl answers_sys.jsonl --preset audio-grounding --format json",
    *(f"published {name} {tables} --format json" for name, tables in PUBLISHED.items()),
    "published", "published few-shot shots_ref.tsv shots_sys.tsv", "published few-shot shots_ref.tsv shots_sys.tsv --set subsets=none --format json",
    # Operating points, tallies, several systems.
    "plain_ref.tsv points --operating-points --psds dcase-psds1 --only all --format json",
    f"plain_ref_events.tsv points --operating-points --psds dcase-psds2 --only intersection --only event {LENGTHS} --format json",
    f"{FRAMES} --only intersection --psds dcase-psds2 --set psds_median_filters=0.6,1 --format json",
    f"{PLAIN} {LENGTHS} --save-tally OUT/a.tally --quiet && merge OUT/a.tally --ci --replicates 50 --format json",
    "ref.tsv sys.tsv sys_b.tsv --format json --replicates 100", "ref.tsv sys.tsv sys_b.tsv --rank-by event.soft.f1.micro", "ref.tsv sys.tsv sys_b.tsv --runs --format json",
    "plain_ref.tsv plain_sys.tsv beyond.tsv one_side.tsv --format json --replicates 100 --rank-by event.hard.f1.micro --baseline beyond.tsv",
    # Screens and output formats.
    "ref.tsv sys.tsv", "ref.tsv sys.tsv -vv", PLAIN, HARD, FRAMES, f"{PLAIN} --ci --replicates 50", f"{PLAIN} --per-file", f"chance {PLAIN} --draws 10",
    *(f"ref.tsv sys.tsv --format {form}" for form in ("csv", "tsv", "markdown", "yaml", "latex")), "ref.tsv - --format csv < sys.tsv",
    "ref.tsv sys.tsv --require segment.soft.f1.macro>=0.9 --format github", "ref.tsv sys.tsv --require segment.soft.f1.macro>=0.5 --format junit",
    "ref.tsv sys.tsv --format codabench -o OUT/scores.json", "ref.tsv sys.tsv --score segment.soft.f1.macro --score event.hard.error_rate.micro", "ref.tsv sys.tsv --average macro --quiet",
    f"plot pr {PLAIN} {LENGTHS} -o OUT/curves.tsv --quiet", f"plot pr {HARD} -o OUT/curves.tsv --quiet", "report ref.tsv sys.tsv -o OUT/report.html --quiet",
    "ref.tsv sys.tsv --config settings.yaml --format json", "explain", "--help", "--help-all",
    # Second opinions.
    f"check {HARD} --with sed_eval", "check events.tsv events.tsv --with sed_eval", f"check {PLAIN} --with sed_eval",
    *(f"{tables} --set compat=sed_eval --only segment.hard --only event.hard --format json" for tables in ("events.tsv events.tsv", PLAIN, HARD)),
    # Formats of tables.
    *(f"forms/ref_{name} forms/sys_{name} --format json" for name in FORMS), "ref.tsv forms/sys_zip.zip --format json", "ref.tsv forms/sys_tar.tar.gz --format json",
    *(f"convert {name} -" for name in SAMPLES), *(f"convert sys.tsv OUT/sys.{end}" for end in ("csv", "jsonl", "rttm")), "convert ref_wide.tsv - --to long",
    *(f"convert sys.tsv OUT/a.{end} && convert OUT/a.{end} -" for end in ("parquet", "arrow")), "convert plain_sys.tsv - --to wide", "convert percent.tsv -",
    # Other commands.
    "tune ref.tsv sys.tsv", *(f"tune {PLAIN} --objective {basis}.f1" for basis in ("segment", "event", "intersection", "clip")), f"tune {FRAMES} --objective segment.error_rate",
    "tune ref.tsv sys.tsv -o OUT/tuned.yaml && ref.tsv sys_b.tsv --thresholds OUT/tuned.yaml --format json",
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv annotator3.tsv --missing unlabelled -o OUT/reference.tsv --format json",
    *(f"annotate annotator0.tsv annotator1.tsv annotator2.tsv --missing unlabelled --method {method} --format json -o OUT/reference.tsv" for method in ("competence", "dawid-skene", "majority")),
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv --missing unlabelled --continuous -o OUT/reference.tsv --format json", "annotate annotator0.tsv annotator1.tsv annotator2.tsv --missing unlabelled --events consensus -o OUT/reference.tsv",
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv --missing unlabelled --system sys.tsv --format json", "annotate annotator0.tsv annotator1.tsv annotator2.tsv --missing unlabelled",
    *(f"diagnose {tables} --format json" for tables in ("ref.tsv sys.tsv", f"{PLAIN} {LENGTHS}", HARD, FRAMES, "ref.tsv sys.tsv sys_b.tsv")), f"diagnose {PLAIN}", f"diagnose {PLAIN} --ci --no-suggestions --format csv",
    *(f"simulate {kind} ref.tsv -o OUT/s.tsv" for kind in ("betas", "data-sampling", "shuffled-betas", "beta-noise --r 0.5", "constant --value prior")),
    "simulate perturb ref.tsv --jitter 0.3 --drop 0.1 --seed 4 -o OUT/s.tsv && ref.tsv OUT/s.tsv --format json",
    *(f"validate {table} --reference plain_ref.tsv {LENGTHS} --format json" for table in ("plain_sys.tsv", "beyond.tsv", "one_side.tsv", "other_classes.tsv", "percent.tsv", "silent.tsv")),
    "validate sys.tsv --reference ref.tsv", "validate bad.tsv plain_sys.tsv --reference plain_ref.tsv", "validate bad.tsv --format sarif", "validate beyond.tsv --fix OUT/fixed.tsv", "validate desed_sys.tsv --preset dcase2019-task4 --format github",
    "board submissions --reference ref.tsv -o OUT/site --no-reports --fail-on-invalid", "explain segment.soft.f1.macro", "explain intersection.hard.psds", "explain event.optimal.f1 segment.hard.recall[car] --format json",
    "ref.tsv sys.tsv --format json -o OUT/a.json && ref.tsv sys_b.tsv --format json -o OUT/b.json && diff OUT/a.json OUT/b.json --format json",
    "presets", "presets show dcase2023-task4b", "presets schema", *(f"plot {kind} ref.tsv sys.tsv -o OUT/figure.svg" for kind in KINDS), "plot timeline ref.tsv sys.tsv --file cafe.wav -o OUT/figure.svg",
    # Mistakes.
    "ref.tsv bad.tsv", "ref.tsv nowhere.tsv", "ref.tsv plain_sys.tsv --strict", "plain_ref.tsv percent.tsv", "ref.tsv sys.tsv --segment-lenght 1", "ref.tsv sys.tsv --score segment.sotf.f1.macro",
    "ref.tsv sys.tsv --require segment.soft.f1.macro>0.99", "valdate sys.tsv", "plain_ref.tsv beyond.tsv --strict", f"{HARD} --threshold 0.7", "ref.tsv sys.tsv --preset dcase2019", "ref.tsv sys.tsv --columns value=nothing",
    f"{PLAIN} --regions plain_sys.tsv --format json", f"{PLAIN} --preset biodcase2025-task2 --format json",
    # The library.
    "py evaluate('ref.tsv', 'sys.tsv', only='all', measures=['all'])", "py evaluate('plain_ref.tsv', 'plain_sys.tsv', durations='plain_durations.tsv', ci='bootstrap', replicates=50)",
    "py Evaluator(only=['segment', 'event'], classes=['a', 'b']).update(*np.random.default_rng(0).random((2, 3, 40, 2)), files=['x', 'y', 'z']).compute()",
    "py sum((Evaluator(segment_length=0.2).update('plain_ref.tsv', 'plain_sys.tsv') for _ in range(1)), Evaluator(segment_length=0.2)).compute()",
    "py Evaluator.of_bytes(Evaluator().update('ref.tsv', 'sys.tsv').to_bytes()).compute()", "py {name: dict(board_scores) for name, board_scores in compare('ref.tsv', ['sys.tsv', 'sys_b.tsv'], replicates=50).items()}",
    "py mean_of_runs('ref.tsv', ['sys.tsv', 'sys_b.tsv'])", "py {str(key): of for key, of in threshold_curves('plain_ref.tsv', 'plain_sys.tsv').families.items()}", "py evaluate(dict(np.load('frames_ref.npz')), dict(np.load('frames_sys.npz')), segment_length=0.2, classes=list('abcd'))",
    "py published_scores('few-shot', 'shots_ref.tsv', 'shots_sys.tsv')", "py diagnose('ref.tsv', 'sys.tsv').to_dict()", "py evaluate('ref.tsv', 'sys.tsv', threshold=-1)",
]
