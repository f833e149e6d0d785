"""Commands and their help; impossible calls, and calls with options of other tools.

Wrong calls get one message that names the right call or option, and exit code 2.
"""

import re
import shlex

import click
import pytest
from called import OTHER, REFERENCE, SAMPLES, SYSTEM, call, main_in
from click.testing import CliRunner
from drawn import lay_out

from sedeval_soft import Settings, SettingsError
from sedeval_soft.cli.evaluate import evaluate
from sedeval_soft.cli.main import DEFAULT, SHORT_HELPS, group
from sedeval_soft.cli.wrong_calls import as_options, of_words
from sedeval_soft.names import aliases, by_alias, other_settings

# The program knows its commands without importing them; it imports a command when it is called.


def test_the_listing_has_the_help_of_all_commands():
    made = {name: group.get_command(click.Context(group), name) for name in sorted(SHORT_HELPS)}
    helps = [(name, command.get_short_help_str(1000)) for name, command in made.items()]
    assert helps == [*SHORT_HELPS.items()]


def commands(command: click.Command = group, *before: str) -> dict[str, click.Command]:
    """Return all commands by name, including the commands of groups."""
    found = {} if command is group else {" ".join(before): command}
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found |= commands(command.get_command(click.Context(command), name), *before, name)
    return found


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize("name", ["", *commands()])
def test_the_short_help_is_one_screen_and_the_full_one_has_every_option(name, columns):
    done = [
        CliRunner().invoke(group, [*name.split(), flag], terminal_width=columns, prog_name="x")
        for flag in ("-h", "--help", "--help-all")
    ]
    short, again, full = (each.output for each in done)
    assert (again, [each.exit_code for each in done]) == (short, [0, 0, 0])
    assert len(short.splitlines()) <= 45 and max(map(len, (short + full).splitlines())) <= columns
    parameters = [*group.params, *(commands().get(name) or commands()[DEFAULT]).params]
    options = {flag for each in parameters if isinstance(each, click.Option) for flag in each.opts}
    left_out = {"--version", "--help-all"} if name else set()  # one is the program's, one may be hidden
    assert options - left_out <= {*re.findall(r"(?<![\w-])--?[a-z][\w-]*", full)}
    # A short help that leaves options out points to --help-all.
    assert ("--help-all shows every option" in short) == (len(short) < len(full))
    assert len(re.findall("^    soft-sed-eval", short, re.MULTILINE)) == 3 or len(short) == len(full)


COMPLETED = {
    # Files first: bash looks for files if nothing else fits.
    "": ["file,", *(f"plain,{name}" for name in SHORT_HELPS)],
    "ex": ["file,ex", "plain,explain"],
    # All options of the default command are completed without its name, even those of only the full help.
    "--segment-l": ["plain,--segment-length"],
    "ref.tsv --segment-l": ["plain,--segment-length"],
    "--set ct": ["plain,cttc="],
    "--set pool=": ["plain,pool=max", "plain,pool=mean"],
    "--help-": ["plain,--help-all", "plain,--help-settings"],
    "validate --fi": ["plain,--files", "plain,--fix"],
}


@pytest.mark.parametrize("words", COMPLETED)
def test_words_are_completed(words):
    environment = {
        "COMP_WORDS": f"soft-sed-eval {words}", "COMP_CWORD": str(words.count(" ") + 1),
        "_SOFT_SED_EVAL_COMPLETE": "bash_complete",
    }  # fmt: skip
    done = CliRunner().invoke(group, [], prog_name="soft-sed-eval", env=environment)
    assert (done.exit_code, done.stdout.split()) == (0, COMPLETED[words])


# Impossible calls.

F1 = "segment.soft.f1.macro"

