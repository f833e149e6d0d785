#!/usr/bin/env bash
# Whether what would be released can be built, installed and used. Needs Python 3.11 or later and uv.
#
#     tools/check.sh [FOLDER]     FOLDER keeps the sdist and the wheel
#
#   1. the sdist is built of the tree, the wheel of the sdist; the wheel of the tree is the same to the byte
#   2. the wheel, in an environment of its own, scores the sample in a folder that has nothing else
#   3. what imports it is type-checked, strictly, against what was installed
#   4. some tests pass in the unpacked sdist
#   5. `uv tool install` makes a command of the wheel
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
uv=${UV:-uv}
python=$(python3 -c 'import sys; print(sys.executable)')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dist=${1:-$work/dist}
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
# Nothing of the tree may be what is used.
unset PYTHONPATH MYPYPATH VIRTUAL_ENV UV_PROJECT_ENVIRONMENT
# Each command would compile what it imports anew.
unset PYTHONDONTWRITEBYTECODE
export UV_PYTHON=$python UV_NO_PROGRESS=1

say() { printf -- '--- %s\n' "$*"; }
fail() { printf 'tools/check.sh: %s\n' "$*" >&2; exit 1; }

say "Build: sdist of the tree, wheel of the sdist, wheel of the tree"
rm -f "$dist"/soft_sed_eval-*
"$uv" build -q --sdist -o "$dist" "$root"
sdist=("$dist"/soft_sed_eval-*.tar.gz)
"$uv" build -q --wheel -o "$dist" "${sdist[0]}"
wheel=("$dist"/soft_sed_eval-*.whl)
"$uv" build -q --wheel -o "$work/again" "$root"
cmp "${wheel[0]}" "$work/again/$(basename "${wheel[0]}")" || fail "the sdist and the tree give different wheels"
tar -xzf "${sdist[0]}" -C "$work"
unpacked=$work/$(basename "${sdist[0]}" .tar.gz)
# What git knows is what a sdist has: a pattern of .gitignore may leave out more than is meant.
if git -C "$root" rev-parse --is-inside-work-tree >"$work/said" 2>&1; then
    git -C "$root" ls-files >"$work/tracked"
else
    printf '%s\n' tests/evaluation/test_library.py sample_data/ref.tsv LICENSE >"$work/tracked"
fi
while IFS= read -r kept; do
    [[ -e $unpacked/$kept || ! -e $root/$kept ]] || fail "the sdist lacks $kept"
done <"$work/tracked"

say "Install the wheel in an environment of its own, and score the sample"
"$uv" venv -q "$work/venv"
"$uv" pip install -q --python "$work/venv" "${wheel[0]}"
mkdir "$work/empty"
cp "$unpacked"/sample_data/{ref,sys}.tsv "$work/empty"
cd "$work/empty"
version=$(basename "${sdist[0]}" .tar.gz)
version=${version#soft_sed_eval-}
[[ $("$work/venv/bin/soft-sed-eval" --version) == "soft-sed-eval, version $version" ]] ||
    fail "--version does not say $version"
"$work/venv/bin/soft-sed-eval" ref.tsv sys.tsv -v >scores.txt
"$work/venv/bin/soft-sed-eval" report ref.tsv sys.tsv -o page.html
"$work/venv/bin/soft-sed-eval" check ref.tsv sys.tsv --with sed_eval >>scores.txt
grep -q '^segment  soft       0.909  0.979' scores.txt || fail "the sample has other scores"
[[ -s page.html ]] || fail "there is no report"
"$work/venv/bin/soft-sed-eval" presets show dcase2019-task4 >preset.yaml
"$work/venv/bin/soft-sed-eval" plot pr ref.tsv sys.tsv -o pr.png
[[ $("$work/venv/bin/python" -c 'import sedeval_soft; print(sedeval_soft.__file__)') == "$work"/* ]] ||
    fail "the package is not that of the wheel"
for shared in man/man1/soft-sed-eval.1 bash-completion/completions/soft-sed-eval; do
    [[ -f $work/venv/share/$shared ]] || fail "share/$shared is not installed"
done

say "Check types from outside"
"$uv" pip install -q --python "$work/venv" mypy pandas-stubs
cp "$root/tests/typed/uses_the_library.py" .
"$work/venv/bin/mypy" --strict --no-error-summary uses_the_library.py
"$work/venv/bin/python" uses_the_library.py ref.tsv sys.tsv
# Were there no types, everything would be of any type, and this no mistake.
printf 'import sedeval_soft\n\nx: str = sedeval_soft.evaluate("a", "b")\n' >wrong.py
if "$work/venv/bin/mypy" --strict wrong.py >wrong.txt; then fail "types are not read: py.typed is missing"; fi

say "Run some tests in the unpacked sdist"
cd "$unpacked"
"$uv" pip install -q --python "$work/venv" --group test
"$work/venv/bin/python" -m pytest -q -p no:cacheprovider tests/test_sample_data.py tests/test_startup.py tests/cli/test_commands.py

say "uv tool install"
UV_TOOL_DIR=$work/tools UV_TOOL_BIN_DIR=$work/bin "$uv" tool install -q "${wheel[0]}"
cd "$work/empty"
"$work/bin/soft-sed-eval" ref.tsv sys.tsv -v >again.txt
cmp <(sed -n '/^Summary/,$p' scores.txt | sed -n 1,8p) <(sed -n '/^Summary/,$p' again.txt | sed -n 1,8p) ||
    fail "the tool has other scores"

say "The release can be used: $(basename "${sdist[0]}"), $(basename "${wheel[0]}")"
