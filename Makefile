# Each command does what is missing first, so any of them works in a fresh clone.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup test lint format unit demo demo-cdc bench wheel lock clean

# Machines that forbid Python to keep what it has compiled make each of a hundred processes compile it anew.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
STAMP := .venv/.stamp
KERNEL := $(shell find kernel/src -type f 2>/dev/null) kernel/build.py

help: ## List these commands.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-17s %s\n", $$1, $$2 }'

setup: $(STAMP)-jars $(STAMP)-kernel ## Install everything that the other commands need; they run it themselves.

test: lint $(STAMP)-servers $(STAMP)-classes ## Check style and types, then run all tests.
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(T)

lint: setup ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## Put the code into the project's style.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

unit: setup ## Run the tests that need neither Spark nor a server; seconds.
	$(BIN)/python -m pytest -m "not spark and not stack and not browser" $(T)

demo: setup ## Run the demo; DEMO=once ends it by itself.
	$(BIN)/weft demo

demo-cdc: setup $(STAMP)-servers ## Run the demo of documents that follow a database; DEMO=once ends it by itself.
	$(BIN)/weft demo --cdc

bench: setup ## Run one bench, as in make bench B=spine; its last line is JSON.
	@test -n "$(B)" || { echo "Which bench? Type: make bench B=NAME, with one of: $$(ls bench/*.py | sed 's|bench/||; s|\.py||' | grep -v '^_' | tr '\n' ' ')" >&2; exit 2; }
	$(BIN)/python -m bench.$(B)

wheel: setup ## Build the wheel, kernel included, into dist/.
	$(BIN)/python -m hatchling build -t wheel

lock: setup ## Resolve the dependencies again and write requirements.lock.
	$(BIN)/uv pip compile --universal --generate-hashes --no-header --python-version 3.11 --upgrade --all-extras \
	  --group pyproject.toml:dev --output-file requirements.lock --quiet pyproject.toml

clean: ## Remove everything that these commands made; fetched jars stay in their cache.
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src kernel tests bench -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
	find src kernel -name '*.jar' -delete

# uv comes from its own lines of the lock file, so its version and hashes stand in one place.
$(BIN)/uv: | tools/machine.sh
	rm -rf .venv
	python="$$(tools/machine.sh python)" && "$$python" -m venv .venv
	sed -n '/^uv==/,/^    # via/p' requirements.lock > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.txt

$(STAMP)-packages: requirements.lock pyproject.toml $(STAMP)-java | $(BIN)/uv
	@echo "Installing the Python packages."
	$(BIN)/uv pip sync --quiet --compile-bytecode --require-hashes requirements.lock
	$(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP)-java: tools/machine.sh | $(BIN)/uv
	@tools/machine.sh java
	@touch $@

$(STAMP)-kernel: $(KERNEL) $(STAMP)-jars
	$(BIN)/python kernel/build.py
	@touch $@

$(STAMP)-jars: src/weft/runtime/jars.lock $(STAMP)-packages
	$(BIN)/python -m weft.runtime.jars core kafka junit
	@touch $@

# What Java has loaded, kept: the many JVMs of the tests start with a quarter to a third less CPU.
$(STAMP)-classes: $(STAMP)-kernel
	$(BIN)/weft prepare
	@touch $@

$(STAMP)-servers: src/weft/runtime/jars.lock $(STAMP)-packages
	$(BIN)/python -m weft.runtime.jars
	@touch $@
