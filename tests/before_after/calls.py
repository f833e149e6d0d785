# ruff: noqa: E501 - a call is a line
"""The calls that are compared: every command, output form, basis, reading, measure group and form of tables.

A call is a line as it would be typed in the folder of inputs; `OUT/` is a folder of its own. After `&&` the next
command of the same call follows. Calls in SHARED need the data beside the checkout.
"""

from __future__ import annotations

_EVERYTHING = "--only all --measures all --psds dcase-psds1 --format json"
_ROWS = "rows_ref.tsv rows_sys.tsv"
_FRAMES = "frames_ref.tsv frames_sys.tsv"

CALLS = [
    # Output forms.
    "ref.tsv sys.tsv",
    *(f"ref.tsv sys.tsv --format {form}" for form in ("json", "csv", "tsv", "markdown", "yaml", "latex")),
    "ref.tsv sys.tsv --require segment.soft.f1.macro>=0.9 --format github",
    "ref.tsv sys.tsv --require segment.soft.f1.macro>=0.5 --require event.hard.f1.micro>0.9 --format junit",
    "ref.tsv sys.tsv --format codabench -o OUT/scores.json",
    "ref.tsv sys.tsv --score segment.soft.f1.macro --score event.hard.error_rate.micro",
    "ref.tsv sys.tsv --average macro --quiet",
    "ref.tsv sys.tsv --worst 5 --format json",
    "ref.tsv sys.tsv --measures curves --curves OUT/curves.tsv --format json",
    "ref.tsv sys.tsv --report OUT/report.html --quiet",
    "--list-scores",
    "--help",
    # Bases, readings, measures.
    f"ref.tsv sys.tsv {_EVERYTHING}",
    f"{_ROWS} {_EVERYTHING}",
    f"{_FRAMES} {_EVERYTHING}",
    f"ref.tsv hard_sys.tsv {_EVERYTHING}",
    f"events.tsv sys.tsv {_EVERYTHING}",
    f"rows_ref.tsv silent.tsv {_EVERYTHING}",
    *(
        f"{_ROWS} --format json --only {part}"
        for part in (
            *("segment.hard", "segment.optimal", "segment.soft", "event.hard", "event.optimal", "event.soft"),
            *("intersection", "clip", "ranking"),
        )
    ),
    *(
        f"{_FRAMES} --format json --only segment --measures {group}"
        for group in ("curves", "divergence", "calibration", "confusion", "joint")
    ),
    f"{_FRAMES} --only intersection --psds dcase-psds2 --psds-median-filters 0.6 --psds-median-filters 1 --format json",
    f"{_FRAMES} --only intersection.soft --alpha-ct 0.5 --alpha-st 1 --max-efpr 50 --format json",
    f"{_ROWS} --only segment.optimal --only event.optimal --satisfice precision>=0.6 --satisfice error_rate<=0.9 --format json",
    f"{_ROWS} --reference-sweep --format json",
    # Settings.
    f"{_ROWS} --segment-length 0.25 --pool mean --threshold 0.3 --reference-threshold 0.6 --inclusive --format json",
    f"{_ROWS} --beta 2 --classes dog,alarm --events merge --no-offset --format json",
    f"{_ROWS} --events rows --matching greedy --only event.hard --format json",
    f"{_FRAMES} --median-filter 0.6 --min-gap 0.4 --min-duration 0.6 --format json",
    f"{_ROWS} --t-norm product --entropy-unit bits --epsilon 1e-5 --only segment --measures divergence --format json",
    f"{_ROWS} --durations rows_durations.tsv {_EVERYTHING}",
    "ref.tsv sys.tsv --config settings.yaml --format json",
    "ref.tsv sys.tsv --threshold midpoint --format json",
    "ref.tsv sys.tsv --thresholds prior --format json",
    "events.tsv hard_sys.tsv --compat sed_eval --only segment.hard --only event.hard --format json",
    f"{_ROWS} --compat sed_eval --only segment.hard --only event.hard --events rows --format json",
    # Intervals, folds, scenes, tallies, several systems.
    f"{_ROWS} --ci --replicates 200 --format json",
    f"{_ROWS} --ci bca --replicates 200 --only segment --format json",
    f"{_ROWS} --ci jackknife --only segment.soft --only event.soft --format json",
    f"{_ROWS} --ci --fixed-thresholds --replicates 100 --measures curves --format json",
    f"{_ROWS} --folds rows_folds.tsv --format json",
    f"{_ROWS} --cross-tune 3 --objective event.f1 --format json",
    f"{_ROWS} --by rows_folds.tsv --format json",
    "ref.tsv sys.tsv --by {}.wav --format json",
    "ref.tsv sys.tsv --chance --draws 20 --format json",
    f"{_ROWS} --save-tally OUT/a.tally --quiet && merge OUT/a.tally --ci --replicates 50 --format json",
    "ref.tsv sys.tsv sys_b.tsv --format json --replicates 200",
    "ref.tsv sys.tsv sys_b.tsv --rank-by event.soft.f1.micro",
    "ref.tsv sys.tsv sys_b.tsv --runs --format json",
    "events.tsv --operating-point 0.2=point_0.2.tsv --operating-point 0.5=point_0.5.tsv --psds dcase-psds1 --format json",
    "rows_ref.tsv --operating-point 0.2=point_0.2.tsv --operating-point 0.8=point_0.8.tsv --only intersection --only event --psds dcase-psds2 --format json",
    # Where tables are large: in processes, in little memory, in shards.
    f"{_ROWS} --jobs 2 {_EVERYTHING}",
    f"{_ROWS} --memory-limit 400M --jobs 1 {_EVERYTHING}",
    f"rows_ref_shards/*.tsv rows_sys_shards/*.tsv {_EVERYTHING}",
    "rows_ref_shards rows_sys_shards --format json",
    # Forms of tables.
    *(
        f"forms/ref_{name} forms/sys_{name} --format json"
        for name in (
            *("long.csv", "wide.tsv", "wide.csv", "sed_eval.txt", "maestro", "scores", "table.parquet"),
            *("table.arrow", "table.arrows", "table.jsonl", "jams", "table.rttm", "elan", "audacity"),
        )
    ),
    "ref.tsv forms/sys_scores.zip --format json",
    "ref.tsv forms/sys_scores_tar.tar.gz --format json",
    "ref_wide.tsv sys.tsv --format json",
    "headless.tsv headless.tsv --format json",
    *(f"convert sys.tsv OUT/sys.{end}" for end in ("csv", "parquet", "jsonl", "rttm", "arrow")),
    "convert ref_wide.tsv - --to long",
    # Other commands.
    "tune ref.tsv sys.tsv",
    f"tune {_ROWS} --objective event.f1",
    "tune ref.tsv sys.tsv -o OUT/tuned.yaml && ref.tsv sys_b.tsv --thresholds OUT/tuned.yaml --format json",
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv annotator3.tsv -o OUT/reference.tsv",
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv --method competence --format json -o OUT/reference.tsv",
    "annotate annotator0.tsv annotator1.tsv annotator2.tsv --method majority --ceiling-of sys.tsv -o OUT/reference.tsv",
    *(f"simulate {kind} ref.tsv -o OUT/s.tsv" for kind in ("betas", "data-sampling", "shuffled-betas")),
    "simulate perturb ref.tsv --jitter 0.3 --drop 0.1 --seed 4 -o OUT/s.tsv && ref.tsv OUT/s.tsv --format json",
    "validate sys.tsv --reference ref.tsv --format json",
    "validate bad.tsv rows_sys.tsv --reference rows_ref.tsv",
    "validate bad.tsv --format sarif",
    "board submissions --reference ref.tsv -o OUT/site --no-reports --fail-on-invalid",
    "explain segment.soft.f1.macro",
    "explain intersection.hard.psds",
    "explain event.optimal.f1 segment.hard.recall[car] --format json",
    "ref.tsv sys.tsv --format json -o OUT/a.json && ref.tsv sys_b.tsv --format json -o OUT/b.json && diff OUT/a.json OUT/b.json",
    "presets",
    "presets show dcase2023-task4b",
    "presets schema",
    *(
        f"plot {kind} ref.tsv sys.tsv -o OUT/figure.svg"
        for kind in ("matrix", "classes", "pr", "f-thresholds")
    ),
    # What is refused.
    "ref.tsv bad.tsv",
    "ref.tsv nowhere.tsv",
    "ref.tsv rows_sys.tsv",
    "ref.tsv rows_sys.tsv --strict",
    "ref.tsv sys.tsv --segment-lenght 1",
    "ref.tsv sys.tsv --score segment.sotf.f1.macro",
    "ref.tsv sys.tsv --require segment.soft.f1.macro>0.99",
    "valdate sys.tsv",
]

