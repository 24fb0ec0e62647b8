"""One Airflow DAG for each paper whose suite Tidebed ships; the suites make the DAGs, see operators/papers.py."""

from __future__ import annotations

from experiments.suite import suite_names
from operators.papers import paper_dags

globals().update(paper_dags(suite_names()))
