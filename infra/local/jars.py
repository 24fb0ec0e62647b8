"""The Java parts: pinned coordinates, checked by SHA-256, resolved by Maven with the machine's settings.

`python -m infra.local.jars` (make jars) fetches what is missing into the user's cache and compiles the jobs' Java;
`--lock` writes the checksums anew after a change of coordinates.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from infra.local import paths
from infra.local.errors import LocalError
from jobs import runtime

LOCK = Path(__file__).with_name("jars.lock")


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One artifact, alone or with all that it needs."""

    group: str
    artifact: str
    version: str
    alone: bool = False

    def as_dependency(self) -> str:
        exclusion = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
        return (
            f"<dependency><groupId>{escape(self.group)}</groupId><artifactId>{escape(self.artifact)}</artifactId>"
            f"<version>{escape(self.version)}</version>"
            f"{f'<exclusions>{exclusion}</exclusions>' if self.alone else ''}</dependency>"
        )


_FLINK = "org.apache.flink"
_KAFKA = "org.apache.kafka"
_LOG4J = "org.apache.logging.log4j"
_FLINK_VERSION = "2.3.0"
_KAFKA_VERSION = "4.3.1"
_LOGGING = (Coordinate(_LOG4J, "log4j-core", "2.25.3"), Coordinate(_LOG4J, "log4j-slf4j-impl", "2.25.3"))

#: By set, each with a class path of its own: Kafka's and Spark's clients never meet.
SETS: dict[str, tuple[Coordinate, ...]] = {
    "kafka": (
        Coordinate(_KAFKA, "kafka_2.13", _KAFKA_VERSION),
        Coordinate(_KAFKA, "kafka-tools", _KAFKA_VERSION),
        *_LOGGING,
    ),
    "flink": (
        Coordinate(_FLINK, "flink-clients", _FLINK_VERSION),
        Coordinate(_FLINK, "flink-container", _FLINK_VERSION),
        Coordinate(_FLINK, "flink-streaming-java", _FLINK_VERSION),
        Coordinate(_FLINK, "flink-connector-base", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-cep", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-rpc-akka-loader", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-table-planner-loader", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-table-runtime", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-table-api-java-uber", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-json", _FLINK_VERSION, alone=True),
        Coordinate(_FLINK, "flink-sql-connector-kafka", "5.0.0-2.2", alone=True),
        *_LOGGING,
    ),
    "flink-prometheus": (Coordinate(_FLINK, "flink-metrics-prometheus", _FLINK_VERSION, alone=True),),
    "spark": (  # Spark brings all the rest
        Coordinate("org.apache.spark", "spark-sql-kafka-0-10_2.13", "4.2.0", alone=True),
        Coordinate("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0", alone=True),
        Coordinate(_KAFKA, "kafka-clients", "3.9.2", alone=True),
        Coordinate("org.apache.commons", "commons-pool2", "2.13.1", alone=True),
    ),
}


def folder(name: str) -> Path:
    """Where a set is kept; another version is kept elsewhere."""
    wanted = json.dumps(_locked()[name], sort_keys=True)
    return paths.cache() / "jars" / f"{name}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}"


def class_path(*names: str) -> str:
    return ":".join(f"{folder(name)}/*" for name in names)


def missing() -> list[str]:
    """The sets that have to be fetched first."""
    return [name for name in SETS if not folder(name).is_dir()]


def lacking() -> str | None:
    """What has to be done first, in words."""
    return f"jars are missing ({', '.join(missing())}): make jars" if missing() else None


def require() -> None:
    """Raise unless all is there. The jobs' own Java is compiled whenever it has changed: that takes no network."""
    if why := lacking():
        raise LocalError(why)
    compile_all()


def compiled(name: str) -> Path:
    """The jar of a job's own Java, named by its sources and what they are compiled against."""
    digest = hashlib.sha256(LOCK.read_bytes())
    for source in runtime.JAVA_SOURCES[name]:
        digest.update(source.read_bytes())
    return paths.cache() / "compiled" / digest.hexdigest()[:12] / f"tidebed-{name}.jar"


def fetch(name: str) -> None:
    """Resolve a set into the cache; what does not have its checksum never gets there."""
    place = folder(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as draft:
        found = _resolve(name, Path(draft))
        wanted = _locked()[name]
        if found != wanted:
            differing = sorted({jar for jar, _ in found.items() ^ wanted.items()})
            raise LocalError(f"jars of {name} differ from {LOCK.name}: {', '.join(differing)}")
        done = Path(draft) / "jars"
        shutil.rmtree(place, ignore_errors=True)
        done.rename(place)


def compile_all() -> None:
    for name in runtime.JAVA_SOURCES:
        if not compiled(name).is_file():
            compile_java(name)


def compile_java(name: str) -> None:
    """Compile a job's own Java into one small jar."""
    jar = compiled(name)
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent) as draft:
        classes = Path(draft) / "classes"
        classes.mkdir()
        sources = [str(source) for source in runtime.JAVA_SOURCES[name]]
        against = {"flink": class_path("flink"), "flink-reporter": class_path("flink", "flink-prometheus")}
        libraries = against.get(name) or f"{spark_home()}/jars/*:{class_path('spark')}"
        _run(
            [tool("javac"), "-nowarn", "-proc:none", "--release", "17", "-cp", libraries, "-d", str(classes), *sources]
        )
        if name == "flink-reporter":
            service = classes / runtime.FLINK_REPORTER_SERVICE
            service.parent.mkdir(parents=True)
            service.write_text(f"{runtime.FLINK_REPORTER}\n")
        _run([tool("jar"), "--create", "--file", f"{draft}/made.jar", "-C", str(classes), "."])
        Path(draft, "made.jar").rename(jar)


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        package = {"mvn": "maven"}.get(name, "openjdk-17-jdk-headless")
        raise LocalError(f"{name} is needed and was not found; on Debian or Ubuntu: apt-get install {package}")
    return found


@cache
def _locked() -> dict[str, dict[str, str]]:
    locked: dict[str, dict[str, str]] = json.loads(LOCK.read_text(encoding="utf-8"))
    return locked


def _resolve(name: str, draft: Path) -> dict[str, str]:
    """Copy a set's jars to `draft/jars`; their checksums by name."""
    dependencies = "".join(coordinate.as_dependency() for coordinate in SETS[name])
    pom = draft / "pom.xml"
    pom.write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>tidebed</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>",
        encoding="utf-8",
    )
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    _run([tool("mvn"), "-q", "-B", "-f", str(pom), plugin, "-DincludeScope=runtime", f"-DoutputDirectory={draft}/jars"])
    return dict(_checksums(draft / "jars"))


def _checksums(jars: Path) -> Iterator[tuple[str, str]]:
    for jar in sorted(jars.glob("*.jar")):
        with jar.open("rb") as stream:
            yield jar.name, hashlib.file_digest(stream, "sha256").hexdigest()


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        told = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise LocalError("\n".join([f"{Path(command[0]).name} failed:", *told[:20]]))


def _lock_anew() -> None:
    locked = {}
    for name in SETS:
        with tempfile.TemporaryDirectory() as draft:
            locked[name] = _resolve(name, Path(draft))
    LOCK.write_text(json.dumps(locked, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["--lock"]:
            _lock_anew()
            return 0
        for name in SETS:
            if not folder(name).is_dir():
                print(f"jars: fetching {name}", file=sys.stderr)
                fetch(name)
        compile_all()
    except LocalError as fault:
        print(f"jars: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