CALLS = {
    "ref.tsv sys.tsv --segment-length 0": "--segment-length",
    "ref.tsv sys.tsv --threshold x": "--threshold",
    "ref.tsv sys.tsv --set beta=1_0": "'1_0'",
    "ref.tsv sys.tsv --only frames": "--only",
    "ref.tsv sys.tsv --set max_fpr=0": "max_fpr",
    "ref.tsv sys.tsv --ci=percentile": "'percentile'",
    "ref.tsv sys.tsv --jobs -1": "--jobs",
    # Rarely changed settings.
    "ref.tsv sys.tsv --set pol=mean": "'pool'",
    "ref.tsv sys.tsv --set pool": "NAME=VALUE",
    "ref.tsv sys.tsv --set pool=median": "max, mean",
    "ref.tsv sys.tsv sys_b.tsv sys.tsv": "SYSTEM sys.tsv",
    "ref.tsv sys.tsv --set pool=mean --set pool=max": "pool",
    "ref.tsv sys.tsv --set bins=5": "--measures calibration",
    "ref.tsv sys.tsv --set max_fnr=.5": "--measures curves",
    "ref.tsv sys.tsv --set cttc=.5": "--set cttc",
    "ref.tsv sys.tsv --only event --set pool=mean": "--set pool",
    "ref.tsv sys.tsv --only segment --set matching=greedy": "--set matching",
    "ref.tsv sys.tsv --only segment.hard --set t_norm=product": "--set t_norm",
    "ref.tsv sys.tsv --only segment.hard --set epsilon=.01": "--set epsilon",
    # Options that take one value.
    "ref.tsv sys.tsv --psds dcase-psds1 --psds dcase-psds1": "'dcase-psds1'",
    "plot psd-roc ref.tsv sys.tsv -o a.png --psds dcase-psds1 --psds dcase-psds2": "--psds",
    "ref.tsv sys.tsv --seed 1 --seed 1": "--seed",
    "diff a.json b.json --tolerance 1 --tolerance 2": "--tolerance",
    # Lists of classes.
    "ref.tsv sys.tsv --classes car,car": "--classes has 'car'",
    "ref.tsv sys.tsv --classes $'a\\nb'": "--classes",
    "ref.tsv sys.tsv --classes 'a,\"b,c'": "--classes",
    "ref.tsv sys.tsv --classes a,,b": "--classes",
    # Paths.
    "'' sys.tsv": "path",
    "ref.tsv sys.tsv -o ''": "-o ",
    "reff.tsv sys.tsv": "'ref.tsv'",
    "- -": "standard input",
    "ref.tsv": "'SYSTEM...'",
    "plot pr ref.tsv sys.tsv -o c.csv": ".pdf, .png, .svg",
    "plot pr ref.tsv sys.tsv -o none/c.tsv": "none",
    "plot pr ref.tsv sys.tsv -o sys.tsv": "-o sys.tsv",
    "plot matrix ref.tsv sys.tsv -o x.tsv": "pr, roc, det, psd-roc, f-thresholds",
    "ref.tsv sys.tsv --save-tally x -o x": "--save-tally x: -o",
    "report ref.tsv sys.tsv": "'--output'",
    "report ref.tsv sys.tsv --timeline cafe.wave -o r.html": "'cafe.wav'",
    f"ref.tsv sys.tsv --average macro --score {F1}": "--average",
    "ref.tsv sys.tsv --columns value=p,offset=q": "--columns value=p",
    "merge none.tally --save-tally -": "--save-tally -",
    # Presets and files of settings.
    "ref.tsv sys.tsv --preset dcase2019-task4 --config a.yaml": "a.yaml",
    "ref.tsv sys.tsv --preset biodcase2025-task2": "'bmabz', 'd', 'bp'",
    # Scores that do not exist, or that other options leave out.
    f"ref.tsv sys.tsv --require {F1}>=0.\uff15": "'NAME>=NUMBER'",
    "ref.tsv sys.tsv --score intersection.hard.psds": "--psds NAME",
    f"ref.tsv sys.tsv --only segment.hard --score {F1}": "--only segment.hard",
    "ref.tsv sys.tsv --require event.hard.f1[*]>=0.5": "event.hard.f1[*]",
    "ref.tsv sys.tsv --preset dcase2019-2022-task4 --score event.hard.f1.harmonic": "sed_eval",
    # Operating points.
    "ref.tsv points --operating-points --score event.hard.average_precision.macro": "average_precision",
    # Thresholds from files or from tuning.
    "ref.tsv sys.tsv --threshold prior": "'prior'",
    "ref.tsv sys.tsv --set objective=segment.f1": "--cross-tune",
    "ref.tsv sys.tsv --only segment.hard --thresholds prior": "--thresholds",
    "ref.tsv sys.tsv --thresholds t.yaml -o t.yaml": "-o t.yaml",
    "ref.tsv sys.tsv --thresholds prior --cross-tune 2": "--thresholds and --cross-tune",
    "ref.tsv sys.tsv sys_b.tsv --rank-by segment.tuned.f1.macro": "--thresholds, --cross-tune",
    # Intervals of a single system.
    "ref.tsv sys.tsv --seed 3": "--cross-tune K",
    "ref.tsv sys.tsv --replicates 3": "--ci",
    "chance ref.tsv sys.tsv sys_b.tsv": "sys_b.tsv",
    "ref.tsv sys.tsv --ci jackknife --score segment.optimal.f1.macro": "jackknife",
    # Several systems, and runs.
    "ref.tsv sys.tsv sys_b.tsv --name A": "--name",
    "ref.tsv sys.tsv sys_b.tsv --name A --name A --name B": "--name",
    f"ref.tsv sys.tsv sys_b.tsv --rank-by {F1}@x": "@",
    "ref.tsv sys.tsv sys_b.tsv --runs --baseline x": "--baseline",
    "ref.tsv sys.tsv sys_b.tsv --runs --ci": "--ci",
    "ref.tsv sys.tsv sys_b.tsv -o sys_b.tsv": "-o sys_b.tsv",
    "ref.tsv sys.tsv sys_b.tsv --jobs 2": "one SYSTEM",
    "ref.tsv sys.tsv sys_b.tsv --format codabench -o x": "--format codabench",
    f"ref.tsv sys.tsv --by {{}}.wav --require {F1}@zoo>0 --save-tally x": f"'{F1}@zoo'",
    # Options that single files cannot have.
    "ref.tsv sys.tsv --per-file --format github": "--per-file",
    "ref.tsv sys.tsv --per-file --ci": "--per-file",
    "ref.tsv sys.tsv --per-file --worst 3": "--per-file",
    "ref.tsv sys.tsv --per-file --average weighted": "micro and macro averages",
    "ref.tsv sys.tsv --per-file --only ranking": "precision, recall, F and error rate",
    "ref.tsv sys.tsv --per-file --score segment.optimal.threshold[car]": "segment.optimal.threshold[car]",
    "ref.tsv sys.tsv --per-file --measures curves --score segment.hard.roc_auc.macro": "segment.hard.roc_auc",
    # --worst with a form that does not show it.
    "ref.tsv sys.tsv sys_b.tsv --worst 3": "json or yaml",
    "ref.tsv sys.tsv --format csv --worst 3": "json or yaml or text",
    # Other commands.
    "simulate betas ref.tsv -o ref.tsv": "-o ref.tsv",
    "simulate betas ref.tsv -o x.unknown": "x.unknown",
    "simulate betas ref.tsv -o no/such/folder/x.tsv": "no/such/folder/x.tsv",
    "simulate beta-noise ref.tsv": "beta-noise",
    "validate sys.tsv --reference 1.tally": "1.tally",
    "validate sys.tsv --config missing.yaml": "missing.yaml",
    "validate sys.tsv --preset dcase2019-task4 --config a.yaml": "a.yaml",
    "validate - --reference -": "standard input",
    "ref.tsv sys.tsv --classes=": "--classes",
    "diagnose ref.tsv sys.tsv --threshold midpoint": "'midpoint'",
    "diagnose ref.tsv sys.tsv --threshold a.yaml": "'a.yaml'",
    "validate sys.tsv -o sys.tsv --format text": "-o sys.tsv",
    "validate sys.tsv --fix sys.tsv": "--fix sys.tsv",
    "validate sys.tsv --reference ref.tsv --fix ref.tsv": "--fix ref.tsv",
    "validate sys.tsv --fix -": "--fix -",
    "validate sys.tsv --fix x.tsv -o x.tsv --format text": "--fix x.tsv: -o",
    "validate . --fix x.tsv": "--fix",
    "validate sys.tsv sys_b.tsv --format sarif": "--format sarif",
    "validate sys.tsv sys_b.tsv --fix x.tsv": "--fix",
    "validate sys.tsv sys_b.tsv -o sys_b.tsv --format text": "-o sys_b.tsv: this is the system output 2",
    "board x --reference ref.tsv -o y --set objective=segment.f1": "objective",
    "board x --reference - -o y": "standard input",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    files = {name: (SAMPLES / name).read_bytes() for name in ("ref.tsv", "sys.tsv", "sys_b.tsv")}
    files |= {f"points/out_{level}.tsv": (SAMPLES / "events.tsv").read_bytes() for level in (0.2, 0.6)}
    files |= dict.fromkeys(("1.tally", "2.tally", "a.yaml", "t.yaml"), b"")
    return lay_out(tmp_path_factory.mktemp("refused"), files)


def texts(folder):
    return {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}


@pytest.mark.parametrize("line", CALLS)
def test_one_message_says_what_was_expected(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = texts(folder)
    words = shlex.split(line.replace("$'a\\nb'", "'a\nb'"))
    done = call(*words)
    assert (done.code, done.out) == (2, "") and done.err.count("\n") <= 4
    assert CALLS[line] in as_options(done.err, evaluate)
    command = f" {words[0]}" if words[0] in SHORT_HELPS else ""
    usage = rf"Usage: group{command} \[OPTIONS\].*\n.*\n\nError: [A-Z-].*"
    assert not done.err.startswith("Usage") or re.match(usage, done.err)
    assert texts(folder) == before


# Messages name options to a caller of the command line, and settings to others.

SAID = {
    "segment_length must be 1 to 2 s, not 3": "--segment-length must be 1 to 2 s, not 3",
    "cross_tune=5: there is 1 file": "--cross-tune 5: there is 1 file",
    "compat=x needs hard; only leaves them out": "compat=x needs hard; --only leaves them out",
    "'x' is in no table\nstrict makes it an error": "'x' is in no table\n--strict makes it an error",
    # Unchanged: ordinary words, text in quotes, and names of settings in a file of settings.
    "rank_by=x: ranked by all files and classes": "--rank-by x: ranked by all files and classes",
    "pool must be max or mean, not 'segment_length'": "pool must be max or mean, not 'segment_length'",
    "best.yaml:2: segment_length must be 1, not 2": "best.yaml:2: segment_length must be 1, not 2",
    # Unchanged: settings without an option.
    "onset and offset cannot both be left out": "onset and offset cannot both be left out",
}


def test_settings_are_spelled_as_options_and_only_there():
    assert {text: as_options(text, evaluate) for text in SAID} == SAID


# Calls with options of other tools: the message names our option or command.


ANSWERS = {
    "a.tsv b.tsv --t_collar": "sed_eval's t_collar is --onset-collar and --offset-collar here.",
    "a.tsv b.tsv --evaluate_onset": "sed_eval's evaluate_onset is --set onset here.",
    "a.tsv b.tsv --timeline a.wav": "soft-sed-eval report REFERENCE SYSTEM -o FILE writes a page",
    "a.tsv b.tsv --check sed_eval": "soft-sed-eval check REFERENCE SYSTEM --with NAME",
    "a.tsv b.tsv --match-by iou": "It is a setting that few change: --set match_by=VALUE.",
    "a.tsv b.tsv -t": "--onset-collar and --offset-collar are tolerances",
    "a.tsv b.tsv --reference": "The reference is the first argument",
    "a.tsv b.tsv --treshold": "'--threshold', '--thresholds'",
    "tune a.tsv b.tsv --t_collar 1": "--onset-collar and --offset-collar",
    "simulate": "\n    shuffled-betas,\n",
    "check a.tsv b.tsv": "Missing option '--with'.",
    "check a.tsv b.tsv --with sed_evl": "--with sed_evl: expected one of sed_eval, sed_scores_eval, few-shot",
    "compare ref.tsv a.tsv b.tsv": "compares systems; it needs no command.",
    "lint sys.tsv": "soft-sed-eval validate finds all problems in an output.",
    "a.tsv a.tsv --ci 5": "--replicates N",
    "a.tsv a.tsv --folds 5": "--cross-tune K",
    "a.tsv a.tsv --ci 0.95": "--set confidence=0.95",
    "a.tsv a.tsv --threshold prior": "--thresholds takes a file",
    "valdate sys.tsv": "there is no command 'valdate'; did you mean validate?",
    "Validate sys.tsv": "did you mean validate?",
    "baord subs/ --reference ref.tsv": "did you mean board?",
    "plto pr ref.tsv sys.tsv -o x.pdf": "did you mean plot?",
    "difff a.json b.json": "did you mean diff?",
    "evalute ref.tsv sys.tsv": "did you mean evaluate?",
}


UNSAID = {
    "a.tsv b.tsv --t_collar": "Did you mean",
    "a.tsv b.tsv --qwertyuiop": "Did you mean",
    # `validate` has no option --onset-collar.
    "validate a.tsv --t_collar 1": "--onset-collar",
    "board subs --ref a.tsv": "first argument",
}
"""Options that only look like ours, and the hint that would mislead."""


@pytest.mark.parametrize("line", {**ANSWERS, **UNSAID})
def test_a_call_of_another_tool_is_answered_with_ours(line, tmp_path):
    code, out, text = main_in(tmp_path, line.split())
    assert (code, out) == (2, "") and ANSWERS.get(line, "") in text and UNSAID.get(line, "\0") not in text


def test_every_answer_names_what_there_is():
    context = click.Context(group)
    ours = {flag for each in evaluate.params for flag in each.opts}
    for hint in (*aliases()["options"], *aliases()["commands"], *aliases()["numbers"]):
        named = [group.get_command(context, name) for name in re.findall(r"soft-sed-eval ([a-z]+)", hint)]
        theirs = {flag for command in named for each in command.params for flag in each.opts}
        known = theirs | ours | {"--help-all", "--version"}
        assert {*re.findall(r"--[a-z][a-z-]+", hint)} <= known, hint
    named = {setting for _, settings in other_settings().values() for setting in settings}
    assert named <= {*Settings.__slots__} and not {*other_settings()} & {*Settings.__slots__}
    assert not ours & {f"--{name.replace('_', '-')}" for name in by_alias("options")}
    assert not set(by_alias("commands")) & set(SHORT_HELPS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("t_collar", "sed_eval's t_collar is onset_collar and offset_collar here"),
        ("segment_len", "did you mean 'segment_length'"),
        ("zoo", "known: segment_length"),
    ],
)
def test_a_setting_of_another_tool_is_answered_with_ours(name, said):
    with pytest.raises(SettingsError, match=said):
        Settings.of(**{name: 1})


def test_words_are_files_and_commands_where_these_are(tmp_path, monkeypatch):
    names = ("a.tsv", "5", "valdate", "presets", "lint")
    monkeypatch.chdir(lay_out(tmp_path, dict.fromkeys(names, "onset\toffset\tevent_label\n0\t1\tcar\n")))
    assert of_words(["a.tsv", "a.tsv", "--folds", "5"]) == of_words(["lint"]) == ""
    assert call("valdate", "valdate", "--score", "segment.hard.n_ref.micro").code == 0
    # A command wins over a file of its name. Paths, and words unlike any command, are not taken for commands.
    assert call("presets").out.startswith("dcase2016")
    words = ("validate.tsv", "./valdat", "board/", "system", "-")
    assert [word for word in words if "there is no command" in call(word, SYSTEM).err] == []


COMPUTED = {
    "": {f"{basis}.{reading}" for basis in ("segment", "event") for reading in ("hard", "optimal", "soft")},
    "--only intersection.hard": {"intersection.hard"},
    "--only clip.soft --only event.soft --cross-tune 2": {"clip.soft", "event.soft"},
    "--only event.hard --only event.tuned --thresholds prior": {"event.hard", "event.tuned"},
}


@pytest.mark.parametrize("options", COMPUTED)
@pytest.mark.parametrize("asked", ["--score f1", "--require f1>=0.5", "--rank-by f1"])
def test_a_part_of_a_scores_name_is_answered_with_what_is_computed(options, asked):
    systems = [SYSTEM, OTHER] if "rank" in asked else [SYSTEM]
    done = call(REFERENCE, *systems, *options.split(), *asked.split())
    assert (done.code, done.out) == (2, "") and re.fullmatch("no score is named 'f1'.*\n", done.err)
    named = {*re.findall(r"\w+\.\w+\.f1\.\w+", done.err)}
    assert named == {f"{stem}.f1.{average}" for stem in COMPUTED[options] for average in ("macro", "micro")}
