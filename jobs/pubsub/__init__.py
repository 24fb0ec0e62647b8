"""Content-based publish/subscribe: notifications are matched against subscriptions."""

from jobs.model import Job, Operator
from jobs.pubsub.profile import E_SILBOPS

JOB = Job(
    name="pubsub",
    title="Content-based publish/subscribe",
    about="subscriptions arrive at a varying rate and are matched against a steady stream of notifications",
    reference="Rampérez et al. 2020 (FLAS), sections 5 and 6",
    event="a subscription",
    topology=(
        Operator("access", selectivity=1.0),
        Operator("match", selectivity=1.0, keyed=True),
        Operator("exit", selectivity=0.0),
    ),
    profiles={"e-silbops": E_SILBOPS},
)
