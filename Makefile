# Everything happens in .venv, from the hashed lock. `make` alone says what there is.
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PLUGINS := $(patsubst %/pyproject.toml,%,$(wildcard plugins/*/pyproject.toml))
LOCAL := -e core $(foreach plugin,$(PLUGINS),-e $(plugin))
PACKAGES := pressroom $(notdir $(shell sed -n 's/^name = "\(.*\)"/\1/p' $(wildcard plugins/*/pyproject.toml)))
COMPILE := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-annotate --python-version 3.11 \
	--custom-compile-command "make lock" $(PACKAGES:%=--no-emit-package %) --upgrade .lock/runtime.in

# Local packages carry no hash, so they are installed after everything that does. Their build tools are in the lock.
define install
$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1)
$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(LOCAL)
endef

.PHONY: help serve test bench docs format lock clean
help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile

serve: $(VENV)/serve.stamp ## install and run the server on 127.0.0.1:8000
	$(BIN)/pressroom serve

test: $(VENV)/test.stamp ## run everything that CI runs
	$(BIN)/tox run

bench: $(VENV)/test.stamp ## measure speed against peers (some minutes)
	$(BIN)/tox run -e bench

docs: $(VENV)/test.stamp ## build the documentation into docs/site
	$(BIN)/tox run -e docs

format: $(VENV)/test.stamp ## format the code
	$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lock: | $(VENV)/bin/python ## renew the hashed locks
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9'
	$(COMPILE) -o .lock/runtime.txt
	$(COMPILE) -o .lock/dev.txt --group dev

clean: ## remove what the commands above made
	rm -rf $(VENV) .tox .cache docs/site

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Pressroom needs Python 3.11 or newer." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/serve.stamp: .lock/runtime.txt core/pyproject.toml $(PLUGINS:%=%/pyproject.toml) | $(VENV)/bin/python
	$(call install,.lock/runtime.txt)
	@touch $@

$(VENV)/test.stamp: .lock/dev.txt core/pyproject.toml $(PLUGINS:%=%/pyproject.toml) | $(VENV)/bin/python
	$(call install,.lock/dev.txt)
	@touch $@ $(VENV)/serve.stamp
