"""The command line that all programs of all jobs share: where to read and write, and how much work an event is."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from jobs.runtime import Deployment


def parser(job: str, about: str) -> ArgumentParser:
    found = ArgumentParser(prog=f"jobs.{job}", description=about)
    found.add_argument("--broker", required=True, help="host:port of a Kafka broker")
    found.add_argument("--input", required=True, help="topic to read")
    found.add_argument("--output", required=True, help="topic to write")
    found.add_argument("--state", default="", help="topic that keeps the state, if the job needs one")
    found.add_argument("--group", required=True, help="consumer group that progress is committed to")
    found.add_argument("--work-ns", type=int, default=0, help="work an event, in ns at 3 GHz")
    found.add_argument("--checkpoint-s", type=float, default=1.0, help="seconds between two commits of the state")
    found.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="a setting of the job's own")
    found.add_argument("--metrics-port", type=int, required=True, help="port of its metrics on 127.0.0.1")
    return found


def deployment(job: str, given: Namespace) -> Deployment:
    return Deployment(
        job=job,
        broker=given.broker,
        input=given.input,
        output=given.output,
        state=given.state,
        group=given.group,
        work_ns=given.work_ns,
        checkpoint_s=given.checkpoint_s,
        options=pairs(given.option),
    )


def pairs(texts: list[str]) -> dict[str, str]:
    """
    >>> pairs(["a=1", "b=2=3"])
    {'a': '1', 'b': '2=3'}
    """
    return {name: value for name, _, value in (text.partition("=") for text in texts)}
