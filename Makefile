# Everything works on a fresh machine with Python 3.11+, git and make; each target builds what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types layers tests drill loop-drill bench clean
.DEFAULT_GOAL := demo

# `demo` needs the product only; `test` needs the development tools too.
$(VENV)/.product: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.developer: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.product

demo: $(VENV)/.product
	@$(BIN)/handrail demo

test: lint types layers tests

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developer
	$(BIN)/mypy

layers: $(VENV)/.developer
	$(BIN)/lint-imports

tests: $(VENV)/.developer
	$(BIN)/pytest

drill: $(VENV)/.developer
	@$(BIN)/python -m handrail.testing.drill

loop-drill: $(VENV)/.developer
	@$(BIN)/python -m handrail.testing.learning_drill

bench: $(VENV)/.developer
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
