# The jobs of .ci/run by name; `make ci` runs all of them, as they run before a change lands.
# Needs the environment of the README's first command.
PYTHON = .venv/bin/python
.PHONY: ci test slow lint site pages release slim fuzz

ci:       ; .ci/run
test:     ; $(PYTHON) -m pytest -q
slow:     ; $(PYTHON) -m pytest -q -m slow
lint:     ; .venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports
site:     ; SOFT_SED_EVAL_DOCS=1 $(PYTHON) -m pytest -q tests/documentation/test_built_site.py
pages:    ; for made in commands settings codes dialects layers scores; do $(PYTHON) docs/make/$$made.py; done
release:  ; tools/check.sh
slim:     ; tools/slim.sh
fuzz:     ; $(PYTHON) tests/fuzz/fuzz.py reader -max_total_time=320 -max_len=8192
