"""Traces: what they mean, and what is said about those that mean nothing."""

import gzip

import numpy as np
import pytest

from workloads import WorkloadError, parse, spec_errors
from workloads.trace import load_trace


@pytest.fixture
def write(tmp_path):
    def write(text, name="trace.csv"):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path

    return write


def problem(path):
    with pytest.raises(WorkloadError) as caught:
        load_trace(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message.replace(str(path), "FILE")


def test_samples_are_joined_by_straight_lines(write):
    path = write("t_seconds,rate\n0,0\n4,8\n6,0\n")
    assert load_trace(path).curve(7).tolist() == [0, 2, 4, 6, 8, 4, 0]


def test_the_last_sample_holds_for_a_usual_step(write):
    trace = load_trace(write("t_seconds,rate\n0,1\n300,2\n600,3\n"))
    assert trace.length_s == 900
    assert set(trace.curve(900)[600:]) == {3.0}


def test_a_trace_by_the_second_has_as_many_seconds_as_rows(write):
    trace = load_trace(write("t_seconds,rate\n" + "".join(f"{second},{second * 2}\n" for second in range(100))))
    assert trace.length_s == 100
    assert trace.curve(100).tolist() == [second * 2 for second in range(100)]


def test_gzip_other_columns_blank_lines_spaces_and_a_late_start(write):
    path = write("\ufeffwhen,rate, t_seconds\nx,10,100\n\ny,20,110\n", "trace.csv.gz")
    assert load_trace(path).curve(11).tolist() == [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]


def test_a_run_takes_the_first_part(write):
    path = write("t_seconds,rate\n0,0\n100,100\n")
    assert load_trace(path).curve(3).tolist() == [0, 1, 2]


def test_a_longer_run_is_an_error_that_says_what_to_do(write):
    path = write("t_seconds,rate\n0,1\n1800,2\n")
    workload = parse({"trace": str(path)})
    assert len(workload.curve(3600)) == 3600
    with pytest.raises(WorkloadError, match=r"lasts 1h and the run 2h; add repeat: true, or stretch: 2h"):
        workload.curve(7200)
    assert spec_errors({"trace": str(path)}, None, 3600) == []
    assert [path for path, _ in spec_errors({"trace": str(path)}, None, 7200)] == [()]
    for remedy in ({"repeat": True}, {"stretch": "2h"}):
        assert spec_errors({"trace": str(path), **remedy}, None, 7200) == []


def test_repeat_and_stretch(write):
    path = write("t_seconds,rate\n0,1\n1,2\n2,6\n")
    assert parse({"trace": str(path), "repeat": True}).curve(7).tolist() == [1, 2, 6, 1, 2, 6, 1]
    assert parse({"trace": str(path), "repeat": "2s"}).curve(5).tolist() == [1, 2, 1, 2, 1]
    assert parse({"trace": str(path), "stretch": "6s"}).curve(6).tolist() == [1, 1, 2, 2, 6, 6]
    assert parse({"trace": str(path), "shift": "-1s"}).curve(3).tolist() == [2, 6, 1]
    everything = {"trace": str(path), "repeat": True, "shift": "1s", "stretch": "6s", "peak": 60, "clip": [15, 50]}
    assert parse(everything).curve(8).tolist() == [50, 50, 15, 15, 20, 20, 50, 50]


def test_relative_paths_start_at_the_folder_given(write, tmp_path):
    write("t_seconds,rate\n0,1\n1,2\n", "a.csv")
    assert parse({"trace": "a.csv"}, tmp_path).curve(2).tolist() == [1, 2]
    [(path, message)] = spec_errors({"trace": "b.csv"}, tmp_path)
    assert path == ("trace",)
    assert message == f"cannot read {tmp_path / 'b.csv'}: there is no such file"


def test_a_changed_file_is_read_again(write):
    assert load_trace(write("t_seconds,rate\n0,1\n1,2\n")).curve(2).tolist() == [1, 2]
    assert load_trace(write("t_seconds,rate\n0,1\n1,2\n2,33\n")).curve(3).tolist() == [1, 2, 33]


def test_a_curve_is_the_callers_own(write):
    path = write("t_seconds,rate\n0,1\n1,2\n")
    load_trace(path).curve(2)[:] = 99
    assert load_trace(path).curve(2).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("", 'FILE, line 1: there is no column "t_seconds"; the header is t_seconds,rate'),
        ("t_seconds,load\n0,1\n1,1\n", 'FILE, line 1: there is no column "rate"; the header is t_seconds,rate'),
        ("0,1\n1,1\n", 'FILE, line 1: there is no column "t_seconds"; the header is t_seconds,rate'),
        ("t_seconds,rate\n", "FILE holds 0 samples; a trace needs at least two"),
        ("t_seconds,rate\n0,1\n", "FILE holds 1 samples; a trace needs at least two"),
        ("t_seconds,rate\n0,1\n5,1\n3,1\n", "FILE, line 4: t_seconds 3 does not come after 5"),
        ("t_seconds,rate\n0,1\n0,1\n", "FILE, line 3: t_seconds 0 does not come after 0"),
        ("t_seconds,rate\n0,1\n\n1,-3\n", "FILE, line 4: rate -3 is not from 0 to 1T events/s"),
        ("t_seconds,rate\n0,1\n1,2e12\n", "FILE, line 3: rate 2e+12 is not from 0 to 1T events/s"),
        ("t_seconds,rate\n0,nan\n1,1\n", 'FILE, line 2: rate "nan" is not a finite number'),
        ("t_seconds,rate\n0,1\ninf,1\n", 'FILE, line 3: t_seconds "inf" is not a finite number'),
        ("t_seconds,rate\n0,1\n1,many\n", 'FILE, line 3: rate "many" is not a number'),
        ("t_seconds,rate\n0,1\n1\n", "FILE, line 3: rate is missing"),
        ("t_seconds,rate\n0,1\n1,\n", 'FILE, line 3: rate "" is not a number'),
        ("t_seconds,rate\n0,1\n0.1,1\n", "FILE covers 100ms; a trace lasts from 1s to 366d"),
        ("t_seconds,rate\n0,1\n1e9,1\n", "FILE covers 11574d1h46m40s; a trace lasts from 1s to 366d"),
    ],
)
@pytest.mark.parametrize("name", ["trace.csv", "trace.csv.gz"])
def test_what_is_wrong_with_a_trace(write, rows, message, name):
    assert problem(write(rows, name)) == message


def test_what_is_not_a_trace_at_all(tmp_path):
    assert problem(tmp_path / "no.csv") == "cannot read FILE: there is no such file"
    assert problem(tmp_path) == "cannot read FILE: is a directory"
    fake = tmp_path / "fake.csv.gz"
    fake.write_text("t_seconds,rate\n0,1\n")
    assert problem(fake) == "cannot read FILE: it is not a complete gzip file"
    rng = np.random.default_rng(0)
    rows = "".join(f"{second},{rng.random()}\n" for second in range(1000))
    whole = gzip.compress(f"t_seconds,rate\n{rows}".encode())
    fake.write_bytes(whole[: len(whole) // 2])
    assert problem(fake) == "cannot read FILE: it is not a complete gzip file"
    binary = tmp_path / "binary.csv"
    binary.write_bytes(bytes(range(128, 256)))
    assert problem(binary) == "FILE is not a text file"
