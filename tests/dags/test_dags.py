"""The DAGs as Airflow reads them: they load lightly, and their shape keeps the promises of the documentation."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from airflow.sdk import DAG, TriggerRule

from infra.airflow import MACHINE_POOL

ROOT = Path(__file__).parents[2]
FILES = sorted(path.stem for path in (ROOT / "dags").glob("*.py") if path.stem != "__init__")
HEAVY = {"numba", "pandas", "plotly", "pyspark", "experiments.campaign"}

PROBE = """
import json, sys, time
import airflow.sdk.definitions.decorators, airflow.sdk.definitions.param, airflow.sdk.definitions.asset
began = time.process_time()
import dags.{name}
print(json.dumps({{"cpu_s": time.process_time() - began, "modules": sorted(sys.modules)}}))
"""


def dags_of(name: str) -> dict[str, DAG]:
    module = importlib.import_module(f"dags.{name}")
    found = [value for value in vars(module).values() if isinstance(value, DAG)]
    if name != "papers":
        found.append(getattr(module, name)())
    return {dag.dag_id: dag for dag in found}


@pytest.fixture(scope="module")
def benchmark() -> DAG:
    return dags_of("benchmark")["benchmark"]


@pytest.fixture(scope="module")
def nightly() -> DAG:
    return dags_of("nightly")["nightly"]


def test_all_dag_files_are_tested() -> None:
    assert FILES == ["benchmark", "nightly", "papers"]


@pytest.mark.parametrize("name", FILES)
def test_reading_a_dag_loads_nothing_heavy(name: str, tmp_path: Path) -> None:
    probe = subprocess.run(
        [sys.executable, "-c", PROBE.format(name=name)],
        cwd=ROOT,
        env={"AIRFLOW_HOME": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert probe.returncode == 0, probe.stderr
    found = json.loads(probe.stdout.splitlines()[-1])
    assert HEAVY.isdisjoint(found["modules"])
    assert found["cpu_s"] < 10  # about 0.3 on an idle machine


@pytest.mark.parametrize("name", FILES)
def test_airflow_takes_the_file_for_one_with_dags(name: str) -> None:
    """Airflow looks into files only that hold both words."""
    content = (ROOT / "dags" / f"{name}.py").read_text().lower()
    assert "dag" in content
    assert "airflow" in content


@pytest.mark.parametrize("name", ["benchmark", "nightly"])
def test_every_dag_teaches_and_runs_once_at_a_time(name: str) -> None:
    for dag in dags_of(name).values():
        assert dag.doc_md
        assert "**Trigger**" in dag.doc_md
        assert "tidebed" in dag.tags
        assert dag.max_active_runs == 1
        for task in dag.tasks:
            assert task.retries == 0, "what failed is recorded; doing it again is a new decision"


def test_the_place_is_released_whatever_happens(benchmark: DAG) -> None:
    provision, release = benchmark.get_task("provision"), benchmark.get_task("release")
    assert provision.is_setup
    assert release.is_teardown
    assert not release.on_failure_fail_dagrun
    assert release.trigger_rule == TriggerRule.ALL_DONE_SETUP_SUCCESS
    between = provision.downstream_task_ids & release.upstream_task_ids
    assert between == {"plan_alone", "run_experiment", "run_experiment_alone"}


def test_experiments_are_mapped_and_named_after_themselves(benchmark: DAG) -> None:
    shared, alone = benchmark.get_task("run_experiment"), benchmark.get_task("run_experiment_alone")
    for task in (shared, alone):
        assert task.is_mapped
        assert "label" in task.map_index_template
    assert shared.pool == "default_pool"
    assert alone.pool == MACHINE_POOL
    assert "plan" in shared.upstream_task_ids
    assert "plan_alone" in alone.upstream_task_ids


@pytest.mark.parametrize("name", ["benchmark", "nightly"])
def test_the_verdict_alone_decides_after_all_else(name: str) -> None:
    dag = dags_of(name)[name]
    deciding = [task.task_id for task in dag.tasks if not task.downstream_task_ids and not task.is_teardown]
    assert deciding == ["verdict"]
    experiments = {"run_experiment", "run_experiment_alone"}
    assert experiments | {"report"} <= dag.get_task("verdict").upstream_task_ids
    assert dag.get_task("verdict").trigger_rule == TriggerRule.ALL_DONE
    assert experiments == dag.get_task("aggregate").upstream_task_ids
    assert dag.get_task("aggregate").trigger_rule == TriggerRule.ALL_DONE
    assert dag.get_task("report").trigger_rule == TriggerRule.ALL_SUCCESS


def test_assets_lead_from_runs_to_the_report(benchmark: DAG) -> None:
    links = [
        ([asset.name for asset in task.inlets], [asset.name for asset in task.outlets])
        for task in (benchmark.get_task(name) for name in ("run_experiment", "aggregate", "report"))
    ]
    assert links == [
        ([], ["tidebed-runs"]),
        (["tidebed-runs"], ["tidebed-results"]),
        (["tidebed-results"], ["tidebed-report"]),
    ]


def test_the_night_is_compared_before_the_report_and_judged_after(nightly: DAG) -> None:
    compared = nightly.get_task("compare_nights")
    assert compared.upstream_task_ids == {"aggregate"}
    assert compared.downstream_task_ids == {"report", "verdict"}


def test_the_nightly_starts_paused_and_begins_with_the_coming_night(nightly: DAG) -> None:
    assert nightly.is_paused_upon_creation
    assert not nightly.catchup
    assert nightly.start_date is None, "with one, Airflow would do the last night at once"
    assert nightly.timetable.expression == "0 2 * * *"
    assert nightly.params["suite"] == "nightly"


def test_the_benchmark_waits_to_be_triggered(benchmark: DAG) -> None:
    assert not benchmark.is_paused_upon_creation
    assert not benchmark.timetable.can_be_scheduled
