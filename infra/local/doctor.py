"""What this machine has and lacks for the local place."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from infra.local import cgroups, jars
from infra.local.errors import LocalError
from infra.model import Check

_PACKAGES = {
    "prometheus": "prometheus",
    "redis-server": "redis-server",
    "mvn": "maven",
    "javac": "openjdk-17-jdk-headless",
}
_GIB = 4.0


def checks() -> list[Check]:
    """None of it is needed by other places."""
    found = [*(_program(name, package) for name, package in _PACKAGES.items()), _jars(), _quotas(), _memory()]
    return [replace(check, needed=False) for check in found]


def _program(name: str, package: str) -> Check:
    path = shutil.which(name)
    return Check(
        f"local: {name}",
        ok=path is not None,
        detail=path or f"not found: apt-get install {package}",
    )


def _jars() -> Check:
    try:
        missing = jars.missing()
    except LocalError as fault:
        return Check("local: jars", ok=False, detail=str(fault))
    detail = f"missing: {', '.join(missing)} (make jars)" if missing else "Kafka, Flink and Spark's connector are there"
    return Check("local: jars", ok=not missing, detail=detail)


def _quotas() -> Check:
    refused = cgroups.permission()
    version = 2 if cgroups.unified() else 1
    without = f"{refused}: runs go on without, and say so"
    return Check("local: CPU quotas", ok=refused is None, detail=without if refused else f"control groups v{version}")


def _memory() -> Check:
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / 2**30
    return Check("local: free memory", ok=gib >= _GIB, detail=f"{gib:.0f} GiB (4 workers need about {_GIB:g})")
