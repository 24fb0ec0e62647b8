"""Traffic monitoring: average speed of vehicles near a point, in ten-second windows."""

from jobs.model import Job, Operator
from jobs.traffic.profile import FLINK_OPERATOR, FLINK_REACTIVE

JOB = Job(
    name="traffic",
    title="Traffic monitoring",
    about="vehicle events within a radius of interest, averaged in windows of ten seconds and enriched",
    reference="Geldenhuys et al. 2022 (Khaos); Pfister et al. 2024 (Daedalus), section 4.1.3",
    event="a vehicle's position in JSON",
    topology=(
        Operator("source", selectivity=1.0),
        Operator("near", selectivity=0.5),
        Operator("average", selectivity=0.1, keyed=True),
        Operator("enrich", selectivity=1.0),
        Operator("sink", selectivity=0.0),
    ),
    profiles={profile.engine.name: profile for profile in (FLINK_REACTIVE, FLINK_OPERATOR)},
)
