# Every verb of the project. `make run` and `make test` need nothing but Python 3.11 to
# 3.14: they make the environment themselves.

SHELL := /bin/sh
PY := .venv/bin/python
BIN := .venv/bin
# Words after the verb: make run ARGS="--port 9000", make test ARGS="-k queue".
ARGS ?=
# A package whose tests are enough for now: make quick ROOM=loop.
ROOM ?=
# Where pictures go: make screenshots FOLDER=/tmp/screenshots.
FOLDER ?= .cache/screenshots
# A commit, after which faults are planted: make mutants SINCE=HEAD~5. Without: what is not
# committed.
SINCE ?=
# The night that is to be repeated: make nightly SEED=12345.
SEED ?=

# Plain requirement files with hashes: any installer reads them, and no host is named.
COMPILE = PATH="$$PATH:$(BIN)" uv pip compile pyproject.toml --quiet --universal \
	--generate-hashes --no-emit-index-url --custom-compile-command "make lock" $(ARGS)

.DEFAULT_GOAL := help
.PHONY: help setup runtime run quick test golden mutants nightly check lock schema bench bench-check \
	bench-gates screenshots clean check-types check-imports check-django check-code check-files

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Make .venv with everything that running, testing and checking need.
	@.ci/setup dev

runtime:
	@.ci/setup runtime

run: runtime ## Start the server with a demo on http://127.0.0.1:8000.
	@$(PY) manage.py up $(ARGS)

quick: setup ## Lint, and the tests without processes and browsers; ROOM=loop: of one package.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(PY) -m tests.suite --quick $(if $(ROOM),--room $(ROOM)) $(ARGS)

test: setup ## Run the whole suite on SQLite, and beside it on PostgreSQL and Redis.
	@$(PY) -m tests.suite $(ARGS)

golden: setup ## Play the recorded day again and show each difference; ARGS=--write records it.
	@$(PY) -m tests.golden $(ARGS)

mutants: setup ## Plant faults in what has changed since SINCE, and list those no test notices.
	@$(PY) -m tests.mutants $(if $(SINCE),--since $(SINCE)) $(ARGS)

nightly: setup ## All examples, faults in the last week, benches, on a Python by chance; SEED=12345 repeats.
	@$(PY) -m tests.night $(if $(SEED),--seed $(SEED)) $(ARGS)

# Side by side, the longest first; each prints as a whole where make knows how to.
CHECKS := check-types check-imports check-django check-code check-files
WHOLE := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

check: setup ## Lint, check types, imports, templates, migrations and container files.
	@$(MAKE) --no-print-directory --keep-going --jobs 3 $(WHOLE) $(CHECKS)

check-types:
	$(BIN)/mypy

check-imports:
	PYTHONPATH=client $(BIN)/lint-imports --no-cache

check-django:
	$(PY) manage.py check
	$(PY) manage.py makemigrations --check --dry-run

check-code:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djlint --lint --quiet templates

check-files:
	$(BIN)/hadolint docker/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec docker/compose.yaml
	@! grep -nE '://|--(extra-)?index-url|--find-links' requirements*.lock \
		|| { echo "check: a lock file names a host or an index"; exit 1; }

lock: setup ## Resolve the dependencies anew and write the lock files.
	@command -v uv >/dev/null || test -x $(BIN)/uv || { $(PY) -m ensurepip >/dev/null && \
		$(PY) -m pip install --quiet uv; }
	$(COMPILE) --output-file requirements.lock
	$(COMPILE) --output-file requirements-dev.lock --group dev -c requirements.lock
	$(PY) -m tests.node.packages

schema: setup ## Write anew what empty databases are made from, after a migration was added.
	@$(PY) -m tests.runner.schema

bench: setup ## Measure throughput and waiting, beside peers and the last kept; ARGS="steps --keep" keeps.
	@PYTHONPATH=client $(PY) -m bench $(ARGS)

bench-check: setup ## Measure steps and calls; fail where a ratio is 15 % worse than the last kept.
	@PYTHONPATH=client $(PY) -m bench --check $(ARGS)

bench-gates: setup ## Measure how well and how fast commands are judged, beside a peer.
	@$(PY) -m bench.gates

screenshots: setup ## Take pictures of every page in light, dark, narrow, at 200 % and on paper.
	@$(PY) -m tests.screenshots $(FOLDER) $(ARGS)

clean: ## Remove the environment and every cache; data under var/ stays.
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