_PUBLISHED = "dcase2019t4_gt.csv baseline_0.5.csv --durations dcase2019_durations.tsv"
_POINTS = " ".join(f"--operating-point {at}=baseline_{at}.csv" for at in ("0.1", "0.3", "0.5", "0.7", "0.9"))

SHARED = [
    f"maestro_ref.csv maestro_sys.tsv {_EVERYTHING}",
    "maestro_ref.csv maestro_sys.tsv --preset dcase2023-task4b --format json",
    "maestro_ref.csv maestro_sys.tsv --preset dcase2024-task4-maestro --format json",
    "maestro_ref.csv maestro_sys.tsv --preset maestro-soft --ci --replicates 200 --format json",
    "maestro_ref.csv maestro_sys.tsv --folds maestro_folds.tsv --format json",
    "maestro_ref.csv maestro_sys.tsv --by {}_[0-9]* --format json",
    f"{_PUBLISHED} --preset dcase2019-task4 --format json",
    f"{_PUBLISHED} --preset dcase2019-task4 --compat sed_eval --format json",
    f"{_PUBLISHED} --format json",
    f"{_PUBLISHED} --preset dcase2017-task2 --format json",
    f"{_PUBLISHED} --preset dcase2016-task3 --format json",
    f"{_PUBLISHED} --ci --replicates 100 --only event.hard --format json",
    f"dcase2019t4_gt.csv {_POINTS} --durations dcase2019_durations.tsv --psds dcase-psds1 --format json",
    f"dcase2019t4_gt.csv {_POINTS} --durations dcase2019_durations.tsv --psds dcase-psds2 --format json",
]
