"""Host metrics: dstat's columns agree with each other, with the plant, and with what FLAS found on a real machine."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jobs
from autoscalers.model import Floats
from infra.simulated import layout
from infra.simulated.host import HOST, METRICS, Host, HostInputs, HostMetrics
from infra.simulated.host import metrics as host_metrics
from infra.simulated.host.noise import standard_normal
from infra.simulated.plant import Plant
from jobs.model import Constant

CPU = ["cpu_usr", "cpu_sys", "cpu_idl", "cpu_wai", "cpu_hiq", "cpu_siq"]
MEMORY = ["mem_used", "mem_buff", "mem_cach", "mem_free"]
LOADS = {"load_1m": 60.0, "load_5m": 300.0, "load_15m": 900.0}
GIB = 2**30


def inputs(
    seconds: int = 1,
    *,
    throughput: float | Floats = 40e3,
    workload: float | Floats = 40e3,
    cpu: float | Floats = 0.8,
    memory: float | Floats = 0.5,
    workers: float | Floats = 1,
    bytes_in: float = 200.0,
    pushed: bool = True,
) -> HostInputs:
    columns = [np.zeros(seconds) + column for column in (throughput, workload, cpu, memory, workers)]
    return HostInputs(*columns, bytes_in=bytes_in, bytes_out=200.0, pushed=pushed)


def part(whole: HostInputs, first: int, end: int) -> HostInputs:
    columns = {name: getattr(whole, name)[first:end] for name in ("throughput", "workload", "cpu", "memory", "workers")}
    return replace(whole, **columns)


SHARES = st.floats(0.0, 1.0)
STATES = st.builds(
    lambda throughput, workload, cpu, memory, workers, size, pushed: inputs(
        5,
        throughput=throughput,
        workload=workload,
        cpu=cpu,
        memory=memory,
        workers=workers,
        bytes_in=size,
        pushed=pushed,
    ),
    st.floats(0.0, 1e7),
    st.floats(0.0, 1e7),
    SHARES | st.just(math.nan),
    SHARES | st.just(math.nan),
    st.integers(0, 1000),
    st.floats(1.0, 1e4),
    st.booleans(),
)


# --- laws --------------------------------------------------------------------------------------


@given(STATES, st.integers(0, 10**7), st.integers(0, 2**64))
def test_every_metric_is_possible(state: HostInputs, second: int, seed: int) -> None:
    host = HostMetrics(second, state, seed=seed)
    assert len(host) == len(list(host)) >= 30
    for name, metric in METRICS.items():
        assert host[name].shape == (5,)
        assert np.isfinite(host[name]).all(), name
        assert (host[name] >= 0).all(), name
        assert metric.unit != "%" or (host[name] <= 100).all(), name
    np.testing.assert_allclose(sum(host[name] for name in CPU), 100.0, rtol=1e-12)
    machines = max(1, math.ceil(state.workers[0] / 8))
    np.testing.assert_allclose(sum(host[name] for name in MEMORY), machines * 16 * GIB, rtol=1e-12)
    np.testing.assert_allclose(host["swap_used"] + host["swap_free"], machines * 2 * GIB, rtol=1e-12)
    np.testing.assert_allclose(host["mem_used_pct"] / 100, host["mem_used"] / (machines * 16 * GIB), rtol=1e-12)
    np.testing.assert_array_equal(host["sock_tcp"], host["tcp_lis"] + host["tcp_act"])
    assert (host["sock_tcp"] <= host["sock_tot"]).all()


@pytest.mark.parametrize(
    ("changed", "rises", "falls"),
    [
        ({"throughput": 60e3}, ["sys_csw", "net_send", "mem_used", "dsk_writ", "vm_minpf", "cpu_sys"], ["mem_free"]),
        ({"workload": 60e3}, ["net_recv", "sys_int", "cpu_siq"], []),
        ({"cpu": 0.95}, ["cpu_usr", "procs_run", "load_1m", "sys_int"], ["cpu_idl"]),
        ({"memory": 0.9}, ["mem_used", "mem_used_pct"], ["mem_free", "mem_free_pct"]),
        ({"workers": 2}, ["sock_tot", "tcp_act", "fs_files", "mem_used"], ["cpu_idl"]),
    ],
)
def test_metrics_follow_what_drives_them(changed: dict[str, float], rises: list[str], falls: list[str]) -> None:
    before, after = HostMetrics(7, inputs(60), seed=3), HostMetrics(7, inputs(60, **changed), seed=3)
    for name in rises:
        assert (after[name] > before[name]).all(), name
    for name in falls:
        assert (after[name] < before[name]).all(), name


def test_what_does_not_drive_a_metric_leaves_it_alone() -> None:
    before, after = HostMetrics(7, inputs(60), seed=3), HostMetrics(7, inputs(60, memory=0.9), seed=3)
    for name in ["sys_csw", "net_recv", "net_send", *CPU, *LOADS]:
        np.testing.assert_array_equal(after[name], before[name])


def test_pulled_events_wait_elsewhere_and_pushed_ones_only_while_there_is_room() -> None:
    def received(**state: object) -> float:
        host = HostMetrics(0, inputs(600, throughput=10e3, workload=50e3, **state))
        return float(host["net_recv"].mean())

    assert received(pushed=True) == pytest.approx(50e3 * 200, rel=0.01)
    assert received(pushed=False) == pytest.approx(10e3 * 200, rel=0.01)
    assert received(pushed=True, memory=1.0) == pytest.approx(10e3 * 200, rel=0.01)


def test_more_than_fits_into_memory_is_swapped() -> None:
    small = {**HOST, "memory_total": Constant(3 * GIB, "B/host", "a test")}
    fitting = HostMetrics(0, inputs(30, workers=1), small)
    assert fitting["swap_used"].max() == fitting["paging_out"].max() == fitting["vm_majpf"].max() == 0
    full = HostMetrics(0, inputs(30, workers=4, memory=0.9), small)
    assert full["swap_used"].min() > 1e9
    assert full["paging_out"].min() > 0
    assert (full["dsk_writ"] > fitting["dsk_writ"]).all()
    assert full["mem_cach"].max() == 0
    np.testing.assert_allclose(full["mem_free"], HOST["memory_reserve"].value)


def test_workers_that_do_not_fit_on_a_machine_have_another() -> None:
    def total(workers: int) -> float:
        host = HostMetrics(0, inputs(workers=workers))
        return float(sum(host[name][0] for name in MEMORY)) / GIB

    assert [total(workers) for workers in (0, 1, 8, 9, 17)] == pytest.approx([16, 16, 16, 32, 48])


def test_every_constant_has_a_unit_and_a_source_and_matters() -> None:
    cramped = {**HOST, "memory_total": Constant(3 * GIB, "B/host", "a test")}
    states = [(wavy(120), HOST), (inputs(120, workers=3, memory=0.6), cramped)]
    usual = [HostMetrics(0, state, constants) for state, constants in states]
    assert 0 < usual[1]["swap_used"].min() < usual[1]["swap_used"].max() < 2 * GIB
    for name, constant in HOST.items():
        assert constant.source
        assert constant.unit or name.endswith(("_per_event", "_per_packet"))
        changed = [
            HostMetrics(0, state, {**constants, name: replace(constants[name], value=constants[name].value * 1.1)})
            for state, constants in states
        ]
        pairs = zip(changed, usual, strict=True)
        assert any((after[metric] != before[metric]).any() for after, before in pairs for metric in METRICS), name


# --- laziness and cuts -------------------------------------------------------------------------


def test_nothing_is_computed_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Untouchable(np.ndarray):
        def __array_ufunc__(self, *args: object, **kwargs: object) -> object:
            raise AssertionError("somebody computes")

        def __array_function__(self, *args: object, **kwargs: object) -> object:
            raise AssertionError("somebody computes")

    drawn: list[int] = []

    def draw(seed: int, series: int, first_second: int, seconds: int) -> Floats:
        drawn.append(first_second)
        return standard_normal(seed, series, first_second, seconds)

    monkeypatch.setattr(host_metrics, "standard_normal", draw)
    column = np.ones(15).view(Untouchable)
    untouchable = HostInputs(column, column, column, column, column, 200.0, 200.0, pushed=True)
    looked = Host().look(0, untouchable)
    assert len(looked) == len(METRICS)
    assert "sys_csw" in looked
    assert not drawn
    with pytest.raises(AssertionError, match="somebody computes"):
        looked["sys_csw"]
    twice = HostMetrics(30, inputs(15))
    assert twice["fs_files"] is twice["fs_files"]
    assert not drawn
    twice["sys_csw"], twice["net_recv"]
    assert drawn == [30]


def test_an_unknown_name_is_a_key_error_and_values_cannot_be_changed() -> None:
    host = HostMetrics(0, inputs(3))
    with pytest.raises(KeyError):
        host["cpu_steal"]
    with pytest.raises(ValueError, match="read-only"):
        host["mem_used"][0] = 0.0
    assert "cpu_steal" not in host


def wavy(seconds: int) -> HostInputs:
    moment = np.arange(seconds)
    level = 0.5 + 0.4 * np.sin(moment / 37.0)
    cpu = np.where(moment % 97 < 5, np.nan, level)
    workers = 1.0 + moment // 60 % 12
    return inputs(seconds, throughput=5e4 * level, workload=6e4 * level, cpu=cpu, memory=level, workers=workers)


@given(st.lists(st.integers(0, 600), max_size=12), st.sampled_from(["all", "none", "some"]), st.integers(0, 2**32))
def test_observations_may_be_cut_anywhere(cuts: list[int], asked: str, seed: int) -> None:
    whole = wavy(600)
    host = Host(seed=seed)
    edges = [0, *sorted(cuts), 600]
    looks = []
    for index, (first, end) in enumerate(pairwise(edges)):
        looks.append(host.look(first, part(whole, first, end)))
        if asked == "all" or (asked == "some" and index % 3 == 1):
            looks[-1]["load_5m"]
    at_once = HostMetrics(0, whole, seed=seed)
    for name in METRICS:
        pieces = np.concatenate([look[name] for look in looks])
        if name in LOADS:
            np.testing.assert_allclose(pieces, at_once[name], rtol=1e-12)
        else:
            np.testing.assert_array_equal(pieces, at_once[name])


@pytest.mark.parametrize(("name", "memory_s"), LOADS.items())
def test_a_load_average_closes_the_gap_exponentially(name: str, memory_s: float) -> None:
    rested, busy_from = 0.2, 120
    cpu = np.where(np.arange(3000) < busy_from, 0.0, 1.0)
    host = Host()
    looks = [host.look(t, part(inputs(3000, cpu=cpu, workers=4), t, t + 15)) for t in range(0, 3000, 15)]
    load = np.concatenate([look[name] for look in looks])
    np.testing.assert_allclose(load[:busy_from], rested, rtol=1e-12)
    elapsed = np.arange(1, 3000 - busy_from + 1)
    np.testing.assert_allclose(load[busy_from:], rested + 4 * (1 - np.exp(-elapsed / memory_s)), rtol=1e-9)


def test_a_long_run_that_nobody_looks_into_keeps_little_and_forgets_nothing() -> None:
    whole = wavy(20_000)
    host = Host()
    for first in range(0, 19_990, 10):
        host.look(first, part(whole, first, first + 10))
    last = host.look(19_990, part(whole, 19_990, 20_000))
    kept, load = 0, last._load
    while load is not None:
        kept, load = kept + 1, load._previous
    assert kept <= 361
    np.testing.assert_allclose(last["load_15m"], HostMetrics(0, whole)["load_15m"][-10:], rtol=1e-9)


def test_a_gap_between_observations_is_refused() -> None:
    host = Host()
    host.look(0, inputs(15))
    with pytest.raises(ValueError, match="second 15 comes next, not 30"):
        host.look(30, inputs(15))


def test_all_metrics_of_a_window_cost_well_below_a_millisecond() -> None:
    window = inputs(15, workers=3)

    def cost(first: int) -> float:
        started = time.perf_counter()
        host = HostMetrics(first, window)
        for name in host:
            host[name]
        return time.perf_counter() - started

    assert min(cost(15 * index) for index in range(100)) < 1e-3


# --- noise -------------------------------------------------------------------------------------


def test_noise_is_normal_white_and_independent() -> None:
    from scipy.stats import kstest

    draws = standard_normal(11, 8, 1000, 20_000)
    limit = 4.5 / math.sqrt(draws.shape[1])
    for series in draws:
        assert kstest(series, "norm").pvalue > 1e-3
        for lag in (1, 2, 15, 60):
            assert abs(np.corrcoef(series[lag:], series[:-lag])[0, 1]) < limit
    across = np.corrcoef(draws) - np.eye(8)
    assert np.abs(across).max() < limit
    other_seed = standard_normal(12, 8, 1000, 20_000)
    assert max(abs(np.corrcoef(a, b)[0, 1]) for a, b in zip(draws, other_seed, strict=True)) < limit


# --- what FLAS found (section 5.2) -------------------------------------------------------------


def profiled(workers: int, peak_share: float) -> tuple[Floats, HostMetrics]:
    """An hour of the publish/subscribe job with a wave and short peaks, on a fleet that stays as it is."""
    profile = jobs.get("pubsub").profiles["e-silbops"]
    capacity = workers * profile["worker_capacity"]
    moment = np.arange(3600)
    load = capacity * (0.55 + 0.3 * np.sin(2 * np.pi * moment / 900) + peak_share * (moment % 600 > 570))
    plant = Plant(profile, load, workers, 100, 1)
    plant.advance(3600)
    rows = plant.rows[:3600].copy()
    columns = (layout.THROUGHPUT, layout.WORKLOAD, layout.CPU, layout.MEMORY, layout.READY)
    state = HostInputs(
        *(rows[:, column] for column in columns), profile["event_bytes_in"], profile["event_bytes_out"], pushed=True
    )
    return rows, HostMetrics(0, state, seed=1)


def explained(target: Floats, host: HostMetrics, names: Sequence[str]) -> tuple[float, dict[str, float]]:
    """R² of the linear regression, and the t value of each coefficient."""
    known = np.isfinite(target)
    predictors = np.column_stack([host[name][known] for name in names])
    predictors = (predictors - predictors.mean(axis=0)) / predictors.std(axis=0)
    design = np.column_stack([np.ones(known.sum()), predictors])
    coefficients, *_ = np.linalg.lstsq(design, target[known], rcond=None)
    left = target[known] - design @ coefficients
    variance = left @ left / (known.sum() - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    r2 = 1.0 - left @ left / ((target[known] - target[known].mean()) ** 2).sum()
    return float(r2), dict(zip(names, (coefficients / errors)[1:].tolist(), strict=True))


def test_free_memory_switches_and_network_tell_throughput() -> None:
    rows, host = profiled(workers=2, peak_share=0.1)
    throughput = rows[:, layout.THROUGHPUT]
    kpis = ["mem_free", "sys_csw", "net_recv", "net_send"]
    assert explained(throughput, host, kpis)[0] > 0.9
    for kpi in kpis:
        assert explained(throughput, host, [kpi])[0] > 0.9, kpi
    assert np.corrcoef(throughput, host["mem_free"])[0, 1] < 0
    for unrelated in ("dsk_read", "procs_new"):
        assert explained(throughput, host, [unrelated])[0] < 0.1
    overloaded, host = profiled(workers=1, peak_share=0.45)
    assert explained(overloaded[:, layout.THROUGHPUT], host, kpis)[0] > 0.9


def test_memory_in_use_tells_response_time_and_switches_add_a_little() -> None:
    rows, host = profiled(workers=1, peak_share=0.45)
    response_time = rows[:, layout.MEAN]
    assert response_time.max() > 1.0, "the job must be overloaded at times, or there is nothing to tell"
    both, t = explained(response_time, host, ["mem_used_pct", "sys_csw"])
    memory_alone, _ = explained(response_time, host, ["mem_used_pct"])
    switches_alone, _ = explained(response_time, host, ["sys_csw"])
    assert both > 0.9
    assert t["mem_used_pct"] > abs(t["sys_csw"]) > 2.0
    assert memory_alone > 0.6 > switches_alone
    others = {
        name: explained(response_time, host, [name])[0]
        for name in METRICS
        if not name.startswith("mem_") and host[name].std() > 0
    }
    assert memory_alone > max(others.values())


def test_the_job_is_bound_by_its_cpu() -> None:
    rows, host = profiled(workers=1, peak_share=0.45)
    saturated = rows[:, layout.BACKLOG] > 50e3
    assert saturated.sum() > 30
    one_thread = 100.0 / 8
    busy = 100.0 - host["cpu_idl"][saturated]
    assert busy.mean() > one_thread
    assert host["dsk_util"].max() < 5.0
    assert host["swap_used"].max() == 0.0
