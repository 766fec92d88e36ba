# Every target makes the environment it needs; a second run is fast and needs no network.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Products of a few columns are faster on one thread, and tests run side by side.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: help test test-all notebooks readme docs docs-serve reproduce tables bench lint clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/lean: settings.ini setup.py
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; try make PYTHON=python3.12 ...")'
	@echo 'setting up $(VENV): a minute or two, the first time only'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	touch $@

$(VENV)/ready: $(VENV)/lean
	@echo 'installing what the notebooks and tests use'
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --upgrade --target $(VENV)/fastcore2 'fastcore>=2'
	touch $@

test: $(VENV)/ready ## run every notebook as a test, and check that exports, README and notebooks are in step
	$(BIN)/python -m pytest tests -q -n 2 --dist worksteal

test-all: docs ## the same with the slow cells, and the site in a browser
	SLOW=1 $(BIN)/python -m pytest tests -q -n 2 --dist worksteal

notebooks: $(VENV)/ready ## run all notebooks in place, clean them, write README.md
	$(BIN)/python .ci/nb.py run

readme: $(VENV)/ready ## write README.md from nbs/index.ipynb
	$(BIN)/python .ci/nb.py readme

$(VENV)/docs: $(VENV)/ready
	@echo 'installing what builds the site'
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[docs]'
	touch $@

docs: $(VENV)/docs readme ## build the site from the notebooks into _docs/ (needs npm)
	$(BIN)/python .ci/site/build.py
	@echo 'the site is in _docs/; make docs-serve shows it'

docs-serve: docs ## show the site on localhost
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _docs $(or $(PORT),8000)

# Variables for reproduce: TRIALS (default: the paper's), JOBS (default: one a core), SEED, ONLY (names with commas), OUT
OUT ?= results
reproduce: $(VENV)/lean ## the main job: every experiment of the paper into results/; TRIALS=20 for a quick look
	$(BIN)/dp_pmt_reproduce --out '$(OUT)' $(if $(TRIALS),--trials '$(TRIALS)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(SEED),--seed '$(SEED)') $(if $(ONLY),--only '$(ONLY)')

# Variables for tables: FILES (names), METHODS (recompute these only, in the comparison tables: METHODS=anchored), CHECK=1 (compare, write nothing)
tables: $(VENV)/ready ## compute every saved table in dp_pmt/data again (hours; FILES=... or METHODS=anchored for minutes)
	$(BIN)/python .ci/tables.py $(FILES) $(if $(METHODS),--methods '$(METHODS)') $(if $(CHECK),--check)

bench: $(VENV)/ready ## what a fit costs on this machine, side by side with other ways (about ten minutes; BENCH=--quick for one)
	env -u OPENBLAS_NUM_THREADS -u OMP_NUM_THREADS $(BIN)/dp_pmt_bench $(BENCH)

lint: $(VENV)/ready ## check the workflows: their schema, and with actionlint where it is installed
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	if command -v actionlint; then actionlint; fi

clean: ## remove the environment and everything built
	rm -rf $(VENV) build dist _docs _proc results *.egg-info
