"""Figures are served as Prometheus reads them, on loopback only."""

import urllib.request

from jobs.exposition import served


def test_figures_of_the_moment_are_served() -> None:
    figures = {"events_total": 1.0}
    with served(0, lambda: figures) as port:
        address = f"http://127.0.0.1:{port}/metrics"
        assert urllib.request.urlopen(address).read() == b"events_total 1.0\n"
        figures["events_total"] = 2.5
        with urllib.request.urlopen(address) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            assert answer.read() == b"events_total 2.5\n"
