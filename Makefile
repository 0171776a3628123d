# make demo   from nothing to a verified plan with a page to look at
# make test   what people run; make check, make soak and make bench are the rest

PYTHON ?= python3
export PYTHON

bin := .venv/bin
workers := 2
run_stamp := .venv/.installed-run
dev_stamp := .venv/.installed-dev

.PHONY: demo check test soak bench docs methods lock clean

demo: $(run_stamp)
	@scripts/demo

check: $(dev_stamp)
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/mypy
	$(bin)/pytest -q tests/test_layers.py

test: $(dev_stamp)
	$(bin)/pytest -q -n $(workers) --dist worksteal -m "not soak"
	NUMBA_DISABLE_JIT=1 $(bin)/pytest -q -n $(workers) --dist worksteal -m "kernel and not soak"

soak: $(dev_stamp)
	$(bin)/pytest -q -m soak tests
	PUBPLAN_EXAMPLES=soak $(bin)/pytest -q -n $(workers) --dist worksteal --timeout=1800 \
		tests/properties tests/problems tests/kernels tests/generate/test_kernels.py -k "not spark"

bench: $(dev_stamp)
	$(bin)/python -m benchmarks

# docs/python.md, from the docstrings.
docs: $(dev_stamp)
	$(bin)/python scripts/python_reference.py

# What 'pubplan methods' prints, from the tables of the families.
methods: $(dev_stamp)
	$(bin)/python -m pubplan.cli.methods

# Lock files hold names and versions only.
lock:
	uv pip compile pyproject.toml --universal --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
		--quiet --output-file requirements.lock
	uv pip compile pyproject.toml --extra dev --extra bench --universal --no-annotate --no-header --no-emit-index-url \
		--no-emit-find-links --quiet --output-file requirements-dev.lock

$(run_stamp): requirements.lock pyproject.toml scripts/environment
	@echo "Setting up .venv (a few minutes, once) ..."
	@scripts/environment requirements.lock
	@touch $@

$(dev_stamp): requirements-dev.lock pyproject.toml scripts/environment
	@echo "Setting up .venv for development (a few minutes, once) ..."
	@scripts/environment requirements-dev.lock
	@touch $@

clean:
	rm -rf .venv demo dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
