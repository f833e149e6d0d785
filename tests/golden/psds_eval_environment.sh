#!/usr/bin/env bash
# Makes a fresh environment with psds_eval, which our own cannot hold: it needs older numpy and pandas.
# Then, to write tests/data/psds_eval/dcase2019.json anew:
#
#   tests/golden/psds_eval_environment.sh /tmp/psds_eval
#   /tmp/psds_eval/bin/python tests/golden/make_psds_eval.py ../shared/data/dcase2019_task4
set -euo pipefail
folder=${1:?usage: psds_eval_environment.sh FOLDER, which must not exist}
[[ ! -e $folder ]] || { echo "$folder exists; name another folder, or remove it" >&2; exit 2; }

python3 -m venv "$folder"
# psds_eval 0.5.3 makes an int of an array, which numpy 2.4 refuses, and calls fillna(method=...), which pandas 3
# does not have.
"$folder/bin/python" -m pip install -q "psds_eval==0.5.3" "numpy==1.26.4" "pandas==2.2.3" "setuptools<81"
"$folder/bin/python" -c "import psds_eval"
