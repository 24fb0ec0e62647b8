# Two commands do: make run, make test. Each installs what is missing first.
.PHONY: help install run up down test check bench lock clean

help:
	@echo "make run      benchmark the suite quickstart under Airflow, show the ranking and the report's path"
	@echo "make up       keep Airflow running (UI on loopback, nightly schedule on) until make down"
	@echo "make test     run all tests"
	@echo "make check    lint, types, import arrows"
	@echo "make bench    measure speed, as a table and as bench-results.json"
	@echo "make install  only install what is missing"
	@echo "make lock     resolve requirements.lock anew"

install:
	@./infra/install.sh

run: install
	@.venv/bin/tidebed airflow run quickstart

up: install
	@.venv/bin/tidebed airflow up

down: install
	@.venv/bin/tidebed airflow down

check: install
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports --cache-dir .state/import-linter

test: install
	.venv/bin/pytest --cov --cov-report=term

bench: install
	@.venv/bin/python -m benchmarks

lock:
	uv pip compile -q --universal --all-extras --generate-hashes --no-header pyproject.toml -o requirements.lock
	echo uv | uv pip compile -q --universal --generate-hashes --no-header - -o infra/uv.lock

clean: down
	rm -rf .venv .state .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
