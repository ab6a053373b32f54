# `make demo` and `make test` set up everything they need in .venv; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# As many as there are processors, up to 4: each of them reads all tests first.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 4 ? n : 4)))

.DEFAULT_GOAL := help
.PHONY: help demo test sanitize check format bench clean needs-compiler opencl-device

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/.installed needs-compiler ## reorder a photograph and a network's filters, check and time each kernel
	@$(BIN)/python examples/demo.py

test: check needs-compiler opencl-device ## linter, formatter, type checker, then all tests
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

sanitize: $(VENV)/.installed-test needs-compiler ## kernels under the address and undefined behaviour sanitizers
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m sanitize tests/kernels

check: $(VENV)/.installed-test ## linter, formatter and type checker alone
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright

format: $(VENV)/.installed-test ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.installed ## start-up time and time of the pipeline
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/pipeline_scaling.py

clean: ## remove .venv and everything that tests and demo leave behind
	rm -rf $(VENV) build .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# Setup runs again when the dependencies in pyproject.toml change.
$(VENV)/.installed: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,opencl]'
	@touch $@ $(VENV)/.installed

$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "error: expected Python 3.11 or newer, found no '$(PYTHON)'; on Debian: apt-get install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: expected Python 3.11 or newer, got $$($(PYTHON) --version 2>&1);" \
	       "install a newer one and name it: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: expected Python's venv module, $(PYTHON) has none; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

needs-compiler:
	@for compiler in $$CC cc gcc clang; do command -v $$compiler >/dev/null && exit 0; done; \
	echo "error: expected a C compiler, found no cc, gcc or clang; on Debian: apt-get install gcc libc6-dev," \
	     "or name yours: CC=/path/to/compiler make $(MAKECMDGOALS)"; exit 1

# Kernels for OpenCL devices are tested on PoCL, which makes a device of any processor.
opencl-device:
	@ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends pocl-opencl-icd >/dev/null && exit 0; \
	fi; \
	echo "note: found no OpenCL driver, so the tests of OpenCL kernels do not run;" \
	     "on Debian: apt-get install pocl-opencl-icd"
