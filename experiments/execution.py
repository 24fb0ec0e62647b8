"""Does runs: one here, or many spread over the cores. A fault in one never costs another its data."""

from __future__ import annotations

import ctypes
import gc
import logging
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import autoscalers
import infra
import jobs
import workloads
from autoscalers.model import Floats
from experiments.archive import Archive, RunFolder
from experiments.loop import control
from experiments.planning import Run
from experiments.recorder import Recorder
from infra import faults
from infra.model import Assignment

#: numba keeps one thread pool a process; runs are spread over processes instead.
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
#: After Ctrl-C the tracker of the pool's semaphores removes them, as it should, and need not complain about it.
os.environ.setdefault("PYTHONWARNINGS", "ignore::UserWarning:multiprocessing.resource_tracker")


@dataclass(frozen=True)
class Finished:
    """How one run ended."""

    run: Run
    error: str | None
    seconds: float


def execute(run: Run, archive: Archive) -> Finished:
    """Do one run and archive it. Whatever it raises is recorded, not passed on."""
    folder = archive.run(run.run_id)
    started = time.perf_counter()
    error = None
    try:
        folder.begin(run.record())
        with _log_file(folder.log) as log:
            log.info("start %s seed=%d", run.label, run.seed)
            _measure(run, folder)
            seconds = time.perf_counter() - started
            folder.finish(run.seed, {"wall": round(seconds, 3), "measured": run.duration_s})
            log.info("finished in %.2f s", seconds)
    except Exception as fault:  # noqa: BLE001 - an autoscaler under test may raise anything
        error = f"{type(fault).__name__}: {fault}".splitlines()[0]
        with suppress(OSError):  # a folder that cannot be written to fails its own run, no other
            folder.fail(error, traceback.format_exc())
    return Finished(run, error, time.perf_counter() - started)


def _measure(run: Run, folder: RunFolder) -> None:
    policy = autoscalers.create(run.policy, seed=run.seed, **run.parameters)
    assignment = Assignment(
        run_id=run.run_id,
        job=jobs.get(run.job),
        engine=run.engine,
        curve=_curve(_Load(run.workload_id, run.duration_s, run.seed, run)),
        seed=run.seed,
        initial_workers=policy.initial_workers() or run.initial_workers,
        options=run.place_options,
        faults=faults.schedule(run.faults, run.duration_s, run.seed),
    )
    with Recorder(folder.path, run.run_id) as recorder:
        control(infra.get(run.place), assignment, policy, recorder)


@dataclass(frozen=True)
class _Load:
    """What a curve follows from."""

    workload_id: str
    duration_s: int
    seed: int
    run: Run = field(compare=False)
    """One of the runs that it is for."""


@lru_cache(maxsize=1)
def _curve(load: _Load) -> Floats:
    """The load of the latest run is kept: the next one is mostly another autoscaler's under the same."""
    workload = workloads.parse(dict(load.run.workload_spec), load.run.base)
    curve = workload.curve(load.duration_s, load.seed)
    curve.flags.writeable = False
    return curve


def execute_all(runs: Sequence[Run], archive: Archive, workers: int) -> Iterator[Finished]:
    """Do all runs, `workers` at a time, and yield each as it ends.

    Seed after seed: what an interrupted campaign leaves compares everybody, and each load is made but once a worker.
    """
    runs = sorted(runs, key=lambda run: run.seed)
    if workers <= 1 or len(runs) <= 1:
        for run in runs:
            yield execute(run, archive)
        return
    unfinished = {run.run_id: run for run in runs}
    pool = _pool(min(workers, len(runs)))
    try:
        futures: list[Future[Finished]] = [pool.submit(execute, run, archive) for run in runs]
        for future in as_completed(futures):
            finished = future.result()
            del unfinished[finished.run.run_id]
            yield finished
    except BrokenProcessPool:
        # One run took its process down, and the pool cannot say which: the rest go on one by one, each on its own.
        for run in unfinished.values():
            yield _alone(run, archive)
    finally:
        # without waiting: after Ctrl-C nobody wants to wait for what runs, and the workers end with this process
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(run: Run, archive: Archive) -> Finished:
    started = time.perf_counter()
    try:
        with _pool(1) as pool:
            return pool.submit(execute, run, archive).result()
    except BrokenProcessPool:
        error = "the process of this run died (killed, or out of memory)"
        archive.run(run.run_id).fail(error, error + "\n")
        return Finished(run, error, time.perf_counter() - started)


def _pool(workers: int) -> ProcessPoolExecutor:
    # spawn: a fork would inherit threads' locks, and only a direct child can be tied to this process's life
    return ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_settle, initargs=(os.getpid(),)
    )


def _settle(parent: int) -> None:
    """What a worker of the pool does first."""
    _die_with_parent(parent)
    # a run makes many small objects and next to no cycles: looking for these every 700 objects is a twentieth of it
    gc.freeze()
    gc.set_threshold(50_000)


def _die_with_parent(parent: int) -> None:
    """After kill -9 of the campaign its workers must not run on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pr_set_pdeathsig = 1
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "prctl"):
        libc.prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


@contextmanager
def _log_file(path: Path) -> Iterator[logging.Logger]:
    """The run's own log; what goes wrong ends up in it too."""
    log = logging.getLogger(f"tidebed.run.{os.getpid()}")
    log.propagate = False
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    told = [log, logging.getLogger("tidebed.place")]  # places say there what they wait for
    for logger in told:
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
    try:
        yield log
    except BaseException as fault:
        log.error("failed: %s: %s", type(fault).__name__, fault)
        raise
    finally:
        for logger in told:
            logger.removeHandler(handler)
        handler.close()
