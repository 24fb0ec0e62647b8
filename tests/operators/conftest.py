"""Airflow is imported here: it gets a home of its own that goes away afterwards."""

import os
import tempfile

_home = tempfile.TemporaryDirectory(prefix="tidebed-airflow-")
os.environ.setdefault("AIRFLOW_HOME", _home.name)
