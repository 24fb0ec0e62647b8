"""Where a report's figures come from, in lines for its last page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.campaign import Campaign


def provenance(campaign: Campaign) -> dict[str, str]:
    """What a reader needs to judge the figures and to make them again, as the manifests say it."""
    manifests = [
        json.loads((campaign.folder(run).path / "manifest.json").read_text(encoding="utf-8"))
        for run in campaign.runs
        if campaign.folder(run).finished
    ]
    if not manifests:
        return {}
    times = sorted(str(manifest["finished_at"]) for manifest in manifests)
    wall = sum(manifest["durations_s"]["wall"] for manifest in manifests)
    measured = sum(manifest["durations_s"]["measured"] for manifest in manifests)
    return {
        "Runs": f"{len(manifests)} finished of {len(campaign.runs)} planned",
        "Measured time": f"{measured / 3600:,.1f} h, done in {wall:,.1f} s of computing",
        "Finished": times[0] if times[0] == times[-1] else f"{times[0]} to {times[-1]}",
        "Seeds": _range(sorted({int(manifest["seed"]) for manifest in manifests})),
        "Code": _all_of(manifests, "git_commit"),
        "Host": ", ".join(sorted({_host(manifest["host"]) for manifest in manifests})),
        "Versions": ", ".join(sorted({_versions(manifest["versions"]) for manifest in manifests})),
        "Archive schema": _all_of(manifests, "schema_version"),
        **_aggregation(campaign),
    }


def _aggregation(campaign: Campaign) -> dict[str, str]:
    from analysis.results import read_provenance

    facts = read_provenance(campaign.archive.results)
    if not facts:
        return {}
    error = f" (rank error {facts['rank_error']:g})" if facts.get("rank_error") else ""
    return {
        "Aggregation": f"Spark {facts['spark']}, {facts['rows']:,} rows in {facts['seconds']:.1f} s, "
        f"percentiles {facts['percentiles']}{error}"
    }


def _range(numbers: list[int]) -> str:
    contiguous = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 1
    return f"{numbers[0]} to {numbers[-1]}" if contiguous else ", ".join(map(str, numbers))


def _all_of(manifests: list[dict[str, Any]], key: str) -> str:
    return ", ".join(sorted({str(manifest[key]) for manifest in manifests}))


def _host(host: dict[str, Any]) -> str:
    return f"{host['name']} ({host['system']}, {host['cores']} cores)"


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
