# One set-up: `make demo` and `make test` need only Python 3.11 or newer and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test lint types contract unit docs coverage test-slow test-peers wheel-test bench clean help

help:  ## Show what can be made.
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/installed  ## Set up, fit a network to a published table, show the result.
	@mkdir -p build/demo
	@$(BIN)/suffice demo --out build/demo/berkeley.json

test: lint types contract unit  ## Set up and check everything: lint, types, import contract, tests, doctests.

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

contract: $(VENV)/installed-dev
	$(BIN)/lint-imports

unit: $(VENV)/installed-dev
	$(BIN)/pytest -n auto --maxprocesses 4 -m "not slow"

docs: $(VENV)/installed-dev  ## Build the documentation site in build/docs; a warning is an error.
	$(BIN)/sphinx-build -W --keep-going -n -q -E -a -b html docs build/docs
	@echo "Open build/docs/index.html"

coverage: $(VENV)/installed-dev  ## Run the tests again and say which lines they reach.
	$(BIN)/pytest -n auto --maxprocesses 4 -m "not slow" --cov --cov-report=term

test-slow: $(VENV)/installed-dev  ## Run the slow statistical tests.
	$(BIN)/pytest -n auto --maxprocesses 4 -m slow tests

test-peers: build/test-peers/installed  ## Run the tests against other libraries, in an environment with them.
	SUFFICE_REQUIRE=peers build/test-peers/bin/python -m pytest tests/peers

build/test-peers/installed: benchmarks/peers.txt pyproject.toml constraints.txt $(VENV)/python-checked
	$(PYTHON) -m venv build/test-peers
	build/test-peers/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt -r benchmarks/peers.txt -e . pytest hypothesis
	@touch $@

wheel-test: $(VENV)/installed-dev  ## Build the wheel, install it alone in a fresh environment, run its demo there.
	rm -rf build/wheel
	$(PIP) wheel -q --no-deps -w build/wheel .
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt build/wheel/*.whl
	cd build/wheel && env/bin/suffice demo --out demo.json
	$(BIN)/python tests/from_readme.py README.md build/wheel/env/bin/suffice

bench: $(VENV)/installed-dev build/bench-peers/installed  ## Run the benchmarks against the peers, write benchmarks/RESULTS.md.
	$(BIN)/python benchmarks/run.py --peers-python build/bench-peers/bin/python

build/bench-peers/installed: benchmarks/peers.txt $(VENV)/python-checked
	$(PYTHON) -m venv build/bench-peers
	build/bench-peers/bin/python -m pip --disable-pip-version-check install -q -r benchmarks/peers.txt
	@touch $@

$(VENV)/python-checked:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "suffice needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/python-checked pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/python-checked pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e '.[dev]'
	@touch $@ $(VENV)/installed

clean:  ## Remove the environment and everything that was built.
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
