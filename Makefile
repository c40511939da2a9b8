# All commands run in .venv, which is installed from the hashed lock. `make` without a target lists them.
SHELL := /bin/sh
# Prefers the system's Python if it's new enough, since distributions compile it with optimisations. A default build, by hand
# or by pyenv, takes about 50 % longer for everything.
PYTHON ?= $(shell for p in /usr/bin/python3.13 /usr/bin/python3.12 /usr/bin/python3.11 python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
LOCAL := -e core $(foreach plugin,$(PLUGINS),-e $(plugin))
PACKAGES := pressroom $(notdir $(shell sed -n 's/^name = "\(.*\)"/\1/p' $(wildcard plugins/*/pyproject.toml)))
# The installers only show their progress on a terminal.
QUIET := $(shell test -t 2 || echo --quiet)
PIP := $(BIN)/python -m pip install $(QUIET) --disable-pip-version-check
UV := $(BIN)/uv pip install $(QUIET) --python $(BIN)/python
UPGRADE ?= --upgrade
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --python-version 3.11 \
	--custom-compile-command "make lock" $(UPGRADE)
EMIT := $(PACKAGES:%=--no-emit-package %) .lock/runtime.in

# Write bytecode even if the environment disables it, or each of the hundreds of processes of a run recompiles the server.
export PYTHONDONTWRITEBYTECODE :=

# Keep freed memory of up to this many bytes for reuse (glibc): drawing images takes an eighth less time if their buffers are
# not returned to the system and requested again.
export MALLOC_MMAP_THRESHOLD_ := 33554432
export MALLOC_TRIM_THRESHOLD_ := 134217728

# Two workers per core, for two cores, since many tests spend most of their time waiting.
WORKERS ?= 4
PYTEST := -m pytest --numprocesses $(WORKERS) --dist loadscope --quiet $(PYTEST_OPTIONS)
EMPTY :=
SOURCES := core/src$(foreach plugin,$(PLUGINS),,$(plugin)/src)
SOURCES := $(subst $(EMPTY) $(EMPTY),,$(SOURCES))
COVERAGE := .cache/coverage.json
MEASURED := $(BIN)/python -W 'ignore:Unable to activate' -m slipcover --branch --source $(SOURCES) --json --out $(COVERAGE)

.PHONY: help serve check test soak bench docs dist format lock clean lint types collect marks
help: ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

serve: $(VENV)/serve.stamp ## install and run the server on 127.0.0.1:8000
	$(BIN)/pressroom serve

check: $(VENV)/test.stamp ## run the quick checks: lint, types, and the tests that need nothing else (2 minutes)
	@$(MAKE) --no-print-directory -j2 -Otarget lint types
	$(BIN)/python $(PYTEST) -m quick tests

test: $(VENV)/test.stamp ## run everything that CI runs (20 to 40 minutes on two cores)
	@mkdir -p $(dir $(COVERAGE))
	@$(MAKE) --no-print-directory -j3 -Otarget lint types collect marks
	$(MEASURED) $(PYTEST) tests --ignore tests/bench
	@$(BIN)/python tests/support/coverage.py $(COVERAGE)

soak: $(VENV)/test.stamp ## run fuzzing, kills and soaks at their long sizes (hours)
	PRESSROOM_TEST_SOAK=1 $(BIN)/python $(PYTEST) tests --ignore tests/bench

bench: $(VENV)/test.stamp ## measure speed against peers (some minutes)
	$(BIN)/pytest tests/bench -s

docs: $(VENV)/test.stamp ## build the documentation into docs/site
	$(BIN)/zensical build --strict --clean --config-file docs/zensical.toml

dist: $(VENV)/serve.stamp ## build the wheels and source distributions of everything into dist
	@rm -rf dist
	@for project in core $(PLUGINS); do (cd $$project && $(abspath $(BIN))/python -m hatchling build \
		--directory $(CURDIR)/dist --target sdist --target wheel) || exit 1; done

format: $(VENV)/test.stamp ## format the code
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lock: | $(VENV)/bin/python ## renew the hashed locks
	$(PIP) 'uv>=0.9'
	$(COMPILE) $(EMIT) -o .lock/runtime.txt
	$(COMPILE) $(EMIT) -o .lock/dev.txt --group dev
	$(COMPILE) --group install -o .lock/install.txt

clean: ## remove what the commands above made
	rm -rf $(VENV) .tox .cache docs/site dist

# Checks that run in parallel and without tests.
lint:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/python tests/support/words.py

types:
	$(BIN)/mypy

# Compiles the tests once, so that the workers don't all do it at the same time.
collect:
	@$(BIN)/python -m pytest --collect-only -qq tests --ignore tests/bench >.cache/collected.txt || { cat .cache/collected.txt; exit 1; }

# Compiles the sources with coverage instrumentation once, for the same reason.
marks:
	@$(BIN)/python tests/support/marked_code.py core/src $(PLUGINS:%=%/src)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Pressroom needs Python 3.11 or newer." >&2; exit 1; }
	@echo "Making $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)

# Local packages have no hashes, so they are installed separately, after the locked ones. Their build tools are locked.
# uv takes seconds, and pip a minute. pip is the fallback, as it may be configured to use a mirror that uv doesn't know.
define install
@echo "[1/3] Installing the build tools into $(VENV)"
@$(PIP) --require-hashes -r .lock/install.txt
@echo "[2/3] Installing $$(grep -c == $(1)) packages; the first time this takes from seconds to some minutes"
@$(UV) --require-hashes -r $(1) || { echo "      uv cannot reach the packages: trying pip, which is slower"; \
	$(PIP) --require-hashes -r $(1); }
@echo "[3/3] Installing Pressroom and its plugins"
@$(UV) --no-deps --no-build-isolation $(LOCAL) || $(PIP) --no-deps --no-build-isolation $(LOCAL)
endef

$(VENV)/serve.stamp: .lock/install.txt .lock/runtime.txt core/pyproject.toml $(PLUGINS:%=%/pyproject.toml) | $(VENV)/bin/python
	$(call install,.lock/runtime.txt)
	@touch $@

$(VENV)/test.stamp: .lock/install.txt .lock/dev.txt core/pyproject.toml $(PLUGINS:%=%/pyproject.toml) | $(VENV)/bin/python
	$(call install,.lock/dev.txt)
	@touch $@ $(VENV)/serve.stamp
