"""How Java is started here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from infra.local.errors import LocalError

_PATTERN = "%d{ISO8601} %p %c{1} %m%n"


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None or not Path(found).exists():
        raise LocalError("Java 17 or newer is needed; on Debian or Ubuntu: apt-get install openjdk-17-jdk-headless")
    return found


def command(main: str, class_path: str, *arguments: str, heap_mb: int, options: Sequence[str] = ()) -> list[str]:
    """A small JVM: one garbage collector thread, since workers have a fraction of a core."""
    memory = [f"-Xms{heap_mb}m", f"-Xmx{heap_mb}m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
    return [java(), *memory, *options, "-cp", class_path, main, *arguments]


def logging(folder: Path, level: str = "WARN", *, quiet: Sequence[str] = ()) -> Path:
    """A log4j configuration that writes to standard output."""
    lines = [
        f"rootLogger.level = {level}",
        "rootLogger.appenderRef.out.ref = out",
        "appender.out.type = Console",
        "appender.out.name = out",
        "appender.out.layout.type = PatternLayout",
        f"appender.out.layout.pattern = {_PATTERN}",
    ]
    for index, name in enumerate(quiet):
        lines += [f"logger.q{index}.name = {name}", f"logger.q{index}.level = OFF"]
    path = folder / "log4j2.properties"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
