# Needs Python 3.11 or newer and make; everything else is installed into .venv.
# PYTHON chooses the interpreter, PIP_ARGS is added to `pip install` (another index, say), SERVE_ARGS
# to `judge serve` (another port, say), PROVE_ARGS to `judge verify`; TEST_ARGS are pytest's, in place
# of sharing the tests out among two processes.

PYTHON ?= python3
PIP_ARGS ?=
SERVE_ARGS ?=
PROVE_ARGS ?=
TEST_ARGS ?= --numprocesses 2
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PAGE := web/dist/.built-from
WEB_SOURCES := $(shell find web -type d \( -name node_modules -o -name dist \) -prune -o -type f -print)

.DEFAULT_GOAL := help
.PHONY: help serve setup image demo prove test chaos lint format clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

serve: image ## set everything up, then serve the judge on http://127.0.0.1:8000
	@exec $(BIN)/judge serve $(SERVE_ARGS)

setup: $(STAMP) $(PAGE) ## install everything into .venv, build the page

image: setup ## build the image for Docker boxes, where an engine answers
	@$(BIN)/judge sandbox build || echo 'make: going on without Docker; `judge doctor` says more'

demo: image ## judge the reference, an alternative and three known mistakes
	@$(BIN)/python scripts/demo.py

prove: image ## prove all exercises; what was proven before is not judged again
	$(BIN)/judge verify $(PROVE_ARGS)

test: image ## run all tests
	$(BIN)/python scripts/build_page.py npm test
	$(BIN)/pytest -m owns_engine tests/sandbox tests/test_cli.py
	$(BIN)/pytest -m "not owns_engine and not restarts_engine" $(TEST_ARGS)

chaos: image ## judge a thousand submissions while workers are killed
	$(BIN)/python -m tests.service.chaos --submissions 1000 --workers 2

lint: setup ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/build_page.py npm run check

format: setup ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python scripts/build_page.py npm run format

clean: ## remove everything that was made here
	rm -rf $(VENV) demo dist web/dist web/node_modules .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml
	@$(PYTHON) scripts/check_python.py
	@echo 'installing into $(VENV): some minutes the first time, torch is large'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -qq $(PIP_ARGS) --editable '.[authors,charts,dev]'
	@touch $@

$(PAGE): $(STAMP) $(WEB_SOURCES)
	$(BIN)/python scripts/build_page.py
	@touch $@
