#!/usr/bin/env bash
# Whether the slim install is slim, scores what an ordinary run scores, and says what to install for the rest.
# Needs Python 3.11 or later, whose own pip is used: nothing here asks for a newer one.
#
#     tools/slim.sh
#
# MB and SECONDS_AT_MOST are what docs/install.md promises.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
MB=300 SECONDS_AT_MOST=40
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

say() { printf -- '--- %s\n' "$*"; }
fail() { printf 'tools/slim.sh: %s\n' "$*" >&2; exit 1; }

say "Install: $(python3 --version)"
python3 -m venv "$work/venv"
begin=$SECONDS
(cd "$root" && "$work/venv/bin/pip" install -q --disable-pip-version-check --no-deps -r requirements-slim.txt .)
took=$((SECONDS - begin))
size=$(du -sm "$work/venv" | cut -f 1)
say "$size MB in $took s, pip among it"
((size < MB)) || fail "it is $size MB, $MB or more"
((took < SECONDS_AT_MOST)) || fail "it took $took s, $SECONDS_AT_MOST or more"

say "Score the sample"
cp "$root"/sample_data/{ref,sys,sys_b}.tsv "$work"
cd "$work"
program=$work/venv/bin/soft-sed-eval
"$program" ref.tsv sys.tsv -v >scores.txt
grep -q '^segment  soft       0.909  0.979' scores.txt || fail "the sample has other scores"
while read -r -a given; do
    "$program" ref.tsv sys.tsv --quiet "${given[@]}" >out.txt 2>said.txt || fail "${given[*]}: $(cat said.txt)"
done <<'END'
--format json
--format github
--format junit --require segment.soft.f1.macro>=0.5
--per-file --format csv
--only all --measures all --psds dcase-psds1
--ci
--preset dcase2019-task4
--set compat=sed_eval
END
"$program" validate sys.tsv --reference ref.tsv >out.txt
"$program" explain segment.soft.f1.macro >out.txt
mkdir submissions && cp sys.tsv sys_b.tsv submissions
"$program" board submissions --reference ref.tsv -o site --no-reports --quiet >out.txt

say "What is left out is named with the command that installs it"
while read -r package given; do
    code=0
    read -r -a words <<<"$given"
    "$program" "${words[@]}" --quiet >out.txt 2>said.txt || code=$?
    ((code == 2)) || fail "$given: exit status $code"
    tail -n 1 said.txt | grep -q -- "^$work/venv/bin/.* -m pip install \"$package" || fail "$given: $(cat said.txt)"
done <<'END'
scipy ref.tsv sys.tsv sys_b.tsv
scipy report ref.tsv sys.tsv -o page.html
matplotlib plot pr ref.tsv sys.tsv -o pr.png
sed-eval check ref.tsv sys.tsv --with sed_eval
END
"$program" ref.tsv sys.tsv --quiet --ci=bca >out.txt 2>said.txt && fail "--ci=bca needs no scipy any more"
# pip tells what else is left out, too.
command=$(tail -n 1 said.txt)
PIP_QUIET=1 bash -c "$command" 2>said.txt || fail "$command: $(cat said.txt)"
"$program" ref.tsv sys.tsv --quiet --ci=bca >out.txt

say "The slim install can be used"
