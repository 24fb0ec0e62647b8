"""Airflow's settings: one airflow.cfg in the state directory, readable for its owner alone.

Everything listens on the loopback address only, which is why no one has to log in.
"""

from __future__ import annotations

import os
import secrets
import socket
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import Path

from infra.airflow.errors import AirflowError

HOST = "127.0.0.1"
PORT = 8080
PORTS_TRIED = 100
PARALLELISM = 4

#: Airflow's processes. Task logs are read from the disk; the scheduler's log server would be a port open to all.
CHILDREN = {
    "api-server": ("api-server",),
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
}

#: What takes milliseconds on an idle machine may take long while a benchmark keeps every core busy.
PATIENCE_S = 120

#: Processes share the cores; each keeps to one thread. This also makes it safe to fork after loading them.
SINGLE_THREADED = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def _random(size: int) -> Callable[[], str]:
    return lambda: urlsafe_b64encode(secrets.token_bytes(size)).decode()


#: What has to stay secret, and stays the same from start to start; Airflow asks for these sizes.
KEYS = {
    ("core", "fernet_key"): _random(32),
    ("api", "secret_key"): _random(32),
    ("api_auth", "jwt_secret"): _random(64),
}


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things lie."""

    root: Path
    """The repository: its dags/ are run, its packages imported, and tasks work in it."""
    state: Path
    """AIRFLOW_HOME."""

    @property
    def config(self) -> Path:
        return self.state / "airflow.cfg"

    @property
    def database(self) -> Path:
        return self.state / "airflow.db"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def record(self) -> Path:
        """Who supervises, and at which address."""
        return self.state / "supervisor.json"

    @property
    def ended(self) -> Path:
        """Which of Airflow's processes ended too soon."""
        return self.state / "ended.json"

    @property
    def lock(self) -> Path:
        return self.state / "lock"

    @property
    def version(self) -> Path:
        """The version of Airflow that the database was made for."""
        return self.state / "version"

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"


def url(port: int) -> str:
    return f"http://{HOST}:{port}"


def free_port(first: int = PORT) -> int:
    """The first port from `first` on that nobody listens on."""
    for port in range(first, min(first + PORTS_TRIED, 65536)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise AirflowError(f"all ports from {first} to {first + PORTS_TRIED - 1} are taken")


def settings(layout: Layout, port: int) -> dict[str, dict[str, str]]:
    """Airflow's settings by section, but for the keys."""
    return {
        "core": {
            "dags_folder": str(layout.root / "dags"),
            "plugins_folder": str(layout.state / "plugins"),
            "load_examples": "False",
            "dags_are_paused_at_creation": "False",
            "executor": "LocalExecutor",
            "parallelism": str(max(PARALLELISM, os.cpu_count() or 1)),
            "max_map_length": "10000",
            "execution_api_server_url": f"{url(port)}/execution/",
            "simple_auth_manager_all_admins": "True",
            "hostname_callable": "socket.gethostname",  # the default asks the name server
            "min_serialized_dag_update_interval": "1",
            "dagbag_import_timeout": str(PATIENCE_S),
        },
        "database": {"sql_alchemy_conn": f"sqlite:///{layout.database}"},
        "logging": {
            "base_log_folder": str(layout.logs / "tasks"),
            "dag_processor_child_process_log_directory": str(layout.logs / "dags"),
            "colored_console_log": "False",
            "namespace_levels": "http.access=WARNING",
        },
        "api": {
            "host": HOST,
            "port": str(port),
            "base_url": url(port),
            "workers": "1",
            "instance_name": "Tidebed",
            "maximum_page_limit": "1000",
            "enable_swagger_ui": "False",  # it would load scripts from elsewhere
        },
        "scheduler": {
            "scheduler_idle_sleep_time": "0.5",
            "enable_health_check": "False",  # a second open port; the API reports the same
        },
        "dag_processor": {
            "refresh_interval": "10",
            "min_file_process_interval": "60",
            "print_stats_interval": "0",
            "dag_file_processor_timeout": str(PATIENCE_S),
        },
        "workers": {"execution_api_timeout": str(PATIENCE_S)},
        "operators": {"default_owner": "tidebed"},
        "email": {"default_email_on_failure": "False", "default_email_on_retry": "False"},
    }


def write(layout: Layout, port: int) -> None:
    """Write airflow.cfg for this port; keys of an earlier one are kept."""
    known = _read(layout.config)
    config = ConfigParser(interpolation=None)
    config.read_dict(
        {
            section: {name: value.replace("%", "%%") for name, value in values.items()}
            for section, values in settings(layout, port).items()
        }
    )
    for (section, name), make in KEYS.items():
        if not config.has_section(section):
            config.add_section(section)
        config.set(section, name, known.get(section, name, fallback="") or make())
    fresh = layout.config.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        config.write(file)
    fresh.replace(layout.config)


def environment(layout: Layout, inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment of every Airflow process: airflow.cfg alone decides, and loopback needs no proxy."""
    kept = {name: value for name, value in inherited.items() if not name.startswith("AIRFLOW")}
    path = [str(layout.root), *filter(None, kept.get("PYTHONPATH", "").split(os.pathsep))]
    direct = [HOST, "localhost", *filter(None, kept.get("NO_PROXY", kept.get("no_proxy", "")).split(","))]
    return {
        **dict.fromkeys(SINGLE_THREADED, "1"),
        **kept,
        "AIRFLOW_HOME": str(layout.state),
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(path)),
        "PYTHONUNBUFFERED": "1",
        "NO_PROXY": ",".join(dict.fromkeys(direct)),
        "no_proxy": ",".join(dict.fromkeys(direct)),
    }


def _read(path: Path) -> ConfigParser:
    config = ConfigParser(interpolation=None)
    try:
        config.read(path)
    except (Error, UnicodeDecodeError):
        raise AirflowError(f"{path} cannot be read; remove it, and a new one is written") from None
    return config
