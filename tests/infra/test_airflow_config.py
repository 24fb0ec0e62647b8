"""airflow.cfg and the environment: loopback only, secrets kept to oneself, nothing inherited by chance."""

import os
import socket
import stat
from base64 import urlsafe_b64decode
from configparser import ConfigParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from infra.airflow import AirflowError, config
from infra.airflow.config import Layout

SECRETS = [("core", "fernet_key"), ("api", "secret_key"), ("api_auth", "jwt_secret")]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    state = tmp_path / "state"
    state.mkdir()
    return Layout(tmp_path, state)


def read(layout: Layout) -> ConfigParser:
    written = ConfigParser(interpolation=None)
    written.read(layout.config)
    return written


def test_every_address_is_loopback_and_names_the_same_port(layout: Layout) -> None:
    config.write(layout, 8123)
    written = read(layout)
    assert written["api"]["host"] == "127.0.0.1"
    for section, name in [("api", "base_url"), ("core", "execution_api_server_url")]:
        address = urlsplit(written[section][name])
        assert (address.hostname, address.port) == ("127.0.0.1", 8123)
    assert written["api"]["port"] == "8123"


def test_secrets_are_random_and_for_the_owner_alone(layout: Layout, tmp_path: Path) -> None:
    other = Layout(tmp_path, tmp_path / "other")
    other.state.mkdir()
    config.write(layout, 8080)
    config.write(other, 8080)
    assert stat.S_IMODE(layout.config.stat().st_mode) == 0o600
    for section, name in SECRETS:
        mine, theirs = read(layout)[section][name], read(other)[section][name]
        assert len(urlsafe_b64decode(mine)) >= 32
        assert mine != theirs
    assert len({read(layout)[section][name] for section, name in SECRETS}) == len(SECRETS)


def test_secrets_outlive_a_change_of_port(layout: Layout) -> None:
    config.write(layout, 8080)
    before = {name: read(layout)[section][name] for section, name in SECRETS}
    layout.config.chmod(0o644)
    config.write(layout, 8081)
    assert {name: read(layout)[section][name] for section, name in SECRETS} == before
    assert read(layout)["api"]["port"] == "8081"
    assert stat.S_IMODE(layout.config.stat().st_mode) == 0o600


def test_a_spoilt_file_is_named(layout: Layout) -> None:
    layout.config.write_text("no section here\n")
    with pytest.raises(AirflowError, match=r"airflow\.cfg cannot be read; remove it"):
        config.write(layout, 8080)


def test_a_per_cent_sign_in_a_path_is_not_an_expression(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "50%", tmp_path / "state")
    layout.state.mkdir()
    config.write(layout, 8080)
    expanded = ConfigParser()  # interpolates, as Airflow does
    expanded.read(layout.config)
    assert expanded["core"]["dags_folder"] == str(layout.root / "dags")


def test_settings_of_the_shell_do_not_reach_airflow(layout: Layout) -> None:
    inherited = {
        "AIRFLOW__CORE__LOAD_EXAMPLES": "True",
        "AIRFLOW_HOME": "/elsewhere",
        "PATH": "/bin",
        "PYTHONPATH": "/mine",
        "NO_PROXY": "intern.example",
    }
    made = config.environment(layout, inherited)
    assert [name for name in made if name.startswith("AIRFLOW")] == ["AIRFLOW_HOME"]
    assert made["AIRFLOW_HOME"] == str(layout.state)
    assert made["PYTHONPATH"].split(os.pathsep) == [str(layout.root), "/mine"]
    assert set(made["NO_PROXY"].split(",")) == {"127.0.0.1", "localhost", "intern.example"}
    assert made["PATH"] == "/bin"


def test_a_busy_port_is_stepped_over() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        free = config.free_port(port)
        assert free > port
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", free))


def test_a_port_that_another_address_listens_on_counts_as_busy() -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        assert config.free_port(taken.getsockname()[1]) != taken.getsockname()[1]


def test_no_port_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "PORTS_TRIED", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(AirflowError, match="are taken"):
            config.free_port(taken.getsockname()[1])
