#!/usr/bin/env bash
# Whether tests pass elsewhere than in the newest environment: with the lowest versions that pyproject.toml
# allows, and with other Pythons. Needs uv; Pythons are those that are installed, none is fetched.
#
#     tools/environments.sh [NAME]...     NAME: lowest, or a version such as 3.13 (default: all)
#
# TESTS names other tests than those below.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
uv=${UV:-uv}
library="tests/timeline tests/config tests/report tests/apps/plots tests/apps/training/test_scikit_learn_scorer.py tests/evaluation/test_library.py"
library+=" tests/tools/test_annotate.py"
library+=" tests/evaluation/test_evaluator.py tests/test_startup.py"
read -r -a tests <<<"${TESTS:-$library tests/cli/test_commands.py tests/tools/test_convert.py}"
read -r -a names <<<"${*:-lowest 3.12 3.13 3.14}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset VIRTUAL_ENV PYTHONPATH PYTHONDONTWRITEBYTECODE
export UV_NO_PROGRESS=1

# The Python of a version: on PATH, or one of pyenv's.
find_python() {
    local found
    for found in "$(command -v "python$1" || true)" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        # What pyenv puts on PATH may stand for nothing.
        if [[ -x $found ]] && "$found" -c '' 2>"$work/said"; then
            "$found" -c 'import sys; print(sys.executable)'
            return
        fi
    done
    return 1
}

ran=0
for name in "${names[@]}"; do
    version=$name
    resolution=highest
    warnings=()
    if [[ $name == lowest ]]; then
        version=3.11 resolution=lowest-direct
        # Old releases use what newer ones of others deprecate.
        warnings=(-W ignore::DeprecationWarning)
    fi
    if ! python=$(find_python "$version"); then
        printf -- '--- %s: there is no Python %s here\n' "$name" "$version"
        continue
    fi
    printf -- '--- %s: %s\n' "$name" "$("$python" --version)"
    "$uv" venv -q --python "$python" "$work/$name"
    "$uv" pip install -q --python "$work/$name" --resolution "$resolution" -e . --group test
    "$work/$name/bin/python" -m pytest -q -p no:cacheprovider -m "not slow" "${warnings[@]}" "${tests[@]}"
    ran=$((ran + 1))
done
((ran)) || { echo "tools/environments.sh: none of ${names[*]} is here" >&2; exit 1; }
