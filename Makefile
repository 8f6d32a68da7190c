# One set-up: `make demo` and `make test` need only Python 3.11 or newer and make; the kernels are compiled by the machine's
# C++ compiler, or by one from the package registry where there is none.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/pytest -n auto --maxprocesses 4 --dist worksteal
# Kernels are compiled by tools in the environment, so that an edit compiles no more than it must.
READY := $(VENV)/installed $(VENV)/kernels
READY_DEV := $(VENV)/installed-dev $(VENV)/kernels
BUILD_TOOLS := scikit-build-core nanobind cmake ninja $(if $(shell command -v c++ || command -v g++ || command -v clang++),,ziglang)
KERNELS := CMakeLists.txt $(wildcard src/suffice/native/*.cpp src/suffice/native/*.hpp src/suffice/native/subjects.txt)
# Slow tests and those of the built site have targets of their own, test-slow and docs.
QUICK := -m "not slow and not site"
# Compiled Python files are kept, whatever the caller's environment says: without them every start takes twice as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test checks unit docs coverage test-full test-slow mutants test-peers wheel-test bench clean help
.PHONY: fingerprint fingerprint-check sanitize stubs web

help:  ## Show what can be made.
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(READY)  ## Set up, fit a network to a published table, show the result.
	@mkdir -p build/demo
	@$(BIN)/suffice demo --out build/demo/berkeley.json

test: $(READY_DEV)  ## Set up and check everything: lint, types, import contract, tests, doctests.
	@$(call beside_the_checks,$(PYTEST) $(QUICK))

# A new seed with every commit, and the same one for the same commit, so that a run can be repeated.
test-full: SEED ?= $(shell echo $$((0x$$(git rev-parse --short=8 HEAD 2>/dev/null || date +%s))))
test-full: docs  ## As test, with every example of every property, drawn from the commit's seed (SEED=… takes another), and the site.
	@echo "Properties are tested with SEED=$(SEED)."
	@$(call beside_the_checks,$(PYTEST) $(QUICK) --hypothesis-profile=full --hypothesis-seed=$(SEED))

checks: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

# Run a command while the checks run, too; what they printed follows, and either one can fail.
define beside_the_checks
mkdir -p build; \
{ $(MAKE) --no-print-directory checks > build/checks.log 2>&1; } & checks=$$!; \
$(1); tests=$$?; wait $$checks; checked=$$?; cat build/checks.log; exit $$((tests | checked))
endef

unit: $(READY_DEV)  ## Run the tests alone.
	$(PYTEST) $(QUICK)

docs: $(READY_DEV)  ## Build the documentation site in build/docs, where a warning is an error, and test its pages.
	rm -rf build/docs
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs build/docs
	$(BIN)/pytest tests/test_docs_site.py
	@echo "Open build/docs/index.html"

coverage: $(READY_DEV)  ## Run the tests again and say which lines they reach.
	$(PYTEST) $(QUICK) --cov --cov-report=term

# All tests of a file run in one process, so that what they share is drawn and fitted once.
test-slow: $(READY_DEV)  ## Run the slow statistical tests.
	$(PYTEST) --dist loadfile -m slow tests

mutants: build/mutants/coverage  ## Plant 200 faults in the library, one at a time, and say which ones the tests do not notice.
	$(BIN)/python -m tests.mutants --coverage build/mutants/coverage --times build/mutants/times.xml

build/mutants/coverage: $(READY_DEV) $(shell find src tests -name '*.py')
	@mkdir -p build/mutants
	COVERAGE_FILE=$@ $(PYTEST) $(QUICK) --cov --cov-context=test --cov-report= --junitxml=build/mutants/times.xml

FINGERPRINT = --threads $(or $(THREADS),1) --only "$(ONLY)"
fingerprint: $(READY_DEV)  ## Record what the library answers in many cases (UPDATE=1 rewrites the summary).
	$(BIN)/python -m tests.fingerprint run $(FINGERPRINT) $(if $(UPDATE),--update)

fingerprint-check: $(READY_DEV)  ## Compare these answers with those of another commit (BASE=main, TOL=1e-9).
	$(BIN)/python -m tests.fingerprint check --base "$(BASE)" $(FINGERPRINT) $(if $(TOL),--tol $(TOL))

stubs: $(READY_DEV)  ## Write the types of the kernels anew, after an edit of their signatures.
	$(BIN)/python -m nanobind.stubgen -q $(patsubst %,-m suffice.native.%,$(shell cat src/suffice/native/subjects.txt)) -O src/suffice/native

TYPESCRIPT := build/web/node_modules/typescript/bin/tsc
AXE := build/web/node_modules/axe-core/axe.min.js
web: $(TYPESCRIPT) $(AXE)  ## Check the types of the page's modules and run their tests, with Node.js.
	node $(TYPESCRIPT) -p tests/web
	node --test tests/web/*.test.mjs

# Both in one command, since npm removes what it is not asked for; axe-core is for tests in the browser.
NPM_INSTALL := npm install --silent --no-audit --no-fund --no-save --prefix build/web typescript@5.9.3 axe-core@4.13.0
$(TYPESCRIPT):
	$(NPM_INSTALL)

$(AXE): | $(TYPESCRIPT)
	$(NPM_INSTALL)

test-peers: build/test-peers/installed  ## Run the tests against other libraries, in an environment with them.
	SUFFICE_REQUIRE=peers build/test-peers/bin/python -m pytest tests/peers

build/test-peers/installed: benchmarks/peers.txt pyproject.toml constraints.txt $(VENV)/python-checked
	$(PYTHON) -m venv build/test-peers
	build/test-peers/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt -r benchmarks/peers.txt -e . pytest hypothesis
	@touch $@

wheel-test: $(READY_DEV)  ## Build the wheel, and again from the packed sources; install it in a fresh environment, run its demo there.
	rm -rf build/wheel
	$(PIP) wheel -q --no-deps --no-build-isolation -w build/wheel .
	$(BIN)/python build_tools/backend.py sdist build/wheel
	$(PIP) wheel -q --no-deps -w build/wheel/again build/wheel/*.tar.gz
	$(BIN)/python tests/packages.py build/wheel
	$(PYTHON) -m venv build/wheel/env
	build/wheel/env/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt build/wheel/*.whl
	cd build/wheel && env/bin/suffice demo --out demo.json
	$(BIN)/python tests/from_readme.py README.md build/wheel/env/bin/suffice

# The kernels are compiled once more, with checks of addresses and of undefined behaviour; the first failure ends the run.
SANITIZED := build/sanitize
SANITIZERS = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
sanitize: $(READY_DEV)  ## Run the tests of kernels and of conformance with kernels that check every access (TESTS=… takes others).
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED)
	cp -r CMakeLists.txt build_tools src $(SANITIZED) && rm -f $(SANITIZED)/src/suffice/native/*.so
	CXXFLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" \
		$(BIN)/python $(SANITIZED)/build_tools/backend.py
	@# An editable installation has a finder of its own, which comes before PYTHONPATH.
	echo 'import sys; sys.meta_path[:] = [f for f in sys.meta_path if type(f).__name__ != "ScikitBuildInplaceFinder"]' \
		> $(SANITIZED)/src/sitecustomize.py
	PYTHONPATH=$(SANITIZED)/src $(BIN)/python -c 'import sys, suffice; sys.exit("$(SANITIZED)" not in suffice.__file__)'
	PYTHONPATH=$(SANITIZED)/src $(SANITIZERS) $(PYTEST) $(QUICK) -p no:cacheprovider \
		$(or $(TESTS),tests/native tests/conformance)

bench: $(READY_DEV) build/bench-peers/installed  ## Run the benchmarks against the peers, write benchmarks/RESULTS.md.
	$(BIN)/python benchmarks/run.py --peers-python build/bench-peers/bin/python

build/bench-peers/installed: benchmarks/peers.txt $(VENV)/python-checked
	$(PYTHON) -m venv build/bench-peers
	build/bench-peers/bin/python -m pip --disable-pip-version-check install -q -r benchmarks/peers.txt
	@touch $@

$(VENV)/python-checked:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "suffice needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/build-tools: $(VENV)/python-checked constraints.txt
	$(PIP) install -q -c constraints.txt $(BUILD_TOOLS)
	@touch $@

$(VENV)/kernels: $(VENV)/build-tools $(KERNELS)
	@echo "Compiling the kernels …"
	@$(BIN)/python build_tools/backend.py
	@touch $@

# The library is built by the tools of the environment, what it requires as its authors want it.
$(VENV)/installed: pyproject.toml constraints.txt | $(VENV)/kernels
	$(PIP) install -q --no-build-isolation --no-deps -e .
	$(PIP) install -q -c constraints.txt suffice
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt | $(VENV)/kernels
	$(PIP) install -q --no-build-isolation --no-deps -e .
	$(PIP) install -q -c constraints.txt 'suffice[dev]'
	@touch $@ $(VENV)/installed

clean:  ## Remove the environment and everything that was built.
	rm -rf $(VENV) build dist src/suffice/native/*.so .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
