# Each target does its own set-up: `.venv` is made and filled when it is missing or older than what it is made from.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
SHOWN  := $(VENV)/.shown
LONG   := tests/browser/lab tests/crash tests/paper tests/property tests/statistical

# Tests start hundreds of interpreters: where the environment forbids to keep compiled files, each would compile the house again.
export PYTHONDONTWRITEBYTECODE :=
# Tests run on every core already: threads of linear algebra would only wait for each other, and waiting is work to a processor.
test soak: export OPENBLAS_NUM_THREADS := 1

.PHONY: demo test soak check bench clean setup

setup: $(READY)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Hubbub needs Python 3.11 or newer: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

# What the demo shows needs no test tools.
$(SHOWN): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[server]'
	@touch $@

$(READY): pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(SHOWN) $@

demo: $(SHOWN)
	$(BIN)/hubbub demo

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(LONG:%=--ignore=%)

soak: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal $(LONG)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/docs

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
