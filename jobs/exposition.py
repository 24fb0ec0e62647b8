"""Figures of a program, served to Prometheus on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

Figures = Mapping[str, float]
"""By name, with labels: `tidebed_worker_events_total{worker="a"}`."""


def text(figures: Figures) -> str:
    """
    >>> text({"up": 1, 'seen_total{of="x"}': 2.5})
    'up 1\\nseen_total{of="x"} 2.5\\n'
    """
    return "".join(f"{name} {value}\n" for name, value in figures.items())


@contextmanager
def served(port: int, figures: Callable[[], Figures]) -> Iterator[int]:
    """As long as the context lasts; port 0 takes a free one. Yields the port."""

    class Handler(BaseHTTPRequestHandler):
        """Answers every path with the figures of the moment."""

        def do_GET(self) -> None:
            body = text(figures()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """One line a second would hide all others."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
