"""What was spent before the runs: the profiling that some autoscalers want."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.errors import AnalysisError
from analysis.runs import RunRecord


def with_profiling(runs: Sequence[RunRecord], worker_seconds: pd.Series) -> pd.Series:
    """The workers' time of each run (index: run id) and of what was tried before it.

    Where nobody profiled, this would say the same as the run's own figure, and is left out.
    """
    spent = pd.Series({run.run_id: _spent(run) for run in runs}, dtype="float64")
    return worker_seconds + spent if spent.any() else pd.Series(float("nan"), index=worker_seconds.index)


def _spent(run: RunRecord) -> float:
    """A few rows a run; runs of places or versions that know no profiling have no such table."""
    path = run.folder / "profiling.parquet"
    if not path.is_file():
        return 0.0
    try:
        return float(sum(pq.read_table(path, columns=["worker_seconds"])["worker_seconds"].drop_null().to_pylist()))
    except (pa.ArrowInvalid, KeyError, OSError) as error:
        raise AnalysisError(f"run {run.run_id}: profiling.parquet cannot be read ({error})") from error
