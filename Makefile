# Two commands do: make run, make test. Each installs what is missing first.
.PHONY: help install jars run local up down test test-local check bench bench-local lock clean

help:
	@echo "make run      benchmark the suite quickstart under Airflow, show the ranking and the report's path"
	@echo "make local    the suite local-smoke on real processes of this machine: Kafka, Flink, Spark, CPU quotas"
	@echo "make up       keep Airflow running (UI on loopback, nightly schedule on) until make down"
	@echo "make test     run all tests but those of the local place; make test-local runs these"
	@echo "make check    lint, types, import arrows"
	@echo "make bench    measure speed, as a table and as bench-results.json; make bench-local for the local place"
	@echo "make install  only install what is missing; make jars also what the local place needs"
	@echo "make lock     resolve requirements.lock anew"

install:
	@./infra/install.sh

jars: install
	@./infra/jars.sh

run: install
	@.venv/bin/tidebed airflow run quickstart

local: jars
	@.venv/bin/tidebed run local-smoke

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
	.venv/bin/pytest -m "not local" --cov --cov-report=term

test-local: jars
	.venv/bin/pytest -m local tests

bench: install
	@.venv/bin/python -m benchmarks

bench-local: jars
	@.venv/bin/python -m benchmarks.local

lock:
	uv pip compile -q --universal --all-extras --generate-hashes --no-header pyproject.toml -o requirements.lock
	echo uv | uv pip compile -q --universal --generate-hashes --no-header - -o infra/uv.lock

clean: down
	rm -rf .venv .state .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
